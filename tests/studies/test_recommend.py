"""The advice: the methods tried for a guarantee, and the best of them by each measure."""

from __future__ import annotations

import html
import json
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, together, write
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.values.kinds import reference
from setveil.judges.utility.lm import lm
from setveil.methods.algorithms import load
from setveil.releases.published.recoding import Recoding
from setveil.report.recommend.page import advice_html
from setveil.report.recommend.text import advice_text, headline, weighing
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.options.reading import Reading
from setveil.work.studies.compare.plan import Run, data_set, plan_run
from setveil.work.studies.recommend import recommend as module
from setveil.work.studies.recommend.candidates import (
    Candidate,
    candidates,
    inference_candidates,
    known_items,
    uncertainty_candidates,
)
from setveil.work.studies.recommend.recommend import Advice, recommend, record

pytestmark = pytest.mark.usefixtures("forked_workers")

ROWS = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["a"], ["d", "a"], ["d", "b"]] * 3


def test_what_is_tried_keeps_the_promise() -> None:
    without = candidates(sv.KmAnonymity(5, 2))
    assert [c.algorithm for c in without if c.algorithm == "coat"] == ["coat"]
    assert {c.algorithm for c in without} == {
        "exact", "classes", "mhghs", "aa", "coat", "lg", "border", "mm", "disassociation",
    }  # fmt: skip
    assert [c.algorithm for c in without if not c.as_asked] == ["disassociation"]
    assert "coat" not in {
        c.algorithm for c in candidates(sv.KmAnonymity(5, math.inf))
    }  # all itemsets of any size
    hidden = candidates(sv.KmAnonymity(5, 2), "a,b", "0.3")
    assert [(c.algorithm, c.as_asked) for c in hidden] == [
        ("exact", True), ("border", True), ("mm", True), ("cahd", False), ("disassociation", False)
    ]  # fmt: skip
    assert (hidden[0].model, hidden[0].name) == ("coherence", "exact")
    assert hidden[0].options == hidden[1].options == {"k": 5, "p": 2, "h": "0.3", "private": "a,b"}
    assert hidden[3].options == {"p": 4, "sensitive": "a,b"}  # one row of four is at most 0.3
    assert hidden[4].options == {"k": 5, "m": 2, "rho": "0.3", "sensitive": "a,b"}


def test_what_is_tried_where_nothing_sensitive_may_be_learned() -> None:
    found = inference_candidates(sv.KmRho(5, 2, "1/5"), "1/5", "a,b")
    assert [c.name for c in found] == [
        "exact", "exact, whole items", "lg", "exact, public items", "border", "mm", "disassociation"
    ]  # fmt: skip
    assert {c.keeps for c in found if c.as_asked} == {"(k,rho)^m-anonymity (k=5, rho=1/5, m=2)"}
    assert [c.name for c in found if not c.as_asked] == ["disassociation"]
    assert found[-1].options == found[0].options
    assert found[0].options == {"k": 5, "m": 2, "rho": "1/5", "sensitive": "a,b"}
    assert found[3].options == found[4].options == {"k": 5, "p": 2, "h": "1/5", "private": "a,b"}
    assert [c.name for c in inference_candidates(sv.KmRho(1, math.inf, "1/5"), "1/5", "a")][-2] == "partial"
    (known,) = inference_candidates(sv.KmRho(5, 2, "1/5", knows="any"), "1/5", "a,b")
    assert (known.algorithm, known.options["knows"]) == ("exact", "any")
    assert "sensitive items known, too" in known.keeps
    alone = uncertainty_candidates("1/5", "a")
    assert [c.name for c in alone] == ["exact", "suppress-control", "td-control", "partial"]
    assert {c.keeps for c in alone} == {"rho-uncertainty (rho=1/5)"}


SECRET = [["a", "b", "s"], ["a", "b"], ["a", "b"], ["b", "c", "s"], ["b", "c"], ["a", "c"], ["a"], ["c"]] * 3


