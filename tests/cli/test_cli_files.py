"""Files and terminals: nothing half written, nothing open to others, no name that steers a terminal."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import posix_only, setveil, write
from setveil.base.errors import OutputError

ROWS = [["a", "b"], ["a", "b"], ["a"], ["a"], ["c"], ["c"]]
TREE = {"a": "A", "b": "A", "c": "C", "A": "*", "C": "*"}


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("what", ["checker", "certify"])
def test_a_full_disk_leaves_nothing_of_a_checker_or_a_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, after: int
) -> None:
    sv.anonymize(ROWS, k=2, m=2, hierarchy=TREE, algorithm="exact").write(tmp_path / "run")
    before = everything(tmp_path / "run")
    written, write_bytes = [], Path.write_bytes

    def full(path: Path, content: Any) -> int:
        written.append(path)
        if len(written) > after:
            write_bytes(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(path, content)

    def made() -> object:
        if what == "checker":
            return sv.checker(tmp_path / "run")
        return sv.certify(tmp_path / "run", data=ROWS, hierarchy=TREE)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        if what == "checker" and after == 2:  # there are two files
            made()
        else:
            with pytest.raises(OutputError, match="No space left"):
                made()
            assert everything(tmp_path / "run") == before
    made()
    assert set(everything(tmp_path / "run")) > set(before)


STUDY = 'name = "s"\ndata = [{path = "rows.csv"}]\nalgorithms = ["lra"]\nk = 2\nm = 1\n'


@posix_only
@pytest.mark.parametrize("more", [[], ["--external"], ["--latex"]])
def test_what_a_study_says_of_the_original_is_its_owners_alone(tmp_path: Path, more: list[str]) -> None:
    write(tmp_path / "rows.csv", "tea,milk\ntea,milk\ntea\ntea\n")
    write(tmp_path / "study.toml", STUDY)
    before = os.umask(0)

    def unmasked() -> None:
        os.umask(0)

    try:
        setveil("compare", "study.toml", "-o", "s", *more, cwd=tmp_path, before=unmasked).ok()
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "s").rglob("*") if path.is_file()]
    assert {"results.csv", "results.parquet", "report.html", "study.toml"} <= {path.name for path in files}
    assert {path.name: path.stat().st_mode & 0o777 for path in files} == {path.name: 0o600 for path in files}
    folders = [tmp_path / "s", *(path for path in (tmp_path / "s").rglob("*") if path.is_dir())]
    assert {"s", "runs", "figures"} <= {path.name for path in folders}
    assert {path.name: path.stat().st_mode & 0o777 for path in folders} == {p.name: 0o700 for p in folders}


STEERING = "\x1b]0;x\x07", "\x1b[2J", "a\rb", "c\x9bd", "e\u202ef", "g\x7fh"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def steering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("steering")
    rows = [[one, "tea"] for one in STEERING for _ in range(2)] + [[*STEERING]]
    write(folder / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    write(folder / "new.jsonl", json.dumps([*STEERING, "\x1b[31mnew"]) + "\n")
    return folder


COMMANDS: list[list[object]] = [
    ["anonymize", "rows.jsonl", "-k", 2, "-m", 1, "-o", "release", "--checker"],
    ["verify", "release", "--k", 9, "--m", 1, "--show", 20],
    ["verify", "release", "--k", 9, "--m", 1, "--show", 20, "--json"],
    ["verify", "rows.jsonl", "-k", 9, "-m", 1, "--show", 20],
    ["risk", "rows.jsonl", "--show", 20],
    ["why", "release", "\x1b[2J"],
    ["why", "release", "\x1b[2J", "--json"],
    ["query", "release", "\x1b[2J", "tea"],
    ["hierarchy", "build", "rows.jsonl", "-o", "tree.json"],
    ["apply", "release", "new.jsonl", "-o", "applied"],
]


def test_no_name_steers_the_terminal(steering: Path) -> None:
    escaped = 0
    for words in COMMANDS:
        done = setveil(*words, cwd=steering)
        assert "Traceback" not in done.err, done
        assert CONTROL.search(done.out + done.err) is None, (words, done)
        escaped += len(re.findall(r"\\u001b|\\u009b|\\u202e|\\x1b", done.out + done.err))
        if "--json" in words and done.code < 2:
            done.json()
    assert escaped > 20
    for more in ([], ["--json"], ["--m", "1"]):
        program = steering / "release" / "published" / "check.py"
        said = subprocess.run(
            [sys.executable, "-I", program, "--k", "9", *more], capture_output=True, check=False,
            env={"PYTHONUTF8": "1"},
        )  # fmt: skip
        assert CONTROL.search(said.stdout.decode() + said.stderr.decode()) is None
        assert said.returncode == 1


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
@pytest.mark.parametrize("slashes", ["/", "//"])
def test_no_secret_of_a_database_that_is_not_there(tmp_path: Path, scheme: str, slashes: str) -> None:
    pytest.importorskip(f"adbc_driver_{scheme}")
    for secret in ("passphrase=s3cret", "key=s3cret&mode=ro", "PWD=s3cret"):
        uri = f"{scheme}://{slashes}x.db?{secret}"
        done = setveil("risk", "--connection", uri, "--query", "SELECT 1", cwd=tmp_path)
        assert done.code == 4, done
        assert "s3cret" not in done.out + done.err
        assert "***" in done.err


@posix_only
def test_names_that_are_no_utf8_are_refused_before_any_work(tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd\xff")
    write(tmp_path / "rows.csv", "tea,milk\ntea,milk\ntea\ntea\n")
    write(tmp_path / "study.toml", STUDY)
    (tmp_path / "some").mkdir()
    for place in (tmp_path / odd, tmp_path / "some" / f"{odd}.csv"):
        write(place, "tea,milk\ntea,milk\ntea\ntea\n")
    options = ["-k", "2", "-m", "1"]
    commands = [
        ["anonymize", odd, *options, "-o", "out"],
        ["anonymize", "some", *options, "-o", "out"],
        ["anonymize", "rows.csv", *options, "-o", f"{odd}-out"],
        ["anonymize", "rows.csv", *options, "-o", "out", "--hierarchy", odd],
        ["compare", "study.toml", "-o", f"{odd}-study"],
        ["series", "init", f"{odd}-ward", *options],
    ]
    for words in commands:
        done = subprocess.run(
            [sys.executable, "-m", "setveil", *words], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 2, done
        assert b"is not UTF-8" in done.stderr
        assert b"Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([odd, "rows.csv", "some", "study.toml"])
    with pytest.raises(sv.RequestError, match="is not UTF-8"):
        sv.anonymize(ROWS, k=2, m=1, hierarchy=TREE).write(tmp_path / odd / "x")


@posix_only
@pytest.mark.parametrize("command", [["list"], ["forget", "-"], ["plan"], ["add"], ["verify"]])
@pytest.mark.parametrize("what", ["unreadable", "read-only"])
def test_a_ledger_that_may_not_be_used_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], what: str
) -> None:
    series = sv.Series.create(tmp_path / "ward", k=2, m=1)
    series.add({"ann": ["a"], "bob": ["a"]}, name="q1", out=tmp_path / "q1", hierarchy=TREE)
    more = {"ann": ["a"], "bob": ["a"], "cid": ["b"]}
    before = everything(tmp_path)
    opened = Path.open

    def refuses(path: Path, mode: str = "r", *args: Any, **more: Any) -> Any:
        if path.parent.name == "ward" and (what == "unreadable" or mode not in {"r", "rb"}):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, mode, *args, **more)

    calls: dict[str, Callable[[], Any]] = {
        "list": lambda: sv.Series.open(tmp_path / "ward").told(),
        "forget": lambda: series.forget("ann"),
        "plan": lambda: series.plan(more, hierarchy=TREE),
        "add": lambda: series.add(more, name="q2", out=tmp_path / "q2", hierarchy=TREE),
        "verify": lambda: sv.Series.open(tmp_path / "ward").verify(),
    }
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuses)
        if what == "read-only" and command[0] in {"list", "plan", "verify"}:
            calls[command[0]]()
        else:
            with pytest.raises(sv.SetveilError, match="Permission denied"):
                calls[command[0]]()
    assert everything(tmp_path) == before
