"""Partial suppression, compared with its twin: the same occurrences are suppressed."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest

from naive import rho as naive
from naive.km import Rows
from releases import released
from rho_cases import DATA, PAPER, SENSITIVE, SIZES, in_order, published, random_problems
from setveil.base.errors import RequestError
from setveil.judges.guarantees.km_rho import KmRho
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.judges.utility.ncp import ncp
from setveil.methods.algorithms.rho import _hidden_occurrences, _rules, partial
from setveil.methods.algorithms.rho.partial import anonymize
from setveil.rows.data.transactions import Transactions
from strategies import examples, seeded, transactions


def lost(before: Rows, after: Rows) -> dict[int, set[str]]:
    """List what rows lose, counted from 1."""
    return {i: set(a - b) for i, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b}


@pytest.mark.parametrize("m", SIZES)
def test_worked_example_with_public_knowledge(m: int | float) -> None:
    recoding, details = anonymize(DATA, None, KmRho(1, m, "1/2", SENSITIVE))
    assert lost(PAPER, published(PAPER, recoding)) == {5: {"t"}}
    assert details == {"warnings": [], "hidden": {"t": 1}}
    assert recoding.members() == {x: [x] for x in DATA.vocabulary.labels}
    assert ncp(DATA, recoding) == 1 / 20


def test_worked_example_with_any_knowledge() -> None:
    recoding, details = anonymize(DATA, None, RhoUncertainty("1/2", SENSITIVE))
    assert lost(PAPER, published(PAPER, recoding)) == {5: {"t"}, 6: {"s"}}
    assert details == {"warnings": [], "hidden": {"s": 1, "t": 1}, "steps": 2}


def test_public_knowledge_equals_the_twin() -> None:
    hidden = 0
    for i, (drawn, sensitive, rho) in enumerate(random_problems(examples(400, 60), 921)):
        m, rows = SIZES[i % len(SIZES)], in_order(drawn)
        recoding, details = anonymize(transactions(rows), None, KmRho(1, m, rho, sensitive))
        left = published(rows, recoding)
        assert left == naive.partial_public(rows, sensitive, Fraction(rho), m), (rows, sensitive, rho, m)
        assert naive.is_km_rho(left, sensitive, 1, m, Fraction(rho), "public")
        assert sum(details["hidden"].values()) == sum(map(len, rows)) - sum(map(len, left))
        assert set(details["hidden"]) <= set(sensitive)
        hidden += left != rows
    assert hidden


def test_no_dropped_occurrence_could_stay() -> None:
    """Check that none of the suppressed occurrences could be restored alone at the end."""
    for rows, sensitive, rho in random_problems(examples(100, 20), 922):
        recoding, _ = anonymize(transactions(rows), None, KmRho(1, 2, rho, sensitive))
        left = published(rows, recoding)
        for i, (before, after) in enumerate(zip(rows, left, strict=True)):
            for s in before - after:
                more = [*left[:i], after | {s}, *left[i + 1 :]]
                assert not naive.is_km_rho(more, sensitive, 1, 2, Fraction(rho), "public")


def test_any_knowledge_equals_the_twin() -> None:
    """Check equality with the twin, which could suppress known items of a rule, but provably never does."""
    dropped = 0
    for drawn, sensitive, rho in random_problems(examples(300, 40), 923):
        rows = in_order(drawn)
        recoding, details = anonymize(transactions(rows), None, RhoUncertainty(rho, sensitive))
        left = published(rows, recoding)
        assert left == naive.partial_any(rows, sensitive, Fraction(rho)), (rows, sensitive, rho)
        assert naive.is_uncertain(left, sensitive, Fraction(rho))
        assert set(details["hidden"]) <= set(sensitive)
        dropped += details["steps"] > 1
    assert dropped


def test_order_of_the_rows_makes_no_difference() -> None:
    rng = seeded(924)
    moved = 0
    for rows, sensitive, rho in random_problems(examples(100, 20), 924):
        guarantees: list[KmRho | RhoUncertainty] = [
            KmRho(1, 2, rho, sensitive),
            RhoUncertainty(rho, sensitive),
        ]
        for guarantee in guarantees:
            other = rng.sample(rows, len(rows))
            one, another = (
                published(r, anonymize(transactions(r), None, guarantee)[0]) for r in (rows, other)
            )
            assert Counter(one) == Counter(another), (rows, other, guarantee)
            moved += one != another
    assert moved


def test_first_of_equal_rows_lose_it() -> None:
    rows = [frozenset({"a", "s"})] * 3 + [frozenset("a")]
    recoding, _ = anonymize(transactions(rows), None, KmRho(1, 1, "1/2", ["s"]))
    assert lost(rows, published(rows, recoding)) == {1: {"s"}}


def test_no_rows_and_no_sensitive_items() -> None:
    cases: list[list[list[str]]] = [[], [[]], [["a"], ["a", "b"]]]
    for rows in cases:
        data = Transactions.from_rows(rows)
        for guarantee in (KmRho(1, 2, "1/2"), RhoUncertainty("1/2")):
            release = released(partial, data, None, guarantee)
            assert sorted(release.published) == sorted(data)
            assert release.details["hidden"] == {}


def test_a_sensitive_item_lost_everywhere_is_not_published() -> None:
    recoding, details = anonymize(Transactions.from_rows([["a", "s"]]), None, KmRho(1, 1, "1/2", ["s"]))
    assert recoding.published.labels == ("a",)
    assert details["hidden"] == {"s": 1}


def test_bad_input() -> None:
    with pytest.raises(RequestError, match=r"cannot hide rows among k = 2.*\n?.*exact or lg"):
        anonymize(DATA, None, KmRho(2, 2, "1/2", SENSITIVE))
    with pytest.raises(RequestError, match=r"only against those who know public items.*\n?.*exact"):
        anonymize(DATA, None, KmRho(1, 2, "1/2", SENSITIVE, knows="any"))
    for guarantee in (KmRho(1, 2, "1/2", ["x"]), RhoUncertainty("1/2", ["x"])):
        with pytest.raises(RequestError, match="1 sensitive item is not in the data: 'x'"):
            anonymize(DATA, None, guarantee)


@pytest.mark.parametrize("limit", [(_rules, "MOST_STEPS"), (_hidden_occurrences, "MOST_IDS")])
def test_long_rows_are_refused(monkeypatch: pytest.MonkeyPatch, limit: tuple[object, str]) -> None:
    monkeypatch.setattr(*limit, 100)
    monkeypatch.setattr(_rules, "STEPS_AT_ONCE", 50)
    row = [f"i{j}" for j in range(12)]
    data = Transactions.from_rows([[*row, "s"], row])
    with pytest.raises(RequestError, match=r"(?s)too many.*m of 1 to 3"):
        anonymize(data, None, KmRho(1, math.inf, "1/3", ["s"]))
