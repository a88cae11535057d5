"""Read JSON lines, or an array: arrays of items, objects with such an array, or lines of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from setveil.base.errors import DataError, TableError, closest, listed, shorten
from setveil.rows.data.columns import Wanted, column_at
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.json_values import BLANK, kind_of, label_of, unit_of, values_in
from setveil.rows.data.io.records import RecordTable
from setveil.rows.data.lacking import PLAIN, Lacking
from setveil.rows.data.layout import Layout
from setveil.rows.data.names import names_others
from setveil.rows.data.nested_columns import paths, require_columns, which_list, without_nulls
from setveil.rows.data.readings import refusal
from setveil.rows.data.rows_of_columns import read_lists_by_id, read_table, with_unused
from setveil.rows.data.rows_read import RowsRead

_NESTED = re.compile(rb"[:\[]\s*\{")


def read_jsonl(
    text: Text,
    id_column: str | None,
    item_column: str | None,
    item_columns: str | Sequence[str] | None,
    delimiter: str | None,
    yes: str | Sequence[str] | None = None,
    lacking: Lacking = PLAIN,
) -> RowsRead:
    """Read rows; a blank line, an empty array and null under the key are empty rows.

    The first row that is not blank settles whether the rows are arrays or objects, and the key of the list.
    Objects are lines of a table if they have no array, or if a key of ids or several keys of items are named.
    """
    wanted = Wanted(id_column, item_column, item_columns, delimiter, yes, lacking)
    said = {"id_column": id_column, "item_columns": item_columns, "delimiter": delimiter, "yes": yes}
    if any(value is not None for value in said.values()):
        return _read_records(text, wanted)
    if _NESTED.search(text.content):
        part = _read_nested(text, wanted)
        if part is not None:
            return part
    part = _read_arrays(text, item_column)
    return _read_records(text, wanted) if part is None else part


def _read_arrays(text: Text, item_column: str | None) -> RowsRead | None:
    """Read arrays, or objects with an array each; None: the first row is an object without an array."""
    codes: list[int] = []
    indptr = [0]
    found: dict[str, int] = {}
    objects: bool | None = None
    keys: set[str] = set()
    filled: list[int] = []
    nulls: list[int] = []
    key = item_column or ""
    unit = f"{text.name}, {unit_of(text)}"
    for number, row in values_in(text):
        where = f"{unit} {number}"
        if row is not BLANK:
            if objects is None:
                objects = isinstance(row, dict)
                if objects and item_column is None and not any(isinstance(one, list) for one in row.values()):
                    return None
                key = _first_key(text, row, item_column, where)
            if objects and isinstance(row, dict):
                keys.update(row)
            filled.append(len(indptr) - 1)
            items = _items(row, key, where) if objects else row
            if not isinstance(items, list):
                raise _no_array(items, where, objects=objects)
            for item in items:
                if item is None:
                    nulls.append(number)
                elif type(item) is str and item in found:
                    codes.append(found[item])
                else:
                    codes.append(found.setdefault(label_of(item, where), len(found)))
        indptr.append(len(codes))
    part = RowsRead(
        np.array(indptr, np.int64),
        np.array(codes, np.int32),
        list(found),
        Layout("jsonl", item_column=key or "item", objects=bool(objects)),
        item_columns=(key,) if key else (),
        ignored_columns=tuple(sorted(keys - {key})),
        notes=without_nulls(key or "arrays", len(nulls), len(set(nulls))),
    )
    if all(map(names_others, part.ignored_columns)):
        return part
    table = with_unused(RecordTable(text), replace(part, lines=np.array(filled, np.int64)), {})
    return replace(table, lines=None)


def _first_key(text: Text, row: Any, item_column: str | None, where: str) -> str:
    """Return the key of the list of items, as the first row shows; "" for arrays."""
    if isinstance(row, dict):
        alone = sum(one is not BLANK for _, one in islice(values_in(text), 2)) < 2
        return item_column or _list_key(row, where, alone=alone)
    if item_column is not None:
        raise DataError(
            f"{where}: found an array, expected an object with the key {shorten(item_column)}.",
            hint="Omit the item column: the rows are plain arrays.",
        )
    return ""


def _no_array(items: Any, where: str, *, objects: bool) -> DataError:
    """Say what was found where an array of items must be."""
    return DataError(
        f"{where}: found {kind_of(items)}, expected an array of items.",
        hint="Where each object has one item, name the key of their ids, too: --id-column."
        if objects
        else "",
    )


def _read_records(text: Text, wanted: Wanted) -> RowsRead:
    """Read objects as lines of a table: by their ids, or with several keys of items."""
    table, wanted = _opened(text, wanted)
    if not wanted.named and table.agreed(said=False) is None:
        lists = _lists(table)
        raise refusal(table, "no key contains an array") if not lists else which_list(table, lists)
    if wanted.only_id and (lists := _lists(table)):
        if len(lists) > 1:
            raise which_list(table, lists)
        wanted = replace(wanted, item_column=table.names[lists[0]])
    if wanted.id_column is not None and wanted.item_column is not None:
        id_at = column_at(table.names, wanted.id_column, table.name)
        item_at = column_at(table.names, wanted.item_column, table.name)
        if table.holds_lists(item_at) and wanted.delimiter is None:
            lacking = wanted.lacking or PLAIN
            part = read_lists_by_id(table, id_at, item_at, table.lists(item_at), lacking)
            return replace(part, notes=(*table.notes, *part.notes))
    part = read_table(table, None, wanted)
    cells = None if wanted.delimiter is None else (Layout("jsonl"), wanted.delimiter)
    return replace(part, layout=Layout("jsonl"), cells=cells)


def _opened(text: Text, wanted: Wanted) -> tuple[RecordTable, Wanted]:
    """Open objects as a table, and find the columns that were named, which may be inside others."""
    table = RecordTable(text)
    wanted = paths(wanted, table.names)
    require_columns(table, wanted, _lists(table))
    kind = (wanted.item_column or "").partition(".")[0]
    if kind in table.kinds:
        table = RecordTable(text, f"{kind}.")
    return table, wanted


def _read_nested(text: Text, wanted: Wanted) -> RowsRead | None:
    """Read lists inside objects, a row for each line; None: the lists are not inside others."""
    first = next((row for _, row in values_in(text) if row is not BLANK), None)
    if not isinstance(first, dict):
        return None
    table, wanted = _opened(text, wanted)
    lists = _lists(table)
    plain = [at for at in lists if "." not in table.names[at]]
    outside = len(plain) == 1 if wanted.item_column is None else "." not in wanted.item_column
    if outside or not any("." in name for name in table.names) or (wanted.item_column is None and not lists):
        return None
    if wanted.item_column is not None:
        at = column_at(table.names, wanted.item_column, table.name)
    elif len(lists) == 1:
        at = lists[0]
    else:
        raise which_list(table, lists)
    name = table.names[at]
    if not table.holds_lists(at):
        raise DataError(
            f"{table.place(0)}: {shorten(name)} contains one item, expected an array of items.",
            hint="Name the key of their IDs, too: --id-column.",
        )
    bounds, codes, labels = table.lists(at)
    part = RowsRead(
        bounds, codes.astype(np.int32), labels, Layout("jsonl", item_column=name, objects=True),
        item_columns=(name,), ignored_columns=tuple(sorted(set(table.names) - {name})), notes=table.notes,
    )  # fmt: skip
    return with_unused(table, part, {})


def _lists(table: RecordTable) -> list[int]:
    return [at for at in range(len(table.names)) if table.holds_lists(at)]


def _list_key(row: dict[str, Any], where: str, *, alone: bool) -> str:
    """Find the key of the list of items; `alone`: the file contains one object, whose keys may be people."""
    keys = [key for key, value in row.items() if isinstance(value, list)]
    keys = [key for key in keys if "." not in key] or keys
    if len(keys) == 1:
        return keys[0]
    if alone and len(keys) > 2 and len(keys) == len(row):
        raise DataError(
            f"{where}: found one object whose {len(keys)} keys contain an array each, expected one per row.",
            hint='Such as {"id": "p1", "items": ["tea", "milk"]}, one a line.',
        )
    readings = [({"item_column": key}, f"one row per line, items from {key}") for key in keys]
    raise TableError(
        f"{where}: {len(keys)} keys contain an array ({listed(keys)}), expected one", [], readings
    )


def _items(row: Any, key: str, where: str) -> Any:
    if not isinstance(row, dict):
        raise DataError(f"{where}: found {kind_of(row)}, expected an object, as on the first line.")
    if key not in row:
        error = DataError(f"{where}: there is no key {shorten(key)}; the keys are {listed(list(row), 20)}.")
        near = closest(key, row)
        error.hint = f"Did you mean {shorten(near[0])}?" if near else "Write null where a value is missing."
        error.instead = key, next(iter(near), "")
        raise error
    return [] if row[key] is None else row[key]
