"""Merge clusters of rows so that their items lose less, while what their values lose stays bounded."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.kernels.rows import Ints, places_of
from setveil.methods.algorithms.rt._extents import Extents, ascending, at_most
from setveil.methods.algorithms.rt._merging_loops import expansions, pack, shared, unite
from setveil.rows.tables.table import Table

_EXACT = 1 << 31  # the greatest denominator of fractions that their first 62 binary digits tell apart


class RowPartition:
    """A partition of a table's rows that only becomes coarser.

    Clusters are numbered in their order, that of their first rows. What is merged takes the place of the
    earlier of the two; the place of the other stays empty (not `live`). `rows` (ascending), `sizes`, `live`
    and `lost` are by place; a loss divided by ``n_rows * unit_total`` is its share of R. `mergers` so far:
    the place of the merged cluster, and that which is empty since.
    """

    def __init__(self, table: Table, part: NDArray[np.int64]) -> None:
        """Begin with the clusters of rows in canonical order, numbered by first row."""
        n = int(part.max(initial=-1)) + 1
        self._part = part
        self.mergers: list[tuple[int, int]] = []
        self.sizes = np.bincount(part, minlength=n).astype(np.int64)
        self.rows = places_of(part)
        self.live = np.ones(n, bool)
        self._extents = Extents(table)
        intervals = table.intervals(part, n)
        self._least = np.array([least for least, _ in intervals], np.int32).reshape(-1, n)
        self._greatest = np.array([greatest for _, greatest in intervals], np.int32).reshape(-1, n)
        self._own = self._extents.losses(self._least, self._greatest)
        self.lost = [
            size * self._extents.number(own)
            for size, own in zip(self.sizes.tolist(), self._own.tolist(), strict=True)
        ]
        self._total, self._whole = sum(self.lost), table.n_rows * table.unit_total
        self._items = _Items(table, part, n)

    @property
    def relational_loss(self) -> Fraction:
        """R of the clusters that there are."""
        return Fraction(self._total, self._whole or 1)

    def parts(self, mergers: int) -> NDArray[np.int64]:
        """Find the number of each row's cluster after this many mergers, in their order: int64 (rows,)."""
        place = np.arange(self.live.size)
        for c, d in reversed(self.mergers[:mergers]):
            place[d] = place[c]
        return np.unique(place[self._part], return_inverse=True)[1].astype(np.int64)

    def partners(self, c: int, by: str, limit: Fraction | None = None) -> list[int]:
        """List clusters to merge with c, the most alike first in columns ("r"), items ("t") or both."""
        others = np.flatnonzero(self.live)
        others = others[others != c]
        scores = self._extents.scores(self._least, self._greatest, self.sizes, self._own, c, others)
        order = ascending(scores) if by != "t" else self._items.order(c, others, self.sizes)
        if by == "rt":
            place = np.empty(others.size, np.int64)
            place[self._items.order(c, others, self.sizes)] = np.arange(others.size)
            order = order[np.argsort(np.arange(others.size) + place[order], kind="stable")]
        if limit is not None:
            room = limit.numerator * self._whole // limit.denominator - self._total + self.lost[c]
            order = order[at_most(scores, self._extents.digits(room))[order]]
        found: list[int] = others[order].tolist()
        return found

    def merge(self, c: int, d: int) -> tuple[int, int]:
        """Merge two clusters, and name the place that they are at now, and the one that is empty."""
        c, d = min(c, d), max(c, d)
        self._items.unite(c, d)
        self.rows[c] = np.sort(np.concatenate((self.rows[c], self.rows[d])))
        self.rows[d] = self.rows[d][:0]
        self.sizes[c] += self.sizes[d]
        self.live[d] = False
        for ends, better in ((self._least, np.minimum), (self._greatest, np.maximum)):
            ends[:, c] = better(ends[:, c], ends[:, d])
        self._own[c] = self._extents.losses(self._least[:, [c]].copy(), self._greatest[:, [c]].copy())[0]
        lost = int(self.sizes[c]) * self._extents.number(self._own[c].tolist())
        self._total += lost - self.lost[c] - self.lost[d]
        self.lost[c], self.lost[d] = lost, 0
        self.mergers.append((c, d))
        return c, d


