"""The one place where functions are compiled, and where what was compiled is kept.

Kernels are plain loops over C-contiguous arrays. Containers are read-only and workspaces are not, always, so
that each kernel is compiled for one set of types. Ids are widened to int64 before arithmetic: compiled code
and Python disagree on int32 overflow. Everything also runs uncompiled under ``NUMBA_DISABLE_JIT=1``.

What was compiled is kept in a folder of the user's, a file for each function and its types. The name of a
file is a hash of all that the machine code was made from: the function, every compiled function and constant
that it refers to, the types, the processor, the versions of Python, NumPy and numba. So code that is out of
date is never found, whatever was edited, upgraded or installed beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import pickle
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numba
import numpy as np
from numba.core import bytecode, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from setveil.version import __version__

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
        vars(made)["_cache"] = _Kept(made.py_func)
    return made


class _Kept(NullCache):
    """What was compiled of one function, as numba's dispatchers ask for it."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load what was compiled for some types; None: nothing that could be used.

        It is loaded without the registries of all that numba can compile, which take 0.07 seconds: compiled
        code needs numba's runtime and nothing of them. They are read before anything is compiled.
        """
        folder, rebuild = _folder(), cast(Any, CompileResult._rebuild)
        if folder is not None:
            made_from = _made_from(self.function, sig, target_context.codegen())
            with contextlib.suppress(Exception):  # no file, or one that was cut off
                said, payload = pickle.loads((folder / _name(self.function, made_from)).read_bytes())  # noqa: S301
                if said == made_from:
                    rtsys.initialize(target_context)
                    return rebuild(target_context, *payload)
        _say_once(folder)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, unless the disk is full or the like: then it is used all the same."""
        folder = _folder()
        if folder is None or data.library.has_dynamic_globals or data.lifted:
            return
        made_from = _made_from(self.function, sig, data.codegen)
        with contextlib.suppress(OSError):
            content = cast(Any, dumps)((made_from, data._reduce()))
            _write(folder / _name(self.function, made_from), content)


def _write(path: Path, content: bytes) -> None:
    """Write a file that is seen whole or not at all."""
    number, name = tempfile.mkstemp(dir=path.parent)
    try:
        with open(number, "wb") as file:  # noqa: PTH123
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_said = False


def _say_once(folder: Path | None) -> None:
    """Say that functions are being compiled, unless some were for this version, on this machine."""
    global _said  # noqa: PLW0603
    if not _said:
        _said = True
        if folder is None or next(folder.glob("*.nbc"), None) is None:
            log.info("compiling, first run only")


# Where it is kept


@cache
def _folder() -> Path | None:
    """Make and name the folder that compiled code is kept in; None: there is none that can be trusted.

    What is read there is run. So it must be this user's, and nobody else may be able to write in it.
    """
    folder = _caches() / "setveil" / f"{__version__}-numba-{numba.__version__}"
    with contextlib.suppress(OSError, RuntimeError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or not _is_private(found):
            log.warning("compiled code is not kept: %s belongs to, or can be written by, others", folder)
        elif os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def _is_private(found: os.stat_result) -> bool:
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


def _caches() -> Path:
    """Name the folder that numba was told to keep its cache in, else that of the user's caches."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


# What it was made from


def _name(function: FunctionType, made_from: str) -> str:
    """Name the file of what was compiled."""
    return f"{function.__name__}-{hashlib.sha256(made_from.encode()).hexdigest()[:32]}.nbc"


def _made_from(function: FunctionType, signature: Any, codegen: Any) -> str:
    """Say all that what is compiled of a function for some types depends on."""
    arguments = [_type(one) for one in getattr(signature, "args", signature)]
    return "\n".join(map(str, (digest(function), arguments, codegen.magic_tuple(), _versions())))


@cache
def _versions() -> tuple[str, ...]:
    llvm = sys.modules["llvmlite"].__version__
    return (sys.implementation.cache_tag, sys.version, np.__version__, numba.__version__, llvm, os.name)


def _type(one: Any) -> Any:
    """Describe a type of numba's; two named tuples may differ in the names of their fields only."""
    if not isinstance(one, types.BaseTuple):
        return repr(one)
    made, inner = getattr(one, "instance_class", tuple), cast(Any, one).types
    return made.__module__, made.__qualname__, getattr(one, "fields", ()), [*map(_type, inner)]


@cache
def digest(function: FunctionType) -> str:
    """Hash a function with every function that it may call and every constant that it refers to."""
    met: dict[FunctionType, str] = {}
    left = [function]
    while left:
        one = left.pop()
        if one not in met:
            refers = dict(_references(one))
            inside = {name: _constant(value) for name, value in refers.items() if _called(value) is None}
            met[one] = repr((one.__module__, one.__qualname__, _code(one.__code__, one.__doc__), inside))
            left += [callee for value in refers.values() if (callee := _called(value)) is not None]
    return hashlib.sha256("\n".join(sorted(met.values())).encode()).hexdigest()


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """List what the names in a function's code, and its defaults, stand for."""
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    yield from ((f"default {at}", value) for at, value in enumerate(function.__defaults__ or ()))


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _code(code: CodeType, doc: str | None) -> tuple[Any, ...]:
    """Describe what a function does: its code, without its docstring and the numbers of its lines."""
    constants = [
        _code(constant, None) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
        if constant is None or constant != doc
    ]
    return code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars


def _called(value: Any) -> FunctionType | None:
    """Return the function in Python that a compiled one was made from."""
    return value.py_func if isinstance(value, Dispatcher) else None


def _constant(value: Any) -> str:
    """Describe what compiled code holds of a constant."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple):
        return str([*map(_constant, value)])
    if " at 0x" in repr(value):
        raise TypeError(
            f"compiled code cannot refer to {type(value).__qualname__}, which says nothing of itself"
        )
    return repr(value)
