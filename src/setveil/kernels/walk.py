"""The preorder walk over itemsets of extended rows, and the support of one itemset."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.limits import has_room
from setveil.kernels.node_paths import add_level, add_places, count_behind, is_apart, no_levels


@compiled
def extend_rows(indptr, items, parent, wanted, out_ptr, out_nodes):
    """Write the wanted ones of each row's nodes and their ancestors, in no order; return how many."""
    stamp = np.full(parent.size, -1, np.int64)
    n = 0
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            node = np.int64(items[p])
            while node >= 0 and stamp[node] != row:
                stamp[node] = row
                if wanted[node]:
                    out_nodes[n] = node
                    n += 1
                node = np.int64(parent[node])
        out_ptr[row + 1] = n
    return n


@compiled
def support(starts, tidlists, weights, nodes, enough, holders):
    """Weight and number of the rows that contain all `nodes`, written to `holders`; stop at `enough`."""
    rarest = nodes[0]
    for v in nodes:
        if starts[v + 1] - starts[v] < starts[rarest + 1] - starts[rarest]:
            rarest = v
    total = np.int64(0)
    found = 0
    low = starts[nodes]
    for at in range(starts[rarest], starts[rarest + 1]):
        row = tidlists[at]
        everywhere = True
        for j in range(nodes.size):
            if nodes[j] == rarest:
                continue
            end = starts[nodes[j] + 1]
            # Gallop forward from where the previous row was found, then bisect.
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
            if lo >= end or tidlists[lo] != row:
                everywhere = False
                break
        if everywhere:
            if found < holders.size:
                holders[found] = row
            found += 1
            total += weights[row]
            if total >= enough:
                break
    return total, found


@compiled
def mark_occurring(starts, tidlists, weights, itemsets, first_rows, enough, occurs):
    """Mark `enough` itemsets that occur, and whose first row is the given one unless that is negative."""
    holder = np.empty(1, np.int64)
    n = 0
    for i in range(itemsets.shape[0]):
        _, found = support(starts, tidlists, weights, itemsets[i], 1, holder)
        if found > 0 and (first_rows[i] < 0 or holder[0] == first_rows[i]):
            occurs[i] = True
            n += 1
            if n == enough:
                break


@compiled
def rare_beside(
    indptr, items, weights, starts, tidlists, image, leaves, k, others, row_seen, last_row, support
):
    """Whether what some leaves are published as is rare: by itself, or together with one other node.

    Rare is a support in (0, k). Rows contain leaves; image: int32 (n_nodes,), of leaves, negative for
    nothing; leaves: all that are published as one node; others: bool (n_nodes,), which nodes count, empty for
    none. row_seen (n,), last_row and support (n_nodes,): memory of False, -1 and 0, left as it was.
    """
    node = image[leaves[0]]
    touched = [node]
    total = np.int64(0)
    for leaf in leaves:
        for at in range(starts[leaf], starts[leaf + 1]):
            row = np.int64(tidlists[at])
            if row_seen[row]:
                continue
            row_seen[row] = True
            total += weights[row]
            if others.size == 0:
                continue
            for p in range(indptr[row], indptr[row + 1]):
                other = image[items[p]]
                if other < 0 or other == node or not others[other] or last_row[other] == row:
                    continue
                if last_row[other] < 0:
                    touched.append(other)
                last_row[other] = row
                support[other] += weights[row]
    rare = 0 < total < k
    for other in touched[1:]:
        rare = rare or support[other] < k
        support[other] = 0
        last_row[other] = -1
    for leaf in leaves:
        for at in range(starts[leaf], starts[leaf + 1]):
            row_seen[tidlists[at]] = False
    return rare


FINISHED, FOUND, PAUSED = 0, 1, 2


