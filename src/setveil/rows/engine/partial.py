"""What one worker counts of its part of the rows: pure functions, whose answers add up to that of all rows.

Rows are coded by the leaves of the hierarchy. Equal ones may be merged: the weight of a row is the number of
rows that it represents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.count import cell_offsets, count_into, empty_table
from setveil.kernels.rows import Ints, item_supports
from setveil.rows.engine.counting import WeightedPiece, cut_down, numbered, of_few
from setveil.rows.engine.numbering import Numbering

BLOCK = 1 << 16  # cells of a table that are sent together


class PartCounts(NamedTuple):
    """The counts of one part, and how many sets they must add up to."""

    table: NDArray[np.int32]
    rows: int
    sets: int


def count_part(pieces: Iterable[WeightedPiece], numbering: Numbering, size: int) -> PartCounts:
    """Count all sets of `size` numbers in some rows."""
    n = numbering.nodes.size
    offsets, table = cell_offsets(n, size), empty_table(n, size)
    rows = sets = 0
    for indptr, leaves, weights in pieces:
        ends, numbers = numbered((indptr, leaves), numbering)
        count_into(ends, numbers, weights, offsets, 0, n, table)
        rows += int(weights.sum())
        lengths, place = np.unique(np.diff(ends), return_inverse=True)
        of_length = np.zeros(lengths.size, np.int64)
        np.add.at(of_length, place, weights)
        sets += sum(
            some * comb(length, size)
            for length, some in zip(lengths.tolist(), of_length.tolist(), strict=True)
        )
    return PartCounts(table, rows, sets)


def supports_part(piece: WeightedPiece, numbering: Numbering) -> Ints:
    """Count the rows of a piece that hold each number: int64 (n,)."""
    indptr, leaves, weights = piece
    return item_supports(*numbered((indptr, leaves), numbering), weights, numbering.nodes.size)


def rare_bits(table: NDArray[np.int32], k: int) -> bytes:
    """Write which sets have a support in (0, k), a bit each."""
    return np.packbits((table > 0) & (table < k)).tobytes()


def rare_part(piece: WeightedPiece, numbering: Numbering, bits: bytes, size: int, k: int) -> WeightedPiece:
    """Cut rows down to the numbers in rare sets with others (rows for k or more have none); merge them."""
    cells = comb(numbering.nodes.size, size)
    frequent = np.unpackbits(np.frombuffer(bits, np.uint8), count=cells) ^ 1
    offsets = cell_offsets(numbering.nodes.size, size)
    rows, weights = of_few(*piece, k)
    return cut_down(*numbered(rows, numbering), weights, offsets, frequent.astype(np.int32), 1)


def blocks(table: NDArray[np.int32]) -> Iterator[tuple[int, bytes]]:
    """Cut a table into numbered blocks, and omit those of which every cell is 0."""
    for block, start in enumerate(range(0, table.size, BLOCK)):
        cells = table[start : start + BLOCK]
        if cells.any():
            yield block, cells.tobytes()


def added(blocks: Iterable[bytes]) -> bytes:
    """Add the cells of equal blocks."""
    return sum((np.frombuffer(cells, np.int32) for cells in blocks), np.int32(0)).tobytes()


def put_block(table: NDArray[np.int32], block: int, cells: bytes) -> None:
    """Put a block into an empty table."""
    some = np.frombuffer(cells, np.int32)
    table[block * BLOCK : block * BLOCK + some.size] = some
