"""Several processes compile everything that a command needs, and none of them outlives it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import (
    children,
    environment,
    needs_compiled,
    needs_proc,
    posix_only,
    refused,
    setveil,
    until_gone,
    write,
)
from setveil.base import compiling
from setveil.base.compiling import Listed, Processes, listed, needed_by
from setveil.base.jit import calls

ROOT = Path(__file__).parents[2]


# The list


@needs_compiled
def test_the_list_names_what_is_compiled() -> None:
    assert len({json.dumps([one.kernel, one.types]) for one in listed()}) == len(listed()) > 80
    for one in listed():
        assert len(one.types) == calls.named(one.kernel).py_func.__code__.co_argcount, one
        assert one.seconds >= 0
        assert one.commands
    assert {name for name in ("demo", "anonymize", "verify", "risk") if needed_by(name)} == {
        "demo", "anonymize", "verify", "risk",
    }  # fmt: skip
    assert needed_by("no such command") == []


@needs_compiled
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("demo --out out", "demo"),
        ("anonymize rows.csv -k2 -m2 --out out", "anonymize exact"),
        ("anonymize rows.csv -k2 -m2 -a aa --out out", "anonymize aa"),
        ("anonymize rows.csv -k2 -a lg --out out", "anonymize lg"),
        ("verify rows.csv -k2 -m2", "verify"),
        ("risk rows.csv", "risk"),
    ],
)
def test_the_list_lacks_nothing_that_a_command_asks_for(words: str, command: str, tmp_path: Path) -> None:
    """Count the functions that a command requests and that processes would not compile for it."""
    write(tmp_path / "rows.csv", "a,b\nb,c\na,b,c\na,c,d\nb,d\na,b,d,e\nc,e\nd,e\n")
    found = tmp_path / "found.json"
    subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "kernels.py", "record", *words.split()],
        cwd=tmp_path, env=environment({"RECORD": str(found)}), capture_output=True, check=False,
    )  # fmt: skip
    signatures = [(one["kernel"], one["types"]) for one in json.loads(found.read_text())]
    expected = [(listed()[number].kernel, listed()[number].types) for number in needed_by(command)]
    assert len(signatures) > 3
    assert [one for one in signatures if one not in expected] == []


# The processes

_FAKE = """
import json, os, sys
for line in sys.stdin:
    kernel, types = json.loads(line)
    with open(sys.argv[1], "a") as log:
        log.write(kernel + "\\n")
    if kernel in sys.argv[2:]:
        os._exit(1)
    print({"bad": "failed", "old": "there"}.get(kernel, "compiled"), flush=True)
"""


def fake(monkeypatch: pytest.MonkeyPatch, folder: Path, listing: Sequence[Listed], *deadly: str) -> Path:
    """Let processes only write down their requests, and end at some of them."""
    log = folder / "log"
    log.touch()
    script = write(folder / "fake.py", _FAKE)
    monkeypatch.setattr(compiling, "listed", lambda: tuple(listing))
    monkeypatch.setattr(compiling, "WORKER", [str(script), str(log), *deadly])
    return log


SOME = [
    Listed("short", [], 0.5, ("run",)),
    Listed("old", [], 0.1, ("run",)),
    Listed("middle", [], 1.0, ("run", "other")),
    Listed("long", [], 6.0, ("run",)),
    Listed("bad", [], 0.0, ("run",)),
    Listed("unneeded", [], 9.0, ("other",)),
]


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_what_takes_longest_comes_first(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = fake(monkeypatch, tmp_path, SOME)
    numbers = needed_by("run")
    assert numbers == [0, 1, 2, 3, 4]
    heard: list[int] = []
    made = Processes(numbers, processes, heard.append)
    assert made.wait_for(2)
    assert made.wait_for(1)
    made.wait()
    order = log.read_text().split()
    assert sorted(order) == sorted(SOME[number].kernel for number in numbers)
    if processes == 1:
        assert order[0] in ("long", "middle")  # the longest, unless it was requested before the first began
    assert (made.compiled, made.there, made.failed) == ({0, 2, 3}, {1}, {4})
    assert not made.wait_for(4)
    assert sorted(heard) == [1, 2, 3, 4, 5]


def test_what_is_waited_for_is_not_waited_for_when_processes_die(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, tmp_path, SOME, "long", "middle")
    made = Processes(needed_by("run"), 2)
    assert not made.wait_for(3)
    assert not made.wait_for(0)
    made.wait()
    assert made.failed >= {3}


def test_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, tmp_path, SOME)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    made = Processes([3], 2)
    assert not made.wait_for(3)
    made.wait()


def test_one_thread_or_little_memory_is_for_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "memory_left", lambda: 100 << 30)
    assert [compiling.processes_for(threads) for threads in (1, 2, 8, 64)] == [0, 2, 8, 8]
    monkeypatch.setattr(compiling, "memory_left", lambda: 1 << 30)
    assert [compiling.processes_for(threads) for threads in (1, 2, 8)] == [0, 2, 2]
    monkeypatch.setattr(compiling, "memory_left", lambda: 500 << 20)
    assert compiling.processes_for(8) == 0
    monkeypatch.setattr(compiling, "memory_left", lambda: None)
    assert compiling.processes_for(3) == 3


@pytest.fixture
def nothing_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_expected", compiling._Expected())


@pytest.mark.usefixtures("nothing_expected")
def test_only_what_is_expected_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = fake(monkeypatch, tmp_path, SOME)
    monkeypatch.setattr(compiling, "memory_left", lambda: None)
    assert not compiling.was_compiled("short", [])  # Python code expects nothing
    compiling.expect(lambda: 1, "run")  # --threads 1
    assert not compiling.was_compiled("short", [])
    compiling.expect(lambda: 2, "another")
    assert not compiling.was_compiled("short", [])
    assert log.read_text() == ""
    compiling.expect(lambda: 2, "run")
    assert compiling.was_compiled("short", [])
    assert not compiling.was_compiled("short", ["int64"])
    assert not compiling.was_compiled("unneeded", [])
    assert not compiling.was_compiled("bad", [])
    assert compiling.was_compiled("long", [])


_FORKED = """
import os
from setveil.base import compiling
compiling.expect(lambda: 2, "demo")
pid = os.fork()
if pid == 0:
    os._exit(len(compiling._expected.commands))
