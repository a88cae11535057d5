"""Search for the least supports of rows with all threads, some of the first items at a time.

A set is in the shard of its first, its rarest item. Some shards are searched at a time, each from what was
known before: so neither the result, nor where a search gives up, depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.threads import each
from setveil.judges.attacker._least_supports import LeastSupportSearch
from setveil.kernels.rows import Ints, Ranked, frozen

SHARDS, TOGETHER = 32, 8
WORTH = 200_000  # occurrences, and what follows each in its row, that are a shard's at least
STEPS_AT_ONCE = 20_000_000
TRIED = 8  # first items that tell how long a search of that many shards would take
HOPELESS = 4  # times the effort: a search that would take more is not begun


@dataclass(frozen=True)
class SearchCount:
    """The result of a search."""

    finished: bool  # whether it came to its end
    steps: int  # how many it made
    # below, inverse: see `LeastSupportSearch`; without limits there is nothing in them
    below: Ints
    inverse: NDArray[np.float64]


def least_supports(
    rows: Ranked,
    m: int,
    floor: Ints,
    best: Ints,
    effort: int,
    tick: Callable[[float], None],
    limits: Ints | None = None,
) -> SearchCount:
    """Search for least supports as `LeastSupportSearch` does, in shards, for at most 2 `effort` steps."""
    work = _work(rows, m)
    shards = _first_items(work, m)
    lengths = rows.lengths
    nothing = frozen(np.zeros(0, np.int64), np.int64)
    if (
        len(shards) == SHARDS
        and work.any()
        and _is_hopeless(rows, lengths, m, floor, best, effort, limits, work)
    ):
        return SearchCount(False, 0, nothing, nothing.astype(np.float64))
    parts: list[SearchCount] = []
    left = effort
    for start in range(0, len(shards), TOGETHER):
        tick(start / len(shards))
        group = shards[start : start + TOGETHER]
        most = left if len(shards) == 1 else max(2 * left // len(group), 1)

        def search(shard: tuple[int, int], most: int = most) -> tuple[SearchCount, Ints, Ints]:
            one, members, found = _searched(rows, lengths, shard, m, floor, best, most, limits)
            return SearchCount(one.finished, one.steps, one.below, one.inverse), members, found

        for part, members, found in each(search, group):
            best[members] = np.minimum(best[members], found)
            left -= part.steps
            parts.append(part)
        if left <= 0 or not all(part.finished for part in parts):
            break
    return SearchCount(
        len(parts) == len(shards) and all(part.finished for part in parts),
        sum(part.steps for part in parts),
        np.sum([part.below for part in parts], axis=0),
        np.sum([part.inverse for part in parts], axis=0),
    )


def _searched(
    rows: Ranked,
    lengths: Ints,
    shard: tuple[int, int],
    m: int,
    floor: Ints,
    best: Ints,
    most: int,
    limits: Ints | None,
) -> tuple[LeastSupportSearch, Ints, Ints]:
    """Search among sets that begin with some items: the search, its rows, and what it found of these."""
    local, members = _beginning_with(rows, *shard, m)
    found = best[members]
    one = LeastSupportSearch(
        local, m, floor[members], found, most, limits,
        lengths=lengths[members], longest=int(lengths.max(initial=0)), last=shard[1],
    )  # fmt: skip
    while one.search(STEPS_AT_ONCE):
        pass
    return one, members, found


def _is_hopeless(
    rows: Ranked,
    lengths: Ints,
    m: int,
    floor: Ints,
    best: Ints,
    effort: int,
    limits: Ints | None,
    work: Ints,
) -> bool:
    """Estimate from first items, drawn by `work`, whether a search takes over four times the effort."""
    ends = np.cumsum(work)
    some = np.searchsorted(ends, (2 * np.arange(TRIED) + 1) * int(ends[-1]) // (2 * TRIED), side="right")
    times = 0.0  # what a search takes of the work
    for item in some.tolist():
        enough = 2 * HOPELESS * effort * int(work[item]) // int(ends[-1]) + 1
        one, _, _ = _searched(rows, lengths, (item, item + 1), m, floor, best, enough, limits)
        times += min(one.steps, enough) / int(work[item])
    return times * int(ends[-1]) > TRIED * HOPELESS * effort


def _work(rows: Ranked, m: int) -> Ints:
    """Count, for each item, what stands from it on in rows that hold a set of m which begins with it."""
    work = np.zeros(rows.order.size, np.int64)
    if m > 1:  # all items are counted at once
        _behind(*rows[:2], m, work)
    return work


def _first_items(work: Ints, m: int) -> list[tuple[int, int]]:
    """Cut the items into ranges for which there is about as much to do."""
    if m == 1:
        return [(0, work.size)]
    total = np.cumsum(work)
    n = int(min(max(total[-1] // WORTH, 1), SHARDS)) if work.size else 1
    bounds = np.searchsorted(total, np.arange(1, n) * total[-1] // n) + 1 if n > 1 else []
    return [(a, b) for a, b in pairwise([0, *map(int, bounds), work.size]) if a < b] or [(0, 0)]


def _beginning_with(rows: Ranked, first: int, last: int, m: int) -> tuple[Ranked, Ints]:
    """Cut rows with one of some items down to these and at least m - 1 that follow; and say which rows."""
    if (first, last) == (0, rows.order.size):
        return rows, frozen(np.arange(rows.weights.size), np.int64)
    has_one = np.zeros(rows.weights.size, np.bool_)
    has_one[rows.tidlists[rows.starts[first] : rows.starts[last]]] = True
    among = np.flatnonzero(has_one)
    indptr, members = np.zeros(among.size + 1, np.int64), np.zeros(among.size, np.int64)
    n = _measure(*rows[:2], frozen(among, np.int64), first, m, indptr, members)
    indptr, members = frozen(indptr[: n + 1], np.int64), frozen(members[:n], np.int64)
    items = np.empty(int(indptr[-1]), np.int32)
    _cut(*rows[:2], members, indptr, items)
    return rows._replace(
        indptr=indptr, items=frozen(items, np.int32), weights=frozen(rows.weights[members], np.int64)
    ), members


@compiled
def _behind(indptr, items, m, work):
    """Add, for each item, the items from it on in rows that contain a set of m beginning with it."""
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1] - m + 1):
            work[items[p]] += indptr[row + 1] - p


@compiled
def _measure(indptr, items, among, first, m, out_ptr, members):
    """Choose the rows that have m items from `first` on, and add up how many each has."""
    n = 0
    for row in among:
        p = indptr[row]
        while items[p] < first:
            p += 1
        if indptr[row + 1] - p >= m:
            members[n] = row
            out_ptr[n + 1] = out_ptr[n] + indptr[row + 1] - p
            n += 1
    return n


@compiled
def _cut(indptr, items, members, out_ptr, out):
    """Copy the ends of rows."""
    for i in range(members.size):
        start, stop = out_ptr[i], out_ptr[i + 1]
        end = indptr[members[i] + 1]
        out[start:stop] = items[end - (stop - start) : end]
