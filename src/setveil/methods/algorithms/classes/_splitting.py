"""Cut rows on single items, by how much the counts of both halves then reveal about other items."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ints, frozen, holders, ranks_of, recode_rows, take_rows
from setveil.methods.algorithms.classes._cut_loops import cut_gains
from setveil.rows.data.transactions import Transactions

_UNIT = 1 << 16  # of a bit

Cuts = tuple[tuple[int, bool], ...]  # items that rows were cut on, and whether they hold them


@dataclass(eq=False)
class Piece:
    """Rows that were cut out of all, and how they may be cut further."""

    rows: Ints  # ascending
    cuts: Cuts
    item: int = -1  # that it is cut on; -1: it is a class
    gain: int = 0
    halves: tuple[Piece, ...] = ()  # with the item, without it

    def classes(self) -> Iterator[Piece]:
        """List the classes that it was cut into."""
        if not self.halves:
            yield self
        for half in self.halves:
            yield from half.classes()

    def cut_pieces(self) -> Iterator[Piece]:
        """List the pieces that were cut, halves before wholes."""
        for half in self.halves:
            yield from half.cut_pieces()
        if self.halves:
            yield self

    def mend(self) -> None:
        """Take the cut back."""
        self.item, self.gain, self.halves = -1, 0, ()


class Splitting:
    """Cuts rows where a cut has most mutual information with other items.

    Only items count that are in enough rows to be published in both halves: for rarer items, a cut shows
    chance. Nothing is cut on `barred` items; `public` ones are counted, and make a row one that needs k
    others like it. `least` is the fewest rows that a count may speak of.
    """

    def __init__(
        self,
        data: Transactions,
        barred: NDArray[np.bool_],
        public: NDArray[np.bool_],
        k: int,
        least: int,
    ) -> None:
        self.data, self.barred, self.public, self.k, self.least = data, barred, public, k, least
        x = np.arange(data.n_rows + 1, dtype=np.float64)
        x[0] = 1
        self.weighed = frozen(np.rint(_UNIT * np.arange(x.size) * np.log2(x)), np.int64)
        lengths = np.diff(np.concatenate(([0], np.cumsum(public[data.items])))[data.indptr])
        self.filled = lengths > 0

    def open(self, supports: Ints) -> int:
        """Count what is open of all rows by the supports of their items: units of 2^-16 bit."""
        own = supports[self.public & (supports >= self.least)]
        n = self.data.n_rows
        return int((self.weighed[n] - self.weighed[own] - self.weighed[n - own]).sum())

    def best(self, piece: Piece, size: int) -> tuple[int, int]:
        """Find the item of greatest gain to cut rows on, and its gain; -1 where none may be."""
        data, n = self.data, piece.rows.size
        indptr, items = take_rows(data.indptr, data.items, piece.rows)
        supports = np.bincount(items, minlength=data.n_items)
        filled = self.filled[piece.rows]
        with_item = np.bincount(items[np.repeat(filled, np.diff(indptr))], minlength=data.n_items)
        left = int(filled.sum()) - with_item
        able = (supports >= size) & (n - supports >= size) & ~self.barred & ((left == 0) | (left >= self.k))
        counted = np.flatnonzero((self.public & (supports >= 2 * self.least)) | able)
        place = ranks_of(counted, data.n_items)
        candidates = np.flatnonzero(able[counted])
        if not candidates.size:
            return -1, 0
        indptr, items = recode_rows(indptr, items, place)
        gains = np.zeros(candidates.size, np.int64)
        cut_gains(
            indptr, items, *holders(indptr, items, counted.size), candidates,
            frozen(supports[counted], np.int64), self.weighed,
            np.zeros(counted.size, np.int64), gains,
        )  # fmt: skip
        at = int(np.argmax(gains))
        return (int(counted[candidates[at]]), int(gains[at])) if gains[at] > 0 else (-1, 0)

    def halves(self, piece: Piece, item: int) -> tuple[Piece, Piece]:
        """Cut rows on an item: those that hold it, and those that lack it."""
        data = self.data
        holds = np.zeros(data.n_rows, bool)
        holds[np.searchsorted(data.indptr, np.flatnonzero(data.items == item), side="right") - 1] = True
        with_item = holds[piece.rows]
        return (
            Piece(frozen(piece.rows[with_item], np.int64), (*piece.cuts, (item, True))),
            Piece(frozen(piece.rows[~with_item], np.int64), (*piece.cuts, (item, False))),
        )

    def split(self, size: int, most: int | None, gain: float) -> Piece:
        """Cut rows, greatest gain first, into at most `most` classes; a cut gains a share of what is open."""
        whole = Piece(frozen(np.arange(self.data.n_rows), np.int64), ())
        least = gain * self.open(self.data.supports())
        waiting: list[tuple[int, int, int, Piece]] = []

        def offer(piece: Piece, number: int) -> None:
            item, gained = self.best(piece, size)
            if item >= 0 and gained >= least:
                heapq.heappush(waiting, (-gained, number, item, piece))

        offer(whole, 0)
        classes = 1
        while waiting and (most is None or classes < most):
            gained, _, item, piece = heapq.heappop(waiting)
            piece.item, piece.gain, piece.halves = item, -gained, self.halves(piece, item)
            for half in piece.halves:
                classes += 1
                offer(half, classes)
            classes -= 1
        return whole
