"""Rows in an order that does not depend on the input's, for algorithms that choose among rows."""

from __future__ import annotations

import numpy as np

from setveil.kernels.content import content_order
from setveil.kernels.rows import Ids, take_rows
from setveil.rows.data.transactions import Transactions


def in_content_order(data: Transactions) -> tuple[Transactions, Ids]:
    """Sort rows by their items, and say where in ``data.items`` each occurrence was.

    What is chosen by this order does not depend on that of the input, but for which of equal rows it is.
    """
    order = content_order(data.indptr, data.items)
    _, places = take_rows(data.indptr, np.arange(data.n_occurrences, dtype=np.int32), order)
    return Transactions(*take_rows(data.indptr, data.items, order), data.vocabulary), places
