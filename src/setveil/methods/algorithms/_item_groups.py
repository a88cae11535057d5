"""The state of a run that merges items: which are published together, and which not at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, listed, shorten
from setveil.base.tracing import Trace, as_float, most
from setveil.kernels import item_groups as kernel
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, invert, recode_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy

MOST = 1 << 62  # costs stay below it (see `compare_losses`)
SHRUNK = 0.8  # equal rows are merged when the groups have become so few, relative to the last time


class ItemGroups:
    """Published groups of items; a group is named by its smallest member.

    The items are the leaves of the hierarchy, which gives the weights of utility loss, else those of the
    data. Items in no utility constraint form one more. Of each group `width` smallest members are remembered.

    `occurring`: int64, items in some row, ascending; `constraint`: int32 (items,), the number of each item's
    utility constraint, that of items in none last; `suppressed`: in the order in which they were.
    """

    def __init__(
        self,
        data: Transactions,
        hierarchy: Hierarchy | None,
        utility: Sequence[Sequence[str]] | None,
        width: int,
        weights: Mapping[str, Fraction] | None = None,
    ) -> None:
        indptr, items = data.indptr, data.items
        if hierarchy is None:
            self.items = data.vocabulary
            n = len(self.items)
            tree = (np.array([-1]), np.array([0]), np.array([1]))  # one node over all: every weight is 1
            worth, self.whole = np.ones(1, np.int64), 1
            node = np.zeros(n, np.int32)
        else:
            self.items = Vocabulary(hierarchy.labels[: hierarchy.n_leaves])
            n = len(self.items)
            indptr, items = recode_rows(indptr, items, hierarchy.locate(data.vocabulary))
            tree = (hierarchy.parent, hierarchy.low, hierarchy.high)
            worth, self.whole = weights_of_nodes(hierarchy, weights or {}, data.n_rows)
            node = np.arange(n, dtype=np.int32)
        self.rows = (indptr, items)
        self.utility = utility or ()
        self.constraint: Ids = np.full(n, len(self.utility), np.int32)
        ids = self.items.ids
        for number, group in enumerate(self.utility):
            self.constraint[[ids[item] for item in group if item in ids]] = number
        self.occurring: Ints = np.flatnonzero(np.bincount(items, minlength=n))
        distinct = distinct_rows(indptr, items)
        self.state = kernel.single_groups(
            distinct,
            invert(distinct[0], distinct[1], n)[:2],
            frozen(self.constraint, np.int32),
            (frozen(tree[0], np.int32), frozen(tree[1], np.int32), frozen(tree[2], np.int32)),
            frozen(worth, np.int64),
            node,
            width,
        )
        self.labels = self.compacted = self.occurring.size  # groups now, and when equal rows were last merged
        self.suppressed: list[int] = []
        self.merges = self.suppressions = 0

    def image(self, itemset: Sequence[int]) -> list[int]:
        """List the groups of an itemset that are published, the least supported first, ties in item order."""
        groups = {int(g) for g in self.state.group[list(itemset)] if g >= 0}
        return sorted(groups, key=lambda g: (self.state.support[g], g))

    def is_threatened(self, image: list[int], k: int) -> bool:
        """Whether some subset of the groups occurs in more than 0 and fewer than k rows."""
        return bool(kernel.is_threatened(self.state, np.array(image, np.int32), k))

    def support(self, group: int) -> int:
        """Count the rows that contain a group."""
        return int(self.state.support[group])

    def partner(self, group: int) -> int | None:
        """Find what the group is best merged with: of its utility constraint, at least utility loss."""
        found = int(kernel.best_partner(self.state, group)[0])
        return found if found >= 0 else None

    def partners(self, group: int) -> list[tuple[int, float]]:
        """List all that the group may be merged with, and the loss of both as one, the least first.

        The loss is (2^members - 1) * weight * rows, as in `partner`; only for traces.
        """
        s = self.state
        kernel.count_together(s, group)
        together = s.tally.copy()
        s.tally[:] = 0
        found = []
        for h in np.flatnonzero((s.stamp >= 0) & (s.constraint == s.constraint[group])).tolist():
            if h != group:
                node = int(s.node[group])
                while s.low[s.node[h]] < s.low[node] or s.high[node] < s.high[s.node[h]]:
                    node = int(s.parent[node])
                size = int(s.size[group] + s.size[h])
                rows = int(s.support[group] + s.support[h] - together[h])
                found.append((((1 << size) - 1) * int(s.worth[node]) * rows, h))
        return [(h, as_float(Fraction(loss, self.whole))) for loss, h in sorted(found)]

    def loss_of_labels(self, n_rows: int) -> Fraction:
        """Sum the utility loss of the published groups, exactly (Definition 3.14 of COAT)."""
        s = self.state
        alive = [g for g in self.occurring.tolist() if s.group[g] == g]
        total = sum(((1 << int(s.size[g])) - 1) * int(s.worth[s.node[g]] * s.support[g]) for g in alive)
        return Fraction(total, ((1 << len(self.items)) - 1) * self.whole * max(n_rows, 1))

    def labels_of(self, group: int) -> list[str]:
        """List the labels of a group's items, in item order."""
        return [self.items.labels[item] for item in sorted(self.members(group))]

    def merge(self, a: int, b: int) -> int:
        """Publish two groups as one; the new group's name."""
        self.merges += 1
        self.labels -= 1
        return int(kernel.merge_groups(self.state, a, b))

    def compact(self) -> bool:
        """Merge equal rows, if that may pay; whether it was done."""
        if self.labels >= SHRUNK * self.compacted:
            return False
        self.state = kernel.compacted(self.state)
        self.compacted = self.labels
        return True

    def suppress(self, group: int) -> None:
        """Publish a group no more."""
        self.suppressions += 1
        self.labels -= 1
        self.suppressed += self.members(group)
        kernel.suppress_group(self.state, group)

    def report(
        self,
        trace: Trace,
        itemset: Sequence[str],
        image: list[int],
        pairs: Iterable[tuple[int, int, float]],
        *,
        merged: tuple[int, int] | None = None,
        suppressed: int | None = None,
    ) -> None:
        """Write a step: the itemset to protect, the pairs that could be merged, and what is done."""
        if merged is not None:
            chosen: dict[str, Any] = {"merge": [self.labels_of(g) for g in merged]}
        else:
            chosen = {} if suppressed is None else {"suppress": self.labels_of(suppressed)}
        rows = kernel.support_of(self.state, np.array(image, np.int32), np.iinfo(np.int64).max)
        trace.step(
            violated=[*itemset],
            image=[{"items": self.labels_of(g), "support": self.support(g)} for g in image],
            support=int(rows),
            **most({"merge": [self.labels_of(g), self.labels_of(h)], "cost": cost} for g, h, cost in pairs),
            chosen=chosen,
        )

    def members(self, group: int) -> list[int]:
        """List the items of a group, in the order in which they came."""
        out = [group]
        while (after := int(self.state.following[out[-1]])) >= 0:
            out.append(after)
        return out


