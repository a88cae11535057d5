"""Walk itemsets depth first over projected rows: loops that several verifiers share, and no algorithm uses.

The projection of the rows onto an itemset is all that follows its last item in the rows that contain it.
Level d of a walk has the items of the projection onto ``path[:d]``, in order, each with its places: a row,
and where in the row. The walk takes an item of the deepest level, decides about it, and may add a level for
its projection. (Not a recursion: numba cannot load a recursive function from its cache.)
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece

Ints = NDArray[np.int64]


class Rows(NamedTuple):
    """Distinct rows: row r has ``items[indptr[r]:indptr[r + 1]]``, ascending, `weights[r]` times."""

    indptr: Ints
    items: NDArray[np.integer]
    weights: Ints


class Holders(NamedTuple):
    """Item x is in ``rows[starts[x]:starts[x + 1]]``, and of all their items it is at `places`."""

    starts: Ints
    rows: Ints
    places: Ints


class Companions(NamedTuple):
    """With row r come ``secrets[indptr[r]:indptr[r + 1]]``, each in this many of the rows it represents."""

    indptr: Ints
    secrets: Ints
    counts: Ints


class Places(NamedTuple):
    """Places where an item stands: in which row, and where in its items."""

    row: Ints
    place: Ints


class Levels(NamedTuple):
    """The levels of a walk, one behind the other in arrays that grow.

    ``item[i]`` is in ``row[begin[i]:begin[i + 1]]`` at `place`. The items of level d end before ``end[d]``;
    ``current[d]`` is the next one to take.
    """

    item: Ints
    begin: Ints
    row: Ints
    place: Ints
    current: Ints
    end: Ints


def distinct_rows(indptr: Ints, items: NDArray[np.integer]) -> tuple[Ints, Rows]:
    """Find the distinct rows, numbered from 1; return each row's number (0: empty), and these rows."""
    content = np.ascontiguousarray(items, np.int32).tobytes()
    seen: dict[bytes, int] = {b"": 0}
    number, bounds = seen.setdefault, pairwise((4 * indptr).tolist())
    numbers = np.array([number(content[start:end], len(seen)) for start, end in bounds], np.int64)
    ends = np.cumsum(np.fromiter((len(key) // 4 for key in seen), np.int64, len(seen)))
    weights = np.bincount(numbers, minlength=len(seen)).astype(np.int64)
    return numbers, Rows(ends, np.frombuffer(b"".join(seen), np.int32).copy(), weights[1:])


def holders_of(rows: Rows, n: int) -> Holders:
    """Find where each of n items stands."""
    places = np.argsort(rows.items, kind="stable")
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(rows.items, minlength=n))))
    return Holders(starts, np.repeat(np.arange(rows.weights.size), np.diff(rows.indptr))[places], places)


def companions_of(numbers: Ints, secrets: NDArray[np.integer], n_rows: int, n_secrets: int) -> Companions:
    """Count what comes with each distinct row, given a row's number for each secret; 0 does not count."""
    pairs, counts = np.unique(numbers * max(n_secrets, 1) + secrets, return_counts=True)
    bounds = np.searchsorted(pairs, np.arange(1, n_rows + 2) * max(n_secrets, 1))
    pairs, counts = pairs[bounds[0] :], counts[bounds[0] :]
    return Companions(bounds - bounds[0], pairs % max(n_secrets, 1), counts)


@compiled
def first_level(holders, item, deepest):
    """Make level 0: all items with all their places; `item` comes next."""
    n = holders.starts.size - 1
    current, end = np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    current[0], end[0] = item, n
    return Levels(
        np.arange(n + 1), holders.starts.copy(), holders.rows.copy(), holders.places.copy(), current, end
    )


@compiled
def room_for_places(holders):
    """Make room for the places of any one item."""
    most = np.int64(0)
    for x in range(holders.starts.size - 1):
        most = max(most, holders.starts[x + 1] - holders.starts[x])
    return Places(np.empty(most, np.int64), np.empty(most, np.int64))


@compiled
def lacks_room(levels, d, n_items, n_places):
    """Return whether there is no room for a level d + 1 of this many items and places."""
    m0 = levels.end[d] + 1
    return m0 + n_items >= levels.item.size or levels.begin[m0 - 1] + n_places > levels.row.size


