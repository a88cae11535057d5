"""How weighted rows spread over the cells of a group-by query."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled


@compiled
def cell_weights(starts, tidlists, weights, query, cell):
    """Sum the weights of the rows in each cell of a group-by query.

    A row is in cell c if it holds those items of the query whose bits are set in c, and no other of them.

    Parameters
    ----------
    starts, tidlists
        The rows of each item (see `setveil.kernels.rows.invert`).
    weights : float64 (n,)
        Weight of each row.
    query : int64 (r,)
        Distinct items; item j is bit j of a cell.
    cell : int64 (n,)
        Workspace; zero before and after.

    Returns
    -------
    float64 (2^r,)
    """
    out = np.zeros(1 << query.size, np.float64)
    for j in range(query.size):
        for p in range(starts[query[j]], starts[query[j] + 1]):
            cell[tidlists[p]] |= 1 << j
    for row in range(weights.size):
        out[cell[row]] += weights[row]
        cell[row] = 0
    return out
