"""Read JSON lines, each an array of items or an object that holds one, or one array of all of these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from setveil.data.io.source import Text
from setveil.data.layout import Layout
from setveil.data.rows_of_columns import RowsRead
from setveil.errors import DataError, TableError, listed, shorten

_DOCUMENT = re.compile(rb"\s*\[\s*[\[{]")


def is_document(content: bytes) -> bool:
    """Whether a text is one array of arrays or objects, which may go over many lines."""
    return _DOCUMENT.match(content) is not None


def read_jsonl(text: Text, item_column: str | None) -> RowsRead:
    """Read rows; a blank line, an empty array and null under the key are empty rows.

    The first row that is not blank settles whether the rows are arrays or objects, and the key of the list.
    """
    codes: list[int] = []
    indptr = [0]
    found: dict[str, int] = {}
    objects: bool | None = None
    keys: set[str] = set()
    key = item_column or ""
    for where, row in _values(text):
        if row is not _BLANK:
            if objects is None:
                objects = isinstance(row, dict)
                if objects:
                    key = item_column or _list_key(row, where)
                elif item_column is not None:
                    raise DataError(
                        f"{where}: found an array, expected an object with the key {shorten(item_column)}.",
                        hint="Leave out the item column: the rows are plain arrays.",
                    )
            if objects and isinstance(row, dict):
                keys.update(row)
            items = _items(row, key, where) if objects else row
            if not isinstance(items, list):
                raise DataError(f"{where}: found {_kind(items)}, expected an array of items.")
            for item in items:
                if type(item) is str and item in found:
                    codes.append(found[item])
                else:
                    codes.append(found.setdefault(label_of(item, where), len(found)))
        indptr.append(len(codes))
    return RowsRead(
        np.array(indptr, np.int64),
        np.array(codes, np.int32),
        list(found),
        Layout("jsonl", item_column=key or "item", objects=bool(objects)),
        item_columns=(key,) if key else (),
        ignored_columns=tuple(sorted(keys - {key})),
    )


_BLANK = object()


def _values(text: Text) -> Iterator[tuple[str, Any]]:
    """Read what each line holds, or each element of the array that the text is; with where that stands."""
    if is_document(text.content):
        for number, value in enumerate(_parse(text.content, text.name), 1):
            yield f"{text.name}, element {number}", value
        return
    for number, line in enumerate(text.content.splitlines(), 1):
        where = f"{text.name}, line {number}"
        yield where, _parse(line, where) if line.strip() else _BLANK


def _parse(line: bytes, where: str) -> Any:
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value too long or too deep"
        raise DataError(
            f"{where}: found {shorten(line.decode())}, expected one JSON array or object ({reason})."
        ) from None


def _list_key(row: dict[str, Any], where: str) -> str:
    keys = [key for key, value in row.items() if isinstance(value, list)]
    if len(keys) == 1:
        return keys[0]
    if keys:
        readings = [({"item_column": key}, f"one row per line, items from {key}") for key in keys]
        raise TableError(
            f"{where}: {len(keys)} keys hold an array ({listed(keys)}), expected one", [], readings
        )
    raise DataError(
        f"{where}: no key holds an array, expected one; the keys are {listed(list(row))}.",
        hint="A table with a column of items is read as csv, Parquet or .xlsx.",
    )


def _items(row: Any, key: str, where: str) -> Any:
    if not isinstance(row, dict):
        raise DataError(f"{where}: found {_kind(row)}, expected an object, as on the first line.")
    if key not in row:
        raise DataError(f"{where}: there is no key {shorten(key)}; the keys are {listed(list(row), 20)}.")
    return [] if row[key] is None else row[key]


def label_of(item: Any, where: str) -> str:
    """Take an item: a string that is not empty, or an integer."""
    if isinstance(item, str) and item:
        try:
            item.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{where}: found {shorten(item)}, which holds half of a surrogate pair."
            ) from None
        return item
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    raise DataError(
        f"{where}: found {_kind(item)} as an item, expected a string that is not empty or an integer.",
        hint="Leave missing values out of the array; turn other codes into strings.",
    )


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if value == "":
        return "an empty string"
    kinds = {bool: "a truth value", int: "a number", float: "a number with a fraction", str: "a string"}
    return kinds.get(type(value), "an object" if isinstance(value, dict) else "an array")
