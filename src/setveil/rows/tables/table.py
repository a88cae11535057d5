"""Tables: each row a set of items, and values of further columns that someone may know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, listed
from setveil.base.wording import count
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import frozen, take_rows
from setveil.rows.data.exposed import Refusal
from setveil.rows.data.transactions import Transactions, lines_of
from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of texts, as it is in a file."""

    name: str  # of the column
    codes: NDArray[np.int32]  # int32 (n_rows,), read-only: position in `labels` of the value of each row
    labels: tuple[str, ...]  # each value once

    @property
    def role(self) -> str:
        """The role of a column that is published as it is, in words."""
        return "published unchanged"


def frame_of(
    columns: Iterable[TextColumn | QuasiIdentifier],
    sets: Transactions,
    header: Sequence[str],
    set_name: str,
    *,
    long: bool = False,
) -> pl.DataFrame:
    """Make a frame of all columns of a table, in the order of `header`: texts and a list of items.

    Missing values are null. `long`: one line per row and item instead, with the row's number first; a row
    without items has one line.
    """
    import polars as pl

    found = {}
    for column in columns:
        labels = pl.Series(column.labels, dtype=pl.String)
        texts = labels.gather(pl.Series(column.codes)) if len(labels) else pl.Series([], dtype=pl.String)
        found[column.name] = pl.select(pl.when(texts != MISSING).then(texts)).to_series()
    found[set_name] = Transactions.to_polars(sets)["items"]
    frame = pl.DataFrame({name: found[name] for name in (*header, *found) if name in found})
    if not long:
        return frame
    number = next(name for name in ("row", "row_number", "number_of_the_row") if name not in found)
    rows, items = lines_of(sets)
    at = pl.Series(number, rows)
    return frame[at].with_columns(items.alias(set_name)).insert_column(0, at)


