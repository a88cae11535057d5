"""Which nodes of a hierarchy may be published next to which, for the rows of one part."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece


@compiled
def count_nodes(indptr, items, rows, parent, occurrences, support):
    """Count the occurrences under each node and the rows of a part with one; return its non-empty rows."""
    stamp = np.full(parent.size, -1, np.int64)
    filled = 0
    for r in range(rows.size):
        row = rows[r]
        if indptr[row + 1] > indptr[row]:
            filled += 1
        for p in range(indptr[row], indptr[row + 1]):
            v = np.int64(items[p])
            while v >= 0:
                occurrences[v] += 1
                if stamp[v] != r:
                    stamp[v] = r
                    support[v] += 1
                v = np.int64(parent[v])
    return filled


@compiled
def number_nodes(parent, upwards, occurrences, support, k, allowed, number, node):
    """Give numbers to the nodes that a release may have to publish, and return how many there are.

    These are the allowed ones with at least k rows, but for those with all occurrences under such a node
    further down: that one is published instead, in the same rows, and says more. upwards: all nodes, each
    before its parent; number: int64 (n_nodes,), written, -1 for others; node: int64, written: the nodes,
    ascending.
    """
    replaced = np.zeros(parent.size, np.bool_)
    for v in upwards:
        number[v] = -1
        if allowed[v] and support[v] >= k and not replaced[v]:
            number[v] = 0
        up = parent[v]
        if up >= 0 and (replaced[v] or number[v] == 0) and occurrences[up] == occurrences[v]:
            replaced[up] = True
    n = 0
    for v in range(parent.size):
        if number[v] == 0:
            number[v] = n
            node[n] = v
            n += 1
    return n


@compiled
def find_conflicts(indptr, items, rows, parent, number, node, k, clash):
    """Mark in `clash` the pairs of nodes that are one above the other or meet in 1 to k - 1 rows."""
    n = node.size
    # Rows of numbers, and the rows of each number.
    starts = np.zeros(n + 2, np.int64)
    stamp = np.full(n, -1, np.int64)
    size = np.int64(0)
    for r in range(rows.size):
        for p in range(indptr[rows[r]], indptr[rows[r] + 1]):
            v = np.int64(items[p])
            while v >= 0:
                i = number[v]
                if i >= 0 and stamp[i] != r:
                    stamp[i] = r
                    starts[i + 2] += 1
                    size += 1
                v = np.int64(parent[v])
    for i in range(n):
        starts[i + 2] += starts[i + 1]
    ends = np.zeros(rows.size + 1, np.int64)
    numbers = np.empty(size, np.int64)
    holders = np.empty(size, np.int64)
    stamp[:] = -1
    size = np.int64(0)
    for r in range(rows.size):
        for p in range(indptr[rows[r]], indptr[rows[r] + 1]):
            v = np.int64(items[p])
            while v >= 0:
                i = number[v]
                if i >= 0 and stamp[i] != r:
                    stamp[i] = r
                    numbers[size] = i
                    holders[starts[i + 1]] = r
                    starts[i + 1] += 1
                    size += 1
                v = np.int64(parent[v])
        ends[r + 1] = size
    # For each node, how many of its rows hold each other one: in some, but fewer than k, they clash; and so
    # do nodes above it.
    together = np.zeros(n, np.int64)
    for i in range(n):
        for at in range(starts[i], starts[i + 1]):
            r = holders[at]
            for p in range(ends[r], ends[r + 1]):
                together[numbers[p]] += 1
        for j in range(n):
            if 0 < together[j] < k:
                clash[i, j] = True
            together[j] = 0
        up = np.int64(parent[node[i]])
        while up >= 0:
            j = number[up]
            if j >= 0:
                clash[i, j] = True
                clash[j, i] = True
            up = np.int64(parent[up])


@compiled
def cover_conflicts(clash, order, members, ends):
    """Cover all conflicts by cliques: sets of nodes that are pairwise in conflict.

    Begins with the nodes that come first in order, which matter most; grows each clique by the node that
    covers most conflicts which no clique covers yet. members, ends: int64, written: the cliques, and where
    each ends. Returns the lengths of `ends` and `members`: if there was too little room, call again with as
    much.
    """
    n = order.size
    covered = np.zeros((n, n), np.bool_)
    candidate = np.empty(n, np.int64)
    score = np.zeros(n, np.int64)
    clique = np.empty(n, np.int64)
    cliques, size = 0, 0
    for i in order:
        for first in order:
            if not clash[i, first] or covered[i, first]:
                continue
            clique[0], clique[1] = i, first
            length = 2
            left = 0
            for j in order:
                if clash[i, j] and clash[first, j]:
                    candidate[left] = j
                    score[j] = np.int64(not covered[i, j]) + np.int64(not covered[first, j])
                    left += 1
            while left > 0:
                best = candidate[0]
                for t in range(1, left):
                    if score[candidate[t]] > score[best]:
                        best = candidate[t]
                clique[length] = best
                length += 1
                kept = 0
                for t in range(left):
                    j = candidate[t]
                    if clash[best, j]:
                        score[j] += np.int64(not covered[best, j])
                        candidate[kept] = j
                        kept += 1
                left = kept
            for a in range(length):
                for b in range(length):
                    covered[clique[a], clique[b]] = True
            if cliques < ends.size and size + length <= members.size:
                members[size : size + length] = clique[:length]
                ends[cliques] = size + length
            cliques += 1
            size += length
    return cliques, size


@compiled
def fill_up(clash, order, chosen):
    """Choose each node, in order, that is in conflict with none chosen before (bool (n,), false, written)."""
    for i in order:
        free = True
        for j in range(chosen.size):
            if chosen[j] and clash[i, j]:
                free = False
                break
        if free:
            chosen[i] = True


@compiled
def broken_cliques(clash, values, order, members, ends):
    """List cliques whose values add up to more than 1, each grown from a node by the greatest values.

    order: the nodes of positive values, the greatest first; members, ends: written, the cliques, each
    ascending, and where each ends. Returns how many; no more than there is room for.
    """
    candidate = np.empty(order.size, np.int64)
    clique = np.empty(order.size, np.int64)
    cliques, size = 0, 0
    for i in order:
        if values[i] > 1 - 1e-6:
            continue
        clique[0] = i
        length = 1
        total = values[i]
        left = 0
        for j in order:
            if clash[i, j]:
                candidate[left] = j
                left += 1
        while left > 0:
            best = candidate[0]
            clique[length] = best
            length += 1
            total += values[best]
            kept = 0
            for t in range(left):
                if clash[best, candidate[t]]:
                    candidate[kept] = candidate[t]
                    kept += 1
            left = kept
        if total > 1 + 1e-6:
            if cliques == ends.size or size + length > members.size:
                return cliques
            sort_piece(clique, 0, length)
            members[size : size + length] = clique[:length]
            size += length
            ends[cliques] = size
            cliques += 1
    return cliques
