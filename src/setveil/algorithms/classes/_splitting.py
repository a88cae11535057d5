"""Cut rows on single items, by the greatest gain in what counts leave open."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.kernels.rows import Ids, Ints, frozen, take_rows

_UNIT = 1 << 16  # of a bit
_CELLS = 1 << 21  # of candidates times items that are looked at together

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
    """Cuts rows, given one recoding of all of them.

    Parameters
    ----------
    data : Transactions
        All rows.
    label : int32 (n_items,)
        What one recoding of all rows makes of each item; -1: suppressed.
    barred : bool (n_items,)
        Items that nothing is cut on.
    public : bool (n_items,)
        Items that make a row one that needs others like it.
    k : int
        Rows that share what they show, at least.
    """

    def __init__(
        self,
        data: Transactions,
        label: Ids,
        barred: NDArray[np.bool_],
        public: NDArray[np.bool_],
        k: int,
    ) -> None:
        self.data, self.barred, self.k = data, barred, k
        self.under = np.flatnonzero(label >= 0)
        _, self.label = np.unique(label[self.under], return_inverse=True)
        order = np.argsort(self.label, kind="stable")
        self.under, self.label = self.under[order], self.label[order]
        self.begins = np.flatnonzero(np.diff(self.label, prepend=-1)) if self.label.size else self.label
        s = np.arange(data.n_occurrences + 1, dtype=np.float64)
        s[0] = 1
        weighed = np.rint(_UNIT * np.arange(s.size) * np.log2(s))
        self.weighed: Ints = weighed.astype(np.int64)
        lengths = np.diff(np.concatenate(([0], np.cumsum(public[data.items])))[data.indptr])
        self.filled = lengths > 0

    def open(self, supports: NDArray[np.int64]) -> Ints:
        """Count what counts leave open of some rows, by their supports: units of 2^-16 bit, up to a sum.

        What suppressed items lose adds up over classes, so no cut changes it, and it is left out.
        """
        own = supports[..., self.under]
        if not own.shape[-1]:
            return np.zeros(own.shape[:-1], np.int64)
        together = np.add.reduceat(own, self.begins, axis=-1)
        found: Ints = self.weighed[together].sum(-1) - self.weighed[own].sum(-1)
        return found

    def best(self, piece: Piece, size: int) -> tuple[int, int]:
        """Find the item of greatest gain to cut rows on, and its gain; -1 where none may be."""
        data, n = self.data, piece.rows.size
        indptr, items = take_rows(data.indptr, data.items, piece.rows)
        supports = np.bincount(items, minlength=data.n_items)
        able = (supports >= size) & (n - supports >= size) & ~self.barred
        candidates = np.flatnonzero(able)
        if not candidates.size:
            return -1, 0
        whole = int(self.open(supports))
        filled = self.filled[piece.rows]
        row_of = np.repeat(np.arange(n), np.diff(indptr))
        best, most = -1, -1
        step = max(1, _CELLS // max(data.n_items, 1))
        order = np.argsort(items, kind="stable")
        starts = np.searchsorted(items[order], np.arange(data.n_items + 1))
        for first in range(0, candidates.size, step):
            some = candidates[first : first + step]
            beside = np.zeros((some.size, data.n_items), np.int64)
            left = np.zeros(some.size, np.int64)
            for at, item in enumerate(some.tolist()):
                held = row_of[order[starts[item] : starts[item + 1]]]
                _, theirs = take_rows(indptr, items, frozen(held, np.int64))
                beside[at] = np.bincount(theirs, minlength=data.n_items)
                left[at] = int(filled.sum()) - int(filled[held].sum())
            gains = whole - self.open(beside) - self.open(supports - beside)
            gains[(left > 0) & (left < self.k)] = -1
            at = int(np.argmax(gains))
            if gains[at] > most:
                best, most = int(some[at]), int(gains[at])
        return (best, most) if most >= 0 else (-1, 0)

    def halves(self, piece: Piece, item: int) -> tuple[Piece, Piece]:
        """Cut rows on an item: those that hold it, and those that lack it."""
        data = self.data
        holds = np.zeros(data.n_rows, bool)
        row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
        holds[row_of[data.items == item]] = True
        with_item = holds[piece.rows]
        return (
            Piece(frozen(piece.rows[with_item], np.int64), (*piece.cuts, (item, True))),
            Piece(frozen(piece.rows[~with_item], np.int64), (*piece.cuts, (item, False))),
        )

    def split(self, size: int, most: int | None, gain: float) -> Piece:
        """Cut all rows, the cut of greatest gain first.

        Parameters
        ----------
        size : int
            Rows of a class at least.
        most : int or None
            Classes at most.
        gain : number
            Share of what is open in all rows that a cut must gain.
        """
        whole = Piece(frozen(np.arange(self.data.n_rows), np.int64), ())
        least = gain * int(self.open(self.data.supports()))
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
