"""One cut per quasi-identifier for the whole table: Incognito, Top-down, Bottom-up, and the best of all cuts.

A choice holds for each column the node that each of its values becomes. All columns have trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from naive.anonymize import all_cuts, children, root
from naive.hghs import merged
from naive.rt_table import Column, Parts, Table

Images = tuple[Mapping[str, str], ...]
Cuts = tuple[frozenset[str], ...]


def shown(table: Table, images: Images) -> list[tuple[str, ...]]:
    """The labels of each row."""
    return [
        tuple(to[column.values[row]] for column, to in zip(table.columns, images, strict=True))
        for row in range(table.n)
    ]


def loss(table: Table, images: Images) -> Fraction:
    """R of a global recoding."""
    weights = sum(column.weight for column in table.columns)
    lost = Fraction(0)
    for labels in shown(table, images):
        for column, label in zip(table.columns, labels, strict=True):
            lost += column.weight * column.node_loss(label)
    return lost / (weights * max(table.n, 1))


def is_anonymous(table: Table, images: Images, k: int) -> bool:
    return all(size >= k for size in Counter(shown(table, images)).values())


def classes(table: Table, images: Images) -> Parts:
    """Rows with the same labels."""
    parts: dict[tuple[str, ...], list[int]] = {}
    for row, labels in enumerate(shown(table, images)):
        parts.setdefault(labels, []).append(row)
    return table.in_order(parts.values())


def image(column: Column, cut: frozenset[str]) -> dict[str, str]:
    return {leaf: next(node for node in path if node in cut) for leaf, path in column.paths.items()}


def images(table: Table, cuts: Cuts) -> Images:
    return tuple(image(column, cut) for column, cut in zip(table.columns, cuts, strict=True))


def level(column: Column, j: int) -> dict[str, str]:
    """The j-th label of every value; shorter paths repeat the leaf at the bottom."""
    longest = max(map(len, column.paths.values()))
    return {leaf: ([leaf] * (longest - len(path)) + path)[j] for leaf, path in column.paths.items()}


def incognito(table: Table, k: int) -> tuple[int, ...]:
    """The levels of least R, the first of equals in lexicographic order."""
    heights = [max(map(len, column.paths.values())) for column in table.columns]
    found: list[tuple[Fraction, tuple[int, ...]]] = []
    for levels in product(*(range(height) for height in heights)):
        to = at_levels(table, levels)
        if is_anonymous(table, to, k):
            found.append((loss(table, to), levels))
    return min(found)[1]


def at_levels(table: Table, levels: Sequence[int]) -> Images:
    return tuple(level(column, j) for column, j in zip(table.columns, levels, strict=True))


def trees(table: Table) -> list[dict[str, str | None]]:
    """The columns' trees, inner nodes with one child merged with it."""
    return [merged(column.whole) for column in table.columns if column.whole is not None]


def top_down(table: Table, k: int, start: Cuts | None = None) -> Cuts:
    """Specialize what lowers R most while all classes stay large enough."""
    below = trees(table)
    cuts = start or tuple(frozenset({root(tree)}) for tree in below)
    while True:
        options = []
        for a, cut in enumerate(cuts):
            for node in cut:
                if finer := children(below[a], node):
                    changed = (*cuts[:a], cut - {node} | set(finer), *cuts[a + 1 :])
                    if is_anonymous(table, images(table, changed), k):
                        place = table.columns[a].nodes_in_order.index(node)
                        options.append((loss(table, images(table, changed)), a, place, changed))
        if not options:
            return cuts
        cuts = min(options, key=lambda option: option[:3])[3]


def bottom_up(table: Table, k: int) -> Cuts:
    """Generalize what small classes show, then specialize again."""
    below = trees(table)
    cuts: Cuts = tuple(frozenset(column.paths) for column in table.columns)
    while True:
        sizes = Counter(shown(table, images(table, cuts)))
        small = [labels for labels, size in sizes.items() if size < k]
        if not small:
            return top_down(table, k, cuts)
        options = []
        for a, cut in enumerate(cuts):
            for node in {above for labels in small if (above := below[a][labels[a]]) is not None}:
                under = table.columns[a].under
                kept = frozenset(other for other in cut if not under[other] <= under[node])
                changed = (*cuts[:a], kept | {node}, *cuts[a + 1 :])
                place = table.columns[a].nodes_in_order.index(node)
                options.append((loss(table, images(table, changed)), a, place, changed))
        cuts = min(options, key=lambda option: option[:3])[3]


def every(table: Table) -> Iterator[Cuts]:
    yield from product(*(all_cuts(tree) for tree in trees(table)))


def best(table: Table, k: int) -> Cuts:
    """The cuts of least R."""
    valid = (cuts for cuts in every(table) if is_anonymous(table, images(table, cuts), k))
    return min(valid, key=lambda cuts: loss(table, images(table, cuts)))
