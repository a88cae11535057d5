"""How a file of rows is read: the options that every command that reads one has, and a study's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from setveil.base.redact import redacted
from setveil.base.values.declared import as_words, parameter
from setveil.base.values.kinds import Choice, Flag, Integer, Text, Texts
from setveil.rows.data.layout import FORMATS
from setveil.rows.data.skipped import OF_LACKING, WAYS, Lines, lines_of
from setveil.rows.data.skipped import SAID as OF_LINES
from setveil.rows.data.spelling import NORMALIZED

if TYPE_CHECKING:
    from setveil.rows.data.lacking import Lacking

WRITTEN = ("yes", "quote", "decimal", "sheet")
NAMING_FILES = ("encoding", "skip_lines")  # which may name files


@dataclass(frozen=True)
class Reading:
    """Options of `setveil.read`; None: detected from the file."""

    format: str | None = parameter(Choice(tuple(FORMATS)), "By default detected from the file.", default=None)
    encoding: str | None = parameter(
        Text("an encoding"),
        "Of text files, or FILE=ENCODING for one (default: utf-8, or by the byte order mark).",
        default=None,
    )
    separator: str | None = parameter(
        Text(), "Between fields of separated text; by default detected.", default=None
    )
    id_column: str | None = parameter(
        Text("a column"),
        "Table: column that says which row a line belongs to (name or number).",
        default=None,
    )
    item_column: str | None = parameter(
        Text("columns"),
        "Column of the item in a long table; item columns of a wide one: DX1-DX20, 'DX*', a,b.",
        default=None,
    )
    item_columns: str | None = parameter(
        Text("columns"),
        "Item columns of a wide or one-hot table, such as DX1-DX20, 'DX*' or a,b.",
        default=None,
    )
    delimiter: str | None = parameter(
        Text("a sign"),
        "Between the items of a cell, if it contains several (by default ; in the set column of a table).",
        default=None,
    )
    not_ids: str | None = parameter(
        Text("columns"),
        "Columns, or fields by number (1, last), that are no person IDs, although they look so.",
        default=None,
    )
    rows_are_events: bool | None = parameter(
        Flag(),
        "Rows are events, such as orders or stays: the guarantee is about these, and not about people.",
        default=None,
    )
    same_ids: bool | None = parameter(
        Flag(), "Several files: the same id in two of them is the same row.", default=None
    )
    skip_lines: str | None = parameter(
        Text("N or lines"),
        "Skip the first N lines, or lines by number, such as 1-3,359; of a further file FILE=1-3.",
        default=None,
    )
    skip_last: int | None = parameter(Integer(0), "Skip the last N lines.", default=None)
    comment: str | None = parameter(Text("a sign"), "Skip lines that begin with it, such as #.", default=None)
    header_lines: int | None = parameter(
        Integer(1), "Lines above the data, and the first one names the columns.", default=None
    )
    missing: Sequence[str] | None = parameter(
        Texts("[COLUMN=]VALUES"),
        "Values that mean that there is none, such as unknown, or age=NA,unknown. May be repeated.",
        default=None,
    )
    not_missing: str | None = parameter(
        Text("words"),
        "Words such as NA or - that are items here, and do not mean that there is none.",
        default=None,
    )
    missing_id: str | None = parameter(
        Choice(WAYS), "Lines without an ID: skip, or stop (default: stop).", default=None
    )
    missing_item: str | None = parameter(
        Choice(WAYS),
        "Lines without an item: skip, their person stays, or stop (default: skip).",
        default=None,
    )
    fill_id: bool | None = parameter(Flag(), "Read an empty ID as that of the line above.", default=None)
    also: Sequence[str] | None = parameter(
        Texts("FILE[:COLUMN]"),
        "Further file about the same people, joined by the ID: its items are added. May be repeated.",
        default=None,
    )
    query: str | None = parameter(Text("SQL"), "Read a table from a database: SQL.", default=None)
    connection: str | None = parameter(
        Text("an address"), "Database to ask, such as sqlite:///visits.db.", default=None
    )

    normalize: str | None = parameter(
        Choice(NORMALIZED),
        "Make spellings one item: codes (dots, case, blanks), text (case, blanks, accents) or none.",
        default=None,
    )

    yes: str | None = parameter(
        Text("values"),
        "Item columns of answers: the values that mean that an item is there, such as 1 or yes,often.",
        default=None,
    )
    quote: str | None = parameter(
        Choice(("double", "none")),
        "Double quotes protect what is between them (double), or are signs like any other (none).",
        default=None,
    )
    decimal: str | None = parameter(
        Choice((",", ".")),
        "Decimal sign of numbers: , or . (default: a comma where all numbers of a column have it).",
        default=None,
    )
    sheet: str | None = parameter(
        Text("a sheet"), "Sheet of a spreadsheet: its name, its number from 1, or all.", default=None
    )

    @property
    def text_encoding(self) -> str:
        """Encoding of text files, named or not."""
        return self.encoding or "utf-8"

    def explicit_options(self) -> dict[str, Any]:
        """Return what was given, as arguments of `setveil.read`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None and value is not False}

    def written(self) -> dict[str, Any]:
        """Return what was given of how a table is written, in addition to its encoding and separator."""
        return {name: value for name, value in self.explicit_options().items() if name in WRITTEN}

    def as_lines(self) -> Lines:
        """Say which lines are no data."""
        return lines_of(**{name: getattr(self, name) for name in OF_LINES})

    def as_lacking(self) -> Lacking:
        """Say what means that there is no value."""
        from setveil.rows.data.lacking import lacking_of

        return lacking_of(**{name: getattr(self, name) for name in OF_LACKING})

    def arguments(self) -> list[str]:
        """Return what was given, as it is written on the command line; secrets are omitted."""
        options = self.explicit_options()
        if "connection" in options:
            options["connection"] = redacted(options["connection"])
        return as_words(options)


DETECTED = Reading()
