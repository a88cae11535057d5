"""Rows on disk of which all sets of a size are counted in a table: what measures and the risk ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.data.vocabulary import Vocabulary
from setveil.engine.counting import Piece, Tick, count_pieces, groups, numbered
from setveil.engine.files import FileRows
from setveil.engine.numbering import Numbering
from setveil.engine.parts import Parts
from setveil.engine.rows import pieces_of
from setveil.kernels.count import MOST_ROWS, cell_offsets, fits
from setveil.kernels.rows import Ids, Ints, frozen, ranks_of
from setveil.threads import each

T = TypeVar("T")


class TabledRows:
    """Rows on disk, recoded on the way.

    Parameters
    ----------
    data : Parts or FileRows
        The rows.
    vocabulary : Vocabulary
        The labels, in item order.
    image : int32 (data.n_items,)
        The label of each item, -1: it is left out.
    """

    def __init__(self, data: Parts | FileRows, vocabulary: Vocabulary, image: Ids) -> None:
        self.data, self.vocabulary, self._image = data, vocabulary, image
        shown = image >= 0
        starts = np.concatenate(([0], np.cumsum(shown)))
        self._numbering = Numbering(
            np.arange(len(vocabulary)), frozen(starts, np.int64), frozen(image[shown], np.int32)
        )
        self._tables: dict[int, NDArray[np.int32]] = {}

    @cached_property
    def _counted(self) -> tuple[Ints, Ints]:
        """Count the rows of each length, and those that hold each label."""
        n, supports, lengths = self.n_items, np.zeros(self.n_items, np.int64), np.zeros(1, np.int64)

        def count(piece: Piece) -> tuple[Ints, Ints]:
            indptr, labels = piece
            return np.bincount(np.diff(indptr)), np.bincount(labels, minlength=n)

        for of_length, of_label in self.pieces(count):
            supports += of_label
            more = np.zeros(max(lengths.size, of_length.size), np.int64)
            more[: lengths.size] += lengths
            more[: of_length.size] += of_length
            lengths = more
        return lengths, supports

    @property
    def lengths(self) -> Ints:
        """How many rows there are of each length: int64 (longest + 1,)."""
        return self._counted[0]

    @classmethod
    def of(cls, data: Parts | FileRows) -> TabledRows:
        """Take the rows as they are."""
        return cls(data, data.vocabulary, np.arange(data.n_items, dtype=np.int32))

    def only(self, labels: Ints) -> TabledRows:
        """Cut the rows down to some of their labels, ascending."""
        places = np.append(ranks_of(labels, self.n_items), np.int32(-1))  # -1 finds the last
        some = Vocabulary(self.vocabulary.labels[label] for label in labels.tolist())
        return TabledRows(self.data, some, frozen(places[self._image], np.int32))

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
        """Whether all sets of so many labels can be counted in a table."""
        return fits(self.n_items, size) and self.n_rows <= MOST_ROWS

    def table(self, size: int, tick: Tick = lambda _: None) -> NDArray[np.int32]:
        """Count the rows that hold each set of `size` labels (see `setveil.kernels.count`), once."""
        if size == 1:
            return self._counted[1].astype(np.int32)
        if size not in self._tables:
            pieces = self._pieces()
            self._tables[size] = count_pieces(pieces, self.data.n_occurrences, self._numbering, size, tick)
        return self._tables[size]

    def pieces(self, look: Callable[[Piece], T], tick: Tick = lambda _: None) -> Iterator[T]:
        """Look at all rows, a piece at a time, by all threads: what is found, in the order of the rows."""
        done = 0
        for group in groups(self._pieces()):
            yield from each(lambda piece: look(numbered(piece, self._numbering)), group)
            done += sum(items.size for _, items in group)
            tick(done / max(self.data.n_occurrences, 1))

    def supports_of_sets(self, ends: Ints, labels: Ids) -> Ints:
        """Count the rows that hold each of some sets of at most two labels; all rows hold the empty one.

        Parameters
        ----------
        ends, labels : int64 (sets + 1,), int32
            The sets, ascending; labels beyond the vocabulary are in no row.
        """
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

    def _pieces(self) -> Iterator[Piece]:
        for rows in self.data.rows():
            yield from pieces_of(*rows)
