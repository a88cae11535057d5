"""What a threat proves in most general form."""

from __future__ import annotations

from setveil.base.jit import compiled
from setveil.kernels.walk import support


@compiled
def general_forms(
    threats, parent, low, high, root, starts, tidlists, weights, k, nowhere, forms, sizes
):  # fmt: skip
    """Generalize one node of each threat after the other while it stays rare, beginning with each in turn.

    Then nodes are omitted without which it is still rare. threats: int64 (n, size), nodes that fewer than k
    rows hold together; nowhere: int64 (0,). forms, sizes: int64 (n, size, size), (n, size), written: what
    comes of each beginning, and its number of nodes.
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
