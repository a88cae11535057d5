"""Loops of the estimates: supports of sets of labels, answers of many queries."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.kernels.walk import support


@compiled
def count_label_sets(starts, tidlists, weights, indptr, labels, n_rows, out):
    """Count the rows that show all labels of each set into `out` (see `walk.support`)."""
    nowhere = np.empty(0, np.int64)
    for j in range(out.size):
        if indptr[j] == indptr[j + 1]:
            out[j] = n_rows
            continue
        wanted = labels[indptr[j] : indptr[j + 1]].astype(np.int64)
        out[j] = support(starts, tidlists, weights, wanted, np.int64(1) << 62, nowhere)[0]


@compiled
def answer_queries(
    indptr, places, label, share, low, high, is_item, sizes, chances, room, supports, estimate, least,
    greatest,
):  # fmt: skip
    """Answer queries from their `supports`, int64 (queries,): rows that show all labels of each.

    `indptr`, `places` are the places of each query's items, ascending, so that those of a label are together;
    for places and labels see `setveil.judges.utility._label_shares.LabelPlaces`. It writes `estimate`,
    `least`, `greatest`.
    """
    for j in range(estimate.size):
        expected = np.float64(supports[j])
        lower = upper = supports[j]
        at = indptr[j]
        while at < indptr[j + 1]:
            under = label[places[at]]
            together = np.int64(0)
            while at < indptr[j + 1] and label[places[at]] == under:
                place = places[at]
                expected *= share[place]
                if is_item[place]:
                    if together > 0:
                        expected *= chances[under]
                    together += 1
                lower -= sizes[under] - low[place]
                upper = min(upper, high[place])
                at += 1
            if together > 1:
                upper = min(upper, room[under] // (together - 1))
        lower = max(lower, np.int64(0))
        estimate[j] = min(max(expected, np.float64(lower)), np.float64(upper))
        least[j], greatest[j] = lower, upper
