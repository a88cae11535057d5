"""Counts of tables: whether anyone can match rows to people, over all rows that give the same release."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from naive import rt_classes, rt_items, rt_table
from naive import worlds as naive
from naive.anonymize import leaves, up_from
from setveil.releases.published.tables import publish
from strategies import many, seeded
from tables import fast, parts_of, random_table, shown_by


def filled_case(rng: Random) -> rt_table.Table:
    """A small table, often without empty rows."""
    while True:
        slow = random_table(rng, most_rows=7, most_columns=1, most_leaves=4)
        if rng.random() < 0.6:
            some = leaves(slow.items)
            sets = tuple(row or frozenset({rng.choice(some)}) for row in slow.sets)
            slow = rt_table.Table(slow.columns, sets, slow.items)
        if slow.n >= 2:
            return slow


@pytest.mark.parametrize("none_was_empty", [False, True])
def test_whoever_knows_items_finds_k_rows(none_was_empty: bool) -> None:
    rng = seeded(81 + none_was_empty)
    checked = listed = 0
    for _ in range(many(60)):
        slow = filled_case(rng)
        if none_was_empty and not all(slow.sets):
            continue
        k, m = 2, rng.choice((1, 2))
        parts = rt_classes.mondrian(slow, k) if rng.random() < 0.5 else rt_classes.cluster(slow, k)
        recoded = rt_items.recode(slow, slow.in_order(parts), k, m, rt_items.exact)
        table = fast(slow)
        release = publish(table, parts_of(slow, table, recoded), seed=1, least=k)
        counts, shown = release.counts, shown_by(release.table)
        assert counts is not None
        listed += len(counts.lines())
        original = naive.Release(
            [items for _, items in shown],
            {
                label: frozenset(leaf for leaf in leaves(slow.items) if label in up_from(slow.items, leaf))
                for _, items in shown
                for label in items
            },
            frozenset(item for _, to in recoded for item, label in to.items() if label is None),
            {(item, label): rows for item, label, rows in counts.lines()},
            counts.least,
            counts.suppressed,
            none_was_empty,
        )
        held = naive.holding(original)
        for part, to in recoded:
            for row in part:
                mine = shown[release.row_map[row]][0]
                inside = [at for at, (labels, _) in enumerate(shown) if labels == mine]
                for size in range(m + 1):
                    for some in combinations(sorted(slow.sets[row]), size):
                        fit = naive.fitting(held, frozenset(some))
                        assert fit[release.row_map[row]]
                        assert sum(fit[at] > 0 for at in inside) >= k, (slow, recoded, some)
                        checked += 1
                        assert to
    assert checked > many(100)
    assert listed > many(50)


def test_lines_count_the_rows_of_each_item_under_each_label() -> None:
    rng = seeded(83)
    for _ in range(many(60)):
        slow = filled_case(rng)
        recoded = rt_items.recode(slow, slow.in_order(rt_classes.cluster(slow, 2)), 2, 2, rt_items.exact)
        table, least = fast(slow), rng.randint(2, 3)
        release = publish(table, parts_of(slow, table, recoded), seed=1, least=least)
        expected: dict[tuple[str, str], int] = {}
        for part, to in recoded:
            for row in part:
                for item in slow.sets[row]:
                    pair = (item, to[item] or "")
                    expected[pair] = expected.get(pair, 0) + 1
        assert release.counts is not None
        shown = shown_by(release.table)
        empty = [release.recoding.part[row] for row in range(slow.n) if not shown[release.row_map[row]][1]]
        lists = all(empty.count(part) >= least for part in empty)
        assert release.counts.suppressed == lists
        assert {(item, label): rows for item, label, rows in release.counts.lines()} == {
            pair: rows for pair, rows in expected.items() if rows >= least and (pair[1] or lists)
        }
