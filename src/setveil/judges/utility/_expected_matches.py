"""The expected number of published rows that match a query."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled


@compiled
def _label_in(indptr, labels, row, cover_starts, covers, item):
    """Find the place in `covers` of the first label that represents the item and that the row holds."""
    for at in range(cover_starts[item], cover_starts[item + 1]):
        lo, end = indptr[row], indptr[row + 1]
        hi = end
        while lo < hi:
            mid = (lo + hi) // 2
            if labels[mid] < covers[at]:
                lo = mid + 1
            else:
                hi = mid
        if lo < end and labels[lo] == covers[at]:
            return at
    return np.int64(-1)


@compiled
def _first_from(tidlists, low, end, row):
    """Find the first place from `low` of a row number of at least `row` in an ascending list, or the end."""
    high, step = low, 1
    while high < end and tidlists[high] < row:
        low = high + 1
        high += step
        step *= 2
    high = min(high, end)
    while low < high:
        middle = (low + high) // 2
        if tidlists[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _rows_with_all(weights, starts, tidlists, labels, pivot, probability):
    """Sum the probability over the rows that hold all of some labels; `pivot`: the one that fewest hold."""
    at = np.empty(labels.size, np.int64)
    for j in range(labels.size):
        at[j] = starts[labels[j]]
    estimate = 0.0
    for slot in range(starts[labels[pivot]], starts[labels[pivot] + 1]):
        row = np.int64(tidlists[slot])
        inside = True
        for j in range(labels.size):
            end = starts[labels[j] + 1]
            at[j] = _first_from(tidlists, at[j], end, row)
            if at[j] == end or tidlists[at[j]] != row:
                inside = False
                break
        if inside:
            estimate += weights[row] * probability
    return estimate


@compiled
def _chance(scale, labels):
    """Return the probability that labels of a row, one for each item, yield all the items."""
    probability = 1.0
    for j in range(labels.size):
        probability *= 0.5
        known = False
        for other in range(j):
            known = known or labels[other] == labels[j]
        if not known:
            probability *= scale[labels[j]]
    return probability


@compiled
def _have_one(cover_starts, query):
    """Whether one label represents each item of a query."""
    others = 0
    for item in query:
        others += cover_starts[item + 1] - cover_starts[item] != 1
    return others == 0


@compiled
def expected_matches(indptr, labels, weights, starts, tidlists, scale, cover_starts, covers, query):
    """Sum over the distinct published rows the probability that a row's labels yield all items of the query.

    A label of s items yields t of them at once with probability 2^-t / (1 - 2^-s), independently of other
    labels (`scale`: 1 / (1 - 2^-s)). Of several labels of an item in a row, the first one in `covers` counts.
    """
    # Walk over the rows of the item that fewest rows can hold.
    pivot = 0
    fewest = np.int64(-1)
    for j in range(query.size):
        total = np.int64(0)
        for at in range(cover_starts[query[j]], cover_starts[query[j] + 1]):
            total += starts[covers[at] + 1] - starts[covers[at]]
        if fewest < 0 or total < fewest:
            pivot, fewest = j, total
    found = np.empty(query.size, np.int64)
    if _have_one(cover_starts, query):
        for j in range(query.size):
            found[j] = covers[cover_starts[query[j]]]
        return _rows_with_all(weights, starts, tidlists, found, pivot, _chance(scale, found))
    estimate = 0.0
    item = query[pivot]
    for at in range(cover_starts[item], cover_starts[item + 1]):
        for slot in range(starts[covers[at]], starts[covers[at] + 1]):
            row = np.int64(tidlists[slot])
            if at > cover_starts[item] and _label_in(indptr, labels, row, cover_starts, covers, item) != at:
                continue  # another label of the pivot counts in this row
            inside = True
            for j in range(query.size):
                place = at
                if j != pivot:
                    place = _label_in(indptr, labels, row, cover_starts, covers, query[j])
                if place < 0:
                    inside = False
                    break
                found[j] = covers[place]
            if inside:
                estimate += weights[row] * _chance(scale, found)
    return estimate
