"""Counts that one row changes little: supports of items and pairs, and cells of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions

_ROWS = 1 << 16  # that are multiplied at once


def item_supports(data: Transactions, universe: Sequence[str]) -> list[int]:
    """Count the rows of each item: a row raises each count by one at most, and lowers none."""
    supports, ids = data.supports().tolist(), data.vocabulary.ids
    return [supports[ids[x]] if x in ids else 0 for x in universe]


def held(data: Transactions, items: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which of some items each row holds: bool (n_rows, items)."""
    column = np.full(data.n_items + 1, -1)
    for j, x in enumerate(items):
        column[data.vocabulary.ids.get(x, data.n_items)] = j
    column[data.n_items] = -1
    out = np.zeros((data.n_rows, len(items)), bool)
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())
    at = column[data.items]
    out[row[at >= 0], at[at >= 0]] = True
    return out


def pair_supports(rows: NDArray[np.bool_]) -> tuple[list[tuple[int, int]], list[int]]:
    """Count the rows of each pair of columns: a row raises each count by one at most, and lowers none."""
    width = rows.shape[1]
    both = np.zeros((width, width))
    for first in range(0, len(rows), _ROWS):
        some = rows[first : first + _ROWS].astype(np.float64)
        both += some.T @ some  # whole numbers, far below 2^53
    pairs = list(combinations(range(width), 2))
    return pairs, [int(both[i, j]) for i, j in pairs]


def cells(rows: NDArray[np.bool_], blocks: Sequence[Sequence[int]]) -> list[int]:
    """Count the rows of every cell of every block: in cell c, rows with just the columns of the bits of c."""
    out: list[int] = []
    for block in blocks:
        code = np.zeros(len(rows), np.int64)
        for i, column in enumerate(block):
            code |= rows[:, column].astype(np.int64) << i
        out += np.bincount(code, minlength=1 << len(block)).tolist()
    return out
