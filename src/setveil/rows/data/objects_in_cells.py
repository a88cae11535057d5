"""Cells of a table that contain objects, as JSON or as Python writes them: their keys are columns.

In a column `items` of cells such as ``[{"sku": "tea"}, {"sku": "milk"}]``, `items.sku` is a column of lists.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from setveil.base.plain_json import read_json_with
from setveil.rows.data.columns import Wanted
from setveil.rows.data.evidence import SURE
from setveil.rows.data.known_words import MISSING
from setveil.rows.data.named_columns import Column, NamedColumns
from setveil.rows.data.names import is_item_name, is_measured_name

_NUMBER = re.compile(r"[0-9.]+")
_NUMBERS = re.compile(r"[\[\]0-9., ]*")
_MOST = 3  # readings that are shown


@lru_cache(1 << 14)
def _values(text: str) -> Any:
    """Read an object, or a list with one; None: the text is anything else."""
    bare = text.strip()
    if bare[:1] not in {"{", "["} or bare[-1:] not in {"}", "]"} or not ("{" in bare or bare == "[]"):
        return None
    for read in (read_json_with, ast.literal_eval):
        try:
            found = read(bare)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        objects = found if isinstance(found, list) else [found]
        return found if all(isinstance(one, dict) for one in objects) else None
    return None


def _flat(name: str, value: Any) -> dict[str, Any]:
    from setveil.rows.data.nested import flat

    return flat({name: value}, name)


def _cell(text: str, name: str, path: str) -> str:
    """Write what is below a path in a cell as an array."""
    value = _values(text)
    found = _flat(name, value).get(path) if value else None
    items = found if isinstance(found, list) else [] if found is None else [found]
    return json.dumps([str(one) for one in items if one is not None], ensure_ascii=False) if items else ""


def inner_columns(name: str, values: Sequence[str]) -> list[str]:
    """Name the columns inside a column that may contain items, best first.

    >>> inner_columns("genres", ['[{"id": 7, "name": "Drama"}, {"id": 2, "name": "War"}]', "[]"] * 9)
    ['genres.name', 'genres.id']
    >>> inner_columns("genres", ["Drama", "War"])
    []
    """
    found = _paths(name, values)
    return likely_lists(list(found), list(found.values()))


def _paths(name: str, values: Sequence[str]) -> dict[str, list[str]]:
    """Find the columns inside a column, with their values; {}: its cells are no objects."""
    filled = [value for value in values if value not in MISSING]
    cells = [value for value in map(_values, filled) if value is not None]
    if not filled or len(cells) < SURE * len(filled):
        return {}
    rows = [_flat(name, value) for value in cells if value]
    paths = [path for path in dict.fromkeys(path for row in rows for path in row) if path != name]
    return {path: [str(row[path]) for row in rows if path in row] for path in paths}


class _Inner:
    """A table with the column inside another one in place of that."""

    def __init__(self, table: NamedColumns, at: int, path: str) -> None:
        self._table, self._at, self._path = table, at, path
        self.names = [path if place == at else name for place, name in enumerate(table.names)]
        self.head = [
            [self._inner(cell) if place == at else cell for place, cell in enumerate(row)]
            for row in table.head
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def _inner(self, text: str) -> str:
        return _cell(text, self._table.names[self._at], self._path)

    def columns(
        self, wanted: Sequence[int], *, id_at: int | None = None, marks: bool = False
    ) -> list[Column]:
        """Read some columns, of the outer one what is inside."""
        found = self._table.columns(wanted, id_at=id_at, marks=marks)
        for place, at in enumerate(wanted):
            if at == self._at:
                numbers: dict[str, int] = {}
                inner = (self._inner(label) for label in found[place].labels)
                image = np.array([numbers.setdefault(label, len(numbers)) for label in inner], np.int64)
                found[place] = found[place]._replace(codes=image[found[place].codes], labels=list(numbers))
        return found


def with_inner(table: NamedColumns, wanted: Wanted) -> tuple[NamedColumns, Wanted]:
    """Open the column inside another one that is named as that of the items, such as `items.sku`."""
    for option in ("item_column", "item_columns"):
        named = getattr(wanted, option)
        path = named.replace("[]", "") if isinstance(named, str) else ""
        outer = [at for at, name in enumerate(table.names) if name and path.startswith(f"{name}.")]
        if not outer or path in table.names:
            continue
        values = [row[outer[0]] for row in table.head if len(row) > outer[0]]
        if path in _paths(table.names[outer[0]], values):
            inner = _Inner(table, outer[0], path)
            return inner, replace(wanted, delimiter=",", **{option: path})
    return table, wanted


def likely_lists(names: Sequence[str], values: Sequence[Sequence[str]]) -> list[str]:
    """List the columns that may hold items, best first: no amounts, and none with one value only."""
    several = range(len(names))
    found = [at for at in several if len(set(values[at])) > 1] or list(several)
    found = [at for at in found if not is_measured_name(_last(names[at]))] or found
    found = [at for at in found if not _repeat_numbers(values[at])] or found
    numeric = [all(map(_NUMBERS.fullmatch, one)) for one in values]  # else names come first
    found = sorted(found, key=lambda at: (*_item_rank(names[at]), -len(set(values[at])), numeric[at], at))
    return [names[at] for at in found[:_MOST]]


def _repeat_numbers(lists: Sequence[str]) -> bool:
    """Return whether lists of several numbers repeat one, as amounts do and items do not."""
    numbers = [_NUMBER.findall(one) for one in lists if _NUMBERS.fullmatch(one)]
    several = [one for one in numbers if len(one) > 1]
    again = sum(len(set(one)) < len(one) for one in several)
    return bool(several) and len(numbers) == len(lists) and 3 * again > len(several)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _item_rank(name: str) -> tuple[bool, bool]:
    """Order columns by how likely they hold items: by the key itself, then by the first key around it."""
    return not is_item_name(_last(name)), not is_item_name(name.partition(".")[0])
