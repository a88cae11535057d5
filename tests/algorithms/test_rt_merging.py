"""Mergers of clusters against their twin, and the examples of the ward."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from class_cases import canonical, members, with_long_weights
from naive import rt_items, rt_merge, rt_table
from naive.rt_table import relational_loss
from setveil.methods.algorithms.rt import _merging
from setveil.methods.algorithms.rt._merging import RowPartition, until, within
from setveil.methods.algorithms.rt._merging_loops import expansions
from strategies import either, many, seeded
from tables import random_tables
from ward import numbered, parts, ward

WARD = parts([1, 2], [3, 4], [5, 8], [6, 7])
MERGERS = ("r", "t", "rt")


def begun(table: rt_table.Table, classes: rt_table.Parts) -> RowPartition:
    part = np.empty(table.n, np.int64)
    for number, rows in enumerate(table.in_order(classes)):
        part[[table.place[row] for row in rows]] = number
    return RowPartition(canonical(table), part)


def rows_of(table: rt_table.Table, clusters: RowPartition, c: int) -> tuple[int, ...]:
    return tuple(table.canonical[p] for p in clusters.rows[c])


def random_clusters(
    n: int, seed: int, most_rows: int = 14
) -> Iterator[tuple[Random, rt_table.Table, rt_table.Parts]]:
    for rng, table in random_tables(either(n), seed, most_rows=most_rows, most_items=4):
        if not table.n:
            continue
        if rng.random() < 0.2:
            table = with_long_weights(rng, table)  # noqa: PLW2901
        drawn: dict[int, list[int]] = {}
        several = rng.randint(1, 6)
        for row in range(table.n):
            drawn.setdefault(rng.randrange(several), []).append(row)
        yield rng, table, table.in_order(drawn.values())


@pytest.mark.parametrize(
    ("by", "order"),
    [("r", [[5, 8], [3, 4], [6, 7]]), ("t", [[6, 7], [5, 8], [3, 4]]), ("rt", [[5, 8], [6, 7], [3, 4]])],
)
def test_partners_of_the_ward(by: str, order: list[list[int]]) -> None:
    table = ward()
    clusters = begun(table, WARD)
    assert numbered(rows_of(table, clusters, d) for d in clusters.partners(0, by)) == order


@pytest.mark.parametrize(
    ("by", "delta", "classes", "lost"),
    [
        ("r", "0.3", [[1, 2, 5, 8], [3, 4], [6, 7]], "10/37"),
        ("r", "0.6", [[1, 2, 5, 8], [3, 4, 6, 7]], "15/37"),
        ("t", "0.6", [[1, 2, 6, 7], [3, 4], [5, 8]], "81/148"),
        ("rt", "0.6", [[1, 2, 5, 8], [3, 4, 6, 7]], "15/37"),
        ("r", "1", [[1, 2, 3, 4, 5, 6, 7, 8]], "1"),
        ("t", "1", [[1, 2, 3, 4, 5, 6, 7, 8]], "1"),
        ("rt", "1", [[1, 2, 3, 4, 5, 6, 7, 8]], "1"),
    ],
)
def test_mergers_of_the_ward(by: str, delta: str, classes: list[list[int]], lost: str) -> None:
    table = ward()
    clusters = begun(table, WARD)
    assert clusters.relational_loss == Fraction(4, 37)
    made = list(within(clusters, by, Fraction(delta)))
    assert len(made) == 4 - len(classes)
    assert numbered(members(table, clusters.parts(len(made)))) == classes
    assert clusters.relational_loss == Fraction(lost)


def test_partners_are_those_of_the_twin() -> None:
    for rng, table, classes in random_clusters(300, 71):
        clusters = begun(table, classes)
        c = rng.randrange(len(classes))
        for by in MERGERS:
            found = [rows_of(table, clusters, d) for d in clusters.partners(c, by)]
            assert found == rt_merge.partners(table, classes, classes[c], by), (table, classes, c, by)


@pytest.mark.parametrize("exact", [1 << 31, 0])  # with 0 all equal digits are compared as fractions
def test_mergers_are_those_of_the_twin(exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_merging, "_EXACT", exact)
    merged = 0
    for rng, table, classes in random_clusters(120, 72):
        least = relational_loss(table, classes)
        delta = least + (1 - least) * rng.choice((Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)))
        for by in MERGERS:
            clusters = begun(table, classes)
            steps = [after(table, clusters, 0)]
            for c, d in within(clusters, by, delta):
                assert c < d
                steps.append(after(table, clusters, len(clusters.mergers)))
                assert clusters.relational_loss == relational_loss(table, steps[-1])
            assert steps == list(rt_merge.merges(table, classes, by, delta)), (table, classes, by, delta)
            assert [after(table, clusters, n) for n in range(len(steps))] == steps
            merged += len(steps) - 1
    assert merged > many(30)


def after(table: rt_table.Table, clusters: RowPartition, mergers: int) -> rt_table.Parts:
    return members(table, clusters.parts(mergers))


def test_mergers_for_items_are_those_of_the_twin() -> None:
    merged = refused = 0
    for rng, table, classes in random_clusters(120, 73):
        n_leaves, n = len(rt_items.nothing(table.items)), max(rt_items.occurrences(table.sets), 1)
        delta = Fraction(rng.randint(0, 10), 10)
        for by in MERGERS:
            clusters = begun(table, classes)

            def lost(rows: np.ndarray, table: rt_table.Table = table) -> int:
                sets = table.rows(table.canonical[p] for p in rows)
                return int(n_leaves * rt_items.item_loss(sets, rt_items.by_aa(sets, table.items, 2, 2)))  # noqa: B023

            totals = list(until(clusters, by, lost, lambda total: total <= delta * n_leaves * n))  # noqa: B023
            assert len(totals) == len(clusters.mergers) + 1
            if totals[-1] > delta * n_leaves * n:
                with pytest.raises(rt_merge.TooTightError) as refusal:
                    rt_merge.bound_items(table, classes, by, delta, 2, 2, rt_items.by_aa)
                assert Fraction(totals[-1], n_leaves * n) == refusal.value.args[0]
                refused += 1
                continue
            wanted = rt_merge.bound_items(table, classes, by, delta, 2, 2, rt_items.by_aa)
            assert after(table, clusters, len(clusters.mergers)) == wanted, (table, classes, by, delta)
            merged += len(clusters.mergers)
    assert merged > many(10)
    assert refused


def test_fractions_are_expanded_exactly() -> None:
    rng = seeded(74)
    for most in (5, 1000, 1 << 31, 1 << 60):
        denominators = np.array([rng.randint(2, most) for _ in range(300)])
        numerators = np.array([rng.randint(0, d // 2) for d in denominators.tolist()])
        out = np.empty(300, np.int64)
        expansions(numerators, denominators, out)
        assert out.tolist() == [
            (n << 62) // d for n, d in zip(numerators.tolist(), denominators.tolist(), strict=True)
        ]
