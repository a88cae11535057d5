"""How weighted rows spread over the cells of a group-by query."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled


@compiled
def cell_weights(starts, tidlists, weights, query, cell):
    """Sum the weights of the rows in each cell of a group-by query: float64 (2^r,).

    A row is in cell c if, of the query's items, it contains exactly those whose bits are set in c. query:
    int64 (r,), distinct, item j is bit j; starts, tidlists: see `setveil.kernels.rows.invert`; weights:
    float64 (n,); cell: int64 (n,), workspace, zero before and after.
    """
    out = np.zeros(1 << query.size, np.float64)
    for j in range(query.size):
        for p in range(starts[query[j]], starts[query[j] + 1]):
            cell[tidlists[p]] |= 1 << j
    for row in range(weights.size):
        out[cell[row]] += weights[row]
        cell[row] = 0
    return out
