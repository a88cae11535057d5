"""How many rows of a part keep a sensitive item."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ints
from setveil.methods.algorithms._suppressed_items import greatest_counts
from setveil.rows.data.transactions import Transactions


def hidden_in_parts(
    data: Transactions, is_sensitive: NDArray[np.bool_], part_of: Ints, rho: Fraction
) -> NDArray[np.bool_]:
    """Choose the occurrences of sensitive items that are suppressed, so that parts tell nothing of them.

    Of the rows of each part, and of those without a part (-1), at most a share rho keep each sensitive item:
    the first ones, so their order must not depend on the input's. All rows of a part show the same public
    items. So the rows that show any set of public items are those of some parts, and of these no more than a
    share rho show the sensitive item, however large the set is.
    """
    part = np.where(part_of < 0, part_of.max(initial=-1) + 1, part_of)
    keeps = greatest_counts(rho, data.n_rows)[np.bincount(part, minlength=1)]
    row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
    at = np.flatnonzero(is_sensitive[data.items])
    at = at[
        np.lexsort((data.items[at], part[row_of[at]]))
    ]  # stable: rows of a part and an item stay in order
    key = part[row_of[at]] * data.n_items + data.items[at]
    first = np.searchsorted(key, key)  # where the rows of the same part with the same item begin
    hidden = np.zeros(data.n_occurrences, bool)
    hidden[at] = np.arange(at.size) - first >= keeps[part[row_of[at]]]
    return hidden
