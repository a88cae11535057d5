"""Sums of rows, for measures, counts and records, wherever the rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.rows.data.layout import Origin
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import TypeIs


class Sums(Protocol):
    """Rows of items by their numbers alone: `Transactions` are such rows, and so are those on disk."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The labels of the items, in item order."""

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""

    @property
    def filled_rows(self) -> int:
        """Number of rows that contain an item."""

    @property
    def n_items(self) -> int:
        """Number of labels in the vocabulary."""

    @property
    def n_occurrences(self) -> int:
        """Number of (row, item) pairs."""

    def supports(self) -> NDArray[np.int64]:
        """Count, for each item, the rows that contain it: int64 (n_items,)."""


class Original(Sums, Protocol):
    """Rows that a run was given."""

    @property
    def origin(self) -> Origin | None:
        """Return their source, if they were read."""


class CountedRows(Sums, Protocol):
    """Rows on disk or on Spark, which count what they contain themselves."""

    def supports_of_sets(self, ends: NDArray[np.int64], ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """Count, for each itemset of at most two items, the rows that contain it: int64 (sets,)."""

    def supports_of_groups(
        self, starts: NDArray[np.int64], groups: NDArray[np.int32], number: int
    ) -> NDArray[np.int64]:
        """Count, for each group of items, the rows that contain any of them: int64 (number,)."""


def counts_itself(rows: Sums) -> TypeIs[CountedRows]:
    """Return whether rows count what they contain themselves, since they are not in memory."""
    return not isinstance(rows, Transactions)


def is_in_memory(rows: object) -> TypeIs[Transactions]:
    """Return whether these are the rows themselves, not their sums, nor rows on disk."""
    return isinstance(rows, Transactions)


def in_memory(rows: Sums) -> Transactions:
    """Take the rows themselves, where nobody asks for what needs them unless they are in memory."""
    if not is_in_memory(rows):
        raise TypeError(f"expected rows in memory, got the sums of {type(rows).__name__}")
    return rows
