"""The hierarchies of many promises: one that was given, or what a run of each would compute."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Transactions
from setveil.hierarchy.build import by_cooccurrence
from setveil.hierarchy.tree import Hierarchy

Groups = frozenset[frozenset[str]]


class Trees:
    """The hierarchy of each promise.

    `computed`: it is computed if none is given, and depends on k: items of fewer rows come last.
    """

    def __init__(self, data: Transactions, hierarchy: Hierarchy | None, *, computed: bool) -> None:
        self._data, self._given, self.computed = data, hierarchy, computed and hierarchy is None
        self._supports = data.supports()
        self._made: dict[int, tuple[int, Hierarchy]] = {}  # by the number of items that k rows contain
        self._groups: list[Groups] = []

    def of(self, k: int) -> Hierarchy | None:
        """Find the hierarchy of a promise with this k."""
        return self._found(k)[1] if self.computed else self._given

    def number(self, k: int) -> int:
        """Find the same number for all k whose hierarchies have the same groups."""
        return self._found(k)[0] if self.computed else 0

    def _found(self, k: int) -> tuple[int, Hierarchy]:
        least = max(k, 2)
        common = int(np.count_nonzero(self._supports >= least))
        if common not in self._made:
            tree = by_cooccurrence(self._data, common=least)
            groups = _groups(tree)
            if groups not in self._groups:
                self._groups.append(groups)
            self._made[common] = self._groups.index(groups), tree
        return self._made[common]


def _groups(tree: Hierarchy) -> Groups:
    labels = tree.labels
    return frozenset(
        frozenset(labels[leaf] for leaf in tree.leaves(node)) for node in range(tree.n_leaves, tree.n_nodes)
    )
