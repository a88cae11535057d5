"""The verifier of transactional k-anonymity against a few lines that count rows, and the guarantee."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import kanonymity as naive
from naive.km import item_order
from setveil.base.errors import InfeasibleError, RequestError
from setveil.judges.guarantees.kanonymity import TransactionalKAnonymity
from setveil.judges.guarantees.verify import kanonymity
from setveil.judges.guarantees.verify.kanonymity import KAnonymityVerdict, verify_kanonymity
from strategies import ALPHABETS, Rows, examples, random_rows, row_lists, seeded, transactions


def check(rows: Rows, k: int, show: int = 10) -> KAnonymityVerdict:
    """Compare every field of the verdict with its twin."""
    verdict = verify_kanonymity(transactions(rows), TransactionalKAnonymity(k), show=show)
    found = naive.violations(rows, k, item_order({label for row in rows for label in row}))
    assert verdict.holds is (not found) is naive.is_k_anonymous(rows, k)
    assert verdict.violations == len(found)
    assert list(verdict.first) == found[:show]
    assert verdict.greatest_k == naive.greatest_k(rows)
    assert verdict.guarantee == TransactionalKAnonymity(k)
    return verdict


@given(rows=row_lists(), k=st.integers(2, 6), show=st.integers(0, 20))
@settings(deadline=None, max_examples=examples(400))
def test_verdict_is_the_twins_by_hypothesis(rows: Rows, k: int, show: int) -> None:
    check(rows, k, show)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_verdict_is_the_twins(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kanonymity, "CHUNK", chunk)
    rng = seeded(90 + chunk)
    outcomes = set()
    for _ in range(examples(500)):
        alphabet = rng.choice(ALPHABETS)[: rng.randint(1, 12)]
        rows = random_rows(rng, alphabet, rng.randint(0, 40), rng.randint(1, 7)) * rng.choice((1, 1, 2, 5))
        outcomes.add(check(rng.sample(rows, len(rows)), rng.randint(2, 6), rng.choice((1, 10))).holds)
    assert outcomes == {True, False}


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("row", ["", "a", "abc"])
def test_k_copies_are_enough_and_one_less_are_not(row: str, k: int) -> None:
    rows = [frozenset(row)] * k + [frozenset("z")] * (k + 1)
    assert (check(rows, k).holds, check(rows, k).greatest_k) == (True, k)
    verdict = check(rows[1:], k)
    assert (verdict.holds, verdict.greatest_k) == (False, k - 1)
    assert verdict.first == ((tuple(row), k - 1),)


def test_no_rows() -> None:
    verdict = check([], 5)
    assert (verdict.holds, verdict.greatest_k) == (True, None)


def test_short_rows_come_first_then_item_order() -> None:
    rows = [frozenset(row.split()) for row in ("10 2", "10", "9", "2 9 10", "2 9", "")]
    verdict = check(rows, 2)
    shown = [" ".join(row) for row, _ in verdict.first]
    assert shown == ["", "9", "10", "2 9", "2 10", "2 9 10"]


def test_ids_above_127_and_65535_keep_their_order() -> None:
    labels = [str(i) for i in range(70_000)]
    rows = [frozenset({label}) for label in labels]
    verdict = verify_kanonymity(transactions(rows), TransactionalKAnonymity(2), show=70_000)
    assert [row[0] for row, _ in verdict.first] == labels


def test_as_json() -> None:
    verdict = check([frozenset("ab")] * 3 + [frozenset("c")], 2)
    assert json.loads(json.dumps(verdict.as_dict())) == {
        "model": "k-anonymity",
        "k": 2,
        "holds": False,
        "violations": 1,
        "first": [{"itemset": ["c"], "support": 1}],
        "greatest_k": 1,
    }
    assert verdict.found() == {"greatest_k": 1}


@pytest.mark.parametrize("k", [1, 0, -2, 2.0, "5", True, None])
def test_k_must_be_an_integer_of_at_least_2(k: object) -> None:
    with pytest.raises(RequestError, match="at least 2"):
        TransactionalKAnonymity(k)  # type: ignore[arg-type]


def test_guarantee() -> None:
    guarantee = TransactionalKAnonymity(np.int64(5))  # type: ignore[arg-type]
    assert guarantee.phrase == "k-anonymity (k=5)"
    assert json.loads(json.dumps(guarantee.as_dict())) == {"model": "k-anonymity", "k": 5}
    assert guarantee == TransactionalKAnonymity(5)


@pytest.mark.parametrize(
    ("filled", "empty", "k", "hint"),
    [
        (3, 0, 4, r"greatest possible k is 3\."),
        (3, 7, 4, r"greatest possible k is 3\."),
        (7, 3, 4, r"greatest possible k is 3\."),
        (3, 2, 4, r"greatest possible k is 2\."),
        (1, 0, 2, r"only row with items cannot be hidden at any k\."),
        (1, 1, 2, r"only row without items cannot be hidden at any k\."),
        (1, 5, 2, r"only row with items cannot .*; without it, k can be as great as 5\."),
        (5, 1, 3, r"only row without items cannot .*; without it, k can be as great as 5\."),
    ],
)
def test_infeasible(filled: int, empty: int, k: int, hint: str) -> None:
    rows = [frozenset("a")] * filled + [frozenset[str]()] * empty
    with pytest.raises(InfeasibleError, match=hint) as caught:
        TransactionalKAnonymity(k).require_feasible(transactions(rows))
    greatest = caught.value.greatest_k
    assert (f"is {greatest}." in caught.value.hint) == ("greatest" in hint)
    assert (greatest is None) == ("greatest" not in hint)


def test_feasible_exactly_if_one_label_for_everything_would_do() -> None:
    for filled in range(6):
        for empty in range(6):
            rows = [frozenset("a")] * filled + [frozenset[str]()] * empty
            for k in (2, 3, 5):
                try:
                    TransactionalKAnonymity(k).require_feasible(transactions(rows))
                    feasible = True
                except InfeasibleError:
                    feasible = False
                assert feasible is naive.is_feasible(rows, k), (filled, empty, k)
