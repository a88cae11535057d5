"""Rows and guarantees of coherence, and properties of releases that suppress items for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

from naive import coherence as naive
from naive.km import Rows, item_order
from setveil.judges.guarantees.coherence import Coherence
from setveil.releases.published import Release
from strategies import ALPHABETS, random_rows

# SPEC §6: figure 1 of the paper.
PAPER = [
    frozenset(row.split())
    for row in ("a b e f s1", "c e f g s2", "a b g s3", "a b f g s2", "a b d g s2", "e f g s1", "b e f g s3")
]
PRIVATE = ("s1", "s2", "s3")
PAPER_GUARANTEE = Coherence("0.5", 3, 3, PRIVATE)
HS = ("0.2", "0.4", "1/3", "0.5", "0.8", "0.9", "0.99", "1")


def random_problem(rng: Random) -> tuple[Rows, list[str], str, int, float]:
    """Draw rows, private items, h, k and p; feasible or not."""
    items = rng.sample(rng.choice(ALPHABETS), rng.randint(2, 12))
    rows = random_rows(rng, items, rng.choice([0, 3, 8, 15, 30, 60]), rng.choice([2, 3, 5, 8]))
    if rng.random() < 0.3:
        rows = rows * rng.randint(2, 4)
    occurring = item_order({x for row in rows for x in row})
    private = rng.sample(occurring, min(len(occurring), rng.choice([0, 0, 1, 2, 4])))
    return (
        rows,
        private,
        rng.choice(HS),
        rng.choice([1, 2, 2, 3, 5]),
        rng.choice([1, 2, 2, 3, 3, 4, 6, math.inf]),
    )


def rows_of(*rows: str) -> list[frozenset[str]]:
    return [frozenset(row) for row in rows]


def is_feasible(rows: Rows, private: Sequence[str], h: str, k: int) -> bool:
    return not rows or (len(rows) >= k and naive.breach(rows, private, ()) <= Fraction(h))


def order_of(release: Release) -> list[tuple[str, str]]:
    return [(entry["item"], entry["score"]) for entry in release.details["order"]]


def as_bytes(release: Release) -> tuple[object, ...]:
    published = release.published
    return published.indptr.tobytes(), published.items.tobytes(), published.vocabulary.labels
