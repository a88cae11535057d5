"""Groups of rows 1..n in band order around sensitive ones; rows 0 and n + 1 are empty ends, never taken."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece


@compiled
def _remaining(link, row):
    """Find the first row from `row` on that is in no group; `link` leads in one direction."""
    root = row
    while link[root] != root:
        root = link[root]
    while link[row] != root:  # next time it is one step
        link[row], row = root, link[row]
    return np.int64(root)


@compiled
def _place_of(indptr, items, row, item):
    for p in range(indptr[row], indptr[row + 1]):
        if items[p] == item:
            return p
    return np.int64(-1)


@compiled
def _without(link, beyond, indptr, items, row, item):
    """Find the first remaining row from `row` on that lacks a sensitive item.

    ``beyond[p]`` leads past rows taken or with the item of occurrence p, so that none is walked over twice.
    """
    end = _remaining(link, row)
    p = _place_of(indptr, items, end, item)
    while p >= 0:
        end = _remaining(link, beyond[p])
        p = _place_of(indptr, items, end, item)
    row = _remaining(link, row)
    while row != end:
        p = _place_of(indptr, items, row, item)
        row = _remaining(link, beyond[p])
        beyond[p] = end
    return end


@compiled
def _next_candidate(link, beyond, indptr, items, row, center):
    """Find the first remaining row from `row` on that shares no sensitive item with `center`."""
    found = _remaining(link, row)
    while True:
        before = found
        for p in range(indptr[center], indptr[center + 1]):
            found = _without(link, beyond, indptr, items, found, items[p])
        if found == before:
            return found


@compiled
def form_groups(indptr, items, s_indptr, s_items, tried, links, beyond, left, group, state, p, reach, budget):
    """Form groups of p rows around sensitive rows, until `budget` items of candidates have been looked at.

    The rows are numbered 0..n + 1, with their QID and sensitive (s_) items; `tried` are the sensitive rows,
    in band order; `reach` candidates before and after are looked at. Changed:

    - links: int64 (2, n + 2), backward and forward; each row leads to itself as long as it remains
    - beyond: int64 (2, sensitive occurrences), backward and forward, see `_without`; at first the row before
      and after
    - left: int64 (sensitive items,), occurrences outside the groups so far
    - group: int64 (n + 2,), -1 for none
    - state: int64 (4,), how many of `tried` are done, groups, rows that remain; and the number of QID items
    """
    n = group.size - 2
    before, after = links[0], links[1]
    candidates, keys = np.empty(2 * reach, np.int64), np.empty(2 * reach, np.int64)
    members = np.empty(p, np.int64)
    shared = np.zeros(state[3], np.bool_)
    inside = np.zeros(left.size, np.bool_)
    looked_at = 0
    while state[0] < tried.size and looked_at < budget:
        t = tried[state[0]]  # line 4
        state[0] += 1
        if group[t] >= 0:
            continue
        found = 0  # line 5
        row = t
        for _ in range(reach):
            row = _next_candidate(before, beyond[0], s_indptr, s_items, row - 1, t)
            if row == 0:
                break
            candidates[found] = row
            found += 1
        row = t
        for _ in range(reach):
            row = _next_candidate(after, beyond[1], s_indptr, s_items, row + 1, t)
            if row == n + 1:
                break
            candidates[found] = row
            found += 1

        for q in range(indptr[t], indptr[t + 1]):  # line 6
            shared[items[q]] = True
        longest = indptr[t + 1] - indptr[t]
        for c in range(found):
            row = candidates[c]
            missed = longest
            for q in range(indptr[row], indptr[row + 1]):
                if shared[items[q]]:
                    missed -= 1
            looked_at += 1 + indptr[row + 1] - indptr[row]
            keys[c] = 2 * (missed * (n + 1) + abs(row - t)) + (row > t)
        for q in range(indptr[t], indptr[t + 1]):
            shared[items[q]] = False
        members[0] = t
        size = 1
        for q in range(s_indptr[t], s_indptr[t + 1]):
            inside[s_items[q]] = True
        sort_piece(keys, 0, found)
        for key in keys[:found]:
            if size == p:
                break
            away = key // 2 % (n + 1)
            row = t + away if key % 2 == 1 else t - away
            fits = True
            for q in range(s_indptr[row], s_indptr[row + 1]):
                fits = fits and not inside[s_items[q]]
            if fits:
                for q in range(s_indptr[row], s_indptr[row + 1]):
                    inside[s_items[q]] = True
                members[size] = row
                size += 1

        good = size == p
        if good:  # lines 7 and 8
            for s in range(left.size):
                good = good and (left[s] - inside[s]) * p <= state[2] - p
        for j in range(size):
            row = members[j]
            for q in range(s_indptr[row], s_indptr[row + 1]):
                inside[s_items[q]] = False
                left[s_items[q]] -= good
            if good:
                group[row] = state[1]
                before[row] = row - 1
                after[row] = row + 1
        if good:  # line 9
            state[1] += 1
            state[2] -= p
