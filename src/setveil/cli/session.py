"""How a command runs: errors as exit codes, progress on a terminal, Ctrl-C answered at once."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import typer

from setveil.cli.ctrlc import counted, leave
from setveil.errors import SetveilError
from setveil.staging import give_up

T = TypeVar("T")


def say(text: str) -> None:
    """Tell the user something; standard output is for answers only."""
    if sys.stderr is not None:  # else print would take standard output instead
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def answer(text: str) -> None:
    """Print a command's answer."""
    print(text, flush=True)  # noqa: T201


def answer_json(content: Any) -> None:
    """Print a command's answer as JSON."""
    import json

    answer(json.dumps(content, ensure_ascii=False, indent=2))


def fail(error: SetveilError) -> NoReturn:
    """End the command with an error's message and exit code."""
    say(f"Error: {error}")
    raise typer.Exit(error.exit_code)


class _Phase:
    """What the work is doing; written by it, read by whoever draws."""

    def __init__(self) -> None:
        self.phase = "starting"
        self.done: float | None = None
        self.stoppable = False
        self.stop = False

    def __call__(self, phase: str, done: float | None = None) -> None:
        self.phase, self.done = phase, done

    def stop_requested(self) -> bool:
        return self.stop


class _Notes(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self.tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(record.getMessage())


def run(work: Callable[[_Phase], T]) -> T:
    """Do the work of a command in a thread of its own, and return what it returns.

    The main thread only draws and listens: compiled loops and libraries cannot keep Ctrl-C waiting. Work that
    could end early does so at the first Ctrl-C. Setveil's errors end the command with their message and exit
    code.
    """
    phase = _Phase()
    result: list[T] = []
    failure: list[BaseException] = []
    finished = threading.Event()

    def body() -> None:
        try:
            result.append(work(phase))
        except BaseException as error:  # raised again in the main thread
            failure.append(error)
        finally:
            finished.set()

    thread = threading.Thread(target=body, name="setveil", daemon=True)
    with counted() as presses:
        with _drawing(phase) as (tick, tell):
            notes = _Notes(tell)
            logger = logging.getLogger("setveil")
            logger.addHandler(notes)
            logger.setLevel(logging.INFO)
            try:
                thread.start()
                while not finished.wait(0.1):
                    tick()
                    if presses.count > phase.stop:
                        if phase.stop or not phase.stoppable:
                            break
                        phase.stop = True
                        tell("Stopping with the best release so far; Ctrl-C again leaves at once.")
            finally:
                logger.removeHandler(notes)
        if presses.count > phase.stop:
            give_up()  # nothing half-done stays on the disk; the working thread is not asked
            leave()
    if failure:
        error = failure[0]
        if isinstance(error, SetveilError):
            fail(error)
        if isinstance(error, MemoryError):
            say("Error: out of memory. Hint: a smaller m, or a machine with more memory.")
            raise typer.Exit(1)
        raise error
    return result[0]


class _drawing:  # noqa: N801  (used as a function)
    """A progress bar with phase and elapsed time, on a terminal; nothing elsewhere."""

    def __init__(self, phase: _Phase) -> None:
        self.phase = phase
        self.bar: Any = None

    def __enter__(self) -> tuple[Callable[[], None], Callable[[str], None]]:
        if sys.stderr is None or not sys.stderr.isatty():
            return (lambda: None), say
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task(self.phase.phase, total=None)
        self.bar.start()
        return self._tick, lambda text: self.bar.console.print(text, markup=False, highlight=False)

    def _tick(self) -> None:
        done = self.phase.done
        self.bar.update(
            self.task,
            description=self.phase.phase,
            total=None if done is None else 1.0,
            completed=done or 0.0,
        )

    def __exit__(self, *exc: object) -> None:
        if self.bar is not None:
            self.bar.stop()
