"""Small random tables of quasi-identifiers with a set column, for slow twins and for setveil alike."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from naive import rt_table
from naive.rt_table import MISSING, Column, built_ranges, flat
from setveil.data.relational import QuasiIdentifier, Table, quasi_identifier
from setveil.hierarchy.tree import Hierarchy
from strategies import ALPHABETS, random_rows, random_tree, seeded, transactions

WEIGHTS = (1, 1, 1, 2, Fraction(1, 3), Fraction(7, 5))
# Of these, what occurs is in the same order as all leaves of a hierarchy: all numbers, or none.
ITEMS = (ALPHABETS[0], ALPHABETS[1], ALPHABETS[3])
NUMBERS = (
    ("1", "2", "3", "4", "9", "10", "11", "30"),
    ("-7", "-0.5", "0", "0.25", "7", "7.0", "+7", "12.50", "100"),
    ("5", "5", "5"),
    ("1980", "1981", "1999", "2004", "0020"),
)
TEXTS = ("a", "B", "c d", "x,y", "[1,2]", "a;b", 'q"q', "é", "10", "9", "-", "(1)", "line\nbreak")


def many(usual: int) -> int:
    """How many tables a test tries: a few, or SETVEIL_MANY times as many."""
    return usual * max(1, int(os.environ.get("SETVEIL_MANY", "1")))


def random_column(rng: Random, a: int, n: int, *, trees: bool) -> Column:
    """Draw a column of numbers or texts with a hierarchy, or without one unless `trees` asks for them."""
    numeric = rng.random() < 0.5
    pool = list(rng.choice(NUMBERS) if numeric else rng.sample(TEXTS, rng.randint(1, 6)))
    values: Sequence[str] = [rng.choice(pool) for _ in range(n)]
    if rng.random() < 0.3:
        values = [MISSING if rng.random() < 0.25 else value for value in values]
    tree: dict[str, str | None] | None = None
    if numeric:
        if trees or rng.random() < 0.5:
            if rng.random() < 0.5:
                values = rt_table.numbers(values)
                tree = built_ranges(values or ["1"], rng.choice((1, 2, 10, Fraction(1, 2))))
            else:
                tree = random_tree(rng, list(dict.fromkeys(rt_table.numbers(pool))))
                tree = under_a_root(tree)
        values = rt_table.numbers(values, tree)
    else:
        tree = flat(values) if rng.random() < 0.4 else under_a_root(random_tree(rng, pool))
    weight = Fraction(rng.choice(WEIGHTS))
    return Column(f"q{a}", tuple(values), tree, numeric=numeric, weight=weight)


def under_a_root(tree: dict[str, str | None]) -> dict[str, str | None]:
    """Give a tree of a single node a root above it."""
    return tree if len(tree) > 1 else {**dict.fromkeys(tree, "root"), "root": None}


def random_table(
    rng: Random,
    most_rows: int = 12,
    most_columns: int = 3,
    most_leaves: int = 5,
    most_items: int = 3,
    *,
    trees: bool = False,
) -> rt_table.Table:
    n = rng.choice((rng.randint(0, most_rows), most_rows // 2, most_rows))
    columns = [random_column(rng, a, n, trees=trees) for a in range(rng.randint(1, most_columns))]
    leaves = rng.sample(rng.choice(ITEMS), rng.randint(1, most_leaves))
    sets = random_rows(rng, leaves, n, most_items)
    if n and rng.random() < 0.5:  # some rows are whole duplicates
        for row in rng.sample(range(n), n // 4):
            of = rng.randrange(n)
            sets[row] = sets[of]
            columns = [copied(column, of, row) for column in columns]
    return rt_table.Table(tuple(columns), tuple(sets), under_a_root(random_tree(rng, leaves)))


def copied(column: Column, of: int, to: int) -> Column:
    values = [*column.values]
    values[to] = values[of]
    return Column(
        column.name,
        tuple(values),
        flat(values) if column.tree and set(column.tree.values()) == {"*", None} else column.tree,
        numeric=column.numeric,
        weight=column.weight,
    )


def random_tables(n: int, seed: int, **sizes: Any) -> Iterator[tuple[Random, rt_table.Table]]:
    rng = seeded(seed)
    for _ in range(many(n)):
        yield rng, random_table(rng, **sizes)


def quasi(column: Column) -> QuasiIdentifier:
    texts = list(dict.fromkeys(column.values))
    codes = np.array([texts.index(value) for value in column.values], np.int32)
    return quasi_identifier(
        column.name, codes, texts, numeric=column.numeric, parents=column.tree, weight=column.weight
    )


def fast(table: rt_table.Table) -> Table:
    """The table as setveil has it."""
    data = transactions(table.sets)
    columns = tuple(quasi(column) for column in table.columns)
    return Table(
        data.indptr,
        data.items,
        data.vocabulary,
        columns=columns,
        header=(*(c.name for c in columns), "items"),
    )


def hierarchy(table: rt_table.Table) -> Hierarchy:
    return Hierarchy(table.items)
