"""A request to read: format, columns, and which lines and values are no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.base.errors import RequestError, superfluous
from setveil.rows.data.also import Also
from setveil.rows.data.columns import Wanted
from setveil.rows.data.lacking import PLAIN, Lacking
from setveil.rows.data.layout import FORMATS
from setveil.rows.data.skipped import NO_LINES, Lines


@dataclass(frozen=True)
class ReadingRequest:
    """A request to read."""

    # format, encoding, separator: arguments of `read`
    format: str | None
    encoding: str | None
    separator: str | None
    wanted: Wanted
    published: bool  # whether it is no user's file: one that may be a table is refused otherwise
    normalize: str | None = None  # how spellings of an item become one
    # quote, decimal, sheet: arguments of `read`
    quote: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    lines: Lines = NO_LINES  # which are no data
    lacking: Lacking = PLAIN  # what means that there is no value
    also: tuple[Also, ...] = ()  # further files about the same people
    beside: bool = False  # whether it is about such a file

    @property
    def written(self) -> dict[str, Any]:
        """Return what was said of how a file is written, for the record."""
        said = {name: getattr(self, name) for name in ("quote", "decimal", "sheet")} | {
            "yes": self.wanted.yes
        }
        if self.separator is not None and len(self.separator) > 1:
            said["separator"] = self.separator
        said = {name: value for name, value in said.items() if value is not None}
        also = {"also": [one.text for one in self.also]} if self.also else {}
        return {**said, **self.lines.as_dict(), **self.lacking.as_dict(), **also}

    def explicit_options(self) -> dict[str, Any]:
        """Return the options that formats may take, by name."""
        return {
            "separator": self.separator,
            "id_column": self.wanted.id_column,
            "item_column": self.wanted.item_column,
            "item_columns": self.wanted.item_columns,
            "delimiter": self.wanted.delimiter,
            "yes": self.wanted.yes,
        }

    def options(self, chosen: str) -> dict[str, Any]:
        """Return the options that the reader of a format takes."""
        options, form = self.explicit_options(), FORMATS[chosen]
        return {name: options[name] for name in form.takes} | (
            {"lacking": self.lacking} if form.columns else {}
        )

    @property
    def silent(self) -> bool:
        """Return whether neither the format nor a column was named."""
        return self.format is None and not self.wanted.named


def refuse_options(chosen: str, options: dict[str, Any], what: str = "") -> None:
    """Refuse options that a format does not have."""
    for option, value in options.items():
        if value is not None and option not in FORMATS[chosen].takes:
            formats = [name for name, form in FORMATS.items() if option in form.takes]
            raise superfluous(
                option,
                f"The option {option} does not apply to {what or f'the format {chosen}'}, only to "
                f"{', '.join(formats)}.",
                "Omit it, or name another --format.",
            )


def refuse_lines(request: ReadingRequest, what: str) -> None:
    """Refuse options on lines of a file that has none."""
    options = [
        name for name in ("skip_lines", "comment", "header_lines") if getattr(request.lines, name) is not None
    ]
    if options:
        raise superfluous(options[0], f"The option {options[0]} does not apply to {what}.")


def table_format(request: ReadingRequest, what: str) -> str | None:
    """Return the layout of a table that is no text."""
    if request.format not in {None, "long", "wide", "onehot"}:
        raise RequestError(
            f"The format {request.format} is not that of {what}, which is a table.",
            hint="Use long, wide or onehot, or omit --format.",
        )
    return request.format
