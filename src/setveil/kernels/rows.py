"""Rows in compressed form (`indptr` int64, `items` int32): sort, recode, merge equal rows, invert."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.base.threads import each

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]


S = TypeVar("S", bound=np.generic)


def frozen(array: ArrayLike, dtype: type[S]) -> NDArray[S]:
    """Return the array C-contiguous, of `dtype` and read-only: the one flavour kernels take as input."""
    out: NDArray[S] = np.ascontiguousarray(array, dtype=dtype)
    if out.flags.writeable:
        out = out if out is not array else out.view()
        out.flags.writeable = False
    return out


@compiled
def holds(items, begin, end, x):
    """Whether x is among items, which ascend, from one place up to another."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if items[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low < end and items[low] == x


AT_ONCE = 1 << 20  # occurrences that a thread recodes or copies at a time


@compiled
def _recode(indptr, items, image, out_ptr, out_items):
    n = 0
    for row in range(indptr.size - 1):
        start = n
        ordered = True
        for p in range(indptr[row], indptr[row + 1]):
            to = image[items[p]]
            if to >= 0:
                if n > start and to <= out_items[n - 1]:
                    ordered = False
                out_items[n] = to
                n += 1
        if not ordered:
            sort_piece(out_items, start, n)
            end = start + 1
            for p in range(start + 1, n):
                if out_items[p] != out_items[end - 1]:
                    out_items[end] = out_items[p]
                    end += 1
            n = end
        out_ptr[row + 1] = n


def recode_rows(indptr: Ints, items: Ids, image: Ids) -> tuple[Ints, Ids]:
    """Replace items by their images, drop negative ones; as many rows, sorted, without repeats, read-only."""
    to = frozen(image, np.int32)
    out_items = np.empty(items.size, np.int32)

    def recode(rows: tuple[int, int]) -> tuple[Ints, Ids]:
        bounds = indptr[rows[0] : rows[1] + 1]
        out_ptr, out = np.zeros(bounds.size, np.int64), out_items[bounds[0] : bounds[-1]]
        _recode(bounds, items, to, out_ptr, out)
        return out_ptr, out[: out_ptr[-1]]

    parts = each(recode, row_pieces(indptr))
    if len(parts) == 1:
        ends, found = parts[0]
        return frozen(ends, np.int64), frozen(found if found.size == items.size else found.copy(), np.int32)
    out_ptr = np.zeros(indptr.size, np.int64)
    np.cumsum(np.concatenate([out_ptr[:0], *(np.diff(ends) for ends, _ in parts)]), out=out_ptr[1:])
    if out_ptr[-1] < items.size:  # or what is left over would be kept, too
        out_items = np.concatenate([out_items[:0], *(part for _, part in parts)])
    return frozen(out_ptr, np.int64), frozen(out_items, np.int32)


def row_pieces(indptr: Ints) -> list[tuple[int, int]]:
    """Cut rows into pieces of about AT_ONCE occurrences, by the first row and the one behind the last."""
    if indptr.size > 1 and indptr[-1] - indptr[0] <= AT_ONCE:
        return [(0, indptr.size - 1)]
    steps = np.searchsorted(indptr, np.arange(indptr[0], indptr[-1], AT_ONCE))
    return list(pairwise(sorted({0, *steps.tolist(), indptr.size - 1})))


