"""How a table whose columns have roles is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setveil.rows.data.also import Also
from setveil.rows.data.lacking import PLAIN, Lacking
from setveil.rows.data.skipped import NO_LINES, Lines

OF_TEXT = frozenset({"encoding", "separator", "quote", "decimal", "sheet"})  # of the file, not its columns


@dataclass(frozen=True)
class How:
    """How a table is read; None: detected, or there is none."""

    # {"csv", "parquet", "jsonl"}, optional: by default detected from the name and the content; ``.xlsx``
    # always from the content
    format: str | None = None
    # encoding, separator: of text, and between its fields
    encoding: str | None = None
    separator: str | None = None
    delimiter: str | None = None  # between the items of one field; by default a semicolon
    # several columns with an item each, instead of one with all
    item_columns: str | Sequence[str] | None = None
    # path or data frame, optional: a long table with the items of each id, instead of a column
    items: Any = None
    id_column: str | None = None  # the column that says whom a line is about
    # the column of `items` that holds the item; by default the one besides the ids
    item_column: str | None = None
    not_ids: tuple[str, ...] = ()  # columns that look like person IDs but are not
    normalize: str | None = None  # how spellings of an item become one, as for `setveil.read`
    yes: str | Sequence[str] | None = None  # values of item columns that mean that their item is there
    quote: str | None = None  # "none": double quotes are signs like any other
    decimal: str | None = None  # of numbers; by default a comma where all of a column have it
    sheet: str | None = None  # of a spreadsheet: its name, its number from 1, or all
    lines: Lines = NO_LINES  # which lines are no data
    lacking: Lacking = PLAIN  # what means that there is no value
    also: tuple[Also, ...] = ()  # further files about the same persons, whose items are added
    persons: tuple[str, ...] = ()  # columns of lines of facts that say something of persons

    def written(self) -> dict[str, Any]:
        """Return what was said of how the file is written, for the record."""
        said = {name: getattr(self, name) for name in ("yes", "quote", "decimal", "sheet")}
        if self.separator is not None and len(self.separator) > 1:
            said["separator"] = self.separator
        said = {name: value for name, value in said.items() if value is not None}
        also = {"also": [one.text for one in self.also]} if self.also else {}
        return {**said, **self.lines.as_dict(), **self.lacking.as_dict(), **also}
