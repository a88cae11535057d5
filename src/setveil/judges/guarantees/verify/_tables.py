"""Count all pairs, or triples, of ids in a table with a cell for each: (0, 1), (0, 2), ..."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.threads import each, threads

SIZES = 2, 3
MOST_CELLS = 1 << 27
MOST_ROWS = (1 << 31) - 1  # that a cell can count
MOST_APART = 1 << 24  # cells of the tables of all threads, where each has its own
WORTH = 8  # cells that a table may have for each set in the rows
LEAST = 1 << 14


def is_worth_it(lengths: NDArray[np.int64], n_ids: int, size: int) -> bool:
    """Say whether a table of the sets of `size` fits, and rows of these `lengths` have enough sets for it."""
    cells, rows = comb(n_ids, size), lengths.tolist()
    if size not in SIZES or cells > MOST_CELLS or sum(rows) > MOST_ROWS:
        return False
    return bool(cells <= WORTH * max(sum(n * comb(length, size) for length, n in enumerate(rows)), LEAST))


def count_sets(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_ids: int,
    size: int,
    table: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Count the rows that contain each set of 2 or 3 ids below `n_ids`: int32 (cells,), added to `table`."""
    table = np.zeros(comb(n_ids, size), np.int32) if table is None else table
    counted = _count_pairs if size == 2 else _count_triples
    # Where the sets of a first id, and of a second one, begin: minus the id that follows first.
    before = [comb(n_ids, size) - comb(n_ids - i, size) for i in range(n_ids)]
    if size == 2:
        starts = np.array([[before[i] - i - 1 for i in range(n_ids)]], np.int64)
    else:
        pairs = [comb(n_ids - i, 2) for i in range(n_ids + 1)]
        starts = np.array(
            [
                [before[i] + pairs[i + 1] for i in range(n_ids)],
                [-pairs[i] - i - 1 for i in range(n_ids)],
            ],
            np.int64,
        )
    if table.size * threads() <= MOST_APART and table.size <= items.size:
        # Each thread counts some of the rows, in a table of its own.
        pieces = _pieces(indptr)
        tables = [table, *(np.zeros_like(table) for _ in pieces[1:])]
        each(
            lambda part: counted(indptr[part[0][0] : part[0][1] + 1], items, starts, 0, n_ids, part[1]),
            zip(pieces, tables, strict=True),
        )
        for other in tables[1:]:
            table += other
        return table
    total = np.cumsum(_added_up(lambda rows, out: _weigh(indptr, items, *rows, size, out), indptr, n_ids))
    # Each thread counts the sets of the first ids of a range: nobody else writes there.
    shares = np.arange(1, threads()) * int(total[-1]) // threads()
    ranges = list(pairwise([0, *(np.searchsorted(total, shares) + 1).tolist(), n_ids]))
    each(lambda range_: counted(indptr, items, starts, *range_, table), ranges)
    return table


def count_items(indptr: NDArray[np.int64], items: NDArray[np.int32], n_ids: int) -> NDArray[np.int64]:
    """Count the rows that hold each id: int64 (n_ids,)."""
    return _added_up(
        lambda rows, out: _count_items(items, indptr[rows[0]], indptr[rows[1]], out), indptr, n_ids
    )


def places_of(
    indptr: NDArray[np.int64], items: NDArray[np.int32], wanted: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """List the places of the ids that are wanted, ascending."""
    found = each(lambda rows: _places(items, indptr[rows[0]], indptr[rows[1]], wanted), _pieces(indptr))
    return np.concatenate(list(found))


def _pieces(indptr: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut rows into as many pieces as there are threads, by the first row and the one behind the last."""
    shares = np.arange(1, threads()) * int(indptr[-1]) // threads()
    return list(pairwise([0, *np.searchsorted(indptr, shares).tolist(), indptr.size - 1]))


def _added_up(
    count: Callable[[tuple[int, int], NDArray[np.int64]], None], indptr: NDArray[np.int64], n_ids: int
) -> NDArray[np.int64]:
    """Count something of each id in pieces of the rows, and add up."""

    def counted(rows: tuple[int, int]) -> NDArray[np.int64]:
        out = np.zeros(n_ids, np.int64)
        count(rows, out)
        return out

    total: NDArray[np.int64] = np.sum(list(each(counted, _pieces(indptr))), axis=0)
    return total


def rare_sets(
    table: NDArray[np.int32], n_ids: int, size: int, k: int, show: int
) -> tuple[int, int, list[tuple[tuple[int, ...], int]]]:
    """Find the sets with a support in (0, k): their number, the least support of any set, and the first."""
    cells = np.zeros(show, np.int64)
    found, smallest = _find_rare(table, k, cells)
    first = []
    for cell in cells[: min(found, show)].tolist():
        ids, rest, low = [], cell, 0
        for left in range(size, 0, -1):
            while rest >= (after := comb(n_ids - low - 1, left - 1)):
                rest -= after
                low += 1
            ids.append(low)
            low += 1
        first.append((tuple(ids), int(table[cell])))
    return int(found), int(smallest), first


@compiled
def _count_items(items, start, end, out):
    for p in range(start, end):
        out[items[p]] += 1


@compiled
def _places(items, start, end, wanted):
    found = 0
    for p in range(start, end):
        found += wanted[items[p]]
    out = np.empty(found, np.int64)
    found = 0
    for p in range(start, end):
        if wanted[items[p]]:
            out[found] = p
            found += 1
    return out


@compiled
def _weigh(indptr, items, first, last, size, work):
    for row in range(first, last):
        for p in range(indptr[row], indptr[row + 1]):
            behind = indptr[row + 1] - p - 1
            work[items[p]] += behind if size == 2 else behind * (behind - 1) // 2


@compiled
def _count_pairs(indptr, items, starts, low, high, table):
    for row in range(indptr.size - 1):
        end = indptr[row + 1]
        for p in range(indptr[row], end):
            if items[p] >= high:
                break
            if items[p] >= low:
                start = starts[0, items[p]]
                for q in range(p + 1, end):
                    table[start + items[q]] += 1


@compiled
def _count_triples(indptr, items, starts, low, high, table):
    for row in range(indptr.size - 1):
        end = indptr[row + 1]
        for p in range(indptr[row], end):
            if items[p] >= high:
                break
            if items[p] >= low:
                for q in range(p + 1, end):
                    start = starts[0, items[p]] + starts[1, items[q]]
                    for r in range(q + 1, end):
                        table[start + items[r]] += 1


@compiled
def _find_rare(table, k, cells):
    found, smallest = 0, np.int64(1) << 62
    for cell in range(table.size):
        support = table[cell]
        if support > 0:
            smallest = min(smallest, np.int64(support))
            if support < k:
                if found < cells.size:
                    cells[found] = cell
                found += 1
    return found, smallest
