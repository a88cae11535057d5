"""Distinct tuples of values, and the classes that their labels make of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen
from setveil.rows.tables.table import Table


def distinct_tuples(table: Table) -> tuple[Ids, Ints, Ints]:
    """List the distinct tuples of a table in canonical order, the rows of each, and the tuple of each row."""
    values = np.stack([column.codes for column in table.columns], axis=1)
    new = np.ones(table.n_rows, bool)
    new[1:] = (values[1:] != values[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    sizes = np.diff(np.append(first, table.n_rows))
    return frozen(values[first], np.int32), sizes, np.cumsum(new) - 1


def classes(labels: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Give each combination of the labels (at least 0) of the columns a number: int64 (tuples,)."""
    out = np.zeros(labels[0].size, np.int64)
    n = 1
    for of_column in labels:
        more = int(of_column.max(initial=0)) + 1
        if n * more >= 1 << 62:
            used, out = np.unique(out, return_inverse=True)
            n = used.size
        out = out * more + of_column
        n *= more
    return np.unique(out, return_inverse=True)[1].astype(np.int64)


def rows_of(part: NDArray[np.int64], sizes: Ints) -> Ints:
    """Count the rows of each class from those of its tuples."""
    out = np.zeros(int(part.max(initial=-1)) + 1, np.int64)
    np.add.at(out, part, sizes)
    return out


def cut_loss(table: Table, nodes: Sequence[Ids]) -> int:
    """Compute what a table loses if each value is published as a node: R times ``n_rows * unit_total``."""
    lost = 0
    for column, unit, node in zip(table.columns, table.units, nodes, strict=True):
        times = np.bincount(column.codes, minlength=column.n_values)
        each = column.extent[node]
        lost += unit * sum(n * loss for n, loss in zip(times.tolist(), each.tolist(), strict=True) if n)
    return lost
