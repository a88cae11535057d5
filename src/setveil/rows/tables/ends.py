"""Ends of the ranges of numbers that are published: none of them is a value that fewer than k rows share.

A numeric column without a hierarchy is published as ranges. A value that k rows share is an end. Other values
are put together in cells, whose ends are the nearest such values or multiples of one width, and none beyond
what k rows reach: there a cell is open, or ends at the bounds declared for the column.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np

from setveil.kernels.rows import frozen
from setveil.rows.tables.quasi_identifiers import ANY, MISSING, QuasiIdentifier
from setveil.rows.tables.ranges import reached, width_for, written
from setveil.rows.tables.table import Table

T = TypeVar("T", bound=Table)


class Cell(NamedTuple):
    """A range between two ends, each a text with its bracket; "": it is open there."""

    low: str
    high: str

    def label(self, other: Cell) -> str:
        """Name the range from here to the end of another cell."""
        low, high = self.low, other.high
        if not low and not high:
            return ANY
        if not low:
            return f"{'<=' if high[-1] == ']' else '<'}{high[:-1]}"
        if not high:
            return f"{'>=' if low[0] == '[' else '>'}{low[1:]}"
        return low[1:] if low[1:] == high[:-1] else f"{low},{high}"


def with_cells(table: T, least: int) -> T:
    """Put values that fewer than `least` rows share together, in columns of numbers without a hierarchy."""
    columns = tuple(in_cells(column, least) for column in table.columns)
    if all(one is other for one, other in zip(columns, table.columns, strict=True)):
        return table
    return replace(table, columns=columns)


def in_cells(column: QuasiIdentifier, least: int) -> QuasiIdentifier:
    """Put the values of a column together that fewer than `least` rows share (see `with_cells`)."""
    first = int(column.missing)
    rows = np.bincount(column.codes, minlength=column.n_values)[first:]
    if column.parent is not None or (rows >= least).all():
        return column
    texts = column.labels[first : column.n_values]
    width = width_for(dict(zip(map(Fraction, texts), rows.tolist(), strict=True)), least, column.bounds)
    cells = _cells(texts, rows.tolist(), least, width)
    if column.bounds is not None:
        cells = [_closed(cell, *column.bounds) for cell in cells]
    distinct = list(dict.fromkeys(cells))
    place = {cell: first + at for at, cell in enumerate(distinct)}
    image = np.array([*range(first), *(place[cell] for cell in cells)], np.int32)
    n = first + len(distinct)
    ends = [np.flatnonzero(image == v)[[0, -1]] for v in range(n)]
    each = np.arange(n)
    labels = (*[MISSING] * first, *(cell.label(cell) for cell in distinct))
    return replace(
        column,
        codes=frozen(image[column.codes], np.int32),
        labels=labels,
        n_values=n,
        rank=frozen(each, np.int32),
        low=frozen(each, np.int32),
        high=frozen(each + 1, np.int32),
        extent=column.extent[[b for _, b in ends]],
        cells=(*[Cell("", "")] * first, *distinct),
        fine=column,
        width=width,
        spans=(frozen([a for a, _ in ends], np.int32), frozen([b for _, b in ends], np.int32)),
    )


def _closed(cell: Cell, low: Fraction, high: Fraction) -> Cell:
    """End an outer cell at the declared bounds."""
    return Cell(cell.low or f"[{written(low)}", cell.high or f"{written(high)}]")


def _cells(texts: tuple[str, ...], rows: list[int], least: int, width: Fraction) -> list[Cell]:
    """Find the cell of each number; they are ascending."""
    numbers = [Fraction(text) for text in texts]
    inside = reached(dict(zip(numbers, rows, strict=True)), least)
    if all(number.denominator == 1 for number in numbers):
        width = max(width, Fraction(1))
    shared = [at for at, n in enumerate(rows) if n >= least]
    found = []
    for at, (text, number) in enumerate(zip(texts, numbers, strict=True)):
        if rows[at] >= least:
            found.append(Cell(f"[{text}", f"{text}]"))
            continue
        below = max((other for other in shared if other < at), default=-1)
        above = min((other for other in shared if other > at), default=len(texts))
        low, high = _on_grid(number, width, inside)
        start = "" if low is None else f"[{written(low)}"
        if below >= 0 and (low is None or numbers[below] >= low):
            start = f"({texts[below]}"
        end = "" if high is None else f"{written(high)})"
        if above < len(texts) and (high is None or numbers[above] <= high):
            end = f"{texts[above]})"
        found.append(Cell(start, end))
    return found


def _on_grid(
    number: Fraction, width: Fraction, inside: list[Fraction]
) -> tuple[Fraction | None, Fraction | None]:
    """Find the multiples of a width around a number that enough rows are below, and enough rows not."""
    if not inside:
        return None, None
    least, greatest = inside[0], inside[-1]
    low = min(number // width, greatest // width) * width
    high = (max(number // width, least // width) + 1) * width
    return low if low > least else None, high if high <= greatest else None
