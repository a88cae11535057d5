"""Short forms in Python, and the messages for names that are nearly right."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import setveil as sv
from cli_helpers import refused, setveil, write
from setveil.base.errors import closest, did_you_mean
from setveil.judges.guarantees import class_names, models

ROWS = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"], ["tea", "milk"], ["coffee"]]
WARD = pd.DataFrame({"age": ["1", "2"] * 3, "codes": [["a"], ["b"], ["a", "b"], ["a"], ["b"], ["a"]]})


def ward() -> sv.Table:
    return sv.read_table(WARD, qi=["age"], set="codes")


def test_k_and_m_are_a_promise() -> None:
    for short, guarantee in (
        (sv.anonymize(ROWS, k=2, m=2), sv.KmAnonymity(k=2, m=2)),
        (sv.anonymize(ROWS, k=3), sv.KmAnonymity(k=3, m=2)),
        (sv.anonymize(ROWS, k=3, m=float("inf"), algorithm="aa"), sv.KmAnonymity(k=3, m=float("inf"))),
        (sv.anonymize(ward(), k=2, m=1), sv.KKmAnonymity(k=2, m=1)),
    ):
        assert short.verdict.guarantee == guarantee
        assert short.verdict.holds


def test_k_and_m_are_verified(tmp_path: Path) -> None:
    assert sv.verify(ROWS, k=2, m=1)
    assert not sv.verify(ROWS, k=4, m=1)
    for number, release in enumerate((sv.anonymize(ROWS, k=2, m=1), sv.anonymize(ward(), k=2, m=1))):
        release.write(tmp_path / str(number))
        read = sv.read_published(tmp_path / str(number))
        verdicts = [
            sv.verify(one, k=2, m=1) for one in (release, release.release, read, tmp_path / str(number))
        ]
        assert all(verdicts)
        assert {type(one.guarantee) for one in verdicts} == {type(release.verdict.guarantee)}


@pytest.mark.parametrize("call", [sv.anonymize, sv.verify])
def test_a_promise_that_is_missing_or_named_twice(call: Callable[..., Any]) -> None:
    with pytest.raises(sv.RequestError, match="Nothing says what to guarantee") as caught:
        call(ROWS)
    for name in class_names():
        assert f"setveil.{name}" in caught.value.hint
        assert hasattr(sv, name)
    assert len(class_names()) == len(models())
    with pytest.raises(sv.RequestError, match="Nothing says what to guarantee"):
        call(ROWS, m=2)
    with pytest.raises(sv.RequestError, match=r"given twice: k\^m-anonymity \(k=2, m=1\), and m"):
        call(ROWS, sv.KmAnonymity(k=2, m=1), m=2)
    with pytest.raises(sv.RequestError, match="must be a KmAnonymity or another model's, got 5") as wrong:
        call(ROWS, 5)
    assert "setveil.RhoUncertainty" in wrong.value.hint
    with pytest.raises(sv.RequestError, match="k must be an integer of at least 2, got 1"):
        call(ROWS, k=1)


def test_fractions_are_taken_as_texts() -> None:
    assert sv.RT(share="1/2") == sv.RT(share=0.5) == sv.RT(share="50%")
    assert sv.RT(share="1/3").share == Fraction(1, 3)
    assert sv.RT(delta="20%", max_item_loss="0.1") == sv.RT(delta=0.2, max_item_loss=0.1)
    assert sv.Forest(share="3/4") == sv.Forest(share=0.75)
    exact = sv.Exact(max_suppressed="5%", gap="1/20", time_limit=60, weights={"tea": "1/2", "milk": 2})
    assert exact == sv.Exact(max_suppressed=0.05, gap=0.05, time_limit=60, weights={"tea": 0.5, "milk": 2})
    assert sv.COAT(max_suppressed_items="15%") == sv.COAT(max_suppressed_items=0.15)
    assert sv.KmRho(5, 2, rho="20%", sensitive=["tea"]).rho == Fraction(1, 5)
    assert copy(sv.RT(share="1/3")) == sv.RT(share=Fraction(1, 3))
    for wrong in ("half", "3/2", "", "1/0"):
        with pytest.raises(sv.RequestError, match="share must be a share, 0 to 1, got"):
            sv.RT(share=wrong)
    release = sv.anonymize(ward(), k=2, m=1, algorithm=sv.RT(share="1/3"))
    assert release.report["algorithm"]["parameters"]["share"] == "1/3"


@pytest.mark.parametrize(
    ("call", "message", "meant"),
    [
        (lambda: sv.anonymize(ROWS, k=2, algorithm="exakt"), "no algorithm 'exakt'", "exact"),
        (lambda: sv.anonymize(ROWS, k=2, max_supressed=0), "no parameter max_supressed", "max_suppressed"),
        (lambda: sv.anonymize(ROWS, k=2, hierachy={}), "no parameter hierachy", "hierarchy"),
        (lambda: sv.RT(shar=1), "RT has no parameter shar; it has share,", "share"),  # type: ignore[call-arg]
        (lambda: sv.AA(refin=True), "AA has no parameter refin", "refine"),  # type: ignore[call-arg]
        (
            lambda: sv.KKmAnonymity(k=2, m=2, sensitiv=["a"]),  # type: ignore[call-arg]
            "KKmAnonymity has no parameter sensitiv",
            "sensitive",
        ),
        (lambda: sv.KmAnonymity(kk=2), "no parameter kk; it has k, m", "k"),  # type: ignore[call-arg]
        (lambda: sv.read_table(WARD, qi=["Age"], set="codes"), "no column 'Age'", "'age'"),
        (lambda: sv.read_table(WARD, qi=["age"], set="code"), "no column 'code'", "'codes'"),
        (
            lambda: sv.read_table(WARD, qi=["age"], set="codes", weights={"aeg": 2}),
            "column 'aeg', which is no quasi-identifier",
            "'age'",
        ),
        (
            lambda: sv.anonymize(ward(), k=2, algorithm=sv.RT(coarsest={"aeg": ["1"]})),
            "columns that do not exist: 'aeg'",
            "'age'",
        ),
        (lambda: sv.read(WARD, item_column="code"), "no column 'code'", "'codes'"),
        (lambda: sv.risk(ROWS, private=["mlik"]), "not in the data: 'mlik'", "'milk'"),
    ],
)
def test_names_that_are_nearly_right(call: Callable[[], Any], message: str, meant: str) -> None:
    with pytest.raises(sv.SetveilError) as caught:
        call()
    assert message in caught.value.message
    assert caught.value.hint == f"Did you mean {meant}?"


def test_names_that_are_like_no_other() -> None:
    assert did_you_mean("zzz", ["aa", "exact"], "There are aa.") == "There are aa."
    assert closest("EXAKT", ["aa", "exact"]) == ["exact"]
    assert did_you_mean("teh", ["tea", "ten"], most=2, quoted=True) == "Did you mean 'ten' or 'tea'?"


def test_parameters_of_other_algorithms_are_distinguished_from_misspelt_ones() -> None:
    with pytest.raises(sv.RequestError, match="rt has no parameter max_suppressed, not_split;") as caught:
        sv.anonymize(ward(), k=2, m=1, algorithm="rt", max_suppressed=0, not_split=["a"])
    assert caught.value.hint == "max_suppressed is of classes, exact; not_split is of classes."


def test_the_command_line_asks_as_well(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.csv", "who,item\n1,tea\n1,milk\n2,tea\n3,tea\n")
    command: list[object] = ["anonymize", rows, "--k", "2", "--m", "1", "--out", tmp_path / "out"]
    for option, wrong, meant in (("-a", "exakt", "exact"), ("--model", "km-anonymty", "km-anonymity")):
        done = setveil(*command, option, wrong)
        assert done.code == 2
        assert f"Did you mean {meant}?" in " ".join(done.err.replace("│", " ").split())
    refused(setveil(*command, "--id-column", "whho", "--item-column", "item"), 4, "Did you mean 'who'?")
