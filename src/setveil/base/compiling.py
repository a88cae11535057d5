"""Compile by several processes at once what a command is about to need, while the command itself goes on.

Where nothing that was compiled fits the machine, as in a new checkout, a first run would compile one function
after the other, and wait for each. `expect` tells which command is to run. At the first function that is not
there, processes begin to compile all that the command needs by a list that the package holds: what takes
longest comes first. A function of the list that is requested is waited for. The processes read their work
from this one, and end as soon as it does, however that is.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.memory import memory_left

if TYPE_CHECKING:
    import subprocess

LIST = Path(__file__).with_name("jit") / "kernels.json"
MOST = 8  # processes
_MEMORY = 400 << 20  # that must be left for each of them
WORKER = ["-P", "-m", "setveil.base.jit.worker"]


@dataclass(frozen=True)
class Listed:
    """A function and types that it is compiled for."""

    kernel: str  # its module and name
    types: Any  # as `setveil.base.jit.calls` writes them
    seconds: float  # that it took to compile
    commands: tuple[str, ...]  # that need it


@cache
def listed() -> tuple[Listed, ...]:
    """Read the list of all that commands need."""
    lines = json.loads(LIST.read_text(encoding="utf-8"))
    return tuple(Listed(kernel, types, seconds, tuple(used)) for kernel, types, seconds, used in lines)


def needed_by(*commands: str) -> list[int]:
    """Return the numbers of what some commands need."""
    some = set(commands)
    return [number for number, one in enumerate(listed()) if some.intersection(one.commands)]


class Processes:
    """Processes that compile some functions of the list, by their numbers; `hear` hears how many are done."""

    def __init__(
        self, numbers: Sequence[int], processes: int, hear: Callable[[int], None] = lambda done: None
    ) -> None:
        self._left = set(numbers)
        self._running: set[int] = set()
        self.compiled: set[int] = set()
        self.there: set[int] = set()  # before
        self.failed: set[int] = set()
        self._hear = hear
        self._alive = processes
        self._changed = threading.Condition()
        self._wanted: set[int] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(processes)]
        for thread in self._threads:
            thread.start()

    def wait_for(self, number: int) -> bool:
        """Wait until a function was compiled; False: it will not be."""
        with self._changed:
            self._wanted.add(number)
            while number in self._left or number in self._running:
                if not self._alive:
                    return False
                self._changed.wait()
            return number not in self.failed

    def wait(self) -> None:
        """Wait until all is done with."""
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Start a process, and give it work as long as there is any."""
        import subprocess

        process = None
        try:
            # A session of its own: Ctrl-C is for this process, whose end the other one notices.
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, *WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            while (number := self._next()) is not None:
                answer = _ask(process, listed()[number])
                self._done(number, answer)
                if not answer:
                    break  # it has ended
        except OSError:
            pass  # none could be started
        finally:
            with self._changed:
                self._alive -= 1
                self._changed.notify_all()
            if process is not None:
                _end(process)

    def _next(self) -> int | None:
        """Choose what is waited for, else what takes longest; None: there are no more."""
        with self._changed:
            if not self._left:
                return None
            number = max(self._left, key=lambda one: (one in self._wanted, listed()[one].seconds, -one))
            self._left.remove(number)
            self._running.add(number)
            return number

    def _done(self, number: int, answer: bytes) -> None:
        with self._changed:
            self._running.remove(number)
            {b"compiled\n": self.compiled, b"there\n": self.there}.get(answer, self.failed).add(number)
            self._changed.notify_all()
            self._hear(len(self.compiled) + len(self.there) + len(self.failed))


def _ask(process: subprocess.Popen[bytes], one: Listed) -> bytes:
    """Let a process compile a function, and return its answer; none: it has ended."""
    assert process.stdin is not None  # noqa: S101
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(json.dumps([one.kernel, one.types]).encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def processes_for(threads: int) -> int:
    """Return how many processes may compile where this many threads may be used: 0 or at least 2."""
    left = memory_left()
    most = min(threads, MOST, MOST if left is None else left // _MEMORY)
    return most if most > 1 and sys.executable else 0


@dataclass
class _Expected:
    """What is to run in this process, and what compiles for it."""

    commands: tuple[str, ...] = ()
    threads: Callable[[], int] = field(default=lambda: 1)
    processes: Processes | None = None
    by_name: dict[tuple[str, str], int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_expected = _Expected()


def expect(threads: Callable[[], int], *commands: str) -> None:
    """Say which commands are to run; `threads`: tells how many threads they may use."""
    _expected.commands, _expected.threads = commands, threads


def was_compiled(kernel: str, types: Any) -> bool:
    """Wait for a function that is not there to be compiled by other processes; False: they do not."""
    if not _expected.commands:
        return False
    with _expected.lock:
        if _expected.processes is None:
            numbers = needed_by(*_expected.commands)
            processes = processes_for(_expected.threads()) if numbers else 0
            if not processes:
                _expected.commands = ()
                return False
            _expected.processes = Processes(numbers, processes)
            _expected.by_name = {_key(listed()[one].kernel, listed()[one].types): one for one in numbers}
    number = _expected.by_name.get(_key(kernel, types))
    return number is not None and _expected.processes.wait_for(number)


def _key(kernel: str, types: Any) -> tuple[str, str]:
    return kernel, json.dumps(types)


def _forget() -> None:
    """Expect nothing in a process that was forked: the others are not its own."""
    global _expected  # noqa: PLW0603
    _expected = _Expected()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
