"""What Ctrl-C does to a command: it leaves at once, or is counted where it would cut something in two.

Python's own answer is an exception in whatever line has been reached. It is swallowed inside some imports,
shows a traceback where nobody catches it, and is no answer any more once the interpreter ends: the signal
kills it. So a command has handlers of its own from its first line to its last.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import NoReturn

INTERRUPTED = 130


def leave(*_: object) -> NoReturn:
    """End the process with the exit code for Ctrl-C: no thread and no library is waited for."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), b"Interrupted.\n")  # print may be what was interrupted
    os._exit(INTERRUPTED)


def end(code: int) -> NoReturn:
    """End the process as the interpreter would, but without the part that Ctrl-C would tear apart."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
                stream.flush()
    os._exit(code)


def leave_at_ctrl_c() -> None:
    """From now on let Ctrl-C leave at once; a process that its shell has made deaf to it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


class Presses:
    """How often Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *_: object) -> None:
        """Be the handler."""
        self.count += 1


@contextlib.contextmanager
def counted() -> Iterator[Presses]:
    """Count how often Ctrl-C is pressed, and do nothing else about it."""
    presses = Presses()
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield presses
        return
    signal.signal(signal.SIGINT, presses)
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, before)
