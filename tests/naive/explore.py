"""The losses of a grid of guarantees, from the losses of releases: plain loops over all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

P = TypeVar("P", tuple[int, float], tuple[int, float, Fraction])  # k, m, and rho if there is one


def keeps(strong: P, weak: P) -> bool:
    """Return whether the first guarantee has no smaller k, no smaller m and no greater rho."""
    if len(strong) == 3 and len(weak) == 3 and strong[2] > weak[2]:
        return False
    return strong[0] >= weak[0] and strong[1] >= weak[1]


def envelope(promises: list[P], losses: Mapping[P, float]) -> dict[P, float]:
    """Find the least loss of all releases with a guarantee at least as strong; skip guarantees without."""
    found: dict[P, float] = {}
    for promise in promises:
        for other, loss in losses.items():
            if keeps(other, promise) and (promise not in found or loss < found[promise]):
                found[promise] = loss
    return found


def bounds(promises: list[P], proven: Mapping[P, float]) -> dict[P, float]:
    """Greatest of the bounds that were proven for guarantees that are no stronger."""
    found: dict[P, float] = {}
    for promise in promises:
        found[promise] = 0.0
        for other, bound in proven.items():
            if keeps(promise, other):
                found[promise] = max(found[promise], bound)
    return found


def front(losses: Mapping[P, float]) -> set[P]:
    """List the guarantees to which no other is at least as strong with at most the same loss."""
    ahead = set(losses)
    for promise, loss in losses.items():
        for other, its in losses.items():
            if other != promise and keeps(other, promise) and its <= loss:
                ahead.discard(promise)
    return ahead
