"""The supports of many itemsets."""

from __future__ import annotations

from math import comb

import numpy as np

from setveil.base.threads import each
from setveil.judges.utility._estimate_loops import count_label_sets
from setveil.kernels.count import MOST_ROWS, cell_offsets, fits, number_of_sets
from setveil.kernels.rows import Ids, Ints, frozen
from setveil.rows.data.sums import Sums, counts_itself, in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.counting import count_numbers

AT_ONCE = 50  # itemsets of a piece of work
WORTH = 8  # pairs that are counted while one row is looked up


def supports_of_sets(data: Sums, ends: Ints, ids: Ids) -> Ints:
    """Count the rows that contain each itemset (ascending positions): int64; all rows contain the empty one.

    Positions beyond the vocabulary are in no row. `CountedRows` can count only pairs and single items.
    """
    if counts_itself(data):
        return data.supports_of_sets(ends, ids)
    data = in_memory(data)
    starts, tidlists = data.holders
    missing = int(ids.max(initial=-1)) + 1 - data.n_items
    if missing > 0:
        starts = frozen(np.append(starts, np.repeat(starts[-1:], missing)), np.int64)
    elif _are_pairs(data, ends, ids):
        first, second = ids[ends[:-1]].astype(np.int64), ids[ends[1:] - 1].astype(np.int64)
        offsets = cell_offsets(data.n_items, 2)
        table = count_numbers([data.distinct], data.n_items, 2, data.distinct[1].size)
        pairs: Ints = table[first + offsets[1, second]].astype(np.int64)
        return pairs
    weights = data.distinct[2]
    out = np.zeros(ends.size - 1, np.int64)

    def count(begin: int) -> None:
        some = out[begin : begin + AT_ONCE]
        bounds = frozen(ends[begin : begin + some.size + 1], np.int64)
        count_label_sets(starts, tidlists, weights, bounds, ids, data.n_rows, some)

    each(count, range(0, out.size, AT_ONCE))
    return out


def _are_pairs(data: Transactions, ends: Ints, ids: Ids) -> bool:
    """Return whether all are pairs, and to count all pairs there are takes less time than to look at each."""
    indptr = data.distinct[0]
    if not (np.diff(ends) == 2).all() or not fits(data.n_items, 2) or data.n_rows > MOST_ROWS:
        return False
    looked_at = int(np.minimum.reduceat(np.diff(data.holders[0])[ids], ends[:-1]).sum()) if ids.size else 0
    counted = number_of_sets(np.bincount(np.diff(indptr)), 2)
    return bool(max(counted, comb(data.n_items, 2)) < WORTH * looked_at)