@dataclass(frozen=True, eq=False)
class Table(Transactions):
    """Rows that are sets of items, with values of further columns.

    A table is `Transactions`, of which row r also has the values ``column.codes[r]``.

    Attributes
    ----------
    columns : tuple of QuasiIdentifier
        What someone may know in addition to items, in the order of the input.
    kept : tuple of TextColumn
        What is published as it is, because nobody outside can know it.
    header : tuple of str
        Names of the published columns, in the order of the input.
    set_name : str
        Name of the column with the items.
    delimiter : str
        Between the items of one field.
    dropped : tuple of str
        Columns that are not published.
    tree : Hierarchy or None
        Of the items, where it was given with the roles of the columns; used where none is named.

    Examples
    --------
    >>> import polars as pl
    >>> import setveil as sv
    >>> ward = pl.DataFrame({"age": [34, 36], "codes": [["I21", "J18"], ["I21"]]})
    >>> table = sv.read_table(ward, qi=["age"], set="codes")
    >>> table.columns[0].labels, table[0]
    (('34', '36'), ('I21', 'J18'))
    """

    columns: tuple[QuasiIdentifier, ...] = ()
    kept: tuple[TextColumn, ...] = ()
    header: tuple[str, ...] = ()
    set_name: str = "items"
    delimiter: str = ";"
    dropped: tuple[str, ...] = ()
    tree: Any = None

    kind: ClassVar[str] = "tables"
    unpublished: ClassVar[Refusal] = Refusal(
        "The release is a table as it is read to be anonymized; a published one is read otherwise.",
        "setveil.read_published_table(...) reads it.",
        DataError,
    )
    is_table: ClassVar[bool] = True

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that someone may know in addition to the items."""
        return tuple(column.name for column in self.columns)

    @property
    def value_columns(self) -> tuple[QuasiIdentifier | TextColumn, ...]:
        """Columns with a value for each row, including those that are published as they are."""
        return (*self.columns, *self.kept)

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of items, of which facts may have several."""
        return (self.set_name,)

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame with all columns that may be published.

        Parameters
        ----------
        long : bool
            Instead of one line per row, with its items as a list: one line per row and item, with the number
            of the row in front. A row without items has one line, in which the item is null.

        Examples
        --------
        >>> import polars as pl
        >>> import setveil as sv
        >>> ward = pl.DataFrame({"age": [34, 36], "codes": [["I21", "J18"], ["I21"]]})
        >>> sv.read_table(ward, qi=["age"], set="codes").to_polars().rows()
        [('34', ['I21', 'J18']), ('36', ['I21'])]
        """
        return frame_of((*self.columns, *self.kept), self, self.header, self.set_name, long=long)

    @cached_property
    def units(self) -> tuple[int, ...]:
        """What one of a column's units of loss counts: the relational loss is a sum of integers.

        A row's NCP is the sum of ``units[a] * loss`` over the columns a, divided by `unit_total`.
        """
        shared = self._shared_unit
        return tuple(int(shared * c.weight / c.full) if c.full else 0 for c in self.columns)

    @cached_property
    def unit_total(self) -> int:
        """Sum of units of a row whose columns lost all, those that cannot lose anything included."""
        return int(self._shared_unit * sum(c.weight for c in self.columns))

    @cached_property
    def _shared_unit(self) -> int:
        return lcm(*(c.full for c in self.columns if c.full), 1) * lcm(
            *(c.weight.denominator for c in self.columns), 1
        )

    def intervals(
        self, part: NDArray[np.integer], n_parts: int
    ) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Find the least and the greatest value of each column in each part.

        Parameters
        ----------
        part : integer (n_rows,)
            Part of each row; every part has rows.
        n_parts : int
            Number of parts.
        """
        found = []
        for column in self.columns:
            least, greatest = np.full(n_parts, column.n_values, np.int32), np.full(n_parts, -1, np.int32)
            np.minimum.at(least, part, column.codes)
            np.maximum.at(greatest, part, column.codes)
            found.append((least, greatest))
        return found

    def relational_loss(self, part: NDArray[np.integer]) -> Fraction:
        """Compute R of publishing each part's values under one label a column, in [0, 1]; 0 without rows."""
        if not self.n_rows or not self.unit_total:
            return Fraction(0)
        sizes = np.bincount(part)
        total = 0
        for column, unit, (least, greatest) in zip(
            self.columns, self.units, self.intervals(part, sizes.size), strict=True
        ):
            loss = column.loss_of(least, greatest)
            total += unit * sum(a * b for a, b in zip(loss.tolist(), sizes.tolist(), strict=True))
        return Fraction(total, self.n_rows * self.unit_total)

    def kept_once(self) -> tuple[int, ...]:
        """Count, for each kept column, the rows whose value no other row has; a missing one is none."""
        found = []
        for column in self.kept:
            times = np.bincount(column.codes, minlength=len(column.labels))
            found.append(int(sum(times[at] == 1 for at, label in enumerate(column.labels) if label)))
        return tuple(found)

    def canonical_order(self) -> NDArray[np.int64]:
        """Order the rows by their columns, then by their items, then by number: int64 (n_rows,).

        Items are compared in the order of the vocabulary, that of the items that occur.
        """
        content = merge_rows_by_content(self.indptr, self.items)[0]
        keys: list[NDArray[np.integer]] = [c.rank[c.codes] for c in reversed(self.columns)]
        return np.lexsort([content, *keys])

    def drawn(self, rows: NDArray[np.int64]) -> Table:
        """Return some of the rows."""
        return self.rows_at(rows)

    def rows_at(self, rows: NDArray[np.integer]) -> Table:
        """Return some of the rows, in the order given."""
        indptr, items = take_rows(self.indptr, self.items, np.asarray(rows, np.int64))
        return replace(
            self, indptr=indptr, items=items, origin=self.origin,
            columns=tuple(column.taken(rows) for column in self.columns),
            kept=tuple(
                TextColumn(column.name, frozen(column.codes[rows], np.int32), column.labels)
                for column in self.kept
            ),
        )  # fmt: skip

    def __repr__(self) -> str:
        counted = super().__repr__().partition(": ")[2]
        names = listed([column.name for column in self.columns])
        return f"Table: {counted}, {count(len(self.columns), 'quasi-identifier')} ({names})"


def numbered_parts(order: NDArray[np.integer], part: NDArray[np.integer]) -> NDArray[np.int64]:
    """Give parts the numbers 0, 1, ... by their first row in an order of the rows: int64 (n_rows,)."""
    _, first, inverse = np.unique(part[order], return_index=True, return_inverse=True)
    place = np.empty(first.size, np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(first.size)
    numbered = np.empty(part.size, np.int64)
    numbered[order] = place[inverse]
    return numbered
