"""The supports of many itemsets."""

from __future__ import annotations

import numpy as np

from setveil.base.threads import each
from setveil.judges.utility._estimate_loops import count_label_sets
from setveil.kernels.count import cell_offsets
from setveil.kernels.rows import Ids, Ints, frozen
from setveil.rows.data.sums import Sums, counts_itself, in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.pairs import is_counted, pair_table, work_of_pairs

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
        pairs: Ints = pair_table(data)[first + cell_offsets(data.n_items, 2)[1, second]].astype(np.int64)
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
    if not (np.diff(ends) == 2).all():
        return False
    if is_counted(data):
        return True
    work = work_of_pairs(data)
    looked_at = int(np.minimum.reduceat(np.diff(data.holders[0])[ids], ends[:-1]).sum()) if ids.size else 0
    return work is not None and work < WORTH * looked_at
