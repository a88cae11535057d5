"""Counts of pairs of items: those with one item, and all, if rows contain few of the possible pairs."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.kernels.rows import Ids, Ints

MOST_LISTED = 1 << 23  # pairs in all rows that are listed
SPARSE = 200  # as many times these must be fewer than the square of the number of items


def few_pairs(indptr: Ints, items: Ids, weights: Ints, n_items: int) -> tuple[Ints, Ints, Ints] | None:
    """List the pairs of items that occur, with their rows; None if there are too many of them."""
    sizes = np.diff(indptr)
    if int((sizes * (sizes - 1) // 2).sum()) > min(MOST_LISTED, n_items * n_items // SPARSE):
        return None
    row = np.repeat(np.arange(sizes.size), sizes)
    later = indptr[1:][row] - np.arange(items.size) - 1  # occurrences that follow in the row
    first = np.repeat(np.arange(items.size), later)
    second = first + 1 + np.arange(first.size) - np.repeat(np.cumsum(later) - later, later)
    one, other = items[first].astype(np.int64), items[second].astype(np.int64)
    pairs, at = np.unique(np.minimum(one, other) * n_items + np.maximum(one, other), return_inverse=True)
    rows = np.zeros(pairs.size, np.int64)
    np.add.at(rows, at, weights[row[first]])
    return pairs // n_items, pairs % n_items, rows


@compiled
def count_beside(indptr, items, weights, rows, counts):
    """Add to `counts`, for each item, the weight of those of the given (distinct) rows that contain it."""
    for row in rows:
        for p in range(indptr[row], indptr[row + 1]):
            counts[items[p]] += weights[row]
