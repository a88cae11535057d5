"""The most general forms of the threats of a forest."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.methods.algorithms.exact._violated_clauses import is_over, is_rare


@compiled
def generalize_threat(some, first, parent, low, high, root, starts, tidlists, weights, dense, bits, k):
    """Generalize the nodes of a threat, `first` first, while the set stays rare, then drop nodes likewise."""
    n = some.size
    nodes = some.copy()
    for step in range(n):
        i = (first + step) % n
        while True:
            above = np.int64(parent[nodes[i]])
            if above == root or is_over(above, nodes, i, low, high):
                break
            below = nodes[i]
            nodes[i] = above
            if not is_rare(nodes, starts, tidlists, weights, dense, bits, k):
                nodes[i] = below
                break
    size = n
    i = 0
    while i < size and size > 1:
        rest = np.empty(size - 1, np.int64)
        for j in range(size):
            if j < i:
                rest[j] = nodes[j]
            elif j > i:
                rest[j - 1] = nodes[j]
        if is_rare(rest, starts, tidlists, weights, dense, bits, k):
            nodes[: size - 1] = rest
            size -= 1
        else:
            i += 1
    return nodes[:size].copy()
