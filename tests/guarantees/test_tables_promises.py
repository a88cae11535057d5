"""Relations between the guarantees of tables, and the findings of an attacker: on random recodings."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from naive import rt_classes, rt_cuts, rt_items, rt_verify
from naive.anonymize import Tree, leaves, up_from
from naive.km import is_km
from naive.rt_table import Parts, Table
from strategies import many, random_rows, random_tree, seeded
from tables import random_table

Sets = list[frozenset[str]]


def lowest_labels(rows: Sets, tree: Tree) -> Sets:
    """Each row as the labels that are some leaf's lowest and that it shows, or shows something above."""
    shown = {label for row in rows for label in row}
    paths = [[node for node in up_from(tree, leaf) if node in shown] for leaf in leaves(tree)]
    lowest = {path[0] for path in paths if path}
    return [frozenset(v for v in lowest if row & set(up_from(tree, v))) for row in rows]


def random_labels(rng: Random) -> tuple[Sets, Tree]:
    """Rows of any nodes, none above another in a row."""
    items = [*"abcdef"][: rng.randint(1, 6)]
    tree = random_tree(rng, items)
    rows = []
    for row in random_rows(rng, items, rng.randint(0, 9), 3):
        nodes = {rng.choice(up_from(tree, item)) for item in row}
        rows.append(frozenset(v for v in nodes if not nodes & set(up_from(tree, v)[1:])))
    return rows, tree


def test_readings_of_labels() -> None:
    rng = seeded(1)
    for _ in range(many(300)):
        rows, tree = random_labels(rng)
        k, m = rng.randint(2, 3), rng.choice((1, 2, 3))
        by_label = is_km(rows, k, m)
        by_cover = rt_verify.is_cover_km(rows, tree, k, m)
        assert by_cover or not by_label
        assert by_cover == rt_verify.is_any_level_km(rows, tree, k, m)
        assert by_cover == is_km(lowest_labels(rows, tree), k, m)


def test_covers_are_not_labels() -> None:
    rows = [frozenset({label}) for label in ("A", "a1", "a1", "a2", "a2")]
    tree = {"a1": "A", "a2": "A", "A": None}
    assert rt_verify.is_cover_km(rows, tree, 3, 1)
    assert not is_km(rows, 2, 1)
    assert sorted(map(sorted, lowest_labels(rows, tree))) == [["a1"], ["a1"], ["a1", "a2"], ["a2"], ["a2"]]
    few = [frozenset({label}) for label in ("A", "a1", "a1")]
    assert not rt_verify.is_cover_km(few, tree, 2, 1)
    assert sorted(map(sorted, lowest_labels(few, tree))) == [["A", "a1"], ["a1"], ["a1"]]


def random_shown(rng: Random) -> list[rt_verify.Row]:
    n = rng.randint(0, 16)
    sizes = [rng.randint(1, 2) for _ in range(rng.randint(1, 3))]
    sets = random_rows(rng, "ab"[: rng.randint(1, 2)], n, 2)
    return [(tuple(str(rng.randrange(size)) for size in sizes), items) for items in sets]


def test_promises_of_tables() -> None:
    rng = seeded(2)
    met = 0
    for _ in range(many(400)):
        shown = random_shown(rng)
        k, m = 2, rng.choice((1, 2, math.inf))
        holds = rt_verify.is_kkm(shown, k, m)
        met += holds
        assert holds == (not rt_verify.counterexamples(shown, k, m))
        assert holds == ((rt_verify.greatest_k(shown, m) or k) >= k)
        mixed = rt_verify.is_mixed_km(shown, k, m)
        assert mixed or not holds
        assert mixed == ((rt_verify.greatest_mixed_k(shown, m) or k) >= k)
        q = len(shown[0][0]) if shown else 0
        assert holds or not rt_verify.is_mixed_km(shown, k, q + m)
        labelled = [frozenset((labels, item) for item in items) for labels, items in shown]
        sizes = [labels for labels, _ in shown]
        assert holds == (
            all(sizes.count(labels) >= k for labels in sizes) and is_km(labelled, k, m)  # type: ignore[arg-type]
        )
        assert holds == (not rt_verify.exposed(shown, m, [k])[0])
    assert met > many(20)


def candidates_suffice(
    table: Table, shown: list[rt_verify.Row], parts: Parts, images: list[rt_items.Image], k: int, m: int
) -> None:
    """Check that all values of a person and m items fit k rows; suppressed items reveal nothing."""
    trees = [column.whole for column in table.columns]
    for part, to in zip(parts, images, strict=True):
        for row in part:
            known = {a: column.values[row] for a, column in enumerate(table.columns)}
            for some in rt_verify.subsets(table.sets[row], m):
                telling = frozenset(item for item in some if to[item] is not None)
                found = rt_verify.candidates(shown, known, telling, trees, table.items)
                assert row in found
                assert len(found) >= k


def test_attackers_find_k_rows_of_local_recodings() -> None:
    rng = seeded(3)
    for _ in range(many(30)):
        table = random_table(rng, most_leaves=4)
        k, m = rng.randint(2, 3), rng.choice((1, 2))
        if table.n < k:
            continue
        parts = rt_classes.mondrian(table, k) if rng.random() < 0.5 else rt_classes.cluster(table, k)
        assert sorted(row for part in parts for row in part) == list(range(table.n))
        recoded = rt_items.recode(table, parts, k, m, rt_items.exact)
        shown = rt_items.published(table, recoded)
        assert rt_verify.is_kkm(shown, k, m)
        candidates_suffice(table, shown, parts, [to for _, to in recoded], k, m)


def test_global_classes_are_never_better_than_the_best() -> None:
    rng = seeded(4)
    for _ in range(many(30)):
        table = random_table(rng, most_rows=8, most_columns=2, trees=True)
        k = rng.randint(2, 3)
        if table.n < k:
            continue
        best = rt_cuts.loss(table, rt_cuts.images(table, rt_cuts.best(table, k)))
        for cuts in (rt_cuts.top_down(table, k), rt_cuts.bottom_up(table, k)):
            images = rt_cuts.images(table, cuts)
            assert rt_cuts.is_anonymous(table, images, k)
            assert best <= rt_cuts.loss(table, images) <= Fraction(1)
        levels = rt_cuts.at_levels(table, rt_cuts.incognito(table, k))
        assert rt_cuts.is_anonymous(table, levels, k)
