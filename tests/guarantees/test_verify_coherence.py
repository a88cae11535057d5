"""The coherence verifier against the definition."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from coherence_cases import PAPER, PRIVATE, random_problem, rows_of
from naive import coherence as naive
from setveil.base.errors import InfeasibleError, RequestError
from setveil.judges.guarantees.coherence import Coherence, model
from setveil.judges.guarantees.verify import _coherence as loops
from setveil.judges.guarantees.verify import coherence as module
from setveil.judges.guarantees.verify.coherence import verify_coherence
from strategies import examples, many, seeded, transactions


@pytest.mark.parametrize("seed", range(2))
def test_verdict_is_the_definitions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(seed)
    outcomes = [0, 0]
    for _ in range(examples(900, 250)):
        rows, private, h, k, p = random_problem(rng)
        case = rows, private, h, k, p
        monkeypatch.setattr(loops, "PAUSE", rng.choice([0, 50_000_000]))
        verdict = verify_coherence(transactions(rows), Coherence(h, k, p, private), show=5)
        share = Fraction(h)
        assert verdict.complete
        assert verdict.holds == naive.is_coherent(rows, private, share, k, p), case
        outcomes[verdict.holds] += 1
        if rows and (len(rows) < k or naive.breach(rows, private, ()) > share):
            assert verdict.violations == 1
            assert verdict.first[0][0] == ()
            continue
        expected = naive.described(rows, private, share, k, p, transactions(rows).vocabulary.labels)
        assert verdict.violations == len(expected), case
        assert list(verdict.first) == expected[:5], case
    assert min(outcomes) > many(50)


def test_counting_may_stop_early_but_the_answer_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNT_STEPS", -1)
    rng = seeded(7)
    stopped = 0
    for _ in range(examples(300, 100)):
        rows, private, h, k, p = random_problem(rng)
        verdict = verify_coherence(transactions(rows), Coherence(h, k, p, private))
        assert verdict.holds == naive.is_coherent(rows, private, Fraction(h), k, p)
        if not verdict.complete:
            stopped += 1
            expected = naive.described(rows, private, Fraction(h), k, p, transactions(rows).vocabulary.labels)
            assert 1 <= verdict.violations <= len(expected)
            assert set(verdict.first) <= set(expected)
    assert stopped


def test_worked_example() -> None:
    verdict = verify_coherence(transactions(PAPER), Coherence("0.5", 3, 3, PRIVATE), show=20)
    assert not verdict.holds
    found = {"".join(items): (support, whom, share) for items, support, whom, share in verdict.first}
    assert found == {
        "c": (1, None, 0),
        "d": (1, None, 0),
        "ae": (1, None, 0),
        "af": (2, None, 0),
        "ag": (3, "s2", Fraction(2, 3)),
        "be": (2, None, 0),
        "bfg": (2, None, 0),
    }
    assert verdict.violations == 7
    entry = verdict.as_dict()["first"][4]
    assert entry == {
        "itemset": ["a", "g"], "support": 3, "betrays": "s2", "probability": 2 / 3, "private_rows": 2
    }  # fmt: skip
    without = [row - set("abcd") for row in PAPER]
    assert verify_coherence(transactions(without), Coherence("0.5", 3, 3, PRIVATE)).holds


def test_betrayal_by_a_small_set_inside_a_large_safe_one() -> None:
    """ab betrays s (3 of 4), abc does not (1 of 2), so abc is a mole only by its subset."""
    rows = rows_of("abs", "abs", "abcs", "abc", "a", "a", "b", "b", "c", "c")
    verdict = verify_coherence(transactions(rows), Coherence("0.6", 2, 3, ["s"]))
    assert verdict.first == ((("a", "b"), 4, "s", Fraction(3, 4)),)
    assert frozenset("abc") in naive.moles(rows, ["s"], Fraction(3, 5), 2, 3)


def test_first_set_of_all_is_empty() -> None:
    few = verify_coherence(transactions(rows_of("a", "a")), Coherence("0.5", 3, 1))
    assert few.first == (((), 2, None, Fraction(0)),)
    frequent = verify_coherence(transactions(rows_of("as", "as", "a")), Coherence("0.5", 2, 1, ["s"]))
    assert frequent.first == (((), 3, "s", Fraction(2, 3)),)
    assert frequent.as_dict()["first"][0]["betrays"] == "s"


@pytest.mark.parametrize("p", [1, 3, math.inf])
def test_nothing_to_betray(p: float) -> None:
    for rows in ([], rows_of("", "", ""), rows_of("abc", "abc", "abc")):
        verdict = verify_coherence(transactions(rows), Coherence("0.5", 3, p, ["x"]))
        assert verdict.holds
        assert verdict.as_dict()["p"] == ("inf" if p == math.inf else p)


def test_exactly_h_and_exactly_k_are_allowed() -> None:
    rows = rows_of("as", "as", "as", *["a"] * 7)
    assert verify_coherence(transactions(rows), Coherence(0.3, 10, 2, ["s"])).holds
    assert not verify_coherence(transactions(rows), Coherence(0.29, 10, 2, ["s"])).holds
    assert not verify_coherence(transactions(rows), Coherence(0.3, 11, 2, ["s"])).holds
    barely = Fraction(3, 10) - Fraction(1, 10**30)
    assert not verify_coherence(transactions(rows), Coherence(barely, 10, 2, ["s"])).holds


def test_long_equal_rows_with_unlimited_knowledge() -> None:
    """Check that the verifier enumerates none of the 2^60 subsets."""
    rows = [frozenset(map(str, range(60))), *[frozenset(map(str, range(1, 60)))] * 9] * 5
    assert verify_coherence(transactions(rows), Coherence("0.5", 5, math.inf)).holds


@pytest.mark.parametrize("h", [0, -0.1, 1.5, "101%", "x", "1/0", float("nan"), True, math.inf])
def test_bad_h(h: Any) -> None:
    with pytest.raises(RequestError, match="h must be a number above 0 and at most 1"):
        Coherence(h, 2, 2)


@pytest.mark.parametrize(("k", "p"), [(0, 2), (True, 2), (1.5, 2), (2, 0), (2, -1), (2, 1.5), (2, True)])
def test_bad_k_and_p(k: Any, p: Any) -> None:
    with pytest.raises(RequestError, match="must be an integer of at least 1"):
        Coherence(0.5, k, p)


@pytest.mark.parametrize("private", ["ab", [1], [""]])
def test_bad_private_items(private: Any) -> None:
    with pytest.raises(RequestError, match="private item"):
        Coherence(0.5, 2, 2, private)


def test_guarantee_is_as_written() -> None:
    assert Coherence(0.3, 2).h == Coherence("0.3", 2).h == Fraction(3, 10)
    assert Coherence(Fraction(1, 3), 2).h == Coherence("1/3", 2).h == Fraction(1, 3)
    assert Coherence("1/3", 5, math.inf).phrase == "coherence (h=1/3, k=5, p=inf)"
    assert Coherence(0.3, 5, 2, ["b", "a", "b"]).as_dict() == {
        "model": "coherence", "h": 0.3, "k": 5, "p": 2, "private": ["b", "a"]
    }  # fmt: skip
    assert Coherence("1/3", 5, math.inf).as_dict()["h"] == "1/3"


@pytest.mark.parametrize(
    ("rows", "k", "private", "said"),
    [
        (["a", "b"], 3, "", "greatest possible k is 2"),
        (["as", "as", "b"], 2, "s", r"'s' is in 2 of 3 rows.*least possible h is 2/3"),
        (["ast", "ast", "b", "t"], 2, "st", r"'t' \(the most frequent of 2\).*Too frequent: 's', 't'"),
        (["s", "s"], 2, "s", "no h below 1"),
    ],
)
def test_infeasible(rows: Sequence[str], k: int, private: str, said: str) -> None:
    with pytest.raises(InfeasibleError) as caught:
        Coherence("0.4", k, 2, list(private)).require_feasible(transactions(rows_of(*rows)))
    assert re.search(said, str(caught.value), re.DOTALL)


def test_a_bound_of_one_counts_rows_only() -> None:
    """At h = 1 nothing is betrayed, and without private items h need not be named."""
    assert Coherence("100%", 2, 2).h == Coherence(1, 2).h == Coherence(k=2).h == Fraction(1)
    assert "probability" not in model.words.promise(Coherence(1, 2, 2, ["s"]).as_dict())
    assert "bounds nothing" in model.words.promise(Coherence(1, 1, 2, ["s"]).as_dict())
    rows = transactions(rows_of("as", "as", "b", "b"))
    assert verify_coherence(rows, Coherence(1, 2, 2, ["s"])).holds
    assert not verify_coherence(rows, Coherence("0.99", 2, 2, ["s"])).holds
    with pytest.raises(RequestError, match="h is needed"):
        Coherence(k=2, private=["s"])
    with pytest.raises(RequestError, match="k must be an integer of at least 1, got None"):
        Coherence()
