"""The verifier against a few lines that count every subset of every row, and at its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import km as naive
from releases import released
from setveil.base.threads import use_threads
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import km
from setveil.judges.guarantees.verify._tables import is_worth_it
from setveil.judges.guarantees.verify.km import KmVerdict, verify_km
from setveil.methods import algorithms
from setveil.rows.data.transactions import Transactions
from strategies import (
    ALPHABETS,
    COMPILED,
    Case,
    Rows,
    cases,
    examples,
    random_cases,
    random_rows,
    row_lists,
    seeded,
    transactions,
)


def verify(rows: Rows, k: int, m: int | float, show: int = 10) -> KmVerdict:
    return verify_km(transactions(rows), KmAnonymity(k, m), show=show)


def check(rows: Rows, k: int, m: int | float, show: int = 10) -> KmVerdict:
    """Compare every field of the verdict with its twin."""
    verdict = verify(rows, k, m, show)
    order = naive.item_order({label for row in rows for label in row})
    found = naive.violations(rows, k, m, order)
    assert verdict.complete
    assert verdict.holds is (not found)
    assert verdict.violations == len(found)
    assert list(verdict.first) == found[:show]
    assert verdict.greatest_k == naive.greatest_k(rows, m)
    assert verdict.greatest_m == naive.greatest_m(rows, k)
    assert verdict.guarantee == KmAnonymity(k, m)
    return verdict


def labels(n: int) -> list[str]:
    return [str(i) for i in range(n)]


@given(
    rows=row_lists(), k=st.integers(2, 6), m=st.integers(1, 8) | st.just(math.inf), show=st.integers(1, 20)
)
@settings(deadline=None, max_examples=examples(400, 100))
def test_verdict_is_the_twins_by_hypothesis(rows: Rows, k: int, m: int | float, show: int) -> None:
    check(rows, k, m, show)


@pytest.mark.parametrize("show", [1, 3, 10, 10_000])
def test_verdict_is_the_twins(show: int) -> None:
    rng = seeded(60 + show)
    kinds = set()
    for _ in range(examples(700, 300)):
        rows = random_rows(
            rng, rng.choice(ALPHABETS)[: rng.randint(1, 12)], rng.randint(0, 40), rng.randint(1, 7)
        )
        rows *= rng.choice((1, 1, 2, 5))
        verdict = check(rows, rng.randint(2, 6), rng.choice((1, 2, 3, 4, 9, math.inf)), show)
        kinds.add((verdict.holds, verdict.greatest_m == math.inf))
    assert kinds == {(True, True), (True, False), (False, False)}, "a kind of verdict was never seen"


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_verdict_is_the_twins_whatever_is_counted_in_tables(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(80)
    ways = set()

    def chosen_at_random(lengths: object, n_ids: int, size: int) -> bool:
        chosen = rng.random() < 0.5 and size < 4
        ways.add((size, chosen))
        return chosen

    monkeypatch.setattr(km, "is_worth_it", chosen_at_random)
    use_threads(threads)
    for _ in range(examples(400, 100)):
        monkeypatch.setattr(km, "RAREST", rng.choice((0, 1, 20)))
        rows = random_rows(
            rng, rng.choice(ALPHABETS)[: rng.randint(1, 12)], rng.randint(0, 30), rng.randint(1, 7)
        )
        rows *= rng.choice((1, 1, 2, 5))
        check(rows, rng.randint(2, 6), rng.choice((1, 2, 3, 4, math.inf)), rng.choice((0, 1, 10)))
    assert ways >= {(2, True), (2, False), (3, True), (3, False), (4, False)}
    one = np.array([0, 0, 0, 1])
    assert not is_worth_it(one, 3, 4)
    assert is_worth_it(one, 100, 2)
    assert not is_worth_it(one, 1000, 2), "one row of three items does not need half a million cells"


def test_counts_are_right_if_no_violation_is_listed() -> None:
    assert check([frozenset("ab"), frozenset("a"), frozenset("b")], 2, 2, show=0).violations == 1
    rng = seeded(70)
    for _ in range(examples(300, 100)):
        rows = random_rows(rng, ALPHABETS[0], rng.randint(0, 25), 5)
        check(rows, rng.randint(2, 5), rng.choice((1, 2, 3, math.inf)), show=0)


def test_releases_are_judged_as_the_twin_judges_them() -> None:
    for case in random_cases(examples(300, 25), 71, most_rows=40):
        release = released(algorithms.load("aa"), case.data, case.tree, case.guarantee)
        published = [frozenset(row) for row in release.published]
        order = release.published.vocabulary.labels
        for k, m in ((case.k, case.m), (case.k + 1, case.m), (case.k, math.inf)):
            verdict = verify_km(release.published, KmAnonymity(k, m))
            assert list(verdict.first) == naive.violations(published, k, m, order)[:10], (case, k, m)
            assert verdict.holds is naive.is_km(published, k, m), (case, k, m)


@pytest.mark.parametrize("m", [1, 2, 3, math.inf])
@pytest.mark.parametrize("k", [2, 5, 40])
def test_support_k_is_enough_and_one_less_is_not(k: int, m: int | float) -> None:
    for items in ("a", "abc"):
        exactly = [frozenset(items)] * k + [frozenset("z")] * (2 * k)
        verdict = check(exactly, k, m)
        assert (verdict.holds, verdict.greatest_k) == (True, k)
        verdict = check(exactly[1:], k, m)
        assert (verdict.holds, verdict.greatest_k, verdict.greatest_m) == (False, k - 1, 0)
        assert verdict.first[0] == (("a",), k - 1)


def test_empty_rows_support_nothing() -> None:
    rows = [frozenset("a"), frozenset(), frozenset(), frozenset("a")]
    assert check(rows, 2, 2).greatest_k == 2
    assert not check(rows, 3, 2).holds
    for n in (0, 1, 4):
        verdict = check([frozenset()] * n, 5, math.inf)
        assert (verdict.holds, verdict.greatest_k, verdict.greatest_m) == (True, None, math.inf)


def test_labels_that_no_row_holds_are_no_itemsets() -> None:
    data = transactions([frozenset("abc")] * 3 + [frozenset("b")])
    only_b = Transactions(data.indptr[3:] - data.indptr[3], data.items[data.indptr[3] :], data.vocabulary)
    assert verify_km(only_b, KmAnonymity(2, 2)).first == ((("b",), 1),)
    assert verify_km(only_b, KmAnonymity(2, 2)).violations == 1


def almost_frequent(n: int, hidden: tuple[str, ...], k: int, noise: int) -> Rows:
    """Make rows whose itemsets of up to len(hidden) items have support at least k; `hidden` has k - 1."""
    everything = frozenset(labels(n))
    rng = seeded(80)
    rows = [everything] * (k - 1) + [everything - {item} for item in hidden]
    for _ in range(noise):
        row = frozenset(rng.sample(labels(n), rng.randint(1, 12)))
        rows.append(row - {rng.choice(hidden)})
    return rng.sample(rows, len(rows))


@pytest.mark.parametrize(
    ("n", "hidden", "noise"),
    [
        (330 if COMPILED else 60, ("17", "42"), 500),
        (330 if COMPILED else 60, ("0", "1"), 0),
        (130 if COMPILED else 25, ("3", "11", "20"), 300),
    ],
)
def test_one_rare_itemset_among_very_many(n: int, hidden: tuple[str, ...], noise: int) -> None:
    if COMPILED:
        assert math.comb(n, len(hidden)) > 50_000
    k, m = 5, len(hidden)
    rows = almost_frequent(n, hidden, k, noise)
    verdict = verify(rows, k, m)
    assert not verdict.holds
    assert verdict.first == ((hidden, k - 1),)
    assert (verdict.violations, verdict.greatest_k, verdict.greatest_m) == (1, k - 1, m - 1)
    assert verdict.complete
    smaller = verify(rows, k, m - 1)
    assert (smaller.holds, smaller.violations, smaller.greatest_m) == (True, 0, m - 1)
    assert verify([*rows, frozenset(hidden)], k, m).holds


def test_changed_releases_are_caught() -> None:
    """A row lost, a row made up, an item put back at its original label in one row."""
    rng = seeded(90)
    caught = {"lost": 0, "made up": 0, "put back": 0}
    for case in random_cases(examples(300, 150), 91, most_rows=30):
        release = released(algorithms.load("aa"), case.data, case.tree, case.guarantee)
        published = [frozenset(row) for row in release.published]
        supports = naive.supports(published, case.m)
        assert verify(published, case.k, case.m).holds

        tight = [itemset for itemset, support in supports.items() if support == case.k]
        if tight:
            itemset = min(tight, key=sorted)
            at = next(i for i, row in enumerate(published) if itemset <= row)
            verdict = verify(published[:at] + published[at + 1 :], case.k, case.m, show=10_000)
            assert not verdict.holds
            assert (tuple(sorted(itemset)), case.k - 1) in [
                (tuple(sorted(found)), support) for found, support in verdict.first
            ]
            caught["lost"] += 1

        once = sorted({label for row in published for label in row})
        pairs = [frozenset({a, b}) for a in once for b in once if a < b and frozenset({a, b}) not in supports]
        if pairs and case.m >= 2:
            verdict = verify([*published, rng.choice(pairs)], case.k, case.m)
            assert not verdict.holds
            assert verdict.first[0][1] == 1
            caught["made up"] += 1

        members = release.recoding.members()
        generalized = [
            (i, label, item)
            for i, row in enumerate(published) for label in sorted(row) for item in members[label]
            if members[label] != [label]
        ]  # fmt: skip
        if generalized:
            i, label, item = rng.choice(generalized)
            changed = [*published[:i], published[i] - {label} | {item}, *published[i + 1 :]]
            verdict = verify(changed, case.k, case.m)
            assert ((item,), 1) in verdict.first
            caught["put back"] += 1
    assert all(caught.values()), caught


@pytest.mark.parametrize("m", [3, 4, 100, 10**30, math.inf])
def test_m_beyond_the_longest_row_is_every_m(m: int | float) -> None:
    rows = [frozenset("abc")] * 2 + [frozenset("ab")] * 2
    assert check(rows, 2, m).greatest_k == 2
    verdict = check(rows, 3, m)
    assert verdict.violations == 4  # c, ac, bc, abc
    assert verdict.greatest_m == 0


@pytest.mark.parametrize("m", [200, 1000, math.inf])
def test_long_equal_rows_are_judged_at_once(m: int | float) -> None:
    rows = [frozenset(labels(200))] * 40
    verdict = verify(rows, 40, m)
    assert (verdict.holds, verdict.greatest_k, verdict.greatest_m, verdict.complete) == (
        True,
        40,
        math.inf,
        True,
    )
    assert not verify(rows, 41, 1).holds


@pytest.mark.parametrize("n", [64, 100])
def test_violations_beyond_machine_integers_are_exact(n: int) -> None:
    verdict = verify([frozenset(labels(n))], 2, math.inf)
    assert verdict.violations == 2**n - 1
    assert (verdict.holds, verdict.greatest_k, verdict.greatest_m, verdict.complete) == (False, 1, 0, True)
    assert verdict.first == tuple(((str(i),), 1) for i in range(10))


@pytest.mark.skipif(not COMPILED, reason="slow without compilation")
def test_long_unique_row_is_judged_soon() -> None:
    verdict = verify([frozenset(labels(300))], 2, math.inf)
    assert (verdict.holds, verdict.violations, verdict.complete) == (False, 2**300 - 1, True)


def test_exact_counts_for_two_long_rows_that_share_items() -> None:
    """60 shared items, 20 more in one row, 10 more in the other; shared subsets have support 2."""
    shared, more, other = labels(60), [f"x{i}" for i in range(20)], [f"y{i}" for i in range(10)]
    rows = [frozenset([*shared, *more]), frozenset([*shared, *other])]
    for m, count in [(1, 30), (2, 30 + math.comb(80, 2) + math.comb(70, 2) - 2 * math.comb(60, 2))]:
        verdict = verify(rows, 2, m)
        assert (verdict.violations, verdict.complete, verdict.greatest_k, verdict.greatest_m) == (
            count,
            True,
            1,
            0,
        )
    assert verify(rows, 3, 1).violations == 90


def test_early_stop_is_admitted_and_leaves_holds_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that counting may stop after a known violation: the number found is then a lower bound."""
    monkeypatch.setattr(km, "COUNT_STEPS", 2000)
    base = labels(40)
    rows = [frozenset(base[i:] + base[: i - 15]) for i in range(16, 40)]
    verdict = verify(rows, 3, math.inf)
    assert not verdict.holds
    assert not verdict.complete
    assert verdict.violations >= 1
    itemset, support = verdict.first[0]
    assert sum(set(itemset) <= row for row in rows) == support < 3


