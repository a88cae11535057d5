"""All that the machine code of a function was made from.

The name of a file of compiled code is a hash of it: the function, every compiled function and constant that
it refers to, the types, the processor, the versions of Python, numba and LLVM. So code that is out of date
is never found, whatever was edited, upgraded or installed next to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numpy as np

from setveil.base import jit
from setveil.base.jit import processor
from setveil.base.jit.calls import Type
from setveil.base.version import version_of

FORM = "setveil 5"  # of the files of compiled code
SUFFIX = ".kernel"


def file_name(function: FunctionType, origin: str) -> str:
    """Name the file of what was compiled."""
    return f"{function.__name__}-{hashlib.sha256(origin.encode()).hexdigest()[:32]}{SUFFIX}"


def origin_of(function: FunctionType, types: list[Type]) -> str:
    """Say all that what is compiled of a function for some types depends on."""
    if processor.is_baseline():
        return shipped_origin_of(function, types)
    target = sys.platform, platform.machine(), *processor.wanted()
    return _origin(function, types, target, versions(), sys.version)


def shipped_origin_of(function: FunctionType, types: list[Type]) -> str:
    """Say the same of what was compiled for many machines, and comes with the package."""
    return _origin(function, types, processor.target(), versions())


def _origin(function: FunctionType, *others: Any) -> str:
    return "\n".join(map(str, (digest(function), *others)))


@cache
def versions() -> tuple[str, ...]:
    """Name the versions and settings of all that compiles, and of the form of the files.

    The bytecode that compiled code was made from is the same in all releases of one minor version of Python.
    """
    settings = (os.environ.get(f"NUMBA_{name}", "") for name in ("OPT", "BOUNDSCHECK", "DEBUGINFO"))
    bytecode = importlib.util.MAGIC_NUMBER.hex()
    return (FORM, sys.implementation.cache_tag, bytecode, version_of_numba(), llvmlite.__version__, *settings)


@cache
def version_of_numba() -> str:
    """Name the version of numba, without importing it."""
    return version_of("numba")


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
    """List what the names in a function's code, and its defaults, represent."""
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
    return value.py_func if isinstance(value, jit.Kernel) else None


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
