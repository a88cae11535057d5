"""ARE and UL from their definitions: every possible world of a published row, every term as a fraction.

`members` maps a published label to the items that it represents. A label that is not in it represents itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product

from naive.anonymize import Tree, leaves, up_from
from naive.km import Rows, item_order

Members = Mapping[str, Sequence[str]]


def subsets(items: Iterable[str]) -> list[frozenset[str]]:
    """Every non-empty subset."""
    items = sorted(items)
    sizes = range(1, len(items) + 1)
    return [frozenset(c) for c in chain.from_iterable(combinations(items, size) for size in sizes)]


def meaning(members: Members, label: str) -> frozenset[str]:
    return frozenset(members.get(label, (label,)))


def worlds(row: frozenset[str], members: Members) -> Iterator[dict[str, frozenset[str]]]:
    """Every way to choose one non-empty subset for each label of the row."""
    labels = [label for label in sorted(row) if meaning(members, label)]
    for choice in product(*(subsets(meaning(members, label)) for label in labels)):
        yield dict(zip(labels, choice, strict=True))


def responsible(row: frozenset[str], item: str, members: Members, order: Sequence[str]) -> str | None:
    """The label of the row that counts for an item: that of fewest items, then the first in order."""
    over = [label for label in row if item in meaning(members, label)]
    return min(over, key=lambda label: (len(meaning(members, label)), order.index(label)), default=None)


def probability(
    row: frozenset[str], query: Iterable[str], members: Members, order: Sequence[str]
) -> Fraction:
    """Share of the worlds of a row in which each item of the query comes from its label."""
    label_of = {item: responsible(row, item, members, order) for item in query}
    if None in label_of.values():
        return Fraction(0)
    hits = [
        all(item in world[label] for item, label in label_of.items() if label is not None)
        for world in worlds(row, members)
    ]
    return Fraction(sum(hits), len(hits))


def actual(rows: Rows, query: Iterable[str]) -> int:
    return sum(set(query) <= row for row in rows)


def estimate(published: Rows, query: Iterable[str], members: Members) -> Fraction:
    order = item_order({label for row in published for label in row})
    query = list(query)
    return sum((probability(row, query, members, order) for row in published), Fraction(0))


def relative_errors(
    rows: Rows, published: Rows, members: Members, queries: Sequence[Iterable[str]]
) -> list[Fraction]:
    """RE of every query that has an answer."""
    answered = [query for query in queries if actual(rows, query)]
    return [
        abs(actual(rows, query) - estimate(published, query, members)) / actual(rows, query)
        for query in answered
    ]


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def variance(values: Sequence[Fraction]) -> Fraction:
    return mean([(value - mean(values)) ** 2 for value in values])


def supported(rows: Rows, size: int, least: int = 1) -> list[frozenset[str]]:
    """List every set of `size` items that at least `least` rows contain."""
    items = sorted({item for row in rows for item in row})
    return [frozenset(c) for c in combinations(items, size) if actual(rows, c) >= least]


def ul(
    n_rows: int,
    published: Rows,
    members: Members,
    domain: int,
    weights: Mapping[str, Fraction],
    suppressed: int,
) -> Fraction:
    """Compute UL by definitions 3.14 and 3.16; `suppressed` counts the suppressed occurrences of the
    original.
    """
    total = Fraction(suppressed, max(n_rows, 1))
    for label in {label for row in published for label in row}:
        support = sum(label in row for row in published)
        share = Fraction(2 ** len(meaning(members, label)) - 1, 2**domain - 1)
        total += share * weights.get(label, Fraction(1)) * Fraction(support, len(published))
    return total


def hierarchy_weight(tree: Tree, items: Sequence[str]) -> Fraction:
    """Leaves under the lowest common ancestor of some items, of all leaves."""
    everything = leaves(tree)
    above = [up_from(tree, item) for item in items]
    common = next(node for node in above[0] if all(node in path for path in above))
    return Fraction(sum(common in up_from(tree, leaf) for leaf in everything), len(everything))
