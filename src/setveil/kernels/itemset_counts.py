"""Count the sets of a down-closed family of itemsets, per item, without listing them.

A family contains the sets of at most this many items that occur in rows of at least this weight and contain
none of the given forbidden sets. It is cut into disjoint edges <P, Q> (all sets between P and Q), and what an
edge holds is a binomial sum.

Numbers that may leave the range of int64 are vectors of `limbs` in base 2^28, lowest first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.itemset_edges import (
    BASE,
    BASE_BITS,
    FINISHED,
    GROW,
    MOST_ROWS,
    NEED_ITEMS,
    NEED_ROWS,
    SMALL,
    count_sets,
)
from setveil.kernels.itemset_roots import root_rows
from setveil.kernels.rows import Ids, Ints, frozen, invert, item_supports

STEPS_AT_ONCE = 100_000_000  # steps between two signs of life

Forbidden = tuple[Ints, Ids, Ints, Ids]
Numbers = NDArray[np.int64] | NDArray[np.object_]


class ItemsetFamily:
    """The sets of at most `largest` items with at least `threshold` rows and none of some forbidden sets.

    Rows are distinct (see `distinct_rows`); `largest` may be infinite; a forbidden set is an ascending tuple.
    `alive`: bool (n,), items in some set, changed by `drop` only; `wide`: counts may be too large for int64.
    """

    def __init__(
        self,
        indptr: Ints,
        items: Ids,
        weights: Ints,
        n: int,
        threshold: int,
        largest: int | float,
        forbidden: Sequence[Sequence[int]] = (),
    ) -> None:
        self.rows = indptr, items, weights
        self.threshold = threshold
        self.starts, self.tidlists, _ = invert(indptr, items, n)
        self.support = item_supports(indptr, items, weights, n)
        self.alive = self.support >= threshold
        for single in forbidden:
            if len(single) == 1:
                self.alive[single[0]] = False
        pairs = [entry for entry in forbidden if len(entry) > 1]
        f_items = frozen(np.fromiter((x for entry in pairs for x in entry), np.int32), np.int32)
        f_ptr = frozen(np.cumsum([0, *map(len, pairs)]), np.int64)
        f_starts, f_of, _ = invert(f_ptr, f_items, n)
        self.forbidden: Forbidden = f_ptr, f_items, f_starts, f_of
        self.rank = np.empty(n, np.int64)
        self.rank[np.argsort(self.support, kind="stable")] = np.arange(n)

        longest = int(np.diff(indptr).max(initial=0))
        unlimited = largest > longest
        self.others = longest + 2 if unlimited else int(largest) - 1  # sizes of what stands beside an item
        sizes = [longest] if unlimited else range(self.others + 1)
        sums = [[0] * len(sizes)] * (longest + 1)
        for length in range(longest + 1):
            row = [math.comb(length, r) for r in range(max(sizes) + 1)]
            sums[length] = [sum(row)] if unlimited else list(accumulate(row))
        most = sums[longest][-1]
        limbs = (
            1 if most <= SMALL else (most * max(n, 1) * int(weights.size + 1)).bit_length() // BASE_BITS + 1
        )
        self.wide = limbs > 1
        self.sums = np.zeros((longest + 1, len(sizes), limbs), np.int64)
        for length, row in enumerate(sums):
            for r, number in enumerate(row):
                for i in range(limbs):
                    self.sums[length, r, i] = number >> BASE_BITS * i & BASE - 1 if limbs > 1 else number
        self.estimates = np.array([[float(min(number, 10**300)) for number in row] for row in sums])
        self.level = np.zeros((7, min(self.others, longest) + 3), np.int64)
        self.sub = np.zeros((self.level.shape[1], limbs), np.int64)
        self.room = [
            np.empty((2, 1024), np.int64),
            np.empty((3, 4096), np.int64),
            np.empty((2, 1024), np.int64),
        ]
        self.values = np.zeros((1 << MOST_ROWS, limbs + 2), np.int64)

    def drop(self, v: int) -> None:
        """Take an item away."""
        self.alive[v] = False

    def _root(self, v: int, low: int = -1) -> tuple[Ints, ...]:
        out: tuple[Ints, ...] = root_rows(
            *self.rows,
            self.starts,
            self.tidlists,
            self.alive,
            self.rank,
            self.forbidden,
            v,
            low,
            self.threshold,
        )
        return out

    def beside(self, v: int) -> Ints:
        """List the items that make a set of the family with item `v`, in no order."""
        return self._root(v)[0] if self.alive[v] and self.others > 0 else np.zeros(0, np.int64)

    def holding(
        self, v: int, tick: Callable[[], None] = lambda: None, low: int = -1
    ) -> tuple[int, Ints, Numbers]:
        """Count the sets with an item: their total, the items that occur with it, and the sets with both.

        Only sets whose other items have a rank greater than low count. Counts are Python's integers (dtype
        object) if `self.wide`. `tick` is called about every second.
        """
        limbs = self.sums.shape[2]
        if not self.alive[v] or self.others == 0:
            return int(self.alive[v]), np.zeros(0, np.int64), _integers(np.zeros((0, limbs), np.int64))
        ids, ptr, new, w, *forbidden = self._root(v, low)
        counts = np.zeros((ids.size, limbs), np.int64)
        state = np.zeros(5, np.int64)
        scratch = np.zeros((4, ids.size + 1), np.int64)
        self.level[:], self.sub[:] = 0, 0
        while True:
            status = count_sets(
                (ptr, new, w), tuple(forbidden), self.threshold, self.others, self.sums, self.estimates,
                state, self.level, self.sub, counts, *self.room, scratch, self.values, STEPS_AT_ONCE,
            )  # fmt: skip
            if status == FINISHED:
                return int(_integers(self.sub[:1])[0]), ids, _integers(counts)
            if status == GROW:
                for i, needed in enumerate(state[NEED_ROWS : NEED_ITEMS + 1].tolist()):
                    if needed > self.room[i].shape[1]:
                        more = np.empty((self.room[i].shape[0], 2 * needed), np.int64)
                        more[:, : self.room[i].shape[1]] = self.room[i]
                        self.room[i] = more
            tick()

    def counts(self, tick: Callable[[], None] = lambda: None) -> tuple[int, Numbers]:
        """Count all sets, and for each item those that hold it."""
        total = 0
        out = np.zeros(self.alive.size, object if self.wide else np.int64)
        for v in np.argsort(self.rank).tolist():
            if self.alive[v]:
                sets, others, counts = self.holding(v, tick, int(self.rank[v]))
                total += sets
                out[v] += sets
                out[others] += counts
                tick()
        return total, out


def _integers(limbs: Ints) -> Numbers:
    """Put the limbs of many numbers together."""
    if limbs.shape[1] == 1:
        return limbs[:, 0]
    out = limbs[:, 0].astype(object)
    for i in range(1, limbs.shape[1]):
        out += limbs[:, i].astype(object) << BASE_BITS * i
    return out
