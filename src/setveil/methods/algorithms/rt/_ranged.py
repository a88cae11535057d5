"""Hierarchies for numeric columns that have none."""

from __future__ import annotations

from dataclasses import replace

from setveil.rows.tables.quasi_identifiers import QuasiIdentifier, quasi_identifier
from setveil.rows.tables.ranges import ranges
from setveil.rows.tables.table import Table


def with_ranges(table: Table) -> Table:
    """Give each numeric column without a hierarchy one of ranges (see `ranges.ranges`)."""
    if all(column.parent is not None for column in table.columns):
        return table
    return replace(table, origin=table.origin, columns=tuple(map(_ranged, table.columns)))


def _ranged(column: QuasiIdentifier) -> QuasiIdentifier:
    if column.parent is not None:
        return column
    width, column = column.width, column.fine or column
    values = column.labels[: column.n_values]
    return quasi_identifier(
        column.name, column.codes, values, numeric=True, parents=ranges(values, width), weight=column.weight,
        built=True,
    )  # fmt: skip