def weights_of_nodes(
    hierarchy: Hierarchy, weights: Mapping[str, Fraction], n_rows: int
) -> tuple[NDArray[np.int64], int]:
    """Scale the weights of all nodes to integers, and return the scale; by default the share of leaves.

    A group of items has the weight of their lowest common ancestor.
    """
    names = {label: node for node, label in enumerate(hierarchy.labels)}
    if unknown := [label for label in weights if label not in names]:
        raise RequestError(
            f"{listed(unknown, 3)}: no node of the hierarchy has this label, but a weight is given for it.",
            hint="Name items, or groups of the hierarchy.",
        )
    leaves = (np.asarray(hierarchy.high) - hierarchy.low).tolist()
    values = [Fraction(number, hierarchy.n_leaves) for number in leaves]
    for label, weight in weights.items():
        values[names[label]] = weight
    for node, parent in enumerate(np.asarray(hierarchy.parent).tolist()):
        if parent >= 0 and values[node] > values[parent]:
            below, above = hierarchy.labels[node], hierarchy.labels[parent]
            raise RequestError(
                f"The weight of {shorten(below)} is {float(values[node]):.6g}, and that of {shorten(above)} "
                f"above it {float(values[parent]):.6g}. A group must weigh at least as much as its parts.",
                hint="Without a weight of its own, a node has the share of the leaves below it.",
            )
    scale = math.lcm(*(value.denominator for value in values))
    if scale * max(n_rows, 1) >= MOST:
        raise RequestError("The weights have too many digits.", hint="Write them with fewer digits.")
    return np.array([int(value * scale) for value in values], np.int64), scale
