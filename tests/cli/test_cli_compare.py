"""``setveil compare`` as a process, and what its workers measure."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import (
    COMMAND,
    HIERARCHY,
    dump,
    environment,
    files_under,
    posix_only,
    refused,
    sample_rows,
    setveil,
    together,
    write,
)
from setveil.policy.utility import groups_of
from setveil.studies.plan import Run, data_set, plan_run
from setveil.studies.settings import Value
from setveil.studies.worker import _risk_before, _run
from setveil.utility.are import query_errors
from setveil.utility.itemsets import surviving_itemsets
from setveil.utility.queries import random_queries

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


def planned(folder: Path, algorithm: str, options: dict[str, Value], **more: Any) -> Run:
    data = data_set(folder / "rows.dat", hierarchy=folder / "tree.csv")
    measuring: dict[str, Value] = {"queries": 200, "itemsets": "0.05", "itemset_length": 2, "risk_m": 2}
    return plan_run(data, algorithm, options, measuring={**measuring, "bound": 30}, **more)


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
    asked = random_queries(data, 200, 2, seed=5)
    errors = query_errors(data, release.published, release.recoding.members(), asked)
    assert (found["are_mean"], found["are_median"]) == (errors.mean, errors.median)
    kept = surviving_itemsets(data, release.published, ceil(0.05 * len(ROWS)), max_length=2)
    assert found["itemsets_frequent"] == kept["frequent"] > 0
    assert found["itemsets_kept"] == (kept["kept"] if kept["supports_unchanged"] else None)
    if run.model == "km-anonymity":
        assert 0 <= found["lower_bound"] <= found["lm" if algorithm == "hghs" else "ncp"]
        assert found["gap"] >= 0
    else:
        assert found["lower_bound"] is None


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


STUDY = """
name = "All that can happen"
data = [{path = "rows.dat", hierarchy = "tree.csv"}]
queries = 50
memory_limit = 4000
time_limit = 100

[[runs]]
algorithms = ["aa", "exact"]
k = [2, 4]
m = 1

[[runs]]  # more than there are rows
algorithms = ["aa"]
k = 4000
m = 1

[[runs]]  # nothing may be suppressed, of that so much
algorithms = ["exact"]
k = 2
m = 2
suppress = false
max_suppressed = 0.1

[[runs]]  # an item that there is not
algorithms = ["mm"]
h = 0.5
k = 2
p = 2
private = "nonsense"

[[runs]]
algorithms = ["aa"]
k = 5
m = 1
time_limit = 0.01

