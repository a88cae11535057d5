"""The verifiers of (k, rho)^m-anonymity and rho-uncertainty against the definitions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random
from typing import NamedTuple

import pytest

from naive import inference as naive
from naive.inference import Rule
from naive.km import Rows, item_order
from setveil.base.errors import RequestError
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import KmRho
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.judges.guarantees.verify import _closed_rules as closed_loops
from setveil.judges.guarantees.verify import _inference as loops
from setveil.judges.guarantees.verify import km_rho as module
from setveil.judges.guarantees.verify import rho_uncertainty as uncertainty
from setveil.judges.guarantees.verify._inference import Learned
from setveil.judges.guarantees.verify.coherence import verify_coherence
from setveil.judges.guarantees.verify.km import verify_km
from setveil.judges.guarantees.verify.km_rho import KmRhoVerdict, TooFew, verify_km_rho
from setveil.judges.guarantees.verify.rho_uncertainty import RhoUncertaintyVerdict, verify_rho_uncertainty
from strategies import ALPHABETS, COMPILED, either, enough, examples, many, random_rows, seeded, transactions

RHOS = ("1/10", "1/5", "1/3", "0.4", "1/2", "2/3", "0.9")


class Problem(NamedTuple):
    rows: Rows
    sensitive: list[str]
    k: int
    m: float
    rho: Fraction
    knows: str

    @property
    def guarantee(self) -> KmRho:
        return KmRho(self.k, self.m, self.rho, self.sensitive, self.knows)

    @property
    def order(self) -> list[str]:
        return item_order({x for row in self.rows for x in row})


def random_problem(rng: Random) -> Problem:
    """Draw rows, some with little protection and few inferences; sensitive items in no or all rows."""
    alphabet = rng.choice(ALPHABETS)
    items = rng.sample(alphabet, rng.choice([1, 2, 3, 4, 4, 5, 7, 9]))
    rows = random_rows(rng, items, rng.choice([0, 3, 8, 15, 30]), rng.choice([1, 2, 3, 4, 6]))
    if rng.random() < 0.3:
        rows = rows * rng.randint(2, 4)
    sensitive = rng.sample(items, rng.randint(0, min(3, len(items)))) + rng.sample(
        alphabet, rng.randint(0, 1)
    )
    if rng.random() < 0.05:
        sensitive = alphabet
    if rng.random() < 0.5:  # make them rare
        rows = [row if rng.random() < 0.3 else row - set(sensitive) for row in rows]
    k, m = rng.choice([1, 1, 2, 3]), rng.choice([1, 2, 3, math.inf])
    return Problem(rows, sensitive, k, m, Fraction(rng.choice(RHOS)), rng.choice(["public", "any"]))


def as_rule(entry: TooFew | Learned) -> Rule:
    if isinstance(entry, TooFew):
        return Rule(entry.itemset, entry.support)
    return Rule(entry.itemset, entry.support, entry.item, entry.sensitive_rows)


def check(problem: Problem, show: int = 10) -> KmRhoVerdict:
    """Compare every field of the verdict with its twin."""
    rows, sensitive, k, m, rho, knows = problem
    verdict = verify_km_rho(transactions(rows), problem.guarantee, show=show)
    found = naive.violations(*problem, problem.order)
    assert verdict.complete
    assert verdict.holds is (not found), problem
    assert verdict.violations == len(found), problem
    assert [as_rule(entry) for entry in verdict.first] == found[:show], problem
    expected = naive.confidences(rows, sensitive, m, knows, problem.order)
    assert [as_rule(entry) for entry in verdict.confidences] == expected, problem
    most = max(expected, key=lambda r: (r.confidence, -len(r.itemset), r.support), default=None)
    greatest = verdict.greatest_confidence
    assert (None if greatest is None else as_rule(greatest)) == most, problem
    assert verdict.greatest_k == naive.greatest_k(rows, sensitive, m, knows), problem
    assert verdict.greatest_m == naive.greatest_m(rows, sensitive, k, rho, knows), problem
    return verdict


@pytest.mark.parametrize("seed", range(2))
def test_verdict_is_the_definitions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(seed)
    kinds: Counter[tuple[bool, float]] = Counter()
    for _ in range(examples(700, 150)):
        monkeypatch.setattr(loops, "PAUSE", rng.choice([0, 50_000_000]))
        verdict = check(random_problem(rng), rng.choice([0, 1, 3, 10, 100_000]))
        kinds[verdict.holds, verdict.greatest_m] += 1
    assert min(kinds[key] for key in ((True, 1), (True, math.inf), (False, 0), (False, 1))) >= 2, kinds


def rows_of(*rows: str) -> list[frozenset[str]]:
    return [frozenset(row.split()) for row in rows]


# SPEC2 §1.6: six breaching rules at 1/2, five at 2/3.
UNCERTAIN = rows_of("a1 b1 s", "a1 b1", "a1 b2 s", "a2 b2", "a2 b1 t", "a2 b2 s t", "b1", "a1 b2")
BREACHING = [
    Rule(("a2",), 3, "t", 2),
    Rule(("a2", "b1"), 1, "t", 1),
    Rule(("a2", "s"), 1, "t", 1),
    Rule(("b2", "t"), 1, "s", 1),
    Rule(("a2", "b2", "s"), 1, "t", 1),
    Rule(("a2", "b2", "t"), 1, "s", 1),
]


@pytest.mark.parametrize(("rho", "breaching"), [("1/2", BREACHING), ("2/3", BREACHING[1:])])
def test_worked_example_of_all_knowledge(rho: str, breaching: list[Rule]) -> None:
    verdict = check(Problem(UNCERTAIN, ["s", "t"], 1, math.inf, Fraction(rho), "any"))
    assert [as_rule(entry) for entry in verdict.first] == breaching
    assert verdict.violations == len(breaching)


def test_generalizing_may_break_what_held_and_mend_it_again() -> None:
    """SPEC2 §4.1: the cuts {a1, a2, b} and {ALL} are valid, {A, b} between them is not."""
    half = Fraction(1, 2)
    for rows, holds in (
        (rows_of("a1 s", "a2 s", "a1 a2", "b"), True),
        (rows_of("A s", "A s", "A", "b"), False),
        (rows_of("ALL s", "ALL s", "ALL", "ALL"), True),
    ):
        verdict = check(Problem(rows, ["s"], 1, 1, half, "public"))
        assert verdict.holds is holds
        assert verdict.greatest_confidence is not None
        assert verdict.greatest_confidence.confidence == (half if holds else Fraction(2, 3))


HOLE = rows_of("a1 b1 H", "a1 b1 H", "a2 b1", "a2 b2 H", "a2 b2", "a1 b2", "b1", "b2", "a2 b1", "a1 b2 H")


def test_worked_example_of_few_known_items() -> None:
    """SPEC2 §4.7."""
    half = Fraction(1, 2)
    assert verify_km(transactions([row - {"H"} for row in HOLE]), KmAnonymity(2, 2)).holds
    verdict = check(Problem(HOLE, ["H"], 2, 2, half, "public"))
    assert [as_rule(entry) for entry in verdict.first] == [
        Rule(("a1",), 4, "H", 3),
        Rule(("a1", "b1"), 2, "H", 2),
    ]
    hidden = [HOLE[0] - {"H"}, *HOLE[1:]]
    assert check(Problem(hidden, ["H"], 2, 2, half, "public")).holds
    cut = [frozenset({"a1": "A", "a2": "A"}.get(x, x) for x in row) for row in HOLE]
    for knows in ("public", "any"):
        assert check(Problem(cut, ["H"], 2, 2, half, knows)).holds
        assert not check(Problem(cut, ["H"], 2, 2, Fraction(2, 5), knows)).holds


def test_verdict_as_json_types() -> None:
    verdict = verify_km_rho(transactions(HOLE), KmRho(3, math.inf, "1/3", ["H", "x"]), show=3)
    record = {
        "item": "H", "itemset": ["a1", "b1"], "support": 2, "sensitive_rows": 2, "confidence": 1.0,
    }  # fmt: skip
    assert verdict.as_dict() == {
        "model": "km-rho", "k": 3, "m": "inf", "rho": "1/3", "sensitive": ["H", "x"], "knows": "public",
        "holds": False,
        "violations": 11,
        "first": [
            {"itemset": [], "support": 10, "betrays": "H", "sensitive_rows": 4, "confidence": 0.4},
            {"itemset": ["a1"], "support": 4, "betrays": "H", "sensitive_rows": 3, "confidence": 0.75},
            {"itemset": ["b1"], "support": 5, "betrays": "H", "sensitive_rows": 2, "confidence": 0.4},
        ],
        "greatest_confidence": record, "confidences": [record], "greatest_k": 2, "greatest_m": 0,
        "least_rho": 1.0, "complete": True,
    }  # fmt: skip
    third = verify_km_rho(transactions(rows_of("a s", "a", "a")), KmRho(1, 1, "1/3", ["s"])).as_dict()
    assert (third["holds"], third["least_rho"], third["greatest_m"]) == (True, "1/3", "inf")
    nothing = verify_km_rho(transactions(rows_of("a", "a")), KmRho(2, 1, "1/3", ["s"])).as_dict()
    assert (nothing["greatest_confidence"], nothing["confidences"], nothing["least_rho"]) == (None, [], None)


def test_too_few_rows_come_before_what_they_tell() -> None:
    verdict = check(Problem(rows_of("a s t", "b", "b", "b"), ["t", "s"], 2, 2, Fraction(1, 4), "public"))
    assert [as_rule(entry) for entry in verdict.first] == [
        Rule(("a",), 1), Rule(("a",), 1, "s", 1), Rule(("a",), 1, "t", 1)
    ]  # fmt: skip


# --- special cases (SPEC2 §4.1)


def test_without_sensitive_items_it_is_km_anonymity() -> None:
    rng = seeded(11)
    outcomes = Counter[bool]()
    for _ in range(examples(200, 60)):
        rows, _, _, m, rho, knows = random_problem(rng)
        k = rng.randint(2, 4)
        verdict = verify_km_rho(transactions(rows), KmRho(k, m, rho, ["none"], knows))
        expected = verify_km(transactions(rows), KmAnonymity(k, m))
        assert [tuple(as_rule(entry))[:2] for entry in verdict.first] == list(expected.first)
        for field in ("holds", "violations", "greatest_k", "greatest_m", "complete"):
            assert getattr(verdict, field) == getattr(expected, field)
        outcomes[verdict.holds] += 1
    assert min(outcomes[True], outcomes[False]) > many(10)


def test_with_public_knowledge_it_is_coherence() -> None:
    rng = seeded(12)
    outcomes = Counter[bool]()
    while sum(outcomes.values()) < examples(300, 80):
        rows, sensitive, k, m, rho, _ = random_problem(rng)
        if len(rows) >= k:
            holds = verify_coherence(transactions(rows), Coherence(rho, k, m, sensitive)).holds
            assert verify_km_rho(transactions(rows), KmRho(k, m, rho, sensitive)).holds is holds
            outcomes[holds] += 1
    assert min(outcomes[True], outcomes[False]) > many(20)


# --- what rows are, and limits


def test_rows_of_a_local_recoding_are_just_rows() -> None:
    """Check parts of identical rows with the sensitive item in at most a share rho: safe for every m."""
    rng = seeded(13)
    rho, rows = Fraction(1, 3), []
    for part in range(8):
        size = rng.randint(2, 7)
        shown = frozenset(rng.sample(["a", "b", "(c,d)", "ALL", f"N{part}"], rng.randint(0, 4)))
        kept = size * rho.numerator // rho.denominator
        rows += [shown | {"s"}] * kept + [shown] * (size - kept)
    verdict = check(Problem(rows, ["s"], 2, math.inf, rho, "public"))
    assert (verdict.holds, verdict.greatest_m) == (True, math.inf)
    assert not check(Problem([*rows, frozenset({"N0", "s"})], ["s"], 2, math.inf, rho, "public")).holds


def test_exactly_rho_is_allowed_and_rho_is_exact() -> None:
    rows = rows_of("a s", "a s", "a s", *["a"] * 7)
    assert verify_km_rho(transactions(rows), KmRho(10, 2, 0.3, ["s"])).holds
    barely = Fraction(3, 10) - Fraction(1, 10**30)
    assert not verify_km_rho(transactions(rows), KmRho(10, 2, barely, ["s"])).holds
    assert not verify_km_rho(transactions(rows), KmRho(11, 2, 0.3, ["s"])).holds


def test_limits_of_parameters() -> None:
    rows = rows_of("a b s", "a b", "a", "")
    for k in (10**30, 4):
        for m, few in ((10**30, 7), (2, 6)):
            assert check(Problem(rows, ["s"], k, m, Fraction(1, 2), "any")).violations == few
    for rows in ([], rows_of("", ""), rows_of("s", "t"), rows_of("s", "")):
        for knows in ("public", "any"):
            check(Problem(rows, ["s", "t"], 2, math.inf, Fraction(1, 2), knows))


def test_labels_that_no_row_holds_are_not_published() -> None:
    data = transactions(rows_of("a s", "a", "b"))
    verdict = verify_km_rho(data[1:], KmRho(1, 2, "1/2", ["s"]))
    assert (verdict.holds, verdict.confidences) == (True, ())


def test_counting_may_stop_early_but_the_answer_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNT_STEPS", 20)
    monkeypatch.setattr(module, "SEARCH_STEPS", 20)
    monkeypatch.setattr(loops, "PAUSE", 0)
    rng = seeded(14)
    stopped: Counter[bool] = Counter()
    for _ in range(enough(either(600, 400))):
        problem = random_problem(rng)
        verdict = verify_km_rho(transactions(problem.rows), problem.guarantee, show=5)
        found = naive.violations(*problem, problem.order)
        assert verdict.holds is (not found), problem
        stopped[verdict.holds] += not verdict.complete
        rows, sensitive, k, m, rho, knows = problem
        assert min(len(found), 1) <= verdict.violations <= len(found), problem
        assert {as_rule(entry) for entry in verdict.first} <= set(found), problem
        assert len(verdict.first) == min(5, verdict.violations) or not verdict.complete
        exact = naive.confidences(rows, sensitive, m, knows, problem.order)
        assert [confidence.item for confidence in verdict.confidences] == [most.item for most in exact]
        for confidence, most in zip(verdict.confidences, exact, strict=True):
            assert confidence.confidence <= most.confidence
            if verdict.holds:
                assert confidence.confidence == most.confidence, problem
            assert as_rule(confidence) == naive.rule_of(
                rows, confidence.itemset, confidence.item, problem.order
            )
        greatest_m = naive.greatest_m(rows, sensitive, k, rho, knows)
        assert verdict.greatest_m <= greatest_m
        assert verdict.greatest_m == greatest_m or not verdict.complete, problem
    assert min(stopped[True], stopped[False]) > 2, stopped


# --- rho-uncertainty


def check_uncertainty(
    rows: Rows, sensitive: list[str], rho: Fraction, show: int = 10
) -> RhoUncertaintyVerdict:
    order = item_order({x for row in rows for x in row})
    verdict = verify_rho_uncertainty(transactions(rows), RhoUncertainty(rho, sensitive), show=show)
    closed = naive.closed_rules(rows, sensitive, order)
    breaching = [rule for rule in closed if rule.confidence > rho]
    case = rows, sensitive, rho
    assert verdict.complete
    assert verdict.holds is naive.is_rho_uncertain(rows, sensitive, rho) is (not breaching), case
    assert verdict.violations == len(breaching), case
    least = {naive.least_rule(rows, rule, rho, order) for rule in breaching}
    assert [as_rule(entry) for entry in verdict.first] == naive.sorted_rules(least, order)[:show], case
    exact = naive.confidences(rows, sensitive, math.inf, "any", order)
    assert [confidence.item for confidence in verdict.confidences] == [most.item for most in exact]
    for confidence, most in zip(map(as_rule, verdict.confidences), exact, strict=True):
        assert confidence.confidence == most.confidence, case
        assert confidence.item is not None
        assert confidence == naive.rule_of(rows, confidence.itemset, confidence.item, order)
        equal = [
            rule
            for rule in closed
            if (rule.item, rule.confidence) == (confidence.item, confidence.confidence)
        ]
        assert confidence.support >= max(rule.support for rule in equal), case
        for x in confidence.itemset:
            fewer = naive.rule_of(rows, set(confidence.itemset) - {x}, confidence.item, order)
            assert fewer.confidence < confidence.confidence, case
    return verdict


@pytest.mark.parametrize("seed", range(2))
def test_verdict_of_all_knowledge_is_the_definitions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(20 + seed)
    outcomes: Counter[bool] = Counter()
    for _ in range(examples(500, 120)):
        monkeypatch.setattr(closed_loops, "PAUSE", rng.choice([0, 50_000_000]))
        rows, sensitive, _, _, rho, _ = random_problem(rng)
        verdict = check_uncertainty(rows, sensitive, rho, rng.choice([0, 1, 3, 10, 100_000]))
        bounded = verify_km_rho(transactions(rows), KmRho(1, math.inf, rho, sensitive, "any"))
        assert bounded.holds is verdict.holds
        assert bounded.as_dict()["least_rho"] == verdict.as_dict()["least_rho"]
        outcomes[verdict.holds and bool(verdict.confidences)] += 1
    assert min(outcomes[True], outcomes[False]) > many(10), outcomes


def test_worked_example_of_rho_uncertainty() -> None:
    """SPEC2 §1.6: of the six breaching rules four are closed, and two have no smaller one in them."""
    verdict = check_uncertainty(UNCERTAIN, ["s", "t"], Fraction(1, 2))
    assert verdict.violations == 4
    assert [as_rule(entry) for entry in verdict.first] == [BREACHING[0], BREACHING[3]]
    verdict = check_uncertainty(UNCERTAIN, ["s", "t"], Fraction(2, 3))
    assert [as_rule(entry) for entry in verdict.first] == [*BREACHING[1:4]]
    assert verify_rho_uncertainty(
        transactions([row - {"t"} for row in UNCERTAIN]), RhoUncertainty("1/2", ["s", "t"])
    ).holds


def test_items_of_all_rows_that_hold_a_sensitive_one() -> None:
    """Check that other known items count only in rows with the sensitive item, as other rows lack them."""
    rows = rows_of("r a s", "r b s", "a", "a", "b", "b", "a b")
    assert check_uncertainty(rows, ["s"], Fraction(9, 10)).violations == 3
    assert check_uncertainty([*rows, *rows_of("r a", "r b")], ["s"], Fraction(1, 2)).holds


def test_verdict_of_rho_uncertainty_as_json_types() -> None:
    verdict = verify_rho_uncertainty(transactions(UNCERTAIN), RhoUncertainty("0.9", ["t", "s"]), show=1)
    s = {"item": "s", "itemset": ["b2", "t"], "support": 1, "sensitive_rows": 1, "confidence": 1.0}
    t = {"item": "t", "itemset": ["a2", "b1"], "support": 1, "sensitive_rows": 1, "confidence": 1.0}
    assert verdict.as_dict() == {
        "model": "rho-uncertainty", "rho": 0.9, "sensitive": ["t", "s"], "holds": False, "violations": 3,
        "first": [
            {"itemset": ["a2", "b1"], "support": 1, "betrays": "t", "sensitive_rows": 1, "confidence": 1.0}
        ],
        "greatest_confidence": s, "confidences": [s, t], "least_rho": 1.0, "complete": True,
    }  # fmt: skip


def test_too_many_rules_are_an_error_never_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (uncertainty, module):
        monkeypatch.setattr(where, "COUNT_STEPS", 10)
    monkeypatch.setattr(uncertainty, "SEARCH_STEPS", 10)
    monkeypatch.setattr(module, "CLOSED_STEPS", 10)
    rows = [frozenset("abcdefgh") - {x} for x in "abcdefgh"] * 4
    safe = [*rows, *(row | {"s"} for row in rows)]
    said = r"too many rules to look at, and none that was breaks it\.\n.*setveil\.KmRho"
    with pytest.raises(RequestError, match=said):
        verify_rho_uncertainty(transactions(safe), RhoUncertainty("0.6", ["s"]))
    with pytest.raises(RequestError, match=said):
        verify_km_rho(transactions(safe), KmRho(2, math.inf, "0.6", ["s"]))
    verdict = verify_rho_uncertainty(transactions(safe), RhoUncertainty("0.4", ["s"]))
    assert (verdict.holds, verdict.complete) == (False, False)


@pytest.mark.skipif(not COMPILED, reason="slow without compilation")
def test_long_equal_rows_have_one_closed_set() -> None:
    rows = [frozenset([*map(str, range(300)), *(["s"] if i % 3 == 0 else [])]) for i in range(12)]
    verdict = verify_rho_uncertainty(transactions(rows), RhoUncertainty("1/3", ["s"]))
    assert (verdict.holds, verdict.confidences[0].itemset, verdict.confidences[0].support) == (True, (), 12)
    for m in (math.inf, 300):
        assert verify_km_rho(transactions(rows), KmRho(12, m, "1/3", ["s"])).holds
        assert not verify_km_rho(transactions(rows), KmRho(12, m, "0.3", ["s"])).holds


@pytest.mark.parametrize("knows", ["public", "any"])
def test_violations_beyond_machine_integers_are_exact(knows: str) -> None:
    """Check that every set of items of the one row, also the empty set, reveals the other items."""
    row = frozenset(map(str, range(100)))
    verdict = verify_km_rho(transactions([row | {"s"}]), KmRho(1, math.inf, "1/2", ["s"], knows), show=3)
    assert (verdict.holds, verdict.violations, verdict.complete) == (False, 2**100, True)
    assert [entry.itemset for entry in verdict.first] == [(), ("0",), ("1",)]
    few = verify_km_rho(transactions([row | {"s", "t"}]), KmRho(1, 3, "1/2", ["t", "s"], knows), show=0)
    assert few.violations == 2 * sum(math.comb(101 if knows == "any" else 100, size) for size in range(4))
