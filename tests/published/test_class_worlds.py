"""Rows in classes: whether anyone can determine the original among all rows that give the same release."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest

from class_releases import drawn, drawn_rows, published, table_of
from naive import classes as naive
from naive.km import is_km
from setveil.kernels.rows import frozen
from strategies import examples

Row = frozenset[str]
RELEASES = examples(1000, 120)


def rows(text: str) -> list[Row]:
    return [frozenset(row.split()) for row in text.split(",")]


def example() -> naive.Release:
    """The worked example of the specification."""
    named = {"a1": "a1", "a2": "a2", "a3": "a3", "b1": "b1", "b2": "b2", "z": None}
    broad = named | {"a1": "A", "a2": "A", "a3": "A"}
    first = rows("a1 b1, a1 b1, a1 a2, a1 a2, a1 z")
    second = rows("a2 b2, a3 b2, a3 b2, a2 a3, a2 a3 b2 z, a2 b2")
    return published([first, second], [named, broad], 2)


def ask(release: naive.Release, *queries: Iterable[str]) -> list[tuple[float, int, int]]:
    table = table_of(release)
    ids = [sorted(table.number_of(item) for item in query) for query in queries]
    ends = np.cumsum([0, *map(len, ids)])
    numbers = np.array([i for query in ids for i in query], np.int64)
    found = table.answers_at(frozen(ends, np.int64), numbers)
    return list(zip(*(part.tolist() for part in found), strict=True))


def test_example() -> None:
    release = example()
    assert release.lines == {
        (0, "a1"): 5, (0, "a2"): 2, (0, "b1"): 2, (1, "a2"): 4, (1, "a3"): 4, (1, "b2"): 5,
    }  # fmt: skip
    assert release.totals == {"a1": 5, "a2": 6, "a3": 4, "b1": 2, "b2": 5, "z": 2}
    assert naive.holds(release, 2, 2)
    first, second, third = ask(release, ["a2", "b2"], ["a2", "a3"], ["a2", "z"])
    assert [first[0], second[0], third[0]] == [pytest.approx(n) for n in (10 / 3, 2, 16 / 15)]
    assert [first[1:], second[1:], third[1:]] == [(3, 4), (2, 2), (0, 2)]
    assert [naive.estimate(release, query.split()) for query in ("a2 b2", "a2 a3", "a2 z")] == [
        pytest.approx(10 / 3), pytest.approx(2), pytest.approx(16 / 15),
    ]  # fmt: skip


def queries_of(release: naive.Release) -> list[tuple[str, ...]]:
    items = [*release.items]
    return [some for size in (1, 2, 3) for some in combinations(items, size)]


def test_estimates_and_bounds_are_those_of_the_definition() -> None:
    rng = Random(1)
    for _ in range(RELEASES):
        release = replace(drawn(rng), unlisted=rng.choice((0, 0, 1)))
        queries = queries_of(release)
        for query, (estimate, least, greatest) in zip(queries, ask(release, *queries), strict=True):
            assert (least, greatest) == naive.bounds(release, query), (release, query)
            assert estimate == pytest.approx(naive.estimate(release, query), abs=1e-9), (release, query)


@pytest.mark.exhaustive
def test_no_world_lies_outside_the_bounds() -> None:
    rng = Random(2)
    for _ in range(RELEASES):
        release = drawn(rng)
        worlds = naive.Worlds(release)
        queries = queries_of(release)
        for query, (_, least, greatest) in zip(queries, ask(release, *queries), strict=True):
            low, high = worlds.counts(frozenset(query))
            assert least <= low <= high <= greatest, (release, query)


def test_estimates_do_not_grow_with_their_query() -> None:
    rng = Random(3)
    for _ in range(RELEASES):
        release = drawn(rng)
        queries = queries_of(release)
        found = {frozenset(q): e for q, (e, _, _) in zip(queries, ask(release, *queries), strict=True)}
        for query, estimate in found.items():
            for item in query:
                less = found.get(query - {item})
                assert less is None or len(query) < 3 or estimate <= less + 1e-9


def known_sets(original: list[list[Row]], m: int) -> set[tuple[int, int, Row]]:
    return {
        (c, q, frozenset(some))
        for c, part in enumerate(original)
        for q, row in enumerate(part)
        for size in range(1, m + 1)
        for some in combinations(sorted(row), size)
    }


def check_exchange(release: naive.Release, original: list[list[Row]], *, m: int = 2) -> int:
    """Check that at least k rows of a class fit the known items, and all are equally likely."""
    worlds = naive.Worlds(release)
    checked = 0
    for c, part in enumerate(release.rows):
        for some in {known for at, _, known in known_sets(original, m) if at == c}:
            labels = {label for item in some if (label := release.images[c][item]) is not None}
            found = [worlds.holding(c, q, some) for q in range(len(part))]
            alike: dict[bool, set[int]] = {}
            for n, row in zip(found, part, strict=True):
                if labels <= row:
                    alike.setdefault(release.none_was_empty and not row, set()).add(n)
                else:
                    assert n == 0
            assert all(len(numbers) == 1 for numbers in alike.values()), (release, some, found)
            assert sum(map(bool, found)) >= release.least, (release, some, found)
            checked += 1
    return checked


@pytest.mark.exhaustive
def test_exchange_theorem() -> None:
    rng, checked = Random(4), 0
    for _ in range(RELEASES):
        original, images = drawn_rows(rng)
        checked += check_exchange(published(original, images, 2), original)
    assert checked > RELEASES


def candidates(release: naive.Release, number: int, some: Row) -> int:
    worlds = naive.Worlds(release)
    return sum(worlds.holding(number, q, some) > 0 for q in range(len(release.rows[number])))


@pytest.mark.exhaustive
def test_rows_known_not_to_be_empty_keep_k_candidates() -> None:
    rng = Random(5)
    for _ in range(RELEASES):
        original, images = drawn_rows(rng, filled=True)
        release = published(original, images, 2, none_was_empty=True)
        for c, part in enumerate(original):
            for some in {known for at, _, known in known_sets(original, 2) if at == c}:
                hidden = all(images[c][item] is None for item in some)
                if not hidden or release.countable[c]:
                    assert candidates(release, c, some) >= min(2, len(part)), (release, c, some)


def test_a_total_beside_one_empty_row_would_give_somebody_away() -> None:
    original = [rows("x,a,a"), rows("x,x")]
    images: list[naive.Image] = [{"x": None, "a": "a"}, {"x": "x", "a": "a"}]
    safe = published(original, images, 2, none_was_empty=True)
    assert "x" not in safe.totals
    assert safe.lines == {(0, "a"): 2, (1, "x"): 2}
    assert candidates(safe, 0, frozenset("x")) >= 2
    unsafe = published(original, images, 2, none_was_empty=True, rule=False)
    assert unsafe.totals["x"] == 3
    worlds = naive.Worlds(unsafe, rule=False)
    assert [worlds.holding(0, q, frozenset("x")) > 0 for q in range(3)].count(True) == 1


def test_a_small_rest_would_follow_from_a_total() -> None:
    original = [rows("x,x,x"), rows("x,x"), rows("x y,y")]
    image: naive.Image = {"x": "x", "y": "y"}
    last: naive.Image = {"x": None, "y": "y"}
    release = published(original, [image, image, last], 2)
    assert "x" not in release.totals  # 6 less 3 less 2 is 1
    assert published(original, [image, image, last], 2, rule=False).totals["x"] == 6


def uneven(member: Callable[[Row], bool], seed: int, number: int) -> int:
    """Count known sets that make rows unequally likely, if the items of the rows of the class are known."""
    rng, found, checked = Random(seed), 0, 0
    while checked < number:
        original, images = drawn_rows(rng, classes=1)
        part = [row for row in original[0] if member(row)]
        if len(part) < 2 or not is_km(naive.recoded(part, images[0]), 2, 2):
            continue
        checked += 1
        release = replace(published([part], images, 2), member=member)
        worlds = naive.Worlds(release)
        for _, _, some in known_sets([part], 2):
            labels = {label for item in some if (label := images[0][item]) is not None}
            fits = [q for q, row in enumerate(release.rows[0]) if labels <= row]
            found += len({worlds.holding(0, q, some) for q in fits}) > 1
    return found


def test_who_knows_what_a_class_was_cut_on_learns_nothing_more() -> None:
    number = examples(200, 40)
    assert uneven(lambda row: "a" in row, 6, number) == 0
    assert uneven(lambda row: "a" not in row, 7, number) == 0
    assert uneven(lambda row: "a" in row and "b" not in row, 8, number) == 0


def test_pieces_joined_in_one_class_would_make_rows_uneven() -> None:
    assert uneven(lambda row: "a" in row or ("a" not in row and "c" in row), 9, examples(200, 100)) > 0


def test_a_class_cut_on_a_label_would_make_rows_uneven() -> None:
    assert uneven(lambda row: bool({"a", "b"} & row), 10, examples(200, 100)) > 0
