"""Rows that are read again from their files each time that all of them are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from setveil.base.errors import DataError
from setveil.kernels.rows import frozen, recode_rows
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine.counting import Piece
from setveil.rows.engine.rows import PiecesOfRows


class FileRows(PiecesOfRows):
    """Rows in files, for few looks at them: read a piece at a time, nothing is written to the disk."""

    def __init__(self, pieces: Callable[[], Iterable[Piece]], vocabulary: Vocabulary) -> None:
        self._files, self.vocabulary = pieces, vocabulary

    @property
    def n_items(self) -> int:
        """Number of labels."""
        return len(self.vocabulary)

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return self._size[0]

    @property
    def n_occurrences(self) -> int:
        """Number of (row, item) pairs."""
        return self._size[1]

    @cached_property
    def _size(self) -> tuple[int, int]:
        rows = occurrences = 0
        for indptr, items in self._read():
            rows, occurrences = rows + indptr.size - 1, occurrences + items.size
        return rows, occurrences

    def rows(self) -> Iterator[Piece]:
        """Read the rows, some at a time."""
        rows = occurrences = 0
        for indptr, items in self._read():
            yield indptr, items
            rows, occurrences = rows + indptr.size - 1, occurrences + items.size
        if (rows, occurrences) != self._size:
            raise DataError(
                f"The rows have changed while they were read: {rows:,} rows with {occurrences:,} items, "
                f"before {self.n_rows:,} with {self.n_occurrences:,}.",
                hint="Leave the files alone until the command ends, and run it again.",
            )

    def _read(self) -> Iterator[Piece]:
        same = np.arange(self.n_items, dtype=np.int32)
        for indptr, items in self._files():
            yield recode_rows(frozen(indptr, np.int64), frozen(items, np.int32), same)
