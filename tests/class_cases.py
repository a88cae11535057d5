"""Tables in canonical order for algorithms that make and merge classes, and how their twins write these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naive import rt_table
from setveil.rows.tables.table import Table
from strategies import either
from tables import fast, random_tables

PRIME = 2**89 - 1


def cases(n: int, seed: int, **sizes: Any) -> Iterator[tuple[rt_table.Table, int]]:
    """Tables that have classes of k rows, some with losses beyond 64 bits."""
    for rng, table in random_tables(either(n), seed, **sizes):
        k = rng.choice((2, 2, 3, 5))
        if table.n >= k:
            yield (with_long_weights(rng, table) if rng.random() < 0.3 else table), k


def with_long_weights(rng: Random, table: rt_table.Table) -> rt_table.Table:
    columns = tuple(
        replace(column, weight=column.weight * Fraction(PRIME + rng.randint(0, 3), PRIME - a))
        for a, column in enumerate(table.columns)
    )
    return replace(table, columns=columns)


def canonical(table: rt_table.Table) -> Table:
    """The table as setveil has it, its rows in canonical order."""
    canon = fast(table)
    return canon.rows_at(canon.canonical_order())


def members(table: rt_table.Table, part: NDArray[np.int64]) -> rt_table.Parts:
    """The rows of each part of the table in canonical order, as the twin writes them."""
    rows = table.canonical
    return [tuple(rows[p] for p in np.flatnonzero(part == i)) for i in range(part.max(initial=-1) + 1)]
