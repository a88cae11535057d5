"""JSON as a table: each line, or each element of an array, an object, whose keys are columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data import evidence
from setveil.data.columns import Codes, guess_columns
from setveil.data.io.json_values import BLANK, label_of, unit_of, values_in
from setveil.data.io.source import Text
from setveil.data.named_columns import Column
from setveil.errors import DataError, shorten

if TYPE_CHECKING:
    import polars as pl


class RecordTable:
    """Objects, one a line; blank lines are left out."""

    header = True
    separator = ","
    trimmed = False
    outside: Sequence[Sequence[str]] = ()
    trouble = ""

    def __init__(self, text: Text) -> None:
        self.name = text.name
        self._rows: list[dict[str, Any]] = []
        self._numbers: list[int] = []
        self._unit = unit_of(text)
        for number, row in values_in(text, parse_float=Decimal, parse_constant=_no_number):
            if row is not BLANK:
                self._numbers.append(number)
                self._rows.append(row)
                if not isinstance(row, dict):
                    raise DataError(
                        f"{self.place(-1)}: found {shorten(json.dumps(row, default=str))}, expected a JSON "
                        "object with a key for each column."
                    )
        self.names = list(dict.fromkeys(key for row in self._rows for key in row))

    @cached_property
    def head(self) -> list[list[str]]:
        """The first rows."""
        return [[str(row.get(name, "")) for name in self.names] for row in self._rows[:5000]]

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
            f"{self.place(row)}: column {shorten(name)} holds {found}, expected a text or a number."
        )

    def holds_lists(self, at: int) -> bool:
        """Whether the first value of a column that is not null is an array."""
        values = (row.get(self.names[at]) for row in self._rows)
        return isinstance(next((value for value in values if value is not None), None), list)

    def lists(self, at: int) -> tuple[Codes, Codes, list[str]]:
        """Read a column of arrays: row boundaries, codes, labels; null is an empty one."""
        name = self.names[at]
        codes: list[int] = []
        bounds = [0]
        items: dict[str, int] = {}
        for row in range(len(self._rows)):
            cell = self._cell(row, name)
            if not isinstance(cell, list | None):
                raise DataError(
                    f"{self.place(row)}: column {shorten(name)} holds no array, expected one as on the "
                    "lines before."
                )
            for item in cell or ():
                plain = float(item) if isinstance(item, Decimal) else item
                label = label_of(plain, self.place(row))
                codes.append(items.setdefault(label, len(items)))
            bounds.append(len(codes))
        return np.array(bounds, np.int64), np.array(codes, np.int64), list(items)


def _no_number(text: str) -> Any:
    raise ValueError(text)
