"""The loss of releases in the units of a certificate, and the least possible loss, by trying all releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import chain
from math import lcm

from naive import exact, measures
from naive.anonymize import Tree
from naive.exact import Terms
from naive.km import Rows
from naive.measures import Image


def units(rows: Rows, to: Image, terms: Terms) -> float:
    """Loss of a release: occurrences times items of a label, or bits times 2^32, by the items' weights."""
    weights = {item: exact.exactly(weight) for item, weight in terms.weights.items()}
    scale = lcm(*(weight.denominator for weight in weights.values()))
    supports, domain = Counter(chain.from_iterable(rows)), len(to)
    if terms.objective.startswith("entropy"):
        return float(2**32 * scale * exact.bits(rows, to, terms))
    worst = domain if terms.objective == "ncp" else max(domain - 1, 1)
    lost = Fraction(0)
    for item, times in supports.items():
        label = to[item]
        members = 0 if label is None else measures.members(to, label)
        each = members if terms.objective == "ncp" and members > 1 else members - 1
        lost += (
            weights.get(item, 1)
            * scale
            * (min(times, 1) if terms.objective == "items" else times)
            * (worst if label is None else each)
        )
    return int(lost)


def least(rows: Rows, tree: Tree, k: int, m: float, terms: Terms) -> float | None:
    """Find the least loss of all valid releases; None if there is none."""
    losses = [
        units(rows, to, terms) for to in exact.candidates(rows, tree, terms) if exact.is_valid(rows, to, k, m)
    ]
    return min(losses, default=None)


def is_release(rows: Rows, tree: Tree, to: Mapping[str, str | None], k: int, m: float, terms: Terms) -> bool:
    """Return whether a recoding is a valid release, ignoring items that never occur."""
    shown = set(chain.from_iterable(rows))
    alike = {item: to.get(item) for item in shown}
    return any(
        {item: one[item] for item in shown} == alike and exact.is_valid(rows, one, k, m)
        for one in exact.candidates(rows, tree, terms)
    )
