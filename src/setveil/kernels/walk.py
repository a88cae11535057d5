"""The preorder walk over itemsets of extended rows, and the support of one itemset."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled
from setveil.kernels.limits import has_room
from setveil.kernels.node_paths import add_level, add_places, count_behind, is_apart, no_levels
from setveil.sorting import sort_piece


@compiled
def extend_rows(indptr, items, parent, wanted, out_ptr, out_nodes):
    """Write the wanted ones of each row's nodes and all their ancestors, in no order.

    Parameters
    ----------
    indptr, items : int64 (n + 1,), int32 (occurrences,)
        The rows of nodes.
    parent : int32 (n_nodes,)
        Parent of each node, -1 for the root.
    wanted : bool (n_nodes,)
    out_ptr : int64 (n + 1,), zeros, written
        Where each extended row begins.
    out_nodes : int32 (occurrences times the tree's levels,), written

    Returns
    -------
    int
        Number of nodes written.
    """
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
    """Weight of the rows that contain all `nodes`; counting stops once it reaches `enough`.

    Parameters
    ----------
    starts, tidlists : int64 (n_nodes + 1,), int32 (occurrences,)
        The rows of each node (see `setveil.kernels.rows.invert`).
    weights : int64 (n,)
        How many rows each row represents.
    nodes : int64 (1 or more,)
        Distinct.
    enough : int
    holders : int64 (any,), written
        Receives the rows found, up to its length.

    Returns
    -------
    weight, rows : int
    """
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
def rare_beside(
    indptr, items, weights, starts, tidlists, image, leaves, k, others, row_seen, last_row, support
):
    """Whether what some leaves are published as is rare: by itself, or together with one other node.

    Parameters
    ----------
    indptr, items, weights
        The rows of leaves, and how many rows each represents.
    starts, tidlists
        The rows of each leaf (see `setveil.kernels.rows.invert`).
    image : int32 (n_nodes,)
        What each leaf is published as, negative: nothing.
    leaves : int32 (1 or more,)
        All leaves that are published as one node.
    k : int
        Rare is a support in (0, k).
    others : bool (n_nodes,), or empty
        Which other nodes to look at; empty: none at all.
    row_seen : bool (n,), False, written
    last_row : int64 (n_nodes,), -1, written
    support : int64 (n_nodes,), 0, written
        Memory, left as it was found.

    Returns
    -------
    bool
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
    contains a node and its ancestor, nor a node that is not `live`.

    Parameters
    ----------
    indptr, ranks, weights
        The distinct extended rows (ranks ascending), and how many rows each represents.
    starts, tidlists, positions
        Rows of each rank and where it is in them (see `setveil.kernels.rows.invert`).
    supports : int64 (n,)
        Support of each single rank.
    low, high : int32 (n,)
        Leaf interval of each rank; nested intervals are an ancestor and its descendant.
    sort, most : int64 (n,), int64 (sorts,)
        The sort of each rank, and how many of each sort a path may hold (see `setveil.kernels.limits`).
    live : bool (n,)
        Nodes that have not been generalized.
    k, smallest, largest : int
        A path of at least `smallest` nodes with support below k is a threat.
    path : int64 (>= largest,), written
    length : int
        The walk goes on behind the subtree of ``path[:length]`` (0: from the start).
    last : int64 (n,), written
        The nodes, ascending, that make ``path[:length]`` a threat of `largest` nodes if put behind it.
    marks : bool (n,), written, or empty
        If given, threats do not stop the walk: their nodes are marked.
    budget : int
        Pause after about this many steps.

    Returns
    -------
    state : int
        FINISHED, FOUND or PAUSED (call again with the same path and length).
    length : int
    found : int
        If FOUND: 0, ``path[:length]`` is a threat itself; otherwise it is one with each of ``last[:found]``.
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
