"""Rows enough to tell which sets of items are rare: the same threats as in all rows, in fewer of them.

A cut is k^m-anonymous if no set S of at most m of its nodes has a support in (0, k). Keep of each row the
items that are in a set of at most m items of the row with a support below k, and of other sets so many that
each is in k rows that are kept. Then S has the same support as before if that is below k, else at least k:

- if some set of items below S, one below each node, has a support of at least k, k rows with it are kept;
- else each row that holds S holds such a set, which is rare, and is kept with it.

So an algorithm that asks only for supports below k, and for the rows behind them, may look at these rows. How
often items occur, which is what a loss depends on, it must count in all rows.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.engine.counting import count_numbers
from setveil.kernels.count import MOST_CELLS, MOST_ROWS, cell_offsets, mark_witnesses
from setveil.kernels.rows import Ids, Ints, frozen, take_rows
from setveil.progress import Progress

LEAST = 1 << 20  # occurrences of distinct rows from which on this is worth it


def witness_rows(data: Transactions, k: int, m: float, progress: Progress) -> Transactions:
    """Find rows with the same threats, by content; all rows where these are few or sets do not fit in tables.

    Parameters
    ----------
    data : Transactions
        The rows.
    k, m : int, int or float
        A set of at most m items is rare if fewer than k rows hold it.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    Transactions
        With the same items. A row stands for at most k equal ones.
    """
    indptr, items, weights = data.distinct
    largest = int(min(m, np.diff(indptr).max(initial=0)))
    n = data.n_items
    if items.size < LEAST or 2 * comb(n, largest) > MOST_CELLS or data.n_rows > MOST_ROWS:
        return data
    k = min(k, data.n_rows + 1)
    weights = frozen(np.minimum(weights, k), np.int64)
    kept = np.zeros(items.size, bool)
    have = np.zeros(comb(n, largest), np.int32)
    for size in range(largest, 0, -1):
        progress(f"choosing rows for itemsets of size {size}")
        if size < largest:
            have = count_numbers(*_marked(indptr, items, kept), weights, n, size)
        table = count_numbers(indptr, items, weights, n, size)
        mark_witnesses(indptr, items, weights, cell_offsets(n, size), table, k, have, kept)
    starts, some = _marked(indptr, items, kept)
    row = np.repeat(np.arange(weights.size), np.where(np.diff(starts) > 0, weights, 0))
    return Transactions(*take_rows(starts, some, row), data.vocabulary)


def _marked(indptr: Ints, items: Ids, kept: NDArray[np.bool_]) -> tuple[Ints, Ids]:
    """Cut rows down to what is marked."""
    before = np.concatenate(([0], np.cumsum(kept)))
    return frozen(before[indptr], np.int64), frozen(items[kept], np.int32)
