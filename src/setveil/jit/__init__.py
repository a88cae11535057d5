"""The one place where functions are compiled, and where what was compiled is kept.

Kernels are plain loops over C-contiguous arrays. Containers are read-only and workspaces are not, always, so
that each kernel is compiled for one set of types. Ids are widened to int64 before arithmetic: compiled code
and Python disagree on int32 overflow. Everything also runs uncompiled under ``NUMBA_DISABLE_JIT=1``.

- `origin`: all that the machine code of a function was made from, which names the file that it is kept in;
- `files`: those files and the folders that may be trusted: the user's, and one that comes with the package;
- `baseline`: the processor that the package's own are compiled for;
- `loading`: from such a file to a function that can be called;
- `listed`: types as the list of what commands need holds them, `kernels.json`;
- `worker`: a process that compiles for another one (`setveil.compiling`).
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import secrets
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
from numba.core import bytecode
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from setveil import compiling
from setveil.jit import baseline, files, loading
from setveil.jit.listed import as_json, name_of
from setveil.jit.origin import origin_of, shipped_origin_of

log = logging.getLogger("setveil")


def _number_apart() -> None:
    """Let this process number the functions that it compiles as no other process does.

    By these numbers numba tells apart its own inner functions that differ in nothing else. They are parts of
    the names in what is kept, and of two functions of one name in a process only the first is ever called.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


_number_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_apart)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, and keep the result on disk where that is possible.

    The compiled code releases Python's global lock, so that Ctrl-C and progress bars answer while it runs.
    """
    made: Callable[..., Any] = numba.njit(function, nogil=True)
    if isinstance(made, Dispatcher):  # else nothing is compiled
        vars(made)["_cache"] = Kept(made.py_func)
        vars(made)["typeof_pyval"] = loading.typeof_pyval(made)
    return made


class Kept(NullCache):
    """What was compiled of one function, as numba's dispatchers ask for it."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load what was compiled for some types; None: nothing that could be used."""
        found = self._loaded(sig, target_context)
        if found is None:
            _say_once()
            if files.folder() is not None and compiling.was_compiled(name_of(self.function), as_json(sig)):
                found = self._loaded(sig, target_context)
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        """Load what was compiled here, else what came with the package, if that fits."""
        name = self.function.__name__
        content = files.kept(name, origin_of(self.function, sig, target_context.codegen()))
        if content is None and files.shipped_folder() is not None and baseline.runs_here():
            content = files.shipped(name, shipped_origin_of(self.function, sig))
        with contextlib.suppress(Exception):  # what could not be made use of is compiled anew
            if content is not None:
                return loading.load(content, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, unless the disk is full or the like: then it is used all the same."""
        folder = files.folder()
        if folder is None or data.library.has_dynamic_globals or data.lifted:
            return
        origin = origin_of(self.function, sig, data.codegen)
        with contextlib.suppress(OSError):
            files.write(folder, self.function.__name__, origin, loading.saved(data))


_said = False


def _say_once() -> None:
    """Say that functions are being compiled, unless some were for this version, on this machine."""
    global _said  # noqa: PLW0603
    if not _said:
        _said = True
        folder = files.folder()
        if folder is None or next(folder.glob("*.nbc"), None) is None:
            log.info("compiling, first run only")