@pytest.mark.skipif(not COMPILED, reason="slow without compilation")
def test_long_rows_that_overlap_are_judged_in_bounded_time() -> None:
    """Far too many itemsets to count: the verdict comes, and says that it did not count them all."""
    rng = seeded(95)
    rows = [frozenset(rng.sample(labels(300), 250)) for _ in range(30)]
    verdict = verify(rows, 2, math.inf)
    assert not verdict.holds
    assert not verdict.complete
    assert verdict.violations >= 1
    itemset, support = verdict.first[0]
    assert sum(set(itemset) <= row for row in rows) == support == 1


def test_only_the_whole_row_is_rare() -> None:
    """All proper subsets of 0..n-1 have support k or more: the one violation is as large as the row."""
    n, k = 9, 3
    everything = frozenset(labels(n))
    rows = [everything] * (k - 1) + [everything - {item} for item in labels(n)]
    for m in (n, n + 5, math.inf):
        verdict = check(rows, k, m)
        assert verdict.first == ((tuple(labels(n)), k - 1),)
        assert verdict.greatest_m == n - 1
    assert check(rows, k, n - 1).greatest_m == n - 1


def test_verdict_as_json_types() -> None:
    verdict = verify([frozenset("ab")] * 2 + [frozenset("a")], 3, math.inf)
    assert verdict.as_dict() == {
        "model": "km-anonymity",
        "k": 3,
        "m": "inf",
        "holds": False,
        "violations": 2,
        "first": [{"itemset": ["b"], "support": 2}, {"itemset": ["a", "b"], "support": 2}],
        "greatest_k": 2,
        "greatest_m": 0,
        "complete": True,
    }
    assert verify([frozenset("a")] * 2, 2, 1).as_dict()["greatest_m"] == "inf"


@given(cases())
def test_a_brief_check_finds_the_same(case: Case) -> None:
    whole, brief = (verify_km(case.data, case.guarantee, brief=short) for short in (False, True))
    assert (brief.holds, brief.violations, brief.first) == (whole.holds, whole.violations, whole.first)
    assert brief.greatest_k == whole.greatest_k
    assert brief.greatest_m <= whole.greatest_m
    if brief.complete:
        assert brief.greatest_m == whole.greatest_m
    else:
        assert brief.holds
        assert brief.greatest_m == case.m
