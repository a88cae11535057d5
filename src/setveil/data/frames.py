"""Cells of data frames: of a long table, or a column of lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from setveil.data.columns import Codes, choose_columns, rows_by_id
from setveil.errors import DataError, listed, shorten

Cells = tuple[NDArray[np.int64], NDArray[np.int64], list[str]]
"""What `Transactions.from_codes` takes: boundaries of the rows, codes, and the labels they stand for."""


def frame_cells(frame: object, id_column: str | None, item_column: str | None) -> Cells:
    """Take a data frame apart (see `Transactions.from_frame`)."""
    name = "the data frame"
    table = _as_polars(frame)
    id_column, item_column = table_columns(table.schema, id_column, item_column, name, first_is_id=True)
    return table_cells(table, id_column, item_column, name)


def table_columns(
    schema: Mapping[str, pl.DataType],
    id_column: str | None,
    item_column: str | None,
    where: str,
    *,
    first_is_id: bool = False,
) -> tuple[str | None, str]:
    """Settle the id column (None: the items are lists) and the item column of a table."""
    names = list(schema)
    lists = [name for name, dtype in schema.items() if isinstance(dtype, pl.List | pl.Array)]
    if item_column in lists:
        if id_column is not None:
            raise DataError(
                f"{where}: column {shorten(item_column)} holds lists: each cell is a row by itself.",
                hint="Leave out the id column, or unnest the lists first.",
            )
        return None, item_column
    if item_column is None and id_column is None and lists:
        if len(lists) == 1:
            return None, lists[0]
        raise DataError(
            f"{where}: {len(lists)} columns hold lists: {listed(lists)}.",
            hint="Name the one to read with --item-column (in Python item_column=).",
        )
    if len(names) == 1 and id_column is None and item_column in {None, names[0]}:
        raise DataError(
            f"{where}: the only column {shorten(names[0])} has type {schema[names[0]]}, expected lists.",
            hint="A long table has two columns, ids and items.",
        )
    return choose_columns(names, id_column, item_column, where=where, first_is_id=first_is_id)


def table_cells(table: pl.DataFrame, id_column: str | None, item_column: str, where: str) -> Cells:
    """Take apart the columns that `table_columns` settled."""
    items = table[item_column]
    if id_column is None:
        if isinstance(items.dtype, pl.Array):
            items = items.arr.to_list()
        lengths = items.list.len().fill_null(0)
        items = items.filter(lengths > 0).explode()
        _check_items(items, item_column, where, "lists")
        indptr = np.zeros(table.height + 1, np.int64)
        np.cumsum(lengths.to_numpy(), out=indptr[1:])
        return indptr, *_numbered(items)
    ids = table[id_column]
    if ids.dtype.is_nested() or ids.dtype == pl.Object:
        raise DataError(f"{where}: column {shorten(id_column)} has type {ids.dtype}, expected plain ids.")
    _check_items(items, item_column, where, "rows")
    if ids.dtype.is_float():
        ids = ids.fill_nan(None)
    _refuse(ids.is_null(), id_column, "missing", where, "rows")
    codes, labels = _numbered(items)
    return *rows_by_id(_numbered(ids)[0], codes), labels


def _check_items(items: pl.Series, column: str, where: str, unit: str) -> None:
    dtype = items.dtype
    text = dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum)
    if not text and not dtype.is_integer() and dtype != pl.Null:
        kind = f"lists of {dtype}" if unit == "lists" else str(dtype)
        raise DataError(
            f"{where}: column {shorten(column)} has type {kind}, expected strings or integers.",
            hint="Turn the items into strings first.",
        )
    _refuse(items.is_null(), column, "missing", where, unit)
    if text:
        _refuse(items.cast(pl.String) == "", column, "empty", where, unit)


def _refuse(bad: pl.Series, column: str, what: str, where: str, unit: str) -> None:
    count = int(bad.sum())
    if count:
        at = "" if unit == "lists" else f", the first in row {int(bad.arg_max() or 0)} counted from 0"
        raise DataError(
            f"{where}: column {shorten(column)} has {what} values ({count:,}{at}), expected none.",
            hint="Remove them first; a row without items is an empty list.",
        )


def _numbered(values: pl.Series) -> tuple[Codes, list[str]]:
    """Return a code for each value and the distinct values as text, by first appearance."""
    if values.dtype == pl.Null or isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    distinct = values.unique(maintain_order=True)
    codes = values.replace_strict(distinct, range(distinct.len())).cast(pl.Int64)
    return codes.to_numpy(), distinct.cast(pl.String).to_list()


def _as_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    pandas = type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns")
    if not pandas and not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            f"Found {type(frame).__name__}, expected a data frame (pandas, or with an Arrow stream).",
            hint="Rows of Python objects are read by Transactions.from_rows.",
        )
    try:
        if not pandas:
            return pl.DataFrame(frame)
        frame = frame.reset_index(drop=True)
        if _has_pyarrow():
            return pl.DataFrame(frame)
        return pl.DataFrame([_column(str(name), frame[name]) for name in frame.columns])
    except (TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"The data frame cannot be read: {shorten(str(error), 200)}.",
            hint="A column must hold values of one type: strings, integers, or lists of them.",
        ) from None


def _column(name: str, values: Any) -> pl.Series:
    cells = zip(values.tolist(), values.isna().tolist(), strict=True)
    return pl.Series(name, [None if missing else value for value, missing in cells], strict=True)


def _has_pyarrow() -> bool:
    """Whether polars can read a pandas frame in one go."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True
