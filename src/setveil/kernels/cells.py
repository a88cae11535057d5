"""Which of a few items each row holds, summed up over weighted rows."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled


@compiled
def cell_weights(starts, rows, query, group, per_row, size, cell, seen):  # type: ignore[no-untyped-def]
    """Sum the weights of the rows of each cell of a group-by query.

    A row is in cell c if it holds the items of the query whose bits are set in c.

    Parameters
    ----------
    starts, rows
        The rows of each item (see `setveil.kernels.rows.invert`).
    query : int64 (r,)
        Distinct items; bit j of a cell is item j.
    group : int64 (n,)
        Group of each row.
    per_row : float64 (groups,)
        Weight of each row of a group.
    size : int64 (groups,)
        Number of rows of each group.
    cell, seen : int64 (n,), int64 (groups,)
        Workspaces; zero before and after.

    Returns
    -------
    float64 (2^r,)
    """
    out = np.zeros(1 << query.size, np.float64)
    for j in range(query.size):
        for p in range(starts[query[j]], starts[query[j] + 1]):
            row = np.int64(rows[p])
            if per_row[group[row]] > 0.0:
                if cell[row] == 0:
                    seen[group[row]] += 1
                cell[row] |= 1 << j
    for j in range(query.size):
        for p in range(starts[query[j]], starts[query[j] + 1]):
            row = np.int64(rows[p])
            if cell[row] != 0:
                out[cell[row]] += per_row[group[row]]
                cell[row] = 0
    for g in range(size.size):
        if per_row[g] > 0.0:
            out[0] += (size[g] - seen[g]) * per_row[g]
            seen[g] = 0
    return out
