"""Conclusions from counts beyond those from the rows: an example of each limit that docs/counts.md names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from naive import worlds as naive
from naive.worlds import Release, World
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import publish
from setveil.rows.data.vocabulary import Vocabulary
from strategies import transactions

Row = frozenset[str]


def rows(text: str) -> list[Row]:
    """Read rows of labels: a blank between labels, a comma between rows."""
    return [frozenset(row.split()) for row in text.split(",")]


def members(**labels: str) -> dict[str, Row]:
    return {label: frozenset(items.split()) for label, items in labels.items()}


def fitting(release: Release, known: str, *, where: Callable[[World], bool] = lambda _: True) -> list[int]:
    """Count, for each row, the worlds with these properties in which it contains the known items."""
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
def test_suppressed_items_are_listed_unless_few_rows_are_empty(empty: int, listed: bool) -> None:
    data = transactions([frozenset("x")] * empty + [frozenset("ax")] * 5)
    suppressed = Recoding.from_groups(Vocabulary("ax"), np.array([0, -1]))
    counts = publish(data, suppressed, 0, None, 3).counts
    assert counts is not None
    assert counts.suppressed == listed
    assert counts.lines() == [("a", "a", 5), *([("x", "", empty + 5)] if listed else [])]


def test_enough_empty_rows_are_candidates_themselves() -> None:
    """Check two empty rows that contain a suppressed item, which the others may contain as well."""
    release = Release(
        rows(",,a,a"), members(a="a"), frozenset("xy"), {("x", ""): 2, ("a", "a"): 2}, 2, none_was_empty=True
    )
    assert fitting(release, "x") == [7, 7, 2, 2]
    assert fitting(release, "y") == [3, 3, 1, 1]


# --- row lengths that are known


def test_a_known_greatest_length_excludes_rows() -> None:
    """Check originals `a c`, `a b` and `c`, where L represents a and b, and rows have at most two items."""
    release = Release(rows("L c,L,c"), members(L="a b", c="c"), lines={("a", "L"): 2, ("c", "c"): 2}, least=2)

    def short(world: World) -> bool:
        return all(len(content) <= 2 for content in world)

    assert fitting(release, "b") == [1, 1, 0]
    assert fitting(release, "b", where=short) == [0, 1, 0]
    assert fitting(replace(release, lines=None), "b", where=short) == [3, 4, 0]


# --- items known to be absent from a row


def test_items_in_all_rows_of_their_label_make_absences_tell() -> None:
    """Check that, for a person with c but without a, rows with L are excluded, as both contain a."""
    release = Release(
        rows("L M,L M,M,M"), members(L="a b", M="c d"),
        lines={("a", "L"): 2, ("c", "M"): 4, ("d", "M"): 2}, least=2,
    )  # fmt: skip

    def without_a(known: Release) -> list[int]:
        worlds = [[naive.items_of(content) for content in world] for world in naive.worlds(known)]
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
    """Check six rows that cover a1 and b1: as a1 is in seven, all rows that show it, three of them remain."""
    assert sum(map(bool, fitting(COVERED, "a1 b1"))) == 6
    assert sum(map(bool, fitting(COVERED, "a1 b1", where=lambda world: support(world, "a1") == 7))) == 3


def test_so_each_label_is_counted_by_itself() -> None:
    """The three rows with A remain as likely as each other, and so do those with a1."""
    lines = {("a1", "a1"): 7, ("b1", "b1"): 6, ("b2", "b2"): 4}
    for release, of_the_broad in ((replace(COVERED, lines=lines, least=3), 7), (COVERED, 18)):
        found = fitting(release, "a1 b1")
        assert found[6:] == [0] * 4
        assert len(set(found[:3])) == len(set(found[3:6])) == 1
        assert found[3] == of_the_broad


# --- several releases of the same people, and items that are known to be others' secrets


def test_two_releases_of_the_same_people_differ_by_what_was_added() -> None:
    """Check four rows; one of them shows L a month later, but nothing before."""
    before = Release(
        rows("L c,L c,L,c"), members(L="a b", c="c"), lines={("a", "L"): 2, ("c", "c"): 3}, least=2
    )
    after = Release(
        rows("L c,L c,L,L c"), members(L="a b", c="c"), lines={("a", "L"): 3, ("c", "c"): 3}, least=2
    )
    assert [bool(n) for n in fitting(after, "b")] == [True] * 4

    def added(old: Release, new: Release) -> list[Row]:
        """Return the possible new items of the last row, with the others unchanged."""
        return [
            naive.items_of(now[3] - was[3])
            for was in naive.worlds(old)
            for now in naive.worlds(new)
            if was[:3] == now[:3] and was[3] <= now[3]
        ]

    assert all("a" in items for items in added(before, after))
    assert {"b"} in added(replace(before, lines=None), replace(after, lines=None))


def test_counts_of_sensitive_items_would_raise_what_can_be_inferred() -> None:
    """Check four rows with a, two of them with s; one s was hidden, so that one row of four shows s."""
    release = Release(rows("a s,a,a,a"), members(a="a", s="s"), frozenset("s"))

    worlds = [world for world in naive.worlds(release) if support(world, "s") == 2]
    shown = Fraction(sum("s" in row for row in release.rows), 4)
    assert shown == Fraction(1, 4)
    assert Fraction(sum(support(world, "s") for world in worlds), 4 * len(worlds)) == Fraction(1, 2)
