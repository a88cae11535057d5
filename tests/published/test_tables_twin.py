"""Published tables, and their measures, compared with a twin of dicts and fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from naive import measures as naive
from naive import rt_cuts, rt_items, rt_measures, rt_table
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.judges.utility.relational import (
    class_sizes,
    column_losses,
    kept_shares,
    label_loss,
    relational_loss,
    uncovered,
)
from setveil.releases.published.tables import publish
from tables import cut_of, fast, parts_of, random_image, random_local, random_tables, shown_by


def test_local_recodings() -> None:
    for rng, slow in random_tables(150, 11):
        table = fast(slow)
        recoded = random_local(rng, slow, 2, 2)
        release = publish(table, parts_of(slow, table, recoded), seed=rng.randrange(9))
        expected = rt_items.published(slow, recoded)
        shown = shown_by(release.table)
        assert Counter(shown) == Counter(expected)
        assert [shown[at] for at in release.row_map] == expected
        parts = [part for part, _ in recoded]
        assert relational_loss(table, release.table) == rt_table.relational_loss(slow, parts)
        for a, column in enumerate(slow.columns):
            lost = sum(len(part) * column.loss(column.values[row] for row in part) for part in parts)
            assert column_losses(table, release.table)[column.name] == Fraction(lost) / max(slow.n, 1), a
        assert not any(uncovered(table, release.table, release.row_map).values())
        items = release.recoding.items
        assert ncp(table, items) == pytest.approx(float(rt_items.total(slow, recoded)))
        assert lm(table, items) == pytest.approx(float(rt_items.total(slow, recoded, "lm")))
        check_rows(slow, release, [items for _, items in expected])


def check_rows(slow: rt_table.Table, release: object, sets: list[frozenset[str]]) -> None:
    """Compare the measures of the published rows alone."""
    table, items = release.table, release.recoding.items  # type: ignore[attr-defined]
    members = {
        node: sorted(leaf for leaf in naive_leaves(slow) if node in path(slow, leaf)) for node in slow.items
    }
    sizes = dict(zip(items.published.labels, items.member_counts.tolist(), strict=True))
    assert label_loss(table, sizes) == pytest.approx(float(rt_measures.ul(sets, members)))
    shown = shown_by(table)
    classes = Counter(labels for labels, _ in shown)
    assert sorted(class_sizes(table).tolist()) == sorted(classes.values())
    first = list(dict.fromkeys(labels for labels, _ in shown))
    assert [first[number] for number in table.classes()] == [labels for labels, _ in shown]


def naive_leaves(slow: rt_table.Table) -> list[str]:
    above = set(slow.items.values())
    return [node for node in slow.items if node not in above]


def path(slow: rt_table.Table, leaf: str) -> list[str]:
    out: list[str] = []
    node: str | None = leaf
    while node is not None:
        out.append(node)
        node = slow.items[node]
    return out


def test_global_recodings() -> None:
    for rng, slow in random_tables(100, 12, most_columns=2, trees=True):
        table = fast(slow)
        cuts = rng.choice(list(rt_cuts.every(slow)))
        images, items = rt_cuts.images(slow, cuts), random_image(rng, slow.items)
        release = publish(table, cut_of(slow, table, images, items), seed=1)
        expected = list(zip(rt_cuts.shown(slow, images), naive.recode(slow.sets, items), strict=True))
        shown = shown_by(release.table)
        assert [shown[at] for at in release.row_map] == expected
        assert relational_loss(table, release.table) == rt_cuts.loss(slow, images)
        assert not any(uncovered(table, release.table, release.row_map).values())
        assert lm(table, release.recoding.items) == pytest.approx(float(naive.lm(slow.sets, items)))
        check_rows(slow, release, [items for _, items in expected])


def test_uncovered_rows_are_counted() -> None:
    """Check rows whose values the labels of other rows represent or not."""
    for rng, slow in random_tables(100, 13):
        if not slow.n:
            continue
        table = fast(slow)
        recoded = random_local(rng, slow, 2, 2)
        release = publish(table, parts_of(slow, table, recoded), seed=1)
        wrong = rng.sample(range(slow.n), slow.n)
        shown = shown_by(release.table)
        for a, column in enumerate(slow.columns):
            expected = 0
            for row, at in enumerate(wrong):
                label = shown[at][0][a]
                part = next(part for part, _ in recoded if slow.labels(part)[a] == label)
                covering = column.label({*(column.values[other] for other in part), column.values[row]})
                expected += covering != label
            found = uncovered(table, release.table, np.array(wrong))[column.name]
            assert found == expected
        assert kept_shares((), release.table.classes()) == {}
