"""How many moles and nuggets hold each item, kept up to date while items are dropped."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.kernels.itemset_counts import ItemsetFamily, Numbers
from setveil.kernels.rows import Ids, Ints, distinct_rows, recode_rows
from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit

NEAR = 1e-9  # logarithms of scores that differ by less are compared exactly


class Borders:
    """All moles and all nuggets of the data without the rare items, by their borders.

    A set is a mole iff it occurs and is not safe. Sets of at most p public items that occur, safe ones among
    them, and nuggets (k' or more rows, p' or fewer items) are three families that hold with a set all its
    subsets; each is counted as a `setveil.kernels.itemset_counts.ItemsetFamily`. `moles`, `nuggets`: how many
    hold each item that is left; these and the totals are filled by `count`.
    """

    def __init__(
        self, split: PublicPrivateSplit, k_nugget: int, p_nugget: int | float, progress: Progress = silent
    ) -> None:
        guarantee, n = split.guarantee, split.data.n_items
        self.split, self.k_nugget, self.progress = split, k_nugget, progress
        public = np.setdiff1d(split.public, split.rare)
        found = split.minimal_moles(betraying_only=True, progress=progress)
        bounds, items = found.indptr.tolist(), found.items.tolist()
        betraying = [(item,) for item in split.betraying.tolist()]
        betraying += [tuple(items[bounds[i] : bounds[i + 1]]) for i in range(len(found))]
        rows = self._rows(public)
        self.occurring = ItemsetFamily(*rows, n, 1, guarantee.p)
        self.safe = ItemsetFamily(*rows, n, guarantee.k, guarantee.p, betraying)
        both = np.concatenate((public, split.private))
        self.frequent = ItemsetFamily(
            *self._rows(both[split.support[both] >= k_nugget]), n, k_nugget, p_nugget
        )
        self.left = public
        self.wide = self.occurring.wide or self.frequent.wide
        self.moles: Numbers = np.zeros(n, np.int64)
        self.nuggets: Numbers = np.zeros(n, np.int64)
        self.all_moles = self.all_nuggets = 0
        self._score = np.full(n, -np.inf)

    def _rows(self, items: NDArray[np.int64]) -> tuple[Ints, Ids, Ints]:
        data = self.split.data
        image = np.full(data.n_items, -1, np.int32)
        image[items] = items
        return distinct_rows(*recode_rows(data.indptr, data.items, image))

    def moles_of(self, v: int) -> tuple[int, dict[int, int]]:
        """Count the moles with an item, and with this and another item; before `count`."""
        tick = self._tick("looking for items in moles")
        occurring, others, counts = self.occurring.holding(v, tick)
        safe, spared, fewer = self.safe.holding(v, tick)
        beside = dict(zip(others.tolist(), counts.tolist(), strict=True))
        for u, number in zip(spared.tolist(), fewer.tolist(), strict=True):
            beside[u] -= number
        return occurring - safe, beside

    def drop(self, v: int) -> None:
        """Take an item away; before `count`, counts are not kept up to date."""
        for family in (self.occurring, self.safe, self.frequent):
            family.drop(v)
        self.left = self.left[self.left != v]

    def count(self) -> None:
        """Count the moles and nuggets that hold each item that is left."""
        total, occurring = self.occurring.counts(self._tick("counting moles"))
        fewer, safe = self.safe.counts(self._tick("counting moles"))
        self.all_moles, self.moles = total - fewer, self._number(occurring) - safe
        self.all_nuggets, nuggets = self.frequent.counts(self._tick("counting nuggets"))
        self.nuggets = self._number(nuggets)
        self._rate(self.left)

    def suppress(self, v: int) -> None:
        """Drop an item and take the moles and nuggets that hold it off the counts of the others."""
        tick = self._tick("suppressing items")
        losers, others, counts = self.occurring.holding(v, tick)
        self.moles[others] -= counts
        spared, safe, counts = self.safe.holding(v, tick)
        self.moles[safe] += counts
        lost, beside, counts = self.frequent.holding(v, tick)
        self.nuggets[beside] -= counts
        self.all_moles -= losers - spared
        self.all_nuggets -= lost
        self.moles[v] = self.nuggets[v] = 0
        self.drop(v)
        self._score[v] = -np.inf
        self._rate(np.union1d(others, beside))  # at p = 1 no mole holds two items, but nuggets do

    def score(self, v: int) -> Fraction:
        """Moles that are gone for each nugget that is lost if an item is suppressed."""
        return Fraction(int(self.moles[v]), int(self.nuggets[v]))

    def best(self) -> int | None:
        """Find the item of greatest score, of equals the first; None if no mole is left."""
        top = float(self._score.max(initial=-np.inf))
        if top == -np.inf:
            return None
        near = np.flatnonzero(self._score >= top - NEAR).tolist()
        return max(near, key=lambda v: (self.score(v), -v)) if len(near) > 1 else int(near[0])

    def _number(self, counts: Numbers) -> Numbers:
        return counts.astype(object) if self.wide else counts

    def _rate(self, items: Ints) -> None:
        """Bring the logarithms of the items' scores up to date."""
        moles, nuggets = self.moles[items], self.nuggets[items]
        if self.wide:
            self._score[items] = [
                math.log2(m) - math.log2(n) if m > 0 else -math.inf
                for m, n in zip(moles, nuggets, strict=True)
            ]
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                self._score[items] = np.where(moles > 0, np.log2(moles) - np.log2(nuggets), -np.inf)

    def _tick(self, phase: str) -> Callable[[], None]:
        return lambda: self.progress(phase)
