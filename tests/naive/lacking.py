"""The least loss of a release that also protects against a known absent item: every cut is tried."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from naive import exact, measures
from naive.absence import supports
from naive.anonymize import Tree
from naive.exact import Terms
from naive.km import Rows
from naive.measures import Image


def signs(published: Rows, to: Image) -> set[frozenset[str]]:
    """Return the labels that represent one item only: rows of a person without it show none of them."""
    shown = frozenset().union(*published)
    return {frozenset([label]) for label in shown if measures.members(to, label) == 1}


def is_valid(rows: Rows, to: Image, k: int, m: int) -> bool:
    if not exact.is_valid(rows, to, k, m):  # which is quick, and rejects most
        return False
    published = measures.recode(rows, to)
    return all(n >= k for n in supports(published, m, 1, signs(published, to)))


def by_loss(rows: Rows, tree: Tree, terms: Terms) -> Iterator[Image]:
    found = list(exact.candidates(rows, tree, terms))
    if terms.objective in ("entropy", "entropy-max"):
        costs: list[int] | list[float] = [exact.bits(rows, to, terms) for to in found]
    else:
        costs = exact.average_costs(rows, tree, terms, found)
    return (found[i] for i in sorted(range(len(found)), key=costs.__getitem__))


def least_loss(rows: Rows, tree: Tree, k: int, m: int, terms: Terms) -> Fraction | float | None:
    """Find the least loss of all valid releases; None if there is none."""
    for to in by_loss(rows, tree, terms):
        if is_valid(rows, to, k, m):
            return exact.loss(rows, to, terms)
    return None
