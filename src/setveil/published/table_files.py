"""Tables as published: columns of labels, one of sets; read and written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.data.relational import TextColumn
from setveil.data.transactions import Transactions


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """All that is published of a table.

    Attributes
    ----------
    columns : tuple of TextColumn
        The quasi-identifiers, as published.
    sets : Transactions
        The items of each row, as published.
    kept : tuple of TextColumn
        What is published as it was.
    header : tuple of str
        Names of all columns, in the order of the file.
    set_name : str
        Name of the column with the items.
    delimiter : str
        Between the items of one field.
    """

    columns: tuple[TextColumn, ...]
    sets: Transactions
    kept: tuple[TextColumn, ...] = ()
    header: tuple[str, ...] = ()
    set_name: str = "items"
    delimiter: str = ";"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sets.n_rows

    def classes(self) -> NDArray[np.int64]:
        """Tell which rows have the same quasi-identifiers: the class of each, by first row, int64 (n_rows,)."""
        found = np.zeros(self.n_rows, np.int64)
        for column in self.columns:
            _, found = np.unique(found * max(len(column.labels), 1) + column.codes, return_inverse=True)
        _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
        place = np.empty(first.size, np.int64)
        place[np.argsort(first, kind="stable")] = np.arange(first.size)
        numbered: NDArray[np.int64] = place[inverse]
        return numbered
