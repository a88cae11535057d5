"""All that the machine code of a function was made from.

The name of a file of compiled code is a hash of it: the function, every compiled function and constant that
it refers to, the types, the processor, the versions of Python, NumPy and numba. So code that is out of date
is never found, whatever was edited, upgraded or installed next to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import machinery
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numba
import numpy as np
from numba.core import config, types
from numba.core.dispatcher import Dispatcher

from setveil.jit import baseline

FORM = "setveil 2"  # of the files of compiled code


def name_of(function_name: str, origin: str) -> str:
    """Name the file of what was compiled."""
    return f"{function_name}-{hashlib.sha256(origin.encode()).hexdigest()[:32]}.nbc"


def origin_of(function: FunctionType, signature: Any, codegen: Any) -> str:
    """Say all that what is compiled of a function for some types depends on."""
    if baseline.is_compiled_for():
        return shipped_origin_of(function, signature)
    return _origin(function, signature, codegen.magic_tuple(), versions())


def shipped_origin_of(function: FunctionType, signature: Any) -> str:
    """Say the same of what was compiled for many machines, and comes with the package."""
    return _origin(function, signature, baseline.target(), shipped_versions())


def _origin(function: FunctionType, signature: Any, *others: Any) -> str:
    arguments = [_type(one) for one in getattr(signature, "args", signature)]
    return "\n".join(map(str, (digest(function), arguments, *others)))


@cache
def versions() -> tuple[str, ...]:
    """Name the versions of all that compiles, and of the form of the files."""
    return (FORM, sys.implementation.cache_tag, sys.version, np.__version__, *_compilers(), os.name)


@cache
def shipped_versions() -> tuple[str, ...]:
    """Name what must be the same on other machines: all by which Python and numba tell versions apart.

    Bytecode and the binary interface of Python are the same in all releases of one minor version, and numba
    looks at no more of the version of NumPy than that.
    """
    interface = machinery.EXTENSION_SUFFIXES[0], importlib.util.MAGIC_NUMBER.hex()
    return (FORM, sys.implementation.cache_tag, *interface, np.__version__.rsplit(".", 1)[0], *_compilers())


def _compilers() -> tuple[str, ...]:
    """Name the versions of what compiles, and the settings that change what it makes."""
    settings = map(vars(config).get, ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML"))
    return numba.__version__, sys.modules["llvmlite"].__version__, *map(str, settings)


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
