"""Rows in an order that does not depend on the input's, for algorithms that choose among rows."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Transactions
from setveil.kernels.content import content_order
from setveil.kernels.rows import Ids, take_rows


def in_content_order(data: Transactions) -> tuple[Transactions, Ids]:
    """Sort rows by their items, and say where each occurrence stood.

    What is chosen by the order of these rows is the same whatever the order of the input is, but for which
    of equal rows it is.

    Returns
    -------
    rows : Transactions
    places : int32 (n_occurrences,)
        Where in ``data.items`` each of ``rows.items`` stands.
    """
    order = content_order(data.indptr, data.items)
    _, places = take_rows(data.indptr, np.arange(data.n_occurrences, dtype=np.int32), order)
    return Transactions(*take_rows(data.indptr, data.items, order), data.vocabulary), places
