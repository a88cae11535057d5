"""Small random data and hierarchies, and the number of them that a test can afford."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import strategies as st

from setveil.judges.guarantees.km import KmAnonymity
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

Rows = list[frozenset[str]]
Parents = dict[str, str | None]

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in {"", "0"}

# Numeric, textual, and both: as integers 9 < 10, as text 10 < 9; 7 and 007 are equal numbers.
ALPHABETS = (
    [str(i) for i in range(1, 13)],
    ["-10", "-9", "+3", "3", "007", "7", "8", "9", "10", "11", "100", "20"],
    ["9", "10", "x", "1", "X", "a", "b", "é", "2", "c d", "Z", "0"],
    list("abcdefghijkl"),
)


# How many of a test's random examples are drawn: a quarter, or SETVEIL_MANY times as many as it says. Without
# compilation all that `examples` leaves, which are too few to meet what is rare among a quarter of them.
MANY = float(os.environ.get("SETVEIL_MANY", "0.25" if COMPILED else "1"))


def many(usual: int) -> int:
    """Return the number of examples to try, or to find at least, from the stated one."""
    return max(1, round(usual * MANY))


def enough(usual: int) -> int:
    """Return the number of examples for a test that meets rare cases only with all stated ones."""
    return round(usual * max(1, MANY))


def either(compiled: int, interpreted: int | None = None) -> int:
    """Return a number of examples for compiled code, or a smaller one for uncompiled."""
    return compiled if COMPILED else interpreted or max(20, compiled // 5)


def examples(compiled: int, interpreted: int | None = None) -> int:
    """Return how many of either number of examples a test tries."""
    return many(either(compiled, interpreted))


def seeds(number: int, first: int = 0) -> pytest.MarkDecorator:
    """Repeat a test with seeds; all but the first are exhaustive."""
    later = [pytest.param(first + at, marks=pytest.mark.exhaustive) for at in range(1, number)]
    return pytest.mark.parametrize("seed", [first, *later])


@dataclass(frozen=True)
class Case:
    """Rows, a hierarchy over their items, k and m."""

    rows: Rows
    parents: Parents
    k: int
    m: int | float

    @cached_property
    def data(self) -> Transactions:
        return transactions(self.rows)

    @cached_property
    def tree(self) -> Hierarchy:
        return Hierarchy(self.parents)

    @property
    def guarantee(self) -> KmAnonymity:
        return KmAnonymity(self.k, self.m)

    def shuffled(self, rng: Random) -> Case:
        return replace(self, rows=rng.sample(self.rows, len(self.rows)))


def transactions(rows: Sequence[frozenset[str]]) -> Transactions:
    return Transactions.from_rows(sorted(row) for row in rows)


def cut_up(data: Transactions, at: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Cut rows into pieces at random places."""
    bounds = pairwise([0, *sorted(at), data.n_rows])
    return [
        (data.indptr[a : b + 1] - data.indptr[a], data.items[data.indptr[a] : data.indptr[b]])
        for a, b in bounds
    ]


def random_tree(rng: Random, leaves: Sequence[str]) -> Parents:
    """Grow a hierarchy of unequal depth, with single-child chains and groups that are not neighbours."""
    names = rng.sample(range(100, 200), 60)  # inner labels must not decide any order
    parents: Parents = {}
    fanouts = rng.choice(((2,), (3,), (1, 2, 2, 2, 3), (1, 2, 3, 3, 4)))

    def grow(members: list[str], level: int) -> str:
        if len(members) == 1 and (level >= 4 or rng.random() < 0.85):
            return members[0]
        node = f"N{names.pop()}"
        if level >= 4 or len(members) == 2:
            groups = [[leaf] for leaf in members]
        else:
            n_groups = rng.choice(fanouts)
            even = n_groups > 1 and rng.random() < 0.5
            owner = [i % n_groups if even else rng.randrange(n_groups) for i in range(len(members))]
            groups = [[leaf for leaf, o in zip(members, owner, strict=True) if o == g] for g in set(owner)]
        for group in groups:
            parents[grow(group, level + 1)] = node
        return node

    parents[grow(rng.sample(list(leaves), len(leaves)), 0)] = None
    return parents


def random_rows(rng: Random, items: Sequence[str], n_rows: int, most_items: int) -> Rows:
    """Draw rows over items of equal or unequal frequency; some rows are empty or repeat another."""
    rows: Rows = []
    skew = rng.choice((0, 0, 2))
    weights = [rng.random() ** skew + 0.02 for _ in items]
    for _ in range(n_rows):
        draw = rng.random()
        if rows and draw < 0.15:
            earlier = sorted(rng.choice(rows))
            rows.append(frozenset(item for item in earlier if rng.random() < 0.9))
        elif draw < 0.2:
            rows.append(frozenset())
        else:
            rows.append(frozenset(rng.choices(items, weights, k=rng.randint(1, most_items))))
    return rows


def random_case(rng: Random, most_leaves: int = 12, most_rows: int = 60, most_items: int = 4) -> Case:
    """Draw a feasible case: no items at all, or at least k rows with items; k 2..5, m 1..4 or infinite."""
    alphabet = rng.choice(ALPHABETS)
    leaves = rng.sample(
        alphabet, rng.choice((rng.randint(1, most_leaves), most_leaves * 2 // 3, most_leaves))
    )
    occurring = rng.sample(leaves, rng.randint(max(1, len(leaves) - 2), len(leaves)))
    n_rows = rng.randint(0, 12) if rng.random() < 0.2 else rng.randint(most_rows // 4, most_rows)
    rows = random_rows(rng, occurring, n_rows, most_items)
    filled = sum(map(bool, rows))
    if filled < 2:
        rows = [frozenset()] * len(rows)
    k = rng.randint(2, max(2, min(5, filled)))
    return Case(rows, random_tree(rng, leaves), k, rng.choice((1, 2, 2, 2, 3, 3, 3, 4, math.inf)))


def seeded(seed: int) -> Random:
    """Return a generator for test data."""
    return Random(seed)


def random_cases(n: int, seed: int, **sizes: int) -> Iterator[Case]:
    rng = seeded(seed)
    return (random_case(rng, **sizes) for _ in range(n))


@st.composite
def row_lists(draw: st.DrawFn, most_rows: int = 12, most_items: int = 6) -> Rows:
    """Rows over up to 12 items."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    row = st.frozensets(st.sampled_from(alphabet), max_size=most_items)
    distinct = draw(st.lists(row, min_size=1, max_size=5))
    return draw(st.lists(st.sampled_from(distinct) | row, max_size=most_rows))


def cases(**sizes: int) -> st.SearchStrategy[Case]:
    """`random_case`, drawn by hypothesis."""
    return st.randoms(use_true_random=False).map(lambda rng: random_case(rng, **sizes))
