"""Where the walk over a family of itemsets begins: the rows of one item, cut down to what may join it."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece


@compiled
def root_rows(indptr, items, weights, starts, tidlists, alive, rank, forbidden, v, low, threshold):
    """Cut the rows of item `v` down to the other items that may join it, renumbered by ascending support.

    Only items that are alive, of a rank greater than low, and with at least the threshold's weight stay.
    forbidden: sets of at least two items (indptr and ascending items), and those of each item (2 more
    arrays).

    Returns ids: int64 (m,), the items by their new numbers; ptr, new, w, their rows, ascending, perhaps equal
    or empty; and f_starts, f_last, f_ptr, f_rest, the sets forbidden next to `v`, each listed under its last
    but one item: its last one, and where the others are.
    """
    f_indptr, f_items, of_starts, of = forbidden
    n = alive.size
    # How many rows of `v` hold each item; 0 where the two are forbidden together.
    support = np.zeros(n, np.int64)
    longest = np.int64(0)
    for at in range(starts[v], starts[v + 1]):
        row = np.int64(tidlists[at])
        longest += indptr[row + 1] - indptr[row]
        for p in range(indptr[row], indptr[row + 1]):
            y = np.int64(items[p])
            if rank[y] > low and y != v and alive[y]:
                support[y] += weights[row]
    for at in range(of_starts[v], of_starts[v + 1]):
        b = of[at]
        if f_indptr[b + 1] - f_indptr[b] == 2:
            support[f_items[f_indptr[b]]] = 0
            support[f_items[f_indptr[b] + 1]] = 0
    # The items that may join, in their new order: by support, then by number.
    together = np.nonzero(support >= threshold)[0]
    keys = support[together] * n + together
    sort_piece(keys, 0, keys.size)
    ids = keys % max(n, 1)
    m = ids.size
    new_of = np.full(n, -1, np.int64)
    for at in range(m):
        new_of[ids[at]] = at

    # The rows of `v` in new numbers.
    ptr = np.zeros(starts[v + 1] - starts[v] + 1, np.int64)
    new = np.empty(longest, np.int64)
    w = np.empty(ptr.size - 1, np.int64)
    size = 0
    for at in range(starts[v], starts[v + 1]):
        row = np.int64(tidlists[at])
        here = size
        for p in range(indptr[row], indptr[row + 1]):
            z = new_of[items[p]]
            if z >= 0:
                new[size] = z
                size += 1
        sort_piece(new, here, size)
        w[at - starts[v]] = weights[row]
        ptr[at - starts[v] + 1] = size

    # Forbidden sets that lie in `v` and these items: first how many, then which.
    f_starts = np.zeros(m + 2, np.int64)
    f_last, f_ptr = np.zeros(0, np.int64), np.zeros(1, np.int64)
    f_rest = np.zeros(0, np.int64)
    if f_indptr.size > 1:
        found = np.empty(f_indptr.size, np.int64)
        n_found, rest = 0, 0
        # The sets with `v`, then by their first item those without it: so that each is met once.
        for z in range(-1, m):
            first = v if z < 0 else ids[z]
            for at in range(of_starts[first], of_starts[first + 1]):
                b = of[at]
                lo, hi = f_indptr[b], f_indptr[b + 1]
                if z >= 0 and f_items[lo] != first:
                    continue
                inside, with_v = True, False
                for q in range(lo, hi):
                    if f_items[q] == v:
                        with_v = True
                    elif new_of[f_items[q]] < 0:
                        inside = False
                        break
                if inside and (z < 0 or not with_v):
                    found[n_found] = b
                    n_found += 1
                    rest += hi - lo - (1 if with_v else 0) - 2
        # Of each its last item, and the last but one, under which it is listed: counted, then put in order.
        f_last, f_ptr = np.empty(n_found, np.int64), np.zeros(n_found + 1, np.int64)
        f_rest = np.empty(rest, np.int64)
        second = np.empty(n_found, np.int64)
        for i in range(n_found):
            lo, hi = f_indptr[found[i]], f_indptr[found[i] + 1]
            last, second[i] = np.int64(-1), -1
            for q in range(lo, hi):
                z = new_of[f_items[q]]
                if z > last:
                    second[i] = last
                    last = z
                elif z > second[i]:
                    second[i] = z
            f_starts[second[i] + 2] += 1
        for z in range(m):
            f_starts[z + 2] += f_starts[z + 1]
        order = np.empty(n_found, np.int64)
        for i in range(n_found):
            order[f_starts[second[i] + 1]] = i
            f_starts[second[i] + 1] += 1
        # What each holds besides `v` and these two.
        rest = 0
        for j in range(n_found):
            i = order[j]
            last = np.int64(-1)
            for q in range(f_indptr[found[i]], f_indptr[found[i] + 1]):
                last = max(last, new_of[f_items[q]])
            f_last[j] = last
            for q in range(f_indptr[found[i]], f_indptr[found[i] + 1]):
                z = new_of[f_items[q]]
                if z >= 0 and z != last and z != second[i]:
                    f_rest[rest] = z
                    rest += 1
            f_ptr[j + 1] = rest
    return ids, ptr, new[:size].copy(), w, f_starts, f_last, f_ptr, f_rest
