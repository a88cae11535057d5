"""Rows of leaves as algorithms see them that only count: by the supports of sets of nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.threads import each
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, recode_rows
from setveil.rows.engine.counting import (
    ONE_EACH,
    Piece,
    Tick,
    WeightedPiece,
    add_up_supports,
    count_pieces,
    groups,
    numbered,
    one_each,
    rare_parts,
)
from setveil.rows.engine.numbering import Numbering

AT_ONCE = 1 << 16  # occurrences of a piece of rows

T = TypeVar("T")


class AllRows(Protocol):
    """All rows, wherever they lie: each answer is a sum over rows, however these are cut into pieces."""

    @property
    def lengths(self) -> Ints:
        """How many rows there are of each length: int64 (longest + 1,)."""

    def supports(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number: int64 (n,)."""

    def count(self, numbering: Numbering, size: int, tick: Tick) -> NDArray[np.int32]:
        """Count the rows with each set of `size` numbers, in a table as in `setveil.kernels.count`."""

    def rare(
        self, numbering: Numbering, table: NDArray[np.int32], size: int, k: int, tick: Tick
    ) -> tuple[Ints, Ids, Ints]:
        """Cut rows down to the numbers that are in sets of `size` of support below k with others of the row.

        There are few: each set is in fewer than k rows. Returns indptr, int64 (n + 1,), and numbers, int32,
        of the distinct rows that remain, and weights, int64 (n,): how many rows each represents.
        """

    def distinct(self, image: Ids) -> tuple[Ints, Ids, Ints]:
        """Recode all rows by the image of each leaf: the distinct rows, and how many rows each represents."""


class Looked(Protocol):
    """Rows of numbers, wherever they lie, for who counts sets of them or looks at each row for itself."""

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""

    def supports_of(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number: int64 (n,)."""

    def count(self, numbering: Numbering, size: int, tick: Tick) -> NDArray[np.int32]:
        """Count, for all sets of `size` numbers, the rows that hold them (see `AllRows.count`)."""

    def added_up(
        self, numbering: Numbering, look: Callable[[Piece], T], add: Callable[[T, T], T], tick: Tick
    ) -> T:
        """Send `look` and `add` to all rows, a piece at a time, and add up what is found."""


class PiecesOfRows(ABC):
    """Rows on disk that are yielded a piece at a time, as `Looked`."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""

    @property
    @abstractmethod
    def n_occurrences(self) -> int:
        """Number of (row, item) pairs."""

    @property
    def counted(self) -> tuple[Ints, Ints] | None:
        """Rows of each length and supports of the items; None: they must be counted."""
        return None

    @abstractmethod
    def rows(self) -> Iterator[Piece]:
        """Yield the rows, as many at a time as there are together."""

    def supports_of(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number."""
        return add_up_supports(one_each(self.pieces()), numbering)

    def count(self, numbering: Numbering, size: int, tick: Tick) -> NDArray[np.int32]:
        """Count, for all sets of `size` numbers, the rows that hold them."""
        return count_pieces(one_each(self.pieces()), self.n_occurrences, numbering, size, tick)

    def added_up(
        self, numbering: Numbering, look: Callable[[Piece], T], add: Callable[[T, T], T], tick: Tick
    ) -> T:
        """Look at all rows, by all threads, and add up what is found in the order of the rows."""
        nothing = frozen(np.zeros(1), np.int64), frozen(np.zeros(0), np.int32)
        total, done = look(nothing), 0
        for group in groups(self.pieces()):
            for found in each(lambda piece: look(numbered(piece, numbering)), group):
                total = add(total, found)
            done += sum(items.size for _, items in group)
            tick(done / max(self.n_occurrences, 1))
        return total

    def pieces(self) -> Iterator[Piece]:
        """Cut the rows into pieces of a few."""
        for rows in self.rows():
            yield from pieces_of(*rows)


class MemoryRows:
    """Rows in memory: `indptr` int64 (n + 1,), `leaves` int32, `weights` int64 (n,) or ONE_EACH."""

    def __init__(self, indptr: Ints, leaves: Ids, weights: Ints = ONE_EACH) -> None:
        self.indptr, self.leaves, self.weights = indptr, leaves, weights

    @cached_property
    def lengths(self) -> Ints:
        """How many rows there are of each length."""
        return np.bincount(np.diff(self.indptr), self.weights if self.weights.size else None).astype(np.int64)

    def supports(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number."""
        return add_up_supports(self._pieces(), numbering)

    def rare(
        self, numbering: Numbering, table: NDArray[np.int32], size: int, k: int, tick: Tick
    ) -> tuple[Ints, Ids, Ints]:
        """Cut rows down to the numbers that are in sets of support below k with others of the row."""
        return rare_parts(self._pieces(), self.leaves.size, numbering, table, size, k, tick)

    def count(self, numbering: Numbering, size: int, tick: Tick) -> NDArray[np.int32]:
        """Count, for all sets of `size` numbers, the rows that hold them."""
        return count_pieces(self._pieces(), self.leaves.size, numbering, size, tick)

    def distinct(self, image: Ids) -> tuple[Ints, Ids, Ints]:
        """Recode all rows: the distinct rows, and how many rows each represents."""
        weights = self.weights if self.weights.size else None
        return distinct_rows(*recode_rows(self.indptr, self.leaves, image), weights)

    def _pieces(self) -> Iterator[WeightedPiece]:
        first = 0
        for piece in pieces_of(self.indptr, self.leaves):
            last = first + piece[0].size - 1
            yield *piece, self.weights[first:last]
            first = last


def pieces_of(indptr: Ints, leaves: Ids) -> Iterator[Piece]:
    """Cut rows into pieces of at most AT_ONCE occurrences, or of one row."""
    first, n_rows = 0, indptr.size - 1
    while first < n_rows:
        last = int(np.searchsorted(indptr, indptr[first] + AT_ONCE, "right")) - 1
        last = min(max(last, first + 1), n_rows)
        bounds = indptr[first : last + 1]
        yield frozen(bounds - bounds[0], np.int64), leaves[bounds[0] : bounds[-1]]
        first = last
