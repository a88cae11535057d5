"""The state that the cut-based algorithms share: a cut of the hierarchy and what it costs."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen, recode_rows
from setveil.kernels.walk import extend_rows
from setveil.rows.data.sums import in_memory, is_in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.parts import PartRows, RowsOnDisk
from setveil.rows.engine.rows import AllRows, MemoryRows
from setveil.rows.hierarchy.tree import Hierarchy


class Cut:
    """A cut that only ever moves up, with exact integer costs.

    The cost of publishing node v is (occurrences under v) * (leaves under v), 0 for a single leaf: the NCP of
    the data times (number of leaves) times (number of occurrences).

    - image: int32 (n_nodes,), for each leaf the node of the cut above it, -1 if suppressed; inner nodes:
      unused
    - live: bool (n_nodes,), nodes that are in the cut or above it, i.e. not generalized
    - full, paid: for each node the cost of publishing it, and of the part of the cut at or under it
    - held: the rows of leaves, to be counted, equal ones merged; leaf_rows: (int64, int32), all of them,
      unless they are on disk
    - of_leaf: int64 (n_leaves,), occurrences
    """

    def __init__(self, data: Transactions | RowsOnDisk, tree: Hierarchy, of_leaf: Ints | None = None) -> None:
        """Start with the leaves; `of_leaf`: their occurrences, where the rows are not all that cost."""
        self.data, self.tree = data, tree
        self._supports: Ints | None = None  # of all nodes, once they were counted
        self.of_leaf = leaf_occurrences(data, tree) if of_leaf is None else of_leaf
        before = np.concatenate(([0], np.cumsum(self.of_leaf[tree.leaf_order])))
        charged = np.where(tree.leaf_counts > 1, tree.spread[0], 0)
        self.full: list[int] = ((before[tree.high] - before[tree.low]) * charged).tolist()
        self._start()

    @cached_property
    def held(self) -> AllRows:
        """The rows as algorithms count them."""
        leaf = self.tree.locate(self.data.vocabulary)
        if not is_in_memory(self.data):
            return PartRows(self.data, leaf)
        indptr, items, weights = self.data.distinct
        return MemoryRows(*recode_rows(indptr, items, leaf), weights)

    @cached_property
    def leaf_rows(self) -> tuple[Ints, Ids]:
        """The rows as they come."""
        data = in_memory(self.data)
        return recode_rows(data.indptr, data.items, self.tree.locate(data.vocabulary))

    @property
    def whole(self) -> int:
        """The divisor that turns costs into NCP."""
        return max(self.tree.n_leaves * int(self.of_leaf.sum()), 1)

    def look_at(self, indptr: Ints, leaves: Ids) -> None:
        """Take other rows of leaves; costs stay as they are."""
        self.leaf_rows = indptr, leaves
        self.held = MemoryRows(indptr, leaves)
        self._supports = None

    def _start(self) -> None:
        self.paid = [0] * self.tree.n_nodes
        self.live: NDArray[np.bool_] = np.ones(self.tree.n_nodes, bool)
        self.image: Ids = np.arange(self.tree.n_nodes, dtype=np.int32)

    def fresh(self) -> Cut:
        """Make another cut over the same data that generalizes nothing yet."""
        other = copy.copy(self)
        other._start()
        return other

    def drop(self, leaves: Iterable[int]) -> None:
        """Remove leaves from the rows, as if the data did not hold them."""
        image = np.arange(self.tree.n_leaves, dtype=np.int32)
        image[list(leaves)] = -1
        self.look_at(*recode_rows(*self.leaf_rows, image))
        self.of_leaf = np.where(image >= 0, self.of_leaf, 0)

    def supports(self, nodes: Ints) -> Ints:
        """Count the rows that hold each of some nodes in the cut or above it: int64 (n,).

        They do not depend on the cut unless leaves are suppressed: all are counted at once.
        """
        tree = self.tree
        if (self.image[: tree.n_leaves] < 0).any():
            return self.held.supports(Numbering.of(tree, self.image, nodes))
        if self._supports is None:
            every = np.arange(tree.n_nodes)
            self._supports = self.held.supports(Numbering.of(tree, every.astype(np.int32), every))
        return self._supports[nodes]

    def occurrences(self) -> Ints:
        """Count the occurrences of leaves that each node of the cut is published for: int64 (n_nodes,)."""
        leaves = self.image[: self.tree.n_leaves]
        shown = leaves >= 0
        return np.bincount(leaves[shown], self.of_leaf[shown], self.tree.n_nodes).astype(np.int64)

    def added_cost(self, nodes: Iterable[int]) -> int:
        """Cost of moving the cut up to `nodes` (none above another)."""
        return sum(self.full[v] - self.paid[v] for v in nodes)

    def generalize(self, nodes: Iterable[int]) -> None:
        """Move the cut up to `nodes` (none above another): everything below them is generalized to them."""
        tree = self.tree
        for v in nodes:
            more = self.full[v] - self.paid[v]
            for u in (v, *tree.ancestors(v)):
                self.paid[u] += more
            self.image[tree.under(v)] = v
            below = [*tree.children(v)]
            for u in below:
                self.live[u] = False
                below.extend(tree.children(u))

    def nodes(self) -> list[int]:
        """List the nodes of the cut, in item order."""
        return np.flatnonzero(self.mask()).tolist()

    def mask(self) -> NDArray[np.bool_]:
        """Tell which nodes are in the cut: bool (n_nodes,)."""
        out = np.zeros(self.tree.n_nodes, bool)
        leaves = self.image[: self.tree.n_leaves]
        out[leaves[leaves >= 0]] = True
        return out

    def and_above(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which nodes are marked or have a marked node under them: bool (n_nodes,)."""
        out, level = mask.copy(), mask
        while level.any():
            parents = self.tree.parent[level]
            level = np.zeros_like(mask)
            level[parents[parents >= 0]] = True
            out |= level
        return out

    def rows(self) -> tuple[Ints, Ids, Ints]:
        """Recode the data under the cut: distinct rows of node numbers, and how many rows each represents."""
        return self.held.distinct(frozen(self.image, np.int32))


def leaf_occurrences(data: Transactions | RowsOnDisk, tree: Hierarchy) -> Ints:
    """Count the occurrences of each leaf: int64 (n_leaves,)."""
    out = np.zeros(tree.n_leaves, np.int64)
    out[tree.locate(data.vocabulary)] = data.supports()
    return out


def extended_rows(tree: Hierarchy, indptr: Ints, items: Ids, wanted: NDArray[np.bool_]) -> tuple[Ints, Ids]:
    """Extend rows of nodes by all ancestors and keep the wanted nodes; within a row in no order."""
    nodes = np.empty(items.size * (tree.height + 1), np.int32)
    ends = np.zeros(indptr.size, np.int64)
    size = extend_rows(indptr, items, tree.parent, wanted, ends, nodes)
    return frozen(ends, np.int64), frozen(nodes[:size], np.int32)