@pytest.mark.parametrize(
    ("tried", "promise"),
    [
        (inference_candidates(sv.KmRho(3, 2, "0.3"), "0.3", "s"), sv.KmRho(3, 2, "0.3", ["s"])),
        (inference_candidates(sv.KmRho(1, 1, "0.3"), "0.3", "s"), sv.KmRho(1, 1, "0.3", ["s"])),
        (
            inference_candidates(sv.KmRho(2, 2, "0.3", knows="any"), "0.3", "s"),
            sv.KmRho(2, 2, "0.3", ["s"], "any"),
        ),
        (uncertainty_candidates("0.4", "s"), sv.RhoUncertainty("0.4", ["s"])),
    ],
)
def test_each_release_hides_what_is_sensitive(tried: list[Candidate], promise: Any) -> None:
    data = sv.Transactions.from_rows(SECRET)
    assert not sv.verify(data, promise).holds
    for one in (one for one in tried if one.as_asked):
        run = plan_run(data_set(Path(__file__)), one.algorithm, one.options, model=one.model or None)
        values: Any = {
            name: value for name, value in run.promise.items() if name not in {"sensitive", "private"}
        }
        makers: Any = {
            "km-rho": lambda: sv.KmRho(**values, sensitive=["s"]),  # noqa: B023  (called at once)
            "rho-uncertainty": lambda: sv.RhoUncertainty(**values, sensitive=["s"]),  # noqa: B023
            "coherence": lambda: sv.Coherence(**values, private=["s"]),  # noqa: B023
        }
        own: Any = dict(run.parameters)
        made = sv.anonymize(data, makers[run.model](), algorithm=one.algorithm, details=False, **own)
        assert sv.verify(made.published, promise).holds, one


@pytest.mark.parametrize("bound", [{}, {"rho": "0.3", "sensitive": ["s"]}])
def test_rows_in_chunks_are_never_ranked_without_that_word(bound: Any) -> None:
    """Though they answer all queries without an error here: their guarantee is another one."""
    rows = SECRET * 2
    advice = sv.recommend(rows, k=3, m=2, **bound, jobs=2, time_budget=600)
    (weaker,) = (row for row in advice["candidates"] if row["algorithm"] == "disassociation")
    assert (weaker["status"], weaker["as_asked"], weaker["rank"]) == ("done", False, None)
    assert (weaker["loss"], weaker["model"]) == (None, "disassociated")
    assert weaker["are_mean"] is not None
    assert weaker["keeps"].startswith("weaker than k^m-anonymity")
    text = advice_text(advice)
    _, apart = text.split("Guarantees less than was asked:\n-")
    assert "disassociation" in apart.split("\n")[0]
    assert f"disassociation: {weaker['keeps']}." in text
    assert "Guarantees less than was asked" in advice_html(advice)
    promise = sv.Disassociated(3, 2, **bound)
    assert sv.anonymize(rows, promise, algorithm="disassociation").verdict.holds


@pytest.mark.parametrize("name", ["exact", "classes", "mhghs", "aa", "coat", "lg", "border", "mm"])
def test_each_release_has_the_promise(name: str) -> None:
    data = sv.Transactions.from_rows(ROWS)
    for one in (c for c in candidates(sv.KmAnonymity(3, 2)) if c.algorithm == name):
        own: Any = {"suppress": False} if "suppress" in one.options else {}
        guarantees: Any = {
            "coat": sv.PrivacyConstraints(3, m=2),
            "lg": sv.TransactionalKAnonymity(3),
            "border": sv.Coherence(str(one.options.get("h", "0.5")), 3, 2, ()),
        }
        guarantees["mm"] = guarantees["border"]
        guarantee = guarantees.get(name, sv.KmAnonymity(3, 2))
        release = sv.anonymize(data, guarantee, algorithm=name, details=False, **own)
        assert sv.verify(release.published, sv.KmAnonymity(3, 2)).holds


def _records(monkeypatch: pytest.MonkeyPatch, found: Sequence[dict[str, Any]]) -> None:
    """Let the runs end as stated, in the order of the candidates."""

    def run_all(runs: Sequence[Run], folder: Path, **_: Any) -> Any:
        return {
            run.id: {"run": run.id, "status": status, "error": error, "measures": measures}
            for run, record in zip(runs, found, strict=True)
            if record
            for status, error, measures in [(record["status"], record.get("error", ""), record)]
        }

    monkeypatch.setattr(module, "run_all", run_all)


def _done(lm: float, are: float = 1.0, suppressed: int = 0, unique: int = 300) -> Any:
    return {
        "status": "done", "rows": 1000, "items": 5, "occurrences": 2000, "lm": lm, "are_mean": are,
        "suppressed_occurrences": suppressed, "itemsets_frequent": 4, "itemsets_kept": 1,
        "risk_below_2": unique, "risk_m": 3, "risk_exact": True, "seconds": 1.5,
    }  # fmt: skip


