"""The hierarchies of many guarantees: one that was given, or what a run of each would compute."""

from __future__ import annotations

import numpy as np

from setveil.judges.guarantees import Guarantee, least_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.build import by_cooccurrence
from setveil.rows.hierarchy.tree import Hierarchy

Groups = frozenset[frozenset[str]]


class Trees:
    """The hierarchy of each guarantee; in a computed one, items of few rows come last."""

    def __init__(self, data: Transactions, hierarchy: Hierarchy | None, *, computed: bool) -> None:
        self._data, self._hierarchy, self.computed = data, hierarchy, computed and hierarchy is None
        self._supports = data.supports()
        self._made: dict[int, tuple[int, Hierarchy]] = {}  # by the number of items of enough rows
        self._groups: list[Groups] = []

    def of(self, guarantee: Guarantee) -> Hierarchy | None:
        """Find the hierarchy of a guarantee."""
        return self._found(guarantee)[1] if self.computed else self._hierarchy

    def number(self, guarantee: Guarantee) -> int:
        """Find the same number for all guarantees whose hierarchies have the same groups."""
        return self._found(guarantee)[0] if self.computed else 0

    def _found(self, guarantee: Guarantee) -> tuple[int, Hierarchy]:
        least = least_rows(guarantee)
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
