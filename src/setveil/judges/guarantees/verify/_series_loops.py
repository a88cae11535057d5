"""The variants that rows show, and how few people are left for someone who knows a few of a person's own."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.judges.guarantees.verify._projection import Holders


@compiled
def shown_by(rows, pattern, shown, trie):
    """Find the variants of each merged row: boundaries, ascending variants, if each is its own (0, 1)."""
    n_rows, releases = rows.weights.size, trie.widths.size
    widest = np.int64(1)
    for t in range(releases):
        widest = max(widest, trie.widths[t])
    here = np.zeros(widest, np.uint8)  # what the row shows in a release
    options = np.empty(widest, np.int64)
    most = np.int64(1)
    for t in range(releases):
        most = max(most, trie.starts[t + 1] - trie.starts[t])
    before, after = np.empty(most, np.int64), np.empty(most, np.int64)
    indptr = np.zeros(n_rows + 1, np.int64)
    items, own = np.empty(rows.items.size + most, np.int64), np.empty(rows.items.size + most, np.uint8)
    for r in range(n_rows):
        before[0], n_before = 0, 1
        for t in range(releases):
            options[0], n_options = 0, 1
            here[0] = 1
            if (pattern[r] >> t) & 1 and trie.widths[t] > 1:
                here[1] = 1
                options[1], n_options = 1, 2
            for p in range(rows.indptr[r], rows.indptr[r + 1]):
                label = shown[rows.items[p], t]
                if label > 1 and here[label] == 0:
                    here[label] = 1
                    options[n_options] = label
                    n_options += 1
            n_after = _go_on(before, n_before, here, options, n_options, trie, t, after)
            before, after, n_before = after, before, n_after
            for o in range(n_options):
                here[options[o]] = 0
        sort_piece(before, 0, n_before)
        to, mine = indptr[r], rows.indptr[r]
        while to + n_before > items.size:
            items, own = (
                np.concatenate((items, np.empty_like(items))),
                np.concatenate((own, np.empty_like(own))),
            )
        for b in range(n_before):
            v = before[b]
            empty = True
            for t in range(releases):
                empty = empty and shown[v, t] == 0
            if empty:
                continue
            is_own = mine < rows.indptr[r + 1] and rows.items[mine] == v
            mine += is_own
            items[to], own[to] = v, is_own
            to += 1
        indptr[r + 1] = to
    return indptr, items[: indptr[n_rows]].copy(), own[: indptr[n_rows]].copy()


@compiled
def _go_on(before, n_before, here, options, n_options, trie, t, after):
    """Go a level down from each of some numbers by what is shown; return how many numbers there are then."""
    keys, width = trie.keys, trie.widths[t]
    first, end = trie.starts[t], trie.starts[t + 1]
    n = 0
    for b in range(n_before):
        lo = _place_of(keys, first, end, before[b] * width)
        hi = _place_of(keys, lo, end, (before[b] + 1) * width)
        if hi - lo <= 8 * n_options:
            for at in range(lo, hi):
                if here[keys[at] - before[b] * width]:
                    after[n] = at - first
                    n += 1
        else:
            for o in range(n_options):
                key = before[b] * width + options[o]
                at = _place_of(keys, lo, hi, key)
                if at < hi and keys[at] == key:
                    after[n] = at - first
                    n += 1
    return n


@compiled
def _place_of(keys, lo, hi, key):
    """Find the first place in a sorted piece whose key is not less."""
    while lo < hi:
        middle = (lo + hi) // 2
        if keys[middle] < key:
            lo = middle + 1
        else:
            hi = middle
    return lo


@compiled
def held_by(indptr, items, n):
    """Find the rows that show each of n variants, and where in them."""
    starts = np.zeros(n + 1, np.int64)
    for at in range(items.size):
        starts[items[at] + 1] += 1
    for v in range(n):
        starts[v + 1] += starts[v]
    to = starts[:-1].copy()
    rows, places = np.empty(items.size, np.int64), np.empty(items.size, np.int64)
    for r in range(indptr.size - 1):
        for at in range(indptr[r], indptr[r + 1]):
            v = items[at]
            rows[to[v]], places[to[v]] = r, at
            to[v] += 1
    return Holders(starts, rows, places)


@compiled
def least_supports(indptr, items, own, weights, holders, first, end, m, least):
    """Lower `least` of each row to the support of up to m of its variants, the first in ``first..end``.

    A row counts for all that it shows (`items`); a set is judged only for rows that own all its variants.
    """
    n_variants = holders.starts.size - 1
    supports, counted = np.zeros(n_variants, np.int64), np.zeros(n_variants, np.int64)
    owned, touched = np.zeros(n_variants, np.uint8), np.empty(n_variants, np.int64)
    room = np.int64(1)
    for v in range(first, end):
        room = max(room, holders.starts[v + 1] - holders.starts[v])
    row, place, mine = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint8)
    begin, support = np.zeros(2 * n_variants + 2, np.int64), np.zeros(2 * n_variants + 2, np.int64)
    current, stop = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for v in range(first, end):
        n, total, is_own = 0, np.int64(0), False
        for at in range(holders.starts[v], holders.starts[v + 1]):
            row[n], place[n], mine[n] = holders.rows[at], holders.places[at], own[holders.places[at]]
            total += weights[row[n]]
            is_own = is_own or mine[n] == 1
            n += 1
        if not is_own:
            continue
        for e in range(n):
            if mine[e]:
                least[row[e]] = min(least[row[e]], total)
        begin[1], support[0] = n, total
        current[0], stop[0] = 0, 1
        d = 0 if m > 1 else -1
        while d >= 0:
            if current[d] == stop[d]:
                d -= 1
                continue
            g = current[d]
            current[d] += 1
            lo, hi = begin[g], begin[g + 1]
            if support[g] <= 1 or hi - lo <= 1:  # whatever else is known leaves as many
                continue
            n_touched = 0
            for e in range(lo, hi):
                r = row[e]
                for q in range(place[e] + 1, indptr[r + 1]):
                    x = items[q]
                    if counted[x] == 0:
                        touched[n_touched] = x
                        n_touched += 1
                    counted[x] += 1
                    supports[x] += weights[r]
                    owned[x] |= mine[e] & own[q]
            if d + 2 == m:
                for e in range(lo, hi):
                    if mine[e]:
                        for q in range(place[e] + 1, indptr[row[e] + 1]):
                            if own[q]:
                                least[row[e]] = min(least[row[e]], supports[items[q]])
            else:
                here = stop[d]
                while here + n_touched + 1 >= begin.size:
                    begin = np.concatenate((begin, begin))
                    support = np.concatenate((support, support))
                for i in range(n_touched):
                    x = touched[i]
                    if owned[x]:
                        begin[here + 1] = begin[here] + counted[x]
                        support[here] = supports[x]
                        counted[x] = begin[here]
                        here += 1
                while begin[here] > row.size:
                    row = np.concatenate((row, row))
                    place = np.concatenate((place, place))
                    mine = np.concatenate((mine, mine))
                for e in range(lo, hi):
                    r = row[e]
                    for q in range(place[e] + 1, indptr[r + 1]):
                        x = items[q]
                        if owned[x] == 0:
                            continue
                        to = counted[x]
                        counted[x] += 1
                        row[to], place[to], mine[to] = r, q, mine[e] & own[q]
                        if mine[to]:
                            least[r] = min(least[r], supports[x])
                current[d + 1], stop[d + 1] = stop[d], here
                d += 1
            for i in range(n_touched):
                x = touched[i]
                supports[x], counted[x], owned[x] = 0, 0, 0


@compiled
def whole_supports(rows, indptr, items, weights, holders, least):
    """Lower `least` of each row to the support of all its own variants together."""
    for r in range(rows.weights.size):
        lo, hi = rows.indptr[r], rows.indptr[r + 1]
        if lo == hi:
            continue
        rarest = rows.items[lo]
        for p in range(lo, hi):
            x = rows.items[p]
            if (
                holders.starts[x + 1] - holders.starts[x]
                < holders.starts[rarest + 1] - holders.starts[rarest]
            ):
                rarest = x
        total = np.int64(0)
        for at in range(holders.starts[rarest], holders.starts[rarest + 1]):
            other = holders.rows[at]
            q = indptr[other]
            fits = True
            for p in range(lo, hi):
                while q < indptr[other + 1] and items[q] < rows.items[p]:
                    q += 1
                if q == indptr[other + 1] or items[q] != rows.items[p]:
                    fits = False
                    break
            if fits:
                total += weights[other]
        least[r] = min(least[r], total)
