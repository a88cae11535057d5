"""Read and write Parquet files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl
from polars.io.plugins import register_io_source

from setveil.data.columns import Wanted
from setveil.data.frames import read_frame
from setveil.data.io.source import is_parquet
from setveil.data.layout import Layout
from setveil.data.tables import Part
from setveil.data.transactions import Transactions
from setveil.errors import DataError, shorten

_ROW_GROUP = 1 << 18


def read_parquet(
    source: tuple[bytes, str],
    id_column: str | None,
    item_column: str | None,
    item_columns: str | Sequence[str] | None,
) -> Part:
    """Read a column of lists, or a table of columns, from the bytes of a file and its name.

    Rows of a wide or a one-hot table are published as lists.
    """
    content, name = source
    if not is_parquet(content):
        raise DataError(
            f"{name} is not a whole Parquet file: it does not begin and end with PAR1.",
            hint="If it is text, name its --format.",
        )
    try:
        part = read_frame(
            pl.scan_parquet(io.BytesIO(content)), Wanted(id_column, item_column, item_columns), name
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{name} cannot be read as Parquet: {shorten(str(error), 200)}.") from None
    layout = part.layout
    if layout.format == "long":
        layout = Layout("parquet", id_column=layout.id_column, item_column=layout.item_column, nested=False)
    elif layout.format != "parquet":
        layout = Layout("parquet")
    return replace(part, layout=layout)


def parquet(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write a column of lists of strings, or a long table with row numbers from 0 as ids."""
    out = io.BytesIO()
    schema = _schema(layout)
    pieces = register_io_source(lambda *_: _pieces(data, layout), schema=schema)
    pieces.sink_parquet(out, row_group_size=_ROW_GROUP, maintain_order=True)
    yield out.getvalue()


def _schema(layout: Layout) -> pl.Schema:
    if layout.nested:
        return pl.Schema({layout.item_column: pl.List(pl.String)})
    return pl.Schema({layout.id_column: pl.Int64, layout.item_column: pl.String})


def _pieces(data: Transactions, layout: Layout) -> Iterator[pl.DataFrame]:
    """Make tables of as many rows as a group has, so that not all texts are held at once."""
    for first in range(0, max(data.n_rows, 1), _ROW_GROUP):
        indptr = data.indptr[first : first + _ROW_GROUP + 1]
        part = Transactions(indptr - indptr[0], data.items[indptr[0] : indptr[-1]], data.vocabulary)
        if layout.nested:
            yield part.to_polars().rename({"items": layout.item_column})
        else:
            table = part.to_polars(long=True).with_columns(pl.col("row") + first)
            yield table.rename({"row": layout.id_column, "item": layout.item_column})
