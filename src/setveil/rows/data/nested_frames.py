"""Structs in data frames: their fields are columns, named with points (see `setveil.rows.data.nested`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

Step = Callable[[pl.Expr], pl.Expr]


def flat_frame(table: pl.LazyFrame) -> pl.LazyFrame:
    """Replace structs, and lists that hold structs, by columns of their fields."""
    schema = table.collect_schema()
    if not any(_is_nested(dtype) for dtype in schema.values()):
        return table
    columns: dict[str, pl.Expr] = {}
    for name, dtype in schema.items():
        for path, expression in _columns(name, dtype, pl.col(name)):
            columns.setdefault(path, expression.alias(path))
    return table.select(columns.values())


def _is_nested(dtype: Any) -> bool:
    """Return whether a column is one of structs, or of lists that hold structs."""
    if isinstance(dtype, pl.List | pl.Array):
        return _is_nested(dtype.inner)
    return isinstance(dtype, pl.Struct)


def _columns(path: str, dtype: Any, expression: pl.Expr) -> Iterator[tuple[str, pl.Expr]]:
    if isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            yield from _columns(f"{path}.{field.name}", field.dtype, expression.struct.field(field.name))
    elif _is_nested(dtype):
        lists = expression.arr.to_list() if isinstance(dtype, pl.Array) else expression
        for below, step in _elements(path, dtype.inner):
            yield below, lists.list.eval(step(pl.element()))
    else:
        yield path, expression


def _elements(path: str, dtype: Any) -> Iterator[tuple[str, Step]]:
    """List the columns of lists that the elements of a list make, and how each is made of an element."""
    if isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            for below, step in _elements(f"{path}.{field.name}", field.dtype):
                yield below, lambda one, name=field.name, step=step: step(one.struct.field(name))  # type: ignore[misc]
    elif isinstance(dtype, pl.List | pl.Array):
        for below, step in _elements(path, dtype.inner):
            yield below, lambda one, step=step: step(one.filter(one.list.len() > 0).explode())  # type: ignore[misc]
    else:
        yield path, lambda one: one
