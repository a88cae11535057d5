"""What the coarsest labels that are allowed leave of a table: cells of rows, and nodes of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, RequestError, did_you_mean, listed, shorten
from setveil.base.wording import count
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.kernels.rows import Ints, places_of
from setveil.methods.algorithms.rt._distinct import classes
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table

Coarsest = Mapping[str, Sequence[str]]


def allowed_nodes(hierarchy: Hierarchy, labels: Sequence[str], name: str) -> NDArray[np.bool_]:
    """Mark the nodes of the items' hierarchy above none of the labels: bool (n_nodes,)."""
    _require_known(hierarchy.labels, labels, name)
    allowed = np.ones(hierarchy.n_nodes, bool)
    if hierarchy.n_columns > 1:
        allowed[hierarchy.root] = False  # no label is of several columns
    for label in labels:
        allowed[hierarchy.ancestors(hierarchy.id(label))] = False
    return allowed


def cells(table: Table, coarsest: Coarsest, guarantee: KKmAnonymity) -> list[Ints]:
    """Divide a table into the largest parts that may be classes, in the order of their first rows.

    Every class that shows nothing above the labels (`coarsest`, of quasi-identifiers) lies within one of
    these parts, and every class within one of them shows nothing above the labels.
    """
    names = [column.name for column in table.columns]
    unknown = [name for name in coarsest if name not in (*names, table.set_name)]
    if unknown:
        raise RequestError(
            f"Coarsest labels are given for columns that do not exist: {listed(unknown)}.",
            hint=did_you_mean(
                unknown[0],
                [*names, table.set_name],
                f"There are {listed([*names, table.set_name])}.",
                quoted=True,
            ),
        )
    if not table.n_rows:
        return []
    limited = [column for column in table.columns if coarsest.get(column.name)]
    if not limited:
        return [np.arange(table.n_rows)]
    tops = [_tops(column, coarsest[column.name])[column.codes] for column in limited]
    part = classes(tops)
    parts = places_of(part)
    for rows in parts:
        if rows.size < guarantee.k:
            shown = [
                f"{column.name} = {column.labels[int(top[rows[0]])]}"
                for column, top in zip(limited, tops, strict=True)
            ]
            raise InfeasibleError(
                f"{guarantee.phrase} cannot be met within the coarsest labels allowed: only "
                f"{count(rows.size, 'row')}, fewer than k = {guarantee.k}, can show {' and '.join(shown)}.",
                hint=f"Allow coarser labels of {listed([column.name for column in limited])}.",
            )
    return sorted(parts, key=lambda rows: int(rows[0]))


def _tops(column: QuasiIdentifier, labels: Sequence[str]) -> NDArray[np.int32]:
    """Find the highest node that may be published above each value: int32 (n_values,)."""
    if column.parent is None:
        raise RequestError(
            f"The coarsest labels of {shorten(column.name)} need a hierarchy, and it has none.",
            hint="Give it one, or let one of ranges be built.",
        )
    _require_known(column.labels, labels, column.name)
    barred = np.zeros(column.parent.size, bool)
    for label in labels:
        up = column.parent[column.labels.index(label)]
        while up >= 0:
            barred[up] = True
            up = column.parent[up]
    top = np.arange(column.n_values, dtype=np.int32)
    while True:
        above = column.parent[top]
        higher = (above >= 0) & ~barred[above]
        if not higher.any():
            return top
        top[higher] = above[higher]


def _require_known(known: Sequence[str], labels: Sequence[str], name: str) -> None:
    if unknown := sorted(set(labels) - set(known)):
        raise RequestError(
            f"Coarsest labels that are not in the hierarchy of {shorten(name)}: {listed(unknown)}."
        )
