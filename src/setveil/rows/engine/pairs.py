"""The supports of all pairs of items of rows in memory, counted once for all that ask for them."""

from __future__ import annotations

from math import comb
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.count import MOST_ROWS, cell_offsets, empty_table, fits, number_of_sets
from setveil.kernels.rows import Ints
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.counting import count_numbers

MOST_STEPS = 64  # for each occurrence, to count pairs that others may ask for, too

Table = NDArray[np.int32]  # supports by the cells of `setveil.kernels.count`

_kept: WeakKeyDictionary[Transactions, Table] = WeakKeyDictionary()


def pair_table(data: Transactions) -> Table:
    """Count the rows that contain each pair of items: int32, by cell; kept if it is smaller than the rows."""
    found = _kept.get(data)
    if found is None:
        found = count_numbers([data.distinct], data.n_items, 2, data.distinct[1].size)
        if _is_small(data):
            _kept[data] = found
    return found


def is_counted(data: Transactions) -> bool:
    """Return whether the pairs of these rows are counted already."""
    return data in _kept


def is_worth_it(data: Transactions) -> bool:
    """Return whether to count all pairs even if few are asked for: the table is kept, and soon made."""
    if is_counted(data):
        return True
    work = work_of_pairs(data) if _is_small(data) else None
    return work is not None and work <= MOST_STEPS * data.distinct[1].size


def _is_small(data: Transactions) -> bool:
    return comb(data.n_items, 2) <= data.items.size  # both of 4 bytes


def work_of_pairs(data: Transactions) -> int | None:
    """Estimate the steps of counting all pairs; None where no table of them can be made."""
    if not fits(data.n_items, 2) or data.n_rows > MOST_ROWS:
        return None
    return max(number_of_sets(np.bincount(np.diff(data.distinct[0])), 2), comb(data.n_items, 2))


def reordered(table: Table, order: Ints) -> Table:
    """Bring a table into another order of the items: rank r is item ``order[r]``.

    >>> reordered(np.array([5, 6, 7], np.int32), np.array([2, 0, 1])).tolist()  # {0, 1}, {0, 2}, {1, 2}
    [6, 7, 5]
    """
    out = empty_table(order.size, 2)
    offsets = cell_offsets(order.size, 2)[1]
    for rank in range(1, order.size):
        own, others = order[rank], order[:rank]
        cells = np.minimum(others, own) + offsets[np.maximum(others, own)]
        out[offsets[rank] : offsets[rank] + rank] = table[cells]
    return out
