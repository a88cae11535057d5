"""How much memory a process has held."""

from __future__ import annotations

import sys
from pathlib import Path


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
