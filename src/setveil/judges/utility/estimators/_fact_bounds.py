"""Bounds of the rows that contain some fact of each of several parts, for all possible originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints

_CHOICES = 256  # ways to choose a reason for each part that are compared

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BoxRows:
    """Distinct published rows of boxes, and how many rows each represents."""

    indptr: Ints
    items: Ids
    weights: Ints

    @cached_property
    def of(self) -> Ints:
        """The row of each occurrence."""
        return np.repeat(np.arange(self.weights.size), np.diff(self.indptr))

    def showing(self, boxes: Flags) -> Flags:
        """Find the rows that show one of some boxes: bool (rows,)."""
        found = np.zeros(self.weights.size, bool)
        found[self.of[boxes[self.items]]] = True
        return found

    def beside(self, rows: Flags, n: int) -> Ints:
        """Count the rows that show each box, of some rows: int64 (n,)."""
        weight = np.where(rows, self.weights, 0)[self.of]
        return np.bincount(self.items, weight, n).astype(np.int64)

    def product(self, factors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply the factors of the boxes of each row: float64 (rows,)."""
        found = np.ones(self.weights.size)
        filled = np.diff(self.indptr) > 0
        if filled.any():
            starts = self.indptr[:-1][filled]
            found[filled] = np.multiply.reduceat(factors[self.items], starts)
        return found

    def number(self, rows: Flags) -> int:
        """Count rows."""
        return int(self.weights[rows].sum())


@dataclass(frozen=True, eq=False)
class Term:
    """A part of facts, by what each box holds of it."""

    touched: Flags  # boxes that hold some fact of it
    full: Flags  # boxes all of whose facts are of it
    least: Ints  # of each box, the fewest of its rows that hold a fact of it
    most: Ints  # of each box, the most of its rows that do
    least_gone: int  # rows that hold a certain fact of it which was left out
    most_gone: int  # the most rows that hold such a fact


def bounds_of(
    rows: BoxRows, terms: Sequence[Term], apart: Sequence[Sequence[bool]], room: NDArray[np.float64]
) -> tuple[int, int]:
    """Bound the rows that contain some fact of each term.

    `apart`: whether no box contains a fact of both of two terms; `room`: float64 (boxes,), the most
    occurrences beyond one in each row of the box.
    """
    reasons = [_Reasons.of(rows, term) for term in terms]
    greatest = min(one.greatest for one in reasons)
    possible = np.ones(rows.weights.size, bool)
    for term, one in zip(terms, reasons, strict=True):
        if not term.most_gone:
            possible &= one.touched
    greatest = min(greatest, rows.number(possible))
    for box, group in _in_one_box(terms).items():
        together: list[int] = []
        for at in group:
            if all(apart[at][other] for other in together):
                together.append(at)
        if len(together) > 1:
            greatest = min(greatest, int(room[box] // (len(together) - 1)))
    return min(_least(rows, reasons), greatest), greatest


@dataclass(frozen=True, eq=False)
class _Reasons:
    """Why rows contain some fact of a term."""

    touched: Flags  # rows that show a box with a fact of it
    greatest: int
    # Rows that hold one but for at most so many of them.
    certain: Sequence[tuple[Flags, int]]

    @classmethod
    def of(cls, rows: BoxRows, term: Term) -> _Reasons:
        full, touched = rows.showing(term.full), rows.showing(term.touched)
        shown = rows.beside(np.ones_like(full), term.full.size)
        others = rows.beside(~full, term.full.size)
        partly = np.flatnonzero(term.touched & ~term.full).tolist()
        sure = rows.number(full)
        most = sure + sum(min(int(others[box]), int(term.most[box])) for box in partly)
        greatest = min(min(most, rows.number(touched)) + term.most_gone, int(rows.weights.sum()))
        certain = [(full, 0)]
        for box in partly:
            missing = int(shown[box] - term.least[box])
            if missing < others[box]:
                one = np.zeros(term.full.size, bool)
                one[box] = True
                certain.append((full | rows.showing(one), missing))
        if term.least_gone:
            certain.append((np.ones_like(full), int(rows.weights.sum()) - term.least_gone))
        certain.sort(key=lambda one: one[1] - rows.number(one[0]))
        return cls(touched, greatest, certain)


def _least(rows: BoxRows, reasons: Sequence[_Reasons]) -> int:
    """Choose a reason for each term: rows for which all hold, less those that may lack; the most of these."""
    each = max(int(_CHOICES ** (1 / len(reasons))), 1)
    least = 0
    for some in product(*(one.certain[:each] for one in reasons)):
        both = np.ones(rows.weights.size, bool)
        for flags, _ in some:
            both &= flags
        least = max(least, rows.number(both) - sum(missing for _, missing in some))
    return least


def _in_one_box(terms: Sequence[Term]) -> dict[int, list[int]]:
    """List, for each box, the terms all of whose facts are in it."""
    found: dict[int, list[int]] = {}
    for at, term in enumerate(terms):
        boxes = np.flatnonzero(term.touched)
        if boxes.size == 1 and not term.most_gone:
            found.setdefault(int(boxes[0]), []).append(at)
    return found
