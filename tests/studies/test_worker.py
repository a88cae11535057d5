"""Measurements of the workers of a study."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import ceil
from pathlib import Path
from statistics import fmean, median
from types import MappingProxyType
from typing import Any

import pytest

import setveil as sv
from cli_helpers import HIERARCHY, dump, environment, posix_only, sample_rows, write
from naive import rho as naive
from setveil.base.values.kinds import Value
from setveil.commands.query import shared_of
from setveil.judges.utility.are import query_errors
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.itemsets import surviving_itemsets
from setveil.judges.utility.queries import random_queries
from setveil.methods.constraints.utility import groups_of
from setveil.work.studies.compare.files import drawn_rows
from setveil.work.studies.compare.plan import Run, data_set, plan_run
from setveil.work.studies.compare.sweep import WORKER
from setveil.work.studies.compare.worker import _risk_before, _run

ROWS = sample_rows()
PRIVATE = ["109", "111"]
CASES: list[tuple[str, dict[str, Value]]] = [
    ("aa", {"k": 4, "m": 2}),
    ("exact", {"k": 4, "m": 2, "suppress": False}),
    ("hghs", {"k": 4, "m": "inf"}),
    ("lg", {"k": 3}),
    ("coat", {"k": 4, "privacy": "all", "m": 2, "utility": "groups:4", "max_suppressed_items": 0.2}),
    ("border", {"h": 0.6, "k": 3, "p": 2, "private": "109,111", "p_nugget": "inf"}),
    ("cahd", {"p": 2, "sensitive": "109,111", "alpha": 2}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "rows.dat", dump(ROWS, "fimi"))
    write(tmp_path / "tree.csv", HIERARCHY)
    return tmp_path


def planned(
    folder: Path,
    algorithm: str,
    options: dict[str, Value],
    more_measures: Mapping[str, Value] = MappingProxyType({}),
    **more: Any,
) -> Run:
    data = data_set(folder / "rows.dat", hierarchy=folder / "tree.csv")
    measuring: dict[str, Value] = {"queries": 200, "itemsets": "0.05", "itemset_length": 2, "risk_m": 2}
    return plan_run(data, algorithm, options, measuring={**measuring, "bound": 600, **more_measures}, **more)


def measured(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = {}
    _run(run.task(), found)
    return found


def singled_out(rows: list[frozenset[str]], threshold: int) -> int:
    """Count by brute force the rows that hold at most 2 items which fewer than `threshold` rows hold."""

    def is_found(row: frozenset[str]) -> bool:
        sets = [{a, b} for a in row for b in row]
        return any(sum(known <= other for other in rows) < threshold for known in sets)

    return sum(map(is_found, rows))


def rows_of(data: Any) -> list[frozenset[str]]:
    labels = data.vocabulary.labels
    ends = data.indptr.tolist()
    items = data.items.tolist()
    return [frozenset(labels[i] for i in items[a:b]) for a, b in pairwise(ends)]


def release_of(run: Run, data: Any, tree: Any) -> Any:
    """Make the release that a worker makes, through the public names."""
    promise: dict[str, Any] = dict(run.promise)
    k: int = promise.get("k", 0)
    m: Any = float("inf") if promise.get("m") == "inf" else promise.get("m")
    makers: dict[str, Callable[[], Any]] = {
        "km-anonymity": lambda: sv.KmAnonymity(k, m),
        "k-anonymity": lambda: sv.TransactionalKAnonymity(k),
        "constraints": lambda: sv.PrivacyConstraints(k, m=m),
        "coherence": lambda: sv.Coherence(0.6, 3, 2, PRIVATE),
        "privacy-degree": lambda: sv.PrivacyDegree(2, tuple(PRIVATE)),
    }
    own: dict[str, Any] = {
        name: float("inf") if value == "inf" else value for name, value in run.parameters.items()
    }
    if "utility" in own:
        own["utility"] = groups_of(tree, 4)
    guarantee = makers[run.model]()
    return sv.anonymize(data, guarantee, hierarchy=tree, algorithm=run.algorithm, seed=run.seed, **own)


@pytest.mark.parametrize(("algorithm", "options"), CASES)
def test_what_a_worker_measures(folder: Path, algorithm: str, options: dict[str, Value]) -> None:
    run = planned(folder, algorithm, options, seed=5)
    found = measured(run)
    data, tree = sv.read(folder / "rows.dat"), sv.read_hierarchy(folder / "tree.csv")
    release = release_of(run, data, tree)
    assert (found["rows"], found["items"]) == (len(ROWS), 12)
    assert found["occurrences"] == sum(map(len, ROWS))
    utility = release.utility
    for name in ("ncp", "lm", "unchanged_items", "suppressed_items", "published_labels"):
        assert found[name] == utility.get(name), name
    assert found["ul"] == utility.get("ul", {}).get("log2")
    hidden = set(PRIVATE) if algorithm in {"border", "cahd"} else set()
    published = [row - hidden for row in rows_of(release.published)]
    assert [found[f"risk_below_{t}"] for t in (2, 5, 10)] == [singled_out(published, t) for t in (2, 5, 10)]
    assert (found["risk_m"], found["risk_exact"]) == (2, True)
    if algorithm == "cahd":
        assert found["queries"] == 200
        assert found["kl_mean"] > 0
        assert found["are_mean"] is None
        return
    queries = random_queries(data, 200, 2, seed=5)
    counted = release.counts is not None
    answers = Estimator(shared_of(release)).answer_all(queries)
    truth = [sum(row.issuperset(query) for row in ROWS) for query in queries]
    off = [abs(answer.estimate - n) / n for answer, n in zip(answers, truth, strict=True)]
    assert (found["are_mean"], found["are_median"]) == pytest.approx((fmean(off), median(off)))
    plain = measured(planned(folder, algorithm, options, {"estimator": "uniform"}, seed=5))
    errors = query_errors(data, release.published, release.recoding.members(), queries)
    assert (plain["are_mean"], plain["are_median"]) == (errors.mean, errors.median)
    assert (plain["are_mean"] != found["are_mean"]) == counted
    of_items = utility["item_support_error"]
    assert ("from_rows" in of_items) == counted
    assert found["item_error"] == of_items["median"]
    assert plain["item_error"] == of_items.get("from_rows", of_items)["median"]
    kept = surviving_itemsets(data, release.published, ceil(0.05 * len(ROWS)), max_length=2)
    assert found["itemsets_frequent"] == kept["frequent"] > 0
    assert found["itemsets_kept"] == (kept["kept"] if kept["supports_unchanged"] else None)
    if run.model in {"km-anonymity", "coherence"}:
        assert 0 <= found["lower_bound"] <= found["lm" if algorithm == "hghs" else "ncp"]
        assert found["gap"] >= 0
    else:
        assert found["lower_bound"] is None


LEARNING: list[tuple[str, str, dict[str, Value]]] = [
    ("exact", "km-rho", {"k": 2, "m": 2, "rho": "1/12"}),
    ("exact", "km-rho", {"k": 2, "m": 2, "rho": 0.08, "hide": "items"}),
    ("exact", "km-rho", {"k": 2, "m": 1, "rho": 0.08, "knows": "any"}),
    ("lg", "km-rho", {"k": 3, "m": "inf", "rho": 0.25}),
    ("partial", "km-rho", {"k": 1, "m": 2, "rho": 0.25}),
    ("partial", "rho-uncertainty", {"rho": "1/3"}),
    ("suppress-control", "rho-uncertainty", {"rho": "1/3"}),
]


@pytest.mark.parametrize(("algorithm", "model", "options"), LEARNING)
def test_what_is_still_learned(folder: Path, algorithm: str, model: str, options: dict[str, Value]) -> None:
    settings = {"queries": 0, "itemsets": 0}
    run = planned(folder, algorithm, {**options, "sensitive": "109,111"}, settings, model=model)
    found = measured(run)
    data, tree = sv.read(folder / "rows.dat"), sv.read_hierarchy(folder / "tree.csv")
    promise: dict[str, Any] = {**run.promise, "sensitive": PRIVATE}
    if promise.get("m") == "inf":
        promise["m"] = float("inf")
    own: dict[str, Any] = {name: value for name, value in run.parameters.items() if name == "hide"}
    guarantee: Any = (sv.KmRho if model == "km-rho" else sv.RhoUncertainty)(**promise)
    made = sv.anonymize(data, guarantee, hierarchy=tree, algorithm=algorithm, details=False, **own)
    published = rows_of(made.published)
    shown = sum(len(row & set(PRIVATE)) for row in published)
    most = promise.get("m", float("inf"))
    breaches = naive.rules(
        published, PRIVATE, most, promise.get("knows", "public" if "m" in promise else "any")
    )
    assert found["sensitive_occurrences"] == sum(len(row & set(PRIVATE)) for row in ROWS)
    assert found["hidden_occurrences"] == found["sensitive_occurrences"] - shown > 0
    greatest = max(breaches.values(), default=Fraction(0))
    assert found["greatest_confidence"] == pytest.approx(float(greatest))
    assert greatest <= Fraction(str(options["rho"]))
    bounded = algorithm == "suppress-control" or (algorithm == "exact" and made.report["optimality"])
    assert (found["lower_bound"] is not None) == bool(bounded)


@pytest.mark.parametrize("case", [CASES[0], CASES[-2]])
def test_the_risk_before(folder: Path, case: tuple[str, dict[str, Value]]) -> None:
    found: dict[str, Any] = {}
    _risk_before(planned(folder, *case).task(), found)
    rows = [row - (set(PRIVATE) if case[0] == "border" else set()) for row in ROWS]
    assert [found[f"risk_before_{t}"] for t in (2, 5, 10)] == [singled_out(rows, t) for t in (2, 5, 10)]
    assert 0 < found["risk_before_probability"] <= 1


def test_nothing_is_measured_where_nothing_is_wanted(folder: Path) -> None:
    none: dict[str, Value] = {"queries": 0, "itemsets": 0, "risk_m": 0}
    data = data_set(folder / "rows.dat")
    found = measured(plan_run(data, "aa", {"k": 2, "m": 1}, measuring=none))
    assert found["ncp"] >= 0
    assert not [
        name for name in found if found[name] is not None and name.startswith(("are", "items_", "risk"))
    ]
    groups = measured(plan_run(data, "cahd", {"p": 2, "sensitive": "109"}, measuring=none))
    assert groups["queries"] is groups["kl_mean"] is None


def test_private_items_are_drawn_by_seed(folder: Path) -> None:
    options: dict[str, Value] = {"h": 0.9, "k": 1, "p": 1, "private_share": 0.2}

    def risk(seed: int) -> Any:
        found: dict[str, Any] = {}
        _risk_before(planned(folder, "mm", options, seed=seed).task(), found)
        return found

    assert risk(0) == risk(0)
    assert len({json.dumps(risk(seed)) for seed in range(5)}) > 1


def opened(pipe: Path) -> int | None:
    """Open a pipe to write; None if nobody reads it yet."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


