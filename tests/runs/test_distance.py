"""The distance of releases from the least loss, compared with every possible release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import pytest

import setveil as sv
from naive import exact_rho as naive
from naive.anonymize import Tree
from naive.exact_rho import ITEMS, NOTHING, OCCURRENCES, Promise, Terms
from naive.km import Rows
from rho_cases import HALF, PAPER, PARENTS, SENSITIVE, random_problems, random_trees
from setveil.base.errors import InfeasibleError, RequestError
from setveil.methods.algorithms.exact import _breaches
from setveil.runs.distance import SINGLE
from strategies import COMPILED, either, enough, transactions


@dataclass(frozen=True)
class Compared:
    """An algorithm, and the releases that its own are compared with."""

    name: str
    model: str
    hide: str
    objective: str = "lm"
    hierarchy: bool = False
    bounded_by: str = "suppression"

    @property
    def own(self) -> dict[str, Any]:
        return {"objective": self.objective} if self.name == "td-control" else {}

    def promise(self, rho: Fraction, sensitive: tuple[str, ...]) -> Promise:
        if self.model == "rho-uncertainty":
            return Promise(1, math.inf, rho, sensitive, "any")
        return Promise(1 if self.model == "km-rho" else 2, 2, rho, sensitive)

    def guarantee(self, promise: Promise) -> Any:
        if self.model == "rho-uncertainty":
            return sv.RhoUncertainty(promise.rho, promise.sensitive)
        if self.model == "coherence":
            return sv.Coherence(promise.rho, promise.k, promise.m, promise.sensitive)
        return sv.KmRho(promise.k, promise.m, promise.rho, promise.sensitive)

    def least(self, rows: Rows, tree: Tree | None, promise: Promise) -> Fraction | None:
        public = set(chain.from_iterable(rows)) - set(promise.sensitive)
        keep = tuple(sorted(public)) if self.hide == OCCURRENCES else ()
        terms = Terms(self.hide, self.objective, keep=keep)
        if self.model == "coherence":
            h, k, p = promise.rho, promise.k, promise.m
            return naive.coherence(rows, tree, h, k, p, promise.sensitive, terms)[0]
        return naive.least_loss(rows, tree, promise, terms)[0]


ALL = {
    "mm": Compared("mm", "coherence", NOTHING),
    "border": Compared("border", "coherence", NOTHING),
    "suppress-control": Compared("suppress-control", "rho-uncertainty", ITEMS),
    "td-control by NCP": Compared(
        "td-control", "rho-uncertainty", ITEMS, "ncp", hierarchy=True, bounded_by="cut with suppression"
    ),
    "td-control by LM": Compared(
        "td-control", "rho-uncertainty", ITEMS, hierarchy=True, bounded_by="cut with suppression"
    ),
    "partial": Compared("partial", "km-rho", OCCURRENCES, bounded_by=SINGLE),
}


def problems(compared: Compared, n: int) -> Iterator[tuple[Rows, Tree | None, list[str], str]]:
    if compared.hierarchy:
        for case, sensitive, rho in random_trees(n, 971):
            yield case.rows, case.parents, sensitive, rho
    else:
        for rows, sensitive, rho in random_problems(n, 972):
            yield rows, None, sensitive, rho


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ALL)
def test_the_bound_is_the_least_loss(name: str) -> None:
    """Check that no release loses less, and that a release with the least loss is reported as optimal."""
    compared = ALL[name]
    reached = missed = 0
    for rows, tree, sensitive, rho in problems(
        compared, enough(either(60 if name == "partial" else 240, 12))
    ):
        if len(set(chain.from_iterable(rows))) > 7:
            continue  # too many releases
        promise = compared.promise(Fraction(rho), tuple(sensitive))
        hierarchy = None if tree is None else sv.Hierarchy(tree)
        try:
            release = sv.anonymize(
                transactions(rows), compared.guarantee(promise), hierarchy=hierarchy,
                algorithm=compared.name, bound=True, **compared.own,
            )  # fmt: skip
        except InfeasibleError:
            continue
        found, what = release.report["optimality"], (rows, tree, promise)
        least = compared.least(rows, tree, promise)
        assert least is not None, what
        assert (found["objective"], found["model"], found["proven"]) == (
            compared.objective, compared.bounded_by, True,
        ), what  # fmt: skip
        assert found["loss"] == release.utility[compared.objective]
        assert found["lower_bound"] == float(least) <= found["loss"], what
        assert (found["gap"] == 0) == (found["loss"] == float(least)), what
        reached += found["gap"] == 0 < found["loss"]
        missed += found["gap"] > 0
    assert reached
    assert missed or name in {"mm", "partial"} or not COMPILED  # these hardly ever do


def test_worked_example() -> None:
    """SuppressControl loses 2 of 20 occurrences, TDControl 8 of 80 units: both the least possible."""
    tree = sv.Hierarchy(PARENTS)
    for name, objective in {"suppress-control": "lm", "td-control": "ncp"}.items():
        release = sv.anonymize(
            transactions(PAPER), sv.RhoUncertainty(HALF, SENSITIVE), hierarchy=tree, algorithm=name,
            bound=True,
        )  # fmt: skip
        found = release.report["optimality"]
        assert (found["objective"], found["loss"], found["lower_bound"], found["gap"]) == (
            objective, 2 / 20, 8 / 80, 0,
        )  # fmt: skip


def test_the_least_loss_of_partial_is_said_to_be_that_of_hiding() -> None:
    release = sv.anonymize(
        transactions(PAPER), sv.KmRho(1, 2, HALF, SENSITIVE), algorithm="partial", bound=10
    )
    text = " ".join(repr(release).split())
    assert "Proven: the smallest loss (LM) of any suppression of sensitive occurrences, 0.05." in text


@pytest.mark.parametrize(
    ("name", "guarantee", "reason"),
    [
        ("lg", sv.KmRho(2, 2, HALF, SENSITIVE), "lg makes none: it may lose less"),
        ("lg", sv.TransactionalKAnonymity(2), "only, not for k-anonymity of whole rows"),
        ("partial", sv.RhoUncertainty(HALF, SENSITIVE), "other rows match"),
        ("cahd", sv.PrivacyDegree(2, ["s"]), "only, not for groups with a privacy degree"),
    ],
)
def test_an_unknown_optimum_is_refused_at_once(name: str, guarantee: Any, reason: str) -> None:
    def heard(phase: str, _: float | None) -> None:
        raise AssertionError(phase)

    with pytest.raises(RequestError, match=reason):
        sv.anonymize(PAPER, guarantee, algorithm=name, bound=True, progress=heard)


@pytest.fixture
def unbounded(monkeypatch: pytest.MonkeyPatch) -> sv.VerifiedRelease:
    """A release after which there are too many sets to look at."""
    monkeypatch.setattr(_breaches, "MOST_STEPS", -1)
    return sv.anonymize(
        transactions(PAPER), sv.RhoUncertainty(HALF, SENSITIVE), algorithm="suppress-control", bound=True,
        details=True,
    )  # fmt: skip


def test_a_bound_that_is_not_found_leaves_the_release(unbounded: sv.VerifiedRelease) -> None:
    failed = "There are too many sets of items that someone may know to check each of them."
    assert unbounded.verdict.holds
    assert unbounded.report["optimality"] == {
        "objective": "lm", "model": "suppression", "loss": 0.1, "lower_bound": 0.0, "gap": 1.0,
        "proven": False, "failed": failed,
    }  # fmt: skip
    warning = f"Nothing was proven about the smallest loss (LM) of any suppression. {failed}"
    assert warning in " ".join(repr(unbounded).split())
    assert warning in unbounded.report_html()
    assert "too many sets" not in unbounded.report_html(external=True)


def test_what_loses_nothing_is_optimal_whatever_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_breaches, "MOST_STEPS", -1)
    release = sv.anonymize(
        [["a", "s"], ["a"]], sv.RhoUncertainty(HALF, ["s"]), algorithm="suppress-control", bound=True
    )
    assert release.utility["lm"] == 0
    assert release.report["optimality"] == {
        "objective": "lm", "model": "suppression", "loss": 0.0, "lower_bound": 0.0, "gap": 0.0,
        "proven": True,
    }  # fmt: skip


def test_no_time_is_no_failure() -> None:
    rows = [frozenset(row) for row in ("abs", "ab", "acs", "bc", "cds", "ad", "bds", "c", "abcd")]
    release = sv.anonymize(
        transactions(rows), sv.RhoUncertainty("1/3", ["s"]), algorithm="suppress-control", bound=1e-9
    )
    found = release.report["optimality"]
    assert 0 <= found["lower_bound"] <= found["loss"]
    assert "failed" not in found


@pytest.mark.parametrize("rows", [[], [frozenset()], [frozenset("a")]], ids=["none", "empty", "one"])
@pytest.mark.parametrize("name", ALL)
def test_hardly_any_data(name: str, rows: Rows) -> None:
    compared = ALL[name]
    promise = compared.promise(HALF, ())
    tree = sv.Hierarchy({"a": "*", "b": "*", "*": None}) if compared.hierarchy else None
    try:
        release = sv.anonymize(
            transactions(rows), compared.guarantee(promise), hierarchy=tree, algorithm=compared.name,
            bound=True, **compared.own,
        )  # fmt: skip
    except InfeasibleError:
        assert (compared.model, len(rows)) == ("coherence", 1)  # fewer than k
    else:
        assert release.report["optimality"]["gap"] == 0
