"""How a command runs: errors as exit codes, progress on a terminal, Ctrl-C and the like answered at once."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import click

from setveil.base.errors import RequestError, SetveilError
from setveil.base.staging import give_up, remove_abandoned
from setveil.base.wording import visible
from setveil.cli.ctrlc import counted, leave
from setveil.cli.drawing import Phases, drawing, tell
from setveil.cli.watched import is_watched, stop_requested, write_error

T = TypeVar("T")


@dataclass
class _Manner:
    """How much a command says in addition to its answer."""

    quiet: bool = False
    verbose: bool = False
    mend: Callable[[SetveilError], None] | None = None  # writes what this command was given into hints


_manner = _Manner()


def speak(*, quiet: bool, verbose: bool) -> None:
    """Settle how much this command says: only errors and its answer, or also the phases of its work."""
    if quiet and verbose:
        fail(RequestError("--quiet and --verbose exclude each other."))
    _manner.quiet, _manner.verbose = quiet, verbose


def begin(mend: Callable[[SetveilError], None]) -> None:
    """Settle what writes the files and options of this command into the hints of errors."""
    _manner.mend = mend


def is_verbose() -> bool:
    """Whether all details are wanted."""
    return _manner.verbose


def say(text: str) -> None:
    """Tell the user something, unless only answers are wanted."""
    if not _manner.quiet:
        tell(text)


def answer(text: str) -> None:
    """Print a command's answer."""
    print(visible(text), flush=True)  # noqa: T201


def answer_json(content: Any) -> None:
    """Print a command's answer as JSON."""
    import json

    answer(json.dumps(content, ensure_ascii=False, indent=2))


@dataclass(frozen=True)
class Answer:
    """What a command answers."""

    found: Any  # what --json prints
    words: str | Callable[[], object]  # the same: a text, or what prints it
    code: int = 0  # the exit code
    aside: str = ""  # what is said beside JSON


def conclude(answered: Answer | str, *, json: bool) -> None:
    """Print what a command answers, or say what it did, and end with its exit code."""
    if isinstance(answered, str):
        say(answered)
        return
    if json:
        if answered.aside:
            say(answered.aside)
        answer_json(answered.found)
    elif isinstance(answered.words, str):
        answer(answered.words)
    else:
        answered.words()
    if answered.code:
        raise click.exceptions.Exit(answered.code)


def tell_error(error: SetveilError) -> None:
    """Say what is wrong, to the user or to the program that watches the command."""
    if is_watched():
        write_error(error)
    else:
        tell(f"Error: {error}")


def fail(error: SetveilError) -> NoReturn:
    """End the command with an error's message and exit code."""
    if _manner.mend is not None:
        _manner.mend(error)
    tell_error(error)
    raise click.exceptions.Exit(error.exit_code)


class _Notes(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self.tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(record.getMessage())


def _log_phase(phase: str, seconds: float) -> None:
    logging.getLogger("setveil").info("%s: %.2f s", phase, seconds)


def _untold(phase: str, seconds: float) -> None:
    pass


def run(work: Callable[[Phases], T]) -> T:
    """Do the work of a command in a thread of its own, and return what it returns.

    The main thread only draws and listens: compiled loops and libraries cannot keep Ctrl-C waiting. Work that
    could end early does so at the first Ctrl-C; the other signals that ask to end do so at once. Setveil's
    errors end the command with their message and exit code.
    """
    phases = Phases(_log_phase if _manner.verbose else _untold)
    result: list[T] = []
    failure: list[BaseException] = []
    finished = threading.Event()

    def body() -> None:
        try:
            remove_abandoned()
            result.append(work(phases))
            phases.end()
        except BaseException as error:  # raised again in the main thread
            failure.append(error)
        finally:
            finished.set()

    thread = threading.Thread(target=body, name="setveil", daemon=True)
    with counted() as presses:
        shown = drawing(phases, quiet=_manner.quiet)
        notes = _Notes(shown.tell)
        logger = logging.getLogger("setveil")
        logger.addHandler(notes)
        logger.setLevel(logging.INFO)
        try:
            thread.start()
            while not finished.wait(0.1):
                shown.tick()
                if presses.ended:
                    break
                if presses.count > phases.stop:
                    if phases.stop or not phases.stoppable:
                        break
                    phases.stop = True
                    shown.tell("Stopping with the best release so far; Ctrl-C again leaves at once.")
                elif phases.stoppable and stop_requested():
                    phases.stop = True
        except BaseException:
            give_up()
            raise
        finally:
            logger.removeHandler(notes)
            shown.close()
        if presses.ended or presses.count > phases.stop:
            give_up()  # nothing half-done stays on the disk; the working thread is not asked
            leave(presses.ended or signal.SIGINT)
    if failure:
        error = failure[0]
        if isinstance(error, SetveilError):
            fail(error)
        if isinstance(error, MemoryError):
            fail(SetveilError("Out of memory.", hint="A smaller m, or a machine with more memory."))
        raise error
    return result[0]
