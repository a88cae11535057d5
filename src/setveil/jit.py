"""The one place where functions are compiled.

Kernels are plain loops over C-contiguous arrays. Containers are read-only and workspaces are not, always, so
that each kernel is compiled for one set of types. Ids are widened to int64 before arithmetic: compiled code
and Python disagree on int32 overflow. Everything also runs uncompiled under ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.runtime.nrt import rtsys

log = logging.getLogger("setveil")


class _FirstRun(event.Listener):
    """Says once per machine that kernels are being compiled (a cached kernel raises no such event)."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            if not _was_said():
                log.info("compiling, first run only")

    def on_end(self, event: Any) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # then the next run says it again
            if not _was_said():
                _mark().parent.mkdir(parents=True, exist_ok=True)
                _mark().touch()


def _was_said() -> bool:
    with contextlib.suppress(OSError, RuntimeError):
        return _mark().exists()
    return False


@cache
def _mark() -> Path:
    """Name the empty file that remembers what was said.

    It lies where numba was told to keep its cache, else with the user's other caches. Another numba or
    another installation of setveil compiles anew, and so has another name.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        folder = Path(os.environ["NUMBA_CACHE_DIR"])
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    installed = Path(__file__).stat().st_mtime_ns
    return folder / "setveil" / f"compiled-{numba.__version__}-{installed:x}"


event.register("numba:compile", _FirstRun())  # type: ignore[no-untyped-call]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, and keep the result on disk where that is possible.

    The compiled code releases Python's global lock, so that Ctrl-C and progress bars answer while it runs.
    """
    try:
        made = numba.njit(function, cache=True, nogil=True)
    except RuntimeError:  # neither the package nor the user's cache folder is writable
        return numba.njit(function, nogil=True)  # type: ignore[no-any-return]
    cached = getattr(made, "_cache", None)  # none if nothing is compiled
    if cached is not None:
        cached.save_overload = _where_possible(cached.save_overload)
        cached.load_overload = _without_registries(cached)
    return made  # type: ignore[no-any-return]


def _where_possible(save: Callable[..., None]) -> Callable[..., None]:
    """Keep what was compiled unless the disk is full: then it is used all the same."""

    def saved(*compiled: Any) -> None:
        with contextlib.suppress(OSError):
            save(*compiled)

    return saved


def _without_registries(cached: Any) -> Callable[..., Any]:
    """Load what was compiled without the registries of all that numba can compile, which take 0.07 seconds.

    Compiled code needs numba's runtime and nothing of them. What is not found is compiled, and numba reads
    them before it does.
    """

    def loaded(signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        with cached._guard_against_spurious_io_errors():
            return cached._load_overload(signature, target)
        return None  # the file could not be opened

    return loaded
