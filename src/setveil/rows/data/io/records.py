"""JSON as a table: each line, or each element of an array, is an object whose keys are columns.

The columns of arrays are their elements, by number; short arrays lack the last columns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.errors import DataError, shorten
from setveil.rows.data import evidence
from setveil.rows.data.columns import Codes, guess_columns
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.json_values import BLANK, label_of, unit_of, values_in
from setveil.rows.data.named_columns import Column
from setveil.rows.data.nested_columns import without_nulls

if TYPE_CHECKING:
    import polars as pl


class RecordTable:
    """Objects, one a line, but for blank lines and objects without a key that begins with `only`."""

    separator = ","
    outside: Sequence[Sequence[str]] = ()
    trouble = ""

    def __init__(self, text: Text, only: str = "") -> None:
        self.name = text.name
        self.notes: tuple[str, ...] = ()  # what was noticed in the lists that were read
        self._rows: list[dict[str, Any]] = []
        self._numbers: list[int] = []
        self._unit = unit_of(text)
        arrays = 0
        for number, row in values_in(text, parse_float=Decimal, parse_constant=_no_number):
            if row is not BLANK and (not only or any(key.startswith(only) for key in row)):
                self._numbers.append(number)
                listed = isinstance(row, list) and not only
                arrays += listed
                self._rows.append({str(at + 1): cell for at, cell in enumerate(row)} if listed else row)
                if not isinstance(self._rows[-1], dict) or 0 < arrays < len(self._rows):
                    raise DataError(
                        f"{self.place(-1)}: found {shorten(json.dumps(row, default=str))}, expected a JSON "
                        "object with a key for each column."
                    )
        self.names = list(dict.fromkeys(key for row in self._rows for key in row))
        self.header = not arrays
        self.trimmed = bool(arrays) and len({len(row) for row in self._rows}) > 1
        self.from_end = self.trimmed and self._fill_in_front()
        self._leave_out_outer()

    def _fill_in_front(self) -> bool:
        """Count the elements of arrays from their ends if they begin with different numbers of items."""
        if not evidence.end_alike([[*map(str, row.values())] for row in self._rows[: evidence.LINES]]):
            return False
        width = max(map(len, self._rows))
        self.names = [str(at + 1) for at in range(width)]
        self._rows = [
            dict(zip(self.names[width - len(row) :], row.values(), strict=True)) for row in self._rows
        ]
        return True

    def _leave_out_outer(self) -> None:
        """Omit columns that others are inside of: where they are empty, so are those."""
        outer = {name[:at] for name in self.names for at, sign in enumerate(name) if sign == "."}
        empty = [
            name
            for name in self.names
            if name in outer and not any(row.get(name) not in (None, []) for row in self._rows)
        ]
        for row in self._rows if empty else ():
            for name in empty:
                row.pop(name, None)
        self.names = [name for name in self.names if name not in empty]

    @cached_property
    def head(self) -> list[list[str]]:
        """The first rows."""
        return [
            ["" if (cell := row.get(name, "")) is None else str(cell) for name in self.names]
            for row in self._rows[:5000]
        ]

    @cached_property
    def kinds(self) -> set[str]:
        """The types of objects, where each object has its type in front of all its keys."""
        roots = [{key.partition(".")[0] for key in row} for row in self._rows]
        found = {one for root in roots for one in root}
        alone = all(len(root) == 1 for root in roots) and all("." in name for name in self.names)
        return found if alone and len(found) > 1 else set()

    def agreed(self, *, said: bool) -> tuple[int, int] | None:
        """Find id and item column by their names, unless the values say otherwise."""
        places = guess_columns(self.names)
        if places is None or said:
            return places
        ids, items = ([row[at] for row in self.head] for at in places)
        return places if evidence.is_id_and_item(ids, items) else None

    def columns(
        self,
        wanted: Sequence[int],
        *,
        id_at: int | None = None,
        marks: bool = False,
    ) -> list[Column]:
        """Read some columns as texts: null is empty, numbers are as written but for an exponent."""
        return [self._column(self.names[at]) for at in wanted]

    def _column(self, name: str) -> Column:
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(self._text(row, name), len(numbers)) for row in range(len(self._rows))]
        return Column(np.array(codes, np.int64), list(numbers), self.place)

    def texts(self, at: int) -> tuple[Codes, list[str]]:
        """Read a column as texts, whatever it contains; a key that an object lacks is empty."""
        numbers: dict[str, int] = {}
        cells = (row.get(self.names[at]) for row in self._rows)
        texts = ("" if cell is None else str(cell) for cell in cells)
        codes = [numbers.setdefault(text, len(numbers)) for text in texts]
        return np.array(codes, np.int64), list(numbers)

    def cells(self, at: int) -> pl.Series:
        """List the texts of a column, whatever it contains."""
        import polars as pl

        codes, labels = self.texts(at)
        return pl.Series(labels, dtype=pl.String).gather(pl.Series(codes))

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"{self.name}, {self._unit} {self._numbers[row]}"

    def _cell(self, row: int, name: str) -> Any:
        if name not in self._rows[row]:
            if "." in name or not self.header:  # inside another object, or array, which this one lacks
                return None
            raise DataError(
                f"{self.place(row)}: there is no key {shorten(name)}.",
                hint="Write null where a value is missing.",
            )
        return self._rows[row][name]

    def _text(self, row: int, name: str) -> str:
        value = self._cell(row, name)
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Decimal):
            return format(value, "f")
        if isinstance(value, str):
            return label_of(value, self.place(row)).strip(" \t") if value else ""
        if isinstance(value, int):
            return str(value)
        found = "an array" if isinstance(value, list) else "an object"
        raise DataError(
            f"{self.place(row)}: column {shorten(name)} contains {found}, expected a text or a number."
        )

    def holds_lists(self, at: int) -> bool:
        """Return whether the first value of a column that is not null is an array."""
        values = (row.get(self.names[at]) for row in self._rows)
        return isinstance(next((value for value in values if value is not None), None), list)

    def lists(self, at: int) -> tuple[Codes, Codes, list[str]]:
        """Read a column of arrays: row boundaries, codes, labels; null is an empty one."""
        name = self.names[at]
        codes: list[int] = []
        bounds = [0]
        items: dict[str, int] = {}
        nulls: list[int] = []
        for row in range(len(self._rows)):
            cell = self._cell(row, name)
            if not isinstance(cell, list | None):
                raise DataError(
                    f"{self.place(row)}: column {shorten(name)} contains no array, expected one as on the "
                    "lines before."
                )
            for item in cell or ():
                if item is None:
                    nulls.append(row)
                    continue
                plain = float(item) if isinstance(item, Decimal) else item
                label = label_of(plain, self.place(row))
                codes.append(items.setdefault(label, len(items)))
            bounds.append(len(codes))
        self.notes = without_nulls(name, len(nulls), len(set(nulls)))
        return np.array(bounds, np.int64), np.array(codes, np.int64), list(items)


def _no_number(text: str) -> Any:
    raise ValueError(text)
