"""All itemsets of m items, never listed: which one to protect next while items merge or vanish.

An itemset p is unsatisfied iff a subset of its image has support in (0, k). The image J of p is a set of at
most m groups, and what becomes of p depends on J alone. So the search is for sets of groups: for those of m
groups, and for smaller ones that some p of m items has as its image (p then holds further members of the same
groups, or suppressed items: J is *padded* with the smallest of them). The support of J is that of its groups,
which never changes as long as they exist. Every J belongs to its newest group, and to the source (newest
group, size). Sets never join a source, they only leave it, when one of their groups merges or vanishes.
Therefore a source is searched once for the sets of greatest support, and again only when all of those are
gone; and what it was last known to have bounds what it has. The sources are in a heap by these bounds, and
only the first is looked at until what it has is what its bound says.

Where no image that occurs has support in (0, k), there can still be a threatened set J that is no image. Then
any p that includes J is unsatisfied and occurs in no row; J is padded with the smallest items of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.item_groups import TICK, WORK, Groups
from setveil.kernels.rows import Ids, Ints

FOUND, NONE, PAUSED = range(3)
CAPACITY = 64  # sets that a source keeps
LARGEST = np.int32(2**31 - 1)


class Sources(NamedTuple):
    """For each newest group g and size j, at number ``g * m + j - 1``: sets of groups of one support."""

    made: Ints  # int64 (n * m,): stamp of the group when it was searched; another stamp: not searched yet
    level: Ints  # int64 (n * m,): support of the sets found; 0: there are none
    # found, cursor: int64 (n * m,): number of sets found, and the first of them that may still exist
    found: Ints
    cursor: Ints
    more: NDArray[np.bool_]  # bool (n * m,): whether there may be further sets, of this support or less
    sets: Ids  # int32 (n * m, capacity, m): the sets found, in order
    # bound, key: int64 (n * m,), int64 (n * m, m): support of what the source has at most, and the itemset
    # that comes first; -1 for an unknown one
    bound: Ints
    key: Ints
    # heap, place: int64 (n * m,): the sources that may have sets, one of greatest bound first, among equals
    # of least key; and where a source is among them, -1 if it is not
    heap: Ints
    place: Ints
    n_queued: Ints  # int64 (1,): how many are


def make_sources(s: Groups, m: int, capacity: int) -> Sources:
    """Make the sources of all groups, none of them searched yet."""
    n = s.group.size * m
    out = Sources(
        made=np.full(n, -1, np.int64),
        level=np.zeros(n, np.int64),
        found=np.zeros(n, np.int64),
        cursor=np.zeros(n, np.int64),
        more=np.zeros(n, np.bool_),
        sets=np.zeros((n, capacity, m), np.int32),
        bound=np.zeros(n, np.int64),
        key=np.full((n, m), -1, np.int64),
        heap=np.zeros(n, np.int64),
        place=np.full(n, -1, np.int64),
        n_queued=np.zeros(1, np.int64),
    )
    for g in np.flatnonzero(s.stamp >= 0).tolist():
        add_sources(out, g, m)
    return out


@compiled
def _is_less(a, b):
    for i in range(a.size):
        if a[i] != b[i]:
            return a[i] < b[i]
    return False


@compiled
def _is_first(sources, a, b):
    """Whether source a comes before b."""
    if sources.bound[a] != sources.bound[b]:
        return sources.bound[a] > sources.bound[b]
    return _is_less(sources.key[a], sources.key[b])


@compiled
def _rise(sources, source):
    """Move a source that comes earlier now, or is new at the end of the heap."""
    at = sources.place[source]
    while at > 0:
        above = (at - 1) // 2
        other = sources.heap[above]
        if not _is_first(sources, source, other):
            break
        sources.heap[at], sources.place[other] = other, at
        at = above
    sources.heap[at], sources.place[source] = source, at


@compiled
def _sink(sources, source):
    """Move a source that comes later now."""
    at = sources.place[source]
    while 2 * at + 1 < sources.n_queued[0]:
        below = 2 * at + 1
        if below + 1 < sources.n_queued[0] and _is_first(
            sources, sources.heap[below + 1], sources.heap[below]
        ):
            below += 1
        other = sources.heap[below]
        if not _is_first(sources, other, source):
            break
        sources.heap[at], sources.place[other] = other, at
        at = below
    sources.heap[at], sources.place[source] = source, at


@compiled
def _drop_first(sources):
    """Take the first source out of the heap."""
    sources.place[sources.heap[0]] = -1
    sources.n_queued[0] -= 1
    if sources.n_queued[0] > 0:
        last = sources.heap[sources.n_queued[0]]
        sources.heap[0], sources.place[last] = last, 0
        _sink(sources, last)


@compiled
def add_sources(sources, g, largest):
    """Search for sets of up to `largest` groups with g as the newest (again)."""
    m = sources.sets.shape[2]
    for source in range(g * m, g * m + largest):
        sources.made[source] = -1
        sources.bound[source] = LARGEST
        sources.key[source] = -1
        if sources.place[source] < 0:
            sources.place[source] = sources.n_queued[0]
            sources.n_queued[0] += 1
        _rise(sources, source)


@compiled
def forget_keys(sources):
    """Order the sources again because sets of fewer than m groups are padded with other items now."""
    m = sources.sets.shape[2]
    for source in sources.heap[: sources.n_queued[0]]:
        if source % m + 1 < m:
            sources.key[source] = -1
    for at in range(sources.n_queued[0] // 2 - 1, -1, -1):
        _sink(sources, sources.heap[at])


@compiled
def _pad(s, chosen, spare, everywhere, key):
    """Write to `key` the first m-itemset whose image is `chosen` (or, `everywhere`, includes it)."""
    j, m = chosen.size, key.size
    for i in range(j):
        key[i] = chosen[i]
    last = np.int64(-1)
    for n in range(j, m):
        best = np.int64(LARGEST)
        for item in spare:
            if item > last:
                taken = False
                for g in chosen:
                    taken = taken or g == item
                if not taken:
                    best = min(best, np.int64(item))
                    break
        if not everywhere:
            for g in chosen:
                for i in range(1, s.smallest.shape[1]):
                    if s.smallest[g, i] > last:
                        best = min(best, np.int64(s.smallest[g, i]))
                        break
                    if s.smallest[g, i] < 0:
                        break
        last = best
        at = n
        while at > 0 and key[at - 1] > best:
            key[at] = key[at - 1]
            at -= 1
        key[at] = best


@compiled
def _copy(a, b):
    for i in range(a.size):
        b[i] = a[i]


@compiled
def _put(out, path, e, last, g):
    """Write the ascending groups of ``path[:e]``, a later one, and g, in order."""
    at = 0
    for i in range(e + 1):
        y = path[i] if i < e else np.int64(last)
        if at == i and g < y:
            out[at] = g
            at += 1
        out[at] = y
        at += 1
    if at == e + 1:
        out[at] = g


@compiled
def _older_groups(s, g, least):
    """Copy what the rows of group g hold of older groups, if at least this many: ptr, ids, weight."""
    total, n_rows = np.int64(0), np.int64(0)
    x = g
    while x >= 0:
        n_rows += s.starts[x + 1] - s.starts[x]
        for p in range(s.starts[x], s.starts[x + 1]):
            total += s.length[s.tidlists[p]]
        x = np.int64(s.following[x])
    s.clock[WORK] += total
    ids = np.empty(total, np.int32)
    ptr = np.zeros(n_rows + 1, np.int64)
    weight = np.empty(n_rows, np.int64)
    s.clock[TICK] += 1
    kept, end = 0, 0
    x = g
    while x >= 0:
        for p in range(s.starts[x], s.starts[x + 1]):
            row = s.tidlists[p]
            if s.mark[row] == s.clock[TICK]:
                continue
            s.mark[row] = s.clock[TICK]
            for q in range(s.indptr[row], s.indptr[row] + s.length[row]):
                if s.stamp[s.items[q]] < s.stamp[g]:
                    ids[end] = s.items[q]
                    end += 1
            if end - ptr[kept] < least:
                end = ptr[kept]
            else:
                weight[kept] = s.weights[row]
                kept += 1
                ptr[kept] = end
        x = np.int64(s.following[x])
    return ptr[: kept + 1], ids, weight[:kept]


@compiled
def _keep_greatest(s, k, path, e, g, n_touched, spare_size, out, level, count):
    """Keep sets of ``path[:e]``, one touched group and g of the greatest support below k, and count all."""
    j, m = e + 2, out.shape[1]
    size = s.size[g]
    for i in range(e):
        size += s.size[path[i]]
    seen, best = np.int64(0), np.int64(0)
    for i in range(n_touched):
        y = np.int64(s.touched[i])
        if s.tally[y] < k and (j == m or size + s.size[y] + spare_size >= m):
            seen += 1
            best = max(best, s.tally[y])
    if best == 0 or best < level:
        return level, count, seen
    if best > level:
        level, count = best, np.int64(0)
    ties = 0
    for i in range(n_touched):
        y = np.int64(s.touched[i])
        if s.tally[y] == best and (j == m or size + s.size[y] + spare_size >= m):
            s.touched[i], s.touched[ties] = s.touched[ties], s.touched[i]
            ties += 1
    sort_piece(s.touched, 0, ties)
    for i in range(min(ties, out.shape[0] - count)):
        _put(out[count], path, e, s.touched[i], g)
        count += 1
    return level, count, seen


@compiled
def _search_source(s, sources, source, k, spare, n_spare, upper, everywhere):
    """Search the sets of a source: of the greatest support in (0, k), at most `upper`, the first in order.

    With `everywhere`: the one set of support in (0, k) whose padding comes first.
    """
    m = sources.sets.shape[2]
    g, j = source // m, source % m + 1
    out = sources.sets[source]
    sources.made[source] = s.stamp[g]
    sources.level[source], sources.found[source], sources.cursor[source] = 0, 0, 0
    sources.more[source] = False
    spare_size = m if everywhere else n_spare  # how many items there are to pad with
    if j == m and everywhere:
        return  # images all of them
    if j < m and s.size[g] == 1 and j + spare_size < m:
        return  # groups older than a single item are single items
    if j == 1:
        if 0 < s.support[g] < k and (m == 1 or s.size[g] + spare_size >= m):
            out[0, 0] = g
            sources.level[source] = 1 if everywhere else s.support[g]
            sources.found[source] = 1
        return

    others = j - 1
    ptr, ids, weight = _older_groups(s, g, others)
    kept = weight.size

    # Level e holds the candidates for path[e], seg[e]..seg[e+1], in order, each with the places where it
    # stands behind path[:e]. The last element is only counted. (Not written as a recursion: numba cannot load
    # a recursive function from its cache.)
    level, count, seen, pruned = np.int64(0), np.int64(0), np.int64(0), False
    path = np.empty(others, np.int64)
    seg, current = np.zeros(j + 1, np.int64), np.zeros(j + 1, np.int64)
    candidate = np.empty(256, np.int32)
    have = np.empty(256, np.int64)
    begin = np.empty(257, np.int64)
    begin[0] = kept
    place_row, place = np.arange(kept + 1), ptr[: kept + 1] - 1
    key, first_key, chosen = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(j, np.int32)
    lo, hi = np.int64(0), np.int64(kept)
    e, deep = 0, -1
    while True:
        # Count what stands behind path[:e].
        t = 0
        for at in range(lo, hi):
            row = place_row[at]
            if ptr[row + 1] - place[at] <= others - e:
                continue
            for q in range(place[at] + 1, ptr[row + 1]):
                y = np.int64(ids[q])
                if s.tally[y] == 0:
                    s.touched[t] = y
                    t += 1
                s.tally[y] += weight[row]
                s.fill[y] += 1
            s.clock[WORK] += ptr[row + 1] - place[at]
        if e < others - 1:
            sort_piece(s.touched, 0, t)
            c = seg[e]
            while c + t + 1 > candidate.size:
                candidate = np.concatenate((candidate, np.empty_like(candidate)))
                have = np.concatenate((have, np.empty_like(have)))
                begin = np.concatenate((begin, np.empty_like(have)))
            top = begin[c]
            for i in range(t):
                y = np.int64(s.touched[i])
                candidate[c + i] = y
                have[c + i] = s.tally[y]
                begin[c + i] = top
                top += s.fill[y]
                s.fill[y] = begin[c + i]
            begin[c + t] = top
            while top > place.size:
                place_row = np.concatenate((place_row, np.empty_like(place_row)))
                place = np.concatenate((place, np.empty_like(place)))
            for at in range(lo, hi):
                row = place_row[at]
                if ptr[row + 1] - place[at] > others - e:
                    for q in range(place[at] + 1, ptr[row + 1]):
                        y = np.int64(ids[q])
                        place_row[s.fill[y]], place[s.fill[y]] = row, q
                        s.fill[y] += 1
            deep = e
            current[e], seg[e + 1] = c, c + t
        elif everywhere:
            for i in range(t):
                if s.tally[s.touched[i]] < k:
                    seen += 1
                    _put(chosen, path, e, s.touched[i], g)
                    _pad(s, chosen, spare, everywhere, key)
                    if count == 0 or _is_less(key, first_key):
                        _copy(key, first_key)
                        _copy(chosen, out[0])
                        level, count = np.int64(1), np.int64(1)
        else:
            level, count, more = _keep_greatest(s, k, path, e, g, t, spare_size, out, level, count)
            seen += more
        for i in range(t):
            s.tally[s.touched[i]], s.fill[s.touched[i]] = 0, 0
        if not everywhere and level == upper and count == out.shape[0]:
            pruned = True
            break

        # On to the next path; one that occurs less often than the sets found leads to none.
        while deep >= 0:
            at = current[deep]
            if at == seg[deep + 1]:
                deep -= 1
                continue
            current[deep] += 1
            if not everywhere and (have[at] < level or (have[at] == level and count == out.shape[0])):
                pruned = True
                continue
            path[deep] = candidate[at]
            lo, hi = begin[at], begin[at + 1]
            break
        if deep < 0:
            break
        e = deep + 1
    sources.level[source], sources.found[source] = level, count
    sources.more[source] = pruned or seen > count


@compiled
def _current(s, sources, source, key, spare, everywhere):
    m = key.size
    j = source % m + 1
    chosen = sources.sets[source, sources.cursor[source], :j]
    if j == m:
        _copy(chosen, key)
    else:
        _pad(s, chosen, spare, everywhere, key)


@compiled
def _exists(s, sources, source):
    """Whether the groups of a source's current set still are what they were when it was found."""
    m = sources.sets.shape[2]
    for i in range(source % m + 1):
        g = sources.sets[source, sources.cursor[source], i]
        if s.stamp[g] < 0 or s.stamp[g] > sources.made[source]:
            return False
    return True


