"""What a threat proves in most general form."""

from __future__ import annotations

from setveil.jit import compiled
from setveil.kernels.walk import support


@compiled
def general_forms(
    threats, parent, low, high, root, starts, tidlists, weights, k, nowhere, forms, sizes
):  # fmt: skip
    """Generalize one node of each threat after the other while it stays rare, beginning with each in turn.

    Then nodes are omitted without which it is still rare.

    Parameters
    ----------
    threats : int64 (n, size)
        Nodes that fewer than k rows hold together.
    parent, low, high, root
        The tree: of each node its parent and its leaves, int64.
    starts, tidlists, weights
        The rows of each node (see `setveil.kernels.walk.support`).
    k : int
    nowhere : int64 (0,)
    forms, sizes : int64 (n, size, size), int64 (n, size), written
        What comes of each beginning, and its number of nodes.
    """
    size = threats.shape[1]
    for number in range(threats.shape[0]):
        for first in range(size):
            nodes = threats[number].copy()
            for turn in range(size):
                i = (first + turn) % size
                while True:
                    up = parent[nodes[i]]
                    stop = up == root
                    for j in range(size):
                        if j != i and low[up] <= low[nodes[j]] and high[nodes[j]] <= high[up]:
                            stop = True
                    if stop:
                        break
                    before = nodes[i]
                    nodes[i] = up
                    if support(starts, tidlists, weights, nodes, k, nowhere)[0] >= k:
                        nodes[i] = before
                        break
            for v in nodes.copy():
                rest = nodes[nodes != v]
                if rest.size > 0 and support(starts, tidlists, weights, rest, k, nowhere)[0] < k:
                    nodes = rest
            sizes[number, first] = nodes.size
            forms[number, first, : nodes.size] = nodes
