"""What Ctrl-C and other requests to end do: a command leaves at once, or notes them where it is at work.

Python's own answer to Ctrl-C is an exception in whatever line has been reached. It is swallowed inside some
imports, shows a traceback where nobody catches it, and is no answer any more once the interpreter ends: the
signal kills it. SIGTERM and SIGHUP (a terminal that is closed) kill it at any time. So a command has handlers
of its own from its first line to its last.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import NoReturn

from setveil.base.staging import give_up

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_WORDS = {"SIGTERM": b"Ended by SIGTERM.\n", "SIGHUP": b"Ended by SIGHUP.\n"}


def leave(number: int = signal.SIGINT) -> NoReturn:
    """End the process with the exit code for a signal: no thread and no library is waited for."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            said = _WORDS.get(signal.Signals(number).name, b"Interrupted.\n")
            os.write(sys.stderr.fileno(), said)  # print may be what was interrupted
    os._exit(128 + number)


def end(code: int) -> NoReturn:
    """End the process as the interpreter would, but without the part that a signal would tear apart."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
                stream.flush()
    os._exit(code)


def _tidy_and_leave(number: int, *_: object) -> NoReturn:
    give_up(wait=False)
    leave(number)


def leave_on_signal() -> None:
    """Let signals that ask to end do so at once from now on, unless the process was made deaf to them."""
    for number in SIGNALS:
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _tidy_and_leave)


class Presses:
    """How often Ctrl-C was pressed, and which other signal has asked to end."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = 0  # its number

    def __call__(self, number: int, *_: object) -> None:
        """Be the handler."""
        if number == signal.SIGINT:
            self.count += 1
        else:
            self.ended = number


@contextlib.contextmanager
def counted() -> Iterator[Presses]:
    """Note what asks to end, and do nothing else about it."""
    presses = Presses()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number in SIGNALS if before[number] not in {signal.SIG_IGN, None}]
    for number in heard:
        signal.signal(number, presses)
    try:
        yield presses
    finally:
        for number in heard:
            signal.signal(number, before[number])
