"""The sweep over many runs: each once, within limits, resumed; with a cheap replacement of the worker."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cli_helpers import (
    children,
    dump,
    environment,
    needs_proc,
    posix_only,
    sample_rows,
    stopped_if,
    until_gone,
    write,
)
from setveil.base.errors import OutputError, RequestError
from setveil.base.progress import listener
from setveil.base.staging import write_together
from setveil.base.values.kinds import Value
from setveil.report.compare.columns import measured
from setveil.work.studies.compare import results, sweep
from setveil.work.studies.compare.plan import DataSet, Run, data_set, plan_run
from setveil.work.studies.compare.results import require_study_folder, table
from setveil.work.studies.compare.sweep import locked, read_record, run_all


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    write_together({folder / name: content for name, content in contents.items()}, private=True)


# The run's k says what it does: < 1000 sleeps k milliseconds. It logs its start and its actions. At most
# STUB_MOST records are written, however fast it is; a waiting stub ends with its parent.
STUB = """
import json, os, select, signal, sys, time
task = json.loads(sys.stdin.readline())
log = os.open(os.environ["STUB_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(what):
    os.write(log, f"{what} {task['run']} {task['kind']} {time.monotonic()}\\n".encode())
def end(status, error=""):
    content = {"run": task["run"], "kind": task["kind"], "status": status, "error": error,
               "measures": {"rows": 7, "ncp": 0.25, "risk_before_2": 3, "seconds": 0.5}}
    beside = os.path.join(os.path.dirname(task["out"]), f".{task['run']}.{os.getpid()}")
    with open(beside, "w") as file:
        json.dump(content, file)
    os.replace(beside, task["out"])
note("began")
while len(os.listdir(os.path.dirname(task["out"]))) >= int(os.environ.get("STUB_MOST", 10**6)):
    if select.select([0], [], [], 0.01)[0]:  # nothing but its end can come
        sys.exit(1)
k = task["promise"]["k"]
if task["kind"] == "risk" or k < 1000:
    time.sleep(0 if task["kind"] == "risk" else k / 1000)
    end("done")
elif k == 1001:
    end("infeasible", "k is more than the rows")
elif k == 1002:
    print("first line\\nlast words", file=sys.stderr)
    sys.exit(3)
elif k == 1003:
    os.kill(os.getpid(), signal.SIGKILL)
elif k == 1004:
    time.sleep(600)
elif k == 1005:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("deaf", flush=True)
    time.sleep(600)
note("ended")
"""


class Stub:
    """A cheap worker, and its log."""

    def __init__(self, folder: Path) -> None:
        self.worker = [sys.executable, "-S", str(write(folder / "stub.py", STUB))]
        self.log = folder / "log"

    def noted(self, what: str = "began", kind: str = "run") -> list[str]:
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [run for word, run, of, _ in lines if word == what and of == kind]


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    found = Stub(tmp_path)
    monkeypatch.setenv("STUB_LOG", str(found.log))
    return found


def run_of(k: int, other: int = 0, *, measuring: dict[str, Value] | None = None, **options: Any) -> Run:
    """Plan a run; those with another number differ in their queries, and are solved each by itself."""
    data = DataSet("rows", (Path("rows.dat"),), "0" * 64)
    settings: dict[str, Value] = {"query_size": other + 1, **(measuring or {})}
    return plan_run(data, "aa", {"k": k, "m": 1}, measuring=settings, **options)


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the time and the file number of each record: writing a record again makes another file."""
    found = ((path.stem, path.stat()) for path in (folder / "runs").glob("*.json"))
    return {run: (stat.st_ino, stat.st_mtime_ns) for run, stat in found}


@pytest.mark.exhaustive
def test_every_run_once_and_none_again(tmp_path: Path, stub: Stub) -> None:
    runs = [run_of(k, other) for k in (2, 3) for other in range(50)]
    progress: list[tuple[str, float | None]] = []
    hear = listener(lambda *told: progress.append(told))
    records = run_all([*runs, *runs], tmp_path / "s", jobs=4, worker=stub.worker, progress=hear)
    assert set(records) == {run.id for run in runs} | {runs[0].risk_id}
    assert all(records[run.id]["status"] == "done" for run in runs)
    assert Counter(stub.noted()) == Counter({run.id: 1 for run in runs})
    assert stub.noted(kind="risk") == [runs[0].risk_id]  # once for all runs on these data
    assert progress[-1] == ("100 of 100 runs, 0 running", 1.0)
    assert all(int(phase.split()[4]) <= 4 for phase, _ in progress)
    assert not [path for path in (tmp_path / "s" / "runs").iterdir() if path.name.startswith(".")]

    before = states(tmp_path / "s")
    assert run_all(runs, tmp_path / "s", jobs=4, worker=stub.worker) == records
    more = [*runs, run_of(4)]
    run_all(more, tmp_path / "s", jobs=4, worker=stub.worker)
    assert stub.noted()[100:] == [more[-1].id]
    assert {run: state for run, state in states(tmp_path / "s").items() if run in before} == before


def test_no_more_processes_than_requested(tmp_path: Path, stub: Stub) -> None:
    runs = [run_of(100, other, measuring={"risk_m": 0}) for other in range(6)]
    run_all(runs, tmp_path / "s", jobs=2, worker=stub.worker)
    running = most = 0
    for line in stub.log.read_text().splitlines():
        running += 1 if line.startswith("began") else -1
        most = max(most, running)
    assert most <= 2
    with pytest.raises(RequestError, match="number of jobs must be at least 1, got 0"):
        run_all([], tmp_path / "s", jobs=0)


@posix_only
def test_however_a_run_ends_the_others_go_on(
    tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "_GRACE", 0.3)
    ks = (1001, 1002, 1003, 1004, 1005, 4)
    runs = [run_of(k, time_limit=1.0 if k in {1004, 1005} else 600.0) for k in ks]
    folder = tmp_path / "s"
    records = run_all(runs, folder, jobs=3, worker=stub.worker)
    ended = [(records[run.id]["status"], records[run.id]["error"]) for run in runs]
    late = ("timeout", "Took more than the 1 s of its limit.")
    assert ended == [
        ("infeasible", "k is more than the rows"),
        ("failed", "The worker ended with exit code 3. last words"),
        ("killed", "Ended by signal 9, by the system or from outside."),
        late,
        late,
        ("done", ""),
    ]
    assert records[runs[3].id]["measures"]["seconds"] >= 1
    rows = table(runs, records)
    assert [row["k"] for row in rows] == [1001, 1002, 1003, 1004, 1005, 4]
    assert [row["status"] for row in rows] == [status for status, _ in ended]
    assert (rows[1]["rows"], rows[5]["rows"]) == (None, 7)
    assert all(row["risk_before_2"] == 3 for row in rows)

    assert run_all(runs, folder, jobs=3, worker=stub.worker) == records
    assert len(stub.noted()) == 6
    run_all(runs, folder, jobs=3, retry=True, worker=stub.worker)
    assert Counter(stub.noted()[6:]) == Counter(run.id for run in runs[1:5])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff", b'{"run": "0", "status": "done", "error": "", "measures": {}}', b"SAY"],
)
def test_damaged_records_are_repeated(tmp_path: Path, stub: Stub, content: bytes) -> None:
    run, folder = run_of(4, measuring={"risk_m": 0}), tmp_path / "s"
    run_all([run], folder, worker=stub.worker)
    place = folder / "runs" / f"{run.id}.json"
    whole = place.read_bytes()
    place.write_bytes(whole.replace(b"done", b"well") if content == b"SAY" else content)
    assert read_record(folder, run.id) is None
    records = run_all([run], folder, worker=stub.worker)
    assert records[run.id]["status"] == "done"
    assert json.loads(place.read_bytes()) == json.loads(whole)
    assert len(stub.noted()) == 2


def test_the_budget_ends_what_still_runs(tmp_path: Path, stub: Stub) -> None:
    runs = [run_of(4, measuring={"risk_m": 0}), run_of(1004), run_of(2)]
    records = run_all(runs, tmp_path / "s", jobs=1, budget=3, worker=stub.worker)
    assert set(records) <= {runs[0].id, runs[1].risk_id}
    assert not (tmp_path / "s" / "runs" / f"{runs[1].id}.json").exists()  # it may be done another time
    assert len(table(runs, records)) == len(set(records) - {runs[1].risk_id})
    assert stub.noted("ended").count(runs[1].id) == 0


def test_one_process_at_a_time(tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("needs flock")
    with locked(tmp_path / "s"):
        with pytest.raises(OutputError, match="Another setveil is working on"):
            run_all([], tmp_path / "s")
        run_all([], tmp_path / "t")
    run_all([], tmp_path / "s")


def test_left_over_files_of_killed_workers_go(tmp_path: Path, stub: Stub) -> None:
    folder = tmp_path / "s"
    left = folder / "runs" / ".0123456789abcdef.json.setveil-x1y2x1y2"
    left.mkdir(parents=True)
    write(left / ".setveil-lock", "")
    write(left / "0123456789abcdef.json", "{")
    run_all([run_of(4)], folder, worker=stub.worker)
    assert not [path.name for path in (folder / "runs").iterdir() if path.name.startswith(".")]


SWEEP = """
import sys
from pathlib import Path
sys.path[:0] = {tests!r}
from test_sweep import run_of
from setveil.work.studies.compare.sweep import run_all
run_all([run_of(20, other) for other in range(100)], Path({folder!r}), jobs=3, worker={worker!r})
"""


@pytest.mark.exhaustive
@needs_proc
def test_kill_and_resume(tmp_path: Path, stub: Stub) -> None:
    folder = tmp_path / "s"
    code = SWEEP.format(
        tests=[str(folder) for folder in Path(__file__).parents[:2]], folder=str(folder), worker=stub.worker
    )
    runs = [run_of(20, other) for other in range(100)]
    for enough in (20, 60):
        most = {"STUB_MOST": str(enough + 20)}
        process = subprocess.Popen([sys.executable, "-c", code], env=environment(most))
        assert stopped_if(process, lambda enough=enough: len(states(folder)) >= enough)  # type: ignore[misc]
        seen, workers = states(folder), children(process.pid)
        process.kill()
        process.wait()
        until_gone(workers)
        now = states(folder)
        assert {run: now.get(run) for run in seen} == seen
        seen = now
        assert enough <= len(seen) < 100
    records = run_all(runs, folder, jobs=3, worker=stub.worker)
    now = states(folder)
    assert {run: now.get(run) for run in seen} == seen  # nothing lost, nothing repeated
    assert set(now) == {run.id for run in runs} | {runs[0].risk_id}
    assert all(records[run]["status"] == "done" for run in now)


def test_folders_that_are_no_study(tmp_path: Path) -> None:
    require_study_folder(tmp_path / "new")
    require_study_folder(tmp_path)
    (tmp_path / "runs").mkdir()
    write(tmp_path / "results.csv", "")
    require_study_folder(tmp_path)
    write(tmp_path / "thesis.tex", "")
    with pytest.raises(OutputError, match="contains something else than a study"):
        require_study_folder(tmp_path)
    with pytest.raises(OutputError, match="is a file, expected a folder"):
        require_study_folder(tmp_path / "thesis.tex")
    (tmp_path / "figures").mkdir()
    other = tmp_path / "other"
    other.mkdir()
    write(other / "report.html", "")
    with pytest.raises(OutputError, match="contains something else"):
        require_study_folder(other)


@posix_only
@pytest.mark.parametrize("name", ["runs", "figures", "paper", "paper/figures"])
def test_a_study_replaces_and_removes_no_files_elsewhere(tmp_path: Path, name: str) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "study"
    elsewhere.mkdir()
    (folder / "runs" if name != "runs" else folder).mkdir(parents=True)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(OutputError, match=f"{name} is a link. Expected a folder"):
        require_study_folder(folder)


def test_the_table(tmp_path: Path) -> None:
    data = DataSet("rows", (Path("rows.dat"),), "0" * 64)
    options: dict[str, Value] = {"k": 2, "m": "inf", "p": 2, "sensitive": "1, 2", "suppress": False}
    runs = [
        plan_run(data, "exact", options, measuring={"query_size": 1}),
        plan_run(data, "exact", {**options, "m": 2, "suppress": True}, measuring={"query_size": 2}),
        plan_run(data, "cahd", options, seed=3),
    ]
    measures = {"rows": 5, "ncp": 0, "risk_exact": True, "queries": 9}
    records: dict[str, Any] = {
        run.id: {"status": "done", "error": "", "measures": measures} for run in (runs[0], runs[2])
    }
    records[runs[1].id] = {"status": "failed", "error": "KeyError: 1", "measures": {}}
    rows = table(runs, records)
    head = [
        "run",
        "data",
        "algorithm",
        "method",
        "model",
        "k",
        "m",
        "suppress",
        "p",
        "sensitive",
        "query_size",
    ]
    assert list(rows[0]) == [
        *head,
        "seed",
        "status",
        "error",
        *measured(),
        "data_sha256",
        "setveil",
        "machine",
    ]
    assert [list(row) for row in rows] == [list(rows[0])] * 3
    _write(tmp_path, results._tables(rows))
    frame = pl.read_parquet(tmp_path / "results.parquet")
    assert frame["m"].to_list() == ["inf", "2", None]  # one column, one type
    assert frame["k"].to_list() == [2, 2, None]
    assert frame["suppress"].to_list() == [False, True, None]
    assert frame["sensitive"].to_list() == [None, None, "2 items"]
    assert frame["query_size"].to_list() == [1, 2, None]
    assert frame["seed"].to_list() == [0, 0, 3]
    assert frame["ncp"].to_list() == [0.0, None, 0.0]
    assert frame["method"].to_list() == ["exact suppress=false", "exact", "cahd (improved: rounds=3)"]
    assert frame.schema["peak_memory_mb"] == pl.Float64
    text = pl.read_csv(tmp_path / "results.csv", infer_schema=False)
    assert text.columns == frame.columns
    assert text["suppress"].to_list() == ["false", "true", None]
    first = (tmp_path / "results.parquet").read_bytes(), (tmp_path / "results.csv").read_bytes()
    _write(tmp_path, results._tables(rows))
    assert first == ((tmp_path / "results.parquet").read_bytes(), (tmp_path / "results.csv").read_bytes())
    assert table(runs, {runs[2].id: records[runs[2].id]})[0]["algorithm"] == "cahd"


def test_results_appear_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that, on a full disk, a new table does not appear next to an old page."""
    _write(tmp_path, {"table": b"old", "page": b"old"})
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "page":
            raise OSError(errno.ENOSPC, "no space")
        return write_bytes(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="no space"):
            _write(tmp_path, {"table": b"new", "page": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"table": b"old", "page": b"old"}
    _write(tmp_path, {"table": b"new", "page": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"table": b"new", "page": b"new"}


@pytest.mark.exhaustive
def test_runs_that_differ_in_their_queries_alone_are_one_process(tmp_path: Path) -> None:
    """One release is measured with each seed, as it would be by itself."""
    data = data_set(write(tmp_path / "rows.dat", dump(sample_rows(), "fimi")))
    runs = [
        plan_run(data, "aa", {"k": 4, "m": 2}, seed=seed, measuring={"queries": 50, "risk_m": 0})
        for seed in (3, 4, 5)
    ]
    worker = [sys.executable, "-c", COUNTED, str(tmp_path / "started")]
    together = run_all(runs, tmp_path / "a", jobs=2, worker=worker)
    assert (tmp_path / "started").read_text() == "x"
    assert run_all(runs, tmp_path / "a", jobs=2, worker=worker) == together
    assert (tmp_path / "started").read_text() == "x"
    alone = {run.id: run_all([run], tmp_path / run.id)[run.id] for run in runs}

    def comparable(records: Any) -> Any:
        return {
            run: {name: value for name, value in records[run]["measures"].items() if name not in VARIES}
            for run in alone
        }

    assert {record["status"] for record in together.values()} == {"done"}
    assert comparable(together) == comparable(alone)
    assert len({json.dumps(one, sort_keys=True) for one in comparable(together).values()}) > 1
    (tmp_path / "a" / "runs" / f"{runs[1].id}.json").unlink()
    assert comparable(run_all(runs, tmp_path / "a", worker=worker)) == comparable(alone)


COUNTED = """
import sys
with open(sys.argv[1], "a") as file:
    file.write("x")
from setveil.work.studies.compare.worker import main
main()
"""
VARIES = {name for name in measured() if name.startswith("seconds")} | {"peak_memory_mb"}


def test_what_ends_one_process_ends_all_its_runs(tmp_path: Path, stub: Stub) -> None:
    data = DataSet("rows", (Path("rows.dat"),), "0" * 64)
    runs = [plan_run(data, "aa", {"k": 1003, "m": 1}, seed=seed, measuring={"risk_m": 0}) for seed in (1, 2)]
    records = run_all(runs, tmp_path / "s", worker=stub.worker)
    assert [records[run.id]["status"] for run in runs] == ["killed", "killed"]
    assert len(stub.noted()) == 1


def test_what_was_measured_before_the_limit_is_kept(tmp_path: Path) -> None:
    """Check that the limit starts again with each seed that is measured."""
    data = DataSet("rows", (Path("rows.dat"),), "0" * 64)
    options: dict[str, Value] = {"risk_m": 0}
    runs = [
        plan_run(data, "aa", {"k": 2, "m": 1}, seed=seed, measuring=options, time_limit=3.0)
        for seed in range(3)
    ]
    worker = [sys.executable, "-S", str(write(tmp_path / "once.py", ONCE))]
    records = run_all(runs, tmp_path / "s", worker=worker)
    assert [records[run.id]["status"] for run in runs] == ["done", "timeout", "timeout"]
    assert records[runs[1].id]["measures"]["seconds"] >= 6


ONCE = """
import json, os, sys, time
task = json.loads(sys.stdin.readline())
assert [one["seed"] for one in task["others"]] == [1, 2]
content = {"run": task["run"], "kind": task["kind"], "status": "done", "error": "", "measures": {}}
beside = task["out"] + ".beside"
with open(beside, "w") as file:
    json.dump(content, file)
os.replace(beside, task["out"])
time.sleep(600)
"""