def _text(advice: Advice, **options: Any) -> str:
    return advice_text(record(advice, inputs=["rows.csv"], **options))


TRIED = (
    Candidate("exact", {"k": 2, "m": 2}, "k^m-anonymity (k=2, m=2)"),
    Candidate("coat", {"k": 2, "m": 2, "privacy": "all"}, "k^m-anonymity (k=2, m=2)", any_items=True),
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
    text = _text(advice, private="a")
    assert text.startswith("coat loses least of what was tried: LM 0.2.")
    assert "aa, timeout: Not finished" in text
    assert "cahd: less." in text


def test_queries_decide_where_there_are_any(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _records(monkeypatch, [_done(0.3, are=0.1), _done(0.2, are=0.4), _done(0.0), _done(0.1, are=0.1)])
    reference_file = reference(write(tmp_path / "q.csv", "a\n"))
    advice = recommend(rows, TRIED, tmp_path, leaves=None, queries_file=reference_file)
    assert advice.by == "are_mean"
    # Of two equal errors that of less LM comes first.
    assert [row["algorithm"] for row in advice.rows] == ["aa", "exact", "coat", "cahd"]
    assert "10% off on average" in _text(advice)


def test_who_answers_best_is_named_where_another_loses_least(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _records(monkeypatch, [_done(0.2, are=0.5), _done(0.3, are=0.4), _done(0.0, are=0), _done(0.25, are=0.4)])
    advice = recommend(rows, TRIED, tmp_path, leaves=None)
    assert advice.best is not None
    assert advice.answering is not None
    assert (advice.best["algorithm"], advice.answering["algorithm"]) == ("exact", "aa")  # cahd is no answer
    assert (
        "aa answers counts of item pairs better: its mean query error (ARE) is 40%, that of exact 50%."
        in (_text(advice))
    )
    _records(monkeypatch, [_done(0.2, are=0.1), _done(0.3, are=0.4), _done(0.0), _done(0.25, are=0.1)])
    assert recommend(rows, TRIED, tmp_path, leaves=None).answering is None


CLASSED = (Candidate("classes", {"k": 2, "m": 2}, "km"), Candidate("lg", {"k": 2}, "more"), *TRIED)


def test_where_classes_come_first_what_has_one_label_is_named(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = {"status": "infeasible", "error": "No."}
    least = [_done(0.1), _done(0.15), _done(0.3, are=0.7), _done(0.2, are=0.5)]  # lg has several labels, too
    _records(monkeypatch, [*least, _done(0.0), _done(0.4)])
    advice = recommend(rows, CLASSED, tmp_path, leaves=None)
    assert advice.best is not None
    assert advice.one_label is not None
    assert (advice.best["name"], advice.one_label["loss"]) == ("classes", 0.2)
    reason = f"of what gives each item one label {advice.one_label['name']} loses least: LM 0.2."
    assert reason in _text(advice)
    assert reason in advice_html(record(advice, inputs=["rows.csv"]))
    _records(monkeypatch, [*least[:2], never, never, never, never])
    assert recommend(rows, CLASSED, tmp_path, leaves=None).one_label is None
    _records(monkeypatch, [_done(0.5, are=0.1), *least[1:], _done(0.4), _done(0.4)])
    advice = recommend(rows, CLASSED, tmp_path, leaves=None)
    assert advice.one_label is None  # nothing to say: the best has one
    reference_file = reference(write(tmp_path / "q.csv", "a\n"))
    _records(monkeypatch, [_done(0.5, are=0.1), *least[1:], _done(0.4), _done(0.4)])
    advice = recommend(rows, CLASSED, tmp_path, leaves=None, queries_file=reference_file)
    assert "answers best: " in _text(advice)


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
    assert "Nothing that was tried" in _text(advice)
    assert "Nothing that was tried" in advice_html(record(advice, inputs=["rows.csv"]))


def test_groups_are_weighed_by_the_items_that_exist() -> None:
    """Check that LM of COAT's groups includes the hierarchy's items that do not occur."""
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


def test_with_a_hierarchy_the_winner_merges_along_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write(tmp_path / "h.csv", "a;x;all\nb;x;all\nc;y;all\n")
    rows = data_set(write(tmp_path / "rows.csv", "a,b\nc\n"), hierarchy=tree)
    _records(monkeypatch, [_done(0.3), _done(0.2), _done(0.0), _done(0.4)])
    advice = recommend(rows, TRIED, tmp_path, leaves=None)
    assert [(row["algorithm"], row["rank"]) for row in advice.rows] == [
        ("exact", 1), ("aa", 2), ("cahd", None), ("coat", None)
    ]  # fmt: skip
    text = _text(advice, hierarchy=tree, private="a")
    assert text.startswith("exact loses least of what was tried along the hierarchy: LM 0.3.")
    apart = text.index("Merges items whatever they mean, not along the hierarchy:\n-   coat")
    assert text.index("\n2.  aa") < apart < text.index("Guarantees less than was asked:\n-   cahd")
    page = advice_html(record(advice, inputs=["rows.csv"], hierarchy=tree, private="a"))
    assert "<h3>Merges items whatever they mean, not along the hierarchy</h3>" in page
    _records(monkeypatch, [{}, _done(0.2), _done(0.0), {}])
    advice = recommend(rows, TRIED, tmp_path, leaves=None)
    assert advice.best is None
    assert "Nothing that was tried satisfies the guarantee along the hierarchy" in _text(
        advice, hierarchy=tree, private="a"
    )


def test_only_what_is_marked_makes_labels_that_are_no_nodes() -> None:
    data = sv.Transactions.from_rows([list(row) for row in ("ab", "ac", "bd", "cd", "ad", "b") * 3])
    tree = Hierarchy.from_paths([["a", "x", "all"], ["b", "x", "all"], ["c", "y", "all"], ["d", "y", "all"]])
    models: Any = {
        "coat": sv.PrivacyConstraints(8, m=2), "lg": sv.TransactionalKAnonymity(8),
        "border": sv.Coherence("0.5", 8, 2, ()), "mm": sv.Coherence("0.5", 8, 2, ()),
        "disassociation": sv.Disassociated(8, 2),
    }  # fmt: skip
    for one in candidates(sv.KmAnonymity(8, 2)):
        needs = one.algorithm in {"exact", "classes", "mhghs", "aa", "lg"}
        own: Any = {"suppress": False} if "suppress" in one.options else {}
        release = sv.anonymize(
            data, models.get(one.algorithm, sv.KmAnonymity(8, 2)), algorithm=one.algorithm, details=False,
            hierarchy=tree if needs else None, **own,
        )  # fmt: skip
        labels = set(release.published.vocabulary.labels)
        assert (labels <= set(tree.labels)) != one.any_items, (one, labels)


@pytest.mark.parametrize(
    ("others", "by", "reason"),
    [
        ([(0.11, 180)], "lm", "; aa leaves 18% at a loss only 0.01 greater."),
        ([(0.11, 201)], "lm", "more than the guarantee covers."),  # not clearly fewer
        ([(0.16, 0)], "lm", "more than the guarantee covers."),  # not nearly the same loss
        ([(0.12, 100), (0.13, 90)], "lm", "; mhghs leaves 9% at a loss only 0.03 greater."),
        ([(0.1, 0)], "lm", "; aa leaves 0% at the same loss."),
        ([(0.109, 100)], "are_mean", "; aa leaves 10% at an error only 0.9% greater."),
        ([(0.111, 100)], "are_mean", "more than the guarantee covers."),
    ],
)
def test_what_is_left_beyond_the_promise_is_weighed(
    others: list[tuple[float, int]], by: str, reason: str
) -> None:
    rows = [
        {**_done(loss, loss, unique=unique), "name": name, "algorithm": name, "options": {}, "keeps": "it",
         "as_asked": True, "any_items": False, "loss": loss, "rank": rank}
        for rank, (name, (loss, unique)) in enumerate(
            zip(["exact", "aa", "mhghs"], [(0.1, 301), *others], strict=False), 1
        )
    ]  # fmt: skip
    if (others[0][0], by) == (0.1, "lm"):  # of equal losses the first stays first here
        assert rows[1]["loss"] == rows[0]["loss"]
    said = weighing(record(Advice(by, 3, rows), inputs=["rows.csv"]))
    assert said.startswith("But it leaves 30% of the rows unique to someone who knows 3 items")
    assert said.endswith(reason)


def test_few_unique_rows_are_not_weighed() -> None:
    rows = [
        {**_done(0.1 + rank / 100, unique=unique), "name": "x", "algorithm": "aa", "options": {},
         "keeps": "it", "as_asked": True, "any_items": False, "loss": 0.1 + rank / 100, "rank": rank}
        for rank, unique in ((1, 9), (2, 0))
    ]  # fmt: skip
    advice = Advice("lm", 3, rows)
    assert advice.safer is None
    rows[0]["risk_exact"] = False
    assert "But it leaves about 0.9% of the rows" in weighing(record(advice, inputs=["r"]))
    rows[0]["risk_below_2"] = 0
    assert weighing(record(advice, inputs=["r"])) == "No row is unique even to someone who knows 3 items."
    assert (known_items(1), known_items(4), known_items("inf")) == (2, 5, 4)


def test_of_equal_losses_the_one_with_fewer_unique_rows_comes_first(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _records(monkeypatch, [_done(0.3), _done(0.5), _done(0.0), _done(0.3, unique=7)])
    advice = recommend(rows, TRIED, tmp_path, leaves=None)
    assert [row["algorithm"] for row in advice.rows][:2] == ["aa", "exact"]


def _advice(tried: Sequence[Candidate]) -> Advice:
    return Advice(
        "lm", 3,
        [
            {**_done(0.1), "name": one.name, "algorithm": one.algorithm, "options": dict(one.options),
             "model": one.model or load(one.algorithm).info.guarantees[0],
             "keeps": one.keeps, "as_asked": True, "any_items": one.any_items, "loss": 0.1, "rank": rank}
            for rank, one in enumerate(tried, 1)
        ],
    )  # fmt: skip


def test_command_has_all_arguments() -> None:
    reading = Reading(
        format="long", encoding="cp1252", separator=";", id_column="who; whom", item_column="$x"
    )
    advice = _advice([Candidate("exact", {"k": 5, "m": 2, "suppress": False}, "it")])
    (row,) = record(
        advice,
        inputs=["my data.csv", "-odd.csv"],
        reading=reading.arguments(),
        hierarchy=Path("h.csv"),
        seed=7,
    )["candidates"]
    assert shlex.split(row["command"]) == [
        "setveil", "anonymize", "my data.csv", "./-odd.csv", "--format", "long", "--encoding", "cp1252",
        "--separator", ";", "--id-column", "who; whom", "--item-column", "$x", "--algorithm", "exact",
        "--hierarchy", "h.csv", "--k", "5", "--m", "2", "--no-suppress", "--seed", "7", "--out", "DIR",
    ]  # fmt: skip
    advice = _advice([Candidate("cahd", {"p": 2, "sensitive": "x"}, "it")])
    (row,) = record(advice, inputs=["d"], hierarchy=Path("h.csv"), private="a b.txt")["candidates"]
    assert "--sensitive 'a b.txt'" in row["command"]
    assert "--hierarchy" not in row["command"]


def _long(separator: str, head: str) -> str:
    pairs = (f"{number}{separator}{item}" for number, row in enumerate(ROWS * 2) for item in row)
    return "\n".join([head, *pairs, ""])


BASKETS = "\n".join(",".join(row) for row in ROWS * 2) + "\n"
READ = {
    "basket": ("rows.csv", BASKETS, Reading(format="basket")),
    "a path with blanks and quotes": ("it's my data/all rows.csv", BASKETS, Reading(format="basket")),
    "odd column names": (
        "long.csv", _long(",", '"who, where",$item'),
        Reading(format="long", id_column="who, where", item_column="$item"),
    ),
    "semicolons": ("semi.csv", BASKETS.replace(",", ";"), Reading(format="basket", separator=";")),
    "cp1252": ("words.csv", BASKETS.replace("a", "Käse"), Reading(format="basket", encoding="cp1252")),
    "wide": (
        "wide.csv", "pat;DX 1;DX 2\n" + "".join(f"{i};{'ab'[i % 2]};{'cd'[i % 2]}\n" for i in range(12)),
        Reading(separator=";", item_columns="DX 1,DX 2"),
    ),
    "tabs": ("long.tsv", _long("\t", "id\titem"), Reading("long", None, "\t", "id", "item")),
}  # fmt: skip


@needs_compiled
def test_every_command_that_is_printed_runs(tmp_path: Path) -> None:
    """Each way of reading, with each algorithm in turn; as a shell reads it."""
    every = candidates(sv.KmAnonymity(3, 2))
    lines = []
    tree = write(tmp_path / "tree.csv", "".join(f"{item};all\n" for item in ["a", "b", "c", "d", "Käse"]))
    for place, (file, content, reading) in enumerate(READ.values()):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode(reading.text_encoding))
        hierarchy = tree if reading.encoding is None else None
        found = record(
            _advice([every[place], every[-1 - place]]), inputs=[file], reading=reading.arguments(),
            hierarchy=hierarchy,
        )  # fmt: skip
        lines += [row["command"] for row in found["candidates"]]
    write(tmp_path / "private items.txt", "d\n")
    for private in ("d, c", "private items.txt"):
        advice = _advice(candidates(sv.KmAnonymity(3, 1), private, "0.9"))
        found = record(advice, inputs=["rows.csv"], reading=["--format", "basket"], private=private)
        lines += [row["command"] for row in found["candidates"]]
    tree.write_text("".join(f"{item};all\n" for item in "abcd"))
    for tried in (
        inference_candidates(sv.KmRho(1, 1, "0.9"), "0.9", "d"),
        uncertainty_candidates("0.9", "d"),
    ):
        found = record(
            _advice(tried), inputs=["rows.csv"], reading=["--format", "basket"], private="d", hierarchy=tree
        )
        lines += [row["command"] for row in found["candidates"]]
        bare = record(_advice(tried), inputs=["rows.csv"], reading=["--format", "basket"], private="d")
        lines += [row["command"] for row in bare["candidates"] if row["name"] == "exact, public items"]
    write(tmp_path / "-more.csv", BASKETS)
    found = record(_advice(every[1:2]), inputs=["rows.csv", "-more.csv"], reading=["--format", "basket"])
    lines += [row["command"] for row in found["candidates"]]
    words = [shlex.split(line) for line in lines]
    assert {word[0] for word in words} == {"setveil"}
    assert {word[-1] for word in words} == {"DIR"}
    done = together([[*word[1:-1], f"out-{i}"] for i, word in enumerate(words)], tmp_path)
    assert [(one.code, one.err) for one in done if one.code] == []


@pytest.mark.exhaustive
@needs_compiled
@pytest.mark.parametrize(
    ("tried", "promise"),
    [
        (candidates(sv.KmAnonymity(2, 1))[5], ["coat"]),
        (candidates(sv.KmAnonymity(2, 1), "d", "0.9")[0], ["exact", "--private", "d"]),
    ],
)
def test_the_command_names_a_hierarchy_that_the_run_made_use_of(
    tried: Candidate, promise: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check also algorithms that could do without one: coat, whose losses it weighs, and coherence."""
    rows = write(tmp_path / "rows.csv", BASKETS)
    tree = write(tmp_path / "tree.csv", "a;x;all\nb;x;all\nc;y;all\nd;y;all\ne;z;all\nf;z;all\n")
    assert tried.algorithm == promise[0]
    advice = recommend(
        data_set(rows, hierarchy=tree, reading={"format": "basket"}), [tried], tmp_path / "runs",
        leaves=None, time_budget=3600,
    )  # fmt: skip
    found = record(
        advice, inputs=["rows.csv"], reading=["--format", "basket"], hierarchy=Path("tree.csv"), private="d"
    )
    (row,) = found["candidates"]
    assert "--hierarchy tree.csv" in row["command"]
    setveil(*shlex.split(row["command"])[1:-1], "out", cwd=tmp_path).ok()
    report = json.loads((tmp_path / "out" / "internal" / "report.json").read_text(encoding="utf-8"))
    assert {name: row[name] for name in ("lm", "ncp")} == {
        name: report["utility"][name] for name in ("lm", "ncp")
    }


def test_python_gets_commands_where_a_command_can_name_the_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write(tmp_path / "rows.csv", BASKETS))
    tree = str(write(tmp_path / "tree.csv", "".join(f"{item};all\n" for item in "abcd")))
    _records(monkeypatch, [_done(0.3)] * 11)
    found = sv.recommend(path, k=3, m=2, hierarchy=tree)
    assert found["hierarchy"]
    assert shlex.split(found["best"]["command"])[:3] == ["setveil", "anonymize", path]
    assert {row["name"] for row in found["candidates"] if not row["rank"]} == {"coat", "disassociation"}
    found = sv.recommend(path, k=3, m=2, hierarchy=sv.read_hierarchy(tree))
    assert found["hierarchy"]
    assert {row["command"] for row in found["candidates"]} == {None}
    found = sv.recommend(ROWS, k=3, m=2)
    assert not found["hierarchy"]
    assert {row["command"] for row in found["candidates"]} == {None}


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
    *ranked, weaker = found["candidates"]
    assert (weaker["algorithm"], weaker["as_asked"], weaker["rank"]) == ("disassociation", False, None)
    losses = [row["loss"] for row in ranked]
    assert losses == sorted(losses)
    assert found["best"] == found["candidates"][0]
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.csv"]
    assert all(row["command"].startswith("setveil anonymize rows.csv ") for row in found["candidates"])
    # The printed command gives the same guarantee.
    setveil(*shlex.split(found["best"]["command"])[1:-1], "out", cwd=tmp_path).ok()
    assert headline(found).startswith(f"{found['best']['name']} loses least of what was tried: LM")

    write(tmp_path / "there.html", "")
    wrong = together(
        [
            ["recommend", "-", "--k", 3, "--m", 2],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--h", "0.5"],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--private", "zzz"],
            ["recommend", "rows.csv", "--k", 1, "--m", 2],
            ["recommend", "rows.csv", "--k", 3, "--m", "some"],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--queries-file", "nowhere.csv"],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--out", "advice.pdf"],
            ["recommend", "rows.csv", "--k", 3, "--m", 2, "--out", "there.html"],
        ],
        tmp_path,
    )
    lines = [
        (2, "standard input"),
        (2, "--private"),
        (4, "zzz"),
        (2, "k must be an integer of at least 2"),
        (2, "--m"),
        (4, "nowhere"),
    ]
    for one, (code, word) in zip(
        wrong, [*lines, (2, "must name a page"), (2, "exists already")], strict=True
    ):
        refused(one, code, word)


@needs_compiled
def test_reading_options_and_private_items_reach_the_command(tmp_path: Path) -> None:
    path = tmp_path / "my data" / "visits.csv"
    path.parent.mkdir()
    path.write_bytes(_long(";", "Fall Nr;Käse").encode("cp1252"))
    done = setveil(
        "recommend", "my data/visits.csv", "--k", 3, "--m", 1, "--private", "d, c", "--h", "0.9",
        "--format", "long", "--separator", ";", "--encoding", "cp1252", "--id-column", "Fall Nr",
        "--item-column", "Käse", "--seed", 5, "--time-budget", 3600, "--out", "pages/advice.html",
        cwd=tmp_path,
    ).ok()  # fmt: skip
    page = (tmp_path / "pages" / "advice.html").read_text(encoding="utf-8")
    (line,) = [line for line in done.out.splitlines() if line.startswith("    setveil ")]
    setveil(*shlex.split(line)[1:-1], "out", cwd=tmp_path).ok()
    assert html.escape(line.strip()) in page
    assert str(tmp_path) not in page
    assert "Page       pages/advice.html" in done.out
    assert "<script" not in page
    assert page.count("<code>setveil anonymize") == 6  # the best, and all five


# --- where nothing sensitive may be learned


def test_learned_items_are_reported() -> None:
    tried = inference_candidates(sv.KmRho(3, 2, "1/5"), "1/5", "s")[::3]
    rows = _advice(tried).rows
    rows[0] |= {"hidden_occurrences": 7, "sensitive_occurrences": 20, "greatest_confidence": 0.2}
    rows[1] |= {"hidden_occurrences": 0, "sensitive_occurrences": 20, "greatest_confidence": None}
    text = _text(Advice("lm", 3, rows, model="km-rho"), private="s")
    lines = text.splitlines()
    assert any(line.split()[-6:-3] == ["0%", "7", "20%"] for line in lines), text
    assert "someone who knows 3 public items, one more than the guarantee covers" in text
    assert "no other row matches their most identifying 3 public items." in text
    assert "hidden: the sensitive ones among them" in text
    assert "itemsets kept" not in text
    page = advice_html(record(Advice("lm", 3, rows, model="km-rho"), inputs=["r"], private="s"))
    assert "<th" in page
    assert "Learned" in page
    alone = _text(Advice("lm", 4, rows, model="rho-uncertainty"), private="s")
    assert "unique to someone who knows 4 public items, for rows are not hidden among others." in alone


def test_python_asks_for_what_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write(tmp_path / "rows.csv", "\n".join(",".join(row) for row in SECRET)))
    done = {**_done(0.3), "hidden_occurrences": 1, "sensitive_occurrences": 6, "greatest_confidence": 0.1}
    _records(monkeypatch, [done] * 7)
    found = sv.recommend(path, k=3, m=2, rho="20%", sensitive="s")
    assert (found["asked"], found["known"], len(found["candidates"])) == ("km-rho", 3, 7)
    assert all("--rho 20% --sensitive s" in row["command"] or "--h 20% --private s" in row["command"]
               for row in found["candidates"])  # fmt: skip
    _records(monkeypatch, [done] * 4)
    found = sv.recommend(SECRET, rho="1/3", sensitive=["s"])
    assert (found["asked"], found["known"]) == ("rho-uncertainty", 4)
    assert {row["command"] for row in found["candidates"]} == {None}
    assert {row["options"]["rho"] for row in found["candidates"]} == {"1/3"}
    _records(monkeypatch, [done])
    found = sv.recommend(SECRET, k=3, m=2, rho=0.2, sensitive=["s"], knows="any")
    assert [row["options"]["knows"] for row in found["candidates"]] == ["any"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "km-anonymity needs k"),
        ({"k": 2, "rho": 0.2}, "rho needs sensitive"),
        ({"k": 2, "sensitive": ["s"]}, "goes with rho|needs rho"),
        ({"k": 2, "knows": "any"}, "goes with rho|needs rho"),
        ({"rho": 0.2, "sensitive": ["s"], "knows": "any"}, "rho-uncertainty has no knows"),
        ({"k": 2, "rho": 0.2, "sensitive": ["s"], "knows": "some"}, 'knows must be "public" or "any"'),
        ({"k": 2, "rho": 1.2, "sensitive": ["s"]}, "rho must be a number above 0 and at most 1"),
        ({"rho": 1.2, "sensitive": ["s"]}, "rho must be a number above 0 and at most 1"),
        ({"k": 2, "rho": 0.2, "sensitive": ["s"], "private": ["a"]}, "private is of coherence"),
        ({"k": 2, "rho": 0.2, "sensitive": ["s"], "h": 0.2}, "h is of coherence"),
    ]
    for options, said in wrong:
        with pytest.raises(RequestError, match=said):
            sv.recommend(SECRET, **options)


@pytest.mark.exhaustive
@needs_compiled
def test_the_command_asks_for_what_is_learned(tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", "\n".join(",".join(row) for row in SECRET) + "\n")
    write(tmp_path / "s.txt", "s\n")
    command = ["recommend", "rows.csv", "--rho", "3/10", "--sensitive", "s.txt", "--time-budget", 3600]
    found = setveil(*command, "--k", 2, "--m", 2, "--json", cwd=tmp_path).ok().json()
    assert found["asked"] == "km-rho"
    done = [row for row in found["candidates"] if row["status"] == "done"]
    assert {row["name"] for row in done} >= {"exact", "exact, whole items", "lg", "mm"}
    exact = next(row for row in done if row["name"] == "exact")
    assert exact["greatest_confidence"] <= 0.3
    assert found["best"]["loss"] == min(row["loss"] for row in done if row["as_asked"])
    setveil(*shlex.split(found["best"]["command"])[1:-1], "out", cwd=tmp_path).ok()
    shown = setveil(*command, cwd=tmp_path).ok()
    assert "It keeps rho-uncertainty (rho=3/10)" in shown.out
    assert " --rho 3/10 --sensitive s.txt " in shown.out
    wrong = together(
        [
            ["recommend", "rows.csv", "--k", 2, "--m", 2, "--rho", "0.3"],
            ["recommend", "rows.csv", "--k", 2, "--m", 2, "--sensitive", "s"],
            ["recommend", "rows.csv", "--m", 2, "--rho", "0.3", "--sensitive", "s"],
            ["recommend", "rows.csv", "--rho", "0.3", "--sensitive", "s", "--knows", "any"],
            ["recommend", "rows.csv", "--k", 2, "--m", 2, "--rho", "3", "--sensitive", "s"],
            ["recommend", "rows.csv", "--k", 2, "--m", 2, "--rho", "0.3", "--sensitive", "zzz"],
            ["recommend", "rows.csv", "--k", 2, "--m", 2, "--rho", "0.3", "--sensitive", "s", "--h", "0.3"],
            ["recommend", "rows.csv", "--rho", "0.3", "--sensitive", "s", "--qi", "a"],
        ],
        tmp_path,
    )
    lines = [
        (2, "needs --sensitive"), (2, "needs --rho"), (2, "needs --k"), (2, "--knows"),
        (2, "rho must be a number"), (4, "zzz"), (2, "--h is of coherence"), (2, "does not apply to tables"),
    ]  # fmt: skip
    for one, (code, word) in zip(wrong, lines, strict=True):
        refused(one, code, word)
