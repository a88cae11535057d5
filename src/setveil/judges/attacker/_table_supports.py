"""The same as `_least_supports` where all sets of m items fit in a table: looked up, not walked to."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.threads import each
from setveil.kernels.count import (
    MOST_ROWS,
    cell_offsets,
    first_cell,
    first_places,
    fits,
    next_places,
    number_of_sets,
)
from setveil.kernels.rows import Ints, Ranked, frozen
from setveil.rows.engine.counting import count_numbers

SETS = 10  # that take as long as a step of a search
LEAST = 1 << 14
AT_ONCE = 1 << 16  # rows of which a thread looks up the sets


@compiled
def look_up_sets(
    indptr, items, weights, lengths, first, last, offsets, table, limits, best, below, inverse
):  # fmt: skip
    """Look up the supports of all sets of the rows ``first:last``, for `best`, `below` and `inverse`."""
    size = offsets.shape[0]
    at = np.zeros(max(size - 2, 0), np.int64)
    most = limits[limits.size - 1] if limits.size else 0
    for row in range(first, last):
        start, end = indptr[row], indptr[row + 1]
        least = best[row]
        total = 0.0
        more = first_places(at, start + 1, end, start) if size > 1 else start < end
        while more:
            base = first_cell(items, at, offsets) if size > 2 else np.int64(0)
            behind = at[0] if size > 2 else end
            if size == 1:  # there is only a least item
                behind += 1
            for q in range(start + 1 if size > 1 else end, behind):
                cell = base + offsets[1, items[q]] if size > 1 else base
                for p in range(start, q):
                    support = np.int64(table[cell + items[p]])
                    least = min(least, support)
                    total += 1.0 / support
                    if support < most:
                        for t in range(limits.size - 1, -1, -1):
                            if support >= limits[t]:
                                break
                            below[t, lengths[row]] += weights[row]
            more = size > 1 and next_places(at, start + 1, end)
        best[row] = least
        inverse[lengths[row]] += total * weights[row]


class TableSupports:
    """The supports of all sets of m items of rows, from a table, with the results of `LeastSupportSearch`."""

    def __init__(
        self, rows: Ranked, m: int, best: Ints, limits: Ints, table: NDArray[np.int32] | None = None
    ) -> None:
        n, lengths = rows.order.size, frozen(rows.lengths, np.int64)
        longest = int(lengths.max(initial=0))
        offsets = cell_offsets(n, m)
        if table is None:
            table = count_numbers([rows[:3]], n, m, rows.items.size)

        def look_up(first: int) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.float64]]]:
            below = np.zeros((limits.size, longest + 1), np.int64)
            inverse = np.zeros(longest + 1)
            last = min(first + AT_ONCE, lengths.size)
            look_up_sets(*rows[:3], lengths, first, last, offsets, table, limits, best, below, inverse)
            return below, inverse

        self.below = np.zeros((limits.size, longest + 1), np.int64)
        self.inverse = np.zeros(longest + 1)
        for below, inverse in each(look_up, range(0, lengths.size, AT_ONCE)):
            self.below += below
            self.inverse += inverse


def is_worth_it(rows: Ranked, m: int, effort: int) -> bool:
    """Return whether to count the sets of m items in a table: it fits, and takes no more than the effort."""
    cells = comb(rows.order.size, m)
    if not fits(rows.order.size, m) or int(rows.weights.sum()) > MOST_ROWS:
        return False
    sets = number_of_sets(np.bincount(rows.lengths), m)
    return bool(sets <= SETS * effort and cells <= max(sets, LEAST))
