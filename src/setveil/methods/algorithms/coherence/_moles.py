"""Moles: what an attacker can know, and which of it betrays people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, listed
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.coherence import Coherence
from setveil.kernels.maximal import maximal_rows
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, recode_rows, take_rows
from setveil.methods.algorithms._suppressed_items import greatest_counts
from setveil.methods.algorithms.coherence._minimal_moles import Moles, find_minimal_moles
from setveil.rows.data.transactions import Transactions


class PublicPrivateSplit:
    """Data split into what an attacker may know (public items) and what must stay unknown (private items).

    Items are ids of the data that occur, in item order. Public items that are moles alone: those in fewer
    than k rows are `rare`, others `betraying` a private item.
    """

    def __init__(self, data: Transactions, guarantee: Coherence) -> None:
        guarantee.require_feasible(data)
        self.data, self.guarantee = data, guarantee
        ids = data.vocabulary.ids
        unknown = [label for label in guarantee.private if label not in ids]
        if unknown and data.n_occurrences:
            raise RequestError(
                f"{len(unknown):,} private items do not occur in the data: {listed(unknown)}.",
                hint="Check how they are written; a private item that is not found is not protected.",
            )
        self.support = data.supports()
        is_private = guarantee.is_private(data)
        self.private = np.flatnonzero(is_private & (self.support > 0))
        self.public = np.flatnonzero(~is_private & (self.support > 0))
        self.limit = greatest_counts(guarantee.h, data.n_rows)
        self.rare = self.public[self.support[self.public] < guarantee.k]
        self._betrayed = self._single_betrayals()
        alone = self._betrayed[0] >= 0
        self.betraying = np.flatnonzero(alone & (self.support >= guarantee.k))

    def _single_betrayals(self) -> tuple[Ints, Ints]:
        """For each public item the private item it betrays most (-1: none), and their common rows."""
        data = self.data
        whom = np.full(data.n_items, -1, np.int64)
        most = np.zeros(data.n_items, np.int64)
        row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
        public = np.zeros(data.n_items, bool)
        public[self.public] = True
        for s in self.private.tolist():
            holds = np.zeros(data.n_rows, bool)
            holds[row_of[data.items == s]] = True
            count = np.bincount(data.items[holds[row_of]], minlength=data.n_items)
            better = public & (count > most) & (count > self.limit[self.support])
            whom[better], most[better] = s, count[better]
        return whom, most

    def single(self, item: int) -> Mole:
        """Describe a public item that is a mole alone."""
        support = int(self.support[item])
        if support < self.guarantee.k:
            return Mole((item,), support, None, 0)
        return Mole((item,), support, int(self._betrayed[0][item]), int(self._betrayed[1][item]))

    def facts(self, items: list[int]) -> tuple[int, int | None, int]:
        """Count the rows that contain some public items; find their most frequent private item."""
        data = self.data
        row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
        held = np.bincount(row_of[np.isin(data.items, items)], minlength=data.n_rows) == len(items)
        count = np.bincount(data.items[held[row_of]], minlength=data.n_items)[self.private]
        most = int(count.max(initial=0))
        return int(held.sum()), int(self.private[count.argmax()]) if most else None, most

    def rows(self, items: NDArray[np.int64]) -> tuple[tuple[Ints, Ids, Ints], tuple[Ints, Ids, Ints]]:
        """Cut rows down to public items, merge equal ones, and count the private items of each."""
        data = self.data
        image = np.full(data.n_items, -1, np.int32)
        image[items] = np.arange(items.size)
        indptr, ids = recode_rows(data.indptr, data.items, image)
        group, first, weights = merge_rows(indptr, ids)
        base = *take_rows(indptr, ids, first), frozen(weights, np.int64)

        image = np.full(data.n_items, -1, np.int32)
        image[self.private] = self.private
        indptr, ids = recode_rows(data.indptr, data.items, image)
        n = max(data.n_items, 1)
        pairs, counts = np.unique(
            group[np.repeat(np.arange(data.n_rows), np.diff(indptr))] * n + ids, return_counts=True
        )
        starts = np.concatenate(([0], np.cumsum(np.bincount(pairs // n, minlength=first.size))))
        return base, (frozen(starts, np.int64), frozen(pairs % n, np.int32), frozen(counts, np.int64))

    def minimal_moles(self, betraying_only: bool = False, progress: Progress = silent) -> Moles:
        """Find the minimal moles of two or more items; `betraying_only`: only those in at least k rows."""
        safe = np.setdiff1d(self.public, np.concatenate((self.rare, self.betraying)))
        order = safe[np.argsort(self.support[safe], kind="stable")]  # the rarest first: fewer rows to follow
        found = find_minimal_moles(
            *self.rows(order), order.size, self.guarantee.k, self.limit, self.guarantee.p, betraying_only,
            lambda done: progress("finding minimal moles", done),
        )  # fmt: skip
        row = np.repeat(np.arange(len(found)), np.diff(found.indptr))
        items = order[found.items]
        items = items[np.lexsort((items, row))]
        return Moles(found.indptr, frozen(items, np.int32), found.support, found.betrayed, found.count)


@dataclass(frozen=True)
class Mole:
    """Public items (ids) that no release may show together."""

    items: tuple[int, ...]  # in item order
    support: int
    betrayed: int | None  # the private item that they betray; None: they are in too few rows
    count: int  # how many of the rows hold the private item


def list_moles(
    data: Transactions, guarantee: Coherence, progress: Progress = silent
) -> list[tuple[tuple[str, ...], int, str | None, Fraction]]:
    """List all minimal moles, the upper bound of the mole border: (itemset, support, betrayed, probability).

    Every other mole holds one of them, so this is all that betrays people in the data. Smaller ones come
    first, then item order. `betrayed` is the private item that the rows with this itemset hold most often,
    and how often, if they are at least k; else None and 0.
    """
    split = PublicPrivateSplit(data, guarantee)
    labels = data.vocabulary.labels
    moles = [split.single(i) for i in np.union1d(split.rare, split.betraying).tolist()]
    moles += unpacked(split.minimal_moles(progress=progress))
    moles.sort(key=lambda mole: (len(mole.items), mole.items))
    return [
        (
            tuple(labels[i] for i in mole.items),
            mole.support,
            None if mole.betrayed is None else labels[mole.betrayed],
            Fraction(mole.count, mole.support),
        )
        for mole in moles
    ]


def list_maximal(
    data: Transactions, guarantee: Coherence, progress: Progress = silent
) -> list[tuple[tuple[str, ...], int]]:
    """List the maximal sets of public items that occur together: the lower bound of the mole border.

    Items that are moles alone are omitted. Every other mole lies between a minimal mole and one of these. The
    largest come first, then item order, with the rows that hold exactly these of the items.
    """
    split = PublicPrivateSplit(data, guarantee)
    alone = np.union1d(split.rare, split.betraying)
    public = np.setdiff1d(split.public, alone)
    (indptr, items, weights), _ = split.rows(public)
    bounds = indptr.tolist()
    labels = data.vocabulary.labels
    found = [
        (tuple(public[items[bounds[row] : bounds[row + 1]]].tolist()), int(weights[row]))
        for row in np.flatnonzero(maximal_rows(indptr, items, public.size, progress)).tolist()
    ]
    found.sort(key=lambda entry: (-len(entry[0]), entry[0]))
    return [(tuple(labels[i] for i in itemset), rows) for itemset, rows in found]


def unpacked(moles: Moles) -> list[Mole]:
    """Turn arrays of moles into single ones."""
    bounds, items = moles.indptr.tolist(), moles.items.tolist()
    facts = zip(moles.support.tolist(), moles.betrayed.tolist(), moles.count.tolist(), strict=True)
    return [
        Mole(tuple(items[bounds[i] : bounds[i + 1]]), support, None if s < 0 else s, count)
        for i, (support, s, count) in enumerate(facts)
    ]
