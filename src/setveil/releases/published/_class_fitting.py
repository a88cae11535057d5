"""Deal what totals leave to classes such that the rows of labels are filled, too: proportional fitting.

Of all numbers of rows that items can have in classes it approaches those of greatest entropy: each item in
proportion to its room, times a factor of the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints

Floats = NDArray[np.float64]

ROUNDS = 10  # after which hardly a row is lacking
MOST = float(1 << 50)  # more rows than there are
_STEP = 1000.0  # by which a factor grows at most in one round


@dataclass(frozen=True, eq=False)
class Free:
    """Classes that may contain items that they do not list: (items, classes) each."""

    items: Ints  # (items,): their numbers
    cell: Ids  # class and label; -1: under no label
    room: Ids  # rows of the label, or of the class; 0: the item is listed, or cannot be there
    most: Ids  # the most rows of the item


def fitted(parts: Sequence[Free], rests: Floats, needs: Floats) -> tuple[Floats, Floats]:
    """Find paces of items and factors of labels.

    `rests`: float64 (items,), rows to deal; `needs`: float64 (cells,), rows that unlisted items need together
    to fill a label. The pace, float64 (items,), is rows as a share of room times the factor, unless capped.
    The factor is float64 (cells + 1,); the last, for no label, is 1.
    """
    pace, factor = np.zeros(rests.size), np.ones(needs.size + 1)
    _pace(parts, rests, factor, pace)
    for _ in range(ROUNDS):
        got = np.zeros(needs.size)
        for part in parts:
            there = part.cell >= 0
            rows = np.minimum(part.most, pace[part.items][:, None] * part.room * factor[part.cell])
            got += np.bincount(part.cell[there], weights=rows[there], minlength=needs.size)
        off = (got > 0) & (needs > 0) & ((got < needs) | (factor[:-1] > 1))
        grown = np.minimum(np.divide(needs, got, out=np.ones(needs.size), where=off), _STEP)
        factor[:-1] = np.where(off, np.maximum(factor[:-1] * grown, 1), factor[:-1])
        _pace(parts, rests, factor, pace)
    return pace, factor


def _pace(parts: Sequence[Free], rests: Floats, factor: Floats, pace: Floats) -> None:
    for part in parts:
        pace[part.items] = paces(rests[part.items], part.room * factor[part.cell], part.most)


def paces(rest: NDArray[Any], room: NDArray[Any], cap: NDArray[Any]) -> Floats:
    """Deal each item's `rest` to classes, in proportion to their room, up to their cap (see `fitted`)."""
    found, open_ = np.zeros(rest.size), np.flatnonzero(rest > 0)
    rest, room, cap = rest[open_], room[open_].astype(np.float64), cap[open_].astype(np.float64)
    full = np.divide(cap, room, out=np.full(room.shape, np.inf), where=room > 0)  # pace at which it is
    while open_.size:  # what full classes cannot take quickens the others, until no more of them are full
        stopped = found[open_, None] > full
        left, free = rest - np.where(stopped, cap, 0).sum(1), np.where(stopped, 0, room).sum(1)
        pace = np.divide(left, free, out=np.full(left.size, MOST), where=free > 0)
        quicker = pace > found[open_]
        open_ = open_[quicker]
        found[open_] = pace[quicker]
        rest, room, cap, full = rest[quicker], room[quicker], cap[quicker], full[quicker]
    return found
