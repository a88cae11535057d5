"""Standard output that fails with one of setveil's errors, or in silence where its reader has gone."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from setveil.base.errors import SetveilError

READER_GONE = 128 + 13  # as shells tell of a process that SIGPIPE has ended


class _Raw(io.RawIOBase):
    def __init__(self, number: int) -> None:
        self.number = number
        self.lost = False

    def fileno(self) -> int:
        return self.number

    def isatty(self) -> bool:
        return os.isatty(self.number)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        """Write some of the content."""
        if self.lost:
            return len(content)
        try:
            return os.write(self.number, content)
        except BrokenPipeError:
            self.lost = True
            raise SystemExit(READER_GONE) from None
        except OSError as error:
            self.lost = True
            raise SetveilError(f"The answer cannot be printed: {error.strerror}.") from None


def print_or_fail() -> None:
    """From now on what cannot be printed is an error of setveil's; also where standard output is closed."""
    before = sys.stdout
    if before is None:  # it is closed, and its number may stand for another file
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Raw(-1)), "utf-8")
    elif isinstance(before, io.TextIOWrapper):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Raw(before.fileno())), before.encoding, before.errors,
            line_buffering=before.line_buffering,
        )  # fmt: skip
