"""Rows that lie on disk in parts, for data that do not fit in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError
from setveil.base.staging import private_file
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, recode_rows
from setveil.rows.data.layout import Origin
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine.counting import (
    Piece,
    Tick,
    add_up_supports,
    count_pieces,
    joined,
    merged,
    one_each,
    rare_parts,
)
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.rows import PiecesOfRows, pieces_of

OF_A_PART = 10_000_000  # occurrences
MOST_DISTINCT = 200_000_000  # occurrences of distinct rows that are gathered in memory


@dataclass(frozen=True)
class Part:
    """Some rows on disk: two files of numbers, and the hash of both."""

    indptr: Path
    items: Path
    sha256: str

    @classmethod
    def write(cls, folder: Path, number: int, indptr: Ints, items: Ids) -> Part:
        """Write rows into a folder."""
        part = cls(folder / f"{number:06}.indptr", folder / f"{number:06}.items", _hash(indptr, items))
        for path, numbers in ((part.indptr, indptr), (part.items, items)):
            with private_file(path) as file:
                write_numbers(file, numbers)
        return part

    def rows(self) -> Piece:
        """Map the rows into memory."""
        try:
            indptr = np.asarray(np.memmap(self.indptr, np.int64, "r"))
            empty = not self.items.stat().st_size  # which cannot be mapped
            items = np.zeros(0, np.int32) if empty else np.asarray(np.memmap(self.items, np.int32, "r"))
        except (OSError, ValueError):
            raise self._changed() from None
        if _hash(indptr, items) != self.sha256:
            raise self._changed()
        return frozen(indptr, np.int64), frozen(items, np.int32)

    def _changed(self) -> DataError:
        return DataError(
            f"{self.items.with_suffix('')} is not what was written there: a part of the data was changed or "
            "removed during the run.",
            hint="Do not change the hidden folder next to --out during the run. Run it again.",
        )


@dataclass(frozen=True, eq=False)
class RowsOnDisk(PiecesOfRows):
    """Rows of items on disk, with the interface of `setveil.rows.data.transactions.Transactions`.

    `parts`: in the order of the rows. `vocabulary`: in item order. `lengths`: int64 (longest + 1,), rows of
    each length. `item_supports`: int64 (n_items,), rows that contain each item.
    """

    parts: tuple[Part, ...]
    vocabulary: Vocabulary
    lengths: Ints
    item_supports: Ints
    origin: Origin | None = None

    @classmethod
    def write(
        cls,
        folder: Path,
        pieces: Iterable[tuple[NDArray[np.int64], NDArray[np.int32]]],
        vocabulary: Vocabulary,
        origin: Origin | None = None,
        tick: Callable[[int], None] = lambda _: None,
    ) -> RowsOnDisk:
        """Write rows into an empty folder, in parts of about OF_A_PART occurrences.

        `pieces`: rows of ids (int64, int32), in any order within a row, with repeats. `vocabulary`: in item
        order. `tick`: gets the number of rows written.
        """
        parts: list[Part] = []
        lengths = np.zeros(0, np.int64)
        supports = np.zeros(len(vocabulary), np.int64)
        same = np.arange(len(vocabulary), dtype=np.int32)
        held: list[Piece] = []
        n_rows = 0
        for indptr, items in pieces:
            if indptr.size == 1:
                continue
            rows = recode_rows(frozen(indptr, np.int64), frozen(items, np.int32), same)
            held.append(rows)
            of_piece = np.bincount(np.diff(rows[0]), minlength=lengths.size)
            of_piece[: lengths.size] += lengths
            lengths = of_piece.astype(np.int64)
            supports += np.bincount(rows[1], minlength=supports.size)
            n_rows += rows[0].size - 1
            tick(n_rows)
            if sum(one.size for _, one in held) >= OF_A_PART:
                parts.append(Part.write(folder, len(parts), *joined(held)))
                held = []
        if held:
            parts.append(Part.write(folder, len(parts), *joined(held)))
        return cls(tuple(parts), vocabulary, frozen(lengths, np.int64), frozen(supports, np.int64), origin)

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return int(self.lengths.sum())

    @property
    def filled_rows(self) -> int:
        """Number of rows that hold an item."""
        return int(self.lengths[1:].sum())

    @property
    def longest(self) -> int:
        """Most items of a row."""
        return max(self.lengths.size - 1, 0)

    @property
    def n_items(self) -> int:
        """Number of labels in the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of (row, item) pairs."""
        return int(self.item_supports.sum())

    def supports(self) -> Ints:
        """Count, for each item, the rows that hold it: int64 (n_items,)."""
        return self.item_supports.copy()

    @property
    def counted(self) -> tuple[Ints, Ints] | None:
        """Rows of each length and supports of the items, which are known if there are rows."""
        return (self.lengths, self.supports()) if self.n_rows else None

    def rows(self) -> Iterator[Piece]:
        """Map one part after the other into memory."""
        for part in self.parts:
            yield part.rows()


class PartRows:
    """Rows in parts on disk, as `setveil.rows.engine.rows.AllRows`, with the leaf of each item."""

    def __init__(self, data: RowsOnDisk, leaf: Ids) -> None:
        self.data, self.leaf = data, leaf

    @property
    def lengths(self) -> Ints:
        """How many rows there are of each length."""
        return self.data.lengths

    def supports(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number."""
        return add_up_supports(one_each(self._pieces()), numbering)

    def count(self, numbering: Numbering, size: int, tick: Tick) -> NDArray[np.int32]:
        """Count, for all sets of `size` numbers, the rows that hold them."""
        return count_pieces(one_each(self._pieces()), self.data.n_occurrences, numbering, size, tick)

    def rare(
        self, numbering: Numbering, table: NDArray[np.int32], size: int, k: int, tick: Tick
    ) -> tuple[Ints, Ids, Ints]:
        """Cut rows down to the numbers that are in sets of support below k with others of the row."""
        pieces = one_each(self._pieces())
        return rare_parts(pieces, self.data.n_occurrences, numbering, table, size, k, tick)

    def distinct(self, image: Ids) -> tuple[Ints, Ids, Ints]:
        """Recode all rows: the distinct rows, and how many rows each represents."""
        held: list[tuple[Ints, Ids, Ints]] = []
        least = OF_A_PART
        for indptr, leaves in self._pieces():
            held.append(distinct_rows(*recode_rows(indptr, leaves, image)))
            if sum(items.size for _, items, _ in held) < least:
                continue
            held = [merged(held)]
            least = OF_A_PART + 2 * held[0][1].size
            if held[0][1].size > MOST_DISTINCT:
                raise DataError(
                    "The sets of items are too many to be counted in a table, and the distinct rows contain "
                    f"more than {MOST_DISTINCT:,} items, too many to be held in memory.",
                    hint="Choose a smaller m, or a hierarchy whose lowest nodes represent more items.",
                )
        return merged(held)

    def _pieces(self) -> Iterator[Piece]:
        for rows in self.data.rows():
            for indptr, items in pieces_of(*rows):
                yield indptr, frozen(self.leaf[items], np.int32)


def write_numbers(file: IO[bytes], numbers: NDArray[Any]) -> None:
    """Write an array as it lies in memory; unlike its own `tofile` this says why it fails."""
    file.write(np.ascontiguousarray(numbers).data)


def _hash(indptr: Ints, items: Ids) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(indptr).data)
    digest.update(np.ascontiguousarray(items).data)
    return digest.hexdigest()
