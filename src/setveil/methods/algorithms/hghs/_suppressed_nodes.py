"""Which nodes of a cut to suppress, kept up to date while nodes are replaced by their children.

Nodes are numbered by the order in which it is decided whether to keep them. A node of the cut is suppressed
if it is the last of a threat whose other nodes are all kept, so a decision depends on earlier ones only, and
where a node is replaced, the decisions that may change are found by following the threats.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from setveil.base.jit import compiled


@compiled
def find_last_nodes(sizes, nodes, first, stop, at, last, degrees):
    """Find the last node of the threats ``first:stop``; count the threats in which each node is not the last.

    The nodes of the first one begin at `at`; where those of the threat at `stop` begin is returned. last:
    int32 (threats,); degrees: int64 (n_nodes + 1,), zeros, entry ``v + 1`` is for node v; both written.
    """
    for s in range(first, min(stop, sizes.size)):
        end = at + sizes[s]
        greatest = np.int64(nodes[at])
        for p in range(at, end):
            greatest = max(greatest, np.int64(nodes[p]))
        last[s] = greatest
        for p in range(at, end):
            if nodes[p] != greatest:
                degrees[nodes[p] + 1] += 1
        at = end
    return at


@compiled
def list_threats(sizes, nodes, first, stop, at, last, fill, threats):
    """List for each node the threats of ``first:stop`` in which it is not the last, from its `fill` on."""
    for s in range(first, min(stop, sizes.size)):
        end = at + sizes[s]
        for p in range(at, end):
            v = nodes[p]
            if v != last[s]:
                threats[fill[v]] = s
                fill[v] += 1
        at = end
    return at


@compiled
def _turn(v, index, open_, firing, kept, in_cut, heap, waiting):
    """Keep node v that was not, or the reverse; push nodes to decide again; return the threats looked at."""
    starts, threats, last = index
    on = not kept[v]
    kept[v] = on
    for p in range(starts[v], starts[v + 1]):
        s = threats[p]
        if on:
            open_[s] -= 1
            if open_[s] > 0:
                continue
            y = np.int64(last[s])
            firing[y] += 1
            changes = firing[y] == 1
        else:
            open_[s] += 1
            if open_[s] > 1:
                continue
            y = np.int64(last[s])
            firing[y] -= 1
            changes = firing[y] == 0
        if changes and in_cut[y] and not waiting[y]:
            waiting[y] = True
            heappush(heap, y)
    return starts[v + 1] - starts[v]


@compiled
def replace_node(v, children, index, open_, firing, kept, in_cut, waiting, cost, turned):
    """Replace a node of the cut (-1: nothing) by its children and decide again what that touches.

    - index: starts, threats, last: for each node the threats in which it is not the last; the last node of
      each threat
    - open_: int16 (threats,), written: how many of its nodes, but for the last, are not kept; firing: int64
      (n,), written: how many threats a node is the last of whose other nodes are all kept
    - kept, in_cut: bool (n,), written; waiting: bool (n,), all False; cost: int64 (2, n), of keeping, of
      suppressing
    - turned: int64 (n,), written: the nodes whose decision changed, in the order of the changes

    Returns the change of the cost, the number of these nodes, and of threats looked at.
    """
    heap = [np.int64(0)]
    heappop(heap)
    more, looked, n = np.int64(0), np.int64(0), 0
    if v >= 0:
        in_cut[v] = False
        more -= cost[0, v] if kept[v] else cost[1, v]
        if kept[v]:
            turned[n] = v
            n += 1
            looked += _turn(v, index, open_, firing, kept, in_cut, heap, waiting)
    for child in children:
        in_cut[child] = True
        more += cost[1, child]
        if not waiting[child]:
            waiting[child] = True
            heappush(heap, child)
    while len(heap) > 0:
        x = heappop(heap)
        waiting[x] = False
        if kept[x] == (firing[x] > 0):
            more += cost[1, x] - cost[0, x] if kept[x] else cost[0, x] - cost[1, x]
            turned[n] = x
            n += 1
            looked += _turn(x, index, open_, firing, kept, in_cut, heap, waiting)
    return more, n, looked


@compiled
def best_replacement(
    candidates, first, children, index, open_, firing, kept, in_cut, waiting, cost, turned, best, budget
):  # fmt: skip
    """Try to replace each candidate by its children, and take it back; remember the least cost.

    Begins with `first`. Arguments are as in `replace_node`, and unchanged afterwards. best: int64 (2,),
    written: the least change of the cost so far, and the first candidate that has it; it starts as (0, -1).
    Stops after about `budget` threats, and returns where to go on.
    """
    starts, nodes = children
    at = first
    left = budget
    while at < candidates.size and left > 0:
        v = candidates[at]
        below = nodes[starts[v] : starts[v + 1]]
        more, n, looked = replace_node(v, below, index, open_, firing, kept, in_cut, waiting, cost, turned)
        if more < best[0]:
            best[0], best[1] = more, v
        for i in range(n - 1, -1, -1):
            _turn_back(turned[i], index, open_, firing, kept)
        for child in below:
            in_cut[child] = False
        in_cut[v] = True
        left -= 2 * looked + below.size
        at += 1
    return at


@compiled
def _turn_back(v, index, open_, firing, kept):
    """Take back `_turn`."""
    starts, threats, last = index
    kept[v] = not kept[v]
    for p in range(starts[v], starts[v + 1]):
        s = threats[p]
        if kept[v]:
            open_[s] -= 1
            if open_[s] == 0:
                firing[last[s]] += 1
        else:
            if open_[s] == 0:
                firing[last[s]] -= 1
            open_[s] += 1
