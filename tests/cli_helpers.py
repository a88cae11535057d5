"""Run the command line as a process, and read its files without any code of setveil."""

from __future__ import annotations

import atexit
import csv
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import warm

COMMAND = [sys.executable, "-m", "setveil"]
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in {"", "0"}
needs_compiled = pytest.mark.skipif(
    not COMPILED, reason="too slow, or without meaning, when nothing is compiled"
)
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

FILES_OF_A_RUN = {
    "published/about.json",
    "published/counts.csv",
    "internal/recoding.csv",
    "internal/rows.csv",
    "internal/report.json",
    "internal/report.html",
}

Row = frozenset[str]


@dataclass(frozen=True)
class Done:
    """The result of a process: exit code and streams."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Parse standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)

    def ok(self) -> Done:
        assert self.code == 0, self
        assert "Traceback" not in self.err, self
        return self


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "200", **(extra or {})}


def setveil(
    *arguments: object,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Done:
    """Run ``setveil`` and wait: as a process that was forked, or as a new one where that matters.

    That is where it has environment variables of its own, or something is to be done before it starts. It may
    take as long as it takes: a machine may be busy.
    """
    words = [*map(str, arguments)]
    if warm.CAN_FORK and env is None and before is None:
        return _forked(COMMAND_LINE, words, cwd, stdin)
    process = subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env=environment(env),
        input=stdin,
        capture_output=True,
        check=False,
        preexec_fn=before,
    )
    return Done(process.returncode, process.stdout.decode(), process.stderr.decode())


SHARED = "SETVEIL_TEST_INTERPRETER"  # the address at which tests in several processes find the shared one


@functools.cache
def interpreter() -> warm.Interpreter:
    """Return what runs commands in forks: one for all processes of tests, or one of this process."""
    process = warm.Interpreter(os.environ.get(SHARED))
    atexit.register(process.close)
    return process


def _forked(script: str, words: Sequence[str], cwd: Path | None, stdin: bytes) -> Done:
    code, out, err = interpreter().run(script, words, environment(), cwd, stdin)
    return Done(code, out.decode(), err.decode())


COMMAND_LINE = "from setveil.__main__ import main; main()"
_TOGETHER = """
import io, json, os, sys, tempfile, traceback
from setveil.cli.app import main
commands = json.loads(sys.stdin.buffer.read())
results = []
keep = os.dup(1), os.dup(2)
for folder, arguments, stdin in commands:
    os.chdir(folder)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdin = io.TextIOWrapper(io.BytesIO(os.fsencode(stdin)))
        sys.argv = ["setveil", *arguments]
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(keep[0], 1)
        os.dup2(keep[1], 2)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    results.append((code, *texts))
