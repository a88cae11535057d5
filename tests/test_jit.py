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


_MIXED = """
import sys
import numpy as np
from setveil.jit import compiled

@compiled
def inner(values):
    if values.size == 0:
        raise ValueError("nothing")
    return np.sort(values) + np.log(2.0)

@compiled
def outer(values):
    return inner(values).sum(), inner(values[1:])

@compiled
def later(n):
    return np.unique(np.arange(n) % 3)

values = np.array([2.0, 1.0])
assert np.allclose(inner(values), [1 + np.log(2), 2 + np.log(2)])
if sys.argv[1] == "all":
    total, rest = outer(values)
    assert np.isclose(total, 3 + 2 * np.log(2)) and np.allclose(rest, [1 + np.log(2)])
    assert later(9).tolist() == [0, 1, 2]
try:
    inner(values[2:])
except ValueError as error:
    print(error, sum(one._cache_hits[one.signatures[0]] for one in (inner, outer, later) if one.signatures))
"""


@needs_compiled
def test_what_is_loaded_and_what_is_compiled_go_together(tmp_path: Path) -> None:
    write(tmp_path / "mixed.py", _MIXED)
    for kernels, told in (("one", "nothing 0"), ("all", "nothing 1"), ("all", "nothing 3")):
        process = subprocess.run(
            [sys.executable, str(tmp_path / "mixed.py"), kernels],
            env=environment({"NUMBA_CACHE_DIR": str(tmp_path / "cache")}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (process.returncode, process.stdout.strip()) == (0, told), process.stderr
