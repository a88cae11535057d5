"""What releases lose, in integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from setveil.kernels.rows import Ids
from setveil.methods.algorithms._cut import leaf_occurrences
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.rows.engine.parts import RowsOnDisk

BITS = 32  # binary places to which losses in bits are rounded
PLACES = 128  # binary places of logarithms
ROUNDED = Fraction(1, 10**6)  # share of a loss in bits below which differences count as rounding
_DIGITS = Context(prec=60)  # of logarithms: more than PLACES and what stands before the point
_LN2 = _DIGITS.ln(Decimal(2))


def how_far(best: int, lower: int, whole: int) -> dict[str, float | bool]:
    """Say how far a search came, from its best loss and proven bound in units of 1 / `whole`."""
    return {
        "loss": float(Fraction(best, whole or 1)),
        "lower_bound": float(Fraction(lower, whole or 1)),
        "gap": float(Fraction(best - lower, best)) if best else 0.0,
        "proven": lower == best,
    }


@dataclass(frozen=True)
class Losses:
    """What publishing and suppressing loses, in integers."""

    occurrences: list[int]  # number of rows with each leaf
    weight: list[int]  # weighted number of occurrences under each node
    # loss of publishing each node; 0 for leaves, and never less than its children lose together
    full: list[int]
    hidden: list[int]  # loss of suppressing what lies under each node, at least that of publishing the node
    whole: int  # the loss that is called 1
    # share of a loss below which a difference counts as rounding: 0 where the integers are the losses
    rounded: Fraction = Fraction(0)
    # unseen, unseen_occurrences: for each variable that counts how often a sensitive item is left out (see
    # `Sensitive`): the loss, and the number of occurrences, per unit
    unseen: list[int] = field(default_factory=list)
    unseen_occurrences: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        objective: str,
        hierarchy: Hierarchy,
        tree: Hierarchy,
        data: Transactions | RowsOnDisk,
        weights: Mapping[str, int | float | Fraction],
        everything: int | None = None,
    ) -> Losses:
        """Make the losses of an objective in a hierarchy, for a tree that is what is left of it.

        `everything`: the occurrences of all rows, where the data are some of them.
        """
        exact = {item: Fraction(str(weight)) for item, weight in weights.items()}
        scale = lcm(*(weight.denominator for weight in exact.values()))
        occurrences = _occurrences(tree, data)
        times = [min(n, 1) for n in occurrences] if objective == "items" else occurrences
        weight = _below(tree, [
            int(exact.get(tree.labels[leaf], 1) * scale) * n for leaf, n in enumerate(times)
        ])  # fmt: skip
        if objective in ("ncp", "lm", "items"):
            return cls._of_labels(objective, hierarchy, tree, occurrences, weight)
        return cls._of_entropy(objective, tree, occurrences, weight, everything)

    @classmethod
    def _of_labels(
        cls, objective: str, hierarchy: Hierarchy, tree: Hierarchy, occurrences: list[int], weight: list[int]
    ) -> Losses:
        """Make the losses of NCP or LM; leaves that the hierarchy lacks represent themselves."""
        if objective == "ncp":
            spread, worst = hierarchy.spread
            of_node = np.where(hierarchy.leaf_counts > 1, spread, 0)
        else:
            worst, of_node = hierarchy.most_lost, hierarchy.lost
        each = [int(of_node[hierarchy.id(label)]) if label in hierarchy else 0 for label in tree.labels]
        full = [w * loss for w, loss in zip(weight, each, strict=True)]
        hidden = [w * worst for w in weight]
        return cls(occurrences, weight, full, hidden, max(hidden))

    @classmethod
    def _of_entropy(
        cls,
        objective: str,
        tree: Hierarchy,
        occurrences: list[int],
        weight: list[int],
        everything: int | None,
    ) -> Losses:
        """Make the losses in bits: of an occurrence, what a reader who has the supports does not know of it.

        Under a node v whose leaves have S occurrences, s of them of leaf i: log2(S / s). Suppressed, as under
        the root, or ("entropy-max") as if it were any one of all occurrences.
        """
        total = _below(tree, occurrences)
        everything = total[tree.root] if everything is None else everything
        logs = {s: _log2(s) for s in {1, everything, *total} if s}

        def rounded(w: int, s: int) -> int:
            """Round 2^BITS w log2(s)."""
            return (w * logs[max(s, 1)] + (1 << (PLACES - BITS - 1))) >> (PLACES - BITS)

        known = [rounded(w, s) for w, s in zip(weight, total, strict=True)]
        full = [0] * tree.n_nodes
        for v in upwards(tree):
            if children := tree.children(v):
                # Never negative but by rounding, where nearly all weights below v are 0.
                more = max(known[v] - sum(known[child] for child in children), 0)
                full[v] = more + sum(full[child] for child in children)
        less = [0] * tree.n_leaves if objective == "entropy-max" else known
        hidden = _below(tree, [rounded(weight[i], everything) - less[i] for i in range(tree.n_leaves)])
        return cls(occurrences, weight, full, hidden, full[tree.root], ROUNDED)

    @classmethod
    def of_suppression(cls, tree: Hierarchy, data: Transactions | RowsOnDisk) -> Losses:
        """Make the losses that count the occurrences that are suppressed."""
        occurrences = _occurrences(tree, data)
        below = _below(tree, occurrences)
        return cls(occurrences, below, [0] * tree.n_nodes, below, max(below))

    def cost(self, candidate: Ids) -> int:
        """Loss of a candidate recoding (see `Candidates`), an integer."""
        leaves = candidate[: len(self.occurrences)]
        published = np.flatnonzero(np.bincount(leaves[leaves >= 0])).tolist()
        suppressed = np.flatnonzero(leaves < 0).tolist()
        lost = [*(self.full[v] for v in published), *(self.hidden[leaf] for leaf in suppressed)]
        loss: int = sum(lost)
        return loss + self._times(candidate, self.unseen)

    def suppressed(self, candidate: Ids) -> int:
        """Count the occurrences that a candidate recoding suppresses."""
        lost: int = sum(o for o, to in zip(self.occurrences, candidate.tolist(), strict=False) if to < 0)
        return lost + self._times(candidate, self.unseen_occurrences)

    @staticmethod
    def _times(candidate: Ids, amounts: list[int]) -> int:
        """Sum up amounts for what a candidate says of sensitive items, behind its nodes."""
        tail: list[int] = candidate[candidate.size - len(amounts) :].tolist()
        return sum(times * amount for times, amount in zip(tail, amounts, strict=True))


@lru_cache(1 << 16)
def _log2(s: int) -> int:
    """Round 2^PLACES log2(s): the same integer everywhere, since decimal logarithms are correctly rounded."""
    log = _DIGITS.divide(_DIGITS.ln(Decimal(s)), _LN2)
    return int(_DIGITS.multiply(log, Decimal(1 << PLACES)).to_integral_value(context=_DIGITS))


def _occurrences(tree: Hierarchy, data: Transactions | RowsOnDisk) -> list[int]:
    """Count the rows of each leaf."""
    counts: list[int] = leaf_occurrences(data, tree).tolist()
    return counts


def upwards(tree: Hierarchy) -> list[int]:
    """List all nodes, each before its parent."""
    order: list[int] = np.argsort(-tree.depth, kind="stable").tolist()
    return order


def _below(tree: Hierarchy, of_leaves: list[int]) -> list[int]:
    """Sum what leaves have over the leaves below each node."""
    before = list(accumulate((of_leaves[leaf] for leaf in tree.leaf_order.tolist()), initial=0))
    return [
        before[high] - before[low] for low, high in zip(tree.low.tolist(), tree.high.tolist(), strict=True)
    ]
