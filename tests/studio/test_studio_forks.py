"""Processes forked for the studio's tests behave like processes of their own."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import studio_forks
import warm
from cli_helpers import environment, write
from setveil.studio.projects import Project, Projects

pytestmark = pytest.mark.skipif(not warm.CAN_END_TOGETHER, reason="nothing is forked here")


def both(folder: Path, *words: str, mask: int = -1, **more: str) -> list[subprocess.CompletedProcess[bytes]]:
    """Run the same command by Python and by its replacement, each in a folder of its own."""
    done = []
    steered, steers = os.pipe()
    for name, python in (("started", sys.executable), ("forked", studio_forks.python())):
        (folder / name).mkdir(exist_ok=True)
        write(folder / name / "rows.csv", "tea,milk\n" * 5 + "tea\n" * 4)
        done.append(
            subprocess.run(
                [python, "-m", *words],
                cwd=folder / name,
                env=environment(more),
                stdin=steered,
                capture_output=True,
                check=False,
                umask=mask,
            )
        )
    os.close(steers)  # its end would have ended the watched process
    os.close(steered)
    return done


@pytest.mark.parametrize(
    ("k", "code"), [("3", 0), ("1", 2), ("99", 3)], ids=["done", "refused", "cannot be kept"]
)
def test_the_same_is_done(tmp_path: Path, k: str, code: int) -> None:
    words = ("anonymize", "rows.csv", "--k", k, "--m", "2", "--out", "out")
    started, forked = both(tmp_path, "setveil", *words, mask=0o077)
    assert (started.returncode, started.stdout) == (forked.returncode, forked.stdout)
    assert started.returncode == code
    assert (started.stderr == forked.stderr) or code == 0  # which may contain seconds
    files = [sorted((tmp_path / name).rglob("*.csv")) for name in ("started", "forked")]
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert stat.S_IMODE(one.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_it_has_the_environment_of_who_asks(tmp_path: Path) -> None:
    """Check that a watched process reports an error as a line of JSON."""
    words = ("anonymize", "rows.csv", "--k", "1", "--m", "2", "--out", "out")
    started, forked = both(tmp_path, "setveil", *words, SETVEIL_WATCHED="1e9")
    assert started.stderr == forked.stderr
    assert json.loads(forked.stderr.splitlines()[-1])["error"]["kind"] == "RequestError"


def desk() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [studio_forks.python(), "-m", "setveil.studio.desk"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Projects(tmp_path).create("Shop")


def test_what_works_dies_with_what_stands_for_it(project: Project) -> None:
    """Check that the worker, which also has standard output open, ends with its replacement process."""
    with desk() as one:
        assert one.stdin is not None
        assert one.stdout is not None
        message = {"id": 1, "do": "nothing of the kind", "with": {}, "folder": str(project.folder)}
        one.stdin.write(json.dumps(message).encode() + b"\n")
        one.stdin.flush()
        assert json.loads(one.stdout.readline())["id"] == 1
        os.kill(one.pid, signal.SIGKILL)
        assert one.stdout.read() == b""


def test_a_desk_ends_with_the_questions() -> None:
    with desk() as one:
        out, _ = one.communicate(timeout=60)
        assert out == b""
    assert one.returncode == 0
