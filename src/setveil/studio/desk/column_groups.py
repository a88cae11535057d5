"""The groups of a column's values: those that it has, and the values that are to be grouped by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.rows.data.columns import as_field, split_names
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.levels import parents_in
from setveil.rows.tables.quasi_identifiers import MISSING
from setveil.rows.tables.ranges import ranges
from setveil.runs.options.names import ROLES
from setveil.studio.desk.data import READING, data_of, read_as
from setveil.studio.desk.place import ColumnDesk, Desk


def groups_of(desk: Desk, column: str) -> dict[str, Any]:
    """Give the groups that a column of the project's table has: the parent of each node."""
    table = data_of(desk)
    found = next((one for one in getattr(table, "columns", ()) if one.name == column), None)
    if found is None:
        raise RequestError(f"The table has no column {column!r} that someone may know.")
    values = found.labels[int(found.missing) : found.n_values]
    parents = ranges(values) if found.parent is None else parents_in(found)
    return {"parents": {node: up for node, up in parents.items() if node != MISSING}}


def values_of(desk: ColumnDesk, settings: Mapping[str, Any]) -> Transactions:
    """Return the values of a column as they are written, each row's as an item; none where it is missing."""
    options = {key: settings[key] for key in (*READING, *ROLES) if key in settings}
    said = [desk.column]
    others = [name for name in split_names(str(options.get("categorical", ""))) if name != desk.column]
    options["categorical"] = ",".join(as_field(name) for name in [*others, *said])
    numeric = [name for name in split_names(str(options.get("numeric", ""))) if name != desk.column]
    options["numeric"] = ",".join(as_field(name) for name in numeric)
    value = options.get("ranges", [])
    ranges_of = value if isinstance(value, list) else [value]
    options["ranges"] = [one for one in ranges_of if str(one).partition("=")[0] != desk.column]
    key = [str(settings["input"]), options]
    if desk.kept.get("values") != key:
        table = read_as(str(settings["input"]), options)
        column = next(one for one in getattr(table, "columns", ()) if one.name == desk.column)
        codes = np.asarray(column.codes, np.int64) - int(column.missing)
        there = codes >= 0
        bounds = np.concatenate([[0], np.cumsum(there)])
        labels = column.labels[int(column.missing) : column.n_values]
        desk.data = Transactions.from_codes(bounds, codes[there], labels)
        desk.kept["values"] = key
    rows: Transactions = desk.data
    return rows


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {"column_groups": groups_of}
