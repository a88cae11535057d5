"""Which privacy constraint is protected next: of itemsets from a list, or of all itemsets of m items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from setveil.base.progress import Progress
from setveil.kernels import listed_itemsets as list_kernel
from setveil.kernels.rows import Ids
from setveil.methods.algorithms import _all_itemsets as all_kernel
from setveil.methods.algorithms._item_groups import ItemGroups

STEPS_AT_ONCE = 50_000_000  # steps between two signs of life, a fraction of a second


class Policy(Protocol):
    """The privacy constraints of a run; whatever merges or suppresses groups goes through them."""

    def next_unsatisfied(self) -> Sequence[int] | None:
        """Find the unsatisfied constraint whose image has most support, the first of equals."""

    def found(self) -> Sequence[str]:
        """List the items of the constraint that was found last, as it was given."""

    def merge(self, a: int, b: int) -> None:
        """Publish two groups as one."""

    def suppress(self, group: int) -> None:
        """Publish a group no more."""


class ListedItemsets:
    """Privacy constraints one by one; no support may be below k."""

    def __init__(
        self, groups: ItemGroups, itemsets: Sequence[Sequence[str]], k: int, progress: Progress
    ) -> None:
        self.groups, self.itemsets, self.k, self.progress = groups, itemsets, k, progress
        self.last = 0  # the number of the constraint found last
        self.listed = list_kernel.list_itemsets(groups.state, groups.items.ids, itemsets)
        p, n = 0, self.listed.support.size
        while p < n:
            p = int(list_kernel.count_supports(groups.state, self.listed, p, k, STEPS_AT_ONCE))
            progress("counting the constraints", p / n)

    def next_unsatisfied(self) -> Sequence[int] | None:
        """See `Policy`."""
        while True:
            p = int(list_kernel.next_unsatisfied(self.groups.state, self.listed, self.k, STEPS_AT_ONCE))
            if p == list_kernel.NONE:
                return None
            if p >= 0:
                self.last = int(self.listed.number[p])
                items: list[int] = self.listed.items[
                    self.listed.indptr[p] : self.listed.indptr[p + 1]
                ].tolist()
                return items
            self.progress("protecting itemsets")

    def found(self) -> Sequence[str]:
        """See `Policy`."""
        return self.itemsets[self.last]

    def merge(self, a: int, b: int) -> None:
        """See `Policy`."""
        c, d = min(a, b), max(a, b)
        list_kernel.count_gains(self.groups.state, self.listed, c, d)
        self.groups.merge(c, d)
        list_kernel.recount_merged(self.groups.state, self.listed, c, d, self.k)
        if self.groups.compact():
            self.listed = list_kernel.compacted(self.groups.state, self.listed, self.k)

    def suppress(self, group: int) -> None:
        """See `Policy`."""
        self.groups.suppress(group)
        list_kernel.recount_suppressed(self.groups.state, self.listed, group, self.k)


class AllItemsets:
    """All itemsets of m items (m of those that occur), without listing them; no support may be below k."""

    def __init__(self, groups: ItemGroups, m: int, k: int, progress: Progress) -> None:
        self.groups, self.m, self.k, self.progress = groups, m, k, progress
        self.images = all_kernel.make_sources(groups.state, m, all_kernel.CAPACITY)
        self.others = all_kernel.make_sources(groups.state, m, 1)  # threatened sets that are no images
        self.smallest = groups.occurring[:m].astype(np.int32)
        self.gone = np.zeros(0, np.int32)  # the smallest suppressed items
        self.n_gone = 0
        self.last: Sequence[int] = ()  # the itemset found last

    def next_unsatisfied(self) -> Sequence[int] | None:
        """See `Policy`."""
        found = self._next(self.images, self.gone, False)
        if found is None:
            found = self._next(self.others, self.smallest, True)
        self.last = found or self.last
        return found

    def found(self) -> Sequence[str]:
        """See `Policy`."""
        return [self.groups.items.labels[item] for item in self.last]

    def _next(self, sources: all_kernel.Sources, spare: Ids, everywhere: bool) -> list[int] | None:
        first = np.zeros(self.m, np.int64)
        while True:
            outcome = all_kernel.next_unsatisfied(
                self.groups.state, sources, self.k, spare, self.n_gone, everywhere, STEPS_AT_ONCE, first
            )
            if outcome != all_kernel.PAUSED:
                return first.tolist() if outcome == all_kernel.FOUND else None
            self.progress("protecting itemsets")

    def merge(self, a: int, b: int) -> None:
        """See `Policy`."""
        group = self.groups.merge(a, b)
        self.groups.compact()
        all_kernel.add_sources(self.images, group, self.m)
        all_kernel.add_sources(self.others, group, self.m)

    def suppress(self, group: int) -> None:
        """See `Policy`."""
        self.groups.suppress(group)
        before = self.n_gone
        self.n_gone = len(self.groups.suppressed)
        self.gone = np.sort(self.groups.suppressed)[: self.m].astype(np.int32)
        all_kernel.forget_keys(self.images)
        if before < self.m - 1:  # more sets are images now
            for g in np.flatnonzero(self.groups.state.stamp >= 0).tolist():
                all_kernel.add_sources(self.images, g, self.m - 1)
