"""Apply an earlier recoding to other rows, item by item, and list all its coarsenings.

A recoding is a dict from items to labels, with None for suppressed items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, combinations
from math import log2

from naive.anonymize import Tree, all_cuts, children, leaves, up_from
from naive.exact import is_valid, label_loss
from naive.km import Rows, supports

Image = Mapping[str, str | None]


def mapped(old: Image, items: Collection[str], tree: Tree | None) -> dict[str, str | None]:
    """Map each item to its earlier label, to the nearest label above it, or to None."""
    labels = {label for label in old.values() if label is not None}
    out: dict[str, str | None] = {}
    for item in items:
        if item in old:
            out[item] = old[item]
        elif tree is not None and item in tree and not children(tree, item):
            out[item] = next((up for up in up_from(tree, item)[1:] if up in labels), None)
        else:
            out[item] = None
    return out


def apply_recoding(rows: Rows, to: Image) -> list[frozenset[str]]:
    return [frozenset(label for item in row if (label := to[item]) is not None) for row in rows]


def coarser_images(to: Image, tree: Tree, shown: Collection[str]) -> Iterator[dict[str, str | None]]:
    """List every recoding of the leaves that moves labels up, with any set of unchanged items suppressed.

    A suppressed item is published again if the cut lies above it, unless it lies below a label. Suppressing
    labels that are not in `shown` changes nothing.
    """
    labels = {label for label in to.values() if label is not None}
    floor = {
        leaf: next((node for node in up_from(tree, leaf) if node in labels), leaf) for leaf in leaves(tree)
    }
    seen = set()
    for cut in all_cuts(tree):
        moved = {}
        for leaf, low in floor.items():
            node = next(filter(cut.__contains__, up_from(tree, leaf)))
            above = node in up_from(tree, low)[1:] and not (to[leaf] is None and low in labels)
            moved[leaf] = node if above else to[leaf]
        key = tuple(moved.items())
        if key in seen:
            continue
        seen.add(key)
        free = sorted({label for label in moved.values() if label in labels and label in shown})
        for size in range(len(free) + 1):
            for some in combinations(free, size):
                yield {leaf: None if label in some else label for leaf, label in moved.items()}


def bits(rows: Rows, to: Image, tree: Tree) -> float:
    """Sum log2(S / s) over occurrences of items of the tree: s of the item, S below its label, or all."""
    s = Counter(item for row in rows for item in row if item in tree)
    below = Counter(node for item in s.elements() for node in up_from(tree, item))
    return sum(
        times * log2((below[label] if (label := to[item]) is not None else s.total()) / times)
        for item, times in s.items()
    )


def loss(rows: Rows, to: Image, tree: Tree, objective: str) -> Fraction:
    """Average over the occurrences; a label loses by all the leaves below it, of all items that exist."""
    items = leaves(tree)
    below = Counter(node for leaf in items for node in up_from(tree, leaf))
    lost = [
        Fraction(1) if (label := to[item]) is None else label_loss(objective, below[label], len(to))
        for item in chain.from_iterable(rows)
    ]
    return sum(lost, Fraction(0)) / max(len(lost), 1)


def least_coarsening(
    rows: Rows, to: Image, tree: Tree, k: int, m: float, objective: str, *, suppress: bool
) -> Fraction | float | None:
    """Find the least loss of all coarsenings that are valid; None if none is."""
    outside: dict[str, str | None] = {item: None for item in to if item not in tree}
    shown = {label for row in apply_recoding(rows, to) for label in row}
    found = [image | outside for image in coarser_images(to, tree, shown)]
    if not suppress:
        found = [image for image in found if not any(to[x] and image[x] is None for x in image)]
    measure = bits if objective == "entropy" else partial(loss, objective=objective)
    costs = [measure(rows, image, tree) for image in found]
    order = sorted(range(len(found)), key=costs.__getitem__)
    return next((costs[i] for i in order if is_valid(rows, found[i], k, m)), None)


def is_coarser(before: Image, after: Image, tree: Tree) -> bool:
    """Return whether every label is unchanged, replaced by an ancestor, or suppressed.

    A suppressed item must not become visible as itself again.
    """
    for item, label in after.items():
        low = before[item]
        if label is None or label == low:
            continue
        if label not in up_from(tree, item if low is None else low)[1:]:
            return False
    return True


def suppressing(rows: Rows, to: Image, k: int, m: float, order: Sequence[str]) -> dict[str, str | None]:
    """Suppress labels in rounds until no violation is left, most violations per occurrence first."""
    out = dict(to)
    occurrences = Counter(to[item] for row in rows for item in row)
    while True:
        left = [s for s, n in supports(apply_recoding(rows, out), m).items() if n < k]
        if not left:
            return out
        while left:
            times = Counter(chain.from_iterable(left))
            worst = min(times, key=lambda x: (-Fraction(times[x], occurrences[x]), order.index(x)))
            left = [s for s in left if worst not in s]
            out = {item: None if label == worst else label for item, label in out.items()}