@posix_only
def test_a_worker_ends_with_its_parent(folder: Path) -> None:
    """Whatever it is doing: here it waits for rows that never come."""
    endless = folder / "endless.dat"
    os.mkfifo(endless)
    task = planned(folder, "aa", {"k": 4, "m": 2}).task()
    task |= {"out": str(folder / "record.json"), "started": time.monotonic()}
    task["data"] = {**task["data"], "files": [str(endless)]}
    with subprocess.Popen(WORKER, stdin=subprocess.PIPE, env=environment()) as worker:
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(task).encode() + b"\n")
        worker.stdin.flush()
        try:
            while (writing := opened(endless)) is None:
                assert worker.poll() is None
                time.sleep(0.01)
            worker.stdin.close()
            assert worker.wait() == 1
            os.close(writing)
        finally:
            worker.kill()
    assert not (folder / "record.json").exists()


@pytest.mark.parametrize("sample", [0.6, "bootstrap"])
def test_rows_are_drawn_by_the_seed(folder: Path, sample: float | str) -> None:
    """Check that a draw has the same measures as a file with these rows."""
    options: dict[str, Value] = {"k": 3, "m": 2}
    found = [measured(planned(folder, "aa", options, seed=seed, sample=sample)) for seed in (1, 2, 1)]
    assert found[0]["ncp"] == found[2]["ncp"]
    assert (found[0]["occurrences"], found[0]["ncp"]) != (found[1]["occurrences"], found[1]["ncp"])
    data = drawn_rows(sv.read(folder / "rows.dat"), sample, 1)
    drawn = rows_of(data)
    assert len(drawn) == found[0]["rows"] == (round(0.6 * len(ROWS)) if sample == 0.6 else len(ROWS))
    times = Counter(drawn)
    assert all(times[row] <= Counter(ROWS)[row] for row in times) == (sample == 0.6)
    assert set(drawn) <= set(ROWS)
    write(folder / "drawn.dat", dump(drawn, "fimi"))
    whole = data_set(folder / "drawn.dat", hierarchy=folder / "tree.csv")
    again = plan_run(whole, "aa", options, measuring=planned(folder, "aa", options).measuring, seed=1)
    expected = measured(again)
    assert {name: found[0][name] for name in ("ncp", "lm", "are_mean", "risk_below_2")} == {
        name: expected[name] for name in ("ncp", "lm", "are_mean", "risk_below_2")
    }


def test_items_that_a_draw_lacks_may_be_named(folder: Path) -> None:
    rare = write(folder / "rare.dat", "".join("1 2\n" for _ in range(30)) + "1 2 9\n")
    options: dict[str, Value] = {"h": 0.8, "k": 2, "p": 1, "private": "9"}
    settings: dict[str, Value] = {"queries": 0, "itemsets": 0, "risk_m": 0}
    runs = [plan_run(data_set(rare), "mm", options, measuring=settings, seed=s, sample=0.5) for s in range(6)]
    found = [measured(run) for run in runs]
    assert {one["sensitive_occurrences"] for one in found} == {0, 1}