@compiled
def with_room(levels, d, n_items, n_places):
    """Return levels with room for level d + 1; call it only if they lack it: returning arrays is slow."""
    item, begin, row, place, current, end = levels
    while end[d] + 1 + n_items >= item.size:
        item, begin = (
            np.concatenate((item, np.empty_like(item))),
            np.concatenate((begin, np.empty_like(begin))),
        )
    while begin[end[d]] + n_places > row.size:
        row = np.concatenate((row, np.empty_like(row)))
        place = np.concatenate((place, np.empty_like(place)))
    return Levels(item, begin, row, place, current, end)


@compiled
def project(indptr, levels, here, least, kept):
    """Write the places of item `here` in rows with `least` items behind it; count places and those items."""
    row, place = kept
    n, total = 0, np.int64(0)
    for at in range(levels.begin[here], levels.begin[here + 1]):
        tail = indptr[levels.row[at] + 1] - levels.place[at] - 1
        if tail >= least:
            row[n], place[n] = levels.row[at], levels.place[at]
            n += 1
            total += tail
    return n, total


@compiled
def add_supports(rows, places, lo, hi, item, m, supports):
    """Add up the supports of the items behind ``places[lo:hi]``, and write these to `item` from m on.

    There must be room for them. Returns where they end.
    """
    indptr, items, weights = rows
    for at in range(lo, hi):
        row = places.row[at]
        for p in range(places.place[at] + 1, indptr[row + 1]):
            x = np.int64(items[p])
            if supports[x] == 0:
                item[m] = x
                m += 1
            supports[x] += weights[row]
    return m


@compiled
def mark_items(indptr, items, kept, n, levels, d, slot):
    """Write the items behind the first n places `kept`, in order, as those of level d + 1; return their end.

    Items whose `slot` is not 0 are skipped; that of the others becomes 1. There must be room for them.
    """
    item, m0 = levels.item, levels.end[d] + 1
    m = m0
    for at in range(n):
        for p in range(kept.place[at] + 1, indptr[kept.row[at] + 1]):
            x = np.int64(items[p])
            if slot[x] == 0:
                slot[x] = 1
                item[m] = x
                m += 1
    sort_piece(item, m0, m)
    return m


@compiled
def add_level(indptr, items, kept, n, levels, d, m, slot):
    """Write the places of the items of level d + 1 behind the first n places `kept`; they end before m.

    Their `slot`, and no other, is 1 before, and 0 afterwards. There must be room for them and their places.
    """
    m0 = levels.end[d] + 1
    item, begin, row, place, current, end = levels
    for at in range(n):
        for p in range(kept.place[at] + 1, indptr[kept.row[at] + 1]):
            x = np.int64(items[p])
            if slot[x] > 0:
                slot[x] += 1
    begin[m0] = begin[m0 - 1]
    for i in range(m0, m):
        begin[i + 1] = begin[i] + slot[item[i]] - 1
        slot[item[i]] = begin[i] + 1
    for at in range(n):
        for p in range(kept.place[at] + 1, indptr[kept.row[at] + 1]):
            x = np.int64(items[p])
            if slot[x] > 0:
                row[slot[x] - 1], place[slot[x] - 1] = kept.row[at], p
                slot[x] += 1
    for x in item[m0:m]:
        slot[x] = 0
    current[d + 1], end[d + 1] = m0, m


@compiled
def holding(rows, holders, itemset):
    """Find the rows that contain all items of an ascending, nonempty itemset."""
    indptr, items, starts = rows.indptr, rows.items, holders.starts
    rarest = itemset[0]
    for x in itemset:
        if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
            rarest = x
    out = np.empty(starts[rarest + 1] - starts[rarest], np.int64)
    found = 0
    for at in range(starts[rarest], starts[rarest + 1]):
        row = holders.rows[at]
        i, p = 0, indptr[row]
        while i < itemset.size and p < indptr[row + 1] and items[p] <= itemset[i]:
            if items[p] == itemset[i]:
                i += 1
            p += 1
        if i == itemset.size:
            out[found] = row
            found += 1
    return out[:found]
