"""Objects inside objects: keys of keys are columns, named with points, such as ``subject.reference``.

A list of objects is a column of lists for each key: in ``{"items": [{"sku": "tea"}, {"sku": "milk"}]}`` the
column ``items.sku`` has both. Values that MongoDB writes with their type, such as ``{"$oid": "5f"}``, are
plain values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from setveil.base.errors import DataError, listed, shorten
from setveil.rows.data.evidence import FEW

Record = dict[str, Any]

_INTEGERS = {"$numberInt", "$numberLong"}
_NUMBERS = {"$numberDouble", "$numberDecimal"}
_TEXTS = {"$oid", "$uuid", "$symbol"}
_BUNDLE = "Bundle"


def flat(row: Record, where: str) -> Record:
    """Name the keys of an object's objects with points; an object without any stays as it is."""
    if not any(_is_nested(value) for value in row.values()):
        return row
    found: Record = {}
    for key, value in row.items():
        _put(found, key, value, where)
    return found


def _is_nested(value: Any) -> bool:
    return type(value) is dict or (type(value) is list and any(type(one) is dict for one in value))


def _put(found: Record, key: str, value: Any, where: str) -> None:
    value = _untyped(value)
    if isinstance(value, dict):
        for below, one in value.items():
            _put(found, f"{key}.{below}", one, where)
        return
    if key in found:
        raise DataError(f"{where}: two keys are named {shorten(key)}.", hint="Rename one of them.")
    if not isinstance(value, list):
        found[key] = value
        return
    plain: list[Any] = []
    found[key] = plain
    columns: dict[str, list[Any]] = {}
    for one in value:
        _spread(columns, plain, key, one)
    found |= columns
    if columns and all(one is None for one in plain):
        del found[key]


def _spread(columns: dict[str, list[Any]], plain: list[Any], key: str, value: Any) -> None:
    """Add an element of a list to the column of lists that it belongs to."""
    value = _untyped(value)
    if isinstance(value, dict):
        for below, one in value.items():
            name = f"{key}.{below}"
            inner: list[Any] = []
            for element in one if isinstance(one, list) else [one]:
                _spread(columns, inner, name, element)
            if inner:
                columns.setdefault(name, []).extend(inner)
    else:
        plain.append(value)


def _untyped(value: Any) -> Any:
    """Take a value out of the object in which MongoDB writes it with its type."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind in _TEXTS:
        return inner
    try:
        if kind in _INTEGERS:
            return int(inner)
        if kind in _NUMBERS:
            return Decimal(str(inner))
    except (ValueError, TypeError, InvalidOperation):
        return inner
    return _moment(_untyped(inner)) if kind == "$date" else value


def _moment(value: Any) -> Any:
    """Write milliseconds since 1970 as a date and a time."""
    if not isinstance(value, int):
        return value
    try:
        return datetime.fromtimestamp(value / 1000, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return value


# --- one object around all rows


def rows_in(document: Any) -> list[Any] | None:
    """Find the rows in an object: the only list of objects in it; of a FHIR bundle, its resources.

    Resources of several types have the type before their keys: ``Condition.subject.reference``.
    """
    if not isinstance(document, dict):
        return None
    if document.get("resourceType") == _BUNDLE:
        entries = document.get("entry") or []
        resources = [one.get("resource") for one in entries if isinstance(one, dict)]
        return _by_type([one for one in resources if isinstance(one, dict)])
    if {"schema", "data"} == set(document) and isinstance(document["data"], list):
        return document["data"]
    lists = list(_lists_of_objects(document, ""))
    return lists[0][1] if len(lists) == 1 else _of_columns(document) or _by_key(document)


def _of_columns(document: Record) -> list[Any] | None:
    """Make rows of an object of columns, as programs write data frames; None: it is anything else.

    >>> _of_columns({name: {str(at): at for at in range(5)} for name in ("who", "sku")})[4]
    {'who': 4, 'sku': 4}
    >>> _of_columns({"columns": ["who", "sku"], "index": [0, 1], "data": [[1, "tea"], [2, "rice"]]})[1]
    {'who': 2, 'sku': 'rice'}
    """
    names, data = document.get("columns"), document.get("data")
    if set(document) <= {"columns", "index", "data"} and isinstance(names, list) and isinstance(data, list):
        return [dict(zip(map(str, names), row, strict=True)) for row in data]
    columns = list(document.values())
    if len(columns) < 2 or not all(isinstance(one, dict | list) for one in columns):
        return None
    if len(columns[0]) < max(FEW, len(columns)):
        return None
    if all(isinstance(one, dict) and list(one) == [*map(str, range(len(columns[0])))] for one in columns):
        columns = [list(one.values()) for one in columns]
    elif not all(isinstance(one, list) and len(one) == len(columns[0]) for one in columns):
        return None
    if any(isinstance(value, dict) for one in columns for value in one):
        return None
    return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]


def _by_key(document: Record) -> list[Any] | None:
    """Make rows of an object with a key for each person: its array, or object with some of the same keys."""
    values = list(document.values())
    if len(values) < FEW:
        return None
    if all(
        isinstance(one, list) and not any(isinstance(item, dict | list) for item in one) for one in values
    ):
        return [{"key": key, "items": items} for key, items in document.items()]
    if all(isinstance(one, dict) and one and not values[0].keys().isdisjoint(one) for one in values):
        return [{"key": key, **one} for key, one in document.items()]
    return None


def lists_in(document: Any) -> list[str]:
    """Name the lists of objects in an object."""
    return [name for name, _ in _lists_of_objects(document, "")] if isinstance(document, dict) else []


def _lists_of_objects(value: Record, name: str) -> Iterator[tuple[str, list[Any]]]:
    for key, one in value.items():
        if isinstance(one, dict):
            yield from _lists_of_objects(one, f"{name}{key}.")
        elif isinstance(one, list) and len(one) > 1 and all(isinstance(element, dict) for element in one):
            yield f"{name}{key}", one


def _by_type(resources: list[Record]) -> list[Any]:
    """Put the type before the keys of resources, where there are several types."""
    types = {str(one.get("resourceType")) for one in resources}
    if len(types) < 2:
        return list(resources)
    return [{str(one.get("resourceType")): one} for one in resources]


def several_lists(where: str, names: Iterable[str]) -> DataError:
    """Refuse a document in which nothing tells which list holds the rows."""
    found = list(names)
    said = f"{len(found)} lists of objects ({listed(found)})" if found else "no list of objects"
    return DataError(
        f"{where} is one object with {said}, expected one list whose elements are the rows.",
        hint="Save the list that contains the rows to a file of its own, or write one object a line.",
    )
