"""How a part of a table can be split by one of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.kernels.rows import Ints
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table

if TYPE_CHECKING:
    from setveil.methods.algorithms.rt._sensitive import SensitiveValues


class Splits:
    """Splits parts of a table by their columns, into parts of at least `least` rows.

    `filled`: 0, or every part has no row with items or this many; `sensitive`: what none may share too often.
    """

    def __init__(
        self, table: Table, least: int, filled: int = 0, sensitive: SensitiveValues | None = None
    ) -> None:
        self.table, self.least, self.filled, self.sensitive = table, least, filled, sensitive
        self._has_items = np.diff(table.indptr) > 0

    def losses(self, part: Ints) -> list[int]:
        """Compute what each column loses in a part: the weighted NCP of a row, times ``table.unit_total``."""
        found = []
        for column, unit in zip(self.table.columns, self.table.units, strict=True):
            codes = column.codes[part]
            loss = column.loss_of(codes.min(keepdims=True), codes.max(keepdims=True))
            found.append(unit * int(loss[0]))
        return found

    def by(self, a: int, part: Ints) -> list[Ints] | None:
        """Split a part by column a, in the order of its values; None: that is not allowed.

        A column with a hierarchy splits by the children of the lowest node above the values; numbers without
        one at their median, or just below it, but missing ones from the others first.
        """
        column = self.table.columns[a]
        codes = column.codes[part]
        least, greatest = int(codes.min()), int(codes.max())
        if least == greatest:
            return None
        if column.parent is not None:
            return self._parts(part, np.searchsorted(_ends(column, least, greatest), codes, side="right"))
        if column.missing and least == 0:
            return self._parts(part, codes > 0)
        middle = (part.size + 1) // 2 - 1
        median = np.partition(codes, middle)[middle]
        at_median = self._parts(part, codes > median)
        return at_median if at_median is not None else self._parts(part, codes >= median)

    def _parts(self, part: Ints, group: np.ndarray) -> list[Ints] | None:
        """Take rows of the same group together, if these are several parts, all of them allowed."""
        sizes = np.bincount(group)
        used = np.flatnonzero(sizes)
        if used.size < 2 or sizes[used].min() < self.least:
            return None
        if self.filled:
            filled = np.bincount(group, weights=self._has_items[part], minlength=sizes.size)
            if ((filled > 0) & (filled < self.filled)).any():
                return None
        parts = [part[group == g] for g in used]
        if self.sensitive is not None and not all(map(self.sensitive.allowed, parts)):
            return None
        return parts


def _ends(column: QuasiIdentifier, least: int, greatest: int) -> Ints:
    """List where the values of each child of the lowest node above an interval end, in order."""
    node = column.node_above(np.array([least]), np.array([greatest]))[0]
    return np.sort(column.high[np.asarray(column.parent) == node])
