"""Compiling is spoken of once per machine, not once per kernel or process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli_helpers import environment, needs_compiled, posix_only, write

_KERNELS = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from setveil.jit import compiled

@compiled
def one(x):
    return x + 1

@compiled
def other(x):
    return x + 2

{"one": one, "other": other}[sys.argv[1]](1)
"""


@needs_compiled
def test_said_once_per_machine(tmp_path: Path) -> None:
    write(tmp_path / "kernels.py", _KERNELS)

    def said(kernel: str, cache: str) -> str:
        process = subprocess.run(
            [sys.executable, str(tmp_path / "kernels.py"), kernel],
            env=environment({"NUMBA_CACHE_DIR": str(tmp_path / cache)}),
            capture_output=True,
            text=True,
            check=True,
        )
        return process.stderr

    assert said("one", "cache") == "compiling, first run only\n"
    assert said("one", "cache") == ""
    assert said("other", "cache") == ""  # compiled, too, but it was said
    assert said("other", "another") == "compiling, first run only\n"


@posix_only
@needs_compiled
def test_a_full_disk_keeps_nobody_from_working(tmp_path: Path) -> None:
    import resource

    write(tmp_path / "kernels.py", _KERNELS)
    process = subprocess.run(
        [sys.executable, str(tmp_path / "kernels.py"), "one"],
        env=environment({"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "compiling, first run only\n")
    assert all(path.stat().st_size == 0 for path in (tmp_path / "cache").rglob("*") if path.is_file())
