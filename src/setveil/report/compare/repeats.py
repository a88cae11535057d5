"""Statistics of repetitions: intervals of medians, and tests of differences between methods.

Each repetition draws rows (or queries) by a seed, the same for all methods, so that methods are compared draw
by draw. Intervals and tests are about further draws from the same data, not about other data, and need no
normal distribution.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import comb

import numpy as np

LEVEL = 0.95
LEAST = 6  # repetitions that an interval of the median needs at this level


def median_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """Find a confidence interval of the median whose ends are values in order.

    The j-th least and the j-th greatest of n values enclose the median with a probability of at least 1 - 2
    P(B < j), B binomial with n and 1/2, whatever their distribution. The greatest j counts for which that is
    at least `level`; None if there are too few values, at 0.95 fewer than 6.

    >>> median_interval([5, 1, 4, 2, 3, 6]), median_interval([1, 2, 3, 4, 5])
    ((1, 6), None)
    """
    n = len(values)
    below, place = 0, 0  # sequences of n signs with fewer than `place` of one kind
    while place < n // 2 and 2 * (below + comb(n, place)) <= (1 - level) * 2**n:
        below += comb(n, place)
        place += 1
    ordered = sorted(values)
    return (ordered[place - 1], ordered[n - place]) if place else None


def signed_rank(differences: Sequence[float]) -> float:
    """Compute the two-sided p-value of Wilcoxon's signed-rank test, exactly.

    Differences of zero are omitted, and equal ones share the mean of their ranks. The p-value is the
    probability, if each sign were tossed, of a sum of positive ranks at least as far from its mean. It is
    above 0 and at most 1, which it is if all differences are zero.

    >>> signed_rank([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), signed_rank([1, -1])
    (0.03125, 1.0)
    """
    left = [value for value in differences if value]
    sizes = sorted(map(abs, left))
    # Twice the mean rank of equal values, an integer: places bisect_left + 1 to bisect_right.
    ranks = [bisect_left(sizes, abs(v)) + 1 + bisect_right(sizes, abs(v)) for v in left]
    chances = np.ones(1)
    for rank in ranks:
        longer = np.zeros(chances.size + rank)
        longer[: chances.size] = chances
        longer[rank:] += chances
        chances = longer / 2
    total = sum(ranks)
    found = sum(rank for rank, value in zip(ranks, left, strict=True) if value > 0)
    away = abs(2 * found - total)
    places = np.arange(total + 1)
    return min(1.0, float(chances[np.abs(2 * places - total) >= away].sum()))


def holm(chances: Sequence[float]) -> list[float]:
    """Adjust p-values for how many there are (Holm), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    out = [1.0] * len(chances)
    most = 0.0
    for done, place in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        most = max(most, min(1.0, (len(chances) - done) * chances[place]))
        out[place] = most
    return out
