"""Pgen: privacy constraints that protect every part of every row."""

from __future__ import annotations

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.base.values.kinds import integer
from setveil.kernels.maximal import maximal_rows
from setveil.kernels.rows import distinct_rows
from setveil.rows.data.transactions import Transactions


def pgen(data: Transactions, k: int, progress: Progress = silent) -> tuple[tuple[str, ...], ...]:
    """List the maximal infrequent itemsets: the distinct rows in no other row, with support below k.

    Satisfying them all protects against attackers who know any part of any row. They come longest first, then
    in item order, as do the items of each.

    Differences from [1]: rows are not compared pair by pair. Equal rows are merged, and a row is looked for
    in the rows of its rarest item. No other row contains a maximal row, so its support is how often it
    occurs.

    [1] Loukides, Gkoulalas-Divanis, Malin, KAIS 28(2), 2011, section 5.1 (Algorithm 4),
    doi:10.1007/s10115-010-0354-4

    >>> pgen(Transactions.from_rows([["a", "c", "f"], ["a", "c"], ["b", "h"]]), k=2)
    (('a', 'c', 'f'), ('b', 'h'))
    """
    integer("k", k, 2)
    indptr, items, weights = distinct_rows(data.indptr, data.items)
    maximal = maximal_rows(indptr, items, data.n_items, progress)
    keys = items.astype(">i4").tobytes()  # big-endian: bytes sort like the rows
    bounds = (4 * indptr).tolist()
    kept = sorted(
        (keys[bounds[r] : bounds[r + 1]] for r in np.flatnonzero(maximal & (weights < k)).tolist()),
        key=lambda key: (-len(key), key),
    )
    labels = data.vocabulary.labels
    return tuple(tuple(labels[i] for i in np.frombuffer(key, ">i4").tolist()) for key in kept)
