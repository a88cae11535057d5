"""Read and write Parquet files."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from setveil.base.errors import DataError, shorten
from setveil.base.memory import Unpacked
from setveil.rows.data.columns import Wanted
from setveil.rows.data.frames import read_frame
from setveil.rows.data.io.archives import is_parquet
from setveil.rows.data.io.footer import least_memory
from setveil.rows.data.lacking import PLAIN, Lacking
from setveil.rows.data.layout import Layout
from setveil.rows.data.rows_read import RowsRead
from setveil.rows.data.transactions import Transactions

ROW_GROUP = 1 << 18
FILE_ROWS = 1 << 24  # a multiple of it
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")


def read_parquet(
    source: tuple[bytes, str],
    id_column: str | None,
    item_column: str | None,
    item_columns: str | Sequence[str] | None,
    delimiter: str | None,
    yes: str | Sequence[str] | None = None,
    lacking: Lacking = PLAIN,
    skip_last: int | None = None,
) -> RowsRead:
    """Read a column of lists, or a table of columns, from the bytes of a file and its name."""
    content, name = source
    if not is_parquet(content):
        raise DataError(
            f"{name} is not a whole Parquet file: it does not begin and end with PAR1.",
            hint="If it is text, name its --format.",
        )
    Unpacked(name).require(least_memory(content))
    try:
        part = read_frame(
            pl.scan_parquet(io.BytesIO(content)),
            Wanted(id_column, item_column, item_columns, delimiter, yes, lacking),
            name,
            skip_last=skip_last,
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{name} cannot be read as Parquet: {shorten(str(error), 200)}.") from None
    cells = part.cells and (_as_parquet(part.cells[0]), part.cells[1])
    return replace(part, layout=_as_parquet(part.layout), cells=cells)


def _as_parquet(layout: Layout) -> Layout:
    if layout.format == "long":
        return Layout("parquet", id_column=layout.id_column, item_column=layout.item_column, nested=False)
    return layout if layout.format == "parquet" else Layout("parquet")


def parquet(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write a column of lists of strings, or a long table with row numbers from 0 as ids."""
    out = io.BytesIO()
    _write(_tables(in_groups(data), layout), layout, out)
    yield out.getvalue()


def write_files(place: Path, pieces: Iterator[Transactions], n_rows: int, layout: Layout) -> list[str]:
    """Write rows that come in groups (see `in_groups`) to a file, or to several in a folder of its name.

    There are several files if there are more than FILE_ROWS rows, and nothing else decides which rows are in
    which. Returns the files, relative to their folder.
    """
    if n_rows <= FILE_ROWS:
        _write(_tables(pieces, layout), layout, place)
        return [place.name]
    place.mkdir()
    files = [f"{place.name}/{number:05}.parquet" for number in range(-(-n_rows // FILE_ROWS))]
    tables = _tables(pieces, layout)
    for file in files:
        _write(islice(tables, FILE_ROWS // ROW_GROUP), layout, place.parent / file)
    return files


def in_groups(data: Transactions) -> Iterator[Transactions]:
    """Cut rows into pieces of as many as a group of rows in a file has."""
    for first in range(0, max(data.n_rows, 1), ROW_GROUP):
        indptr = data.indptr[first : first + ROW_GROUP + 1]
        yield Transactions(indptr - indptr[0], data.items[indptr[0] : indptr[-1]], data.vocabulary)


def _tables(pieces: Iterable[Transactions], layout: Layout) -> Iterator[pl.DataFrame]:
    """Make tables of groups of rows, so that not all texts are held at once."""
    first = 0
    for piece in pieces:
        if layout.nested:
            yield piece.to_polars().rename({"items": layout.item_column})
        else:
            table = piece.to_polars(long=True).with_columns(pl.col("row") + first)
            yield table.rename({"row": layout.id_column, "item": layout.item_column})
        first += piece.n_rows


def _write(tables: Iterator[pl.DataFrame], layout: Layout, to: io.BytesIO | Path) -> None:
    if layout.nested:
        schema = pl.Schema({layout.item_column: pl.List(pl.String)})
    else:
        schema = pl.Schema({layout.id_column: pl.Int64, layout.item_column: pl.String})
    try:
        register_io_source(lambda *_: tables, schema=schema).sink_parquet(
            to, row_group_size=ROW_GROUP, maintain_order=True
        )
    except pl.exceptions.ComputeError as error:
        found = _SYSTEM_ERROR.search(str(error))
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(to)) from None
