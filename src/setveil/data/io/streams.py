"""Parquet files of lists that are read a piece at a time, for data that need not fit in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from setveil.data.columns import Wanted
from setveil.data.frames import list_column
from setveil.data.layout import InputFile, Layout, Origin
from setveil.data.vocabulary import Vocabulary, item_order
from setveil.errors import DataError, RequestError, shorten

AT_ONCE = 1 << 18  # rows of a piece
_BYTES = 1 << 24  # of a file that are hashed at a time

Piece = tuple[NDArray[np.int64], NDArray[np.int32]]


class ListFiles:
    """Parquet files with a column of lists, one after the other.

    Parameters
    ----------
    paths : sequence of str
        The files, in the order of their rows.
    item_column : str, optional
        The column; by default the only one that holds lists.

    Raises
    ------
    DataError
        If a file cannot be read, or does not hold a column of lists of texts or integers.
    """

    def __init__(self, paths: Sequence[str], item_column: str | None = None) -> None:
        self.paths = [str(path) for path in paths]
        if not self.paths:
            raise RequestError("No file is named, expected at least one.")
        self.column = item_column or ""
        first: pl.DataType | None = None
        for path in self.paths:
            try:
                schema = pl.scan_parquet(path, glob=False).collect_schema()
            except (OSError, pl.exceptions.PolarsError) as error:
                raise DataError(f"{path} cannot be read as Parquet: {shorten(str(error), 200)}.") from None
            found = list_column(schema, Wanted(None, item_column, None), path)
            if found is None:
                raise DataError(
                    f"{path} has no column of lists, which is read in parts.",
                    hint="`setveil convert` makes lists of a long table that fits in memory.",
                )
            self.column = self.column or found
            dtype = schema[found]
            inner = dtype.inner if isinstance(dtype, pl.List) else None
            text = inner == pl.String or isinstance(inner, pl.Categorical | pl.Enum)
            if found != self.column or inner is None or not (text or inner.is_integer()):
                raise DataError(
                    f"{path}: column {shorten(found)} has type {dtype}, expected a column "
                    f"{shorten(self.column)} of lists of strings or integers."
                )
            first = first or dtype
            if dtype != first:
                raise DataError(
                    f"{path} is not laid out like {self.paths[0]}: column {shorten(found)} has type {dtype}, "
                    f"and not {first}.",
                    hint="Convert the files to one type of items first.",
                )

    @property
    def n_rows(self) -> int:
        """Number of rows, as the files say."""
        return int(self._scan().select(pl.len()).collect().item())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The items that occur, in item order.

        Raises
        ------
        DataError
            If a list holds a missing or an empty item.
        """
        labels: set[str] = set()
        missing = 0
        for rows in self._cells(pl.Categorical()):
            items = rows.filter(rows.list.len() > 0).explode()
            missing += items.null_count()
            labels.update(items.unique().drop_nulls().cast(pl.String))
        for count, what in ((missing, "missing"), (int("" in labels), "empty")):
            if count:
                raise DataError(
                    f"{self.paths[0]}: column {shorten(self.column)} has {what} values, expected none.",
                    hint="Remove them first; a row without items is an empty list.",
                )
        return Vocabulary(item_order(labels))

    def pieces(self) -> Iterator[Piece]:
        """Read all rows, in their order, some at a time: where they begin, and the ids of their items.

        Items of a row come as they stand in the file, repeats included.
        """
        for rows in self._cells(pl.Enum(self.vocabulary.labels)):
            lengths = rows.list.len().fill_null(0)
            indptr = np.zeros(rows.len() + 1, np.int64)
            np.cumsum(lengths.to_numpy(), out=indptr[1:])
            items = rows.filter(lengths > 0).explode().to_physical()
            yield indptr, items.cast(pl.Int32).to_numpy()

    def _cells(self, dtype: pl.DataType) -> Iterator[pl.Series]:
        cells = pl.col(self.column).cast(pl.List(pl.String)).cast(pl.List(dtype))
        try:
            for batch in (
                self._scan()
                .select(cells)
                .collect_batches(chunk_size=AT_ONCE, maintain_order=True, engine="streaming")
            ):
                yield batch.to_series()
        except pl.exceptions.PolarsError as error:
            raise DataError(
                f"{self.paths[0]} cannot be read as Parquet: {shorten(str(error), 200)}."
            ) from None

    def origin(self) -> Origin:
        """Say where the rows come from; the files are hashed for it."""
        return Origin(
            tuple(InputFile(path, _sha256(path)) for path in self.paths),
            Layout("parquet", item_column=self.column),
            item_columns=(self.column,),
        )

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.paths, glob=False).select(self.column)


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BYTES):
            digest.update(block)
    return digest.hexdigest()
