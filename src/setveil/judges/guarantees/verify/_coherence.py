"""The loops of the verifier of (h, k, p)-coherence, over plain arrays; no kernel of an algorithm is used."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.judges.guarantees.verify._projection import Places, add_supports, holding

PAUSE = 50_000_000  # steps between two reports of progress


@compiled
def search(rows, private, holders, k, limit, largest, state, path, heads, counts):
    """Look for a violation of two or more items, or one that betrays; 0: none up to item ``state[0]``.

    Returns the length of the violation in `path`. Level d has the rows of path[:d], each with the place up to
    which it is read; rows wait in chains, one per item, until the turn of that item.
    """
    indptr, items, weights = rows
    n, supports, sums = holders.starts.size - 1, counts[0], counts[1]
    row_of, place_of, chain = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    item_of = np.empty(1024, np.int64)
    first, end = np.zeros(largest + 2, np.int64), np.zeros(largest + 2, np.int64)
    current = np.zeros(largest + 2, np.int64)
    calm = np.zeros(largest + 2, np.int64)  # no private item is in too many of any k rows of a level
    steps = np.int64(0)
    d = 0
    while True:
        if d == 0:
            if state[0] >= n or steps > PAUSE:
                return 0
            x = state[0]
            state[0] += 1
            begin, here = holders.starts[x], holders.starts[x + 1] - holders.starts[x]
            if here == 0:
                continue
            while here > row_of.size:
                row_of = np.concatenate((row_of, np.empty_like(row_of)))
                place_of, chain = (
                    np.concatenate((place_of, np.empty_like(place_of))),
                    np.concatenate((chain, chain)),
                )
            for at in range(here):
                row_of[at], place_of[at] = holders.rows[begin + at], holders.places[begin + at]
            first[2] = here
        else:
            if current[d] == end[d]:
                d -= 1
                continue
            x = item_of[current[d]]
            current[d] += 1
            while 2 * first[d + 1] - first[d] > row_of.size:  # at most all rows of the level go on
                row_of = np.concatenate((row_of, np.empty_like(row_of)))
                place_of, chain = (
                    np.concatenate((place_of, np.empty_like(place_of))),
                    np.concatenate((chain, chain)),
                )
            first[d + 2] = _move_on(indptr, items, row_of, place_of, chain, heads, d, x, first[d + 1])
        path[d] = x
        d += 1
        support, total, peak = np.int64(0), np.int64(0), np.int64(0)
        lo, hi = first[d], first[d + 1]
        for at in range(lo, hi):
            support += weights[row_of[at]]
            total += indptr[row_of[at] + 1] - place_of[at] - 1
        if calm[d - 1] == 0:
            peak, looked = _greatest_count(private, row_of, lo, hi, sums)
            steps += looked
            if peak > limit[support]:
                return d
        calm[d] = peak <= limit[k]
        m0 = end[d - 1]
        current[d], end[d] = m0, m0
        if d == largest:
            continue
        steps += total + hi - lo
        while m0 + min(total, n) > item_of.size:
            item_of = np.concatenate((item_of, np.empty_like(item_of)))
        m = add_supports(rows, Places(row_of, place_of), lo, hi, item_of, m0, supports)
        whole = np.int64(0)  # rows that hold all of these items
        for at in range(lo, hi):
            if indptr[row_of[at] + 1] - place_of[at] - 1 == m - m0:
                whole += weights[row_of[at]]
        broken = np.int64(-1)
        for i in range(m0, m):
            if supports[item_of[i]] < k:
                broken = item_of[i]
            supports[item_of[i]] = 0
        if broken >= 0:
            path[d] = broken
            return d + 1
        if (whole >= k and peak <= limit[whole]) or (calm[d] == 1 and d + 1 == largest):
            continue
        sort_piece(item_of, m0, m)
        end[d] = m
        for at in range(lo, hi):
            p = place_of[at] + 1
            if p < indptr[row_of[at] + 1]:
                chain[at] = heads[d, items[p]]
                heads[d, items[p]] = at


@compiled
def _move_on(indptr, items, row_of, place_of, chain, heads, d, x, to):
    """Copy the rows of level d that wait for item x from `to` on; there they wait for their next one."""
    at = heads[d, x]
    heads[d, x] = -1
    while at >= 0:
        after = chain[at]
        place_of[at] += 1
        row_of[to], place_of[to] = row_of[at], place_of[at]
        to += 1
        p = place_of[at] + 1
        if p < indptr[row_of[at] + 1]:
            chain[at] = heads[d, items[p]]
            heads[d, items[p]] = at
        at = after
    return to


@compiled
def _greatest_count(private, row_of, lo, hi, sums):
    """Return in how many of the rows the most frequent private item is, and how many items were looked at."""
    greatest, looked = np.int64(0), 0
    for at in range(lo, hi):
        row = row_of[at]
        for q in range(private.indptr[row], private.indptr[row + 1]):
            sums[private.secrets[q]] += private.counts[q]
            greatest = max(greatest, sums[private.secrets[q]])
    for at in range(lo, hi):
        for q in range(private.indptr[row_of[at]], private.indptr[row_of[at] + 1]):
            sums[private.secrets[q]] = 0
            looked += 1
    return greatest, looked


@compiled
def _is_listed(safe, path, skip):
    """Return whether a path without one of its items is among the sorted safe sets."""
    lo, hi = 0, safe.shape[0]
    while lo < hi:
        mid = (lo + hi) // 2
        order = 0
        for j in range(safe.shape[1]):
            x = path[j + 1] if j >= skip else path[j]
            if safe[mid, j] != x:
                order = -1 if safe[mid, j] < x else 1
                break
        if order == 0:
            return True
        if order < 0:
            lo = mid + 1
        else:
            hi = mid
    return False


@compiled
def extend(rows, private, holders, k, limit, safe, out, moles, counts, state):
    """Join safe sets with one more item each, from ``state[0]`` on, until `out` or the steps are used up."""
    indptr, items = rows.indptr, rows.items
    supports, most = counts[0], counts[1]
    size = safe.shape[1]
    path = np.empty(size + 1, np.int64)
    pause = state[3] + PAUSE
    while state[0] < safe.shape[0]:
        at = state[0]
        # The sets up to `last` share all items but the last with set `at`: each may join it.
        last = _siblings_end(safe, at)
        if state[1] + last - at > out.shape[0] or state[3] > pause:
            return
        state[0] += 1
        if last == at + 1:
            continue
        path[:size] = safe[at]
        # How many of its rows hold each other item, and at most how many of these a private item.
        there = holding(rows, holders, path[:size])
        for row in there:
            for p in range(indptr[row], indptr[row + 1]):
                supports[items[p]] += rows.weights[row]
            state[3] += indptr[row + 1] - indptr[row]
        fewest = holders.starts[path[0] + 1] - holders.starts[path[0]]
        for x in path[1:size]:
            fewest = min(fewest, holders.starts[x + 1] - holders.starts[x])
        state[3] += fewest + last - at
        _find_most(rows, private, there, limit[k], most, counts[2], state)
        for sibling in range(at + 1, last):
            x = safe[sibling, size - 1]
            times = supports[x]
            if times == 0:
                continue
            path[size] = x
            # If a part of it is not safe, a smaller violation has been found.
            listed = True
            for skip in range(size - 1):
                if not _is_listed(safe, path, skip):
                    listed = False
                    break
            if not listed:
                continue
            # A violation is in fewer than k rows, or betrays a private item.
            if times < k or most[x] > limit[times]:
                if state[2] < moles.shape[0]:
                    moles[state[2]] = path
                state[2] += 1
            else:
                out[state[1]] = path
                state[1] += 1
        for row in there:
            for p in range(indptr[row], indptr[row + 1]):
                supports[items[p]], most[items[p]] = 0, 0


@compiled
def _siblings_end(safe, at):
    """Return where the sets end that share all items but the last with set `at`, the first of them."""
    last, size = at + 1, safe.shape[1]
    while last < safe.shape[0]:
        for j in range(size - 1):
            if safe[last, j] != safe[at, j]:
                return last
        last += 1
    return last


@compiled
def _find_most(rows, private, there, least, most, sums, state):
    """Find, for each item, how many rows with it share a private item that more than `least` hold."""
    indptr, items = rows.indptr, rows.items
    n_pairs = 0
    for row in there:
        for q in range(private.indptr[row], private.indptr[row + 1]):
            sums[private.secrets[q]] += private.counts[q]
    for row in there:
        for q in range(private.indptr[row], private.indptr[row + 1]):
            n_pairs += sums[private.secrets[q]] > least
    pair, who = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
    place, met = np.empty(n_pairs, np.int64), 0
    for row in there:
        for q in range(private.indptr[row], private.indptr[row + 1]):
            if sums[private.secrets[q]] > least:
                pair[met], who[met], place[met] = row, np.int64(private.secrets[q]) * n_pairs + met, q
                met += 1
    for row in there:
        for q in range(private.indptr[row], private.indptr[row + 1]):
            sums[private.secrets[q]] = 0
    sort_piece(who, 0, n_pairs)  # by the private item, then by the row
    lo = 0
    while lo < n_pairs:
        hi = lo
        while hi < n_pairs and who[hi] // n_pairs == who[lo] // n_pairs:
            row = pair[who[hi] % n_pairs]
            for p in range(indptr[row], indptr[row + 1]):
                sums[items[p]] += private.counts[place[who[hi] % n_pairs]]
            state[3] += indptr[row + 1] - indptr[row]
            hi += 1
        for e in range(lo, hi):
            row = pair[who[e] % n_pairs]
            for p in range(indptr[row], indptr[row + 1]):
                most[items[p]] = max(most[items[p]], sums[items[p]])
                sums[items[p]] = 0
        lo = hi
