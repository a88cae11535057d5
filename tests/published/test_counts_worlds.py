"""The effect of counts on a guarantee: the originals that could have led to the same release."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from naive import worlds as naive
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import publish
from setveil.rows.data.vocabulary import Vocabulary
from strategies import Case, examples, random_rows, random_tree, transactions

Row = frozenset[str]
rngs = st.randoms(use_true_random=False)


def tiny_case(rng: Random) -> Case:
    """Draw a feasible case whose worlds can be counted."""
    leaves = rng.sample("abcdef", rng.choice((3, 4, 4, 5, 5)))
    occurring = leaves[: rng.choice((3, 4, 5))]
    rows = random_rows(rng, occurring, rng.choice((3, 4, 5, 6, 6, 7)), rng.choice((2, 3, 4)))
    if rng.random() < 0.5:
        rows = [row or frozenset(leaves[:1]) for row in rows]
    if (filled := sum(map(bool, rows))) < 2:
        rows = [frozenset(leaves[:2]), *rows[1:-1], frozenset(leaves[1:])]
        filled = sum(map(bool, rows))
    k = rng.choice((2, 2, min(3, filled)))
    return Case(rows, random_tree(rng, leaves), k, rng.choice((1, 2, 2, 3, math.inf)))


def small_sets(rows: Collection[Row], m: float) -> list[Row]:
    """List all sets of up to m items of a row."""
    found = {
        frozenset(some)
        for row in rows
        for size in range(1, int(min(m, len(row))) + 1)
        for some in combinations(row, size)
    }
    return sorted(found, key=sorted)


def known(release: Any, *, none_was_empty: bool = False) -> naive.Release:
    """Return the knowledge of a recipient who also knows what every item can become."""
    recoding, counts = release.recoding, release.counts
    shown = release.published.vocabulary.labels
    members = {label: frozenset(items) for label, items in recoding.members().items() if label in shown}
    behind = frozenset(recoding.items.labels) if recoding.uniform else frozenset()
    return naive.Release(
        [frozenset(row) for row in release.published.rows()],
        members,
        behind.difference(*recoding.members().values()),
        {(item, label): rows for item, label, rows in counts.lines()},
        counts.least,
        counts.suppressed,
        none_was_empty,
    )


def check_exchange(
    counts: naive.Release,
    image: Mapping[str, str | None],
    sets: Collection[Row],
    k: int,
    *,
    promised: bool = True,
) -> None:
    """Check that known items fit at least k rows equally well, if at least k rows show their labels.

    `promised`: at least k rows show them. If it is known that no original row was empty, rows that are
    published empty are compared among themselves.
    """
    held = naive.holding(counts)
    total = naive.number(counts)
    assert total > 0
    assert all(sum(row.values()) == total for row in held)
    for items in sets:
        labels = {label for item in items if (label := image[item]) is not None}
        found = naive.fitting(held, items)
        shows = sum(labels <= row for row in counts.rows)
        assert shows >= k or not promised
        assert sum(map(bool, found)) >= min(k, shows), (items, found)
        alike: dict[bool, set[int]] = {}
        for n, row in zip(found, counts.rows, strict=True):
            if labels <= row:
                alike.setdefault(counts.none_was_empty and not row, set()).add(n)
            else:
                assert n == 0, (items, found)
        assert all(len(numbers) == 1 for numbers in alike.values()), (items, found)


# --- the theorem, on releases that algorithms made

RUNS: dict[str, dict[str, Any]] = {
    "exact": {"algorithm": "exact"},
    "exact, nothing left out": {"algorithm": "exact", "suppress": False},
    "aa": {"algorithm": "aa"},
    "hghs": {"algorithm": "hghs"},
    "coat": {"algorithm": "coat"},
    "coat, items only left out": {"algorithm": "coat", "max_suppressed_items": 1, "utility": []},
}


def made(case: Case, run: Mapping[str, Any], **more: Any) -> sv.VerifiedRelease:
    """Run an algorithm on a case."""
    if run["algorithm"] != "coat":
        return sv.anonymize(case.data, case.guarantee, hierarchy=case.tree, **run, **more)
    guarantee = sv.PrivacyConstraints(case.k, m=int(min(case.m, 9)))
    alone = {"utility": [[item] for item in case.data.vocabulary.labels]} if "utility" in run else {}
    return sv.anonymize(case.data, guarantee, **{**run, **alone}, **more)


@pytest.mark.parametrize("name", RUNS)
@settings(max_examples=examples(60, 10))
@given(rng=rngs, more=st.integers(0, 1))
def test_rows_that_fit_are_equally_likely_and_k_or_more(name: str, rng: Random, more: int) -> None:
    case = tiny_case(rng)
    release = made(case, RUNS[name], counts=case.k + more)
    image = release.release.image()
    for none_was_empty in {False, all(case.rows)}:
        knowledge = known(release, none_was_empty=none_was_empty)
        check_exchange(knowledge, image, small_sets(case.rows, case.m), case.k)


@settings(max_examples=examples(60, 10))
@given(rng=rngs)
def test_protected_sets_keep_k_rows_that_fit(rng: Random) -> None:
    case = tiny_case(rng)
    items = case.data.vocabulary.labels
    protected = [
        rng.sample(items, min(len(items), rng.choice((1, 2, 3)))) for _ in range(rng.choice((1, 2, 4)))
    ]
    guarantee = sv.PrivacyConstraints(case.k, protected)
    release = sv.anonymize(case.data, guarantee, max_suppressed_items=rng.choice((0, 1)))
    sets = small_sets([row & frozenset(p) for row in case.rows for p in protected], 3)
    for none_was_empty in {False, all(case.rows)}:
        knowledge = known(release, none_was_empty=none_was_empty)
        check_exchange(knowledge, release.release.image(), sets, case.k)


@settings(max_examples=examples(100, 20))
@given(rng=rngs)
def test_local_recodings_keep_k_rows_that_are_published_alike(rng: Random) -> None:
    """Rows in which known items became the same labels are equally likely; in its own class are k or more."""
    case = tiny_case(rng)
    empty = sum(not row for row in case.rows)
    if 0 < empty < case.k:
        case = Case([row for row in case.rows if row], case.parents, 2, case.m)
    release = sv.anonymize(case.data, sv.TransactionalKAnonymity(case.k), hierarchy=case.tree)
    knowledge = known(release)
    held = naive.holding(knowledge)
    assert naive.number(knowledge) > 0
    for items in small_sets(case.rows, math.inf):
        # In how many worlds a row held the items under which labels.
        by_labels: dict[frozenset[tuple[str, str]], list[int]] = {}
        for row, ways in zip(knowledge.rows, held, strict=True):
            here: Counter[frozenset[tuple[str, str]]] = Counter()
            for content, n in ways.items():
                if items <= naive.items_of(content):
                    here[frozenset(pair for pair in content if pair[0] in items)] += n
            for pairs, n in here.items():
                assert {label for _, label in pairs} <= row
                by_labels.setdefault(pairs, []).append(n)
        for pairs, found in by_labels.items():
            shows = sum({label for _, label in pairs} <= row for row in knowledge.rows)
            assert len(set(found)) == 1, (items, found)
            assert len(found) == shows
            assert not found[0] or shows >= case.k
        own = [
            release.published.rows()[release.row_map[i]] for i, row in enumerate(case.rows) if items <= row
        ]
        fit = {row for row, n in zip(knowledge.rows, naive.fitting(held, items), strict=True) if n}
        assert all(frozenset(labels) in fit for labels in own)


# --- the theorem, whatever items become


def random_release(rng: Random, least: int) -> tuple[list[Row], Any, dict[str, str | None]]:
    """Draw rows, and publish them under labels that nothing was computed for."""
    rows = random_rows(rng, "abcde"[: rng.choice((3, 4, 5))], rng.choice((3, 4, 5, 6)), rng.choice((2, 3)))
    items = Vocabulary("abcde")
    to = Recoding.from_groups(items, np.array([rng.choice((-1, 0, 0, 1, 2)) for _ in items.labels]))
    release = publish(transactions(rows), to, 0, None, least)
    return rows, release, dict(release.image())


@settings(max_examples=examples(150, 20))
@given(rng=rngs, least=st.integers(2, 4))
def test_rows_are_exchangeable_under_any_map_of_items(rng: Random, least: int) -> None:
    rows, release, image = random_release(rng, least)
    for none_was_empty in {False, all(rows)}:
        knowledge = known(release, none_was_empty=none_was_empty)
        check_exchange(knowledge, image, small_sets(rows, math.inf), least, promised=False)


@settings(max_examples=examples(100, 20))
@given(rng=rngs)
def test_all_that_a_row_held_under_some_labels_may_be_known(rng: Random) -> None:
    """Absences under these labels included."""
    rows, release, image = random_release(rng, 2)
    knowledge = known(release)
    held = naive.holding(knowledge)
    for row in rows:
        under: dict[str, Row] = {}
        for item in row:
            if (label := image[item]) is not None:
                under[label] = under.get(label, frozenset()) | {item}
        for some in small_sets([frozenset(under)], 3):
            content = frozenset((item, label) for label in some for item in under[label])
            found = [
                sum(n for c, n in ways.items() if {p for p in c if p[1] in some} == content) for ways in held
            ]
            shows = [some <= labels for labels in knowledge.rows]
            assert len({n for n, here in zip(found, shows, strict=True) if here}) == 1
            assert all(bool(n) == here for n, here in zip(found, shows, strict=True))


@settings(max_examples=examples(100, 20))
@given(rng=rngs)
def test_a_row_holds_an_item_as_often_as_rows_with_its_label_do(rng: Random) -> None:
    """Check the information in counts: of S rows with a label, s contain the item."""
    _, release, _ = random_release(rng, 2)
    knowledge = known(release)
    total, held = naive.number(knowledge), naive.holding(knowledge)
    for item, label, rows in release.counts.lines():
        for row, n in zip(knowledge.rows, naive.fitting(held, frozenset({item})), strict=True):
            shows = [label in other for other in knowledge.rows] if label else [True] * len(knowledge.rows)
            if not label or label in row:
                assert Fraction(n, total) == Fraction(rows, sum(shows))
            else:
                assert n == 0
        assert naive.bounds(knowledge, frozenset({item})) == (rows, rows)


# --- the twin itself

EXAMPLE = naive.Release(
    [frozenset(row.split()) for row in ("A b1", "A b1", "A b2", "A b1", "A b2", "A", "A b1", "b2")],
    {"A": frozenset(("a1", "a2", "a3")), "b1": frozenset({"b1"}), "b2": frozenset({"b2"})},
    frozenset("z"),
    {("a1", "A"): 5, ("a2", "A"): 3, ("b1", "b1"): 4, ("b2", "b2"): 3, ("z", ""): 2},
    2,
)


def test_worked_example() -> None:
    assert naive.number(naive.Release(EXAMPLE.rows, EXAMPLE.members, EXAMPLE.suppressed)) == 210_827_008
    assert naive.number(EXAMPLE) == 35_280
    bounds = {
        "a1": (5, 5), "a1 b1": (2, 4), "a1 a2": (1, 2), "a1 z": (0, 2), "a1 a2 b1": (0, 2), "a3": (0, 1),
    }  # fmt: skip
    for query, expected in bounds.items():
        assert naive.bounds(EXAMPLE, frozenset(query.split())) == expected, query
    assert naive.mean(EXAMPLE, frozenset(("a1", "b1"))) == Fraction(20, 7)
    assert naive.mean(EXAMPLE, frozenset(("a1", "z"))) == Fraction(5, 4)
    held = naive.holding(EXAMPLE)
    fitting = naive.fitting(held, frozenset(("a1", "b1")))
    assert [bool(n) for n in fitting] == [row >= {"A", "b1"} for row in EXAMPLE.rows]
    assert len(set(fitting)) == 2


def test_worked_example_as_it_is_published() -> None:
    rows = ["a1 b1", "a1 b1", "a1 a2 b2", "a2 b1", "a1 b2 z", "a1 a2", "a3 b1", "b2 z"]
    tree = sv.Hierarchy.from_paths(
        [*([f"a{i}", "A", "*"] for i in (1, 2, 3)), *([x, "*"] for x in ("b1", "b2", "z"))]
    )
    release = sv.anonymize([row.split() for row in rows], sv.KmAnonymity(k=2, m=2), hierarchy=tree)
    knowledge = known(release)
    assert Counter(knowledge.rows) == Counter(EXAMPLE.rows)
    assert (knowledge.members, knowledge.suppressed, knowledge.lines) == (
        EXAMPLE.members,
        EXAMPLE.suppressed,
        EXAMPLE.lines,
    )
    assert (knowledge.least, knowledge.lists_suppressed) == (2, True)


@settings(max_examples=examples(60, 20))
@given(rng=rngs, none_was_empty=st.booleans())
def test_counting_worlds_is_enumerating_them(rng: Random, none_was_empty: bool) -> None:
    rows, release, _ = random_release(rng, 2)
    knowledge = known(release, none_was_empty=none_was_empty and all(rows))
    if math.prod(len(naive.contents(knowledge, row)) for row in knowledge.rows) > 3_000:
        return
    worlds = list(naive.worlds(knowledge))
    assert len(worlds) == naive.number(knowledge)
    assert naive.holding(knowledge) == [
        Counter(world[q] for world in worlds) for q in range(len(knowledge.rows))
    ]
    query = frozenset(rng.sample("abcde", 2))
    answers = Counter(sum(query <= naive.items_of(c) for c in world) for world in worlds)
    assert naive.answers(knowledge, query) == answers