@compiled
def walk(
    indptr, ranks, weights, starts, tidlists, positions, supports, low, high, sort, most,
    live, k, smallest, largest, path, length, last, marks, budget,
):  # fmt: skip
    """Go on with a preorder walk over the itemsets of at most `largest` nodes; stop at the next threats.

    Children of a path are the nodes of greater rank that occur with it, in order of rank. A path never
    contains a node and its ancestor, nor a node that is not `live`. A path of at least `smallest` nodes with
    support below k is a threat.

    - indptr, ranks, weights: the distinct extended rows (ranks ascending); starts, tidlists, positions: their
      inverse
    - supports: int64 (n,); low, high: int32 (n,), leaf intervals, nested for an ancestor and its descendant;
      live: bool (n,), nodes not generalized yet; all by rank; sort, most: see `setveil.kernels.limits`
    - path: int64, written: the walk goes on behind the subtree of ``path[:length]`` (0: from the start)
    - last: int64 (n,), written: nodes, ascending, that make ``path[:length]`` a threat of `largest` nodes
    - marks: bool (n,), or empty: if given, threats do not stop the walk, and their nodes are marked
    - budget: steps (about) after which the walk pauses

    Returns state (FINISHED, FOUND, or PAUSED: call again with the same path and length), length and found: 0
    if ``path[:length]`` is a threat itself, otherwise it is one with each of ``last[:found]``.
    """
    n = supports.size
    count = np.zeros(n, np.int64)
    fill = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    resume = length
    goal = path[:length].copy()

    # Level d >= 1 holds the children of path[:d]: candidates first[d]..first[d+1].
    first = np.zeros(largest + 1, np.int64)
    current = np.zeros(largest + 1, np.int64)
    levels = no_levels(n)
    d = np.int64(0)
    steps = np.int64(0)
    if resume > 0:
        current[0] = goal[0]
    while True:
        # The next candidate of this level.
        if d == 0:
            while current[0] < n and not live[current[0]]:
                current[0] += 1
            if current[0] >= n:
                return FINISHED, 0, 0
            node, have = current[0], supports[current[0]]
        else:
            if current[d] >= first[d + 1]:
                d -= 1
                if steps > budget:
                    return PAUSED, d + 1, 0
                current[d] += 1
                continue
            node, have = levels[0][current[d]], levels[1][current[d]]
        descend = d + 1 < largest
        check = True
        if resume > 0:
            if node < goal[d]:
                current[d] += 1
                continue
            if node == goal[d]:
                check = False
                if d == resume - 1:
                    descend = False
                    resume = 0
            else:
                resume = 0
        path[d] = node
        if check and have < k and d + 1 >= smallest:
            if marks.size == 0:
                return FOUND, d + 1, 0
            marks[path[: d + 1]] = True
        if not descend:
            current[d] += 1
            continue

        # Count what stands behind this path.
        if d == 0:
            from_, to = starts[node], starts[node + 1]
            found, looked = count_behind(
                from_, to, tidlists, positions, indptr, ranks, weights, live, count, fill, touched
            )
        else:
            from_, to = levels[2][current[d]], levels[2][current[d] + 1]
            found, looked = count_behind(
                from_, to, levels[3], levels[4], indptr, ranks, weights, live, count, fill, touched
            )
        steps += looked
        kept = 0
        for t in range(found):
            y = touched[t]
            if is_apart(path[: d + 1], y, low, high) and has_room(path[: d + 1], y, sort, most):
                touched[kept] = y
                kept += 1
            else:
                count[y] = 0
                fill[y] = 0
        if d + 2 == largest:
            # The last level: nothing descends from it, so only its threats matter.
            threats = 0
            for t in range(kept):
                y = touched[t]
                if count[y] < k:
                    last[threats] = y
                    threats += 1
                count[y] = 0
                fill[y] = 0
            if threats > 0:
                if marks.size == 0:
                    sort_piece(last, 0, threats)
                    return FOUND, d + 1, threats
                marks[path[: d + 1]] = True
                marks[last[:threats]] = True
            if steps > budget:
                return PAUSED, d + 1, 0
            current[d] += 1
            continue

        # Make the next level: candidates in order, each with its places.
        sort_piece(touched, 0, kept)
        c = first[d + 1]
        levels = add_level(touched[:kept], c, 0, count, fill, levels)
        if d == 0:
            add_places(from_, to, tidlists, positions, indptr, ranks, touched[:kept], fill, levels)
        else:
            add_places(from_, to, levels[3], levels[4], indptr, ranks, touched[:kept], fill, levels)
        d += 1
        current[d] = c
        first[d + 1] = c + kept
