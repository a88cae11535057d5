"""Rows of which all sets of a size are counted in a table: what measures and the risk ask of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.count import MOST_ROWS, cell_offsets, empty_table, fits, members_of_cells
from setveil.kernels.rows import Ids, Ints, frozen, ranks_of, take_rows
from setveil.rows.data.layout import Origin
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine.counting import Piece, Tick
from setveil.rows.engine.files import FileRows
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.engine.rows import Looked

T = TypeVar("T")
_CELLS = 1 << 20  # of a table that are looked at together


class TabledRows:
    """Rows on disk or on Spark, recoded on the way by the label of each number (-1: suppressed)."""

    origin: Origin | None = None

    def __init__(
        self, data: Looked, vocabulary: Vocabulary, image: Ids, counted: tuple[Ints, Ints] | None = None
    ) -> None:
        self.data, self.vocabulary, self._image = data, vocabulary, image
        shown = image >= 0
        starts = np.concatenate(([0], np.cumsum(shown)))
        self._numbering = Numbering(
            np.arange(len(vocabulary)), frozen(starts, np.int64), frozen(image[shown], np.int32)
        )
        self._tables: dict[int, NDArray[np.int32]] = {}
        self._whole: tuple[TabledRows, Ints] | None = None  # rows of more labels, and which of them are here
        if counted is not None:
            self._counted = counted

    @cached_property
    def _counted(self) -> tuple[Ints, Ints]:
        """Count the rows of each length, and those that hold each label."""
        n = self.n_items

        def count(piece: Piece) -> tuple[Ints, Ints]:
            indptr, labels = piece
            return np.bincount(np.diff(indptr), minlength=1), np.bincount(labels, minlength=n)

        return self.added_up(count, _added)

    @property
    def lengths(self) -> Ints:
        """How many rows there are of each length: int64 (longest + 1,)."""
        return self._counted[0]

    @classmethod
    def of(cls, data: RowsOnDisk | FileRows) -> TabledRows:
        """Take the rows as they are."""
        same = np.arange(data.n_items, dtype=np.int32)
        return cls(data, data.vocabulary, same, data.counted)

    def only(self, labels: Ints) -> TabledRows:
        """Cut the rows down to some of their labels, ascending."""
        places = np.append(ranks_of(labels, self.n_items), np.int32(-1))  # -1 finds the last
        some = Vocabulary(self.vocabulary.labels[label] for label in labels.tolist())
        fewer = TabledRows(self.data, some, frozen(places[self._image], np.int32))
        fewer._whole = self, labels
        return fewer

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return self.data.n_rows

    @property
    def filled_rows(self) -> int:
        """Number of rows that hold a label."""
        return int(self.lengths[1:].sum())

    @property
    def n_occurrences(self) -> int:
        """Number of (row, label) pairs."""
        return int(self._counted[1].sum())

    @property
    def n_items(self) -> int:
        """Number of labels."""
        return len(self.vocabulary)

    def supports(self) -> Ints:
        """Count, for each label, the rows that hold it: int64 (n_items,)."""
        return self._counted[1].copy()

    def fits(self, size: int) -> bool:
        """Whether all sets of this many labels can be counted in a table."""
        return fits(self.n_items, size) and self.n_rows <= MOST_ROWS

    def table(self, size: int, tick: Tick = lambda _: None) -> NDArray[np.int32]:
        """Count the rows that hold each set of `size` labels (see `setveil.kernels.count`), once."""
        if size not in self._tables:
            if self._whole is not None and self._whole[0]._has(size):
                self._tables[size] = _of_some(self._whole[0].table(size), *self._whole, size)
            elif size == 1:
                return self._counted[1].astype(np.int32)
            else:
                self._tables[size] = self.data.count(self._numbering, size, tick)
        return self._tables[size]

    def _has(self, size: int) -> bool:
        """Whether the table of a size needs no look at the rows."""
        return size in self._tables or (size == 1 and "_counted" in vars(self))

    def added_up(
        self, look: Callable[[Piece], T], add: Callable[[T, T], T], tick: Tick = lambda _: None
    ) -> T:
        """Look at all rows, a piece at a time, and add up what is found (see `Looked.added_up`)."""
        return self.data.added_up(self._numbering, look, add, tick)

    def supports_of_groups(self, starts: Ints, groups: Ids, number: int) -> Ints:
        """Count the rows that contain any label of each group: int64 (number,)."""
        none = np.append(starts, starts[-1])  # the groups of what is left out
        of = take_rows(frozen(none, np.int64), groups, np.where(self._image < 0, self.n_items, self._image))
        return self.data.supports_of(Numbering(np.arange(number), *of))

    def supports_of_sets(self, ends: Ints, labels: Ids) -> Ints:
        """Count the rows that contain each of some sets of at most two labels, known or not."""
        sizes = np.diff(ends)
        out = np.where(sizes == 0, self.n_rows, 0)
        for size in (1, 2):
            some = np.flatnonzero(sizes == size)
            sets = labels[ends[some][:, None] + np.arange(size)].astype(np.int64)
            known = (sets < self.n_items).all(axis=1)
            some, sets = some[known], sets[known]
            if some.size:
                offsets = cell_offsets(self.n_items, size)
                out[some] = self.table(size)[offsets[np.arange(size), sets].sum(axis=1)]
        return out


def _of_some(table: NDArray[np.int32], whole: TabledRows, labels: Ints, size: int) -> NDArray[np.int32]:
    """Take the cells of the sets of some labels out of the table of all."""
    out, offsets = empty_table(labels.size, size), cell_offsets(whole.n_items, size)
    for start in range(0, out.size, _CELLS):
        cells = np.arange(start, min(start + _CELLS, out.size))
        members = labels[members_of_cells(cells, labels.size, size)]
        out[cells] = table[offsets[np.arange(size), members].sum(axis=1)]
    return out


def _added(some: tuple[Ints, Ints], others: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    shorter, longer = sorted((some[0], others[0]), key=len)
    lengths = longer.copy()
    lengths[: shorter.size] += shorter
    return lengths, some[1] + others[1]
