"""The one place where functions are compiled.

Kernels are plain loops over C-contiguous arrays. Containers are read-only and workspaces are not, always, so
that each kernel is compiled for one set of types. Ids are widened to int64 before arithmetic: compiled code
and Python disagree on int32 overflow. Everything also runs uncompiled under ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

log = logging.getLogger("setveil")


class _FirstRun(event.Listener):
    """Says once per process that a kernel is being compiled (a cached kernel raises no such event)."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            log.info("compiling, first run only")

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _FirstRun())  # type: ignore[no-untyped-call]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, and keep the result on disk where that is possible.

    The compiled code releases Python's global lock, so that Ctrl-C and progress bars answer while it runs.
    """
    try:
        return numba.njit(function, cache=True, nogil=True)  # type: ignore[no-any-return]
    except RuntimeError:  # neither the package nor the user's cache folder is writable
        return numba.njit(function, nogil=True)  # type: ignore[no-any-return]