@compiled
def _merge(indptr, items, weights, table, group, first):
    mask = np.uint64(table.size - 1)
    groups = 0
    for row in range(indptr.size - 1):
        lo, hi = indptr[row], indptr[row + 1]
        h = np.uint64(hi - lo)
        for p in range(lo, hi):
            h = (h ^ np.uint64(items[p])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = groups
                first[groups] = row
                weights[groups] = 1
                group[row] = groups
                groups += 1
                break
            other = indptr[first[g]]
            same = indptr[first[g] + 1] - other == hi - lo
            p = 0
            while same and p < hi - lo:
                same = items[other + p] == items[lo + p]
                p += 1
            if same:
                weights[g] += 1
                group[row] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return groups


def merge_rows(indptr: Ints, items: Ids) -> tuple[Ints, Ints, Ints]:
    """Find equal rows: the group of each (by first appearance), a row of each group, and its size."""
    n = indptr.size - 1
    table = np.full(1 << max(4, int(2 * n).bit_length()), -1, np.int64)
    group, first, weights = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    with np.errstate(over="ignore"):
        groups = _merge(indptr, items, weights, table, group, first)
    return group, first[:groups].copy(), weights[:groups].copy()


@compiled
def _take(indptr, items, rows, out_ptr, out_items):
    for i in range(rows.size):
        start = indptr[rows[i]]
        for j in range(out_ptr[i + 1] - out_ptr[i]):
            out_items[out_ptr[i] + j] = items[start + j]


def take_rows(indptr: Ints, items: Ids, rows: Ints) -> tuple[Ints, Ids]:
    """Copy the given rows, in the given order."""
    out_ptr = np.zeros(rows.size + 1, np.int64)
    np.cumsum(indptr[rows + 1] - indptr[rows], out=out_ptr[1:])
    out_items = np.empty(out_ptr[-1], np.int32)
    source = frozen(indptr, np.int64), frozen(items, np.int32)
    which, ends = frozen(rows, np.int64), frozen(out_ptr, np.int64)
    each(
        lambda some: _take(*source, which[some[0] : some[1]], ends[some[0] : some[1] + 1], out_items),
        row_pieces(ends),
    )
    return ends, frozen(out_items, np.int32)


def distinct_rows(indptr: Ints, items: Ids, weights: Ints | None = None) -> tuple[Ints, Ids, Ints]:
    """Merge equal rows: the distinct ones by first appearance, and the sum of the `weights` (1) of each."""
    group, first, counts = merge_rows(indptr, items)
    if weights is not None:
        counts = np.zeros(first.size, np.int64)
        np.add.at(counts, group, weights)
    return *take_rows(indptr, items, first), frozen(counts, np.int64)


@compiled
def _invert(indptr, items, starts, tidlists, positions):
    at = starts[:-1].copy()
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            slot = at[items[p]]
            tidlists[slot] = row
            positions[slot] = p
            at[items[p]] = slot + 1


def invert(indptr: Ints, items: Ids, n_ids: int) -> tuple[Ints, Ids, Ints]:
    """List the rows of each item, ascending: int64 starts (n_ids + 1,), int32 rows, int64 places."""
    starts = np.zeros(n_ids + 1, np.int64)
    np.cumsum(np.bincount(items, minlength=n_ids), out=starts[1:])
    tidlists, positions = np.empty(items.size, np.int32), np.empty(items.size, np.int64)
    _invert(indptr, items, starts, tidlists, positions)
    return frozen(starts, np.int64), frozen(tidlists, np.int32), frozen(positions, np.int64)


@compiled
def _add_weights(indptr, items, weights, out):
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            out[items[p]] += weights[row]


@compiled
def _list_holders(indptr, items, starts, tidlists):
    at = starts[:-1].copy()
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            tidlists[at[items[p]]] = row
            at[items[p]] += 1


def holders(indptr: Ints, items: Ids, n_ids: int) -> tuple[Ints, Ids]:
    """List the rows of each item, as `invert` does, but not where in them it stands."""
    starts = np.zeros(n_ids + 1, np.int64)
    np.cumsum(np.bincount(items, minlength=n_ids), out=starts[1:])
    tidlists = np.empty(items.size, np.int32)
    _list_holders(indptr, items, starts, tidlists)
    return frozen(starts, np.int64), frozen(tidlists, np.int32)


def item_supports(indptr: Ints, items: Ids, weights: Ints, n_ids: int) -> Ints:
    """Count the rows that hold each item: int64 (n_ids,); each row represents as many as its weight."""
    out = np.zeros(n_ids, np.int64)
    _add_weights(frozen(indptr, np.int64), frozen(items, np.int32), frozen(weights, np.int64), out)
    return out


class Ranked(NamedTuple):
    """Distinct rows whose items are replaced by their ranks in some order, and the rows of each rank."""

    # indptr, items: int64 (n + 1,), int32 (occurrences,): the rows, ascending
    indptr: Ints
    items: Ids
    weights: Ints  # int64 (n,): how many rows each stands for
    # starts, tidlists, positions: the rows of each rank (see `invert`)
    starts: Ints
    tidlists: Ids
    positions: Ints
    order: Ints  # int64 (ranks,): the item of each rank

    @property
    def lengths(self) -> Ints:
        """Items of each row."""
        return np.diff(self.indptr)


def places_of(group: Ints, n_groups: int = 0) -> list[NDArray[np.intp]]:
    """List the places of each group 0..n-1, ascending; n is greater than any group that occurs."""
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    return np.split(np.argsort(group, kind="stable"), ends[:-1])


def ranks_of(order: NDArray[np.integer], n_ids: int) -> Ids:
    """Find the place of each item in `order` (distinct items), -1 if it is not there: int32 (n_ids,)."""
    rank: Ids = np.full(n_ids, -1, np.int32)
    rank[order] = np.arange(order.size)
    return rank


def ranked(indptr: Ints, items: Ids, weights: Ints, order: NDArray[np.integer], n_ids: int) -> Ranked:
    """Replace items by their ranks in `order`, omit those without one, and merge rows that are equal then."""
    return in_ranks(*distinct_rows(*recode_rows(indptr, items, ranks_of(order, n_ids)), weights), order)


def in_ranks(indptr: Ints, ranks: Ids, weights: Ints, order: NDArray[np.integer]) -> Ranked:
    """Make `Ranked` of distinct rows of ranks."""
    return Ranked(indptr, ranks, weights, *invert(indptr, ranks, order.size), frozen(order, np.int64))