@compiled
def next_unsatisfied(s, sources, k, spare, n_spare, everywhere, budget, first):
    """Find the unsatisfied m-itemset whose image has most support, the first of equals in item order.

    It is written to first: int64 (m,), and the state returned: FOUND, NONE or PAUSED (call again), which is
    due after work of `budget`. spare: int32, items to pad with, ascending: the smallest of the n_spare that
    are suppressed. With `everywhere`, threatened sets that are no images are looked for: `sources` keep one
    set each, and spare contains the smallest m of all items.
    """
    end = s.clock[WORK] + budget
    while sources.n_queued[0] > 0:
        source = sources.heap[0]
        stamp = s.stamp[source // first.size]
        if stamp < 0 or sources.bound[source] == 0:
            _drop_first(sources)
            continue
        if sources.made[source] == stamp and sources.cursor[source] < sources.found[source]:
            if not _exists(s, sources, source):
                sources.cursor[source] += 1
                sources.key[source] = -1
            elif sources.key[source, 0] < 0:
                _current(s, sources, source, sources.key[source], spare, everywhere)
                _sink(sources, source)
            else:
                _copy(sources.key[source], first)
                return FOUND
            continue
        if sources.made[source] == stamp and not sources.more[source]:
            _drop_first(sources)
            continue
        if s.clock[WORK] >= end:
            return PAUSED
        upper = min(sources.bound[source], np.int64(k - 1))
        _search_source(s, sources, source, k, spare, n_spare, upper, everywhere)
        sources.bound[source] = sources.level[source]
        sources.key[source] = -1
        _sink(sources, source)
    return NONE
