"""The chance that a row of independent items under a label is not empty."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled

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
def label_chances(begins, ends, rows, times, sizes, excess, chances):
    """Find q of each label: the chance that a row of independent items with chances q s_i / S is not empty.

    begins, ends: int64 (labels,), the places of each label's items. rows: float64 (places,), s_i; times:
    int64 (places,), how many such items a place represents. sizes: int64, S, at least any s_i; excess:
    (labels,), the sum of s_i less S, at least 0. chances: float64, written: the root of q = 1 - prod(1 - q
    s_i / S) in (0, 1], 0 if each row contains one item.
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
                others = times[at] - 1 if at == top else times[at]
                if others > 0:
                    share = rows[at] / total
                    value += others * share * _rise(q * share)
            if value > 0.0:
                low = q
            else:
                high = q
        chances[label] = high
