"""Cells of data frames as texts: what a table of quasi-identifiers is made of."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import polars as pl

from setveil.base.errors import DataError, described, shorten
from setveil.rows.data.columns import Codes
from setveil.rows.data.frames import FrameTable, as_polars, read_lists
from setveil.rows.data.named_columns import Column
from setveil.rows.data.pandas_frames import is_pandas, pandas_columns, unused_levels


def frame_table(frame: object, name: str, id_column: str | None = None) -> FrameTable:
    """Take a data frame as a table; an index of pandas is its last column, or its first if it has the ids."""
    if is_pandas(frame):
        if not hasattr(frame, "columns"):
            raise DataError(f"Found {described(frame)}, expected a data frame with named columns.")
        plain, _, _ = pandas_columns(frame, id_column or "", None)
        for level, texts in unused_levels(frame, plain.columns).items():
            plain[level] = texts
        frame = plain
    table = as_polars(frame)
    return FrameTable(table, table.collect_schema().names(), name)


def holds_lists(table: FrameTable, at: int) -> bool:
    """Return whether a column contains lists."""
    return isinstance(table.table.collect_schema()[table.names[at]], pl.List | pl.Array)


def lists_of(table: FrameTable, at: int) -> tuple[Codes, Codes, Sequence[str]]:
    """Read a column of lists: row boundaries, codes, labels; null is an empty one."""
    part = read_lists(table.table, table.names[at], table.name)
    return part.indptr, part.codes, part.labels


def texts_of(table: FrameTable, wanted: Sequence[int]) -> list[Column]:
    """Read columns as texts.

    Null and NaN are empty. Numbers are written in full, whole ones without a point; dates as in ISO 8601. No
    rows, and values that are neither texts nor numbers, are a DataError.
    """
    cells = table.table.select(pl.col([table.names[at] for at in wanted])).collect()
    if not cells.height:
        raise DataError(f"{table.name}: there are columns, but no row of data.")
    return [_texts(cells[table.names[at]], table.name) for at in wanted]


def _texts(values: pl.Series, where: str) -> Column:
    dtype, name = values.dtype, values.name
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        raise DataError(
            f"{where}: column {shorten(name)} has type {dtype}, expected texts or numbers.",
            hint="Turn it into text first, or give the column no role.",
        )
    distinct = values.unique(maintain_order=True)
    codes = values.replace_strict(distinct, range(distinct.len()), return_dtype=pl.Int64).to_numpy()
    if dtype.is_float():
        labels = [_number(value, where, name) for value in distinct.to_list()]
    else:
        labels = [label or "" for label in distinct.cast(pl.String).to_list()]
        if dtype == pl.String:
            labels = [label.strip(" \t") for label in labels]
    return Column(codes, labels, lambda row: f"{where}, row {row} counted from 0")


def _number(value: float | None, where: str, name: str) -> str:
    if value is None or np.isnan(value):
        return ""
    if np.isinf(value):
        raise DataError(f"{where}: column {shorten(name)} contains an infinite number, expected finite ones.")
    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")
