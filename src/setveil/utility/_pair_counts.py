"""The loop that counts pairs of items."""

from __future__ import annotations

from setveil.jit import compiled


@compiled
def count_beside(indptr, items, weights, rows, counts):
    """Add to `counts`, for each item, the weight of the given rows that hold it.

    Parameters
    ----------
    indptr, items, weights
        Distinct rows, and how many rows each represents.
    rows : int32 (any,)
        Some of them.
    counts : int64 (items,), written
    """
    for row in rows:
        for p in range(indptr[row], indptr[row + 1]):
            counts[items[p]] += weights[row]
