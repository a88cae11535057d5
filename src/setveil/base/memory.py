"""How much memory is left, and how much of it what a packed file holds may take."""

from __future__ import annotations

import os
from pathlib import Path

from setveil.base.errors import DataError, faces

PART = 4  # a packed file may take one part of so many of the memory that is left
_LIMIT = "SETVEIL_UNPACKED_LIMIT"  # in MB; the environment is handed on to the processes that this one starts


def memory_left() -> int | None:
    """Memory that a process can still have, in bytes; None where the system does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def unpack_up_to(megabytes: int) -> None:
    """Let what a packed file holds take so much memory from now on, by default a quarter of what is left."""
    os.environ[_LIMIT] = str(megabytes)


class Unpacked:
    """What a packed file (compressed, a spreadsheet, Parquet) takes in memory, and how much it may take."""

    def __init__(self, name: str) -> None:
        self.name = name
        limit, left = os.environ.get(_LIMIT, ""), memory_left()
        self._limit = int(limit) << 20 if limit.isdecimal() else None
        self._most = self._limit if self._limit is not None else None if left is None else left // PART

    def require(self, size: int) -> None:
        """Refuse what takes this many bytes or more if that is too much."""
        if self._most is None or size <= self._most:
            return
        is_set = self._limit is not None
        limit = "the limit that was set" if is_set else "a quarter of the memory that is left"
        raise DataError(
            f"{self.name} takes more than {self._most / (1 << 20):,.0f} MB of memory once it is unpacked: "
            f"{limit}.",
            hint="If that is meant, allow more: "
            + faces("--unpacked-limit MB.", "setveil.base.memory.unpack_up_to(MB)."),
        )
