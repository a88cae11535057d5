"""The least loss where a threat is a single node, without an integer program.

A release is then valid if each node that it publishes is in no row or in at least k rows, whatever else it
publishes, and its loss is a sum over what it publishes and suppresses. So the best below a node is the least
of publishing this node, if it may be, and of the best below each of its children, together; for a leaf, of
publishing and suppressing it. Leaves before their parents, this finds the optimum in one pass.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

import numpy as np
from numpy.typing import NDArray

from setveil.methods.algorithms.exact._losses import Losses, upwards
from setveil.rows.hierarchy.tree import Hierarchy

NEVER = inf, 0  # loss and occurrences suppressed of what must not be


def least_loss(
    tree: Hierarchy,
    losses: Losses,
    published: NDArray[np.bool_],
    suppressed: NDArray[np.bool_],
) -> tuple[list[int], list[int]]:
    """List the inner nodes of the cut of least loss, and the leaves that are suppressed.

    Of cuts that lose the same the one that suppresses fewer occurrences, then the lower one. `published`,
    `suppressed`: nodes and leaves that may be so; some cut must be possible.
    """
    order, parent, n_leaves = upwards(tree), tree.parent.tolist(), tree.n_leaves
    least: list[tuple[float, int]] = [(0, 0)] * tree.n_nodes  # of what is below each node
    chosen = np.zeros(tree.n_nodes, bool)  # better than what is below; of a leaf, than suppressing it
    for v in order:
        itself = (losses.full[v], 0) if published[v] else NEVER
        if v < n_leaves:
            least[v] = (losses.hidden[v], losses.occurrences[v]) if suppressed[v] else NEVER
        chosen[v] = itself <= least[v] if v < n_leaves else itself < least[v]
        if chosen[v]:
            least[v] = itself
        if parent[v] >= 0:
            loss, gone = least[parent[v]]
            least[parent[v]] = loss + least[v][0], gone + least[v][1]
    nodes: list[int] = []
    below = np.zeros(tree.n_nodes, bool)  # nodes below one of the cut
    for v in reversed(order):
        below[v] = parent[v] >= 0 and (below[parent[v]] or chosen[parent[v]])
        if chosen[v] and not below[v] and v >= n_leaves:
            nodes.append(v)
    leaves = np.arange(n_leaves)
    return nodes, np.flatnonzero(~below[leaves] & ~chosen[leaves]).tolist()


def may_be_published(
    tree: Hierarchy, support: NDArray[np.int64], k: int, kept: Collection[int], barred: Collection[int]
) -> NDArray[np.bool_]:
    """Tell which nodes but the root are in no row or in at least k, and not above an item to keep."""
    may: NDArray[np.bool_] = (support == 0) | (support >= k)
    may[tree.root] = True
    may[list(barred)] = False
    may[sorted({up for leaf in kept for up in tree.ancestors(leaf)})] = False
    return may
