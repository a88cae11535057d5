"""Read published labels as the leaves at or below them; k^m-anonymity then counts rows that cover leaves."""

from __future__ import annotations

import numpy as np

from setveil.base.errors import DataError, listed
from setveil.base.wording import are, count
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy


def covered_rows(published: Transactions, tree: Hierarchy) -> Transactions:
    """List in each row the leaves that it covers: the first in item order of leaves that the same rows cover.

    Such leaves have the same lowest published label: any row that covers one of them shows a label at or
    above that one. The rows of leaves are k^m-anonymous iff the published rows are in the cover reading.
    """
    labels = published.vocabulary.labels
    unknown = [label for label in labels if label not in tree]
    if unknown:
        raise DataError(
            f"{count(len(unknown), 'label')} of the release {are(len(unknown))} not in the hierarchy: "
            f"{listed(unknown)}.",
            hint="Is this the hierarchy that the release was made with?",
        )
    nodes = np.array([tree.id(label) for label in labels], np.int64)
    shown = nodes[published.supports() > 0]
    # From the top down, so that the lowest label is the last that a leaf gets.
    lowest = np.full(tree.n_leaves, -1, np.int64)
    for v in sorted(shown.tolist(), key=lambda v: int(tree.depth[v])):
        lowest[tree.under(v)] = v
    covered = np.flatnonzero(lowest >= 0)
    first = covered[np.unique(lowest[covered], return_index=True)[1]]
    first.sort()

    # The chosen leaves under each label, in the order of the tree.
    place = np.argsort(tree.leaf_order)[first]
    by_place = np.argsort(place)
    low = np.searchsorted(place[by_place], tree.low[nodes])
    sizes = np.searchsorted(place[by_place], tree.high[nodes]) - low
    times = sizes[published.items]
    row = np.repeat(np.arange(published.n_rows), published.row_lengths())
    ends = np.cumsum(times)
    nth = np.arange(times.sum()) - np.repeat(ends - times, times)
    codes = by_place[np.repeat(low[published.items], times) + nth]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, times, published.n_rows)))).astype(np.int64)
    names = [tree.labels[leaf] for leaf in first.tolist()]
    return Transactions.from_codes(indptr, codes.astype(np.int32), names)
