"""Which rows lie in no other row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.progress import Progress, silent
from setveil.kernels.rows import Ids, Ints, invert

STEPS_AT_ONCE = 50_000_000  # steps between two signs of life, a fraction of a second


@compiled
def mark_maximal(indptr, items, starts, tidlists, row, budget, maximal):
    """Mark, from `row` on, distinct rows that no other row contains; return where `budget` steps end."""
    steps = np.int64(0)
    while row < indptr.size - 1 and steps < budget:
        lo, hi = indptr[row], indptr[row + 1]
        # A row that contains this one is among those of its rarest item.
        rare = np.int64(-1)
        for p in range(lo, hi):
            item = np.int64(items[p])
            if rare < 0 or starts[item + 1] - starts[item] < starts[rare + 1] - starts[rare]:
                rare = item
        contained = bool(rare < 0)
        if not contained:
            for at in range(starts[rare], starts[rare + 1]):
                q, end = indptr[tidlists[at]], indptr[tidlists[at] + 1]
                steps += 1
                if end - q <= hi - lo:
                    continue
                p = lo
                while p < hi and end - q >= hi - p:
                    if items[q] == items[p]:
                        p += 1
                    elif items[q] > items[p]:
                        break
                    q += 1
                    steps += 1
                if p == hi:
                    contained = True
                    break
        maximal[row] = not contained
        row += 1
    return row


def maximal_rows(indptr: Ints, items: Ids, n_ids: int, progress: Progress = silent) -> NDArray[np.bool_]:
    """Tell which of distinct rows no other row contains: bool (n,). The empty row is none."""
    starts, tidlists, _ = invert(indptr, items, n_ids)
    n = indptr.size - 1
    maximal = np.zeros(n, np.bool_)
    row = 0
    while row < n:
        row = int(mark_maximal(indptr, items, starts, tidlists, row, STEPS_AT_ONCE, maximal))
        progress("looking for maximal rows", row / n)
    return maximal
