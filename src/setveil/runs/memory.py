"""How much memory a process has held, needs, and is kept to."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from setveil.base.memory import memory_left

ROW = 24  # bytes of memory that a row takes besides its items
OF_A_BYTE = 6  # bytes of memory for a byte of a Parquet file

_EVERY = 0.05  # seconds between two looks at the memory


def peak_memory_mb() -> float | None:
    """Greatest memory that this process has held, in MB; None where the system does not tell.

    On Linux `getrusage` also counts what the parent held when it started the process, the kernel's VmHWM not.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10), 1)


def share_left_mb(share: float) -> float:
    """Take a share of the memory that is left, in MB; no limit where the system does not tell."""
    left = memory_left()
    return 1e9 if left is None else left / (1 << 20) * share


def keep_to(limit: float, end: Callable[[], None]) -> None:
    """End this process, by `end`, once it has more than `limit` MB of memory, if the system reports it."""

    def watch() -> None:
        while (peak := peak_memory_mb()) is not None:
            if peak > limit:
                end()
            time.sleep(_EVERY)

    threading.Thread(target=watch, daemon=True).start()


def least_memory(files: Sequence[str]) -> tuple[int, int]:
    """Tell how many rows Parquet files hold, and what these need at least in memory, in bytes.

    The footers say how many rows there are. An item takes a fraction of a byte to two bytes in a file, and at
    least 8 in memory.
    """
    import polars as pl

    n_rows = sum(int(pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()) for file in files)
    return n_rows, ROW * n_rows + OF_A_BYTE * sum(Path(file).stat().st_size for file in files)
