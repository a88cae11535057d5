"""SuppressControl: which items to suppress in all rows, found greedily."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.kernels.rows import Ids, Ints, frozen, invert, take_rows
from setveil.methods.algorithms.rho._rules import RuleSearch, distinct_without

NEAR = 1e-9  # scores that differ by a smaller share are compared exactly

Weighted = tuple[Ints, Ids, Ints]  # rows, and how many each stands for


class SuppressionChoice(NamedTuple):
    """An item to suppress: for rules of how many known items, and how many of them per loss."""

    item: int
    size: int
    score: str


def choose_items(
    rows: Weighted,
    is_secret: NDArray[np.bool_],
    limit: Ints,
    loss: list[int],
    most: int | None = None,
    progress: Progress = silent,
) -> list[SuppressionChoice]:
    """Choose what to suppress in all rows, in order, so that no rule of any size breaches.

    Rules of fewer known items first: as long as some of the present size are left, the item goes that removes
    most of them per loss (known in them, or told by them). An item of no loss goes before all others; equal
    ones go in item order. Leaving an item out everywhere changes no other set's support, so no rule comes
    back. The rows include the empty ones; limit: for each number of rows, how many of them may contain a
    sensitive item. Stops as soon as more than `most` is lost, whatever breaches then.
    """
    order: list[SuppressionChoice] = []
    lost = size = 0
    search = RuleSearch(*rows, is_secret, limit)
    while size <= search.longest and (most is None or lost <= most):
        rules = search.of_size(size, progress)
        if rules.size:
            chosen = _hit(rules[:, :-1], loss, None if most is None else most - lost)
            lost += sum(loss[choice.item] for choice in chosen)
            order += chosen
            rows = distinct_without(rows, [choice.item for choice in chosen], is_secret.size)
            search = RuleSearch(*rows, is_secret, limit)
        size += 1
    return order


def _hit(rules: Ids, loss: list[int], most: int | None) -> list[SuppressionChoice]:
    """Choose items until every rule holds one, or more than `most` is lost."""
    n, width = rules.shape
    indptr = frozen(np.arange(0, rules.size + 1, width), np.int64)
    starts, rules_of, _ = invert(indptr, frozen(rules.ravel(), np.int32), len(loss))
    kills = np.diff(starts)
    cost = np.array(loss, np.float64)
    free = cost == 0
    cost[free] = 1
    gone = np.zeros(n, bool)
    left, lost = n, 0
    order = []
    while left and (most is None or lost <= most):
        score = kills / cost
        score[free] = np.where(kills[free] > 0, score[free] + score.max() + 1, 0)
        near = np.flatnonzero(score >= score.max() * (1 - NEAR)).tolist()
        best = max(near, key=lambda x: (loss[x] == 0, Fraction(int(kills[x]), max(loss[x], 1)), -x))
        lost += loss[best]
        order.append(SuppressionChoice(best, width - 1, _written(int(kills[best]), loss[best])))
        dead = rules_of[starts[best] : starts[best + 1]]
        dead = dead[~gone[dead]]
        gone[dead] = True
        left -= dead.size
        kills = kills - np.bincount(rules[dead].ravel(), minlength=kills.size)
    return order


def _written(kills: int, loss: int) -> str:
    return str(Fraction(kills, loss)) if loss else "no loss"


def bring_back(
    rows: Weighted,
    is_secret: NDArray[np.bool_],
    limit: Ints,
    loss: list[int],
    gone: list[int],
    progress: Progress = silent,
) -> list[int]:
    """Find which of the items suppressed can come back, those of the greatest loss first, in item order.

    An item that comes back changes only the support of sets that contain it. So only two kinds of rules can
    breach: with it among the known items (in its rows, where it reveals nothing more), or revealing it.
    """
    n = is_secret.size
    back = []
    still = set(gone)
    for done, x in enumerate(sorted(gone, key=lambda x: (-loss[x], x))):
        progress("bringing items back", done / len(gone))
        indptr, items, weights = distinct_without(rows, sorted(still - {x}), n)
        holds = np.repeat(np.arange(weights.size), np.diff(indptr))[items == x]
        inside = distinct_without((*take_rows(indptr, items, holds), weights[holds]), [x], n)
        if RuleSearch(*inside, is_secret, limit).any_breach():
            continue
        if is_secret[x]:
            alone = np.zeros(n, bool)
            alone[x] = True
            if RuleSearch(indptr, items, weights, alone, limit).any_breach():
                continue
        still.remove(x)
        back.append(x)
    return back
