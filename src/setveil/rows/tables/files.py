"""A table in memory as files, for the processes of a study to read."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from setveil.base.staging import private_file
from setveil.rows.hierarchy.io import write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier
from setveil.rows.tables.roles import Known, Roles, write_roles
from setveil.rows.tables.table import Table, TextColumn


def table_files(table: Table, folder: Path, tree: Hierarchy | None = None) -> tuple[Path, Path]:
    """Write a table as JSON lines, the roles of its columns and its hierarchies.

    Returns the paths of data and roles. `folder`: exists, and is its owner's alone. `tree`: of the items, by
    default the table's own.
    """
    tree = table.tree if tree is None else tree
    known = {column.name: _known(column, folder / f"column{at}") for at, column in enumerate(table.columns)}
    roles = Roles(
        known,
        table.set_name,
        tuple(column.name for column in table.kept),
        hierarchy=None if tree is None else _written(tree, folder / "items"),
        not_ids=(*known, table.set_name, *(column.name for column in table.kept)),  # it was asked before
    )
    said, data = folder / "roles.toml", folder / "table.jsonl"
    write_roles(roles, said)
    columns: list[QuasiIdentifier | TextColumn] = [*table.columns, *table.kept]
    values = [[column.labels[code] for code in column.codes.tolist()] for column in columns]
    names = [column.name for column in columns]
    with private_file(data, "w", encoding="utf-8", newline="") as file:
        for items, shown in zip(table, zip(*values, strict=True), strict=True):
            line = {**dict(zip(names, shown, strict=True)), table.set_name: list(items)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return data, said


def _known(column: QuasiIdentifier, place: Path) -> Known:
    kind, weight = "numeric" if column.numeric else "categorical", Fraction(column.weight)
    grouped = column.has_own_tree or column.numeric or len(column.labels) > column.n_values + 1
    if column.parent is None or not grouped:
        return Known(kind, weight=weight)
    links = {
        label: None if up < 0 else column.labels[up]
        for label, up in zip(column.labels, column.parent.tolist(), strict=True)
        if label != MISSING
    }
    return Known(kind, _written(Hierarchy(links), place), weight=weight)


def _written(tree: Hierarchy, place: Path) -> Path:
    path = place.with_suffix(".json" if tree.n_nodes > 1 else ".csv")
    write_hierarchy(tree, path)
    return path
