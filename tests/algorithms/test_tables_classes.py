"""Classes of tables and their mergers against slow twins, on random small tables."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from naive import rt_classes, rt_cuts, rt_merge, rt_table
from naive.rt_table import Parts
from setveil.base.progress import silent
from setveil.methods.algorithms.rt._bounding import relational_optimum
from setveil.methods.algorithms.rt._clustering import clusters
from setveil.methods.algorithms.rt._incognito import incognito
from setveil.methods.algorithms.rt._merging import RowPartition, within
from setveil.methods.algorithms.rt._specialization import bottom_up, top_down
from setveil.rows.tables.table import Table, numbered_parts
from tables import fast, random_tables


def in_order(slow: rt_table.Table) -> Table:
    table = fast(slow)
    return table.rows_at(table.canonical_order())


def listed(slow: rt_table.Table, part: NDArray[np.int64]) -> Parts:
    """Parts of the rows in canonical order as lists of the twin's rows."""
    return [
        tuple(slow.canonical[at] for at in np.flatnonzero(part == number))
        for number in range(int(part.max(initial=-1)) + 1)
    ]


def labels(table: Table, nodes: list[NDArray[np.int32]]) -> list[dict[str, str]]:
    return [
        {column.labels[v]: column.labels[node] for v, node in enumerate(of_column.tolist())}
        for column, of_column in zip(table.columns, nodes, strict=True)
    ]


def test_clusters() -> None:
    for rng, drawn in random_tables(200, 21):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
        k = rng.randint(2, 4)
        if 0 < slow.n < k:
            continue
        made = listed(slow, clusters(in_order(slow), k))
        assert list(map(sorted, made)) == list(map(sorted, rt_classes.cluster(slow, k)))


def test_incognito() -> None:
    for rng, slow in random_tables(150, 22, trees=True):
        k = rng.randint(2, 4)
        if not slow.n or slow.n < k:
            continue
        table = in_order(slow)
        nodes, levels = incognito(table, k)
        assert levels == rt_cuts.incognito(slow, k)
        assert labels(table, nodes) == list(rt_cuts.at_levels(slow, levels))


@pytest.mark.parametrize(
    ("found", "expected"), [(top_down, rt_cuts.top_down), (bottom_up, rt_cuts.bottom_up)]
)
def test_cuts(
    found: Callable[[Table, int], list[NDArray[np.int32]]],
    expected: Callable[[rt_table.Table, int], rt_cuts.Cuts],
) -> None:
    for rng, slow in random_tables(120, 23, trees=True):
        k = rng.randint(2, 4)
        if slow.n < k:
            continue
        table = in_order(slow)
        assert labels(table, found(table, k)) == list(rt_cuts.images(slow, expected(slow, k)))


def test_the_least_loss_of_all_cuts() -> None:
    for rng, slow in random_tables(60, 24, trees=True, most_columns=2):
        k = rng.randint(2, 4)
        if slow.n < k:
            continue
        table = fast(slow)
        found = labels(table, [*relational_optimum(table, k, silent)])
        assert rt_cuts.is_anonymous(slow, tuple(found), k)
        assert rt_cuts.loss(slow, tuple(found)) == rt_cuts.loss(
            slow, rt_cuts.images(slow, rt_cuts.best(slow, k))
        )


def random_parts(rng: Random, slow: rt_table.Table, most: int) -> tuple[NDArray[np.int64], Parts]:
    """A partition, numbered in canonical order, and its parts."""
    draw = np.array([rng.randrange(most) for _ in range(slow.n)], np.int64)
    part = numbered_parts(np.arange(slow.n), draw)
    return part, listed(slow, part)


def test_partners() -> None:
    for rng, drawn in random_tables(150, 25):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
        part, parts = random_parts(rng, slow, 6)
        if not parts:
            continue
        made = RowPartition(in_order(slow), part)
        assert made.relational_loss == rt_table.relational_loss(slow, parts)
        c = rng.randrange(len(parts))
        limit = Fraction(rng.randint(0, 20), 20)
        for by in ("r", "t", "rt"):
            expected = rt_merge.partners(slow, parts, parts[c], by)
            assert [parts[d] for d in made.partners(c, by)] == expected
            fitting = [
                d
                for d in expected
                if rt_table.relational_loss(slow, rt_merge.joined(slow, parts, parts[c], d)[0]) <= limit
            ]
            assert [parts[d] for d in made.partners(c, by, limit)] == fitting


def test_merges() -> None:
    for rng, drawn in random_tables(100, 26):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
        part, parts = random_parts(rng, slow, 6)
        if not parts:
            continue
        start = rt_table.relational_loss(slow, parts)
        delta = start + (1 - start) * Fraction(rng.randint(0, 8), 8)
        by = rng.choice(("r", "t", "rt"))
        made = RowPartition(in_order(slow), part)
        seen = list(rt_merge.merges(slow, parts, by, delta))
        done = 0
        for done, _ in enumerate(within(made, by, delta), 1):
            assert made.relational_loss == rt_table.relational_loss(slow, seen[done])
        assert done == len(seen) - 1
        for at, expected in enumerate(seen):
            assert listed(slow, made.parts(at)) == expected
