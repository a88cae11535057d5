"""The walk over sets of known items, with the absent one that leaves fewest rows of each."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled
from setveil.sorting import sort_piece

_ROOM = 1 << 31  # signs are below


@compiled
def _place(values, low, high, wanted):
    """Find the first of ascending values between two places that is at least `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def look_from(
    indptr, items, weights, ends, facts, starts, holders, n_facts, first, m, fewest, known
):  # fmt: skip
    """Look at the sets of at most m items that begin with `first`; -1: at the empty one.

    Parameters
    ----------
    indptr, items, weights
        Distinct rows, ascending, and how many rows each stands for.
    ends, facts
        The signs that each shows (see `setveil.attacker.absence`).
    starts, holders
        The rows that hold each item.
    n_facts, first, m : int
    fewest : int64 (n,), lowered
        The fewest rows that fit each row.
    known : bool (n,), written
        Whether anything can be known of a row.
    """
    n = weights.size
    count = np.zeros(n_facts, np.int64)
    order = np.empty(n_facts, np.int64)
    held = np.empty((m + 1, n), np.int64)
    size = np.zeros(m + 1, np.int64)
    next_item = np.zeros(m + 2, np.int64)
    if first < 0:
        everything = np.arange(n)
        _exclude(everything, weights, ends, facts, n_facts, False, count, order, fewest, known)
        return
    there = starts[first + 1] - starts[first]
    for i in range(there):
        held[1, i] = holders[starts[first] + i]
    d = np.int64(1)
    size[1] = there
    next_item[1] = first + 1
    if there:
        _exclude(held[1, :there], weights, ends, facts, n_facts, True, count, order, fewest, known)
    while there and d > 0:
        # The next item that some of these rows hold.
        z = np.int64(starts.size - 1)
        if d < m:
            for i in range(size[d]):
                row = held[d, i]
                at = _place(items, indptr[row], indptr[row + 1], next_item[d])
                if at < indptr[row + 1] and items[at] < z:
                    z = np.int64(items[at])
        if z == starts.size - 1:
            d -= 1
            continue
        next_item[d] = z + 1
        found = np.int64(0)
        for i in range(size[d]):
            row = held[d, i]
            at = _place(items, indptr[row], indptr[row + 1], z)
            if at < indptr[row + 1] and items[at] == z:
                held[d + 1, found] = row
                found += 1
        if found == 1:
            row = held[d + 1, 0]
            fewest[row], known[row] = weights[row], True
        elif not _is_settled(held[d + 1, :found], weights, fewest, known):
            d += 1
            size[d] = found
            next_item[d] = z + 1
            _exclude(held[d, :found], weights, ends, facts, n_facts, True, count, order, fewest, known)


@compiled
def _is_settled(some, weights, fewest, known):
    """Whether all of `some` rows fit no fewer than those that are the same: then no knowledge tells more."""
    for row in some:
        if not known[row] or fewest[row] > weights[row]:
            return False
    return True


@compiled
def _exclude(some, weights, ends, facts, n_facts, alone, count, order, fewest, known):
    """Lower the fewest of `some` rows, which hold a set of items; `alone`: also if nothing is absent."""
    support = np.int64(0)
    touched = np.int64(0)
    for row in some:
        support += weights[row]
        for p in range(ends[row], ends[row + 1]):
            if count[facts[p]] == 0:
                order[touched] = facts[p]
                touched += 1
            count[facts[p]] += weights[row]
    # Signs that most rows show come first.
    for t in range(touched):
        order[t] += (support - count[order[t]]) * _ROOM
    sort_piece(order, 0, touched)
    for row in some:
        least = support if alone or touched < n_facts else np.int64(-1)
        for t in range(touched):
            sign = order[t] % _ROOM
            at = _place(facts, ends[row], ends[row + 1], sign)
            if at == ends[row + 1] or facts[at] != sign:
                least = support - count[sign]
                break
        if least >= 0:
            known[row] = True
            fewest[row] = min(fewest[row], least)
    for t in range(touched):
        count[order[t] % _ROOM] = 0
