"""Rows with sensitive items: the worked example of SPEC2 §1.6, and random ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from random import Random

from naive.km import Rows
from naive.rho import order_of
from setveil.releases.published.recoding import AnyRecoding, recode
from strategies import ALPHABETS, Case, random_case, random_rows, seeded, transactions

PAPER: Rows = [
    frozenset(row.split())
    for row in ("a1 b1 s", "a1 b1", "a1 b2 s", "a2 b2", "a2 b1 t", "a2 b2 s t", "b1", "a1 b2")
]
PARENTS: dict[str, str | None] = {
    "a1": "A", "a2": "A", "b1": "B", "b2": "B", "s": "S", "t": "S", "A": "ALL", "B": "ALL", "S": "ALL",
    "ALL": None,
}  # fmt: skip
SENSITIVE = ("s", "t")
DATA = transactions(PAPER)
HALF = Fraction(1, 2)
RHOS = ("0.2", "1/3", "0.5", "2/3", "0.8", "0.9", "1")
SIZES = (1, 2, 3, math.inf)


def random_problem(rng: Random) -> tuple[Rows, list[str], str]:
    """Draw rows, not all of whose items are sensitive, sensitive items that occur, and rho."""
    while True:
        items = rng.sample(rng.choice(ALPHABETS), rng.randint(2, 8))
        rows = random_rows(rng, items, rng.choice([0, 3, 8, 15, 25]), rng.choice([2, 3, 5, 6]))
        if rng.random() < 0.3:
            rows = rows * rng.randint(2, 4)
        occurring = sorted({item for row in rows for item in row})
        if len(occurring) != 1:
            sensitive = rng.sample(occurring, min(rng.randint(1, 3), max(len(occurring) - 1, 0)))
            return rows, sensitive, rng.choice(RHOS)


def random_problems(n: int, seed: int) -> Iterator[tuple[Rows, list[str], str]]:
    rng = seeded(seed)
    return (random_problem(rng) for _ in range(n))


def random_trees(n: int, seed: int) -> Iterator[tuple[Case, list[str], str]]:
    """Draw rows and a hierarchy; sensitive leaves, also some that no row contains; rho."""
    rng = seeded(seed)
    while n > 0:
        case = random_case(rng, most_leaves=9, most_rows=20)
        leaves = case.tree.labels[: case.tree.n_leaves]
        sensitive = rng.sample(leaves, min(rng.randint(1, 3), len(leaves) - 1))
        public = set(case.data.vocabulary.labels) - set(sensitive)
        if sensitive and (public or not case.data.n_items):
            n -= 1
            yield case, sensitive, rng.choice(RHOS)


def in_order(rows: Rows) -> list[frozenset[str]]:
    """Sort rows by their items: the order in which algorithms choose among rows."""
    rank = order_of(rows)
    return sorted(rows, key=lambda row: sorted(rank[item] for item in row))


def published(rows: Rows, recoding: AnyRecoding) -> list[frozenset[str]]:
    """Recode rows, in their order."""
    return [frozenset(row) for row in recode(transactions(rows), recoding)]
