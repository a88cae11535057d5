"""SuppressControl against its twin: the same items go, in the same order."""

from __future__ import annotations

from fractions import Fraction

import pytest

from naive import rho as naive
from naive.km import Rows
from releases import released
from rho_cases import DATA, HALF, PAPER, SENSITIVE, published, random_problems
from setveil.base.errors import RequestError
from setveil.base.progress import listener
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.methods.algorithms.rho import _rules, suppress_control
from setveil.methods.algorithms.rho.suppress_control import SuppressControl, anonymize
from setveil.rows.data.transactions import Transactions
from strategies import examples, seeded, transactions


def order_of(rows: Rows, sensitive: list[str], rho: str, *, refine: bool = False) -> list[str]:
    recoding, details = anonymize(
        transactions(rows), None, RhoUncertainty(rho, sensitive), SuppressControl(refine=refine)
    )
    order = [entry["item"] for entry in details["order"]]
    assert set(details["suppressed"]) == set(order)
    assert set(recoding.published.labels) == {x for row in rows for x in row} - set(order)
    assert naive.is_uncertain(published(rows, recoding), sensitive, Fraction(rho))
    return order


def test_worked_example_has_six_breaching_rules() -> None:
    rules = naive.breaches(PAPER, SENSITIVE, HALF)
    assert {("".join(sorted(x)), s): conf for (x, s), conf in rules.items()} == {
        ("a2", "t"): Fraction(2, 3), ("a2b1", "t"): 1, ("a2s", "t"): 1, ("b2t", "s"): 1,
        ("a2b2s", "t"): 1, ("a2b2t", "s"): 1,
    }  # fmt: skip
    assert len(naive.breaches(PAPER, SENSITIVE, Fraction(2, 3))) == 5


def test_worked_example() -> None:
    release = released(suppress_control, DATA, None, RhoUncertainty("1/2", SENSITIVE))
    assert release.details == {
        "suppressed": ["t"], "order": [{"item": "t", "score": "1/2"}], "by_size": {"1": 1}, "warnings": [],
    }  # fmt: skip
    left = sorted(sorted(row) for row in release.published)
    assert left == sorted(sorted(row - {"t"}) for row in PAPER)


def test_equals_the_twin() -> None:
    later = several = 0
    for rows, sensitive, rho in random_problems(examples(400, 60), 901):
        expected = naive.suppress_control(rows, sensitive, Fraction(rho))
        assert order_of(rows, sensitive, rho) == expected, (rows, sensitive, rho)
        later += bool(set(expected) - set(sensitive))
        several += len(expected) > 1
    assert later
    assert several


def test_items_that_come_back() -> None:
    """Check that c, suppressed first for c -> s, comes back after s is suppressed for a -> s."""
    rows = [frozenset("as"), frozenset("a"), frozenset("acs"), frozenset()]
    assert order_of(rows, ["s"], "1/2") == ["c", "s"]
    assert order_of(rows, ["s"], "1/2", refine=True) == ["s"]
    terms = SuppressControl(refine=True)
    _, details = anonymize(transactions(rows), None, RhoUncertainty("1/2", ["s"]), terms)
    assert details["back"] == ["c"]
    assert details["by_size"] == {"1": 2}


def test_items_that_come_back_are_the_twins() -> None:
    back = secret = 0
    rng = seeded(902)
    for _ in range(examples(1500, 400)):
        rows = [
            frozenset(x for x in "abcst" if rng.random() < 0.5) for _ in range(rng.randint(5, 9))
        ]  # many items come back from rows like these
        sensitive = sorted({x for row in rows for x in row} & {"s", "t"})
        if len({x for row in rows for x in row}) == len(sensitive):
            continue
        plain = order_of(rows, sensitive, "1/2")
        if len(plain) > 1:
            expected = naive.suppress_control(rows, sensitive, Fraction(1, 2), refine=True)
            assert order_of(rows, sensitive, "1/2", refine=True) == expected, (rows, sensitive)
            back += expected != plain
            secret += bool((set(plain) - set(expected)) & {"s", "t"})
    assert back
    assert secret


def test_empty_rows_count() -> None:
    """Nothing known: s is in 2 of 4 rows, or in 2 of 3."""
    rows = [frozenset("s"), frozenset("s"), frozenset("a"), frozenset()]
    assert order_of(rows, ["s"], "1/2") == []
    assert order_of(rows[:3], ["s"], "1/2") == ["s"]
    assert order_of(rows[:3], ["s"], "2/3") == []


@pytest.mark.parametrize("rows", [[], [[]], [["a"]], [["a", "b"], ["a"]]])
def test_nothing_sensitive(rows: list[list[str]]) -> None:
    data = Transactions.from_rows(rows)
    release = released(suppress_control, data, None, RhoUncertainty("1/2"))
    assert release.details["suppressed"] == []
    assert sorted(release.published) == sorted(data)


def test_bad_input() -> None:
    with pytest.raises(RequestError, match=r"1 sensitive item is not in the data: 'x'"):
        anonymize(DATA, None, RhoUncertainty("1/2", ["s", "x"]))
    with pytest.raises(RequestError, match="All 2 items of the data are sensitive"):
        anonymize(Transactions.from_rows([["s", "t"]]), None, RhoUncertainty("1/2", SENSITIVE))
    with pytest.raises(RequestError, match="refine must be True or False"):
        SuppressControl(refine=1)  # type: ignore[arg-type]


def test_long_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rules, "MOST_STEPS", 100_000)
    monkeypatch.setattr(_rules, "STEPS_AT_ONCE", 50_000)
    row = [f"i{j}" for j in range(40)]
    data = Transactions.from_rows([[*row, "s"], row, row])
    with pytest.raises(RequestError, match=r"(?s)too many sets of \d items.*setveil\.KmRho"):
        anonymize(data, None, RhoUncertainty("1/2", ["s"]))


def test_progress_is_heard() -> None:
    heard: list[tuple[str, float | None]] = []
    hear = listener(lambda *told: heard.append(told))
    released(suppress_control, DATA, None, RhoUncertainty("1/2", SENSITIVE), progress=hear)
    assert ("finding rules of 1 known items", 1.0) in heard
    assert all(done is None or 0 <= done <= 1 for _, done in heard)
