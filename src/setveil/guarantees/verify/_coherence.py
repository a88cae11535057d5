"""The loops of the verifier of (h, k, p)-coherence, over plain arrays; no kernel of an algorithm is used."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled
from setveil.sorting import sort_piece

PAUSE = 50_000_000  # steps between two reports of progress


@compiled
def search(
    indptr, items, weights, p_indptr, p_items, p_counts, starts, rows, places, k, limit, largest, state, path,
    heads, counts,
):  # fmt: skip
    """Look for a violation of two or more items, or one that betrays; 0: none up to item ``state[0]``.

    Returns the length of the violation in `path`. Level d holds the rows of path[:d], each with the place up
    to which it is read; rows wait in chains, one for each item, until that item's turn has come.
    """
    n = starts.size - 1
    sums, p_sums = counts[0], counts[1]
    row_of, place_of, chain = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    item_of = np.empty(1024, np.int64)
    first = np.zeros(largest + 2, np.int64)
    first_item, n_items, current = (
        np.zeros(largest + 2, np.int64), np.zeros(largest + 2, np.int64), np.zeros(largest + 2, np.int64),
    )  # fmt: skip
    calm = np.zeros(largest + 2, np.int64)
    steps = np.int64(0)
    d = 0
    while True:
        if d == 0:
            if state[0] >= n or steps > PAUSE:
                return 0
            y = state[0]
            state[0] += 1
            here = starts[y + 1] - starts[y]
            if here == 0:
                continue
            while here > row_of.size:
                row_of = np.append(row_of, np.empty_like(row_of))
                place_of, chain = np.append(place_of, np.empty_like(place_of)), np.append(chain, chain)
            for at in range(here):
                row_of[at], place_of[at] = rows[starts[y] + at], places[starts[y] + at] + 1
            first[1], first[2], first_item[1] = 0, here, 0
        else:
            if current[d] == n_items[d]:
                d -= 1
                continue
            y = item_of[first_item[d] + current[d]]
            current[d] += 1
            here, e = 0, heads[d, y]
            while e >= 0:
                here += 1
                e = chain[e]
            start = first[d + 1]
            while start + here > row_of.size:
                row_of = np.append(row_of, np.empty_like(row_of))
                place_of, chain = np.append(place_of, np.empty_like(place_of)), np.append(chain, chain)
            at, e = start, heads[d, y]
            heads[d, y] = -1
            while e >= 0:
                after = chain[e]
                place_of[e] += 1
                row_of[at], place_of[at] = row_of[e], place_of[e]
                at += 1
                if place_of[e] < indptr[row_of[e] + 1]:
                    z = items[place_of[e]]
                    chain[e] = heads[d, z]
                    heads[d, z] = e
                e = after
            first[d + 2] = start + here
            first_item[d + 1] = first_item[d] + n_items[d]
        path[d] = y
        d += 1
        support, found, peak = np.int64(0), 0, np.int64(0)
        lo, hi, i0 = first[d], first[d + 1], first_item[d]
        for at in range(lo, hi):
            support += weights[row_of[at]]
        if calm[d - 1] == 0 or d == 1:
            for at in range(lo, hi):
                row = row_of[at]
                for q in range(p_indptr[row], p_indptr[row + 1]):
                    p_sums[p_items[q]] += p_counts[q]
                    peak = max(peak, p_sums[p_items[q]])
            for at in range(lo, hi):
                for s in p_items[p_indptr[row_of[at]] : p_indptr[row_of[at] + 1]]:
                    p_sums[s] = 0
                    steps += 1
            if peak > limit[support]:
                return d
        calm[d] = 1 if peak <= limit[k] else 0
        current[d], n_items[d] = 0, 0
        if d == largest:
            continue
        for at in range(lo, hi):
            row = row_of[at]
            steps += indptr[row + 1] - place_of[at] + 1
            for p in range(place_of[at], indptr[row + 1]):
                z = items[p]
                if sums[z] == 0:
                    if i0 + found == item_of.size:
                        item_of = np.append(item_of, np.empty_like(item_of))
                    item_of[i0 + found] = z
                    found += 1
                sums[z] += weights[row]
        whole = np.int64(0)
        for at in range(lo, hi):
            if indptr[row_of[at] + 1] - place_of[at] == found:
                whole += weights[row_of[at]]
        broken = np.int64(-1)
        for z in item_of[i0 : i0 + found]:
            if sums[z] < k:
                broken = z
            sums[z] = 0
        if broken >= 0:
            path[d] = broken
            return d + 1
        if (whole >= k and peak <= limit[whole]) or (calm[d] == 1 and d + 1 == largest):
            continue
        sort_piece(item_of, i0, i0 + found)
        n_items[d] = found
        for at in range(lo, hi):
            if place_of[at] < indptr[row_of[at] + 1]:
                z = items[place_of[at]]
                chain[at] = heads[d, z]
                heads[d, z] = at


@compiled
def holding(indptr, items, weights, starts, rows, places, itemset):
    """Find the distinct rows that hold all items of an ascending itemset."""
    rarest = itemset[0]
    for x in itemset:
        if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
            rarest = x
    out = np.empty(starts[rarest + 1] - starts[rarest], np.int64)
    found = 0
    for at in range(starts[rarest], starts[rarest + 1]):
        row = rows[at]
        j, p = 0, indptr[row]
        while j < itemset.size and p < indptr[row + 1]:
            if items[p] == itemset[j]:
                j += 1
            elif items[p] > itemset[j]:
                break
            p += 1
        if j == itemset.size:
            out[found] = row
            found += 1
    return out[:found]


@compiled
def _is_listed(safe, path, skip):
    """Whether a path without one of its items is among the sorted safe sets."""
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
def extend(
    indptr, items, weights, p_indptr, p_items, p_counts, starts, rows, places, k, limit, safe, out, moles,
    counts, state,
):  # fmt: skip
    """Join safe sets with one more item each, from set ``state[0]`` on; write safe sets and violations.

    ``state[1]`` and ``state[2]`` count them, ``state[3]`` the steps. Stops where `out` may not suffice, and
    after about PAUSE steps.
    """
    sums, most, p_sums = counts[0], counts[1], counts[2]
    size = safe.shape[1]
    path = np.empty(size + 1, np.int64)
    pause = state[3] + PAUSE
    while state[0] < safe.shape[0]:
        at = state[0]
        last = at + 1  # its siblings: they share all items but the last
        while last < safe.shape[0]:
            same = True
            for j in range(size - 1):
                if safe[last, j] != safe[at, j]:
                    same = False
                    break
            if not same:
                break
            last += 1
        if state[1] + last - at > out.shape[0] or state[3] > pause:
            return
        state[0] += 1
        if last == at + 1:
            continue
        path[:size] = safe[at]
        there = holding(indptr, items, weights, starts, rows, places, path[:size])
        for row in there:
            for z in items[indptr[row] : indptr[row + 1]]:
                sums[z] += weights[row]
            for q in range(p_indptr[row], p_indptr[row + 1]):
                p_sums[p_items[q]] += p_counts[q]
            state[3] += indptr[row + 1] - indptr[row]
        rarest = path[0]
        for x in path[:size]:
            if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
                rarest = x
        state[3] += starts[rarest + 1] - starts[rarest] + last - at

        # For each item the most frequent private item of the rows that hold it, too.
        n_pairs = 0
        for row in there:
            for s in p_items[p_indptr[row] : p_indptr[row + 1]]:
                if p_sums[s] > limit[k]:
                    n_pairs += 1
        pair, who, place = (
            np.empty(n_pairs, np.int64),
            np.empty(n_pairs, np.int64),
            np.empty(n_pairs, np.int64),
        )
        met = 0
        for row in there:
            for q in range(p_indptr[row], p_indptr[row + 1]):
                if p_sums[p_items[q]] > limit[k]:
                    pair[met], who[met], place[met] = row, np.int64(p_items[q]) * n_pairs + met, q
                    met += 1
        for row in there:
            for s in p_items[p_indptr[row] : p_indptr[row + 1]]:
                p_sums[s] = 0
        sort_piece(who, 0, n_pairs)  # by the private item, then by the row
        lo = 0
        while lo < n_pairs:
            hi = lo
            while hi < n_pairs and who[hi] // n_pairs == who[lo] // n_pairs:
                row = pair[who[hi] % n_pairs]
                for z in items[indptr[row] : indptr[row + 1]]:
                    p_sums[z] += p_counts[place[who[hi] % n_pairs]]
                state[3] += indptr[row + 1] - indptr[row]
                hi += 1
            for e in range(lo, hi):
                row = pair[who[e] % n_pairs]
                for z in items[indptr[row] : indptr[row + 1]]:
                    most[z] = max(most[z], p_sums[z])
                    p_sums[z] = 0
            lo = hi

        for sibling in range(at + 1, last):
            y = safe[sibling, size - 1]
            times = sums[y]
            if times == 0:
                continue
            path[size] = y
            listed = True
            for skip in range(size - 1):
                if not _is_listed(safe, path, skip):
                    listed = False
                    break
            if not listed:
                continue
            if times < k or most[y] > limit[times]:
                if state[2] < moles.shape[0]:
                    moles[state[2]] = path
                state[2] += 1
            else:
                out[state[1]] = path
                state[1] += 1
        for row in there:
            for z in items[indptr[row] : indptr[row + 1]]:
                sums[z], most[z] = 0, 0
