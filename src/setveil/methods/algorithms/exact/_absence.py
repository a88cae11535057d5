"""Threats to a guarantee that also holds against who knows an item that a person has not, and their clauses.

A threat is a set S of published nodes, at most m and perhaps none, and a leaf y that is published as itself,
such that some rows, but fewer than k, have S and not y (docs/exact.md). The verifier shares no code with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError
from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids, Ints, invert
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms.exact._absence_loops import few_lack, lacking
from setveil.rows.hierarchy.tree import Hierarchy

AT_MOST = 10_000  # threats that are listed of one candidate
CHOICES = 20  # leaf combinations of one row that one threat contributes

Clause = tuple[tuple[int, ...], tuple[int, ...]]


class LackedLeaf(list[int]):
    """A threat: nodes, and last the leaf that too few of their rows lack."""


def require_more_items(hierarchy: Hierarchy, empty: int, guarantee: KmAnonymity) -> None:
    """Refuse a hierarchy of one item, which nothing hides, where too few rows lack it."""
    if hierarchy.n_leaves == 1 and 0 < empty < guarantee.k:
        raise InfeasibleError(
            f"{guarantee.phrase} cannot be met: {empty} of the rows, fewer than k = {guarantee.k}, lack "
            f"the only item that there is, {hierarchy.labels[0]!r}.",
            hint=f"k = {empty} is possible; or omit the guarantee about absent items."
            if empty > 1
            else "Omit the guarantee about absent items.",
        )


class AbsenceThreats:
    """Finds threats of an absent item in distinct, weighted rows where k^m-anonymity alone is satisfied."""

    def __init__(
        self, cut: Cut, rows: tuple[Ints, Ids], weights: Ints, starts: Ints, holders: Ids, k: int, m: float
    ) -> None:
        self.tree, self.rows, self.weights, self.k = cut.tree, rows, weights, k
        self.starts, self.holders = starts, holders
        self.largest = int(min(m, max(int(np.diff(rows[0]).max(initial=0)), 1)))
        self.total = int(weights.sum())
        self._found = np.zeros(k, np.int64)
        place = np.empty(self.tree.n_leaves, np.int64)
        place[self.tree.leaf_order] = np.arange(self.tree.n_leaves)
        self._place: list[int] = place.tolist()

    def threats(
        self, rows: tuple[Ints, Ids, Ints], published: NDArray[np.bool_], progress: Progress
    ) -> Iterator[LackedLeaf]:
        """List minimal threats between published nodes of distinct rows, those of fewer nodes first."""
        progress("looking for absent items that tell too much")
        telling = published.copy()
        telling[self.tree.n_leaves :] = False
        indptr, items, weights = rows
        starts, holders, _ = invert(indptr, items, telling.size)
        out = np.empty((AT_MOST, self.largest + 1), np.int32)
        few = np.empty(AT_MOST, np.int64)
        n = few_lack(indptr, items, weights, starts, holders, telling, self.k, self.largest, out, few)
        sizes = (out[:n, :-1] >= 0).sum(axis=1)
        for i in np.argsort(sizes, kind="stable").tolist():
            yield LackedLeaf([*out[i, : sizes[i]].tolist(), int(out[i, -1])])

    def clauses(self, threat: LackedLeaf, with_leaves: bool) -> Iterator[Clause]:
        """State the clauses of a threat S and an absent leaf y (lemma: `_clauses`).

        Rows count, for S as for L, that do not have y. The cut is above y or a node of S, or y or a leaf of L
        is suppressed.
        """
        *nodes, absent = threat
        general = self._general(nodes, absent)
        above = tuple(sorted({int(self.tree.parent[v]) for v in (*general, absent)}))
        if not with_leaves:
            yield above, ()
            return
        for leaves in self._leaf_choices(general, absent):
            yield above, tuple(sorted({*leaves, absent}))

    def _few(self, nodes: list[int], absent: int) -> bool:
        """Whether some rows, but fewer than k, have nodes and not a leaf."""
        if not nodes:
            row = slice(self.starts[absent], self.starts[absent + 1])
            return 0 < self.total - int(self.weights[self.holders[row]].sum()) < self.k
        some = np.array(nodes, np.int64)
        rows, _ = lacking(some, absent, self.starts, self.holders, self.weights, self.k, self._found)
        return 0 < int(rows) < self.k

    def _general(self, nodes: list[int], absent: int) -> list[int]:
        """Generalize one node after the other, not above another or the leaf, and drop what is not needed."""
        tree, nodes = self.tree, list(nodes)
        for i in range(len(nodes)):
            while True:
                up = int(tree.parent[nodes[i]])
                others = [*nodes[:i], *nodes[i + 1 :], absent]
                if up == tree.root or any(tree.low[up] <= tree.low[v] < tree.high[up] for v in others):
                    break
                if not self._few([*nodes[:i], up, *nodes[i + 1 :]], absent):
                    break
                nodes[i] = up
        for v in list(nodes):
            rest = [x for x in nodes if x != v]
            if self._few(rest, absent):
                nodes = rest
        return nodes

    def _leaf_choices(self, nodes: list[int], absent: int) -> list[tuple[int, ...]]:
        """List combinations of leaves, one below each node, that some row holds without the absent leaf."""
        if not nodes:
            return [()]
        some = np.array(nodes, np.int64)
        _, n = lacking(some, absent, self.starts, self.holders, self.weights, self.k, self._found)
        indptr, items = self.rows
        bounds = [(int(self.tree.low[v]), int(self.tree.high[v])) for v in nodes]
        out: set[tuple[int, ...]] = set()
        for row in self._found[:n].tolist():
            leaves = items[indptr[row] : indptr[row + 1]].tolist()
            below = [[x for x in leaves if low <= self._place[x] < high] for low, high in bounds]
            out.update(islice(product(*below), CHOICES))
        return sorted(out)
