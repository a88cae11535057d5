"""Tiny random releases of rows in classes, and the results of the fast code for them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from naive import classes as naive
from naive.km import is_km
from setveil.kernels.rows import frozen
from setveil.releases.published.class_counts import TOTAL, ClassCounts
from setveil.releases.published.class_estimates import ClassTable
from setveil.releases.published.class_rows import ClassRows
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order

Row = frozenset[str]

TREES = [
    {"a": "A", "b": "A", "c": "*"},
    {"a": "A", "b": "A", "c": "A"},
    {"a": "A", "b": "A", "c": "C", "d": "C"},
    {"a": "A", "b": "A", "c": "*", "d": "*"},
]


def drawn_image(rng: Random, tree: dict[str, str]) -> dict[str, str | None]:
    """A cut of a tree of two levels, with suppressed leaves."""
    up = {inner for inner in set(tree.values()) if inner != "*" and rng.random() < 0.4}
    return {
        item: above if above in up else None if rng.random() < 0.3 else item for item, above in tree.items()
    }


def drawn(rng: Random, *, k: int = 2, m: int = 2, classes: int | None = None) -> naive.Release:
    """Draw a release whose classes satisfy the guarantee."""
    return published(*drawn_rows(rng, k=k, m=m, classes=classes), k)


def drawn_rows(
    rng: Random, *, k: int = 2, m: int = 2, classes: int | None = None, filled: bool = False
) -> tuple[list[list[Row]], list[dict[str, str | None]]]:
    """Draw rows of classes, and for each class an image that satisfies the guarantee."""
    tree = rng.choice(TREES)
    number = classes or rng.choice((1, 2, 2, 2, 3))
    rows, images = [], []
    for _ in range(number):
        some = [
            frozenset(item for item in tree if rng.random() < rng.choice((0.3, 0.5, 0.7)))
            for _ in range(rng.choice((2, 3, 4) if number < 3 else (2, 3)))
        ]
        if filled:
            some = [row or frozenset([rng.choice(sorted(tree))]) for row in some]
        image: dict[str, str | None] = dict.fromkeys(tree)
        for _ in range(12):
            tried = drawn_image(rng, tree)
            if is_km(naive.recoded(some, tried), k, m):
                image = tried
                break
        rows.append(some)
        images.append(image)
    return rows, images


def published(
    rows: Sequence[Sequence[Row]], images: Sequence[naive.Image], least: int, **more: bool
) -> naive.Release:
    return naive.published(rows, images, least, **more)


def class_rows(release: naive.Release) -> ClassRows:
    labels = item_order({label for rows in release.rows for row in rows for label in row})
    ids = {label: i for i, label in enumerate(labels)}
    rows = [sorted(ids[x] for x in row) for some in release.rows for row in some]
    indptr = frozen(np.cumsum([0, *map(len, rows)]), np.int64)
    items = frozen(np.array([i for row in rows for i in row], np.int32), np.int32)
    data = Transactions(indptr, items, Vocabulary(labels))
    return ClassRows.of(data, np.array([len(some) for some in release.rows]))


def members_of(release: naive.Release) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for image in release.images:
        for item, label in image.items():
            if label not in (None, item):
                found.setdefault(str(label), {})[item] = None
    return {label: tuple(sorted(items)) for label, items in found.items()}


def counts_of(release: naive.Release) -> ClassCounts:
    lines = [(c, item, release.images[c][item] or "", rows) for (c, item), rows in release.lines.items()]
    lines += [(TOTAL, item, "", rows) for item, rows in release.totals.items()]
    untold = [c for c, each in enumerate(release.countable) if not each]
    return ClassCounts.from_lines(lines, release.least, untold)


def table_of(release: naive.Release) -> ClassTable:
    return ClassTable(class_rows(release), members_of(release), counts_of(release), release.unlisted)
