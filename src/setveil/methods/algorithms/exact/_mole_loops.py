"""Loops over minimal moles: what can be kept, and inequalities that sets of moles give together."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled

EPSILON = 1e-6
LEAST_VIOLATED = 1e-3  # by how much an inequality must be violated to be of use


@compiled
def keep_greedily(order, starts, items, item_starts, moles_of, gone):
    """Keep items in this order where that leaves no mole whole; write `gone`, the suppressed items."""
    lacks = np.zeros(starts.size - 1, np.int64)
    for mole in range(starts.size - 1):
        for p in range(starts[mole], starts[mole + 1]):
            lacks[mole] += gone[items[p]]
    for x in order:
        if not gone[x]:
            continue
        free = True
        for at in range(item_starts[x], item_starts[x + 1]):
            if lacks[moles_of[at]] == 1:
                free = False
                break
        if free:
            gone[x] = False
            for at in range(item_starts[x], item_starts[x + 1]):
                lacks[moles_of[at]] -= 1


@compiled
def violated_cliques(kept, order, near, weight_order, out, ends):
    """Find sets of items, any two of them a mole, of whose items a fractional solution keeps more than one.

    kept: float64 (n,); order: the items that are kept at all, those kept most first; near: bool (n, n), pairs
    that are moles; weight_order: all items, those first that are to join where they can. out and ends are
    written: the sets, and where each ends. Returns how many were found.
    """
    n = kept.size
    found, written = 0, 0
    clique = np.empty(n, np.int64)
    for seed in order:
        size, total = 1, kept[seed]
        clique[0] = seed
        for x in order:
            if _joins(x, clique, size, near):
                clique[size] = x
                total += kept[x]
                size += 1
        if total < 1 + LEAST_VIOLATED:
            continue
        for x in weight_order:
            if kept[x] <= EPSILON and _joins(x, clique, size, near):
                clique[size] = x
                size += 1
        if found == ends.size or written + size > out.size:
            return found
        out[written : written + size] = clique[:size]
        written += size
        ends[found] = written
        found += 1
    return found


@compiled
def _joins(x, clique, size, near):
    """Whether an item is a mole with each of a clique."""
    i = 0
    while i < size and near[x, clique[i]]:
        i += 1
    return i == size


@compiled
def lift_mole(mole, order, near, kept, weight_order, clique, factor):
    """Extend a mole of r items by a clique L of items: both together keep at most r - 1 items, if weighted.

    At most one item of L is kept. With it, the items of the mole that make a mole with it are not kept. There
    must be two or more such items, and the item of L counts as one less than their number. (A single one
    gains nothing.) clique, factor: int64 (n,), written: L and how often each counts. Returns the size of L,
    and what the solution keeps of both, weighted.
    """
    size, total = 0, 0.0
    for x in mole:
        total += kept[x]
    for turn in range(2):
        for x in order if turn == 0 else weight_order:
            if turn == 1 and kept[x] > EPSILON:
                continue
            beside = 0
            inside = False
            for y in mole:
                inside = inside or x == y
                beside += near[x, y]
            if inside or beside < 2 or not _joins(x, clique, size, near):
                continue
            clique[size] = x
            factor[size] = beside - 1
            total += kept[x] * (beside - 1)
            size += 1
        if total < mole.size - 1 + LEAST_VIOLATED:
            return 0, total
    return size, total
