"""Claims of recommend about each release, compared with brute force and with the run of its command."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import needs_compiled, together, write
from naive import classes, coherence, estimates, exact, risk
from naive.estimates import Published
from naive.exact_rho import ITEMS, NOTHING, OCCURRENCES, Promise, Terms
from naive.km import is_km
from naive.rho import is_km_rho, is_uncertain, rules
from rho_problems import Problem, draw_problem
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.values.kinds import reference
from setveil.releases.published.shared import read_shared
from setveil.rows.data.io.rows import read as read_rows
from setveil.rows.hierarchy.io import write_hierarchy
from setveil.work.studies.compare import worker
from setveil.work.studies.compare.plan import Run, data_set
from setveil.work.studies.recommend import recommend as module
from setveil.work.studies.recommend.candidates import (
    Candidate,
    candidates,
    inference_candidates,
    uncertainty_candidates,
)
from setveil.work.studies.recommend.recommend import recommend, record
from strategies import examples, random_case, seeded

Row = frozenset[str]

pytestmark = needs_compiled

HIDES = {"exact, whole items": ITEMS, "exact, public items": NOTHING}


late: set[int] = set()


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the runs here, one after the other: to start processes takes longer.

    Those whose numbers are in `late` are not finished in time.
    """

    def run_all(runs: Sequence[Run], folder: Path, **_: Any) -> dict[str, Any]:
        out = {}
        for at, run in enumerate(runs):
            if at in late:
                continue
            measures: dict[str, Any] = {}
            status, error = "done", ""
            try:
                worker._run(json.loads(json.dumps(run.task())), measures)
            except (InfeasibleError, RequestError) as problem:
                status = "infeasible" if isinstance(problem, InfeasibleError) else "refused"
                error = problem.message
            out[run.id] = {"run": run.id, "status": status, "error": error, "measures": measures}
        return out

    late.clear()
    monkeypatch.setattr(module, "run_all", run_all)
    monkeypatch.setattr(worker, "_load_kernels", lambda _: None)


def advised(
    folder: Path,
    rows: Sequence[Row],
    tree: Any,
    tried: Sequence[Candidate],
    known: int,
    secret: Sequence[str],
    queries: Sequence[Sequence[str]] = (),
) -> list[dict[str, Any]]:
    """Try what applies, look at the order, and run the commands: the candidates that have a release.

    Each with the rows that its command published, `published`. With queries their mean error decides.
    """
    folder.mkdir()
    lines = [json.dumps(sorted(row)) + "\n" for row in rows]
    data = data_set(
        write(folder / "rows.jsonl", "".join(lines)), hierarchy=tree_file(folder, tree),
        reading={"format": "jsonl"},
    )  # fmt: skip
    reference_file = reference(write(folder / "q.csv", "".join(",".join(one) + "\n" for one in queries)))
    advice = recommend(
        data, tried, folder / "runs", leaves=tree.n_leaves, known=known, time_budget=3600,
        queries_file=reference_file if queries else None,
    )  # fmt: skip
    found = record(
        advice, inputs=["rows.jsonl"], reading=["--format", "jsonl"], hierarchy=Path("tree.json"),
        private=",".join(secret),
    )  # fmt: skip
    ranked = [row for row in found["candidates"] if row["rank"]]
    assert [row["rank"] for row in ranked] == list(range(1, len(ranked) + 1))
    order = [(row["loss"], row["lm"], row["risk_below_2"]) for row in ranked]
    assert order == sorted(order)
    assert {row["status"] for row in found["candidates"]} <= {"done", "infeasible", "timeout"}
    unfinished = [row for row in found["candidates"] if row["status"] == "timeout"]
    assert {row["name"] for row in unfinished} == {tried[at].name for at in late}
    assert all(row["rank"] is None and row["loss"] is None for row in unfinished)
    done = [row for row in found["candidates"] if row["status"] == "done" and row["as_asked"]]
    words = [shlex.split(row["command"].replace("DIR", f"out{at}")) for at, row in enumerate(done)]
    for at, one in enumerate(together([[*word[1:], "--no-details"] for word in words], folder)):
        one.ok()
        report = json.loads((folder / f"out{at}" / "internal" / "report.json").read_text(encoding="utf-8"))
        for name in ("lm", "ncp", "suppressed_occurrences"):
            assert done[at][name] == report["utility"][name], done[at]["command"]
        text = (folder / f"out{at}" / "published" / "data.jsonl").read_text(encoding="utf-8")
        done[at]["published"] = [frozenset(json.loads(line)) for line in text.splitlines()]
        if queries:
            of = errors(rows, folder / f"out{at}" / "published", queries)
            assert done[at]["loss"] == done[at]["are_mean"] == pytest.approx(math.fsum(of) / len(of))
        public = [row - set(secret) for row in done[at]["published"]]
        assert done[at]["risk_below_2"] == risk.best(public, known, 2)
    return done


