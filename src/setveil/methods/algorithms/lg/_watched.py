"""What LG decides about the part that is next, found before it does so: for traces only."""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.base.tracing import Trace, most
from setveil.kernels.rows import Ints
from setveil.methods.algorithms.lg import _partition_loops as loops
from setveil.rows.hierarchy.tree import Hierarchy


def report_part(
    trace: Trace, tree: Hierarchy, rows: Any, grown: Any, k: int, waiting: Any, state: Ints
) -> None:
    """Write a step before `partition_top_down`: the last part that waits, gains, and the chosen node."""
    last = state[loops.PARTS] - 1
    row, copies = (array[waiting[4][last] : state[loops.ROWS]].copy() for array in waiting[:2])
    first, end = int(waiting[5][last]), int(state[loops.NODES])
    node, alive = waiting[2].copy(), waiting[3].copy()
    found, gain = np.empty(rows[1].size, np.int64), np.empty(rows[1].size, np.int64)
    at = np.zeros(rows[1].size + 1, np.int64)
    expanded = True
    while expanded:
        loops._find_children(rows, grown, row, node[first:end], alive[first:end], found, at, gain)
        end, expanded = loops._expand_shared(grown[2], node, alive, first, end, row.size, found, at)
    gains = []
    if copies.sum() >= 2 * k:
        gains = _gains(node[first:end], alive[first:end], copies, k, found, at, gain)
    whole = tree.n_leaves * max(rows[1].size, 1)
    best = min(gains, key=lambda one: (-one[1], one[0]))[0] if gains else None
    trace.step(
        rows=int(copies.sum()),
        cut=[tree.labels[v] for v in node[first:end].tolist()],
        **most(
            {"expand": tree.labels[v], "gain": number / whole}
            for v, number in sorted(gains, key=lambda one: (-one[1], one[0]))
        ),
        chosen=None if best is None else tree.labels[best],
    )


def _gains(
    node: Ints, alive: Any, copies: Ints, k: int, found: Ints, at: Ints, gain: Ints
) -> list[tuple[int, int]]:
    """List the nodes that can be expanded, and by how much that lowers the cost."""
    n = copies.size
    table, group, leader, stay = (np.empty(size, np.int64) for size in (4 * n + 4, n, n, n))
    gains = []
    for j in np.flatnonzero(alive).tolist():
        groups = loops._group_rows(n, node.size, j, found, at, table, group, leader)
        here = loops._pool(copies, gain, node.size, j, k, group, groups, stay)
        if here > 0:
            gains.append((int(node[j]), int(here)))
    return gains
