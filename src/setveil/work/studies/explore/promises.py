"""A grid of guarantees (k, m) or (k, m, rho): which guarantee is stronger, and what that says of losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from setveil.base.errors import RequestError
from setveil.base.values.numbers import as_written, written
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import KmRho

KS, MS = (2, 3, 5, 10, 11, 20, 50), (1, 2, 3)
USUAL_M = 2  # items known, at most, of the guarantees that are looked at first
KS_RHO, MS_RHO = (2, 5, 10), (1, 2)  # where each of them is tried with several rho

Pair = tuple[int, int | float]  # k and m
Triple = tuple[int, int | float, Fraction]  # k, m and rho
Promise = Pair | Triple
Losses = Mapping[Any, float]  # by guarantee


def strength(promise: Promise) -> tuple[Any, ...]:
    """Write a guarantee as numbers, all of which are greater the more is guaranteed: m, k, and 1 - rho."""
    k, m, *rho = promise
    return (m, k, *(1 - share for share in rho))


def at_least(strong: Promise, weak: Promise) -> bool:
    """Whether anyone who satisfies the first guarantee keeps the second, too."""
    return all(a >= b for a, b in zip(strength(strong), strength(weak), strict=True))


def lower_envelope(pairs: Iterable[Promise], losses: Losses) -> dict[Any, Any]:
    """Find for each guarantee the one whose release loses least of all that satisfy it.

    `pairs`: (k, m) or (k, m, rho). `losses`: of the releases made. Returns for each pair one at least as
    strong: itself unless a stronger one loses less; of equal losses the least m, then the least k, then the
    greatest rho. Pairs that no release satisfies are missing.

    >>> lower_envelope([(2, 1), (5, 1), (2, 2)], {(2, 1): 0.3, (5, 1): 0.2, (2, 2): 0.4})
    {(2, 1): (5, 1), (5, 1): (5, 1), (2, 2): (2, 2)}
    """
    taken = {}
    for pair in pairs:
        keeping = [other for other in losses if at_least(other, pair)]
        if keeping:
            taken[pair] = min(keeping, key=lambda other: (losses[other], other != pair, strength(other)))
    return taken


def lower_bounds(pairs: Iterable[Promise], proven: Losses) -> dict[Any, float]:
    """Bound the loss for each guarantee from below: no less than for any weaker one.

    `proven`: the least possible loss for a guarantee, if proven.

    >>> lower_bounds([(2, 1), (5, 1)], {(2, 1): 0.3, (5, 1): 0.2})
    {(2, 1): 0.3, (5, 1): 0.3}
    """
    return {
        pair: max((bound for weak, bound in proven.items() if at_least(pair, weak)), default=0.0)
        for pair in pairs
    }


def front(losses: Losses) -> list[Any]:
    """Find the guarantees for which every stronger one loses more: the others are not worth their loss.

    `losses`: the least known for each guarantee.

    >>> front({(2, 1): 0.3, (5, 1): 0.3, (2, 2): 0.4})
    [(5, 1), (2, 2)]
    """
    return [
        one
        for one, loss in losses.items()
        if not any(other != one and at_least(other, one) and losses[other] <= loss for other in losses)
    ]


def require_triples(ks: Iterable[Any], ms: Iterable[Any], rhos: Iterable[Any]) -> list[Triple]:
    """Check the values of k, m and rho, and list all triples: by falling rho, then by m, then by k."""
    values = {"k": list(ks), "m": list(ms), "rho": list(rhos)}
    for value in values["k"]:
        KmRho(value, 1)
    for value in values["m"]:
        KmAnonymity(2, value)
    values["rho"] = [as_written(value, "rho") for value in values["rho"]]
    for name, listed in values.items():
        _require_once(name, [written(value) if isinstance(value, Fraction) else value for value in listed])
    return [
        (promise.k, promise.m, promise.rho)
        for rho in sorted(values["rho"], reverse=True)
        for m in sorted(values["m"])
        for k in sorted(values["k"])
        for promise in [KmRho(k, m, rho)]
    ]


def require_grid(ks: Iterable[Any], ms: Iterable[Any]) -> list[Pair]:
    """Check the values of k and m, and list all pairs of them, by m, then by k."""
    values = {"k": list(ks), "m": list(ms)}
    for name, listed in values.items():
        for value in listed:
            KmAnonymity(value, 1) if name == "k" else KmAnonymity(2, value)
        _require_once(name, listed)
    promises = [KmAnonymity(k, m) for m in sorted(values["m"]) for k in sorted(values["k"])]
    return [(promise.k, promise.m) for promise in promises]


def _require_once(name: str, listed: Sequence[Any]) -> None:
    if not listed:
        raise RequestError(f"No {name} is given, expected at least one.")
    if len(set(listed)) < len(listed):
        twice = next(value for i, value in enumerate(listed) if value in listed[:i])
        raise RequestError(f"{name} = {twice} is given twice.", hint="Give each value once.")


def usual_first(pairs: Sequence[Any]) -> list[Any]:
    """Order guarantees for a search that may run out of time: few known items first, then coarse to fine.

    Usual requests have one or two known items, and more take far longer.

    >>> usual_first([(2, 1), (5, 1), (2, 2), (5, 2), (2, 3), (5, 3)])
    [(5, 2), (2, 1), (5, 1), (2, 2), (5, 3), (2, 3)]
    """
    return [
        pair
        for few in (True, False)
        for pair in coarse_to_fine([one for one in pairs if (one[1] <= USUAL_M) == few])
    ]


def coarse_to_fine(pairs: Sequence[Any]) -> list[Any]:
    """Order guarantees so that the first few represent the others: the strongest, the corners, the middle.

    So if time is up, a guarantee without a search has a stronger neighbour with one. Otherwise weaker ones
    come first: their releases often satisfy stronger guarantees.

    >>> coarse_to_fine([(2, 1), (3, 1), (5, 1), (10, 1), (20, 1)])
    [(20, 1), (2, 1), (5, 1), (3, 1), (10, 1)]
    """
    if not pairs:
        return []
    strengths = {pair: strength(pair) for pair in pairs}
    levels = [_levels(sorted(set(values))) for values in zip(*strengths.values(), strict=True)]

    def place(pair: Promise) -> tuple[Any, ...]:
        level = max(of[value] for of, value in zip(levels, strengths[pair], strict=True))
        return level, *strengths[pair]

    return sorted(pairs, key=place)


def _levels(values: Sequence[Any]) -> dict[Any, int]:
    """Give values their levels: 0 the greatest, 1 the least, then the middle between two, and so on."""
    levels = {values[-1]: 0}
    levels.setdefault(values[0], 1)
    parts, level = [(0, len(values) - 1)], 2
    while parts:
        halves = []
        for low, high in parts:
            if high - low > 1:
                middle = (low + high) // 2
                levels[values[middle]] = level
                halves += [(low, middle), (middle, high)]
        parts, level = halves, level + 1
    return levels
