"""What the search for threats with an absent item does again and again."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.kernels.rows import holds


@compiled
def few_lack(indptr, items, weights, starts, tidlists, telling, k, largest, out, found):
    """List sets of nodes, and a leaf each, where 1 to k - 1 rows contain the set without the leaf.

    Only minimal sets, of at most `largest` nodes, in distinct weighted rows of published nodes, ascending.
    telling: bool (n_nodes,), leaves that are published as themselves. out: int32 (any, largest + 1), written:
    the nodes of each set, then -1, and last the leaf; found: int64 (any,), written: how many rows that is.
    Returns how many there are; not all where there is no room left.
    """
    n_nodes, n_rows = telling.size, weights.size
    rows = np.empty((largest + 1, n_rows), np.int32)
    held = np.zeros(largest + 1, np.int64)  # rows of each level
    count = np.zeros(n_nodes, np.int64)
    mark = np.zeros(
        (largest + 1, n_nodes), np.bool_
    )  # leaves that the set of a level, or a part, is rare with
    order = np.empty((largest + 1, n_nodes), np.int32)  # nodes that occur in the rows of a level, ascending
    sizes = np.zeros(largest + 1, np.int64)
    at = np.zeros(largest + 1, np.int64)
    path = np.full(largest + 1, -1, np.int32)
    n = np.int64(0)
    d = np.int64(0)
    rows[0] = np.arange(n_rows)
    held[0] = n_rows
    fresh = True
    while d >= 0:
        if fresh:
            # Count what occurs in the rows of the set, and list the leaves that too few of them lack.
            total = np.int64(0)
            for i in range(held[d]):
                row = rows[d, i]
                total += weights[row]
                for p in range(indptr[row], indptr[row + 1]):
                    count[items[p]] += weights[row]
            size = np.int64(0)
            for v in range(n_nodes):
                mark[d, v] = mark[d - 1, v] if d > 0 else False
                if count[v] == 0:
                    continue
                order[d, size] = v
                size += 1
                left = total - count[v]
                if telling[v] and not mark[d, v] and 0 < left < k:
                    mark[d, v] = True
                    if n == found.size:
                        return n
                    out[n] = -1
                    out[n, :d] = path[:d]
                    out[n, largest] = v
                    found[n] = left
                    n += 1
            for i in range(size):
                count[order[d, i]] = 0
            sizes[d] = size
            at[d] = 0
            fresh = False
        if d == largest or at[d] == sizes[d]:
            d -= 1
            continue
        v = order[d, at[d]]
        at[d] += 1
        if d > 0 and v <= path[d - 1]:
            continue
        path[d] = v
        kept = np.int64(0)
        if d == 0:
            for q in range(starts[v], starts[v + 1]):
                rows[1, kept] = tidlists[q]
                kept += 1
        else:
            for i in range(held[d]):
                row = rows[d, i]
                if holds(items, indptr[row], indptr[row + 1], v):
                    rows[d + 1, kept] = row
                    kept += 1
        held[d + 1] = kept
        d += 1
        fresh = True
    return n


@compiled
def lacking(nodes, absent, starts, tidlists, weights, limit, out):
    """Weigh and count the rows with all `nodes` and not `absent`, up to `limit`; write them to `out`."""
    rarest = nodes[0]
    for v in nodes:
        if starts[v + 1] - starts[v] < starts[rarest + 1] - starts[rarest]:
            rarest = v
    total, n = np.int64(0), np.int64(0)
    for q in range(starts[rarest], starts[rarest + 1]):
        row = tidlists[q]
        fits = True
        for j in range(nodes.size + 1):
            v = absent if j == nodes.size else nodes[j]
            if holds(tidlists, starts[v], starts[v + 1], row) == (j == nodes.size):
                fits = False
                break
        if fits:
            out[n] = row
            n += 1
            total += weights[row]
            if total >= limit:
                break
    return total, n
