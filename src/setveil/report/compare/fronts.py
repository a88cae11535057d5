"""Comparison of methods: non-dominated releases, fronts that dominate, least loss at equal guarantee.

A release is a pair of numbers, its loss and its risk. Less is better for both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Point = tuple[float, float]  # loss, risk

_DIGITS = 9  # two ways to compute the same loss differ in the last digits of a double


def rounded(value: float) -> float:
    """Round to nine significant digits, so that values equal but for rounding tie.

    >>> rounded(0.1 + 0.2) == rounded(0.3)
    True
    """
    return float(f"{value:.{_DIGITS}g}")


def non_dominated(points: Sequence[Point]) -> list[int]:
    """Find the points (loss, risk) that no other dominates: their places, by risk, then by place.

    A point dominates another if it is not greater in either number and less in one. Equal points do not
    dominate each other, so all of them stay.

    >>> non_dominated([(0.2, 0.5), (0.3, 0.1), (0.3, 0.4)])
    [1, 0]
    """
    out: list[int] = []
    least = None  # the least loss so far, at risks up to that of the current point
    for place in sorted(range(len(points)), key=lambda i: (points[i][1], points[i][0], i)):
        if least is None or points[place][0] < least:
            least = points[place][0]
            out.append(place)
        elif points[place] == points[out[-1]]:
            out.append(place)
    return out


@dataclass(frozen=True)
class Relation:
    """The comparison of the releases of one method, `a`, with those of another, `b`.

    `b_met`: releases of `b` for which `a` has one that is not greater in either number; `b_beaten`: those for
    which it is less in one, too. `a_met` and `a_beaten`: the same for releases of `a`.
    """

    a_of: int
    b_of: int
    b_met: int
    b_beaten: int
    a_met: int
    a_beaten: int

    @property
    def kind(self) -> Literal["dominates", "covers", "equal", "mixed"]:
        """Return the verdict about `a`.

        "dominates": every release of `b` is beaten. "covers": every one is met, some not beaten, and not the
        other way round. "equal": the same front. "mixed": none of these.
        """
        if not self.a_of or not self.b_of:
            return "mixed"
        if self.b_beaten == self.b_of:
            return "dominates"
        if self.b_met == self.b_of:
            return "equal" if self.a_met == self.a_of else "covers"
        return "mixed"


def relation(a: Sequence[Point], b: Sequence[Point]) -> Relation:
    """Compare the releases of two methods, each with its loss and risk.

    >>> relation([(0.1, 0.1)], [(0.1, 0.2), (0.3, 0.1)]).kind
    'dominates'
    """
    b_met, b_beaten = _met(a, b)
    a_met, a_beaten = _met(b, a)
    return Relation(len(a), len(b), b_met, b_beaten, a_met, a_beaten)


def _met(by: Sequence[Point], points: Iterable[Point]) -> tuple[int, int]:
    """Count the points that one of `by` dominates or equals, and those that one dominates."""
    steps = [by[place] for place in non_dominated(by)]
    risks = [risk for _, risk in steps]
    met = beaten = 0
    for loss, risk in points:
        place = bisect_right(risks, risk) - 1
        if place >= 0 and steps[place][0] <= loss:  # of the steps up to this risk the last loses least
            met += 1
            beaten += steps[place] != (loss, risk)
    return met, beaten


@dataclass(frozen=True)
class Standing:
    """The results of a method, if several methods made a release with the same guarantee."""

    method: str
    compared: int  # guarantees at which it and another method made a release
    # alone, shared: those at which it lost least: less than all others, or as little as another
    alone: int
    shared: int
    # mean of its loss less the least loss at that guarantee; None where nothing was compared
    excess: float | None

    @property
    def least(self) -> int:
        """Guarantees at which no other method lost less."""
        return self.alone + self.shared

    @property
    def share(self) -> Fraction:
        """Of the guarantees at which it was compared, those at which no other method lost less."""
        return Fraction(self.least, max(self.compared, 1))


def standings(losses: Iterable[Mapping[str, float]], methods: Sequence[str]) -> list[Standing]:
    """Count who loses least, guarantee by guarantee.

    `losses`: for each guarantee the loss of every method that made a release with it; those with a single
    method are omitted. Returns first the methods that are least at the greatest share of their guarantees, so
    that no method wins by being tried more often; then the least excess; then the order of `methods`.

    >>> [s.method for s in standings([{"aa": 0.3, "exact": 0.2}, {"aa": 0.1, "exact": 0.1}], ["aa", "exact"])]
    ['exact', 'aa']
    """
    alone, shared = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0)
    excess: dict[str, list[float]] = {method: [] for method in methods}
    for made in losses:
        if len(made) < 2:
            continue
        least = min(made.values())
        first = [method for method, loss in made.items() if loss == least]
        for method, loss in made.items():
            excess[method].append(loss - least)
        for method in first:
            (shared if len(first) > 1 else alone)[method] += 1
    out = [
        Standing(
            method,
            len(excess[method]),
            alone[method],
            shared[method],
            rounded(sum(excess[method]) / len(excess[method])) if excess[method] else None,
        )
        for method in methods
    ]
    return sorted(out, key=lambda s: (-s.share, s.excess is None, s.excess or 0.0))
