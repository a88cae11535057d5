"""Itemsets with the greatest estimates, and rules, against estimating all itemsets."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from naive.km import item_order
from releases import estimator_of, exact, random_release
from setveil.judges.utility import _pair_counts
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.greatest import found_again, greatest_itemsets, most_frequent_pairs, rules_of
from setveil.releases.published.shared import Shared
from setveil.rows.data.layout import Layout
from strategies import Rows, examples, many, random_rows, transactions

seeds = st.integers(0, 2**32 - 1)


def by_hand(estimator: Estimator, longest: int) -> list[tuple[str, ...]]:
    """All itemsets of two items or more that are expected somewhere, the greatest estimates first."""
    items = item_order(estimator.items)
    found = [
        (-estimate, size, itemset)
        for size in range(2, longest + 1)
        for itemset in combinations(range(len(items)), size)
        if (estimate := estimator.estimate([items[i] for i in itemset])) > 0
    ]
    return [tuple(items[i] for i in itemset) for _, _, itemset in sorted(found)]


@settings(max_examples=examples(150, 30), deadline=None)
@given(seeds, st.integers(1, 30), st.integers(2, 4) | st.none())
def test_greatest_itemsets(seed: int, number: int, longest: int | None) -> None:
    _, published = random_release(Random(seed), most_rows=15, most_items=6)
    assume(not published.local)
    estimator = estimator_of(published)
    found = greatest_itemsets(estimator, number, longest)
    every = by_hand(estimator, longest or 6)
    assert len({answer.itemset for answer in found}) == len(found) == min(number, len(every))
    assert {answer.itemset for answer in found} <= set(every)
    # Which of equal ones are found depends on their last bits.
    expected = [estimator.estimate(itemset) for itemset in every[:number]]
    assert [answer.estimate for answer in found] == pytest.approx(expected, rel=1e-12)
    assert found == [estimator.answer(answer.itemset) for answer in found]


def test_the_same_whether_rows_show_few_pairs_or_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that only the pairs of the rows are listed if they are few."""
    drawn, listed = Random(53), 0
    for _ in range(many(120)):
        original, published = random_release(drawn, most_rows=15, most_items=6)
        data = transactions([frozenset(row) for row in original])
        number = drawn.randint(1, 30)
        found = []
        for sparse in (1, 10**9):
            monkeypatch.setattr(_pair_counts, "SPARSE", sparse)
            estimator = estimator_of(published)
            listed += estimator.kinds_beside() is not None
            pairs = most_frequent_pairs(data, number)
            found.append(
                (pairs, greatest_itemsets(estimator, number, 3), found_again(data, estimator, number))
            )
        few, all_pairs = found
        assert few == all_pairs
    assert listed > many(20)


def test_items_that_are_all_alike_are_no_reason_to_look_at_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of a thousand items, and no counts: half a million pairs are equally likely."""
    n_queries = 0
    answers_at = Estimator.answers_at

    def counted(self: Estimator, indptr: Any, places: Any) -> Any:
        nonlocal n_queries
        n_queries += len(indptr) - 1
        return answers_at(self, indptr, places)

    monkeypatch.setattr(Estimator, "answers_at", counted)
    members = {label: tuple(f"{label}{i:03}" for i in range(1000)) for label in "AB"}
    rows = transactions([frozenset("AB")] * 5 + [frozenset("A")])
    estimator = Estimator(Shared(rows, members, None, {}, Layout("basket")))
    found = greatest_itemsets(estimator, 20, 3)
    assert [answer.itemset for answer in found] == [("A000", f"A{i:03}") for i in range(1, 21)]
    assert n_queries < 10_000


def test_none_where_no_items_are_together() -> None:
    assert greatest_itemsets(exact(transactions([frozenset("a"), frozenset("b")])), 5) == []
    assert greatest_itemsets(exact(transactions([frozenset()])), 5) == []


@settings(max_examples=examples(100, 30))
@given(seeds)
def test_itemsets_that_are_published_as_they_are_have_exact_answers(seed: int) -> None:
    rows = random_rows(Random(seed), list("abcdef"), 20, 4)
    counted = exact(transactions(rows))
    for size in (1, 2, 3):
        for itemset in combinations("abcdef", size):
            support = sum(set(itemset) <= row for row in rows)
            if all(any(item in row for row in rows) for item in itemset):
                assert counted.estimate(itemset) == support
                assert counted.bounds(itemset) == (support, support)


def test_rules() -> None:
    rows: Rows = [frozenset(row) for row in ("abc", "ab", "ab", "a", "c", "")]
    found = rules_of(exact(transactions(rows)), [("a", "b"), ("a", "b", "c")])
    rules: list[object] = [(one.antecedent, one.then, one.support, one.confidence, one.lift) for one in found]
    assert rules == [
        (("b",), "a", 3, 1, pytest.approx(1 / (4 / 6))),
        (("b", "c"), "a", 1, 1, pytest.approx(1 / (4 / 6))),
        (("a", "c"), "b", 1, 1, pytest.approx(1 / (3 / 6))),
        (("a",), "b", 3, 3 / 4, pytest.approx(3 / 4 / (3 / 6))),
        (("a", "b"), "c", 1, pytest.approx(1 / 3), pytest.approx(1 / 3 / (2 / 6))),
    ]
    assert found[0].as_dict() == {
        "given": ["b"], "then": "a", "support": 3, "confidence": 1, "lift": pytest.approx(1.5)
    }  # fmt: skip


def test_rules_leave_out_what_is_expected_nowhere() -> None:
    assert rules_of(exact(transactions([frozenset("ab")])), [("a", "z")]) == []


@settings(max_examples=examples(150, 30), deadline=None)
@given(seeds, st.integers(1, 30))
def test_most_frequent_pairs(seed: int, number: int) -> None:
    drawn = Random(seed)
    rows = random_rows(drawn, [str(item) for item in range(drawn.randint(1, 12))], 25, 5)
    items = item_order({item for row in rows for item in row})
    together = [
        (-sum({items[i], items[j]} <= row for row in rows), i, j)
        for i, j in combinations(range(len(items)), 2)
    ]
    expected = [((items[i], items[j]), -less) for less, i, j in sorted(together)[:number] if less]
    data = transactions(rows)
    assert most_frequent_pairs(data, number) == expected
    # They are what readers expect from the rows.
    found = greatest_itemsets(exact(data), number, 2)
    assert [(answer.itemset, answer.estimate) for answer in found] == expected


def test_pairs_are_found_again() -> None:
    rows: Rows = [frozenset(row) for row in ("ab", "ab", "ac", "bc", "ab")]
    same = transactions(rows)
    assert found_again(same, exact(same), 2) == {"number": 2, "found": 2, "error": 0, "confidence": 0}
    # Of the three pairs the release has only one, in two of its three rows.
    other = exact(transactions([frozenset("bc"), frozenset("bc"), frozenset("a")]))
    assert found_again(same, other, 1) == {
        "number": 1, "found": 0, "error": 1, "confidence": pytest.approx((3 / 4 + 3 / 4) / 2)
    }  # fmt: skip
    nothing = transactions([frozenset("a")])
    assert found_again(nothing, exact(nothing), 5) == {
        "number": 0, "found": 0, "error": None, "confidence": None
    }  # fmt: skip
