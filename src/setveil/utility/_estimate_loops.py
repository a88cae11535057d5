"""Loops of the estimates: the chances inside a label, supports of sets of labels, answers of many queries."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled
from setveil.kernels.walk import support

_TERMS = 23  # of the series, enough for doubles where its argument is below _SMALL
_SMALL = 0.125


@compiled
def _rise(x):
    """Compute M(x) = -ln(1 - x) / x - 1 of 0 <= x < 1, accurate for small ones."""
    if x >= _SMALL:
        return -np.log1p(-x) / x - 1.0
    total = 0.0
    for j in range(_TERMS, 0, -1):
        total = x * (1.0 / (j + 1) + total)
    return total


@compiled
def _top(p, d, q):
    """Compute p M(q p) - M(q) of the greatest share p = 1 - d, which is negative, without cancellation."""
    if q >= _SMALL:
        return d - np.log1p(q * d / (1.0 - q)) / q
    total, power, lost = 0.0, 1.0, -d  # lost: p ** (j + 1) - 1
    for j in range(1, _TERMS + 1):
        power *= q
        lost = p * lost - d
        total += power * lost / (j + 1)
    return total


@compiled
def label_chances(begins, ends, rows, sizes, excess, chances):
    """Find q of each label: the chance that a row of independent items with chances q s_i / S is not empty.

    Parameters
    ----------
    begins, ends : int64 (labels,)
        Where the items of each label stand.
    rows : float64 (places,)
        Rows of each item under the label, s_i.
    sizes : int64 (labels or more,)
        Rows of the label, S, at least any s_i.
    excess : int64 (labels,)
        The sum of s_i less S, at least 0.
    chances : float64 (labels or more,), written
        Receives the root of q = 1 - prod(1 - q s_i / S) in (0, 1]; 0 where each row holds one item.
    """
    for label in range(begins.size):
        begin, end = begins[label], ends[label]
        if excess[label] <= 0:
            chances[label] = 0.0
            continue
        top = begin
        for at in range(begin, end):
            if rows[at] > rows[top]:
                top = at
        total = np.float64(sizes[label])
        if rows[top] >= total:
            chances[label] = 1.0
            continue
        # Bisect until no double lies between: the function is positive left of the root. Integers give the
        # excess and what the greatest share lacks to 1, so that a root near 0 or 1 keeps all its digits.
        low, high = 0.0, 1.0
        lack = (total - rows[top]) / total
        while True:
            q = 0.5 * (low + high)
            if q <= low or q >= high:
                break
            value = np.float64(excess[label]) / total + _top(rows[top] / total, lack, q)
            for at in range(begin, end):
                if at != top:
                    share = rows[at] / total
                    value += share * _rise(q * share)
            if value > 0.0:
                low = q
            else:
                high = q
        chances[label] = high


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
    """Answer queries from the supports of their labels.

    Parameters
    ----------
    indptr, places : int64 (queries + 1,), int64
        The places of each query's items, ascending, so that those of one label stand together.
    label, share, low, high, is_item, sizes, chances, room
        Of places and of labels (see `setveil.utility._label_shares.Places`).
    supports : int64 (queries,)
        Rows that show all labels of each query.
    estimate, least, greatest : float64, int64, int64 (queries,), written
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
