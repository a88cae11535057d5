"""One cut of each column's hierarchy (without single children), found from the roots down or values up."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.kernels.rows import Ids, Ints
from setveil.methods.algorithms.rt._distinct import classes, distinct_tuples, rows_of
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table


class _Tree:
    """A column's hierarchy without inner nodes of one child.

    Node v represents the values ``low[v]:high[v]``. Nodes keep their numbers, and children are in the order
    of their values. `lost`: what the rows of the table under each node lose if they show it.
    """

    def __init__(self, column: QuasiIdentifier, unit: int, codes: Ids, sizes: Ints) -> None:
        self.low, self.high = column.low, column.high
        parent: list[int] = column.parent.tolist()  # type: ignore[union-attr]
        children: list[list[int]] = [[] for _ in parent]
        for v in np.argsort(self.low, kind="stable").tolist():
            if parent[v] >= 0:
                children[parent[v]].append(v)
        self.root = _merged(children, parent.index(-1))
        self.children = [[_merged(children, u) for u in below] for below in children]
        self.parent = [-1] * len(parent)
        for v, below in enumerate(self.children):
            for u in below:
                if len(below) > 1:
                    self.parent[u] = v
        rows = np.zeros(column.n_values + 1, np.int64)
        np.add.at(rows, codes + 1, sizes)
        before = np.cumsum(rows)
        times = (before[self.high] - before[self.low]).tolist()
        self.lost: list[int] = [
            unit * loss * n for loss, n in zip(column.extent.tolist(), times, strict=True)
        ]

    def gain(self, v: int) -> int:
        """How much less rows under a node lose if they show its children."""
        return self.lost[v] - sum(self.lost[u] for u in self.children[v])


def _merged(children: list[list[int]], v: int) -> int:
    while len(children[v]) == 1:
        v = children[v][0]
    return v


class _State:
    """A cut of each column, and the classes that it makes."""

    def __init__(self, table: Table) -> None:
        self.values, self.sizes, _ = distinct_tuples(table)
        self.trees = [
            _Tree(column, unit, self.values[:, a], self.sizes)
            for a, (column, unit) in enumerate(zip(table.columns, table.units, strict=True))
        ]

    def specialize(self, cuts: list[Ids], k: int, progress: Progress) -> list[Ids]:
        """Replace nodes by their children, greatest gain first, where all classes keep k rows.

        A node that cannot be replaced cannot be later, in smaller classes; gains do not depend on others.
        """
        nodes = [cut.copy() for cut in cuts]
        part = classes([cut[self.values[:, a]] for a, cut in enumerate(cuts)])
        n_classes = part.size
        under = {
            (a, v): np.flatnonzero(cut[self.values[:, a]] == v)
            for a, cut in enumerate(cuts)
            for v in np.unique(cut).tolist()
        }
        waiting = [(-self.trees[a].gain(v), a, v) for a, v in under if self.trees[a].children[v]]
        heapq.heapify(waiting)
        while waiting:
            progress("specializing")
            _, a, v = heapq.heappop(waiting)
            tree, inside = self.trees[a], under.pop((a, v))
            below = tree.children[v]
            child = np.searchsorted(tree.low[below], self.values[inside, a], side="right") - 1
            finer = classes([part[inside], child])
            if (rows_of(finer, self.sizes[inside]) < k).any():
                continue
            part[inside] = n_classes + finer
            n_classes += inside.size
            for at, u in enumerate(below):
                nodes[a][tree.low[u] : tree.high[u]] = u
                under[a, u] = inside[child == at]
                if tree.children[u]:
                    heapq.heappush(waiting, (-tree.gain(u), a, u))
        return nodes

    def roots(self) -> list[Ids]:
        """Publish the root everywhere."""
        return [np.full(tree.high[tree.root], tree.root, np.int32) for tree in self.trees]

    def generalize(self, k: int, progress: Progress) -> list[Ids]:
        """Replace nodes that small classes show by their parents, least loss first, until none is small."""
        nodes = [np.arange(tree.high[tree.root], dtype=np.int32) for tree in self.trees]
        labels = self.values.T.copy()
        # What rows under each node lose now.
        losing = [[0] * len(tree.lost) for tree in self.trees]
        while True:
            progress("generalizing")
            part = classes(list(labels))
            small = rows_of(part, self.sizes)[part] < k
            if not small.any():
                return nodes
            shown = [(a, v) for a, column in enumerate(labels) for v in np.unique(column[small]).tolist()]
            above = {(a, up) for a, v in shown if (up := self.trees[a].parent[v]) >= 0}
            added, a, v = min((self.trees[a].lost[v] - losing[a][v], a, v) for a, v in above)
            tree = self.trees[a]
            nodes[a][tree.low[v] : tree.high[v]] = v
            inside = (self.values[:, a] >= tree.low[v]) & (self.values[:, a] < tree.high[v])
            labels[a, inside] = v
            while v >= 0:
                losing[a][v] += added
                v = tree.parent[v]


def top_down(table: Table, k: int, progress: Progress = silent) -> list[Ids]:
    """Specialize the roots while all classes keep k rows; the greatest decrease of loss comes first.

    Rows are in canonical order, none or at least k; all columns have hierarchies. Returns for each column the
    node of each value. Equal gains are decided by the order of the columns, then of the nodes. A gain of 0 is
    taken, too.

    Fung, Wang, Yu, "Top-Down Specialization for Information and Privacy Preservation", ICDE 2005,
    doi:10.1109/ICDE.2005.143; the loss is that of Xu et al., KDD 2006, doi:10.1145/1150402.1150504.
    """
    state = _State(table)
    return state.specialize(state.roots(), k, progress)


def bottom_up(table: Table, k: int, progress: Progress = silent) -> list[Ids]:
    """Generalize what small classes show, then specialize again what need not have been generalized.

    Arguments and result are those of `top_down`. While a class has fewer than k rows: of the parents of the
    nodes that rows of such classes show, the one that adds least to the loss replaces all nodes below it.
    Ties go by the order of the columns, then of the nodes.
    """
    state = _State(table)
    return state.specialize(state.generalize(k, progress), k, progress)


def classes_of(table: Table, nodes: Sequence[Ids]) -> NDArray[np.int64]:
    """Give each combination of nodes that rows show a number: int64 (rows,)."""
    return classes([node[column.codes] for column, node in zip(table.columns, nodes, strict=True)])
