"""Long tables: which column contains the ids and which the items, and which lines are a row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, TableError, closest, did_you_mean, listed, shorten
from setveil.rows.data.names import is_id_name, is_item_name

Codes = NDArray[np.int64]


def guess_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """Recognize id and item column by two names, one like an id only, one like an item only; else None."""
    if len(names) == 2:
        for i, j in ((0, 1), (1, 0)):
            if is_id_name(names[i]) and is_item_name(names[j]) and not is_item_name(names[i]):
                return i, j
    return None


@dataclass(frozen=True)
class Wanted:
    """The requested roles of the columns of a table, as options of `setveil.read`; None if not requested."""

    # id_column, item_column: names of columns
    id_column: str | None = None
    item_column: str | None = None
    # names, or a text with names, ranges of columns (``DX1-DX20``) and patterns (``DX*``) between commas
    item_columns: str | Sequence[str] | None = None
    delimiter: str | None = None  # between the items of a cell; None: a cell contains one
    yes: str | Sequence[str] | None = None  # values of a one-hot table that mean that the item is there
    lacking: Any = field(default=None, compare=False)  # a `Lacking`: what means that there is no value

    @property
    def yes_values(self) -> frozenset[str]:
        """The values that mean that an item is there; empty: the usual ones."""
        return frozenset(split_names(self.yes) if isinstance(self.yes, str) else self.yes or ())

    @property
    def named(self) -> bool:
        """Return whether a column was named."""
        return any(value is not None for value in (self.id_column, self.item_column, self.item_columns))

    @property
    def only_id(self) -> bool:
        """Return whether a column of IDs was named, and nothing of the items."""
        said = self.item_column, self.item_columns, self.delimiter, self.yes
        return self.id_column is not None and all(one is None for one in said)

    def names_of(self, line: Sequence[str]) -> bool:
        """Return whether a line has the name of a column or the ends of a range, which are not numbers."""
        fields = {field for field in line if field and not re.fullmatch("0*[1-9][0-9]*", field, re.ASCII)}
        wanted = [name for name in (self.id_column, self.item_column) if name is not None]
        if isinstance(self.item_columns, str):
            for part in split_names(self.item_columns):
                wanted += [part, *(_ends_of_range(fields, part) or ())]
        else:
            wanted += self.item_columns or ()
        return not fields.isdisjoint(wanted)


NOTHING = Wanted()
WANTED = tuple(one.name for one in fields(Wanted) if one.name != "lacking")


class _Columns:
    """The columns of a table by their names; `where` is the table, for messages."""

    def __init__(self, names: Sequence[str], where: str) -> None:
        self.names, self.where = names, where
        self.places = {name: at for at, name in enumerate(names)}
        self.times = Counter(names)

    def numbers(self, wanted: str) -> str:
        """List the numbers of the columns with a name: ``2-6``."""
        named = [at for at, name in enumerate(self.names) if name == wanted]
        return as_fields(named, [str(at + 1) for at in range(len(self.names))])

    def repeated(self, wanted: str) -> str:
        """Say that several columns have a name."""
        return f"{self.where}: {self.times[wanted]} columns are named {shorten(wanted)}"

    def at(self, wanted: str) -> int:
        """Find a column by its name, else by its number, counted from 1."""
        names, where, times = self.names, self.where, self.times[wanted]
        if times:
            if times > 1:
                numbers = self.numbers(wanted)
                error = DataError(f"{self.repeated(wanted)}.", hint=f"Name them by their numbers: {numbers}.")
                error.instead = wanted, str(names.index(wanted) + 1)
                raise error
            return self.places[wanted]
        if wanted.isascii() and wanted.isdigit() and len(wanted) < 9 and 1 <= int(wanted) <= len(names):
            return int(wanted) - 1
        there_are = f"its columns are {listed(names, 20)}" if names else "it has no columns"
        error = DataError(
            f"{where}: there is no column {shorten(wanted)}; {there_are}.",
            hint=did_you_mean(
                wanted,
                names,
                "Name the columns exactly as written, or by their numbers from 1, and check the separator.",
                quoted=True,
            ),
        )
        near = closest(wanted, names)
        error.instead = wanted, next(iter(near), "")
        raise error


def numbered_alike(names: Mapping[int, str], *, said: Callable[[str], bool] = bool) -> list[int]:
    """Find the most columns that are named alike but for a number at the end, such as DX1, DX2."""
    stems: dict[str, list[int]] = {}
    times = Counter(names.values())
    for at, name in names.items():
        numbered = re.fullmatch(r"(.*[^0-9])[0-9]+", name)
        if times[name] > 1 and name and said(name):
            stems.setdefault(name, []).append(at)
        elif numbered and said(numbered[1]):
            stems.setdefault(numbered[1], []).append(at)
    longest = max(stems.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def column_at(names: Sequence[str], wanted: str, where: str) -> int:
    """Find a column by its name, else by its number, counted from 1."""
    return _Columns(names, where).at(wanted)


def columns_at(names: Sequence[str], wanted: str | Sequence[str], id_at: int | None, where: str) -> list[int]:
    """Find the item columns of a table, in its order; a pattern never means the ID column `id_at`."""
    found: set[int] = set()
    columns = _Columns(names, where)
    parts = split_names(wanted) if isinstance(wanted, str) else list(wanted)
    for part in parts:
        pattern = isinstance(wanted, str) and part not in columns.places
        ends = _ends_of_range(columns.places, part) if pattern else None
        if ends is not None:
            found.update(range(columns.at(ends[0]), columns.at(ends[1]) + 1))
        elif pattern and set(part) & set("*?["):
            some = [at for at, name in enumerate(names) if fnmatchcase(name, part) and at != id_at]
            if not some:
                raise DataError(
                    f"{where}: no column fits the pattern {shorten(part)}; its columns are "
                    f"{listed(names, 20)}."
                )
            found.update(some)
        elif columns.times[part] > 1:
            found.update(at for at, name in enumerate(names) if name == part)
        else:
            found.add(columns.at(part))
    if not found:
        raise DataError(f"{where}: no item column is named in {shorten(str(wanted))}.")
    if id_at in found:
        raise RequestError(
            f"The column {shorten(names[id_at or 0])} cannot contain both the ids and the items."
        )
    return sorted(found)


def split_names(text: str) -> list[str]:
    """Take a list of names with commas between them apart; a name that contains one is quoted."""
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return [field.strip() for field in fields if field.strip()]


def names_several(text: str) -> bool:
    """Return whether a text names several columns: a list, a pattern, or a range of numbered ones.

    >>> [names_several(text) for text in ("code", "items[].sku", "a,b", "DX*", "DX1-DX20", "2-4")]
    [False, False, True, True, True, True]
    """
    parts = split_names(text)
    pattern = any({*part.replace("[]", "")} & set("*?[") for part in parts)  # items[].sku is a key
    return len(parts) > 1 or pattern or re.fullmatch(r"(.*?)[0-9]+ *- *\1[0-9]+", text.strip()) is not None


def _ends_of_range(names: Container[str], part: str) -> tuple[str, str] | None:
    """Take ``DX1-DX20`` apart, at the dash that leaves a column on both sides."""
    for at, sign in enumerate(part):
        ends = part[:at].strip(), part[at + 1 :].strip()
        if sign == "-" and all(end in names or re.fullmatch("[0-9]{1,8}", end, re.ASCII) for end in ends):
            return ends
    return None


def long_columns(names: Sequence[str], wanted: Wanted, where: str) -> tuple[int, int] | None:
    """Find the id and the item column of a long table, of two also the one not named; None: not said."""
    if wanted.item_column is not None and (columns := _Columns(names, where)).times[wanted.item_column] > 1:
        meaning = f"items from all {columns.times[wanted.item_column]} columns"
        raise TableError(
            columns.repeated(wanted.item_column),
            [],
            [({"item_columns": columns.numbers(wanted.item_column)}, meaning)],
        )
    ends = [None if name is None else column_at(names, name, where) for name in _pair(wanted)]
    if len(names) == 2 and ends != [None, None]:
        ends = [1 - ends[1] if ends[0] is None and ends[1] is not None else ends[0], ends[1]]
        ends = [ends[0], 1 - ends[0] if ends[1] is None and ends[0] is not None else ends[1]]
    id_at, item_at = ends
    if id_at is not None and id_at == item_at:
        raise RequestError(f"The id column and the item column are both {shorten(names[id_at])}.")
    return None if id_at is None or item_at is None else (id_at, item_at)


def _pair(wanted: Wanted) -> tuple[str | None, str | None]:
    return wanted.id_column, wanted.item_column


def rows_of(ids: Codes) -> tuple[Codes, Codes]:
    """Give ids row numbers by appearance: int64 (lines,), rows of lines; int64 (rows,), their first lines."""
    first = np.full(int(ids.max(initial=-1)) + 1, -1, np.int64)
    first[ids[::-1]] = np.arange(ids.size - 1, -1, -1)  # of repeated places the last write stays
    present = np.flatnonzero(first >= 0)
    rank = np.empty(first.size, np.int64)
    by_line = present[np.argsort(first[present])]
    rank[by_line] = np.arange(present.size)
    return rank[ids], first[by_line]


def joined(row: Codes, codes: Codes, n_rows: int) -> tuple[NDArray[np.int64], Codes]:
    """Put together what the lines of each row contain, in order: int64 (rows + 1,) bounds, and codes."""
    if (row[1:] < row[:-1]).any():
        codes = codes[np.argsort(row, kind="stable")]
    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n_rows), out=indptr[1:])
    return indptr, codes


def as_fields(columns: Sequence[int], word: Sequence[str] | Mapping[int, str]) -> str:
    """Write columns as names and ranges of names between commas."""
    parts: list[str] = []
    start = 0
    for end in range(1, len(columns) + 1):
        if end == len(columns) or columns[end] != columns[end - 1] + 1:
            first, last = word[columns[start]], word[columns[end - 1]]
            run = end - start
            if run > 2 and "-" not in first + last:
                parts.append(as_field(f"{first}-{last}"))
            else:
                parts += [as_field(word[at]) for at in columns[start:end]]
            start = end
    return ",".join(parts)


def as_field(text: str) -> str:
    """Quote the name of a column for a list of names with commas between them, where it must be."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"') else text