print(json.dumps(results))
"""


def together(commands: Sequence[Sequence[object]], cwd: Path, stdin: str = "") -> list[Done]:
    """Run several commands in one process, one after the other: each uses the code loaded before."""
    return one_by_one([(cwd, arguments, stdin) for arguments in commands])


def one_by_one(commands: Sequence[tuple[Path, Sequence[object], str]]) -> list[Done]:
    """Run commands in one process, each in its folder and with its standard input."""
    if not commands:
        return []
    cwd = commands[0][0]
    requests = json.dumps([(str(at), [*map(str, words)], stdin) for at, words, stdin in commands]).encode()
    if warm.CAN_FORK:
        done = _forked(_TOGETHER, [], cwd, requests)
    else:
        process = subprocess.run(
            [sys.executable, "-c", _TOGETHER],
            cwd=cwd,
            env=environment(),
            input=requests,
            capture_output=True,
            check=False,
        )
        done = Done(process.returncode, process.stdout.decode(), process.stderr.decode())
    assert done.code == 0, done.err
    return [Done(*result) for result in json.loads(done.out)]


def hearing() -> None:
    """Undo, in the child, that a shell or nohup starts what runs in the background deaf to signals."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def processor_seconds(pid: int) -> float:
    """Return how much time of processors a process has taken so far, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stopped_if(process: subprocess.Popen[Any], sign: Callable[[], object]) -> bool:
    """Wait for a sign and stop the process while the sign is there; tell whether it was stopped in time."""
    while process.poll() is None:
        if sign():
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if process.poll() is None and sign():
                return True
            process.send_signal(signal.SIGCONT)
        time.sleep(0.0005)
    return False


def children(pid: int) -> list[int]:
    """List the processes that a process has started (an empty list without /proc)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def until_gone(pids: Iterable[int]) -> None:
    """Wait until processes have ended, including processes that this one did not start."""

    def is_alive(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes() != b""  # empty: a process nobody has waited for
        except OSError:
            return False

    left = list(pids)
    while any(map(is_alive, left)):
        time.sleep(0.01)


def refused(done: Done, code: int, *words: str, out: Path | None = None) -> None:
    """Check that a command failed as it should: its exit code, one clear message, nothing written."""
    assert done.code == code, done
    assert "Traceback" not in done.err, done
    assert len(re.findall(r"\bError\b", done.err)) == 1, done
    assert done.out == "", done
    shown = done.err.replace("\n", " ")
    for word in words:
        assert word in shown, (word, done)
    assert len(done.err) < 2000, len(done.err)
    if out is not None:
        assert not out.exists()
        assert leftovers(out) == []


def leftovers(out: Path) -> list[str]:
    """List the hidden files of a run next to its folder."""
    if not out.parent.is_dir():
        return []
    return [path.name for path in out.parent.iterdir() if path.name.startswith(f".{out.name}")]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def sample_rows(n: int = 90, items: int = 12, longest: int = 5, seed: int = 1) -> list[Row]:
    """Return skewed rows over integers starting at 101, without empty rows; items occur at least 3 times."""
    rng = Random(seed)
    labels = [str(101 + i) for i in range(items)]
    weights = [1 / (i + 1) for i in range(items)]
    rows = [frozenset(rng.choices(labels, weights, k=rng.randint(1, longest))) for _ in range(n)]
    return rows + [frozenset([label]) for label in labels for _ in range(3)]


HIERARCHY = "".join(
    f"{101 + i};{'low' if i < 3 else 'mid' if i < 7 else 'high'};{'small' if i < 7 else 'large'};all\n"
    for i in range(12)
)


def dump(rows: Sequence[Iterable[str]], form: str) -> bytes:
    """Write rows in a format, by hand."""
    ordered = [sorted(row) for row in rows]
    if form == "fimi":
        return "".join(" ".join(row) + "\n" for row in ordered).encode()
    if form == "basket":
        return "".join(",".join(row) + "\n" for row in ordered).encode()
    if form == "long":
        lines = [f"{i},{x}" for i, row in enumerate(ordered) for x in row]
        return "\n".join(["order_id,item", *lines, ""]).encode()
    if form == "wide-long":
        lines = [f"{x};shop {i % 3};c{i}" for i, row in enumerate(ordered) for x in row]
        return "\n".join(["what;where;who", *lines, ""]).encode()
    if form == "spmf":
        return "".join("".join(f"{x} -1 " for x in row) + "-2\n" for row in ordered).encode()
    assert form == "jsonl"
    return "".join(json.dumps(row) + "\n" for row in ordered).encode()


def dump_parquet(rows: Sequence[Iterable[str]], path: Path, *, nested: bool) -> Path:
    ordered = [sorted(row) for row in rows]
    if nested:
        pl.DataFrame({"items": ordered}, schema={"items": pl.List(pl.String)}).write_parquet(path)
    else:
        pairs = [(i, x) for i, row in enumerate(ordered) for x in row]
        pl.DataFrame(pairs, schema={"basket_id": pl.Int64, "item": pl.String}, orient="row").write_parquet(
            path
        )
    return path


def rows_of(path: Path, form: str | None = None) -> list[Row]:
    """Read rows by hand."""
    if path.suffix == ".parquet":
        table = pl.read_parquet(path)
        if table.width == 1:
            return [frozenset(row) for row in table.to_series().to_list()]
        return _grouped(table.rows())
    text = path.read_bytes().decode()
    lines = text.split("\n")
    assert lines.pop() == ""
    if path.suffix == ".dat":
        return [frozenset(line.split()) for line in lines]
    if path.suffix == ".jsonl":
        return [frozenset(json.loads(line)) for line in lines]
    if path.suffix == ".txt":
        names = dict(line[6:].split("=", 1) for line in lines if line.startswith("@ITEM="))
        rows = [line.removesuffix("-2") for line in lines if not line.startswith("@")]
        return [frozenset(names.get(x, x) for x in row.split() if x != "-1") for row in rows]
    separator = ";" if form == "long" and ";" in lines[0] else ","
    fields = list(csv.reader(text.splitlines(keepends=True), delimiter=separator))
    if form == "long":
        return _grouped((int(i), x) for i, x in fields[1:])
    return [frozenset(row) for row in fields]


def _grouped(pairs: Iterable[tuple[Any, ...]]) -> list[Row]:
    groups: dict[int, set[str]] = {}
    for number, item in pairs:
        groups.setdefault(number, set()).add(item)
    assert list(groups) == list(range(len(groups)))  # fresh numbers, in order
    return [frozenset(row) for row in groups.values()]


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def files_under(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


@dataclass(frozen=True)
class Run:
    """The folder of a run, read back by hand and checked for consistency."""

    data: Path
    rows: list[Row]
    recoding: dict[str, str]
    report: dict[str, Any]
    about: dict[str, Any]

    @property
    def changed(self) -> set[str]:
        return {item for item, label in self.recoding.items() if item != label}


def read_run(out: Path, rows: Sequence[Row], leaves: Iterable[str] | None = None) -> Run:
    """Read a run's folder and check it against the rows that went in.

    Parameters
    ----------
    out : Path
        The folder.
    rows : sequence of rows
        The input.
    leaves : labels, optional
        Leaves of the hierarchy; by default the items of the input.
    """
    report = json.loads((out / "internal" / "report.json").read_text(encoding="utf-8"))
    about = json.loads((out / "published" / "about.json").read_text(encoding="utf-8"))
    data = out / "published" / report["published"]["file"]
    members = {"internal/members.json"} if "others" in about else set()
    assert files_under(out) == FILES_OF_A_RUN | {f"published/{data.name}"} | members
    assert {path.name for path in out.iterdir()} == {"published", "internal"}
    published = rows_of(data, about["format"])

    header, *mapping = table(out / "internal" / "recoding.csv")
    assert header == ["item", "published"]
    recoding = {item: label for item, label in mapping}  # noqa: C416  (checks the width)
    assert len(recoding) == len(mapping)
    occurring = {item for row in rows for item in row}
    assert set(recoding) == set(occurring if leaves is None else leaves)

    header, *places = table(out / "internal" / "rows.csv")
    assert header == ["input_row", "published_row"]
    assert [int(i) for i, _ in places] == list(range(len(rows)))
    place = [int(j) for _, j in places]
    assert sorted(place) == list(range(len(rows)))
    for i, row in enumerate(rows):
        assert published[place[i]] == {recoding[item] for item in row} - {""}, i

    _check_counts(out / "published", rows, published, recoding, about)
    run = Run(data, published, recoding, report, about)
    _check_records(run, rows)
    assert not run.changed & {label for row in published for label in row}
    html = (out / "internal" / "report.html").read_text(encoding="utf-8")
    assert html.lstrip().lower().startswith("<!doctype html>")
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//|url\(|@import|<script[^>]*src", html)
    return run


def _check_counts(
    folder: Path,
    rows: Sequence[Row],
    published: Sequence[Row],
    recoding: Mapping[str, str],
    about: Mapping[str, Any],
) -> None:
    """Recount what counts.csv says."""
    k, empty = about["guarantee"]["k"], sum(1 for row in published if not row)
    header, *lines = table(folder / "counts.csv")
    assert header == ["item", "label", "rows"]
    expected = {}
    for item, label in recoding.items():
        n = sum(1 for row in rows if item in row)
        if n >= k and (label or not 0 < empty < k):
            expected[item] = [item, label, str(n)]
    assert {line[0]: line for line in lines} == expected
    assert len(lines) == len(expected)
    assert about["counts"] == {"file": "counts.csv", "least": k, "suppressed": not 0 < empty < k}


def _check_records(run: Run, rows: Sequence[Row]) -> None:
    report, about = run.report, run.about
    assert set(report) >= {
        "setveil",
        "seed",
        "input",
        "algorithm",
        "guarantee",
        "utility",
        "timing",
        "peak_memory_mb",
    }
    occurring = {item for row in rows for item in row}
    assert set(report["input"]) >= {"path", "sha256", "rows", "items", "occurrences"}
    assert report["input"]["rows"] == len(rows)
    assert report["input"]["items"] == len(occurring)
    assert report["input"]["occurrences"] == sum(map(len, rows))
    assert set(report["algorithm"]) >= {"name", "parameters", "reference"}
    assert report["guarantee"]["model"] == "km-anonymity"
    assert report["guarantee"]["holds"] is True
    assert report["guarantee"]["violations"] == 0
    assert set(report["timing"]) >= {"anonymize", "verify", "measure", "write"}
    utility = report["utility"]
    assert set(utility) >= {
        "ncp", "lm", "unchanged_items", "generalized_items", "suppressed_items", "published_labels",
        "suppressed_occurrences",
    }  # fmt: skip
    suppressed = {item for item, label in run.recoding.items() if not label}
    assert utility["generalized_items"] == len((run.changed - suppressed) & occurring)
    assert utility["suppressed_items"] == len(suppressed & occurring)
    assert set(report["suppressed"]) == suppressed
    gone = sum(len(row & suppressed) for row in rows)
    assert utility["suppressed_occurrences"] == gone
    assert utility["unchanged_items"] == len(occurring - run.changed)
    labels = {label for row in run.rows for label in row}
    assert utility["published_labels"] == len(labels)
    members: dict[str, list[str]] = {}
    for item, label in run.recoding.items():
        members.setdefault(label, []).append(item)
    width = {label: len(members[label]) if len(members[label]) > 1 else 0 for label in members}
    width[""] = len(run.recoding)  # suppressed: lost altogether
    lost = [width[run.recoding[item]] / len(run.recoding) for row in rows for item in row]
    assert utility["ncp"] == pytest.approx(sum(lost) / len(lost))

    assert about["rows"] == len(rows)
    assert about["guarantee"] == {key: report["guarantee"][key] for key in ("model", "k", "m")}
    assert about["labels"].keys() == labels - run.recoding.keys()
    others = about.get("others", {"labels": [], "least": 0})
    for label, listed in about["labels"].items():
        expected = set(members[label])
        if label in others["labels"]:  # lists the items of enough rows, and those that a hierarchy lists
            expected = {x for x in expected if sum(x in row for row in rows) >= others["least"]}
            assert expected <= set(listed) <= set(members[label])
        else:
            assert sorted(listed) == sorted(expected)
    said = json.dumps(about)
    assert report["input"]["sha256"] is None or report["input"]["sha256"] not in said
    assert "sha256" not in said
    assert "path" not in said
    assert "seed" not in about


def violations(rows: Sequence[Row], k: int, m: int) -> dict[Row, int]:
    """Count by brute force the itemsets of at most m items with support in (0, k)."""
    from itertools import combinations

    counts: dict[Row, int] = {}
    for row in rows:
        for size in range(1, min(m, len(row)) + 1):
            for itemset in combinations(sorted(row), size):
                key = frozenset(itemset)
                counts[key] = counts.get(key, 0) + 1
    return {itemset: count for itemset, count in counts.items() if count < k}
