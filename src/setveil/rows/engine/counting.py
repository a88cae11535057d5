"""Count sets of nodes over pieces of rows, by all threads: pure functions, anyone who holds the pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.threads import each, threads
from setveil.kernels.count import (
    add_supports,
    cell_offsets,
    count_into,
    empty_table,
    keep_rare,
    number_rows,
    work_by_greatest,
)
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, take_rows
from setveil.rows.engine.numbering import Numbering

Piece = tuple[Ints, Ids]  # indptr and leaves of some rows
WeightedPiece = tuple[Ints, Ids, Ints]  # and how many rows each represents, or ONE_EACH
Tick = Callable[[float], None]
P = TypeVar("P", Piece, WeightedPiece)
TOGETHER = 8  # pieces that are held at a time
CELLS = 1 << 19  # that a thread counts in at a time: about as many as fit near the processor
MOST_RANGES = 8  # of a table, each of which takes a pass over the rows
ONE_EACH = frozen(np.zeros(0), np.int64)


def numbered(piece: Piece, numbering: Numbering) -> Piece:
    """Replace the leaves of rows by their numbers."""
    indptr, leaves = piece
    most = int(np.diff(numbering.starts)[leaves].sum())
    out_ptr, out = np.zeros(indptr.size, np.int64), np.empty(most, np.int32)
    n = number_rows(indptr, leaves, numbering.starts, numbering.numbers, numbering.nodes.size, out_ptr, out)
    return frozen(out_ptr, np.int64), frozen(out[:n], np.int32)


def one_each(pieces: Iterable[Piece]) -> Iterator[WeightedPiece]:
    """Let each row represent itself."""
    return ((*piece, ONE_EACH) for piece in pieces)


def add_up_supports(pieces: Iterable[WeightedPiece], numbering: Numbering) -> Ints:
    """Count the rows that hold each number: int64 (n,)."""
    n = numbering.nodes.size
    supports = np.zeros(n, np.int64)

    def count(piece: WeightedPiece) -> Ints:
        out = np.zeros(n, np.int64)
        add_supports(*piece, numbering.starts, numbering.numbers, np.full(n, -1, np.int64), out)
        return out

    for group in groups(pieces):
        supports += sum(each(count, group))
    return supports


def count_pieces(
    pieces: Iterable[WeightedPiece], occurrences: int, numbering: Numbering, size: int, tick: Tick
) -> NDArray[np.int32]:
    """Count, for all sets of `size` numbers, the rows that hold them.

    Where tables are small next to the rows, each thread counts a part of the rows in a table of its own. Else
    each counts all rows' sets whose greatest number lies in a range of its own: one table, nothing to add up.
    """
    n = numbering.nodes.size
    offsets, tables = cell_offsets(n, size), _tables(n, size, occurrences)
    done = 0
    ranges: list[tuple[int, int]] = []
    for group in groups(pieces):
        rows = each(lambda piece: (*numbered(piece[:2], numbering), piece[2]), group)
        if len(tables) == 1 and not ranges:
            ranges = _ranges(rows, offsets)
        _count_rows(rows, offsets, ranges, tables)
        done += sum(leaves.size for _, leaves, _ in group)
        tick(done / max(occurrences, 1))
    return _added_up(tables)


def count_numbers(rows: Sequence[WeightedPiece], n: int, size: int, occurrences: int) -> NDArray[np.int32]:
    """Count, for all sets of `size` of n numbers, the rows that hold them, each as often as its weight."""
    offsets, tables = cell_offsets(n, size), _tables(n, size, occurrences)
    _count_rows(rows, offsets, _ranges(rows, offsets) if len(tables) == 1 else [], tables)
    return _added_up(tables)


def _tables(n: int, size: int, occurrences: int) -> list[NDArray[np.int32]]:
    """Make a table for each thread, or one for all."""
    table = empty_table(n, size)
    alone = table.size > min(occurrences, CELLS)
    return [table, *(np.zeros_like(table) for _ in range(0 if alone else threads() - 1))]


def _added_up(tables: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    table, *others = tables
    for other in others:
        table += other
    return table


def _count_rows(
    rows: Sequence[WeightedPiece],
    offsets: Ints,
    ranges: list[tuple[int, int]],
    tables: list[NDArray[np.int32]],
) -> None:
    """Add rows to tables: each thread a part of the rows, or the sets whose greatest number is in a range."""

    def count_part(i: int) -> None:
        for indptr, numbers, weights in rows:
            shares = [numbers.size * j // len(tables) for j in (i, i + 1)]
            first, last = np.searchsorted(indptr, shares).tolist()
            count_into(
                indptr[first : last + 1],
                numbers,
                weights[first:last],
                offsets,
                0,
                offsets.shape[1],
                tables[i],
            )

    def count_range(range_: tuple[int, int]) -> None:
        for one in rows:
            count_into(*one, offsets, *range_, tables[0])

    if len(tables) > 1:
        each(count_part, range(len(tables)))
    else:
        each(count_range, ranges)


def rare_parts(
    pieces: Iterable[WeightedPiece],
    occurrences: int,
    numbering: Numbering,
    table: NDArray[np.int32],
    size: int,
    k: int,
    tick: Tick,
) -> tuple[Ints, Ids, Ints]:
    """Cut rows down to numbers in sets of `size` of support below k, and merge equal rows."""
    offsets = cell_offsets(numbering.nodes.size, size)

    def look(piece: WeightedPiece) -> WeightedPiece:
        rows, weights = of_few(*piece, k)
        return cut_down(*numbered(rows, numbering), weights, offsets, table, k)

    found, done = list[WeightedPiece](), 0
    for group in groups(pieces):
        found += each(look, group)
        done += sum(leaves.size for _, leaves, _ in group)
        tick(done / max(occurrences, 1))
    return merged(found)


def of_few(indptr: Ints, leaves: Ids, weights: Ints, k: int) -> tuple[Piece, Ints]:
    """Take the rows that represent fewer than k, and their weights: no set of another is in fewer rows."""
    if not weights.size:
        return (indptr, leaves), weights
    few = np.flatnonzero(weights < k)
    return take_rows(indptr, leaves, few), frozen(weights[few], np.int64)


def cut_down(
    indptr: Ints, numbers: Ids, weights: Ints, offsets: Ints, table: NDArray[np.int32], k: int
) -> tuple[Ints, Ids, Ints]:
    """Cut rows of numbers down to those in rare sets with others of the row, and merge equal rows."""
    out_ptr, out = np.zeros(indptr.size, np.int64), np.empty(numbers.size, np.int32)
    rows = np.empty(indptr.size - 1, np.int64)
    n_rows = keep_rare(indptr, numbers, offsets, table, k, out_ptr, out, rows)
    left = frozen(out_ptr[: n_rows + 1], np.int64), frozen(out[: out_ptr[n_rows]], np.int32)
    return distinct_rows(*left, weights[rows[:n_rows]] if weights.size else None)


def joined(rows: list[Piece]) -> Piece:
    """Put rows one behind the other."""
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(indptr) for indptr, _ in rows)])
    items = np.concatenate([np.zeros(0, np.int32), *(items for _, items in rows)])
    return frozen(np.cumsum(lengths), np.int64), frozen(items, np.int32)


def merged(rows: list[tuple[Ints, Ids, Ints]]) -> tuple[Ints, Ids, Ints]:
    """Merge weighted rows: the distinct ones by first appearance, and how many rows each represents."""
    weights = np.concatenate([np.zeros(0, np.int64), *(weights for _, _, weights in rows)])
    return distinct_rows(*joined([one[:2] for one in rows]), weights)


def groups(pieces: Iterable[P]) -> Iterator[list[P]]:
    """Take a few pieces at a time."""
    some = iter(pieces)
    while group := list(islice(some, TOGETHER)):
        yield group


def _ranges(rows: Sequence[WeightedPiece], offsets: Ints) -> list[tuple[int, int]]:
    """Cut the numbers into ranges: one for each thread, of about equal work, and these by their cells."""
    n, last = offsets.shape[1], offsets[-1]
    work = np.zeros(n, np.int64)
    for indptr, numbers, _ in rows:
        work_by_greatest(indptr, numbers, offsets, work)
    before = np.cumsum(work)
    shares = np.arange(1, threads()) * (int(before[-1]) if n else 0) // threads()
    cells = int(last[-1]) if n else 0
    by_cells = np.searchsorted(last, np.arange(1, MOST_RANGES) * max(cells // MOST_RANGES, CELLS))
    cuts = {0, *(np.searchsorted(before, shares) + 1).tolist(), *by_cells.tolist(), n}
    return list(pairwise(sorted(cut for cut in cuts if cut <= n)))
