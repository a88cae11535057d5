"""Rows in clusters, and the items of each cluster in record chunks and a term chunk: HORPART and VERPART."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.base.threads import each
from setveil.kernels.rows import Ints, frozen, take_rows
from setveil.methods.algorithms.disassociation._loops import fill_chunks, split_rows
from setveil.rows.data.transactions import Transactions

OF_A_PIECE = 256  # clusters that a thread does at a time


@dataclass(frozen=True, eq=False)
class Clusters:
    """Rows in clusters. A pair is a cluster and an item that some row of it holds."""

    rows: Ints  # int64 (filled rows,): the rows of the data, cluster by cluster
    first_row: Ints  # int64 (clusters + 1,): where the rows of each begin
    first_pair: Ints  # int64 (clusters + 1,): where the pairs of each begin
    item: Ints  # int64 (pairs,): ascending in each cluster
    starts: Ints  # int64 (pairs + 1,): where the rows of each pair begin
    holders: Ints  # int64 (occurrences,): the rows that hold the item, as positions in `rows`
    suppressed: Ints  # int64: occurrences of the data that are not published

    @property
    def number(self) -> int:
        """Number of clusters."""
        return self.first_row.size - 1

    @property
    def sizes(self) -> Ints:
        """Number of rows of each."""
        return np.diff(self.first_row)


@dataclass(frozen=True, eq=False)
class Filled:
    """In which chunk each item of a cluster is."""

    place: Ints  # int64 (pairs,): of the record chunks of its cluster, from 0; -1: the term chunk
    chunks: Ints  # int64 (clusters,): number of record chunks
    few: NDArray[np.bool_]  # bool (clusters,): whether it cannot do without a term chunk


def clusters_of(
    data: Transactions, least: int, limit: int, secret: NDArray[np.bool_], rho: Fraction | None
) -> Clusters:
    """Split rows into clusters of `least` to `limit` rows (HORPART); a share rho keep a `secret` item."""
    filled = np.flatnonzero(data.row_lengths() > 0)
    indptr, items = take_rows(data.indptr, data.items, frozen(filled, np.int64))
    order, ends = np.arange(filled.size), np.empty(filled.size, np.int64)
    parts = split_rows(indptr, items, data.n_items, least, limit, order, ends) if filled.size else 0
    first_row = np.concatenate(([0], ends[:parts]))
    rows = filled[order]

    # Occurrences by cluster, then item, then row; those of an item beyond its share of the cluster go.
    lengths = data.row_lengths()[rows]
    at = np.repeat(data.indptr[rows] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    row = np.repeat(np.arange(rows.size), lengths)
    cluster = np.repeat(np.repeat(np.arange(parts), np.diff(first_row)), lengths)
    item = data.items[at].astype(np.int64)
    by_pair = np.argsort(cluster * data.n_items + item, kind="stable")
    keys = (cluster * data.n_items + item)[by_pair]
    suppressed = at[:0]
    if rho is not None:
        new = np.flatnonzero(np.diff(keys, prepend=-1))
        nth = np.arange(keys.size) - np.repeat(new, np.diff(np.append(new, keys.size)))
        share = np.array([int(rho * size) for size in np.diff(first_row).tolist()], np.int64)
        beyond = secret[keys % max(data.n_items, 1)] & (nth >= share[cluster[by_pair]])
        suppressed = np.sort(at[by_pair[beyond]])
        by_pair, keys = by_pair[~beyond], keys[~beyond]
    new = np.flatnonzero(np.diff(keys, prepend=-1))
    pairs = keys[new]
    return Clusters(
        frozen(rows, np.int64),
        frozen(first_row, np.int64),
        frozen(np.searchsorted(pairs, np.arange(parts + 1) * data.n_items), np.int64),
        frozen(pairs % max(data.n_items, 1), np.int64),
        frozen(np.append(new, keys.size), np.int64),
        frozen(row[by_pair], np.int64),
        frozen(suppressed, np.int64),
    )


def fill(clusters: Clusters, k: int, m: int, secret: NDArray[np.bool_], progress: Progress) -> Filled:
    """Put the items of each cluster into chunks (VERPART), each `secret` item into its own, in threads."""
    place = np.empty(clusters.item.size, np.int64)
    chunks, few = np.empty(clusters.number, np.int64), np.empty(clusters.number, np.bool_)
    starts, apart = (clusters.first_row, clusters.first_pair), frozen(secret[clusters.item], np.bool_)

    def work(begin: int) -> None:
        piece = (begin, min(begin + OF_A_PIECE, clusters.number))
        fill_chunks(starts, clusters.starts, clusters.holders, apart, k, m, piece, place, chunks, few)
        progress("filling chunks", begin / clusters.number)

    each(work, range(0, clusters.number, OF_A_PIECE))
    return Filled(place, chunks, few)
