"""What a kernel is called with and what it returns, as numbers and addresses that compiled code can read.

All arguments of a call are one row of 64-bit numbers: an array is the place where NumPy keeps its address,
and its lengths, a tuple its members one after the other. Results come back in another such row, arrays with
the address of the memory that the kernel allocated for them. That belongs to Python from then on, and is
freed with the last array in it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

# "const int32[1C]", "int64", "float64", "bool"; a tuple is a list, that of a named one begins with its class.
Type = Any
_CLASS = "class "

_ALIGNED_C, _WRITABLE = 0x101, 0x400  # among NumPy's flags of an array
_ADDRESS = object.__basicsize__  # where an array's address is, as in NumPy's header (PyArrayObject_fields)
_NUMBERS = {int: "int64", float: "float64", bool: "bool"}


def taken_apart(arguments: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """Return a key of the types of some arguments, and their values as numbers."""
    types: list[Any] = []
    values: list[Any] = []
    for one in arguments:
        kind = type(one)
        if kind is np.ndarray or isinstance(one, np.ndarray):
            types.append((one.dtype, one.ndim, one.flags.num & (_ALIGNED_C | _WRITABLE)))
            values.append(id(one) + _ADDRESS)
            values += one.shape
        elif isinstance(one, tuple):
            inner, found = taken_apart(one)
            types.append((kind, inner))
            values += found
        else:
            types.append(kind)
            values.append(one)
    return tuple(types), values


def written(types: Sequence[Any]) -> list[Type] | None:
    """Write the types of arguments; None: one of them cannot be handed to compiled code."""
    found = [_written(one) for one in types]
    return None if None in found else found


def _written(one: Any) -> Type | None:
    if isinstance(one, type):
        is_number = issubclass(one, np.integer | np.floating | np.bool_)
        return _NUMBERS.get(one) or (np.dtype(one).name if is_number else None)
    if isinstance(one[0], type):
        members = written(one[1])
        name = [] if one[0] is tuple else [name_of_class(one[0])]
        return None if members is None else name + members
    dtype, dimensions, flags = one
    if dtype.kind not in "iufb" or not dtype.isnative or flags & _ALIGNED_C != _ALIGNED_C or not dimensions:
        return None
    return f"{'' if flags & _WRITABLE else 'const '}{dtype.name}[{dimensions}C]"


def name_of_class(one: type) -> str:
    """Write the class of a named tuple, as the first member of its type."""
    return f"{_CLASS}{one.__module__}:{one.__qualname__}"


def parts_of(one: str) -> tuple[str, int, bool]:
    """Read the type of an array or number: that of its numbers, its dimensions, whether it is read-only."""
    name, _, shape = one.removeprefix("const ").partition("[")
    return name, int(shape[:-2]) if shape else 0, one.startswith("const ")


def class_of(one: Type) -> tuple[str, list[Type]]:
    """Read the type of a tuple: the module and name of its class, or none, and the types of its members."""
    is_named = bool(one) and isinstance(one[0], str) and one[0].startswith(_CLASS)
    return (one[0].removeprefix(_CLASS), one[1:]) if is_named else ("", one)


def named(name: str) -> Any:
    """Find what is in a module by the name of both."""
    module, _, inner = name.partition(":")
    return functools.reduce(getattr, inner.split("."), importlib.import_module(module))


def numbers(one: Type, *, for_array: int) -> Iterator[str]:
    """Name the type of each number that a value takes in a row; of an array `for_array`, and its lengths."""
    if isinstance(one, list):
        for member in class_of(one)[1]:
            yield from numbers(member, for_array=for_array)
    elif one is not None:
        dtype, dimensions, _ = parts_of(one)
        yield from ["int64"] * (for_array + dimensions) if dimensions else [dtype]


def row_of(dtypes: Sequence[str]) -> struct.Struct:
    """Return how a row of numbers of some types is packed."""
    return struct.Struct("=" + "".join({"f": "d", "u": "Q"}.get(one[0], "q") for one in dtypes))


def caller(function: Any, arguments: list[Type], result: Type | None) -> Callable[..., Any]:
    """Return a callable that passes rows of numbers to a compiled function, and puts its result together."""
    row = row_of(list(numbers(arguments, for_array=1)))
    returned = row_of(list(numbers(result, for_array=2)))
    places = ctypes.c_int64 * (returned.size // 8)

    def call(values: list[Any], whole: Sequence[Any]) -> Any:
        results = places()
        if function(row.pack(*values), results):
            raise MemoryError
        if result is None:
            return None
        found = iter(returned.unpack_from(results))
        return _put_together(result, found, whole, {})

    return call


def _put_together(one: Type, found: Iterator[Any], whole: Sequence[Any], owners: dict[int, _Memory]) -> Any:
    """Make a result of the numbers in a row; `whole`: what the kernel was called with."""
    if isinstance(one, list):
        name, members = class_of(one)
        values = [_put_together(member, found, whole, owners) for member in members]
        return named(name)(*values) if name else tuple(values)
    dtype, dimensions, is_const = parts_of(one)
    if not dimensions:
        return bool(next(found)) if dtype == "bool" else next(found)
    block, address = next(found), next(found)
    shape = tuple(next(found) for _ in range(dimensions))
    if block and block not in owners:
        owners[block] = _Memory(block)
    return _array(address, shape, np.dtype(dtype), is_const, owners.get(block, whole))


class _Memory:
    """Memory that a kernel allocated, which is freed with this object."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self, free: Any = ctypes.pythonapi.PyMem_RawFree) -> None:
        free(ctypes.c_void_p(self.address))


class _Shown:
    """What NumPy makes an array of, and keeps as long as that exists."""

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def _array(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], is_const: bool, owner: object) -> Any:
    """Make an array of memory that lives as long as its owner."""
    if 0 in shape:
        return np.empty(shape, dtype)
    shown = {"data": (address, is_const), "shape": shape, "typestr": dtype.str, "version": 3}
    return np.asarray(_Shown(shown, owner))
