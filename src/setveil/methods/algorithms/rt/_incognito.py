"""One level for each column: the k-anonymous full-domain generalization of least loss (Incognito)."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.wording import count
from setveil.kernels.rows import Ids, Ints
from setveil.methods.algorithms.rt._distinct import classes, distinct_tuples, rows_of
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table

MOST = 1_000_000  # combinations of levels


def levels(column: QuasiIdentifier) -> Ids:
    """List the node of each value at each level, values first, root last: int32 (levels, n_values)."""
    parent: NDArray[np.int32] = column.parent  # type: ignore[assignment]
    node = np.arange(column.n_values, dtype=np.int32)
    path = [node]
    while (parent[node] >= 0).any():
        node = np.where(parent[node] >= 0, parent[node], node)
        path.append(node)
    # Shorter paths end at the root early; they begin late instead.
    above = np.array(path)
    late = (above[1:] == above[:-1]).sum(axis=0)
    at = np.maximum(np.arange(len(path))[:, None] - late, 0)
    return np.take_along_axis(above, at, axis=0)


def incognito(table: Table, k: int, progress: Progress = silent) -> tuple[list[Ids], tuple[int, ...]]:
    """Find the levels of least loss under which each combination of labels is shown by at least k rows.

    Returns for each column the node of each value, and its level; of equally good levels the smallest in
    lexicographic order. The rows are in canonical order, none or at least k; all columns have hierarchies.

    The loss of a combination is a sum over its columns, and what lies above a combination that is k-anonymous
    is so too, what lies below one that is not is not. So combinations are looked at by their losses, and each
    one whose answer is not known yet settles much: on a chain from it to the top, the last that is not
    k-anonymous is found by halving.

    LeFevre, DeWitt, Ramakrishnan, "Incognito: Efficient Full-Domain k-Anonymity", SIGMOD 2005,
    doi:10.1145/1066157.1066164
    """
    nodes = [levels(column) for column in table.columns]
    shape = tuple(len(each) for each in nodes)
    if prod(shape) > MOST:
        heights = ", ".join(f"{c.name} {n}" for c, n in zip(table.columns, shape, strict=True))
        raise RequestError(
            f"The hierarchies have {count(prod(shape))} combinations of levels (levels: {heights}), and "
            f"incognito looks at {count(MOST)} at most.",
            hint="Use topdown, which has no such limit and may split each node by itself.",
        )
    values, sizes, _ = distinct_tuples(table)
    lattice = _Lattice(nodes, values, sizes, k, shape)
    losses = [
        _losses(column, unit, values[:, a], sizes, nodes[a])
        for a, (column, unit) in enumerate(zip(table.columns, table.units, strict=True))
    ]
    order = _by_loss(losses, shape)
    for looked_at, flat in enumerate(order.tolist()):
        progress("comparing levels", looked_at / order.size)
        found = tuple(int(level) for level in np.unravel_index(flat, shape))
        if lattice.is_anonymous(found):
            return [nodes[a][level] for a, level in enumerate(found)], found
    raise AssertionError("the top of the lattice is k-anonymous")


def _losses(column: QuasiIdentifier, unit: int, codes: Ids, sizes: Ints, nodes: Ids) -> list[int]:
    """Compute what all rows lose in a column at each of its levels."""
    rows = np.zeros(column.n_values, np.int64)
    np.add.at(rows, codes, sizes)
    used = np.flatnonzero(rows)
    times = rows[used].tolist()
    return [
        unit * sum(n * loss for n, loss in zip(times, column.extent[level[used]].tolist(), strict=True))
        for level in nodes
    ]


def _by_loss(losses: list[list[int]], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Order the combinations by the sum of their losses, equal ones lexicographically."""
    small = sum(map(max, losses)) < 1 << 62
    total = np.zeros(shape, np.int64 if small else object)
    for a, of_levels in enumerate(losses):
        along = [1] * len(shape)
        along[a] = len(of_levels)
        total = total + np.array(of_levels, total.dtype).reshape(along)
    return np.argsort(total.ravel(), kind="stable")


class _Lattice:
    """Which combinations of levels are known to be k-anonymous, and which are known not to be."""

    def __init__(self, nodes: list[Ids], values: Ids, sizes: Ints, k: int, shape: tuple[int, ...]) -> None:
        self.sizes, self.k, self.shape = sizes, k, shape
        # For each column and level a small number for the label of each tuple.
        self.labels = [
            [np.unique(level[values[:, a]], return_inverse=True)[1] for level in each]
            for a, each in enumerate(nodes)
        ]
        self.known = np.zeros(shape, np.int8)  # 1: yes, -1: no

    def is_anonymous(self, levels: tuple[int, ...]) -> bool:
        if not self.known[levels]:
            chain = self._chain(levels)
            low, high = -1, len(chain) - 1  # the last that is not, the first that is
            while high - low > 1:
                middle = (low + high) // 2
                if self._count(chain[middle]):
                    high = middle
                else:
                    low = middle
            self.known[tuple(slice(level, None) for level in chain[high])] = 1
            if low >= 0:
                self.known[tuple(slice(level + 1) for level in chain[low])] = -1
        return bool(self.known[levels] > 0)

    def _chain(self, levels: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Raise one column after another, in turn, up to the top."""
        chain = [levels]
        while chain[-1] != tuple(n - 1 for n in self.shape):
            for a, n in enumerate(self.shape):
                now = chain[-1]
                if now[a] < n - 1:
                    chain.append((*now[:a], now[a] + 1, *now[a + 1 :]))
        return chain

    def _count(self, levels: tuple[int, ...]) -> bool:
        part = classes([each[level] for each, level in zip(self.labels, levels, strict=True)])
        return bool((rows_of(part, self.sizes) >= self.k).all())
