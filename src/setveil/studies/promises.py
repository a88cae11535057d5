"""A grid of promises (k, m): what it may hold, which promise is stronger, what that says of losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setveil.errors import RequestError
from setveil.guarantees.km import KmAnonymity

KS, MS = (2, 3, 5, 10, 11, 20, 50), (1, 2, 3)

Pair = tuple[int, int | float]  # k and m
Losses = Mapping[Pair, float]


def at_least(strong: Pair, weak: Pair) -> bool:
    """Whether whoever keeps the first promise keeps the second, too."""
    return strong[0] >= weak[0] and strong[1] >= weak[1]


def lower_envelope(pairs: Iterable[Pair], losses: Losses) -> dict[Pair, Pair]:
    """Find for each promise the one whose release loses least of all that keep it.

    Parameters
    ----------
    pairs : iterable of (k, m)
        The promises.
    losses : mapping
        The loss of the release made for each promise, where there is one.

    Returns
    -------
    dict
        For each pair a pair at least as strong: itself unless a stronger one loses less, of several that lose
        the same the one of least m, then of least k. Pairs that no release keeps are not in it.

    Examples
    --------
    >>> lower_envelope([(2, 1), (5, 1), (2, 2)], {(2, 1): 0.3, (5, 1): 0.2, (2, 2): 0.4})
    {(2, 1): (5, 1), (5, 1): (5, 1), (2, 2): (2, 2)}
    """
    taken = {}
    for pair in pairs:
        keeping = [other for other in losses if at_least(other, pair)]
        if keeping:
            taken[pair] = min(keeping, key=lambda other: (losses[other], other != pair, other[1], other[0]))
    return taken


def lower_bounds(pairs: Iterable[Pair], proven: Losses) -> dict[Pair, float]:
    """Bound the loss for each promise from below: no less than for any weaker one.

    Parameters
    ----------
    pairs : iterable of (k, m)
        The promises.
    proven : mapping
        What releases for a promise lose at least, where that was proven.

    Examples
    --------
    >>> lower_bounds([(2, 1), (5, 1)], {(2, 1): 0.3, (5, 1): 0.2})
    {(2, 1): 0.3, (5, 1): 0.3}
    """
    return {
        pair: max((bound for weak, bound in proven.items() if at_least(pair, weak)), default=0.0)
        for pair in pairs
    }


def require_grid(ks: Iterable[Any], ms: Iterable[Any]) -> list[Pair]:
    """Check the values of k and m, and list all pairs of them, by m, then by k.

    Raises
    ------
    RequestError
        If there is no value, one stands twice, or one is out of range.
    """
    values = {"k": list(ks), "m": list(ms)}
    for name, given in values.items():
        if not given:
            raise RequestError(f"No {name} is given, expected at least one.")
        for value in given:
            KmAnonymity(value, 1) if name == "k" else KmAnonymity(2, value)
        if len(set(given)) < len(given):
            twice = next(value for i, value in enumerate(given) if value in given[:i])
            raise RequestError(f"{name} = {twice} is given twice.", hint="Give each value once.")
    promises = [KmAnonymity(k, m) for m in sorted(values["m"]) for k in sorted(values["k"])]
    return [(promise.k, promise.m) for promise in promises]


def coarse_to_fine(pairs: Sequence[Pair]) -> list[Pair]:
    """Order promises so that the first few stand for the others: the strongest, the corners, what is between.

    So if time is up, what was not searched has a stronger neighbour that was. Otherwise weaker ones come
    first: their releases are often found to keep stronger promises.

    Examples
    --------
    >>> coarse_to_fine([(2, 1), (3, 1), (5, 1), (10, 1), (20, 1)])
    [(20, 1), (2, 1), (5, 1), (3, 1), (10, 1)]
    """
    if not pairs:
        return []
    ks, ms = (_levels(sorted({pair[i] for pair in pairs})) for i in range(2))
    return sorted(pairs, key=lambda p: (max(ks[p[0]], ms[p[1]]), p[1], p[0]))


def _levels(values: Sequence[float]) -> dict[float, int]:
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
