"""Intervals of rates, and how likely a result is if nothing leaks."""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt

_Z = 1.959963984540054  # of a normal distribution, for 95%


def wilson(successes: int, attempts: int) -> tuple[float, float]:
    """Find the 95% interval of a rate, from 0 to 1 without attempts.

    Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    Statistical Association 22, 1927, doi:10.1080/01621459.1927.10502953

    >>> [round(p, 4) for p in wilson(3, 10)]
    [0.1078, 0.6032]
    """
    if not attempts:
        return 0.0, 1.0
    rate, square = successes / attempts, _Z * _Z / attempts
    middle = rate + square / 2
    half = sqrt(rate * (1 - rate) * square + square * square / 4)
    low = 0.0 if not successes else (middle - half) / (1 + square)
    high = 1.0 if successes == attempts else (middle + half) / (1 + square)
    return low, high


def binomial_tail(successes: int, attempts: int, chance: float) -> float:
    """Return the probability of this many successes or more, if each attempt has this chance.

    >>> round(binomial_tail(2, 3, 0.5), 6), binomial_tail(0, 5, 0.0), binomial_tail(1, 5, 0.0)
    (0.5, 1.0, 0.0)
    """
    if successes <= 0 or chance >= 1:
        return 1.0
    if chance <= 0:
        return 0.0
    yes, no = log(chance), log1p(-chance)
    return min(
        1.0,
        sum(exp(_ways(attempts, x) + x * yes + (attempts - x) * no) for x in range(successes, attempts + 1)),
    )


def fisher(successes: int, attempts: int, others: int, other_attempts: int) -> float:
    """Return the probability of this many of all successes or more on the first side, if both are alike.

    Fisher's exact test, one-sided.

    >>> round(fisher(3, 3, 0, 3), 6)
    0.05
    """
    total, drawn = attempts + other_attempts, successes + others
    whole = _ways(total, drawn)
    return min(
        1.0,
        sum(
            exp(_ways(attempts, x) + _ways(other_attempts, drawn - x) - whole)
            for x in range(successes, min(attempts, drawn) + 1)
            if drawn - x <= other_attempts
        ),
    )


def _ways(n: int, x: int) -> float:
    return lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1)
