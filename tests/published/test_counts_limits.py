"""Where counts do tell more than the rows: the limits that docs/counts.md names, each by an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from naive import worlds as naive
from naive.worlds import Release, World
from setveil.data.vocabulary import Vocabulary
from setveil.published.recoding import Recoding
from setveil.published.rows import publish
from strategies import transactions

Row = frozenset[str]


def rows(text: str) -> list[Row]:
    """Read rows of labels: a blank between labels, a comma between rows."""
    return [frozenset(row.split()) for row in text.split(",")]


def members(**labels: str) -> dict[str, Row]:
    return {label: frozenset(items.split()) for label, items in labels.items()}


def fitting(release: Release, known: str, *, where: Callable[[World], bool] = lambda _: True) -> list[int]:
    """Count, for each row, the worlds with these properties in which it holds what is known."""
    items = frozenset(known.split())
    found = [world for world in naive.worlds(release) if where(world)]
    assert found
    return [sum(items <= naive.items_of(world[q]) for world in found) for q in range(len(release.rows))]


def support(world: World, item: str) -> int:
    return sum(item in naive.items_of(content) for content in world)


# --- rows that are known not to have been empty


def test_few_empty_rows_would_betray_unlisted_items() -> None:
    listed = Release(rows(",a,a"), members(a="a"), frozenset("x"), {("a", "a"): 2}, 2)
    without = replace(listed, lines=None)
    silent = replace(listed, lists_suppressed=False)
    assert fitting(listed, "x") == [1, 1, 1]
    for release, rows_that_fit in ((listed, 1), (without, 3), (silent, 3)):
        assert sum(map(bool, fitting(replace(release, none_was_empty=True), "x"))) == rows_that_fit


@pytest.mark.parametrize(("empty", "listed"), [(0, True), (1, False), (2, False), (3, True), (4, True)])
def test_left_out_items_are_listed_unless_few_rows_are_empty(empty: int, listed: bool) -> None:
    data = transactions([frozenset("x")] * empty + [frozenset("ax")] * 5)
    left_out = Recoding.from_groups(Vocabulary("ax"), np.array([0, -1]))
    counts = publish(data, left_out, 0, None, 3).counts
    assert counts is not None
    assert counts.suppressed == listed
    assert counts.lines() == [("a", "a", 5), *([("x", "", empty + 5)] if listed else [])]


def test_enough_empty_rows_are_candidates_themselves() -> None:
    """Two rows are empty, and hold what is left out; the others may hold it as well."""
    release = Release(
        rows(",,a,a"), members(a="a"), frozenset("xy"), {("x", ""): 2, ("a", "a"): 2}, 2, none_was_empty=True
    )
    assert fitting(release, "x") == [7, 7, 2, 2]
    assert fitting(release, "y") == [3, 3, 1, 1]


# --- row lengths that are known


def test_a_known_greatest_length_excludes_rows() -> None:
    """Originals `a c`, `a b` and `c`, L stands for a and b; no row holds more than two items."""
    release = Release(rows("L c,L,c"), members(L="a b", c="c"), lines={("a", "L"): 2, ("c", "c"): 2}, least=2)

    def short(world: World) -> bool:
        return all(len(content) <= 2 for content in world)

    assert fitting(release, "b") == [1, 1, 0]
    assert fitting(release, "b", where=short) == [0, 1, 0]
    assert fitting(replace(release, lines=None), "b", where=short) == [3, 4, 0]


# --- what is known not to be in a row


def test_items_in_all_rows_of_their_label_make_absences_tell() -> None:
    """Somebody has c, and has not a: no row with L is hers, as both of them hold a."""
    release = Release(
        rows("L M,L M,M,M"), members(L="a b", M="c d"),
        lines={("a", "L"): 2, ("c", "M"): 4, ("d", "M"): 2}, least=2,
    )  # fmt: skip

    def without_a(told: Release) -> list[int]:
        worlds = [[naive.items_of(content) for content in world] for world in naive.worlds(told)]
        return [sum("c" in world[q] and "a" not in world[q] for world in worlds) for q in range(4)]

    assert without_a(release) == [0, 0, 18, 18]
    assert all(without_a(replace(release, lines=None)))


def test_sums_that_leave_one_item_for_each_row_exclude_the_others() -> None:
    release = Release(rows("L,L,L,L"), members(L="a b"), lines={("a", "L"): 2, ("b", "L"): 2}, least=2)
    assert naive.bounds(release, frozenset("ab")) == (0, 0)
    assert naive.bounds(replace(release, lines=None), frozenset("ab")) == (0, 4)


# --- items that are published under several labels


COVERED = Release(rows("a1 b1,a1 b1,a1 b1,A b1,A b1,A b1,a1 b2,a1 b2,a1 b2,a1 b2"),
                  members(A="a1 a2", a1="a1", b1="b1", b2="b2"))  # fmt: skip


def test_an_items_rows_under_all_labels_together_would_exclude_some() -> None:
    """Six rows cover a1 and b1. That a1 is in seven, as many as show it, leaves three of them."""
    assert sum(map(bool, fitting(COVERED, "a1 b1"))) == 6
    assert sum(map(bool, fitting(COVERED, "a1 b1", where=lambda world: support(world, "a1") == 7))) == 3


def test_so_each_label_is_counted_by_itself() -> None:
    """The three rows with A remain as likely as each other, and so do those with a1."""
    lines = {("a1", "a1"): 7, ("b1", "b1"): 6, ("b2", "b2"): 4}
    for told, of_the_broad in ((replace(COVERED, lines=lines, least=3), 7), (COVERED, 18)):
        found = fitting(told, "a1 b1")
        assert found[6:] == [0] * 4
        assert len(set(found[:3])) == len(set(found[3:6])) == 1
        assert found[3] == of_the_broad


# --- several releases of the same people, and items that are known to be others' secrets


def test_two_releases_of_the_same_people_differ_by_what_was_added() -> None:
    """Four rows; a month later one of them, which showed nothing before, shows L too."""
    before = Release(
        rows("L c,L c,L,c"), members(L="a b", c="c"), lines={("a", "L"): 2, ("c", "c"): 3}, least=2
    )
    after = Release(
        rows("L c,L c,L,L c"), members(L="a b", c="c"), lines={("a", "L"): 3, ("c", "c"): 3}, least=2
    )
    assert [bool(n) for n in fitting(after, "b")] == [True] * 4

    def added(old: Release, new: Release) -> list[Row]:
        """What the last row can have gained, the others being as they were."""
        return [
            naive.items_of(now[3] - was[3])
            for was in naive.worlds(old)
            for now in naive.worlds(new)
            if was[:3] == now[:3] and was[3] <= now[3]
        ]

    assert all("a" in items for items in added(before, after))
    assert {"b"} in added(replace(before, lines=None), replace(after, lines=None))


def test_counts_of_sensitive_items_would_raise_what_can_be_inferred() -> None:
    """Four rows hold a, two of them s; of one s was hidden, so that s is shown in one row of four."""
    release = Release(rows("a s,a,a,a"), members(a="a", s="s"), frozenset("s"))

    worlds = [world for world in naive.worlds(release) if support(world, "s") == 2]
    shown = Fraction(sum("s" in row for row in release.rows), 4)
    assert shown == Fraction(1, 4)
    assert Fraction(sum(support(world, "s") for world in worlds), 4 * len(worlds)) == Fraction(1, 2)
