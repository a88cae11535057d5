"""Leaves that no valid recoding publishes as themselves, merged, so that the program is smaller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setveil.kernels.rows import Ints, distinct_rows, item_supports, recode_rows
from setveil.methods.algorithms._cut import extended_rows
from setveil.methods.algorithms.exact._candidates import contracted
from setveil.methods.algorithms.exact._losses import Losses
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy


class RareLeaves:
    """A tree, each of whose leaves occurs, without the nodes that fewer than k rows hold.

    Such a node is never published, so each leaf below it is suppressed unless the cut lies above the highest
    such node over it. All leaves below the same such node are suppressed together or not at all: one of them
    represents all. `members`: for each leaf that represents several, or for one that is rare, all of them;
    `tree`: what is left, its leaves those that are not rare, and those that represent others.
    """

    def __init__(self, tree: Hierarchy, rows: Transactions, k: int) -> None:
        self.whole = tree
        leaf = tree.locate(rows.vocabulary)
        indptr, items, weights = distinct_rows(*recode_rows(rows.indptr, rows.items, leaf))
        extended = extended_rows(tree, indptr, items, np.ones(tree.n_nodes, bool))
        rare = item_supports(*extended, weights, tree.n_nodes) < k
        rare[tree.root] = False
        self.members: dict[str, list[str]] = {}
        self._stands_for = np.arange(tree.n_leaves)  # of each leaf the one that stands for it
        first: dict[int, int] = {}  # leaf that stands for those below a node
        parents: dict[str, str | None] = {tree.labels[tree.root]: None}
        for v in np.flatnonzero(~rare).tolist():
            if v != tree.root:
                parents[tree.labels[v]] = tree.labels[tree.parent[v]]
        for v in np.flatnonzero(rare[: tree.n_leaves]).tolist():
            above = next(up for up in tree.ancestors(v) if not rare[up])
            self._stands_for[v] = one = first.setdefault(above, v)
            self.members.setdefault(tree.labels[one], []).append(tree.labels[v])
            parents[tree.labels[one]] = tree.labels[above]
        smaller = Hierarchy(parents)
        self.tree = contracted(smaller, smaller.labels[: smaller.n_leaves], set(self.members))
        self._node = np.array([tree.id(label) for label in self.tree.labels])

    def of(self, label: str) -> list[str]:
        """List the leaves that a leaf represents; of a node the node alone."""
        return self.members.get(label, [label])

    def rows(self, rows: Transactions) -> Transactions:
        """Write rows with the leaves that represent theirs."""
        leaf = self._stands_for[self.whole.locate(rows.vocabulary)[rows.items]]
        return Transactions.from_codes(rows.indptr, leaf, self.whole.labels[: self.whole.n_leaves])

    def summed(self, of_leaves: Ints) -> Ints:
        """Sum what leaves have over those that one represents: int64 (leaves of the smaller tree,)."""
        total = np.zeros(self.whole.n_leaves, np.int64)
        np.add.at(total, self._stands_for, of_leaves)
        summed: Ints = total[self._node[: self.tree.n_leaves]]
        return summed

    def losses(self, losses: Losses) -> Losses:
        """Say of the smaller tree what losses say of the whole one."""
        return replace(
            losses,
            occurrences=self._summed(losses.occurrences),
            weight=self._of_nodes(losses.weight),
            full=self._of_nodes(losses.full),
            hidden=self._of_nodes(losses.hidden),
        )

    def _summed(self, of_leaves: list[int]) -> list[int]:
        """Sum integers of any size over the leaves that one represents."""
        total = [0] * self.whole.n_leaves
        for leaf, one in enumerate(self._stands_for.tolist()):
            total[one] += of_leaves[leaf]
        return [total[v] for v in self._node[: self.tree.n_leaves].tolist()]

    def _of_nodes(self, of_nodes: list[int]) -> list[int]:
        inner = self._node[self.tree.n_leaves :].tolist()
        return self._summed(of_nodes[: self.whole.n_leaves]) + [of_nodes[v] for v in inner]
