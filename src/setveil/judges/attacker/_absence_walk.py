"""The walk over sets of known items, with the absent one that leaves fewest rows of each."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece

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

    Rows are distinct, ascending, with `weights`; `ends`, `facts` are the signs that each shows
    (`setveil.judges.attacker.absence`); `starts`, `holders` the rows with each item. `fewest`, int64 (n,),
    rows that fit each row, is lowered; `known`, bool (n,), says if anything can be known of it.
    """
    count = np.zeros(n_facts, np.int64)
    order = np.empty(n_facts, np.int64)
    if first < 0:
        everything = np.arange(weights.size)
        _exclude(everything, weights, ends, facts, n_facts, False, count, order, fewest, known)
        return
    there = starts[first + 1] - starts[first]
    if there == 0:
        return
    width = np.int64(0)
    for p in range(starts[first], starts[first + 1]):
        width += indptr[holders[p] + 1] - indptr[holders[p]]
    # At place d are the rows of sets of d + 1 items, one set after another, and where each row goes on.
    held = np.empty((m, max(width, there)), np.int64)
    onward = np.empty((m, max(width, there)), np.int64)
    for i in range(there):
        row = holders[starts[first] + i]
        held[0, i] = row
        onward[0, i] = _place(items, indptr[row], indptr[row + 1], first + 1)
    _exclude(held[0, :there], weights, ends, facts, n_facts, True, count, order, fewest, known)
    if m == 1 or _is_settled(held[0, :there], weights, fewest, known):
        return
    n_items = starts.size - 1
    number = np.zeros(n_items, np.int64)  # rows by their next item; zero between two uses
    follows = np.empty(n_items, np.int64)
    borders = np.empty((m, n_items + 1), np.int64)  # of the sets that go on from one, at the next place
    last = np.zeros(m, np.int64)
    looking = np.zeros(m, np.int64)
    last[0] = _go_on(indptr, items, held, onward, 0, 0, there, number, follows, borders[0])
    d = np.int64(0)
    while d >= 0:
        if looking[d] == last[d]:
            d -= 1
            continue
        start, end = borders[d, looking[d]], borders[d, looking[d] + 1]
        looking[d] += 1
        if end - start == 1:
            row = held[d + 1, start]
            fewest[row], known[row] = weights[row], True
            continue
        some = held[d + 1, start:end]
        if _is_settled(some, weights, fewest, known):
            continue
        _exclude(some, weights, ends, facts, n_facts, True, count, order, fewest, known)
        if d + 2 < m and not _is_settled(some, weights, fewest, known):
            d += 1
            looking[d] = 0
            last[d] = _go_on(indptr, items, held, onward, d, start, end, number, follows, borders[d])


@compiled
def _go_on(indptr, items, held, onward, d, start, end, number, follows, borders):
    """Put the rows of a set by their next item, at the next place; return how many items follow."""
    n_follows = np.int64(0)
    for i in range(start, end):
        for p in range(onward[d, i], indptr[held[d, i] + 1]):
            if number[items[p]] == 0:
                follows[n_follows] = items[p]
                n_follows += 1
            number[items[p]] += 1
    borders[0] = 0
    for f in range(n_follows):
        borders[f + 1] = borders[f] + number[follows[f]]
        number[follows[f]] = borders[f]
    for i in range(start, end):
        for p in range(onward[d, i], indptr[held[d, i] + 1]):
            at = number[items[p]]
            held[d + 1, at] = held[d, i]
            onward[d + 1, at] = p + 1
            number[items[p]] = at + 1
    for f in range(n_follows):
        number[follows[f]] = 0
    return n_follows


@compiled
def _is_settled(some, weights, fewest, known):
    """Say whether all of `some` rows fit as many as are the same: then no knowledge reveals more."""
    for row in some:  # noqa: SIM110  (compiled)
        if not known[row] or fewest[row] > weights[row]:
            return False
    return True


@compiled
def _exclude(some, weights, ends, facts, n_facts, alone, count, order, fewest, known):
    """Lower the fewest matches of `some` rows with a set of items; `alone`: also if nothing is absent."""
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
