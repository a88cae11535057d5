"""The least loss of one recoding of a whole table, by trying every cut of every tree, and all suppression.

A table is a list of rows (values, items); a hierarchy is a dict child -> parent. Suppressing an inner node of
the items' cut publishes the same as cutting at its leaves and suppressing each, so only leaves ever are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations, product

from naive.anonymize import Tree, all_cuts, image, leaves, up_from
from naive.exact import label_loss
from naive.measures import Image

Row = tuple[tuple[str, ...], frozenset[str]]


@dataclass(frozen=True)
class Table:
    """Rows, a hierarchy and a weight for each column, and the hierarchy of the items."""

    rows: Sequence[Row]
    trees: Sequence[Tree]
    items: Tree
    weights: Sequence[int] = ()
    numeric: frozenset[int] = frozenset()  # columns of numbers; "" is none


@dataclass(frozen=True)
class Terms:
    """The guarantee, the measured loss and the allowed labels of a search."""

    k: int
    m: float
    mixed: bool
    share: Fraction
    suppress: bool
    objective: str = "lm"
    coarsest: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # by tree; the items' comes last


def published(rows: Sequence[Row], columns: Sequence[Image], items: Image) -> list[Row]:
    return [
        (
            tuple(str(to[value]) for to, value in zip(columns, values, strict=True)),
            frozenset(label for item in row if (label := items[item]) is not None),
        )
        for values, row in rows
    ]


def some_of(things: Sequence[object], most: float) -> Iterator[tuple[object, ...]]:
    sizes = range(int(min(most, len(things))) + 1)
    return chain.from_iterable(combinations(things, size) for size in sizes)


def is_anonymous(rows: Sequence[Row], k: int, m: float, mixed: bool) -> bool:
    """Return whether no known set of facts is in more than 0 but fewer than k rows."""
    counts: Counter[object] = Counter()
    for values, row in rows:
        facts = list(enumerate(values))
        if mixed:
            counts.update(some_of([*facts, *sorted(row)], m))
        else:
            known = some_of(facts, len(facts))
            counts.update((a, b) for a, b in product(known, some_of(sorted(row), m)))
    del counts[()], counts[(), ()]
    return all(n >= k for n in counts.values()) and not 0 < len(rows) < k


def node_loss(table: Table, a: int, node: str) -> Fraction:
    """NCP of a value of column a that is published as a node."""
    tree = table.trees[a]
    everything = leaves(tree)
    under = [leaf for leaf in everything if node in up_from(tree, leaf)]
    if a not in table.numeric:
        return Fraction(len(under), len(everything)) if len(under) > 1 else Fraction(0)
    numbers = [Fraction(x) for x in under if x]
    span = [Fraction(x) for x in everything if x]
    if numbers and "" in under:
        return Fraction(1)
    if len(set(span)) < 2 or not numbers:
        return Fraction(0)
    return (max(numbers) - min(numbers)) / (max(span) - min(span))


def relational_loss(table: Table, columns: Sequence[Image]) -> Fraction:
    weights = table.weights or [1] * len(table.trees)
    lost = Fraction(0)
    for a, to in enumerate(columns):
        each = {node: node_loss(table, a, node) for node in {str(x) for x in to.values()}}
        lost += weights[a] * sum((each[str(to[values[a]])] for values, _ in table.rows), Fraction(0))
    return lost / (len(table.rows) * sum(weights)) if table.rows and sum(weights) else Fraction(0)


def item_loss(table: Table, to: Image, objective: str) -> Fraction:
    """NCP or LM of the items."""
    domain = leaves(table.items)
    under = Counter(node for leaf in domain for node in up_from(table.items, leaf))
    occurrences = [item for _, row in table.rows for item in row]
    lost = sum(
        (
            Fraction(1) if (label := to[item]) is None else label_loss(objective, under[label], len(domain))
            for item in occurrences
        ),
        Fraction(0),
    )
    return lost / len(occurrences) if occurrences else Fraction(0)


def images(tree: Tree, coarsest: Sequence[str]) -> list[Image]:
    """Return the labels of the leaves under each allowed cut."""
    above = {up for node in coarsest for up in up_from(tree, node)[1:]}
    return [image(tree, cut) for cut in all_cuts(tree) if not cut & above]


def suppressions(table: Table, to: Image, allowed: bool) -> Iterator[Image]:
    """Each way to suppress leaves that are published as themselves."""
    free = sorted(x for x in {x for _, row in table.rows for x in row} if to[x] == x) if allowed else []
    for some in some_of(free, len(free)):
        yield {item: None if item in some else label for item, label in to.items()}


def least_loss(table: Table, terms: Terms) -> Fraction | None:
    """Find the least loss of all valid releases; None if there is none."""
    by_column = [images(tree, terms.coarsest.get(a, ())) for a, tree in enumerate(table.trees)]
    of_items = [
        one
        for to in images(table.items, terms.coarsest.get(len(table.trees), ()))
        for one in suppressions(table, to, terms.suppress)
    ]
    r = [(relational_loss(table, columns), columns) for columns in product(*by_column)]
    t = [(item_loss(table, to, terms.objective), to) for to in of_items]
    choices = [
        (terms.share * lost + (1 - terms.share) * gone, i, j)
        for i, (lost, _) in enumerate(r)
        for j, (gone, _) in enumerate(t)
    ]
    for loss, i, j in sorted(choices):
        if is_anonymous(published(table.rows, r[i][1], t[j][1]), terms.k, terms.m, terms.mixed):
            return loss
    return None
