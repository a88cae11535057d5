"""Rows enough to tell which sets of items are rare: the same threats as in all rows, in fewer of them.

A cut is k^m-anonymous if no set S of at most m of its nodes has a support in (0, k). Keep of each row the
items that are in a set of at most m items of the row with a support below k, and of other sets this many that
each is in k rows that are kept. Then S has the same support as before if that is below k, else at least k:

- if some set of items below S, one below each node, has a support of at least k, k rows with it are kept;
- else each row that holds S holds such a set, which is rare, and is kept with it.

So an algorithm that asks only for supports below k, and for the rows behind them, may look at these rows. How
often items occur, which is what a loss depends on, it must count in all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError
from setveil.base.progress import Progress
from setveil.base.staging import private_folder, scratch_folder
from setveil.kernels.count import MOST_CELLS, MOST_ROWS, cell_offsets, mark_witnesses
from setveil.kernels.rows import Ids, Ints, frozen, take_rows
from setveil.rows.data.sums import is_in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.content import Weighted, WeightedPart, in_content_order
from setveil.rows.engine.counting import count_numbers, joined

if TYPE_CHECKING:
    from setveil.rows.engine.parts import RowsOnDisk

LEAST = 1 << 20  # occurrences of distinct rows from which on this is worth it


def witness_rows(data: Transactions | RowsOnDisk, k: int, m: float, progress: Progress) -> Transactions:
    """Find rows with the same threats, by content; all rows where these are few or sets do not fit in tables.

    A set of at most m items is rare if fewer than k rows hold it. A row of the result represents at most k.
    """
    if not is_in_memory(data):
        with _distinct_on_disk(data, progress) as distinct:
            return _chosen(data, distinct, k, m, progress)
    return _chosen(data, [data.distinct], k, m, progress)


def _chosen(
    data: Transactions | RowsOnDisk, distinct: Sequence[Weighted], k: int, m: float, progress: Progress
) -> Transactions:
    """Choose from the distinct rows, in the order of their content."""
    occurrences = sum(items.size for _, items, _ in distinct)
    largest = int(min(m, max((np.diff(indptr).max(initial=0) for indptr, _, _ in distinct), default=0)))
    n = data.n_items
    fits = 2 * comb(n, largest) <= MOST_CELLS and data.n_rows <= MOST_ROWS
    if occurrences < LEAST or not fits:
        return _all(data, largest, few=occurrences < LEAST)
    k = min(k, data.n_rows + 1)
    rows = [(*one[:2], frozen(np.minimum(one[2], k), np.int64)) for one in distinct]
    kept = [np.zeros(items.size, bool) for _, items, _ in rows]
    have = np.zeros(comb(n, largest), np.int32)
    for size in range(largest, 0, -1):
        progress(f"choosing rows for itemsets of size {size}")
        if size < largest:
            marked = [(*_marked(one[0], one[1], mine), one[2]) for one, mine in zip(rows, kept, strict=True)]
            have = count_numbers(marked, n, size, sum(items.size for _, items, _ in marked))
        table = count_numbers(rows, n, size, occurrences)
        for one, mine in zip(rows, kept, strict=True):
            mark_witnesses(*one, cell_offsets(n, size), table, k, have, mine)
    found = []
    for (indptr, items, weights), mine in zip(rows, kept, strict=True):
        starts, some = _marked(indptr, items, mine)
        row = np.repeat(np.arange(weights.size), np.where(np.diff(starts) > 0, weights, 0))
        found.append(take_rows(starts, some, row))
    return Transactions(*joined(found), data.vocabulary)


def _all(data: Transactions | RowsOnDisk, largest: int, *, few: bool) -> Transactions:
    """Take all rows: those in parts only if they are few."""
    if is_in_memory(data):
        return data
    if few:
        return Transactions(*joined(list(data.rows())), data.vocabulary)
    raise DataError(
        f"The sets of {largest} of {data.n_items:,} items are too many to be counted in tables, or "
        f"{data.n_rows:,} rows are: so it is not known which rows in parts are needed.",
        hint="Choose -a aa, a smaller m, or a hierarchy whose lowest nodes represent more items.",
    )


@contextmanager
def _distinct_on_disk(data: RowsOnDisk, progress: Progress) -> Iterator[list[Weighted]]:
    """Write the distinct rows next to the parts, map them into memory, and remove them afterwards."""
    if not data.parts:
        yield []
        return
    beside = data.parts[0].items.parent
    with scratch_folder(beside) as place:
        runs, folder = place / "runs", place / "distinct"
        for new in (runs, folder):
            private_folder(new)
        same = np.arange(data.n_items, dtype=np.int32)
        pieces = in_content_order(data, same, runs, lambda done: progress("merging equal rows", done))
        stored = [WeightedPart.write(folder, at, one) for at, one in enumerate(pieces) if one[2].size]
        yield [part.rows() for part in stored]


def _marked(indptr: Ints, items: Ids, kept: NDArray[np.bool_]) -> tuple[Ints, Ids]:
    """Cut rows down to what is marked."""
    before = np.concatenate(([0], np.cumsum(kept)))
    return frozen(before[indptr], np.int64), frozen(items[kept], np.int32)