def errors(rows: Sequence[Row], folder: Path, queries: Sequence[Sequence[str]]) -> list[float]:
    """Answer queries from the published files, one world after the other, and compare with the rows."""
    shared = read_shared(folder, read_rows)
    truth = [sum(set(query) <= row for row in rows) for query in queries]
    nonzero = [(query, n) for query, n in zip(queries, truth, strict=True) if n]
    if shared.about["recoding"] == "classes":
        by_class = in_classes(shared, {item for query in queries for item in query})
        return [abs(classes.estimate(by_class, query) - n) / n for query, n in nonzero]
    counts = None if shared.counts is None else {(item, label): n for item, label, n in shared.counts.lines()}
    least, suppressed = (
        (0, True) if shared.counts is None else (shared.counts.least, shared.counts.suppressed)
    )
    release = Published(
        [frozenset(row) for row in shared.rows], shared.members, counts, least, suppressed,
        shared.about["recoding"] == "local",
    )  # fmt: skip
    return [abs(estimates.estimate(release, query) - n) / n for query, n in nonzero]


def in_classes(shared: Any, queried: set[str]) -> classes.Release:
    """Read a release in classes as its naive twin: the label of an item is the one that its class shows."""
    class_of = shared.rows.class_of_row.tolist()
    shown = [
        [frozenset(row) for row, c in zip(shared.rows, class_of, strict=True) if c == at]
        for at in range(max(class_of) + 1)
    ]
    lines = shared.counts.lines()
    labels = {label for rows in shown for row in rows for label in row} | set(shared.members)
    items = {item for label in labels for item in shared.members.get(label, (label,))}
    items |= {item for _, item, _, _ in lines} | queried
    images: list[dict[str, str | None]] = []
    for rows in shown:
        seen = sorted({label for row in rows for label in row})
        images.append(
            {
                item: next((label for label in seen if item in shared.members.get(label, (label,))), None)
                for item in sorted(items)
            }
        )
    return classes.Release(
        shown, images,
        {(c, item): n for c, item, _, n in lines if c >= 0},
        {item: n for c, item, _, n in lines if c < 0},
        shared.counts.least,
    )  # fmt: skip


def tree_file(folder: Path, tree: Any) -> Path:
    write_hierarchy(tree, folder / "tree.json")
    return folder / "tree.json"


def test_anonymity(tmp_path: Path) -> None:
    rng = seeded(284)
    for turn in range(examples(3)):
        case = random_case(rng, most_leaves=6, most_rows=12, most_items=3)
        m = rng.choice((1, 2, math.inf))
        if sum(map(bool, case.rows)) < 2 or case.tree.n_nodes < 2:
            continue
        tried = candidates(sv.KmAnonymity(2, m))
        least = exact.least_loss(case.rows, case.parents, 2, m, exact.Terms())
        assert least is not None
        late.clear()
        late.update(at for at in range(len(tried)) if at and rng.random() < 0.15)
        filled = [sorted(row) for row in case.rows if row]
        queries = [rng.sample(row, min(2, len(row))) for row in rng.choices(filled, k=3)]
        workload = queries if rng.random() < 0.5 else ()
        for row in advised(tmp_path / f"{turn}", case.rows, case.tree, tried, 3, (), workload):
            assert is_km(row["published"], 2, m)
            if workload:
                continue  # of losses, the least was proven
            if row["algorithm"] not in {
                "lg",
                "coat",
            }:  # these do not publish cuts; of few rows classes are one
                assert row["loss"] >= float(least) - 1e-9
            if row["name"] == "exact":
                assert row["loss"] == pytest.approx(float(least), abs=1e-9)


