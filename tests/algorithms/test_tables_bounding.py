"""The bounding methods against slow twins, on random small tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Literal

import pytest

from naive import rt_classes, rt_cuts, rt_items, rt_merge, rt_table, rt_verify
from naive.rt_table import Parts, built_ranges, width_for
from setveil.base.errors import InfeasibleError
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.methods.algorithms.rt import bounding
from setveil.releases.published.tables import publish
from tables import fast, hierarchy, losses, partition, random_tables, shown_by

RELATIONAL: tuple[Literal["mondrian", "cluster", "incognito", "topdown", "bottomup", "exact"], ...]
RELATIONAL = ("mondrian", "cluster", "incognito", "topdown", "bottomup", "exact")
ITEMS: tuple[Literal["exact", "aa", "hghs", "coat", "pcta", "lra", "vpa"], ...]
ITEMS = ("exact", "aa", "hghs", "coat", "pcta", "lra", "vpa")


def start(rng: Random, slow: rt_table.Table, k: int) -> tuple[str, Parts]:
    relational = rng.choice(("mondrian", "cluster"))
    return relational, slow.in_order(
        (rt_classes.mondrian if relational == "mondrian" else rt_classes.cluster)(slow, k)
    )


def test_classes_merged_within_a_bound_of_columns() -> None:
    for rng, drawn in random_tables(60, 53, most_leaves=4):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
        k, m = 2, rng.choice((1, 2))
        if slow.n < k:
            continue
        table = fast(slow)
        relational, clusters = start(rng, slow, k)
        items, algorithm = rng.choice((("aa", rt_items.by_aa), ("hghs", rt_items.by_hghs)))
        merge, every = rng.choice(("r", "t", "rt")), rng.random() < 0.5
        delta = Fraction(rng.randint(0, 20), 20)
        wanted = bounding.Bounding(
            relational=relational,  # type: ignore[arg-type]
            items=items,  # type: ignore[arg-type]
            merge=merge,  # type: ignore[arg-type]
            delta=delta,
            evaluate="all" if every else "ends",
        )
        try:
            expected = rt_merge.bounded(slow, clusters, merge, delta, k, m, algorithm, every=every)
        except rt_merge.TooTightError:
            with pytest.raises(InfeasibleError):
                bounding.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
            continue
        made, details = bounding.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
        losses(slow, table, made, k, m)
        assert partition(made) == rt_classes.same(expected)
        total = rt_items.total(slow, rt_items.recode(slow, expected, k, m, algorithm))
        assert details["item_loss"] == pytest.approx(float(total))
        assert details["relational_loss"] == pytest.approx(float(rt_table.relational_loss(slow, expected)))


def test_classes_merged_until_a_bound_of_items() -> None:
    refused = 0
    for rng, drawn in random_tables(60, 58, most_leaves=4):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
        k, m = 2, rng.choice((1, 2))
        if slow.n < k:
            continue
        table = fast(slow)
        relational, clusters = start(rng, slow, k)
        items, algorithm = rng.choice((("aa", rt_items.by_aa), ("hghs", rt_items.by_hghs)))
        merge, delta = rng.choice(("r", "t", "rt")), Fraction(rng.randint(0, 20), 20)
        wanted = bounding.Bounding(
            relational=relational,  # type: ignore[arg-type]
            items=items,  # type: ignore[arg-type]
            merge=merge,  # type: ignore[arg-type]
            delta=delta,
            bounded="items",
        )
        try:
            expected = rt_merge.bound_items(slow, clusters, merge, delta, k, m, algorithm)
        except rt_merge.TooTightError:
            with pytest.raises(InfeasibleError):
                bounding.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
            refused += 1
            continue
        made, _ = bounding.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
        losses(slow, table, made, k, m)
        assert partition(made) == rt_classes.same(expected)
    assert refused


def test_every_pair_of_methods_keeps_the_promise() -> None:
    for rng, drawn in random_tables(60, 55, most_leaves=4):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
        k, m = 2, rng.choice((1, 2, 3))
        if slow.n < k:
            continue
        table = fast(slow)
        relational = rng.choice(RELATIONAL)
        items = rng.choice(ITEMS)
        wanted = bounding.Bounding(
            relational=relational, items=items, merge=rng.choice(("r", "t", "rt")), delta=1
        )
        made, details = bounding.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
        release = publish(table, made, seed=3)
        assert rt_verify.is_kkm(shown_by(release.table), k, m)
        assert details["parts"] >= 1


def ranged(slow: rt_table.Table) -> rt_table.Table:
    """Numbers without a hierarchy get one of built ranges."""
    columns = [
        column
        if column.tree is not None
        else replace(column, tree=built_ranges(column.values, width_for(column.values)))
        for column in slow.columns
    ]
    return replace(slow, columns=tuple(columns))


def test_classes_of_one_cut_for_all_rows() -> None:
    for rng, slow in random_tables(60, 56, most_columns=2, most_leaves=3):
        k = rng.choice((2, 3))
        if slow.n < k or any(not any(column.values) for column in slow.columns):
            continue
        trees = ranged(slow)
        name = rng.choice(("incognito", "topdown", "bottomup"))
        if name == "incognito":
            images = rt_cuts.at_levels(trees, rt_cuts.incognito(trees, k))
        else:
            found = (rt_cuts.top_down if name == "topdown" else rt_cuts.bottom_up)(trees, k)
            images = rt_cuts.images(trees, found)
        wanted = bounding.Bounding(relational=name, items="aa")  # type: ignore[arg-type]
        made, details = bounding.anonymize(fast(slow), hierarchy(slow), KKmAnonymity(k, 1), wanted)
        expected = rt_cuts.classes(trees, images)
        assert partition(made) == rt_classes.same(expected)
        assert details["relational_loss"] == pytest.approx(float(rt_table.relational_loss(slow, expected)))
        assert details["uniform_relational_loss"] == pytest.approx(float(rt_cuts.loss(trees, images)))
