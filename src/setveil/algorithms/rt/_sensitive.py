"""Whether the rows of a part may become a class, by the sensitive values that they have in common."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from setveil.data.relational import Table
from setveil.kernels.rows import Ints, take_rows


class SensitiveValues:
    """The sensitive columns and items of a table, of which no class may have one in common too often.

    Parameters
    ----------
    table : Table
        The table.
    sensitive : tuple of str
        Kept columns and items.
    h : Fraction
        The greatest share of a class.
    """

    def __init__(self, table: Table, sensitive: tuple[str, ...], h: Fraction) -> None:
        self.table, self.h = table, h
        self._columns = [column for column in table.kept if column.name in sensitive]
        self._is_sensitive = np.array([label in sensitive for label in table.vocabulary.labels], np.bool_)

    def most(self, rows: Ints) -> int:
        """Count the rows that have the sensitive value which most of them have.

        Parameters
        ----------
        rows : int64 (any,)
            Rows of the table.
        """
        found = 0
        for column in self._columns:
            found = max(found, int(np.bincount(column.codes[rows], minlength=1).max()))
        if self._is_sensitive.any():
            items = take_rows(self.table.indptr, self.table.items, rows)[1]
            found = max(found, int(np.bincount(items[self._is_sensitive[items]], minlength=1).max()))
        return found

    def allowed(self, rows: Ints) -> bool:
        """Whether these rows may be a class, or a part of one that other allowed parts join.

        Of parts that are allowed each, so is their union: the share of all is at most the greatest of theirs.
        Items are taken as they are: to publish them under broader labels, or not at all, gives less away.
        """
        return self.most(rows) * self.h.denominator <= rows.size * self.h.numerator
