"""The one place where functions are compiled.

Kernels are plain loops over C-contiguous arrays. Containers are read-only and workspaces are not, always, so
that each kernel is compiled for one set of types. Ids are widened to int64 before arithmetic: compiled code and
Python disagree on int32 overflow. Everything also runs uncompiled under ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

log = logging.getLogger("setveil")


class _FirstRun(event.Listener):  # type: ignore[misc]
    """Says once per process that a kernel is being compiled (a cached kernel raises no such event)."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if not self.said:
            self.said = True
            log.info("compiling, first run only")

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _FirstRun())


def compiled(function: F) -> F:
    """Compile `function` on first use, and keep the result on disk where that is possible.

    The compiled code releases Python's global lock, so that Ctrl-C and progress bars answer while it runs.
    """
    try:
        wrapped: F = numba.njit(function, cache=True, nogil=True)
    except RuntimeError:  # neither the package nor the user's cache folder is writable
        wrapped = numba.njit(function, nogil=True)
    return wrapped
