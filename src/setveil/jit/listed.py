"""Types of compiled functions in JSON, as the list of all that commands need holds them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any, cast

from numba.core import types
from numba.core.dispatcher import Dispatcher

_ARRAY = re.compile(r"(const )?(\w+)\[([0-9]+)([CFA])\]")


def name_of(function: Any) -> str:
    """Name a function by its module."""
    return f"{function.__module__}:{function.__qualname__}"


def kernel_named(name: str) -> Dispatcher:
    """Find a compiled function by its module and name."""
    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(module), function)
    if not isinstance(found, Dispatcher):
        raise TypeError(f"{name} is not compiled")
    return found


def as_json(signature: Any) -> list[Any] | None:
    """Write the types of a function's arguments; None: one of them cannot be written."""
    try:
        return [_written(one) for one in getattr(signature, "args", signature)]
    except ValueError:
        return None


def of_json(written: Sequence[Any]) -> tuple[Any, ...]:
    """Read the types of a function's arguments."""
    return tuple(map(_read, written))


def _written(one: Any) -> Any:
    if isinstance(one, types.Array) and one.aligned:
        return f"{'' if one.mutable else 'const '}{_scalar(one.dtype)}[{one.ndim}{one.layout}]"
    if isinstance(one, types.IntegerLiteral):
        return one.literal_value
    if isinstance(one, types.UniTuple | types.Tuple):
        return [_written(inner) for inner in cast(Any, one).types]
    if isinstance(one, types.List) and not one.reflected:
        return f"list {_scalar(one.dtype)}"
    return _scalar(one)


def _scalar(one: Any) -> str:
    if isinstance(one, types.Integer | types.Float | types.Boolean) and not isinstance(one, types.Literal):
        return str(one)
    raise ValueError(one)


def _read(written: Any) -> Any:
    if isinstance(written, int):
        return cast(Any, types.literal)(written)
    if isinstance(written, list):
        return cast(Any, types.Tuple)([_read(inner) for inner in written])
    if written.startswith("list "):
        return cast(Any, types.List)(getattr(types, written[5:]))
    array = _ARRAY.fullmatch(written)
    if array is None:
        return getattr(types, written)
    const, dtype, ndim, layout = array.groups()
    return types.Array(getattr(types, dtype), int(ndim), cast(Any, layout), readonly=const is not None)
