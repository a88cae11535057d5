"""Read and write Parquet files."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import polars as pl

from setveil.data.frames import table_cells, table_columns
from setveil.data.io.source import is_parquet
from setveil.data.layout import Layout
from setveil.data.transactions import Transactions
from setveil.errors import DataError, shorten

_ROW_GROUP = 1 << 18


def read_parquet(
    source: tuple[bytes, str], id_column: str | None, item_column: str | None
) -> tuple[Transactions, Layout]:
    """Read a column of lists, or a long table, from the bytes of a file and its name."""
    content, name = source
    if not is_parquet(content):
        raise DataError(
            f"{name} is not a whole Parquet file: it does not begin and end with PAR1.",
            hint="If it is text, name its --format.",
        )
    try:
        schema = pl.read_parquet_schema(io.BytesIO(content))
        id_column, item_column = table_columns(schema, id_column, item_column, name)
        columns = [item_column] if id_column is None else [id_column, item_column]
        table = pl.read_parquet(io.BytesIO(content), columns=columns)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{name} cannot be read as Parquet: {shorten(str(error), 200)}.") from None
    data = Transactions.from_codes(*table_cells(table, id_column, item_column, name))
    if id_column is None:
        return data, Layout("parquet", item_column=item_column)
    return data, Layout("parquet", id_column=id_column, item_column=item_column, nested=False)


def parquet(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write a column of lists of strings, or a long table with row numbers from 0 as ids."""
    labels = pl.Series(data.vocabulary.labels, dtype=pl.String)
    items = labels.gather(pl.Series(data.items))
    if layout.nested:
        rows = np.repeat(np.arange(data.n_rows), data.row_lengths())
        lists = pl.DataFrame({"row": rows, "item": items}).group_by("row", maintain_order=True).agg("item")
        table = (
            pl.DataFrame({"row": np.arange(data.n_rows)})
            .join(lists, on="row", how="left")
            .select(pl.col("item").fill_null(pl.lit([], dtype=pl.List(pl.String))).alias(layout.item_column))
        )
    else:
        ids = np.repeat(np.arange(data.n_rows, dtype=np.int64), data.row_lengths())
        table = pl.DataFrame({layout.id_column: ids, layout.item_column: items})
    out = io.BytesIO()
    # In one piece and with a fixed size of groups, or the bytes depend on the number of threads.
    table.rechunk().write_parquet(out, row_group_size=_ROW_GROUP)
    yield out.getvalue()