class _Items:
    """The items of each cluster, and how alike those of two are."""

    def __init__(self, table: Table, part: NDArray[np.int64], n: int) -> None:
        cluster = np.repeat(part, table.row_lengths())
        pairs, times = np.unique(cluster * table.n_items + table.items, return_counts=True)
        cluster_of, item = np.divmod(pairs, table.n_items)
        self.occurrences = np.bincount(cluster, minlength=n).astype(np.int64)
        self.length = np.bincount(cluster_of, minlength=n).astype(np.int64)
        self.start = np.cumsum(self.length) - self.length
        self.end = pairs.size
        room = np.zeros(pairs.size, np.int64)  # for what mergers write
        self.item, self.times = np.concatenate((item, room)), np.concatenate((times, room))
        self._of_c = np.zeros(table.n_items, np.int64)

    def order(self, c: int, others: Ints, sizes: Ints) -> NDArray[np.int64]:
        """Order other clusters by their distance to c, the nearest first; equal ones stay in order.

        The distance is 1 - sum(min) / sum(max) over the shares of rows with each item. As the sum of all
        shares is sum(min) + sum(max), the distance falls as sum(min) / (sum of all shares) grows.
        """
        common = np.empty(others.size, np.int64)
        shared(c, others, sizes, self.start, self.length, self.item, self.times, self._of_c, common)
        all_shares = self.occurrences[c] * sizes[others] + self.occurrences[others] * sizes[c]
        common[all_shares == 0] = 1  # no items in either: alike
        all_shares[all_shares == 0] = 2
        alike = np.empty(others.size, np.int64)
        expansions(common, all_shares, alike)
        order = np.argsort(-alike, kind="stable")
        if all_shares.max(initial=0) > _EXACT:
            self._settle(order, alike[order], common, all_shares)
        return order

    @staticmethod
    def _settle(order: Ints, digits: Ints, numerators: Ints, denominators: Ints) -> None:
        """Order fractions of equal digits exactly."""
        ends = np.append(np.flatnonzero(np.diff(digits)) + 1, digits.size)
        for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            if end - start > 1 and digits[start]:
                exact = {i: Fraction(int(numerators[i]), int(denominators[i])) for i in order[start:end]}
                order[start:end] = sorted(exact, key=exact.__getitem__, reverse=True)

    def unite(self, c: int, d: int) -> None:
        """Make the items of cluster d those of c."""
        if self.end + self.length[c] + self.length[d] > self.item.size:
            item, times = np.empty_like(self.item), np.empty_like(self.times)
            self.end = pack(self.start, self.length, self.item, self.times, item, times)
            self.item, self.times = item, times
        self.end = unite(c, d, self.start, self.length, self.item, self.times, self.end)
        self.occurrences[c] += self.occurrences[d]


def within(
    clusters: RowPartition, by: str, delta: Fraction, progress: Progress = silent
) -> Iterator[tuple[int, int]]:
    """Merge clusters while R stays within a bound; yields the two places; the second is empty then.

    The open cluster that loses least takes its first partner that the bound allows, or is closed without one.
    """
    age = [0] * clusters.live.size
    opened = [(lost, c, 0) for c, lost in enumerate(clusters.lost)]
    heapq.heapify(opened)
    left = clusters.live.size
    while opened and left >= 2:
        progress("merging clusters", 1 - len(opened) / clusters.live.size)
        _, c, made = heapq.heappop(opened)
        if not clusters.live[c] or age[c] != made:
            continue  # it was merged since
        partners = clusters.partners(c, by, delta)
        if partners:
            c, d = clusters.merge(c, partners[0])
            age[c] += 1
            left -= 1
            heapq.heappush(opened, (clusters.lost[c], c, age[c]))
            yield c, d


def until(
    clusters: RowPartition,
    by: str,
    loss_of: Callable[[Ints], int],
    is_enough: Callable[[int], bool],
    progress: Progress = silent,
) -> Iterator[int]:
    """Merge the cluster whose items lose most with its best partner, until all lose little enough.

    Yields the loss of all items at the start and after each merge; the last one is the first that is low
    enough, or that of a single cluster. `loss_of`: what the items of rows lose if anonymized together.
    """
    age = [0] * clusters.live.size
    losses = []
    for c, rows in enumerate(clusters.rows):
        progress("anonymizing the items of classes", c / clusters.live.size)
        losses.append(loss_of(rows))
    waiting = [(-loss, c, 0) for c, loss in enumerate(losses)]
    heapq.heapify(waiting)
    total, left = sum(losses), clusters.live.size
    yield total
    while not is_enough(total) and left >= 2:
        progress("merging clusters", 1 - left / clusters.live.size)
        _, c, made = heapq.heappop(waiting)
        if not clusters.live[c] or age[c] != made:
            continue  # it was merged since
        d = clusters.partners(c, by)[0]
        total -= losses[c] + losses[d]
        c, _ = clusters.merge(c, d)
        age[c] += 1
        left -= 1
        losses[c] = loss_of(clusters.rows[c])
        total += losses[c]
        heapq.heappush(waiting, (-losses[c], c, age[c]))
        yield total
