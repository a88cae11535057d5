"""Rows in the order of their content: their items, the first ones first; a row after its own beginnings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from setveil.base.jit import compiled
from setveil.base.threads import each
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, row_pieces, take_rows

FEW = 1 << 18  # rows that are merged all at once
OF_A_RANGE = 1 << 16  # of more rows those that a thread merges at a time, about
SAMPLES = 64  # of so many rows, for finding ranges of contents


@compiled
def _next_two(indptr, items, rows, depth, keys):
    for at in range(rows.size):
        p, end = indptr[rows[at]] + depth, indptr[rows[at] + 1]
        key = np.int64(0)  # nothing comes before any item
        if p < end:
            key = (np.int64(items[p]) + 1) << 32
        if p + 1 < end:
            key |= np.int64(items[p + 1]) + 1
        keys[at] = key


def leading_keys(indptr: Ints, items: Ids) -> Ints:
    """Make a number of the first two items of each row; by content, rows come in the order of these."""
    keys = np.empty(indptr.size - 1, np.int64)
    _next_two(frozen(indptr, np.int64), frozen(items, np.int32), np.arange(keys.size), 0, keys)
    return keys


@compiled
def first_from(indptr, items, key):
    """Find the first of rows in the order of their content whose leading key is at least `key`."""
    one, found = np.zeros(1, np.int64), np.zeros(1, np.int64)
    low, high = 0, indptr.size - 1
    while low < high:
        one[0] = (low + high) // 2
        _next_two(indptr, items, one, 0, found)
        if found[0] < key:
            low = one[0] + 1
        else:
            high = one[0]
    return low


def _distinct_order(indptr: Ints, items: Ids) -> Ints:
    """Sort distinct rows by their items, two at a time; only rows that are still equal go on."""
    order = np.arange(indptr.size - 1)
    at = order.copy()  # places in the order that are not settled
    run = np.zeros(at.size, np.int64)  # those of a run have been equal so far
    depth = 0
    while at.size:
        rows = order[at]
        keys = np.empty(rows.size, np.int64)
        _next_two(indptr, items, rows, depth, keys)
        within = np.lexsort((keys, run)) if depth else np.argsort(keys)
        order[at] = rows[within]
        keys, run = keys[within], run[within]
        new = np.concatenate(([True], (np.diff(keys) != 0) | (np.diff(run) != 0)))
        alone = new & np.concatenate((new[1:], [True]))
        at, run = at[~alone], np.cumsum(new)[~alone]
        depth += 2
    return order


@compiled
def _spread(group, starts, order):
    for row in range(group.size):
        order[starts[group[row]]] = row
        starts[group[row]] += 1


def content_order(indptr: Ints, items: Ids) -> Ints:
    """Sort rows by their items, a row after its own beginnings, and equal rows by number: the row numbers."""
    group, _, weights = merge_rows_by_content(indptr, items)
    return group_order(group, weights)


def group_order(group: Ints, sizes: Ints) -> Ints:
    """Sort rows by their groups, whose sizes are given; rows of a group by number: int64 (n,)."""
    order = np.empty(group.size, np.int64)
    _spread(group, np.cumsum(sizes) - sizes, order)
    return order


def merge_rows_by_content(indptr: Ints, items: Ids) -> tuple[Ints, Ints, Ints]:
    """Merge equal rows as `merge_rows` does, numbered by their items; sorted in ranges of contents."""
    if indptr.size - 1 <= FEW:
        return _merged_by_content(indptr, items)
    rows, ends, by_range, starts = _in_ranges(indptr, items)

    def merged(some: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        return _merged_by_content(ends[some[0] : some[1] + 1], by_range)

    out, firsts, weights, groups = np.empty(rows.size, np.int64), [rows[:0]], [rows[:0]], 0
    ranges = list(pairwise(starts.tolist()))
    for (start, end), (group, first, counts) in zip(ranges, each(merged, ranges), strict=True):
        out[rows[start:end]] = groups + group
        firsts.append(rows[start + first])
        weights.append(counts)
        groups += first.size
    return out, np.concatenate(firsts), np.concatenate(weights)


def _merged_by_content(indptr: Ints, items: Ids) -> tuple[Ints, Ints, Ints]:
    group, first, weights = merge_rows(indptr, items)
    order = _distinct_order(*take_rows(indptr, items, first))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return place[group], first[order], weights[order]


def _in_ranges(indptr: Ints, items: Ids) -> tuple[Ints, Ints, Ids, Ints]:
    """Put rows into ranges of contents, of about OF_A_RANGE each, by their first two items.

    Returns the row numbers, range by range and ascending in each, these rows as indptr and items, and starts:
    int64 (ranges + 1,), where the rows of each range begin.
    """
    n = indptr.size - 1
    number = 1 + n // OF_A_RANGE
    samples = np.arange(0, n, max(OF_A_RANGE // SAMPLES, 1))
    keys = np.sort(leading_keys(*take_rows(indptr, items, samples)))
    bounds = np.unique(keys[np.arange(1, number) * keys.size // number])

    def look(piece: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        some = indptr[piece[0] : piece[1] + 1]
        of_row = np.searchsorted(bounds, leading_keys(some, items), "right")
        occurrences = np.bincount(of_row, np.diff(some), bounds.size + 1)
        return of_row, np.bincount(of_row, minlength=bounds.size + 1), occurrences.astype(np.int64)

    pieces = row_pieces(indptr)
    looked = each(look, pieces)
    # Where the rows of each range and piece begin, and the items of these: range by range.
    rows_of, items_of = (np.array([one[part] for one in looked]) for part in (1, 2))
    row_at, item_at = ((np.cumsum(of.T) - of.T.ravel()).reshape(of.T.shape) for of in (rows_of, items_of))
    starts = np.append(row_at[:, 0], n)
    total, all_items = int(indptr[-1] - indptr[0]), frozen(items, np.int32)
    rows, ends, out = np.empty(n, np.int64), np.full(n + 1, total), np.empty(total, np.int32)

    def spread(place: int) -> None:
        first, last = pieces[place]
        some = frozen(indptr[first : last + 1], np.int64)
        at = [begin[:, place].copy() for begin in (row_at, item_at)]
        _spread_rows(some, all_items, first, looked[place][0], *at, rows, ends, out)

    each(spread, range(len(pieces)))
    return rows, frozen(ends, np.int64), frozen(out, np.int32), starts


@compiled
def _spread_rows(indptr, items, first, of_row, row_at, item_at, rows, ends, out):
    for row in range(indptr.size - 1):
        to = of_row[row]
        rows[row_at[to]] = first + row
        ends[row_at[to]] = item_at[to]
        for p in range(indptr[row], indptr[row + 1]):
            out[item_at[to]] = items[p]
            item_at[to] += 1
        row_at[to] += 1
