"""Estimates against subsets listed one by one, bounds against all worlds of tiny releases."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from naive import estimates as naive
from releases import estimator_of, random_release
from setveil.base.errors import DataError, RequestError
from setveil.judges.utility import estimates
from setveil.judges.utility.are import query_errors
from setveil.judges.utility.estimates import MAXIMUM_ENTROPY, UNIFORM, Estimator, ItemsetEstimate
from setveil.kernels.label_chances import label_chances
from setveil.kernels.rows import frozen
from setveil.releases.published.counts import Counts
from setveil.releases.published.shared import Shared
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from strategies import examples, transactions

ROWS = ["A b1", "A b1", "A b2", "A b1", "A b2", "A", "A b1", "b2"]
MEMBERS = {"A": ("a1", "a2", "a3")}
LINES = [("a1", "A", 5), ("a2", "A", 3), ("b1", "b1", 4), ("b2", "b2", 3), ("z", "", 2)]


def example(*, counts: bool = True, unlisted: int = 0) -> Estimator:
    listed = Counts.from_lines(LINES, 2, suppressed=True) if counts else None
    rows = Transactions.from_rows(row.split() for row in ROWS)
    return Estimator(Shared(rows, MEMBERS, listed, {}, Layout("basket")), unlisted=unlisted)


@pytest.mark.parametrize(
    ("query", "uniform", "entropy", "bounds"),
    [
        ("a1", 4, 5, (5, 5)),
        ("a1 b1", 16 / 7, 20 / 7, (2, 4)),
        ("a1 a2", 2, 1, (1, 2)),
        ("a1 z", 0, 5 / 4, (0, 2)),
        ("a1 a2 b1", 8 / 7, 4 / 7, (0, 2)),
        ("a3", 4, 0, (0, 1)),
    ],
)
def test_worked_example(query: str, uniform: float, entropy: float, bounds: tuple[int, int]) -> None:
    assert example(counts=False).estimate(query.split()) == pytest.approx(uniform, rel=1e-14)
    answer = example().answer(query.split())
    assert answer.estimate == pytest.approx(entropy, rel=1e-14)
    assert (answer.least, answer.greatest) == bounds == example().bounds(query.split())


def test_the_kind_of_estimate_is_reported() -> None:
    assert (example().method, example(counts=False).method) == (MAXIMUM_ENTROPY, UNIFORM)


def test_items_without_a_count_may_be_thought_to_occur() -> None:
    assert example().estimate(["a3"]) == 0
    assert example(unlisted=1).estimate(["a3"]) == 1
    assert example(unlisted=7).estimate(["a3"]) == 1  # two rows would be listed
    assert example(unlisted=1).estimate(["unheard-of"]) == 1
    with pytest.raises(RequestError, match="0 rows or more, got -1"):
        example(unlisted=-1)


def test_labels_may_be_queried() -> None:
    found = example()
    assert found.labels == ("A",)
    assert found.answer(["A"]) == ItemsetEstimate(("A",), 7.0, 7, 7)
    assert found.answer(["A", "b1"]) == ItemsetEstimate(("A", "b1"), 4.0, 4, 4)
    assert found.estimate(["A", "a1", "b1"]) == found.estimate(["a1", "b1"])
    assert found.bounds(["A", "a1", "a2"]) == found.bounds(["a1", "a2"])


def test_names_of_items() -> None:
    found = example()
    assert set(found.items) == {"a1", "a2", "a3", "b1", "b2", "z"}
    assert "z" in found
    assert "A" in found
    assert "A" not in found.items
    assert "unheard-of" not in found


def test_a_query_without_items_is_refused() -> None:
    with pytest.raises(RequestError, match="no item"):
        example().answers([["a1"], []])


def test_unknown_names_are_different_items() -> None:
    assert example(unlisted=1).estimate(["p", "q"]) == pytest.approx(8 * (1 / 8) ** 2)
    assert example(unlisted=1).estimate(["p", "p"]) == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([("a1", "A", 8)], "'a1' is counted in 8, but 'A' is shown by 7 rows"),
        ([("c", "A", 3)], "'c' is counted under 'A', which does not represent it"),
        ([("a1", "A", 3)], "'A' is shown by 7 rows, more than its items can be in"),
        ([("a1", "A", 7), ("z", "", 9)], "'z' is counted in 9, but there are 8 rows"),
    ],
)
def test_counts_that_contradict_the_rows_are_refused(lines: list[tuple[str, str, int]], message: str) -> None:
    rows = Transactions.from_rows([*([["A"]] * 7), []])
    counts = Counts.from_lines(lines, 2, suppressed=True)
    with pytest.raises(DataError, match=message):
        Estimator(Shared(rows, MEMBERS, counts, {}, Layout("basket")))


def queries_of(items: list[str], longest: int) -> list[tuple[str, ...]]:
    return [q for size in range(1, longest + 1) for q in combinations(items, size)]


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=examples(100, 20), deadline=None)
@given(seeds)
def test_answers_are_those_of_the_definition(seed: int) -> None:
    world, published = random_release(Random(seed), most_rows=12, most_items=5)
    estimator = estimator_of(published)
    items = sorted({item for row in world for item in row} | {"unheard-of"})
    queries = queries_of(items, 3)
    answers = estimator.answers(queries)
    for j, query in enumerate(queries):
        assert answers.estimate[j] == pytest.approx(naive.estimate(published, query), rel=1e-9, abs=1e-12)
        assert (answers.least[j], answers.greatest[j]) == naive.bounds(published, query)
        assert estimator.answer(query).estimate == answers.estimate[j]


@settings(max_examples=examples(100, 20), deadline=None)
@given(seeds)
def test_many_ways_to_choose_labels_are_looked_through_with_care(seed: int) -> None:
    world, published = random_release(Random(seed), most_rows=12, most_items=5)
    queries = queries_of(sorted({item for row in world for item in row}), 3)
    every = estimator_of(published).answers(queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimates, "_FEW", 0)
        patch.setattr(estimates, "_REMEMBERED", 2)
        some = estimator_of(published).answers(queries)
    assert np.allclose(every.estimate, some.estimate, rtol=1e-12, atol=1e-12)
    assert np.array_equal(every.least, some.least)
    assert np.array_equal(every.greatest, some.greatest)


@settings(max_examples=examples(150, 30), deadline=None)
@given(seeds)
def test_without_counts_estimates_are_those_of_the_measure(seed: int) -> None:
    world, published = random_release(Random(seed), most_rows=12, most_items=6)
    assume(not published.local)
    estimator = estimator_of(replace(published, counts=None))
    original = transactions([frozenset(row) for row in world])
    queries = queries_of(list(original.vocabulary.labels), 3)
    errors = query_errors(original, transactions(published.rows), published.members, queries)
    found = estimator.answers([queries[j] for j in errors.position.tolist()]).estimate
    assert np.allclose(found, errors.estimate, rtol=1e-12, atol=1e-12)


@settings(max_examples=examples(300, 40))
@given(seeds)
def test_the_truth_is_within_the_bounds(seed: int) -> None:
    world, published = random_release(Random(seed), most_rows=15, most_items=7)
    estimator = estimator_of(published)
    for query in queries_of(sorted({item for row in world for item in row}), 4):
        actual = sum(set(query) <= row.keys() for row in world)
        least, greatest = estimator.bounds(query)
        assert least <= actual <= greatest


@settings(max_examples=examples(150, 20), deadline=None)
@given(seeds)
def test_bounds_hold_in_all_worlds_and_are_reached(seed: int) -> None:
    _, published = random_release(Random(seed), most_rows=4, most_items=4)
    found = list(naive.worlds(published))
    assert found
    estimator = estimator_of(published)
    for query in queries_of(list(estimator.items), 3):
        counts = [sum(set(query) <= row.keys() for row in world) for world in found]
        least, greatest = estimator.bounds(query)
        assert least <= min(counts)
        assert max(counts) <= greatest
        listed = published.counts is not None and all(
            any((item, label) in published.counts for label in published.places(item)) for item in query
        )
        if listed and not published.local and len(query) <= 2:
            assert (least, greatest) == (min(counts), max(counts))


@settings(max_examples=examples(300, 60))
@given(seeds)
def test_estimates_never_grow_with_the_query(seed: int) -> None:
    world, published = random_release(Random(seed), most_rows=15, most_items=6)
    assume(not published.local)
    estimator = estimator_of(published)
    for query in queries_of(sorted({item for row in world for item in row}), 4):
        whole = estimator.estimate(query)
        for item in query:
            if len(query) > 1:
                assert whole <= estimator.estimate([x for x in query if x != item]) + 1e-9


def chances(rows: list[int], size: int) -> float:
    out = np.empty(1)
    begin, end = np.zeros(1, np.int64), np.array([len(rows)])
    arrays = [frozen(part, np.int64) for part in (begin, end, [size], [sum(rows) - size])]
    once = frozen(np.ones(len(rows)), np.int64)
    label_chances(*arrays[:2], frozen(rows, np.float64), once, *arrays[2:], out)
    return float(out[0])


@settings(max_examples=examples(300, 60))
@given(
    st.integers(2, 10**9),
    st.lists(st.integers(1, 10**9) | st.integers(1, 5), min_size=2, max_size=8),
    st.integers(1, 3) | st.integers(1, 10**9),
)
def test_the_chance_of_a_label_keeps_its_digits(size: int, rows: list[int], excess: int) -> None:
    rows = [min(n, size - 1) for n in rows]
    # The last item fills up to a chosen excess, which small ones make the root small.
    rest = size + excess - sum(rows)
    rows = [*rows, min(rest, size - 1)] if rest > 0 else rows
    if sum(rows) <= size:
        assert sum(rows) < size or chances(rows, size) == 0
        return
    exact = naive.chance([Fraction(n, size) for n in rows])
    assert abs(Decimal(chances(rows, size)) / exact - 1) < Decimal("1e-12")


def test_chances_that_integers_decide() -> None:
    assert chances([3, 4], 7) == 0
    assert chances([7, 4], 7) == 1
    assert chances([5, 3], 7) == pytest.approx(7 / 15, rel=1e-15)
    assert chances([10**9 - 1, 2], 10**9) < 1


@pytest.mark.parametrize("shares", [[0.5, 0.7], [0.9, 0.05, 0.2], [0.4, 0.4, 0.4, 0.1], [0.25] * 5])
def test_no_distribution_has_more_entropy(shares: list[float]) -> None:
    size = 1000
    rows = [round(share * size) for share in shares]
    q = chances(rows, size)
    found = naive.greatest_entropy(shares)
    assert sum(found.values()) == pytest.approx(1)
    for items in found:
        together = sum(p for inside, p in found.items() if items <= inside)
        product = np.prod([shares[item] for item in items])
        assert q ** (len(items) - 1) * product == pytest.approx(together, rel=1e-9)
