"""The band order of rows, in which neighbours share items, and how narrow a band rows form in an order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.progress import Progress, silent
from setveil.base.sorting import sort_piece
from setveil.kernels.content import content_order
from setveil.kernels.rows import Ids, Ints, frozen, invert, merge_rows, take_rows

_SWEEPS = 2  # walks over the rows to find where to begin
ROWS_AT_ONCE = 200_000  # rows put in order between two signs of life


@compiled
def _cuthill_mckee(indptr, items, starts, tidlists, roots, expanded, level, order, state, budget):
    """Place the neighbours of up to `budget` further rows; rows are numbered by ascending degree.

    `level` is the distance from the root of the component, -1 for a row that is not placed yet. `state` holds
    how many rows have had their neighbours placed, how many are placed, and how many roots were looked at.
    """
    done, size, root = state[0], state[1], state[2]
    last = min(done + budget, order.size)
    while done < last:
        if done == size:  # a new component begins
            while level[roots[root]] >= 0:
                root += 1
            level[roots[root]] = 0
            order[size] = roots[root]
            size += 1
        row = order[done]
        done += 1
        first = size
        for p in range(indptr[row], indptr[row + 1]):
            item = items[p]
            if expanded[item]:
                continue
            expanded[item] = True
            for q in range(starts[item], starts[item + 1]):
                other = np.int64(tidlists[q])
                if level[other] < 0:
                    level[other] = level[row] + 1
                    order[size] = other
                    size += 1
        sort_piece(order, first, size)
    state[0], state[1], state[2] = done, size, root


def band_order(indptr: Ints, items: Ids, n_items: int, progress: Progress = silent) -> Ints:
    """Order rows so that rows that share items come close to each other: reverse Cuthill-McKee [1].

    The graph joins rows that share an item: breadth first from a row of least degree, neighbours by ascending
    degree; then twice again from a row of least degree among those farthest out [2]. The order of least
    profile is taken; ties go by items, then row number. As the neighbours of an item are placed together,
    each item is walked over once: time and memory are linear, but for sorting.

    Differences from [1]: a neighbour counts once for every shared item, as distinct neighbours cannot be
    counted in linear time. Equal rows stay together.

    [1] Cuthill, McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM National Conference 1969,
    doi:10.1145/800195.805928

    [2] George, Liu, "An implementation of a pseudoperipheral node finder", ACM Transactions on Mathematical
    Software 5(3), 1979, doi:10.1145/355841.355845
    """
    progress("ordering rows", 0.0)
    group, first, weights = merge_rows(indptr, items)
    by_content = content_order(*take_rows(indptr, items, first))
    ends, content = take_rows(indptr, items, first[by_content])
    up_to = np.concatenate(([0], np.cumsum(np.bincount(items, minlength=n_items)[content])))
    by_degree = by_content[np.argsort(np.diff(up_to[ends]), kind="stable")]

    rows = take_rows(indptr, items, first[by_degree])
    starts, holders, _ = invert(*rows, n_items)
    n = by_degree.size
    roots = best = np.arange(n)
    least: int | None = None
    for sweep in range(_SWEEPS + 1):
        order, level = np.empty(n, np.int64), np.full(n, -1, np.int64)
        expanded, state = np.zeros(n_items, np.bool_), np.zeros(3, np.int64)
        while state[0] < n:
            progress("ordering rows", (sweep + state[0] / n) / (_SWEEPS + 1))
            _cuthill_mckee(*rows, starts, holders, roots, expanded, level, order, state, ROWS_AT_ONCE)
        profile = _profile(*rows, weights[by_degree], order[::-1], n_items)
        if least is None or profile < least:
            best, least = order, profile
        roots = _farthest(order, level[order])
    place = np.empty(n, np.int64)
    place[by_degree[best[::-1]]] = np.arange(n)
    return frozen(np.argsort(place[group], kind="stable"), np.int64)


def _farthest(order: Ints, level: Ints) -> Ints:
    """Find the row of least degree on the last level of each component."""
    begins = np.flatnonzero(level == 0)
    if not begins.size:
        return order
    height = np.maximum.reduceat(level, begins)
    component = np.cumsum(level == 0) - 1
    return np.minimum.reduceat(np.where(level == height[component], order, order.size), begins)


def _profile(indptr: Ints, items: Ids, weights: Ints, order: Ints, n_items: int) -> int:
    """Sum the distances of rows to the first that shares an item; each row represents several in a row."""
    begins = np.empty(order.size, np.int64)
    begins[order] = np.cumsum(weights[order]) - weights[order]
    row = np.repeat(np.arange(order.size), np.diff(indptr))
    first = np.full(n_items, weights.sum())
    np.minimum.at(first, items, begins[row])
    reach = begins.copy()
    np.minimum.at(reach, row, first[items])
    among_equals = np.where(np.diff(indptr) > 0, weights * (weights - 1) // 2, 0)
    return int((weights * (begins - reach) + among_equals).sum())


@dataclass(frozen=True, eq=False)
class BandProfile:
    """How narrow a band rows form in an order."""

    bandwidth: int  # the greatest distance of two rows that share an item
    # the sum over all rows of the distance to the first row that shares an item with it (0: none before)
    profile: int
    # float64 (cells, cells): The matrix of rows and items in a coarse grid: the share of the places in each
    # cell that hold an item. Rows in this order from top to bottom; items that occur by their first row from
    # left to right.
    density: NDArray[np.float64]
    # U + L + 1 of the matrix: U upper and L lower diagonals reach as far as any item, where the items are
    # ordered by their first row, then by their last
    total: int


def band_profile(indptr: Ints, items: Ids, n_items: int, order: Ints, cells: int = 600) -> BandProfile:
    """Measure the matrix of rows and items in an order, at most `cells` a side, without building a graph."""
    indptr, items = take_rows(indptr, items, order)
    n = order.size
    row = np.repeat(np.arange(n), np.diff(indptr))
    last = np.full(n_items, -1, np.int64)
    last[items] = row  # of repeated places the last write stays
    first = np.full(n_items, n, np.int64)
    first[items[::-1]] = row[::-1]
    occurring = first < n
    reach = np.arange(n)
    np.minimum.at(reach, row, first[items])

    column = np.empty(n_items, np.int64)
    column[np.argsort(first, kind="stable")] = np.arange(n_items)
    width = int(occurring.sum())
    height, across = min(cells, n), min(cells, width)
    grid = np.zeros((height, across))
    if items.size:
        np.add.at(grid, (row * height // n, column[items] * across // width), 1.0)
        grid /= np.outer(_cell_sizes(n, height), _cell_sizes(width, across))
    by_rows = np.empty(n_items, np.int64)
    by_rows[np.lexsort((last, first))] = np.arange(n_items)
    away = by_rows[items] - row
    return BandProfile(
        bandwidth=int((last - first)[occurring].max(initial=0)),
        profile=int((np.arange(n) - reach).sum()),
        density=grid,
        total=int(away.max(initial=0)) - int(away.min(initial=0)) + 1,
    )


def _cell_sizes(n: int, cells: int) -> NDArray[np.int64]:
    """How many of n places fall into each cell."""
    return np.bincount(np.arange(n) * cells // n, minlength=cells).astype(np.int64)