assert os.waitpid(pid, 0)[1] == 0
assert compiling._expected.commands == ("demo",)
"""


@posix_only
def test_a_fork_expects_nothing() -> None:
    subprocess.run([sys.executable, "-c", _FORKED], env=environment(), check=True)


# Real ones

_WAITING = """
import os, sys
import numpy as np
from setveil.base import compiling, jit
compiling.needed_by = lambda *commands: [
    number for number, one in enumerate(compiling.listed()) if one.kernel == "setveil.base.sorting:sort_piece"
]
compiling.memory_left = lambda: None
compiling.expect(lambda: 2, "demo")
from setveil.base.sorting import sort_piece
values = np.array([3, 1, 2])
sort_piece(values, 0, 3)
assert values.tolist() == [1, 2, 3]
print("numba" in sys.modules)
"""


@needs_compiled
def test_a_process_compiles_for_another(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WAITING], env=environment({"NUMBA_CACHE_DIR": str(tmp_path)}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "False\n"
    assert list(tmp_path.rglob("*.kernel"))


@pytest.mark.exhaustive
@posix_only
@needs_proc
@needs_compiled
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_command(number: signal.Signals, tmp_path: Path) -> None:
    """The command is ended while they compile: nothing was compiled, and it takes them long."""
    script = write(
        tmp_path / "run.py",
        "from setveil.base import compiling\ncompiling.memory_left = lambda: None\n"
        "import setveil.base.threads\nsetveil.base.threads.use_threads(2)\n"
        "from setveil.__main__ import main\nmain()\n",
    )
    process = subprocess.Popen(
        [sys.executable, script, "demo", "--out", "out"], cwd=tmp_path, stdin=subprocess.DEVNULL,
        env=environment({"NUMBA_CACHE_DIR": str(tmp_path / "cache")}), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not [path for path in (tmp_path / "cache").rglob("*.kernel") if len(children(process.pid)) > 1]:
            assert process.poll() is None
        workers = children(process.pid)
        process.send_signal(number)
        process.wait()
    finally:
        process.kill()
    until_gone(workers)
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert not (tmp_path / "out").exists()


# setveil warm


@pytest.mark.exhaustive
@needs_compiled
def test_warm_compiles_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "small.json", json.dumps([
        ["setveil.base.sorting:sort_piece", ["int64[1C]", "int64", "int64"], 0.3, ["demo"]],
        ["setveil.base.sorting:sort_piece", ["int32[1C]", "int64", "int64"], 0.3, ["demo"]],
        ["setveil.base.sorting:sort_piece", ["float64[1C]", "int64", "int64"], 0.3, ["other"]],
        ["setveil.base.sorting:no_longer_there", [], 0.3, ["other"]],
    ]))  # fmt: skip
    script = write(
        tmp_path / "run.py",
        "import pathlib\nfrom setveil.base import compiling\n"
        f"compiling.LIST = pathlib.Path({str(tmp_path / 'small.json')!r})\n"
        "from setveil.__main__ import main\nmain()\n",
    )

    def warm(*more: str) -> Any:
        done = subprocess.run(
            [sys.executable, script, "warm", "--json", *more], capture_output=True, text=True, check=True,
            env=environment({"NUMBA_CACHE_DIR": str(tmp_path / "cache")}),
        )  # fmt: skip
        return json.loads(done.stdout)

    first = warm()
    folder = str(next((tmp_path / "cache" / "setveil").iterdir()))
    assert first == {"functions": 2, "compiled": 2, "failed": 0, "folder": folder}
    assert warm() == {"functions": 2, "compiled": 0, "failed": 0, "folder": folder}
    assert warm("--all") == {"functions": 3, "compiled": 1, "failed": 1, "folder": folder}
    assert len(list(Path(folder).glob("*.kernel"))) == 3


@posix_only
@needs_compiled
def test_warm_needs_a_folder_of_the_users_own(tmp_path: Path) -> None:
    assert setveil("warm", "--help").ok().out
    (tmp_path / "file").touch()
    done = setveil("warm", env={"NUMBA_CACHE_DIR": str(tmp_path / "file")})
    refused(done, 2, "cannot be kept", "NUMBA_CACHE_DIR")
    refused(setveil("warm", env={"NUMBA_DISABLE_JIT": "1"}), 2, "NUMBA_DISABLE_JIT")
    with pytest.raises(sv.RequestError, match="everything must be True or False"):
        sv.warm(everything="all")  # type: ignore[arg-type]
