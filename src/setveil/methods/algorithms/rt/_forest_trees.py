"""Quasi-identifiers and items as one tree: the rows, what may be published, and what that loses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms.exact._candidates import contracted
from setveil.methods.algorithms.exact._losses import Losses
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

EXACT = 1 << 50  # losses that sum to no more are told apart by the solver's floating-point numbers
PLACES = 10**12  # beyond, losses are rounded to one part in so many
ROUNDED = Fraction(1, 10**9)  # share of a loss below which differences then count as rounding


@dataclass(frozen=True)
class Tree:
    """One of the trees: of a quasi-identifier, or of the items, or of the items of one column."""

    parent: Sequence[int]  # Of each node, -1 for the root. Leaves come first.
    n_leaves: int
    # What one row, or occurrence, loses that is published as each node: 0 for leaves, and not less on the way
    # up. In shares of the whole release.
    loss: Sequence[Fraction | int]
    coarsest: Collection[int] = ()  # nodes that nothing above may be published for

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    def too_coarse(self) -> set[int]:
        """List the nodes above the coarsest that may be published."""
        out: set[int] = set()
        for v in self.coarsest:
            while (v := int(self.parent[v])) >= 0 and v not in out:
                out.add(v)
        return out


class ItemForest:
    """Trees below one artificial root that is never reached, and rows of their leaves.

    `known`: trees of the quasi-identifiers, with `values` of int32 (n_rows,), a leaf for each row; `items`:
    trees of each column of items, empty if rows have no items; `rows`: leaves of these, by the number in the
    tree, plus that of all nodes of the trees before it; `hidden`: what an occurrence loses that is
    suppressed, at least that of the root.

    - tree: the trees without leaves that no row has, and inner nodes that then have a single child
    - of_tree, node: int64 (n_nodes,), which of the trees each node is of (those of items come last), and its
      number there; -1 for the artificial root
    - is_item: whether it is an item or a node above; is_root: whether a tree's root, or what is left of one,
      which every row has if it is no item
    - barred: inner nodes that may not be published, the artificial root among them
    - losses: in integers; cut: the rows, as `setveil.methods.algorithms.exact` wants them; n_known:
      quasi-identifiers
    """

    def __init__(
        self,
        known: Sequence[Tree],
        values: Sequence[NDArray[np.integer]],
        items: Sequence[Tree],
        rows: tuple[Ints, Ids],
        hidden: Fraction | int = 0,
    ) -> None:
        trees = [*known, *items]
        self.trees, self.n_known = trees, len(known)
        ends = np.cumsum([0, *(t.n_nodes for t in trees)]).tolist()
        root = str(ends[-1])
        parents: dict[str, str | None] = {root: None}
        for tree, start in zip(trees, ends, strict=False):
            for v, up in enumerate(tree.parent):
                parents[str(start + v)] = root if up < 0 else str(start + int(up))
        self.data = self._combined(values, ends, rows, bool(items), ends[-1])
        occurring = set(self.data.vocabulary.labels)
        self.tree = whole = contracted(Hierarchy(parents), occurring)
        number = np.array([int(label) for label in whole.labels], np.int64)
        self.of_tree = np.searchsorted(np.array(ends), number, side="right") - 1
        self.of_tree[whole.root] = -1
        self.node = number - np.array(ends)[self.of_tree]
        self.node[whole.root] = -1
        self.is_item = self.of_tree >= self.n_known
        self.is_root = whole.parent == whole.root
        too_coarse = [tree.too_coarse() for tree in trees]
        self.barred = [
            v for v in range(whole.n_leaves, whole.n_nodes)
            if v == whole.root or int(self.node[v]) in too_coarse[self.of_tree[v]]
        ]  # fmt: skip
        self.cut = Cut(self.data, whole)
        self.losses = self._losses(hidden)

    @staticmethod
    def _combined(
        values: Sequence[NDArray[np.integer]],
        starts: Sequence[int],
        rows: tuple[Ints, Ids],
        with_items: bool,
        n_labels: int,
    ) -> Transactions:
        """Put each row's values before its items, as leaves of the one tree."""
        indptr, items = rows
        q, n = len(values), indptr.size - 1
        ends = indptr + q * np.arange(n + 1)
        out = np.empty(int(ends[-1]), np.int64)
        for a, codes in enumerate(values):
            out[ends[:-1] + a] = codes + starts[a]
        if with_items:
            row = np.repeat(np.arange(n), np.diff(indptr))
            out[np.arange(items.size) + q * (row + 1)] = items + starts[q]
        return Transactions.from_codes(ends, out, [str(number) for number in range(n_labels)])

    def _losses(self, hidden: Fraction | int) -> Losses:
        tree = self.tree
        located = self.cut.leaf_rows[1]
        before = np.concatenate(
            ([0], np.cumsum(np.bincount(located, minlength=tree.n_leaves)[tree.leaf_order]))
        )
        below: list[int] = (before[tree.high] - before[tree.low]).tolist()
        each = [
            Fraction(0) if t < 0 or v < self.tree.n_leaves else Fraction(self.trees[t].loss[u])
            for v, (t, u) in enumerate(zip(self.of_tree.tolist(), self.node.tolist(), strict=True))
        ]
        lost = Fraction(hidden)
        scale = lcm(lost.denominator, *(loss.denominator for loss in each))
        tops = np.flatnonzero(self.is_root).tolist()
        total = sum(max(each[v], lost if self.is_item[v] else 0) * below[v] for v in tops)
        rounded = total * scale > EXACT
        if rounded:
            scale = PLACES
        full = [round(loss * scale * n) for loss, n in zip(each, below, strict=True)]
        for v in sorted(range(tree.n_leaves, tree.n_nodes), key=lambda v: -int(tree.depth[v])):
            full[v] = max(full[v], sum(full[child] for child in tree.children(v)))
        gone = [
            max(round(lost * scale * n), loss) if item else loss
            for n, loss, item in zip(below, full, self.is_item.tolist(), strict=True)
        ]
        occurrences = [
            n if item else 0 for n, item in zip(below[: tree.n_leaves], self.is_item.tolist(), strict=False)
        ]
        return Losses(occurrences, below, full, gone, scale, ROUNDED if rounded else Fraction(0))

    # --- candidates

    def coarsest(self) -> Ids:
        """Make the candidate in which everything is published as coarsely as it may be."""
        tree = self.tree
        candidate = np.arange(tree.n_nodes, dtype=np.int32)
        barred = set(self.barred)
        for v in range(tree.n_nodes):
            if v not in barred and int(tree.parent[v]) in barred:
                candidate[tree.under(v)] = v
        return candidate

    def images(self, candidate: Ids) -> list[list[int]]:
        """List for each tree the node of each leaf, -1 if suppressed; leaves without rows are themselves."""
        out = []
        for t, tree in enumerate(self.trees):
            image = list(range(tree.n_leaves))
            leaves = np.flatnonzero(self.of_tree[: self.tree.n_leaves] == t)
            used = {int(v) for v in candidate[leaves] if v >= 0}
            cut = {int(self.node[v]) for v in used}
            for leaf in range(tree.n_leaves):
                v = leaf
                while v >= 0 and v not in cut:
                    v = int(tree.parent[v])
                if v >= 0:
                    image[leaf] = v
            for leaf in leaves[candidate[leaves] < 0].tolist():
                image[int(self.node[leaf])] = -1
            out.append(image)
        return out

    def loss(self, candidate: Ids, hidden: Fraction | int) -> Fraction:
        """Compute the loss of a candidate exactly."""
        total = Fraction(0)
        for leaf, to in enumerate(candidate[: self.tree.n_leaves].tolist()):
            times = self.losses.weight[leaf]
            if to < 0:
                total += hidden * times
            elif to >= self.tree.n_leaves:
                total += self.trees[int(self.of_tree[to])].loss[int(self.node[to])] * times
        return total
