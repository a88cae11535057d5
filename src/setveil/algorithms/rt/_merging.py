"""Merge clusters of rows so that their items lose less, while what their values lose stays bounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.rt._extents import Extents, ascending, at_most
from setveil.algorithms.rt._merging_loops import expansions, link, shared, unite
from setveil.data.relational import Table
from setveil.kernels.rows import Ints

BY = ("r", "t", "rt")
_EXACT = 1 << 31  # the greatest denominator of fractions that their first 62 binary digits tell apart


class Clusters:
    """A partition of a table's rows that only becomes coarser.

    Clusters are numbered in their order, that of their first rows. What is merged takes the place of the earlier
    of the two; the place of the other stays empty.

    Attributes
    ----------
    rows : list of int64 (size,), ascending
        Of each cluster.
    sizes : int64 (clusters,)
        Number of rows of each.
    live : bool (clusters,)
        Which places are not empty.
    lost : list of int
        What the rows of each lose; divided by ``n_rows * unit_total`` it is its share of R.
    """

    def __init__(self, table: Table, part: NDArray[np.int64]) -> None:
        """Begin with a partition.

        Parameters
        ----------
        table : Table
            Its rows in canonical order.
        part : int64 (rows,)
            Cluster of each row, numbered by first row.
        """
        n = int(part.max(initial=-1)) + 1
        self.n_rows = table.n_rows
        self.sizes = np.bincount(part, minlength=n).astype(np.int64)
        self.rows = np.split(np.argsort(part, kind="stable"), np.cumsum(self.sizes)[:-1])
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
        self._whole = table.n_rows * table.unit_total
        self._items = _Items(table, part, n)

    @property
    def relational_loss(self) -> Fraction:
        """R of the clusters that there are."""
        return Fraction(sum(self.lost), self._whole or 1)

    def parts(self) -> NDArray[np.int64]:
        """Number the clusters that there are in their order: int64 (rows,)."""
        out = np.empty(self.n_rows, np.int64)
        for number, c in enumerate(np.flatnonzero(self.live).tolist()):
            out[self.rows[c]] = number
        return out

    def partners(self, c: int, by: str, limit: Fraction | None = None) -> list[int]:
        """List the other clusters, the best partner of cluster c first.

        Parameters
        ----------
        c : int
            A cluster.
        by : {"r", "t", "rt"}
            Similar in their values, in their items, or by the sum of the places in these two orders.
        limit : Fraction, optional
            Leave out those that R would exceed this with, after the merge.
        """
        others = np.flatnonzero(self.live)
        others = others[others != c]
        scores = self._extents.scores(self._least, self._greatest, self.sizes, self._own, c, others)
        order = ascending(scores) if by != "t" else self._items.order(c, others, self.sizes)
        if by == "rt":
            place = np.empty(others.size, np.int64)
            place[self._items.order(c, others, self.sizes)] = np.arange(others.size)
            order = order[np.argsort(np.arange(others.size) + place[order], kind="stable")]
        if limit is not None:
            room = limit.numerator * self._whole // limit.denominator - sum(self.lost) + self.lost[c]
            order = order[at_most(scores, self._extents.digits(room))[order]]
        found: list[int] = others[order].tolist()
        return found

    def merge(self, c: int, d: int) -> int:
        """Merge two clusters, and say where they are now."""
        c, d = min(c, d), max(c, d)
        self._items.unite(c, d)
        self.rows[c] = np.sort(np.concatenate((self.rows[c], self.rows[d])))
        self.rows[d] = self.rows[d][:0]
        self.sizes[c] += self.sizes[d]
        self.live[d] = False
        for ends, better in ((self._least, np.minimum), (self._greatest, np.maximum)):
            ends[:, c] = better(ends[:, c], ends[:, d])
        self._own[c] = self._extents.losses(self._least[:, [c]].copy(), self._greatest[:, [c]].copy())[0]
        self.lost[c] = int(self.sizes[c]) * self._extents.number(self._own[c].tolist())
        self.lost[d] = 0
        return c


class _Items:
    """The items of each cluster, and how alike those of two are."""

    def __init__(self, table: Table, part: NDArray[np.int64], n: int) -> None:
        cluster = np.repeat(part, table.row_lengths())
        pairs, times = np.unique(cluster * table.n_items + table.items, return_counts=True)
        self.cluster_of, self.item_of = np.divmod(pairs, table.n_items)
        self.times = times.astype(np.int64)
        self.occurrences = np.bincount(cluster, minlength=n).astype(np.int64)
        self.of_cluster = np.full(n, -1, np.int64), np.empty(pairs.size, np.int64)
        self.of_item = np.full(table.n_items, -1, np.int64), np.empty(pairs.size, np.int64)
        self.entry = np.full(table.n_items, -1, np.int64)
        link(self.cluster_of, self.item_of, *self.of_cluster, *self.of_item)

    def order(self, c: int, others: Ints, sizes: Ints) -> NDArray[np.int64]:
        """Order other clusters by their distance to c, the nearest first; equal ones stay in order.

        The distance is 1 - sum(min) / sum(max) over the shares of rows with each item. With the sum of all shares,
        which is sum(min) + sum(max), it falls as sum(min) / (sum(min) + sum(max)) grows.
        """
        common = np.zeros(sizes.size, np.int64)
        lists = (self.cluster_of, self.item_of, self.times, *self.of_cluster, *self.of_item)
        shared(c, sizes, *lists, common)
        common = common[others]
        all_shares = self.occurrences[c] * sizes[others] + self.occurrences[others] * sizes[c]
        common[all_shares == 0] = 1  # no items in either: alike
        all_shares[all_shares == 0] = 2
        alike = np.empty(others.size, np.int64)
        expansions(common, all_shares, alike)
        order = np.argsort(-alike, kind="stable")
        if all_shares.max(initial=0) > _EXACT:
            exact = [Fraction(int(common[i]), int(all_shares[i])) for i in range(others.size)]
            order = np.array(sorted(range(others.size), key=lambda i: -exact[i]), np.int64)
        return order

    def unite(self, c: int, d: int) -> None:
        unite(c, d, self.cluster_of, self.item_of, self.times, *self.of_cluster, self.of_item[0], self.entry)
        self.occurrences[c] += self.occurrences[d]
