"""Threats between published nodes: what an attacker may know at once that too few rows show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.kernels import walk as kernel
from setveil.kernels.limits import no_limits
from setveil.kernels.rows import (
    Ids,
    Ints,
    distinct_rows,
    frozen,
    item_supports,
    merge_rows,
    ranked,
    recode_rows,
    take_rows,
)
from setveil.methods.algorithms.rt._forest_trees import ItemForest

AT_ONCE = 50_000_000  # steps between two signs of life


@dataclass(frozen=True)
class ForestKnowledge:
    """What an attacker may know of a row."""

    k: int  # fewer rows are too few
    m: float  # how many items; of mixed knowledge, how many facts of any kind
    # whether quasi-identifiers count towards m; otherwise any number of them may be known besides
    mixed: bool
    # where that is said of columns: how many quasi-identifiers, if they count, and how many items of each
    each: tuple[int, ...] = ()

    def less_one(self, sort: int) -> ForestKnowledge:
        """Return what may be known besides a fact: a quasi-identifier (0), or an item of column 1, ..."""
        counted = self.mixed or sort > 0
        each = tuple(n - (counted and at == sort) for at, n in enumerate(self.each))
        return ForestKnowledge(self.k, self.m - counted, self.mixed, each)


Rows = tuple[Ints, Ids, Ints]


class Threats:
    """Finds sets of published nodes that someone may know and that more than 0 but less than k rows hold."""

    def __init__(self, forest: ItemForest, knowledge: ForestKnowledge) -> None:
        self.forest, self.knowledge = forest, knowledge
        n = forest.tree.n_nodes
        # Of each node what may be known so many times: 0 of quasi-identifiers, of items 1, or 1, 2, ... where
        # that is said of their columns.
        column = np.maximum(forest.of_tree - forest.n_known + 1, 0)
        self.sort: Ints = frozen(column if knowledge.each else forest.is_item, np.int64)
        itself = np.arange(n, dtype=np.int32)
        # In every row, so of no use to an attacker: what is published of all rows under one node.
        self.everywhere = forest.is_root & ~forest.is_item
        self.known_only: Ids = np.where(forest.is_item, -1, itself).astype(np.int32)
        self.items_only: Ids = np.where(forest.is_item, itself, -1).astype(np.int32)
        self.telling: Ids = np.where(self.everywhere, -1, itself).astype(np.int32)

    def among(self, rows: Rows, progress: Progress = silent) -> Iterator[list[int]]:
        """List the threats of smallest size in distinct rows of published nodes; nothing if there is none.

        Sets of quasi-identifiers' nodes count as the smallest unless knowledge is mixed.
        """
        yield from self._among(rows, self.knowledge, progress)

    def _among(self, rows: Rows, knowledge: ForestKnowledge, progress: Progress) -> Iterator[list[int]]:
        if knowledge.mixed:
            yield from self._flat(rows[:2], self.telling, self.sort, rows[2], knowledge, progress)
            return
        indptr, nodes, weights = rows
        kind, first, _ = merge_rows(*recode_rows(indptr, nodes, self.known_only))
        sizes = np.bincount(kind, weights, minlength=first.size).astype(np.int64)
        known = take_rows(*recode_rows(indptr, nodes, self.known_only), first)
        tuples = np.asarray(known[1], np.int64).reshape(first.size, self.forest.n_known)
        rare = np.flatnonzero(sizes < knowledge.k)
        if rare.size:
            yield from tuples[rare].tolist()
            return
        # Labels of different classes never meet: each class has labels of its own.
        ends, items = recode_rows(indptr, nodes, self.items_only)
        pair = np.repeat(kind, np.diff(ends)) * self.forest.tree.n_nodes + items
        pairs, labels = np.unique(pair, return_inverse=True)
        itself = np.arange(pairs.size, dtype=np.int32)
        label_rows = ends, frozen(labels, np.int32)
        sort = self.sort[pairs % self.forest.tree.n_nodes]
        for threat in self._flat(label_rows, itself, sort, weights, knowledge, progress):
            some = pairs[threat]
            klass = int(some[0]) // self.forest.tree.n_nodes
            yield [*tuples[klass].tolist(), *(some % self.forest.tree.n_nodes).tolist()]

    def _flat(
        self,
        rows: tuple[Ints, Ids],
        image: Ids,
        sort: Ints,
        weights: Ints,
        knowledge: ForestKnowledge,
        progress: Progress,
    ) -> Iterator[list[int]]:
        """List the smallest sets of ids that may be known and that more than 0 but less than k rows hold."""
        each = frozen(knowledge.each, np.int64)
        if each.size:
            image = np.where(each[sort] > 0, image, -1).astype(np.int32)
        rows = recode_rows(*rows, image)
        supports = item_supports(*rows, weights, image.size)
        rare = np.flatnonzero((supports > 0) & (supports < knowledge.k))
        if knowledge.m < 1:
            return
        if rare.size:
            yield from ([v] for v in rare.tolist())
            return
        order = np.argsort(-supports, kind="stable")[: np.count_nonzero(supports)]
        by_rank = ranked(*rows, weights, order, image.size)
        n = order.size
        apart = frozen(np.arange(n), np.int32), frozen(np.arange(1, n + 1), np.int32)
        counts = frozen(supports[order], np.int64)
        longest = int(by_rank.lengths.max(initial=0))
        limits = (frozen(sort[order], np.int64), each) if each.size else no_limits(n)
        for size in range(2, int(min(knowledge.m, longest)) + 1):
            path, last, length, found = np.zeros(size, np.int64), np.empty(n, np.int64), 0, False
            while True:
                state, length, more = kernel.walk(
                    *by_rank[:6], counts, *apart, *limits, np.ones(n, bool), knowledge.k, size, size, path,
                    length, last, np.zeros(0, bool), AT_ONCE,
                )  # fmt: skip
                if state == kernel.FINISHED:
                    break
                if state == kernel.PAUSED:
                    progress(f"looking for threats of {size} facts", path[0] / n)
                    continue
                found = True
                base = order[path[:length]].tolist()
                if more:
                    yield from ([*base, int(order[y])] for y in last[:more])
                else:
                    yield base
            if found:
                return

    def of(self, leaf_rows: Rows, candidate: Ids, progress: Progress = silent) -> Iterator[list[int]]:
        """List the threats of a candidate: int32 (n_nodes,), the node of each leaf, -1 if suppressed."""
        indptr, leaves, weights = leaf_rows
        yield from self.among(distinct_rows(*recode_rows(indptr, leaves, candidate), weights), progress)

    def stays_valid(self, rows: Rows, node: int) -> bool:
        """Whether no set with a node is a threat; among the rows of published nodes are all with the node."""
        indptr, nodes, weights = rows
        holding = np.unique(np.repeat(np.arange(indptr.size - 1), np.diff(indptr))[nodes == node])
        if holding.size == 0:
            return True
        if weights[holding].sum() < self.knowledge.k:
            return False
        of_items = bool(self.forest.is_item[node])
        rest = take_rows(indptr, nodes, holding)
        if of_items or self.knowledge.mixed:
            image = np.arange(self.forest.tree.n_nodes, dtype=np.int32)
            image[node] = -1
            rest = recode_rows(*rest, image)
        knowledge = self.knowledge.less_one(int(self.sort[node]))
        merged = distinct_rows(*rest, weights[holding])
        return next(self._among(merged, knowledge, silent), None) is None
