"""Check, from about.json alone, that no fact lies in two boxes, so that a box counts as one item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 1 << 22  # pairs that are compared together


def overlapping(
    boxes: Sequence[Sequence[str]], meaning: Sequence[Mapping[str, Sequence[str]]], show: int = 10
) -> tuple[int, list[tuple[int, int]]]:
    """Count the pairs of boxes that share a fact, by the values that labels represent; list the first."""
    n = len(boxes)
    parts = [_shared([box[at] for box in boxes], known) for at, known in enumerate(meaning)]
    number = 0
    first: list[tuple[int, int]] = []
    step = max(_AT_ONCE // max(n, 1), 1)
    for start in range(0, n, step):
        some = slice(start, min(start + step, n))
        both = np.ones((some.stop - some.start, n), bool)
        for codes, shared in parts:
            both &= shared[codes[some]][:, codes]
        both &= np.arange(n) > np.arange(some.start, some.stop)[:, None]
        number += int(both.sum())
        if len(first) < show:
            first += [(one + start, other) for one, other in np.argwhere(both)[: show - len(first)].tolist()]
    return number, first


def _shared(
    labels: Sequence[str], known: Mapping[str, Sequence[str]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give numbers to the labels of a part, and tell which of them have a value in common."""
    distinct = list(dict.fromkeys(labels))
    numbers = {label: at for at, label in enumerate(distinct)}
    holders: dict[str, list[int]] = {}
    for at, label in enumerate(distinct):
        for value in {*known.get(label, (label,))}:
            holders.setdefault(value, []).append(at)
    shared = np.zeros((len(distinct), len(distinct)), bool)
    for some in holders.values():
        shared[np.ix_(some, some)] = True
    return np.array([numbers[label] for label in labels], np.int64), shared
