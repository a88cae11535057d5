"""The search for what a solution, fractional or not, lets be learned of sensitive items."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.node_paths import add_level, add_places, count_behind, is_apart, no_levels

# Places in the facts of a breach.
WHO, SUPPORT, TOGETHER = range(3)


@compiled
def find_breaches(
    indptr, ranks, weights, starts, tidlists, positions, supports, missing, low, high, itself,
    entry_ptr, entry_item, entry_count, entry_hidden, gone, numerator, denominator, k, largest, every,
    out, ends, facts, budget,
):  # fmt: skip
    """List sets X of nodes, and sensitive items s that X reveals by more than is hidden.

    Of the rows that hold X, d more hold s than a share rho; a solution suppresses `hidden` of them, and lacks
    a part of X. A set in fewer than k rows is not looked at, nor extended; a set that reveals something is
    not extended unless `every` is set.

    - indptr, ranks, weights: distinct rows, ascending; ranks number the nodes that matter; starts, tidlists,
      positions, supports: where each rank is, and in how many rows
    - missing: float64 (ranks,), how far a node is not published; low, high: int64 (ranks,), its leaves;
      itself: int64 (ranks,), the number of the sensitive item that it is, or -1
    - entry_ptr, entry_item, entry_count, entry_hidden: int64 (n + 1,), int64, int64, float64, the sensitive
      items of each row, in how many of the rows that it represents, and how many of these lose it
    - gone: float64 (sensitive,), how far an item is suppressed in all rows; numerator, denominator: rho
    - out, ends: int64, written: the ranks of the sets, and where each ends
    - facts: int64 (any, 3), written: the item, the rows with the set, and those also with the item

    Returns how many were found, as far as there is room, and the steps: above `budget` if sets remain.
    """
    n = supports.size
    tolerance = 1e-6
    least = numerator * k // denominator + 1  # rows with an item, of at least k, that are too many
    n_items = gone.size
    together = np.zeros(n_items, np.int64)
    hidden = np.zeros(n_items, np.float64)
    met = np.empty(n_items, np.int64)
    near = np.zeros(n, np.int64)
    hopeful = np.zeros(n, np.bool_)
    marked = np.empty(n, np.int64)
    count = np.zeros(n, np.int64)
    fill = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    path = np.zeros(max(largest, 1), np.int64)
    spent = np.zeros(largest + 1, np.float64)
    first = np.zeros(largest + 1, np.int64)
    current = np.zeros(largest + 1, np.int64)
    levels = no_levels(n)
    found, written, steps, d = 0, 0, np.int64(0), 0
    # The walk goes down by one rank of greater number at a time: path[:d] is in at least k rows,
    # and spent[d] is how much of it is missing.
    while True:
        if d == 0:
            if current[0] >= n or steps > budget:
                return found, steps
            x, have = current[0], supports[current[0]]
            place_row, place = tidlists, positions
            from_, to = starts[x], starts[x + 1]
        else:
            if current[d] >= first[d + 1] or steps > budget:
                d -= 1
                current[d] += 1
                continue
            x, have = levels[0][current[d]], levels[1][current[d]]
            from_, to = levels[2][current[d]], levels[2][current[d] + 1]
        path[d] = x
        spent[d + 1] = spent[d] + missing[x]
        if have < k or spent[d + 1] >= 1 - tolerance:
            current[d] += 1
            continue

        # What the rows that hold the path tell of each sensitive item.
        kinds = 0
        for at in range(from_, to):
            row = np.int64(place_row[at]) if d == 0 else levels[3][at]
            for e in range(entry_ptr[row], entry_ptr[row + 1]):
                s = entry_item[e]
                if together[s] == 0:
                    met[kinds] = s
                    kinds += 1
                together[s] += entry_count[e]
                hidden[s] += entry_hidden[e]
        steps += to - from_
        # A breach: more of the rows have s than may, and too few of them lose it.
        allowed = numerator * have // denominator
        most, broken = np.int64(0), False
        for i in range(kinds):
            s = met[i]
            most = max(most, together[s])
            over = together[s] - allowed
            if over > 0 and hidden[s] + over * (gone[s] + spent[d + 1]) < over * (1 - tolerance):
                inside = False
                for j in range(d + 1):
                    inside = inside or itself[path[j]] == s
                if not inside:
                    if found == ends.size or written + d + 1 > out.size:
                        return found, steps
                    out[written : written + d + 1] = path[: d + 1]
                    written += d + 1
                    ends[found] = written
                    facts[found, WHO], facts[found, SUPPORT], facts[found, TOGETHER] = s, have, together[s]
                    found += 1
                    broken = True
            together[s], hidden[s] = 0, 0.0
        if most < least or d + 1 == largest or (broken and not every):
            current[d] += 1
            continue

        # Go on with the nodes that are in enough rows of a sensitive item together with the path.
        n_marked = 0
        for at in range(from_, to):
            row = np.int64(place_row[at]) if d == 0 else levels[3][at]
            p = place[at] if d == 0 else levels[4][at]
            peak = np.int64(0)
            for e in range(entry_ptr[row], entry_ptr[row + 1]):
                peak = max(peak, entry_count[e])
            if peak > 0:
                for q in range(p + 1, indptr[row + 1]):
                    y = np.int64(ranks[q])
                    if near[y] == 0:
                        marked[n_marked] = y
                        n_marked += 1
                    near[y] += peak
        for i in range(n_marked):
            hopeful[marked[i]] = near[marked[i]] >= least
            near[marked[i]] = 0
        if d == 0:
            n_touched, looked = count_behind(
                from_, to, place_row, place, indptr, ranks, weights, hopeful, count, fill, touched
            )
        else:
            n_touched, looked = count_behind(
                from_, to, levels[3], levels[4], indptr, ranks, weights, hopeful, count, fill, touched
            )
        steps += looked
        for i in range(n_marked):
            hopeful[marked[i]] = False
        # Of what stands behind the path, keep what is in k rows with it, cheap, and of another branch.
        kept = 0
        for i in range(n_touched):
            y = touched[i]
            cheap = spent[d + 1] + missing[y] < 1 - tolerance
            if cheap and count[y] >= k and is_apart(path[: d + 1], y, low, high):
                touched[kept] = y
                kept += 1
            else:
                count[y] = 0
                fill[y] = 0
        sort_piece(touched, 0, kept)
        c = first[d + 1]
        chosen = touched[:kept]
        levels = add_level(chosen, c, k, count, fill, levels)
        if d == 0:
            add_places(from_, to, place_row, place, indptr, ranks, chosen, fill, levels)
        else:
            add_places(from_, to, levels[3], levels[4], indptr, ranks, chosen, fill, levels)
        d += 1
        current[d] = c
        first[d + 1] = c + kept
