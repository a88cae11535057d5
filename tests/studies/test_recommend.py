"""The advice: what is tried for a promise, and who wins by which measure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, together, write
from setveil.errors import InfeasibleError, RequestError
from setveil.published.recoding import Recoding
from setveil.report.advice import advice_text, command
from setveil.studies import recommend as module
from setveil.studies.plan import Run, data_set
from setveil.studies.recommend import Candidate, candidates, recommend
from setveil.studies.settings import reference
from setveil.utility.lm import lm

ROWS = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["a"], ["d", "a"], ["d", "b"]] * 3


def test_what_is_tried_keeps_the_promise() -> None:
    without = candidates(5, 2)
    assert [c.algorithm for c in without if c.algorithm == "coat"] == ["coat"]
    assert {c.algorithm for c in without} == {"exact", "mhghs", "aa", "coat", "lg", "border", "mm"}
    assert all(c.as_asked for c in without)
    assert "coat" not in {c.algorithm for c in candidates(5, "inf")}  # all itemsets of any size
    hidden = candidates(5, 2, "a,b", "0.3")
    assert [(c.algorithm, c.as_asked) for c in hidden] == [("border", True), ("mm", True), ("cahd", False)]
    assert hidden[0].options == {"k": 5, "p": 2, "h": "0.3", "private": "a,b"}
    assert hidden[2].options == {"p": 4, "sensitive": "a,b"}  # one row of four is at most 0.3


@pytest.mark.parametrize("name", ["exact", "mhghs", "aa", "coat", "lg", "border", "mm"])
def test_each_release_has_the_promise(name: str) -> None:
    data = sv.Transactions.from_rows(ROWS)
    for one in (c for c in candidates(3, 2) if c.algorithm == name):
        own: dict[str, Any] = {"suppress": False} if "suppress" in one.options else {}
        guarantees: dict[str, Any] = {
            "coat": sv.PrivacyConstraints(3, m=2),
            "lg": sv.TransactionalKAnonymity(3),
            "border": sv.Coherence(str(one.options.get("h", "0.5")), 3, 2, ()),
        }
        guarantees["mm"] = guarantees["border"]
        guarantee = guarantees.get(name, sv.KmAnonymity(3, 2))
        release = sv.anonymize(data, guarantee, algorithm=name, details=False, **own)
        assert sv.verify(release.published, sv.KmAnonymity(3, 2)).holds


def _records(monkeypatch: pytest.MonkeyPatch, found: Sequence[dict[str, Any]]) -> None:
    """Let the runs end as told, in the order of the candidates."""

    def run_all(runs: Sequence[Run], folder: Path, **_: Any) -> dict[str, Any]:
        return {
            run.id: {"run": run.id, "status": status, "error": error, "measures": measures}
            for run, record in zip(runs, found, strict=True)
            if record
            for status, error, measures in [(record["status"], record.get("error", ""), record)]
        }

    monkeypatch.setattr(module, "run_all", run_all)


def _done(lm: float, are: float = 1.0, suppressed: int = 0) -> dict[str, Any]:
    return {
        "status": "done", "rows": 10, "items": 5, "occurrences": 20, "lm": lm, "are_mean": are,
        "suppressed_occurrences": suppressed, "itemsets_frequent": 4, "itemsets_kept": 1, "risk_below_2": 3,
        "risk_m": 3, "seconds": 1.5,
    }  # fmt: skip


TRIED = (
    Candidate("exact", {"k": 2, "m": 2}, "k^m-anonymity (k=2, m=2)"),
    Candidate("coat", {"k": 2, "m": 2, "privacy": "all"}, "k^m-anonymity (k=2, m=2)"),
    Candidate("cahd", {"p": 2, "sensitive": "a"}, "less", as_asked=False),
    Candidate("aa", {"k": 2, "m": 2}, "k^m-anonymity (k=2, m=2)"),
)


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    return data_set(write(tmp_path / "rows.csv", "a,b\nc\n"))


def test_the_least_loss_wins(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _records(monkeypatch, [_done(0.3), _done(0.2), _done(0.0), {}])
    advice = recommend(rows, TRIED, tmp_path, leaves=None)
    assert [(row["algorithm"], row["rank"]) for row in advice.rows] == [
        ("coat", 1), ("exact", 2), ("cahd", None), ("aa", None)
    ]  # fmt: skip
    assert advice.best is not None
    assert advice.best["algorithm"] == "coat"
    last = advice.rows[-1]
    assert (last["status"], last["loss"]) == ("timeout", None)
    text = advice_text(advice.by, advice.rows, "rows.csv", Path("h.csv"), "a")
    assert text.startswith("coat loses least: LM 0.2,")
    assert "aa, timeout: Not finished" in text
    assert "cahd: less." in text


def test_queries_decide_where_they_are_given(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _records(monkeypatch, [_done(0.3, are=0.1), _done(0.2, are=0.4), _done(0.0), _done(0.1, are=0.1)])
    asked = reference(write(tmp_path / "q.csv", "a\n"))
    advice = recommend(rows, TRIED, tmp_path, leaves=None, queries_file=asked)
    assert advice.by == "are_mean"
    # Of two equal errors that of less LM comes first.
    assert [row["algorithm"] for row in advice.rows] == ["aa", "exact", "coat", "cahd"]
    assert "10 % off on average" in advice_text(advice.by, advice.rows, "rows.csv", None, None)


def test_nothing_keeps_the_promise(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = {"status": "infeasible", "error": "There are only 2 rows."}
    _records(monkeypatch, [never] * 4)
    with pytest.raises(InfeasibleError, match="only 2 rows"):
        recommend(rows, TRIED, tmp_path, leaves=None)
    _records(monkeypatch, [never, {**never, "status": "refused"}, never, never])
    with pytest.raises(RequestError):
        recommend(rows, TRIED, tmp_path, leaves=None)
    _records(monkeypatch, [{}] * 4)
    advice = recommend(rows, TRIED, tmp_path, leaves=None)
    assert advice.best is None
    assert "Nothing that was tried" in advice_text(advice.by, advice.rows, "rows.csv", None, None)


def test_groups_are_weighed_by_the_items_that_exist() -> None:
    """LM of COAT's groups as if it had been told of the hierarchy's items that do not occur."""
    data = sv.Transactions.from_rows(ROWS)
    group = np.array([0, 0, 1, -1])
    recoding = Recoding.from_groups(data.vocabulary, group)
    known = Recoding(recoding.items, recoding.published, recoding.image, 40)
    gone = int(data.supports()[3])
    row = {
        "model": "constraints", "lm": lm(data, recoding), "items": 4, "occurrences": data.n_occurrences,
        "suppressed_occurrences": gone,
    }  # fmt: skip
    assert module._loss(row, "lm", 40) == pytest.approx(lm(data, known))
    assert module._loss({**row, "model": "km-anonymity"}, "lm", 40) == row["lm"]
    assert module._loss(row, "lm", None) == row["lm"]


def test_command_makes_the_release() -> None:
    row = {"algorithm": "exact", "options": {"k": "5", "m": "2", "suppress": "False"}}
    written = command(row, "my data.csv", Path("h.csv"), None)
    assert shlex.split(written) == [
        "setveil", "anonymize", "my data.csv", "--algorithm", "exact", "--hierarchy", "h.csv",
        "--no-suppress", "--k", "5", "--m", "2", "--out", "DIR",
    ]  # fmt: skip
    row = {"algorithm": "cahd", "options": {"p": "2", "sensitive": "x"}}
    assert "--sensitive 'a b.txt'" in command(row, "d", Path("h.csv"), "a b.txt")


@needs_compiled
def test_on_the_command_line(tmp_path: Path) -> None:
    text = "\n".join(",".join(row) for row in ROWS * 2) + "\n"
    write(tmp_path / "rows.csv", text)
    done = setveil(
        "recommend", "rows.csv", "--k", 3, "--m", 2, "--json", "--time-budget", 3600, cwd=tmp_path
    ).ok()
    found = done.json()
    assert found["by"] == "lm"
    assert {row["status"] for row in found["candidates"]} == {"done"}
    losses = [row["loss"] for row in found["candidates"]]
    assert losses == sorted(losses)
    assert found["best"] == found["candidates"][0]
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.csv"]
    # The command that is shown gives what was promised.
    shown = command(found["best"], "rows.csv", None, None)
    setveil(*shlex.split(shown)[1:-1], "out", cwd=tmp_path).ok()

    wrong = together(
        [
            ["recommend", "-", "--k", 3, "--m", 2],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--h", "0.5"],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--private", "zzz"],
            ["recommend", "rows.csv", "--k", 3, "--m", "some"],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--queries-file", "nowhere.csv"],
        ],
        tmp_path,
    )
    for one, (code, word) in zip(
        wrong, [(2, "standard input"), (2, "--private"), (4, "zzz"), (2, "--m"), (4, "nowhere")], strict=True
    ):
        refused(one, code, word)
