"""Clusters of k similar rows (k-member)."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms.rt._clustering_loops import make_clusters
from setveil.methods.algorithms.rt._distinct import distinct_tuples
from setveil.methods.algorithms.rt._extents import Extents, ascending
from setveil.rows.tables.table import Table

log = logging.getLogger("setveil")

MANY = 50_000  # distinct tuples of values; each is compared with each cluster
_AT_ONCE = 20_000_000  # about as many comparisons between two reports


def clusters(table: Table, k: int, progress: Progress = silent) -> NDArray[np.int64]:
    """Gather rows in clusters of at least k, each around a seed far from the one before.

    The first of the rows, which are in canonical order, is the first seed; later ones are the remaining row
    that loses most together with the seed before. A cluster takes the row that makes it lose least, until it
    has k. Fewer than k rows that remain at the end go, in order, where they add least to ``rows * NCP`` (of
    equals: the cluster made first). All other ties are decided by the canonical order.

    Byun, Kamra, Bertino, Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007,
    doi:10.1007/978-3-540-71703-4_18; there the first seed is drawn at random.
    """
    part = np.full(table.n_rows, -1, np.int64)
    if not table.n_rows:
        return part
    extents = Extents(table)
    values, left, _ = distinct_tuples(table)
    if left.size > MANY:
        log.warning(
            "Clustering %s distinct combinations of quasi-identifiers takes time that grows with their "
            "square; mondrian takes seconds.",
            f"{left.size:,}",
        )
    following = np.cumsum(left) - left
    n_values = np.array([column.n_values for column in table.columns], np.int64)
    live = np.arange(left.size)
    state = np.array([left.size, -1, 0, table.n_rows])
    while state[3] >= k:
        progress("making clusters", 1 - int(state[3]) / table.n_rows)
        more = max(1, _AT_ONCE // (k * int(state[0])))
        make_clusters(
            *extents.geometry, extents.bits, n_values, values, left, following, live, state, k, more, part
        )
    _add_rest(extents, table, part, int(state[2]))
    return part


def _add_rest(extents: Extents, table: Table, part: NDArray[np.int64], n: int) -> None:
    """Put each row that is in no cluster where it adds least."""
    rest = np.flatnonzero(part < 0)
    if not rest.size:
        return
    codes = np.stack([column.codes for column in table.columns])
    inside = np.flatnonzero(part >= 0)
    # Each row is one more part, after the clusters, of size 1.
    least = np.empty((len(codes), n + 1), np.int32)
    greatest = np.empty((len(codes), n + 1), np.int32)
    for a, (lo, hi) in enumerate(table.rows_at(inside).intervals(part[inside], n)):
        least[a, :n], greatest[a, :n] = lo, hi
    sizes = np.append(np.bincount(part[inside], minlength=n), 1)
    for row in rest.tolist():
        least[:, n] = greatest[:, n] = codes[:, row]
        own = extents.losses(least, greatest)
        nearest = int(ascending(extents.scores(least, greatest, sizes, own, n, np.arange(n)))[0])
        part[row] = nearest
        sizes[nearest] += 1
        least[:, nearest] = np.minimum(least[:, nearest], codes[:, row])
        greatest[:, nearest] = np.maximum(greatest[:, nearest], codes[:, row])
