"""The advice on a table: the methods tried, the criterion, and commands that run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, together, write
from setveil.base.errors import RequestError
from setveil.base.values.kinds import Reference
from setveil.report.recommend.page import advice_html
from setveil.report.recommend.text import advice_text
from setveil.work.studies.compare.plan import Run, data_set, plan_run
from setveil.work.studies.recommend import recommend as module
from setveil.work.studies.recommend.candidates import Candidate, table_candidates
from setveil.work.studies.recommend.recommend import Advice, recommend, record

pytestmark = pytest.mark.usefixtures("forked_workers")

WARD = """patient,age,sex,codes
1,34,F,I21;J18
2,36,F,I21
3,41,M,J18;J44
4,45,M,I50;J44
5,47,F,I50
6,62,M,I21;J44
7,64,M,I21;I50
8,71,F,J18
"""
CODES = "I21;Heart;ALL\nI50;Heart;ALL\nJ18;Lung;ALL\nJ44;Lung;ALL\n"
COLUMNS = ("--qi", "age,sex", "--set", "codes", "--drop", "patient", "-H", "codes.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "ward.csv", WARD)
    write(tmp_path / "codes.csv", CODES)
    return tmp_path


def _table(folder: Path) -> sv.Table:
    return sv.read_table(
        folder / "ward.csv", qi=["age", "sex"], set="codes", hierarchies={"codes": folder / "codes.csv"}
    )


def _done(r: float, t: float, are: float = 1.0, unique: int = 4) -> Any:
    return {
        "status": "done", "rows": 8, "items": 4, "occurrences": 13, "lm": t, "relational_loss": r,
        "transaction_loss": t, "table_are_mean": are, "are_mean": are, "suppressed_occurrences": 2,
        "risk_below_2": unique, "risk_m": 3, "risk_exact": True, "seconds": 1.5,
    }  # fmt: skip


def _advice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, found: Sequence[dict[str, Any]], **more: Any
) -> Advice:
    def run_all(runs: Sequence[Run], folder: Path, **_: Any) -> Any:
        return {
            run.id: {"run": run.id, "status": "done", "error": "", "measures": measures}
            for run, measures in zip(runs, found, strict=True)
        }

    monkeypatch.setattr(module, "run_all", run_all)
    roles = write(folder / "roles.toml", '[columns.age]\nrole = "qi"\n[columns.codes]\nrole = "set"\n')
    data = data_set(folder / "ward.csv", roles=roles)
    return recommend(data, table_candidates(sv.KmAnonymity(2, 1))[: len(found)], folder, leaves=4, **more)


@needs_compiled
def test_what_is_tried_keeps_the_promise(folder: Path) -> None:
    table, every = _table(folder), table_candidates(sv.KmAnonymity(2, 1), Fraction(3, 10))
    assert len({one.name for one in every}) == len(every)
    assert all(one.as_asked for one in every)
    for one in every:
        own: Any = {name: value for name, value in one.options.items() if name not in {"k", "m"}}
        release = sv.anonymize(table, sv.KKmAnonymity(2, 1), algorithm=one.algorithm, details=False, **own)
        assert release.verdict.holds
    assert every[0].options["share"] == "3/10"
    assert "share" not in table_candidates(sv.KmAnonymity(2, 1))[0].options  # as by default


@needs_compiled
def test_a_share_stays_as_it_was_written(folder: Path) -> None:
    """One third is no decimal number: as one it would be another share, and a long one."""
    arguments = ("ward.csv", "-k", 2, "-m", 1, *COLUMNS, "--share", "1/3", "--json")
    advised = setveil("recommend", *arguments, "--time-budget", 1, cwd=folder).json()
    explored = setveil("explore", *arguments, cwd=folder).ok().json()
    assert advised["share"] == explored["share"] == "1/3"
    lines = [row["command"] for row in advised["candidates"] if row["algorithm"] in {"rt", "forest"}]
    lines += [cell["command"] for cell in explored["cells"]]
    assert len(lines) == 4
    assert all("--share 1/3 " in line for line in lines)
    setveil(*shlex.split(lines[-1].replace("DIR", "out"))[1:], cwd=folder).ok()
    report = json.loads((folder / "out" / "internal" / "report.json").read_text(encoding="utf-8"))
    assert report["algorithm"]["parameters"]["share"] == "1/3"


def test_f_decides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [_done(0.9, 0.1, 0.5), _done(0.1, 0.3, 0.2), _done(0.1, 0.4, unique=0)]
    advice = _advice(folder, monkeypatch, found, share=Fraction(1, 4))
    assert advice.by == "f"
    assert [row["name"] for row in advice.rows] == ["rt, sweep alone", "rt", "mondrian"]
    assert [row["loss"] for row in advice.rows] == pytest.approx([0.25, 0.3, 0.325])
    assert advice.answering is None  # the best one
    assert advice.safer is None  # loses 0.075 more
    advice = _advice(folder, monkeypatch, found, share=Fraction(0))
    assert [row["name"] for row in advice.rows] == ["rt", "rt, sweep alone", "mondrian"]
    assert advice.answering is not None
    assert advice.answering["name"] == "rt, sweep alone"
    summary = record(advice, inputs=["ward.csv"])
    text = advice_text(summary)
    assert text.startswith("rt loses least of what was tried: f 0.1 (R 0.9, T 0.1).")
    assert "50% of the rows unique to someone who knows all quasi-identifiers and 3 items" in text
    better = "answers counts over columns and items better: its mean query error (ARE) is 20%, that of rt 50%"
    assert better in text
    assert "f = 0 R + 1 T" in text
    page = advice_html(summary)
    assert "f = 0 R + 1 T" in page
    assert "loss (f)" in page


def test_queries_decide_where_there_are_any(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference_file = Reference(write(folder / "ask.txt", "I21\n"), "0")
    found = [_done(0.9, 0.1, 0.5), _done(0.1, 0.3, 0.2)]
    advice = _advice(folder, monkeypatch, found, share=Fraction(1, 4), queries_file=reference_file)
    assert advice.by == "are_mean"
    assert [row["name"] for row in advice.rows] == ["rt, sweep alone", "rt"]
    assert advice_text(record(advice, inputs=None)).count("20%") >= 1


def test_runs_over_a_table_read_the_queries_of_a_file(folder: Path) -> None:
    roles = write(folder / "roles.toml", '[columns.age]\nrole = "qi"\n[columns.codes]\nrole = "set"\n')
    reference_file = Reference(write(folder / "ask.txt", "I21\n"), "0")
    run = plan_run(
        data_set(folder / "ward.csv", roles=roles),
        "rt",
        {"k": 2, "m": 1},
        measuring={"queries_file": reference_file},
    )
    assert run.measuring["queries_file"] == reference_file


@needs_compiled
def test_every_command_that_is_printed_runs(folder: Path) -> None:
    write(
        folder / "roles.toml",
        '[columns.age]\nrole = "qi"\n[columns.sex]\nrole = "qi"\n'
        '[columns.codes]\nrole = "set"\nhierarchy = "codes.csv"\n',
    )
    done = setveil(
        "recommend", "ward.csv", "-k", 2, "-m", 1, *COLUMNS, "--ranges", "age=10", "--weight", "sex=2",
        "--time-budget", 1, "--json", cwd=folder,
    )  # fmt: skip
    named = done.json()["candidates"]
    by_roles = setveil(
        "recommend", "ward.csv", "-k", 2, "-m", 1, "--roles", "roles.toml", "--share", "30%",
        "--time-budget", 1, "--json", "--seed", 3, cwd=folder,
    )  # fmt: skip
    lines = [row["command"] for row in [*named, *by_roles.json()["candidates"][:2]]]
    assert len(lines) == 9
    assert all("--ranges age=10 --weight sex=2 --hierarchy codes.csv" in line for line in lines[:7])
    assert all(
        "--roles roles.toml" in line and "--share 3/10" in line and "--seed 3" in line for line in lines[7:]
    )
    words = [shlex.split(line.replace("DIR", f"out{at}")) for at, line in enumerate(lines)]
    assert all(word[:2] == ["setveil", "anonymize"] for word in words)
    for one in together([[*word[1:], "--no-details"] for word in words], folder):
        one.ok()


@needs_compiled
def test_a_table_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(guarantee: sv.KmAnonymity, share: Fraction) -> list[Candidate]:
        return table_candidates(guarantee, share)[1:2]

    monkeypatch.setattr("setveil.commands.recommend.table_candidates", one)
    found = sv.recommend(_table(folder), k=2, m=1, share="1/2", time_budget=3600)
    best = found["best"]
    assert best["name"] == "rt, sweep alone"
    assert found["share"] == "1/2"
    assert best["command"] is None
    assert best["loss"] == pytest.approx((best["relational_loss"] + best["transaction_loss"]) / 2)
    release = sv.anonymize(
        _table(folder), sv.KKmAnonymity(2, 1), algorithm="rt", search="sweep", share=Fraction(1, 2)
    )
    assert best["relational_loss"] == release.utility["relational_loss"]
    assert best["transaction_loss"] == release.utility["transaction_loss"]


def test_what_does_not_apply_is_refused(folder: Path) -> None:
    with pytest.raises(RequestError, match="private does not apply to tables"):
        sv.recommend(_table(folder), k=2, m=1, private=["I21"])
    with pytest.raises(RequestError, match="share weighs the columns of a table"):
        sv.recommend([["a"], ["b"]], k=2, m=1, share=0.5)
    base = ("recommend", "ward.csv", "-k", 2, "-m", 1)
    refused(setveil(*base, "--share", "0.5", cwd=folder), 2, "--share", "--qi")
    refused(setveil(*base, *COLUMNS, "--private", "I21", cwd=folder), 2, "--private", "--sensitive")
    refused(setveil(*base, *COLUMNS, "--share", "2", cwd=folder), 2, "share")
    refused(setveil(*base, "--qi", "age", "--set", "none", cwd=folder), 4, "none")
