"""The search for threats, of a tree or a forest, whose clauses a fractional solution violates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.limits import has_room
from setveil.kernels.node_paths import add_level, add_places, count_behind, is_apart, no_levels
from setveil.kernels.rows import frozen
from setveil.kernels.walk import support


def no_bits(n_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return `dense` and `bits` of `is_rare` for nodes without bits."""
    return frozen(np.full(n_nodes, -1), np.int64), frozen(np.zeros((0, 0)), np.uint64)


@compiled
def is_rare(nodes, starts, tidlists, weights, dense, bits, k):
    """Whether rows of weight less than k contain all `nodes` (distinct).

    dense: int64 (n_nodes,), which of `bits` is the node's, or -1; bits: uint64 (any, words), a bit for each
    row.
    """
    rarest = nodes[0]
    for v in nodes:
        if starts[v + 1] - starts[v] < starts[rarest + 1] - starts[rarest]:
            rarest = v
    total = np.int64(0)
    one = np.uint64(1)
    if dense[rarest] >= 0:
        first = dense[rarest]
        for w in range(bits.shape[1]):
            word = bits[first, w]
            for v in nodes:
                word &= bits[dense[v], w]
            if word == np.uint64(0):
                continue
            for b in range(64):
                if word & (one << np.uint64(b)) != np.uint64(0):
                    total += weights[w * 64 + b]
            if total >= k:
                return False
        return True
    low = starts[nodes]
    for at in range(starts[rarest], starts[rarest + 1]):
        row = np.int64(tidlists[at])
        everywhere = True
        for j in range(nodes.size):
            v = nodes[j]
            if v == rarest:
                continue
            if dense[v] >= 0:
                everywhere = bits[dense[v], row >> 6] & (one << np.uint64(row & 63)) != np.uint64(0)
            else:
                # Gallop forward from where the previous row was found, then bisect.
                end = starts[v + 1]
                lo, step = low[j], np.int64(1)
                while lo + step < end and tidlists[lo + step] < row:
                    lo += step
                    step *= 2
                hi = min(lo + step, end)
                while lo < hi:
                    mid = (lo + hi) // 2
                    if tidlists[mid] < row:
                        lo = mid + 1
                    else:
                        hi = mid
                low[j] = lo
                everywhere = lo < end and tidlists[lo] == row
            if not everywhere:
                break
        if everywhere:
            total += weights[row]
            if total >= k:
                return False
    return True


@compiled
def is_over(above, some, i, low, high):
    """Whether a node lies above one of `some` other than number i."""
    for j in range(some.size):
        if j != i and low[above] <= low[some[j]] and high[some[j]] <= high[above]:
            return True
    return False


@compiled
def is_tight(some, parent, root, low, high, starts, tidlists, weights, dense, bits, k):
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
            if is_rare(rest, starts, tidlists, weights, dense, bits, k):
                return False
    for i in range(size):
        above = np.int64(parent[some[i]])
        if above == root or is_over(above, some, i, low, high):
            continue
        trial = some.copy()
        trial[i] = above
        if is_rare(trial, starts, tidlists, weights, dense, bits, k):
            return False
    return True


@compiled
def violated_clauses(
    indptr, ranks, weights, starts, tidlists, positions, supports, node, up, hidden, sort, most, low, high,
    parent, root, k, largest, limit, all_low, all_high, all_starts, all_tidlists, all_weights,
    dense, bits, out, ends, budget,
):  # fmt: skip
    """List threats, minimal and most general, whose cheapest clause may be below a limit of at most 1.

    The clause of a threat has the values `up` of the distinct parents of its nodes and, at least, `hidden` of
    each node. A set whose part is rare is not extended. Sets hold at most `largest` nodes, and ``most`` of
    each sort.

    - indptr, ranks, weights: distinct rows, ascending; ranks number the nodes that matter, by increasing
      support; starts, tidlists, positions, supports: where each rank is, and in how many rows
    - node, up, hidden, sort, low, high: of each rank the node, its parent's value, the least value of a leaf
      below, its sort, its leaves; all_low, all_high, ...: the same by node; dense, bits: see `is_rare`
    - out, ends: int64, written: the nodes of the sets, and where each ends

    Returns how many sets; not all if there is no room left or more than `budget` steps were needed.
    """
    n = supports.size
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
    # The walk goes down by one rank of greater number at a time: path[:d] is frequent, and spent[d] is what
    # its clause costs at least. levels[...][first[d]:first[d + 1]] are the ranks that may continue it.
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
        # What the set with x costs: a parent that it shares with the path is paid for already.
        path[d] = x
        add = hidden[x] + up[x]
        for j in range(d):
            if parent[node[path[j]]] == parent[node[x]]:
                add = hidden[x]
                break
        spent[d + 1] = spent[d] + add
        if spent[d + 1] >= limit or most[sort[x]] < 1:
            current[d] += 1
            continue
        # A rare set is listed if it is minimal and most general; it is not extended.
        if have < k:
            some = node[path[: d + 1]].copy()
            if is_tight(
                some, parent, root, all_low, all_high, all_starts, all_tidlists, all_weights, dense, bits, k
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

        # Count what stands behind x in the rows of the path, and keep the ranks that are still cheap enough.
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
            cheap = spent[d + 1] + hidden[y] < limit and has_room(path[: d + 1], y, sort, most)
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
def cheapest_choices(
    some, k, starts, tidlists, weights, indptr, items, position, low, high, hidden, out
):  # fmt: skip
    """Find in each row with a rare set its least hidden leaf below each node: out (k, size), written."""
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
