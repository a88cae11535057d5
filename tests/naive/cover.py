"""k^m-anonymity of rows with labels of several levels, read by leaves or by nodes of any level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from naive.anonymize import Tree, leaves, up_from
from naive.km import Rows

Fits = Callable[[frozenset[str], str], bool]


def covers(tree: Tree, row: frozenset[str], leaf: str) -> bool:
    """Return whether a row shows a leaf or a node above it."""
    return not row.isdisjoint(up_from(tree, leaf))


def fits(tree: Tree, row: frozenset[str], node: str) -> bool:
    """Return whether a row shows a node, one above it or one below it."""
    return covers(tree, row, node) or any(node in up_from(tree, label) for label in row)


def supports(rows: Rows, known: list[str], m: float, fit: Fits) -> Iterator[int]:
    """Count, for every set of at most m things that can be known, the rows that fit all of them."""
    fitting = [frozenset(i for i, row in enumerate(rows) if fit(row, one)) for one in known]
    for size in range(1, int(min(m, len(known))) + 1):
        for some in combinations(fitting, size):
            yield len(frozenset.intersection(*some))


def least_cover(rows: Rows, tree: Tree, m: float) -> int | None:
    """Find the least support above 0 of a set of leaves; None if nothing is covered."""
    found = supports(rows, leaves(tree), m, lambda row, leaf: covers(tree, row, leaf))
    return min((n for n in found if n), default=None)


def least_of_any_level(rows: Rows, tree: Tree, m: float) -> int | None:
    """Find the least support above 0 of a set of nodes."""
    found = supports(rows, list(tree), m, lambda row, node: fits(tree, row, node))
    return min((n for n in found if n), default=None)


def is_at_least(least: int | None, k: int) -> bool:
    return least is None or least >= k
