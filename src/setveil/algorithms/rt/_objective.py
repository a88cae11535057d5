"""What a table's release loses in all, in integers: its columns and its items, weighed by a share."""

from __future__ import annotations

from fractions import Fraction

from setveil.tables.table import Table


class Objective:
    """The loss f = share * R + (1 - share) * T of parts of a table, times `whole`.

    R is the mean loss of a row's columns (NCP), T that of an item occurrence (LM), which costs `full` if
    suppressed. A unit of the columns' loss counts `of_rows`, one of the items' cost `of_items`.
    """

    def __init__(self, table: Table, full: int, share: Fraction) -> None:
        self.rows = max(table.n_rows, 1) * max(table.unit_total, 1)
        self.items = max(table.n_occurrences, 1) * full
        self.row_weight = share.numerator * self.items
        self.item_weight = (share.denominator - share.numerator) * self.rows
        self.whole = share.denominator * self.rows * self.items

    def relational(self, lost: int) -> Fraction:
        """Compute R from the sum of the units that rows lose."""
        return Fraction(lost, self.rows)

    def transactional(self, cost: int) -> Fraction:
        """Compute T from the sum of the items' costs."""
        return Fraction(cost, self.items)

    def total(self, lost: int, cost: int) -> Fraction:
        """Compute f."""
        return Fraction(self.row_weight * lost + self.item_weight * cost, self.whole)
