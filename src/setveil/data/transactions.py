"""Transaction data in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.data.layout import Origin
from setveil.data.vocabulary import Vocabulary, item_order
from setveil.errors import DataError, shorten
from setveil.kernels.rows import frozen, recode_rows


@dataclass(frozen=True, eq=False)
class Transactions:
    """Rows that are sets of items.

    Make one with `setveil.read`, `from_rows`, `from_frame` or `from_codes`; they validate once.

    Attributes
    ----------
    indptr : int64 (n_rows + 1,), read-only
        Row r holds ``items[indptr[r]:indptr[r + 1]]``.
    items : int32 (n_occurrences,), read-only
        Item ids, ascending and unique within a row. Ids follow the vocabulary's order.
    vocabulary : Vocabulary
        The labels of the ids. Made by a reader it holds the items that occur, in item order.
    origin : Origin or None
        The file they were read from, if any.

    Examples
    --------
    >>> data = Transactions.from_rows([["milk", "bread"], [], ["bread"]])
    >>> data.n_rows, data.n_items, data.n_occurrences
    (3, 2, 3)
    >>> list(data)
    [('bread', 'milk'), (), ('bread',)]
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: Vocabulary
    origin: Origin | None = None

    @classmethod
    def from_codes(cls, indptr: ArrayLike, codes: ArrayLike, labels: Sequence[str]) -> Transactions:
        """Make transactions from rows of codes into a list of labels.

        Parameters
        ----------
        indptr : int64 (n_rows + 1,)
            Row boundaries in `codes`.
        codes : int (occurrences,)
            Positions in `labels`; -1 is no item. In any order, repeats allowed.
        labels : sequence of str
            In any order. Two positions may hold the same label: they are one item.
        """
        codes = np.asarray(codes)
        used = np.zeros(len(labels), bool)
        used[codes[codes >= 0]] = True
        vocabulary = Vocabulary(item_order({label for label, u in zip(labels, used, strict=True) if u}))
        ids = vocabulary.ids
        image = np.fromiter(
            (ids[label] if u else -1 for label, u in zip(labels, used, strict=True)), np.int32, len(labels)
        )
        if codes.size and codes.min() < 0:  # a code of -1 reads the entry appended last
            image = np.append(image, np.int32(-1))
        return cls(*recode_rows(frozen(indptr, np.int64), frozen(codes, np.int32), image), vocabulary)

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[object]]) -> Transactions:
        """Make transactions from an iterable of rows, each an iterable of strings or integers.

        Raises
        ------
        DataError
            If a row is a string, or an item is neither a non-empty string nor an integer.
        """
        codes: list[int] = []
        indptr = [0]
        found: dict[object, int] = {}
        labels: list[str] = []
        for number, row in enumerate(rows):
            if isinstance(row, str | bytes):
                raise DataError(
                    f"Row {number} is the text {shorten(str(row))}, expected a collection of items.",
                    hint="Split it first, or wrap a single item in a list.",
                )
            for item in row:
                key = (type(item), item)
                code = found.get(key)
                if code is None:
                    labels.append(_label(item, f"row {number}"))
                    code = found[key] = len(labels) - 1
                codes.append(code)
            indptr.append(len(codes))
        return cls.from_codes(indptr, np.array(codes, np.int32), labels)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        id_column: str | None = None,
        item_column: str | None = None,
        *,
        item_columns: str | Sequence[str] | None = None,
    ) -> Transactions:
        """Make transactions from a data frame.

        Parameters
        ----------
        frame : object
            Any object with an Arrow stream (polars, pandas, pyarrow, DuckDB, ...), or a pandas data frame.
            Either a long table (one line per id and item; lines of the same id are one row, in order of first
            appearance) or a table with a column of lists (one row each; null or an empty list is an empty
            row). A pandas index is not looked at.
        id_column, item_column : str, optional
            Column names. By default the only list column is taken, else the two columns of a long table are
            recognized by their names, else the first is the id.
        item_columns : str or sequence of str, optional
            Item columns of a wide or one-hot table, as for `setveil.read`.

        Raises
        ------
        DataError
            If the columns cannot be told, an id or item is missing, or items are neither strings nor
            integers.

        Examples
        --------
        >>> import polars as pl
        >>> frame = pl.DataFrame({"order": [1, 1, 2], "item": ["tea", "milk", "tea"]})
        >>> list(Transactions.from_frame(frame))
        [('milk', 'tea'), ('tea',)]
        """
        from setveil.data.columns import Wanted
        from setveil.data.frames import read_frame

        part = read_frame(frame, Wanted(id_column, item_column, item_columns), first_is_id=True)
        return cls.from_codes(part.indptr, part.codes, part.labels)

    from_polars = from_frame
    from_pandas = from_frame

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return self.indptr.size - 1

    @property
    def n_items(self) -> int:
        """Number of labels in the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of (row, item) pairs."""
        return self.items.size

    def supports(self) -> NDArray[np.int64]:
        """Count, for each item, the rows that hold it: int64 (n_items,)."""
        return np.bincount(self.items, minlength=self.n_items).astype(np.int64)

    def row_lengths(self) -> NDArray[np.int64]:
        """Count the items of each row: int64 (n_rows,)."""
        return np.diff(self.indptr)

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        labels = self.vocabulary.labels
        bounds = self.indptr.tolist()
        items = self.items.tolist()
        for start, end in pairwise(bounds):
            yield tuple(labels[i] for i in items[start:end])

    def __repr__(self) -> str:
        return (
            f"Transactions: {self.n_rows:,} rows, {self.n_items:,} items, {self.n_occurrences:,} occurrences"
        )


def _label(item: object, where: str) -> str:
    if isinstance(item, str) and item:
        return item
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return str(int(item))
    raise DataError(
        f"Found {item!r} ({type(item).__name__}) as an item in {where}, "
        "expected a non-empty string or an integer.",
        hint="Leave missing values out of the row; turn other codes into strings yourself.",
    )