[[runs]]
algorithms = ["aa"]
k = 6
m = 1
memory_limit = 5
"""
ENDED = {
    ("aa", 2): "done",
    ("exact", 2): "done",
    ("aa", 4): "done",
    ("exact", 4): "done",
    ("aa", 4000): "infeasible",
    ("exact suppress=false max_suppressed=0.1", 2): "refused",
    ("mm", 2): "refused",
    ("aa", 5): "timeout",
    ("aa", 6): "memory",
}


def records(out: Path) -> dict[str, tuple[int, int]]:
    return {
        path.stem: (path.stat().st_ino, path.stat().st_mtime_ns) for path in (out / "runs").glob("*.json")
    }


def interrupted(folder: Path, out: Path, enough: int, how: signal.Signals) -> tuple[int, str]:
    """Start the study, and end it when there are enough records."""
    process = subprocess.Popen(
        [*COMMAND, "compare", "study.toml", "--out", str(out), "--jobs", "2"],
        cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while len(records(out)) < enough:
        assert process.poll() is None
        time.sleep(0.01)
    children = _children(process.pid)
    process.send_signal(how)
    _, said = process.communicate()
    deadline = time.monotonic() + 20
    while any(map(_is_alive, children)):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.01)
    return process.returncode, said


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task")
    if not found.is_dir():
        return []
    return [int(child) for task in found.glob("*/children") for child in task.read_text().split()]


def _is_alive(pid: int) -> bool:
    try:
        return "compare.worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


@posix_only
def test_a_study_that_is_killed_interrupted_and_completed(folder: Path) -> None:
    write(folder / "study.toml", STUDY)
    out = folder / "out"
    code, _ = interrupted(folder, out, 2, signal.SIGKILL)
    assert code == -signal.SIGKILL
    first = records(out)
    code, said = interrupted(folder, out, 4, signal.SIGINT)
    assert code == 130
    assert said.strip() == "Interrupted."
    second = records(out)
    assert {run: second[run] for run in first} == first
    assert not (out / "results.csv").exists()

    done = setveil("compare", "study.toml", "--out", out, "--json", cwd=folder).ok()
    last = records(out)
    assert {run: last[run] for run in second} == second  # nothing lost, nothing done twice
    assert len(last) == len(ENDED) + 2  # the risk of the original rows, also with a private item
    told = done.json()
    assert told["runs"] == len(ENDED)
    assert told["status"] == {"done": 4, "infeasible": 1, "refused": 2, "timeout": 1, "memory": 1}
    assert told["results"] == str(out / "results.csv")
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["method"], int(row["k"])): row["status"] for row in rows} == ENDED
    assert [row["method"] for row in rows][:5] == ["aa", "aa", "exact", "exact", "aa"]  # as in the file
    for row in rows:
        assert bool(row["error"]) == (row["status"] != "done")
        assert bool(row["ncp"]) == (row["status"] == "done")
        assert row["data"] == "rows"
    by_status = {row["status"]: row for row in rows}
    assert by_status["timeout"]["error"] == "Took more than the 0.01 s of its limit."
    assert by_status["memory"]["error"] == "Took more than the 5 MB of its limit."
    best = next(row for row in rows if row["method"] == "exact")
    assert 20 < float(best["peak_memory_mb"]) < 1000
    assert 0 < float(best["seconds_anonymize"]) < float(best["seconds"])
    assert int(best["risk_before_5"]) >= int(best["risk_below_5"])
    assert all(row["risk_before_2"] for row in rows if row["method"] != "mm")

    names = files_under(out)
    assert {name for name in names if not name.startswith(("runs/", "figures/"))} == {
        "study.toml", "results.csv", "results.parquet", "report.html", ".lock"
    }  # fmt: skip
    assert all(name.endswith(".svg") for name in names if name.startswith("figures/"))
    assert (out / "study.toml").read_text() == STUDY
    written = "".join((out / name).read_text() for name in names if name.startswith("runs/"))
    assert "small" not in written  # a label of the hierarchy

    again, listed, other, occupied, more = together(
        [
            ["compare", "study.toml", "--out", out, "--retry"],
            ["compare", "study.toml", "--out", out, "--dry-run", "--json"],
            ["compare", "study.toml", "--out", folder],
            ["compare", "study.toml", "--out", folder / "study.toml"],
            ["compare", "study.toml", "--out", folder / "never", "--data", folder / "gone"],
        ],
        cwd=folder,
    )
    assert again.code == 0, again
    assert "9 runs: 4 done, 1 infeasible, 2 refused, 1 timeout, 1 memory." in again.err
    final = records(out)
    assert sum(final[run] != last[run] for run in last) == 2  # the late one and the big one
    assert [run["status"] for run in listed.json()["runs"]] == [row["status"] for row in rows]
    assert [run["run"] for run in listed.json()["runs"]] == [row["run"] for row in rows]
    refused(other, 2, "holds something else than a study")
    refused(occupied, 2, "is a file, expected a folder")
    refused(more, 4, "study.toml: data[1]: There is no file", "--data", out=folder / "never")


def test_a_dry_run_does_nothing(folder: Path) -> None:
    write(folder / "study.toml", STUDY)
    done = setveil("compare", "study.toml", "--out", "out", "--dry-run", cwd=folder).ok()
    *listed, summary = done.out.splitlines()
    assert len(listed) == len(ENDED)
    assert all("missing" in line for line in listed)
    assert summary == "9 runs: 9 missing."
    assert not (folder / "out").exists()
    assert {path.name for path in folder.iterdir()} == {"rows.dat", "tree.csv", "study.toml"}
