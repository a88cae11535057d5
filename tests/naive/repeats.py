"""The information in repetitions, by counting everything: signs, subsets of ranks, orders."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product


def median_interval(values: Sequence[float], level: Fraction) -> tuple[float, float] | None:
    """Try the pairs of values in order from the inside out, and count sign sequences for each.

    A sequence says of each value whether it is below the median. The pair misses the median if too few values
    are below it, or too few above.
    """
    ordered, n = sorted(values), len(values)
    for j in range(n // 2, 0, -1):
        held = sum(j <= sum(signs) <= n - j for signs in product((0, 1), repeat=n))
        if Fraction(held, 2**n) >= level:
            return ordered[j - 1], ordered[n - j]
    return None


def signed_rank(differences: Sequence[float]) -> Fraction:
    """Toss the sign of each difference in all possible ways."""
    left = [abs(value) for value in differences if value != 0]
    ranks = [Fraction(sum(other < value for other in left) * 2 + left.count(value) + 1, 2) for value in left]
    middle = sum(ranks, Fraction()) / 2
    signs = [value > 0 for value in differences if value != 0]
    found = abs(sum((r for r, s in zip(ranks, signs, strict=True) if s), Fraction()) - middle)
    ways = list(product((False, True), repeat=len(ranks)))
    far = [
        way for way in ways
        if abs(sum((r for r, s in zip(ranks, way, strict=True) if s), Fraction()) - middle) >= found
    ]  # fmt: skip
    return Fraction(len(far), len(ways))


def holm(chances: Sequence[Fraction]) -> list[Fraction]:
    """Adjust each p-value by the worst of the p-values that are not greater."""
    n = len(chances)
    ordered = sorted(chances)
    out = []
    for p in chances:
        last = max(i for i, other in enumerate(ordered) if other == p)
        out.append(min(Fraction(1), max((n - i) * ordered[i] for i in range(last + 1))))
    return out
