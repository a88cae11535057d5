"""Parameters that no 64-bit number holds, or only just: answers are exact, and nothing overflows."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.base.errors import DataError, InfeasibleError, RequestError
from setveil.judges.guarantees import Guarantee, models
from setveil.judges.guarantees.verify import verify
from setveil.methods import algorithms
from setveil.releases.published.group_files import PublishedGroups, read_grouped
from setveil.rows.data.vocabulary import Vocabulary
from tables import as_table

LARGE = [2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]
ROWS = [["a", "b"], ["a", "b"], ["a", "b"], [], ["a"], ["b", "s"], ["b"]]
DATA = sv.Transactions.from_rows(ROWS)
NOBODY = sv.Transactions.from_rows([[], []])
IMAGE = {item: item for item in "abs"}


def groups(sizes: list[int], counts: list[int]) -> PublishedGroups:
    """Make groups of the given sizes, whose rows have no items, and whose item s occurs `counts` times."""
    n = len(sizes)
    return PublishedGroups(
        sv.Transactions.from_rows([[]] * sum(sizes)),
        np.repeat(np.arange(n), sizes),
        Vocabulary(["s"]),
        np.arange(n + 1),
        np.zeros(n, np.int32),
        np.array(counts, np.int64),
    )


@pytest.mark.parametrize("large", LARGE)
def test_too_large_k_or_p_is_never_kept(large: int) -> None:
    promises: list[tuple[Guarantee, dict[str, Any]]] = [
        (sv.KmAnonymity(large, 2), {}),
        (sv.KmAnonymity(large, math.inf), {}),
        (sv.TransactionalKAnonymity(large), {}),
        (sv.PrivacyConstraints(large, m=2), {}),
        (sv.PrivacyConstraints(large, [("a", "b")]), {"image": IMAGE}),
        (sv.Coherence(0.9, large, 2, ["s"]), {}),
        (sv.Coherence(Fraction(1, large), 1, 2, ["s"]), {}),
    ]
    for promise, more in promises:
        verdict = verify(DATA, promise, **more)
        assert not verdict.holds, promise
        assert verdict.violations
    for p in (large, 2 * large):
        verdict = verify(groups([4, 2, 3], [1, 2, 1]), sv.PrivacyDegree(p, ("s",)))
        assert (verdict.holds, verdict.violations) == (False, 3)
    counts = [10**18, 1]  # as a file may claim; times p it may have any value modulo 2^64
    assert verify(groups([4, 2], counts), sv.PrivacyDegree(2, ("s",))).violations == 1


@pytest.mark.parametrize("large", LARGE)
def test_knowing_more_items_than_there_are_is_knowing_all(large: int) -> None:
    for k in (2, 3):
        for few, more in (
            (sv.KmAnonymity(k, 2), sv.KmAnonymity(k, large)),
            (sv.PrivacyConstraints(k, m=2), sv.PrivacyConstraints(k, m=large)),
            (sv.Coherence(0.5, k, 2, ["s"]), sv.Coherence(0.5, k, large, ["s"])),
        ):
            one: Any = verify(DATA, few)
            other: Any = verify(DATA, more)
            assert (one.holds, one.violations, one.first) == (other.holds, other.violations, other.first)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", algorithms.names())
@pytest.mark.parametrize("large", [2**31, 2**62, 2**63, 2**64])
def test_no_algorithm_minds(name: str, large: int) -> None:
    makes: dict[str, Any] = {
        "km-anonymity": sv.KmAnonymity,
        "k-anonymity": lambda k, _: sv.TransactionalKAnonymity(k),
        "constraints": lambda k, m: sv.PrivacyConstraints(k, m=m),
        "coherence": lambda k, m: sv.Coherence(0.9, k, m, ["s"]),
        "disassociated": sv.Disassociated,
        "privacy-degree": lambda k, _: sv.PrivacyDegree(k, ("s",)),
        "kkm": sv.KKmAnonymity,
        "mixed-km": sv.MixedKmAnonymity,
        "km-rho": lambda k, m: sv.KmRho(1 if name == "partial" else k, m, "1/2", ["s"]),
        "rho-uncertainty": lambda _k, _m: sv.RhoUncertainty("1/2", ["s"]),
    }
    if name == "dp-blocks":
        pytest.skip("its guarantee has neither k nor m")
    promises = [makes[model] for model in algorithms.load(name).info.guarantees]
    n = 100 if name == "forest" else 400  # which takes the square of the items
    wide = sv.Transactions.from_rows([[f"{i}", f"{i + 1}"] for i in range(n)] * 2)
    for make in promises:
        if make(2, 2).model != "k-anonymity":
            rows = in_form(DATA if make(2, 2).secrets or name == "oa" else wide, make(2, 2))
            assert sv.anonymize(rows, make(2, large), algorithm=name, details=False).verdict.holds
        if make(large, 2) != make(2, 2):
            with pytest.raises(InfeasibleError):
                sv.anonymize(in_form(DATA, make(2, 2)), make(large, 2), algorithm=name)
        nothing = in_form(sv.Transactions.from_rows([]), make(2, 2))
        sv.anonymize(nothing, make(large, 2), algorithm=name)


def in_form(rows: sv.Transactions, promise: Any) -> sv.Transactions:
    return as_table(rows) if models()[promise.model].release == "tables" else rows


@pytest.mark.parametrize("weight", [5e-324, 1e300, 10**400, Fraction(1, 10**13), math.inf, -1])
def test_weights_that_the_solver_cannot_hold_are_refused(weight: Any) -> None:
    with pytest.raises(RequestError, match="1e-12 to 1e"):
        sv.anonymize(DATA, sv.KmAnonymity(2, 2), weights={"a": weight})


def test_weights_far_apart() -> None:
    release = sv.anonymize(DATA, sv.KmAnonymity(3, 2), weights={"a": 1e12, "b": 1e-12, "s": 0}, details=False)
    assert release.verdict.holds


@pytest.mark.parametrize("promise", [sv.KmAnonymity(4, 2), sv.Coherence(0.5, 4, 2, ["s"])])
def test_all_violations_may_be_requested(promise: Guarantee) -> None:
    verdict: Any = verify(DATA, promise, show=2**63)
    assert len(verdict.first) == verdict.violations > 0


def test_more_rows_than_can_be_are_refused(tmp_path: Any) -> None:
    (tmp_path / "data.csv").write_text("group,row,item\n0,0,a\n")
    (tmp_path / "groups.csv").write_text(
        "group,item,count\n" + "".join(f"{g},,{10**18 - 1}\n" for g in range(19))
    )
    with pytest.raises(DataError, match="rows in all groups"):
        read_grouped(tmp_path)
