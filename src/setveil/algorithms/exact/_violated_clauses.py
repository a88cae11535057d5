"""The search for threats whose clauses a fractional solution violates."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled
from setveil.kernels.node_paths import add_level, add_places, count_behind, is_apart, no_levels
from setveil.kernels.walk import support
from setveil.sorting import sort_piece


@compiled
def violated_clauses(
    indptr, ranks, weights, starts, tidlists, positions, supports, node, up, hidden, low, high, parent, root,
    k, largest, limit, all_starts, all_tidlists, all_weights, all_low, all_high, out, ends, budget,
):  # fmt: skip
    """List threats S, minimal and most general, whose cheapest clause may be below a limit.

    The clause of S has the values `up` of the distinct parents of its nodes and, at least, `hidden` of each
    node. Ranks number the nodes that matter, by increasing support. A set whose part is rare is not extended.

    Parameters
    ----------
    indptr, ranks, weights
        Distinct rows of ranks, ascending, and how many rows each stands for.
    starts, tidlists, positions, supports
        Where each rank stands, and in how many rows.
    node, up, hidden, low, high
        Of each rank: its node, the value of the node's parent, the least value of a leaf below, its leaves.
    parent, root
        The tree.
    k, largest : int
    limit : float
        At most 1.
    all_starts, all_tidlists, all_weights, all_low, all_high
        The same of all nodes, by node.
    out, ends : int64, written
        The nodes of the sets, one set after the other; where each ends.
    budget : int
        Steps after which to end.

    Returns
    -------
    found : int
        How many sets; not all there are if there is no room left or too many steps were needed.
    """
    n = supports.size
    nowhere = np.zeros(0, np.int64)
    count = np.zeros(n, np.int64)
    fill = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    path = np.zeros(largest, np.int64)
    spent = np.zeros(largest + 1, np.float64)
    first = np.zeros(largest + 1, np.int64)
    current = np.zeros(largest + 1, np.int64)
    levels = no_levels(n)
    frequent = supports >= k
    sets = np.int64(0)
    written = np.int64(0)
    steps = np.int64(0)
    d = np.int64(0)
    while True:
        if d == 0:
            if current[0] >= n:
                return sets
            x, have = current[0], supports[current[0]]
        else:
            if current[d] >= first[d + 1]:
                d -= 1
                current[d] += 1
                if steps > budget:
                    return sets
                continue
            x, have = levels[0][current[d]], levels[1][current[d]]
        path[d] = x
        add = hidden[x] + up[x]
        for j in range(d):
            if parent[node[path[j]]] == parent[node[x]]:
                add = hidden[x]
                break
        spent[d + 1] = spent[d] + add
        if spent[d + 1] >= limit:
            current[d] += 1
            continue
        if have < k:
            some = node[path[: d + 1]].copy()
            if _tight(
                some, parent, root, k, all_starts, all_tidlists, all_weights, all_low, all_high, nowhere
            ):
                if sets == ends.size or written + d + 1 > out.size:
                    return sets
                out[written : written + d + 1] = some
                written += d + 1
                ends[sets] = written
                sets += 1
            current[d] += 1
            continue
        if d + 1 == largest:
            current[d] += 1
            continue

        if d == 0:
            from_, to = starts[x], starts[x + 1]
            found, looked = count_behind(
                from_, to, tidlists, positions, indptr, ranks, weights, frequent, count, fill, touched
            )
        else:
            from_, to = levels[2][current[d]], levels[2][current[d] + 1]
            found, looked = count_behind(
                from_, to, levels[3], levels[4], indptr, ranks, weights, frequent, count, fill, touched
            )
        steps += looked
        last = d + 2 == largest
        kept = 0
        for t in range(found):
            y = touched[t]
            cheap = spent[d + 1] + hidden[y] < limit
            if cheap and not (last and count[y] >= k) and is_apart(path[: d + 1], y, low, high):
                touched[kept] = y
                kept += 1
            else:
                count[y] = 0
                fill[y] = 0
        sort_piece(touched, 0, kept)
        c = first[d + 1]
        chosen = touched[:kept]
        levels = add_level(chosen, c, k, count, fill, levels)  # on the last level, all are in fewer rows
        if not last and d == 0:
            add_places(from_, to, tidlists, positions, indptr, ranks, chosen, fill, levels)
        elif not last:
            add_places(from_, to, levels[3], levels[4], indptr, ranks, chosen, fill, levels)
        d += 1
        current[d] = c
        first[d + 1] = c + kept


@compiled
def _tight(some, parent, root, k, starts, tidlists, weights, low, high, nowhere):
    """Whether a rare set stays rare neither without one of its nodes nor with a parent for a node."""
    size = some.size
    if size > 1:
        rest = np.empty(size - 1, np.int64)
        for i in range(size):
            for j in range(size):
                if j < i:
                    rest[j] = some[j]
                elif j > i:
                    rest[j - 1] = some[j]
            if support(starts, tidlists, weights, rest, k, nowhere)[0] < k:
                return False
    for i in range(size):
        above = np.int64(parent[some[i]])
        if above == root:
            continue
        apart = True
        for j in range(size):
            if j != i and low[above] <= low[some[j]] and high[some[j]] <= high[above]:
                apart = False
                break
        if apart:
            trial = some.copy()
            trial[i] = above
            if support(starts, tidlists, weights, trial, k, nowhere)[0] < k:
                return False
    return True


@compiled
def cheapest_choices(
    some, k, starts, tidlists, weights, indptr, items, position, low, high, hidden, out
):  # fmt: skip
    """Find in each row that holds a rare set its least hidden leaf below each node.

    `out` (k, size) is written. Returns the number of rows.
    """
    found_rows = np.zeros(k, np.int64)
    _, found = support(starts, tidlists, weights, some, k, found_rows)
    for i in range(found):
        row = found_rows[i]
        for j in range(some.size):
            best = np.int64(-1)
            for p in range(indptr[row], indptr[row + 1]):
                leaf = np.int64(items[p])
                under = low[some[j]] <= position[leaf] < high[some[j]]
                if under and (best < 0 or hidden[leaf] < hidden[best]):
                    best = leaf
            out[i, j] = best
    return found