@pytest.mark.parametrize("model", ["km-rho", "rho-uncertainty", "coherence"])
def test_nothing_sensitive_is_learned(model: str, tmp_path: Path) -> None:
    rng = seeded(285)
    turn = 0
    while turn < examples(2):
        problem = draw_problem(rng, "occurrences", 4, 9)
        occurring = {item for row in problem.rows for item in row}
        secret = tuple(item for item in problem.promise.sensitive if item in occurring)
        if not secret or not occurring - set(secret) or not problem.tree:
            continue
        k, m, rho = rng.choice((1, 2)), rng.choice((1, 2)), Fraction(rng.choice(("1/2", "2/3", "3/4")))
        k += model == "coherence"  # at least 2, as recommend asks with private items
        named = ",".join(secret)
        tried = {
            "km-rho": inference_candidates(sv.KmRho(k, m, rho), str(rho), named),
            "rho-uncertainty": uncertainty_candidates(str(rho), named),
            "coherence": candidates(sv.KmAnonymity(k, m), named, str(rho)),
        }[model]
        least = {one.name: least_of(problem, one, model, k, m, rho, secret) for one in tried}
        tree = problem.hierarchy
        turn += 1
        try:
            done = advised(tmp_path / f"{turn}", problem.rows, tree, tried, 3, secret)
        except (InfeasibleError, RequestError):
            assert all(least[one.name] is None for one in tried if one.algorithm == "exact")
            continue
        assert {row["name"] for row in done if row["algorithm"] == "exact"} == {
            one.name for one in tried if one.algorithm == "exact" and least[one.name] is not None
        }
        for row in done:
            rows = row["published"]
            if row["algorithm"] == "exact":
                assert row["loss"] == pytest.approx(float(least[row["name"]] or 0), abs=1e-9)
            assert is_kept(model, rows, secret, k, m, rho)
            before, after = (sum(len(some & set(secret)) for some in of) for of in (problem.rows, rows))
            assert row["hidden_occurrences"] == before - after
            if row["greatest_confidence"] is not None:
                known = (m, "public") if model == "km-rho" else (math.inf, "any")
                learned = max(rules(rows, secret, *known).values(), default=Fraction(0))
                assert row["greatest_confidence"] == pytest.approx(float(learned))


def is_kept(model: str, rows: list[Row], secret: Sequence[str], k: int, m: int, rho: Fraction) -> bool:
    if model == "rho-uncertainty":
        return is_uncertain(rows, secret, rho)
    if model == "coherence":
        return coherence.is_coherent(rows, secret, rho, k, m)
    return is_km_rho(rows, secret, k, m, rho, "public")


def least_of(
    problem: Problem, one: Candidate, model: str, k: int, m: int, rho: Fraction, secret: tuple[str, ...]
) -> Fraction | None:
    """Find the least loss for the parameters of `exact`, by trying all; None if there is none."""
    if one.algorithm != "exact":
        return None
    hide = HIDES.get(one.name, {"km-rho": OCCURRENCES, "coherence": NOTHING}.get(model, ITEMS))
    terms = (1, math.inf, rho, secret, "any") if model == "rho-uncertainty" else (k, m, rho, secret, "public")
    named_model = "coherence" if hide == NOTHING else model
    return Problem(problem.rows, problem.tree, Promise(*terms), Terms(hide), named_model).least_loss()[0]
