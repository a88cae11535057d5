"""Explain why a label is not split: publish items otherwise, count, and try all ways to suppress labels.

`image` maps every item to its label, or to None if it is suppressed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations

from naive import measures
from naive.anonymize import Tree, children, up_from
from naive.km import Rows, is_km
from naive.measures import Image

Parts = Mapping[str, Iterable[str]]


def under(image: Image, tree: Tree, node: str) -> list[str]:
    return [item for item in image if node in up_from(tree, item)]


def split(image: Image, tree: Tree | None, label: str) -> dict[str, list[str]]:
    """Split a label into the children of its node; a single child is replaced by its own children."""
    inside = [item for item, to in image.items() if to == label]
    if tree is None or label not in tree:
        return {item: [item] for item in inside}
    node = label
    while len(children(tree, node)) == 1:
        (node,) = children(tree, node)
    parts = {child: under(image, tree, child) for child in children(tree, node) or [node]}
    return {child: items for child, items in parts.items() if items}


def free(image: Image, tree: Tree, label: str, name: str) -> dict[str, list[str]]:
    """Split a label until `name` has a node of its own: the siblings along the path down to it."""
    way = up_from(tree, name)
    parts = {name: under(image, tree, name)}
    for node in way[: way.index(label)]:
        up = tree[node]
        assert up is not None
        parts |= {other: under(image, tree, other) for other in children(tree, up) if other != node}
    return parts


def changed(image: Image, parts: Parts) -> dict[str, str | None]:
    return {**image, **{item: label for label, items in parts.items() for item in items}}


def without(image: Image, labels: Iterable[str]) -> dict[str, str | None]:
    gone = set(labels)
    return {item: None if to in gone else to for item, to in image.items()}


def cost(rows: Rows, image: Image, labels: Iterable[str]) -> tuple[int, int]:
    """Count the items, at least one each, and the occurrences that some labels represent."""
    occurrences = Counter(chain.from_iterable(rows))
    each = [[occurrences[item] for item, to in image.items() if to == label] for label in labels]
    return sum(max(sum(n > 0 for n in part), 1) for part in each), sum(map(sum, each))


def subsets(labels: Iterable[str]) -> Iterator[tuple[str, ...]]:
    labels = sorted(labels)
    return chain.from_iterable(combinations(labels, size) for size in range(len(labels) + 1))


def least_blame(rows: Rows, image: Image, allowed: Iterable[str], k: int, m: float) -> tuple[int, int] | None:
    """Find the least cost of labels without which the guarantee holds; None if it never does."""
    choices = sorted((cost(rows, image, some), some) for some in subsets(allowed))
    for found, some in choices:
        if is_km(measures.recode(rows, without(image, some)), k, m):
            return found
    return None


def least_hit(sets: Iterable[frozenset[str]], costs: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Find the least cost of labels such that every set contains one."""
    sets = list(sets)
    totals = [
        (sum(costs[label][0] for label in some), sum(costs[label][1] for label in some))
        for some in subsets(costs)
        if all(set(some) & one for one in sets)
    ]
    return min(totals)
