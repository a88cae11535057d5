"""The one place where functions are compiled, and where what was compiled is kept.

Kernels are plain loops over C-contiguous arrays. Containers are read-only and workspaces are not, always, so
that each kernel is compiled for one set of types. Ids are widened to int64 before arithmetic: compiled code
and Python disagree on int32 overflow. Everything also runs uncompiled under ``NUMBA_DISABLE_JIT=1``.

A kernel is compiled once for the types that it is called with, into an object file that needs nothing but the
memory of Python (`building`, the only module that imports numba). Later processes load the file (`loading`)
and call it through ctypes (`calls`), without numba.

- `calls`: the types of what a kernel is called with, and its arguments and results as numbers and addresses;
- `origin`: all that the machine code of a kernel was made from, which names the file that it is kept in;
- `files`: those files and the folders that may be trusted: the user's, and one that comes with the package;
- `processor`: the processor of this machine, and the one that the package's own are compiled for;
- `building`: from a function in Python to an object file; `memory_runtime`: how its arrays are allocated;
- `loading`: from an object file to a function that can be called;
- `worker`: a process that compiles for another one (`setveil.base.compiling`).
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from setveil.base.jit import calls, files, origin

log = logging.getLogger("setveil")

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, keep the result on disk, and release Python's lock in calls."""
    return Kernel(function) if IS_COMPILED and isinstance(function, FunctionType) else function


class Kernel:
    """A function that is compiled for each set of types that it is called with."""

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._entries: dict[tuple[Any, ...], Callable[..., Any]] = {}  # by the types of calls
        self._ready: dict[str, Callable[..., Any]] = {}  # by those types written down

    @property
    def name(self) -> str:
        """Its module and name."""
        return f"{self.py_func.__module__}:{self.py_func.__qualname__}"

    def __call__(self, *arguments: Any) -> Any:
        """Call what was compiled for the types of the arguments."""
        types, values = calls.taken_apart(arguments)
        entry = self._entries.get(types)
        if entry is None:
            entry = self._entries[types] = self._entry(calls.written(types))
        return entry(values, arguments)

    def __reduce__(self) -> str:
        """Be pickled by name, as functions are."""
        return self.py_func.__qualname__

    @functools.cached_property
    def for_kernels(self) -> Any:
        """The function as numba compiles it for other kernels that call it."""
        from setveil.base.jit import building

        return building.for_kernels(self)

    def compile(self, types: list[calls.Type]) -> bool:
        """Compile it for some types ahead of a call, and keep that; False: that was there."""
        if self.load(types):
            return False
        if not self._built(types):
            raise TypeError(f"{self.name} cannot be kept for {types}")
        return True

    def _entry(self, types: list[calls.Type] | None) -> Callable[..., Any]:
        """Load what was compiled for some types, or compile it."""
        if types is not None:
            with _lock:
                found = self.load(types) or self._compiled_elsewhere(types) or self._built(types)
            if found is not None:
                return found
        from setveil.base.jit import building

        by_numba = building.for_python(self)
        return lambda values, arguments: by_numba(*arguments)

    def load(self, types: list[calls.Type]) -> Callable[..., Any] | None:
        """Load what was compiled here, else what came with the package, if that fits."""
        from setveil.base.jit import loading

        if str(types) not in self._ready:
            for content in files.contents(self.py_func, types):
                with contextlib.suppress(loading.Unusable):  # it is compiled again
                    self._ready[str(types)] = loading.load(content)
                    break
        return self._ready.get(str(types))

    def _compiled_elsewhere(self, types: list[calls.Type]) -> Callable[..., Any] | None:
        """Wait for other processes to compile it, if they do; None: they do not."""
        from setveil.base import compiling

        _say_once()
        wait = files.folder() is not None and compiling.was_compiled(self.name, types)
        return self.load(types) if wait else None

    def _built(self, types: list[calls.Type]) -> Callable[..., Any] | None:
        """Compile it, and keep it, unless the disk is full or the like: then it is used all the same."""
        from setveil.base.jit import building, loading

        content = building.built(self, types)
        if content is None:
            return None
        files.keep(self.py_func, types, content)
        return self._ready.setdefault(str(types), loading.load(content))


_lock = threading.RLock()
_said = False


def _say_once() -> None:
    """Say that functions are being compiled, unless some were for this version, on this machine."""
    global _said  # noqa: PLW0603
    if not _said:
        _said = True
        folder = files.folder()
        if folder is None or next(folder.glob(f"*{origin.SUFFIX}"), None) is None:
            log.info("compiling, first run only")
