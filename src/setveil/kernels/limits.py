"""How many items of each column a set may hold, for walks over sets of items or nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from setveil.base.jit import compiled
from setveil.base.values.per_column import ABOVE, PerColumn, column_of
from setveil.kernels.rows import Ints, frozen


class Limits:
    """How many nodes of each sort (a column, if each has its m) a set may contain: int64 (sorts,)."""

    def __init__(self, labels: Iterable[str], m: float) -> None:
        """Take the labels of nodes, and m."""
        names = list(labels)
        if not isinstance(m, PerColumn):
            self.sort: Ints = frozen(np.zeros(len(names), np.int64), np.int64)
            self.most: Ints = frozen([int(min(m, len(names) + 1))], np.int64)
            return
        m.require_columns(dict.fromkeys([*m.each, *(column_of(label) for label in names if label != ABOVE)]))
        sorts = {name: at for at, name in enumerate(m.each)}
        self.sort = frozen([sorts.get(column_of(label), -1) for label in names], np.int64)
        self.most = frozen(list(m.each.values()), np.int64)

    def of(self, some: Any) -> tuple[Ints, Ints]:
        """Take the sorts of some of the nodes, and how many of each sort there may be."""
        return frozen(self.sort[some], np.int64), self.most

    def allows_all(self, size: int) -> bool:
        """Whether any set of this many nodes may be."""
        return bool(size <= self.most.min())


@compiled
def has_room(path, y, sort, most):
    """Whether a path holds fewer nodes of the sort of y than it may."""
    number = 0
    for x in path:
        if sort[x] == sort[y]:
            number += 1
    return number < most[sort[y]]


def no_limits(n: int) -> tuple[Ints, Ints]:
    """Return `sort` and `most` of n nodes; a set may contain any of them."""
    return frozen(np.zeros(n, np.int64), np.int64), frozen([n + 1], np.int64)
