"""The verifiers of tables against a few lines that look at every subset of every row, and tampered tables."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import tables_verify as naive
from naive.tables_verify import Line, Lines
from setveil.base.errors import RequestError
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.judges.guarantees.verify import _classes, verify
from setveil.judges.guarantees.verify._shares import Betrayal
from setveil.judges.guarantees.verify.kkm import KKmVerdict, verify_kkm
from setveil.judges.guarantees.verify.mixed_km import verify_mixed_km
from setveil.rows.data.vocabulary import item_order
from strategies import examples
from table_cases import COLUMNS, KEPT, published, random_lines

rngs = st.randoms(use_true_random=False)
MS = (1, 2, 2, 3, 9, math.inf)
WARD = [
    Line((age, sex), frozenset(items.split()))
    for age, sex, items in (
        ("[34,36]", "F", "I21"), ("[41,45]", "M", "Lung"), ("[47,71]", "F", "ALL"), ("[62,64]", "M", "Heart"),
    )
    for _ in range(2)
]  # fmt: skip


def check(lines: Lines, k: int, m: float, show: int = 10) -> KKmVerdict:
    """Compare every field of the verdict with its twin."""
    order = item_order({item for line in lines for item in line.items})
    expected = naive.violations(lines, k, m, order)
    verdict = verify_kkm(published(lines), KKmAnonymity(k, m), show=show)
    assert verdict.complete
    assert verdict.holds is (not expected)
    assert verdict.violations == len(expected)
    assert [(tuple(v for _, v in one[0]), *one[1:]) for one in verdict.first] == expected[:show]
    assert verdict.greatest_k == naive.greatest_k(lines, m)
    return verdict


@settings(max_examples=examples(600, 40))
@given(rng=rngs, k=st.integers(2, 6), m=st.sampled_from(MS), show=st.integers(0, 12))
def test_verdict_is_the_twins(rng: Random, k: int, m: float, show: int) -> None:
    check(random_lines(rng), k, m, show)


@settings(max_examples=examples(120, 15))
@given(rng=rngs, k=st.integers(2, 4), m=st.sampled_from(MS), batch=st.sampled_from((1, 7, 30)))
def test_verdict_does_not_depend_on_batches(rng: Random, k: int, m: float, batch: int) -> None:
    usual = _classes.BATCH
    _classes.BATCH = batch
    try:
        check(random_lines(rng), k, m, rng.choice((1, 5)))
        check_shares(rng, batch)
    finally:
        _classes.BATCH = usual


def check_shares(rng: Random, show: int) -> None:
    lines = random_lines(rng)
    sensitive = rng.sample(("outcome", "ward", "a", "f", "nowhere"), rng.randint(1, 3))
    h, p = rng.choice((Fraction(1, 2), Fraction(2, 3), Fraction(9, 10))), rng.choice((0, 1, 2, 3))
    verdict = verify_kkm(
        published(lines, kept=KEPT), KKmAnonymity(2, 1, tuple(sensitive), h, p), show=show + 200
    )
    rare = naive.violations(lines, 2, 1, item_order({item for line in lines for item in line.items}))
    expected = naive.betrayals(lines, KEPT, sensitive, h, p)
    assert verdict.complete
    assert verdict.violations == len(rare) + len(expected)
    assert verdict.holds is (not rare and not expected)
    assert verdict.greatest_share == naive.greatest_share(lines, KEPT, sensitive)
    shown = [one for one in verdict.first if isinstance(one, Betrayal)]
    found = {
        (tuple(v for _, v in one.known), frozenset(one.itemset), one.support, Fraction(one.held, one.support))
        for one in shown
    }
    assert found == set(expected)
    places = naive.classes(lines)
    order = [(len(one.itemset), places.index(tuple(v for _, v in one.known))) for one in shown]
    assert order == sorted(order)
    for one in shown:
        rows = naive.within(lines, tuple(v for _, v in one.known))
        holding = [line for line in rows if line.items >= set(one.itemset)]
        held = [naive.values_of(line, KEPT, sensitive) for line in holding]
        assert sum((one.column, one.value) in some for some in held) == one.held


@settings(max_examples=examples(400, 30))
@given(rng=rngs)
def test_shares_are_the_twins(rng: Random) -> None:
    check_shares(rng, 200)


@settings(max_examples=examples(400, 30))
@given(rng=rngs, k=st.integers(2, 6), m=st.sampled_from(MS), show=st.integers(0, 12))
def test_mixed_verdict_is_the_twins(rng: Random, k: int, m: float, show: int) -> None:
    lines = random_lines(rng)
    expected = naive.mixed_violations(lines, k, m)
    verdict = verify_mixed_km(published(lines), MixedKmAnonymity(k, m), show=show)
    assert verdict.complete
    assert verdict.holds is (not expected)
    assert verdict.violations == len(expected)
    assert verdict.greatest_k == naive.mixed_greatest_k(lines, m)
    assert len(verdict.first) == min(show, len(expected))
    sizes = [len(one.known) + len(one.itemset) for one in verdict.first]
    assert sizes == sorted(sizes)
    for one in verdict.first:
        facts = frozenset((COLUMNS.index(name), label) for name, label in one.known)
        assert expected[facts | {(2, item) for item in one.itemset}] == one.support


@settings(max_examples=examples(120, 15))
@given(rng=rngs, k=st.integers(2, 4), m=st.integers(1, 3))
def test_how_the_promises_imply_each_other(rng: Random, k: int, m: int) -> None:
    """(k,k^m) gives mixed k^m; mixed k^(q+m) of q columns gives (k,k^m)."""
    table = published(random_lines(rng))
    strict, mixed = KKmAnonymity(k, m), MixedKmAnonymity(k, m)
    more = MixedKmAnonymity(k, m + len(COLUMNS))
    assert not verify_kkm(table, strict) or verify_mixed_km(table, mixed)
    assert not verify_mixed_km(table, more) or verify_kkm(table, strict)


def test_mixed_is_weaker() -> None:
    lines = [Line((age, sex), frozenset("a")) for age in "12" for sex in "FM"]
    assert verify_mixed_km(published(lines), MixedKmAnonymity(2, 1)).holds
    assert verify_kkm(published(lines), KKmAnonymity(2, 1)).violations == 8


# --- examples


def test_ward() -> None:
    verdict = check(WARD, 2, 2)
    assert verdict.holds
    assert verdict.greatest_k == 2
    assert verify(published(WARD), KKmAnonymity(3, 2)).violations == 8


def test_small_classes_are_listed_before_their_items() -> None:
    verdict = check([*WARD, Line(("80", "M"), frozenset("ab"))], 2, 1, show=2)
    assert verdict.violations == 3
    assert verdict.as_dict()["first"] == [
        {"class": {"age": "80", "sex": "M"}, "itemset": [], "support": 1},
        {"class": {"age": "80", "sex": "M"}, "itemset": ["a"], "support": 1},
    ]
    assert repr(verdict) == (
        "No: (k,k^m)-anonymity (k=2, m=1) does not hold, 3 classes or sets of items within one in fewer than "
        "2 rows."
    )
    assert "support 1: age = 80, sex = M; a" in verdict._repr_html_()


def test_nothing_at_all() -> None:
    verdict = check([], 2, 2)
    assert verdict.holds
    assert verdict.greatest_k is None
    assert check([Line(("1", "F"), frozenset())] * 3, 3, 2).greatest_k == 3
    assert verify_mixed_km(published([]), MixedKmAnonymity(2, 2)).greatest_k is None
    assert verify_kkm(published([], kept=KEPT), KKmAnonymity(2, 1, ("ward",), 0.5, 1)).greatest_share is None


def test_a_table_without_quasi_identifiers_is_one_class() -> None:
    lines = [Line((), frozenset("a"))] * 2 + [Line((), frozenset("b"))]
    verdict = verify_kkm(published(lines, ()), KKmAnonymity(2, 1))
    assert verdict.listed() == [{"class": {}, "itemset": ["b"], "support": 1}]
    assert "support 1: all rows; b" in verdict._repr_html_()


def test_columns_whose_codes_repeat_a_label() -> None:
    """Check that a class is identified by its labels, regardless of the numbers that a reader gave them."""
    table = published(WARD)
    ages = table.columns[0]
    twice = type(ages)(ages.name, ages.codes * 2, tuple(x for label in ages.labels for x in (label, label)))
    odd = twice.codes.copy()
    odd[0] += 1
    split = type(ages)(ages.name, odd, twice.labels)
    for column in (twice, split):
        assert verify_kkm(type(table)((column, table.columns[1]), table.sets), KKmAnonymity(2, 2)).holds


def test_what_all_rows_of_a_class_have_in_common() -> None:
    lines = [Line(("1", "F"), frozenset("a"), (outcome, "A")) for outcome in ("dead", "dead", "alive")]
    lines += [Line(("2", "F"), frozenset("a"), (outcome, "A")) for outcome in ("dead", "alive")]
    table = published(lines, kept=KEPT)
    assert verify_kkm(table, KKmAnonymity(2, 1, ("outcome",), "2/3")).holds
    verdict = verify_kkm(table, KKmAnonymity(2, 1, ("outcome",), "66%"))
    assert verdict.as_dict() == {
        "model": "kkm", "k": 2, "m": 1, "sensitive": ["outcome"], "h": 0.66, "p": 0, "holds": False,
        "violations": 1, "greatest_k": 2, "greatest_share": 2 / 3, "complete": True,
        "first": [{
            "class": {"age": "1", "sex": "F"}, "itemset": [], "support": 3, "column": "outcome",
            "betrays": "dead", "sensitive_rows": 2, "probability": 2 / 3,
        }],
    }  # fmt: skip
    assert "age = 1, sex = F: outcome = dead in 2 of 3 rows" in verdict._repr_html_()


def test_items_of_a_person_say_more_than_the_class() -> None:
    rows = [("a", "dead"), ("a", "dead"), ("b", "alive"), ("b", "alive")]
    lines = [Line(("1", "F"), frozenset(items), (outcome, "A")) for items, outcome in rows]
    table = published(lines, kept=KEPT)
    assert verify_kkm(table, KKmAnonymity(2, 1, ("outcome",), 0.5)).holds
    verdict = verify_kkm(table, KKmAnonymity(2, 1, ("outcome",), 0.5, 1))
    assert [(one.itemset, one.held) for one in verdict.first if isinstance(one, Betrayal)] == [
        (("a",), 2),
        (("b",), 2),
    ]


# --- tampered files


@settings(max_examples=examples(100, 15))
@given(rng=rngs)
def test_one_row_that_is_moved_is_found(rng: Random) -> None:
    """In a class of k rows, any other label of a row violates the guarantee, and so does a missing label."""
    k = rng.randint(2, 3)
    lines = [Line((age, "F"), frozenset(rng.choice(("a", "ab", "b")))) for age in "123" for _ in range(k)]
    lines = [line._replace(items=lines[i // k * k].items) for i, line in enumerate(lines)]
    assert check(lines, k, 2).holds
    at = rng.randrange(len(lines))
    line = lines[at]
    for changed in (
        line._replace(known=("4", "F")), line._replace(known=("1" if line.known[0] != "1" else "2", "F")),
        line._replace(items=line.items - {min(line.items)}), line._replace(items=line.items | {"z"}),
    ):  # fmt: skip
        assert not check([*lines[:at], changed, *lines[at + 1 :]], k, 2).holds
    assert not check(lines[:at] + lines[at + 1 :], k, 2).holds


# --- the guarantee


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"sensitive": ["a"]}, "h is needed"),
        ({"h": 0.5}, "none is named"),
        ({"p": 1}, "none is named"),
        ({"sensitive": "a", "h": 0.5}, "collection"),
        ({"sensitive": ["a", 1], "h": 0.5}, "non-empty text"),
        ({"sensitive": ["a"], "h": 2}, "above 0 and at most 1"),
        ({"sensitive": ["a"], "h": "101%"}, "above 0 and at most 1"),
        ({"sensitive": ["a"], "h": "%"}, "above 0 and at most 1"),
        ({"sensitive": ["a"], "h": 0.5, "p": -1}, "at least 0"),
        ({"sensitive": ["a"], "h": 0.5, "p": True}, "at least 0"),
    ],
)
def test_sensitive_values_that_cannot_be(more: dict[str, Any], text: str) -> None:
    with pytest.raises(RequestError, match=text):
        KKmAnonymity(5, 2, **more)


def test_sensitive_values_as_written() -> None:
    guarantee = KKmAnonymity(5, 2, ["a", "b", "a"], "1/3", 2)
    assert (guarantee.sensitive, guarantee.h, guarantee.p) == (("a", "b"), Fraction(1, 3), 2)
    assert guarantee.as_dict() == {
        "model": "kkm", "k": 5, "m": 2, "sensitive": ["a", "b"], "h": "1/3", "p": 2
    }  # fmt: skip
    assert KKmAnonymity(5, 2, ("a",), "30%").h == Fraction(3, 10)
    assert KKmAnonymity(5, 2).as_dict() == {"model": "kkm", "k": 5, "m": 2}
