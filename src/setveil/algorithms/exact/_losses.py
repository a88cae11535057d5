"""What releases lose, in integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids


@dataclass(frozen=True)
class Losses:
    """What publishing and suppressing loses, in integers.

    Attributes
    ----------
    worst : int
        Loss of an occurrence that is suppressed.
    per_occurrence : list of int
        Loss of an occurrence that is published as each node.
    occurrences : list of int
        Number of rows with each leaf.
    weight : list of int
        Weighted number of occurrences under each node.
    full : list of int
        Loss of publishing each node.
    """

    worst: int
    per_occurrence: list[int]
    occurrences: list[int]
    weight: list[int]
    full: list[int]

    @classmethod
    def of(
        cls,
        objective: str,
        hierarchy: Hierarchy,
        tree: Hierarchy,
        data: Transactions,
        weights: Mapping[str, int | float | Fraction],
    ) -> Losses:
        """Make the losses of NCP or LM in a hierarchy, for a tree that is what is left of it."""
        given = {item: Fraction(str(weight)) for item, weight in weights.items()}
        scale = lcm(*(weight.denominator for weight in given.values()))
        counts = hierarchy.leaf_counts[[hierarchy.id(label) for label in tree.labels]].tolist()
        if objective == "ncp":
            worst = hierarchy.n_leaves
            per_occurrence = [count if count > 1 else 0 for count in counts]
        else:
            worst = max(hierarchy.n_leaves - 1, 1)
            per_occurrence = [count - 1 for count in counts]
        occurrences = _occurrences(tree, data)
        weight = _below(tree, [
            int(given.get(tree.labels[leaf], 1) * scale) * times for leaf, times in enumerate(occurrences)
        ])  # fmt: skip
        full = [w * loss for w, loss in zip(weight, per_occurrence, strict=True)]
        return cls(worst, per_occurrence, occurrences, weight, full)

    @classmethod
    def of_suppression(cls, tree: Hierarchy, data: Transactions) -> Losses:
        """Make the losses that count the occurrences that are suppressed."""
        nothing = [0] * tree.n_nodes
        occurrences = _occurrences(tree, data)
        return cls(1, nothing, occurrences, _below(tree, occurrences), nothing)

    @property
    def whole(self) -> int:
        """Loss of suppressing everything."""
        return self.worst * max(self.weight)

    def cost(self, candidate: Ids) -> int:
        """Loss of a candidate recoding (see `Candidates`), an integer."""
        return sum(
            w * (self.per_occurrence[to] if to >= 0 else self.worst)
            for w, to in zip(self.weight, candidate[: len(self.occurrences)].tolist(), strict=False)
        )

    def suppressed(self, candidate: Ids) -> int:
        """Count the occurrences that a candidate recoding suppresses."""
        return sum(o for o, to in zip(self.occurrences, candidate.tolist(), strict=False) if to < 0)


def _occurrences(tree: Hierarchy, data: Transactions) -> list[int]:
    """Count the rows of each leaf."""
    located = tree.locate(data.vocabulary)[data.items]
    counts: list[int] = np.bincount(located, minlength=tree.n_leaves).tolist()
    return counts


def _below(tree: Hierarchy, of_leaves: list[int]) -> list[int]:
    """Sum what leaves have over the leaves below each node."""
    total = [*of_leaves, *(0 for _ in range(tree.n_nodes - tree.n_leaves))]
    for v in sorted(range(tree.n_nodes), key=lambda v: -int(tree.depth[v])):
        if tree.parent[v] >= 0:
            total[int(tree.parent[v])] += total[v]
    return total
