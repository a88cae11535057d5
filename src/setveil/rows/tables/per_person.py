"""One value of each person in columns whose values differ on the person's lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, shorten
from setveil.kernels.rows import frozen
from setveil.rows.data.columns import column_at, rows_of
from setveil.rows.tables.columns import TableColumns
from setveil.rows.tables.quasi_identifiers import MISSING
from setveil.rows.tables.ranges import are_numbers
from setveil.rows.tables.roles import MOST
from setveil.rows.tables.table import TextColumn

_OF_NUMBERS = ("least", "greatest")

Order = NDArray[np.int64]


def one_value(read: TableColumns, ways: Mapping[str, str]) -> TableColumns:
    """Give all lines of a person the same value of the columns that are named."""
    if not ways:
        return read
    if read.ids is None:
        raise RequestError(
            "--per-person chooses among values of a person, and nothing says which lines are one person's.",
            hint="Name the column of IDs: --id-column patient.",
        )
    row, _ = rows_of(read.ids)
    named = {read.header[column_at(read.header, name, read.name)]: way for name, way in ways.items()}
    texts = tuple(
        _with_one(column, row, named[column.name], place) if column.name in named else column
        for column, place in zip(read.texts, read.places, strict=True)
    )
    return replace(read, texts=texts)


def _with_one(column: TextColumn, row: Order, way: str, place: Callable[[int], str]) -> TextColumn:
    """Choose one value of each person; missing ones count only where there is no other."""
    there = np.array([label != MISSING for label in column.labels], bool)
    line = np.arange(row.size)
    if way in _OF_NUMBERS:
        keys = [_by_number(column, way, place)[column.codes]]
    elif way == MOST:
        keys = [_by_text(column)[column.codes], -_times(row, column)]
    else:
        keys = [line]
    if way in ("last", "greatest"):
        keys = [-key for key in keys]
    best = np.lexsort([line, *keys, ~there[column.codes], row])
    first = best[np.flatnonzero(np.diff(row[best], prepend=-1))]
    return TextColumn(column.name, frozen(column.codes[first][row], np.int32), column.labels)


def _times(row: Order, column: TextColumn) -> Order:
    """Count, for each line, the lines of its person that have its value."""
    pairs = row * max(len(column.labels), 1) + column.codes
    _, where, times = np.unique(pairs, return_inverse=True, return_counts=True)
    found: Order = times[where].astype(np.int64)
    return found


def _by_text(column: TextColumn) -> Order:
    """Rank values as texts: of two that are as frequent the first counts, in whatever order lines stand."""
    return _ranks(sorted(range(len(column.labels)), key=lambda at: column.labels[at]))


def _by_number(column: TextColumn, way: str, place: Callable[[int], str]) -> Order:
    for at, label in enumerate(column.labels):
        if label != MISSING and not are_numbers([label]):
            raise DataError(
                f"{place(int(np.argmax(column.codes == at)))}, column {shorten(column.name)}: found "
                f"{shorten(label)}, expected a number, and there is a {way} one.",
                hint=f"--per-person {column.name}=first takes the value of the first line.",
            )
    numbers = [Fraction(label) if label != MISSING else Fraction(0) for label in column.labels]
    return _ranks(sorted(range(len(numbers)), key=lambda at: numbers[at]))


def _ranks(order: Sequence[int]) -> Order:
    rank = np.empty(len(order), np.int64)
    rank[list(order)] = np.arange(len(order))
    return rank
