"""What a grid of promises costs, from the losses of releases: plain loops over all pairs of promises."""

from __future__ import annotations

from collections.abc import Mapping

Pair = tuple[int, float]


def envelope(pairs: list[Pair], losses: Mapping[Pair, float]) -> dict[Pair, float]:
    """Least loss of all releases whose k and m are no smaller; pairs without such a release are left out."""
    found: dict[Pair, float] = {}
    for k, m in pairs:
        for (k2, m2), loss in losses.items():
            if k2 >= k and m2 >= m and ((k, m) not in found or loss < found[k, m]):
                found[k, m] = loss
    return found


def bounds(pairs: list[Pair], proven: Mapping[Pair, float]) -> dict[Pair, float]:
    """Greatest of the bounds that were proven for promises whose k and m are no greater."""
    found: dict[Pair, float] = {}
    for k, m in pairs:
        found[k, m] = 0.0
        for (k2, m2), bound in proven.items():
            if k2 <= k and m2 <= m:
                found[k, m] = max(found[k, m], bound)
    return found
