"""Tables as published: columns of labels, one of sets; read and written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.base.wording import count
from setveil.kernels.rows import merge_rows, take_rows
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.io.write import quoting
from setveil.rows.data.lacking import PUBLISHED
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.columns import read_columns
from setveil.rows.tables.how import How
from setveil.rows.tables.table import TextColumn, frame_of, numbered_parts

if TYPE_CHECKING:
    import polars as pl

DATA_FILE, ITEMS_FILE = "data.csv", "items.csv"
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class PublishedTable(Exposed):
    """All that is published of a table."""

    columns: tuple[TextColumn, ...]  # the quasi-identifiers
    sets: Transactions  # the items of each row
    kept: tuple[TextColumn, ...] = ()  # columns that are published unchanged
    header: tuple[str, ...] = ()  # names of all columns, in the order of the file
    set_name: str = "items"  # the column with the items
    delimiter: str = ";"  # between the items of one field
    ignored: tuple[str, ...] = ()  # columns of the file without a role

    kind: ClassVar[str] = "tables"
    is_table: ClassVar[bool] = True
    shows_absence: ClassVar[bool] = True
    unfindable: ClassVar[None] = None

    @property
    def item_rows(self) -> Transactions:
        """The items of each row."""
        return self.sets

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of items."""
        return self.sets.set_names or (self.set_name,)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sets.n_rows

    def became(self, place: int) -> dict[str, Any]:
        """Return the items of a row, and the texts of its columns."""
        columns = (*self.columns, *self.kept)
        texts = {column.name: column.labels[int(column.codes[place])] for column in columns}
        return {**self.sets.became(place), "texts": texts}

    def classes(self) -> NDArray[np.int64]:
        """Find the class of each row, its number by first row: int64 (n_rows,)."""
        found = np.zeros(self.n_rows, np.int64)
        for column in self.columns:
            _, found = np.unique(found * max(len(column.labels), 1) + column.codes, return_inverse=True)
        return numbered_parts(np.arange(self.n_rows), found)

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame with all columns, as `setveil.Table.to_polars` does."""
        return frame_of((*self.columns, *self.kept), self.sets, self.header, self.set_name, long=long)

    def __repr__(self) -> str:
        names = listed([*(column.name for column in (*self.columns, *self.kept)), self.set_name])
        return f"PublishedTable: {count(self.n_rows, 'row')}, {names}"

    def shows(self, other: PublishedTable) -> bool:
        """Return whether another table has the same columns, and in each row the same labels."""
        mine, others = (
            [(column.name, _objects(column.labels)[column.codes]) for column in (*table.columns, *table.kept)]
            for table in (self, other)
        )
        return (
            self.n_rows == other.n_rows
            and len(self.columns) == len(other.columns)
            and self.set_name == other.set_name
            and len(mine) == len(others)
            and all(a == b and np.array_equal(x, y) for (a, x), (b, y) in zip(mine, others, strict=True))
            and all(a == b for a, b in zip(_sorted(self.sets), _sorted(other.sets), strict=True))
        )


def _sorted(sets: Transactions) -> Iterator[tuple[str, ...]]:
    return (tuple(sorted(row)) for row in sets)


def _objects(values: Sequence[str]) -> NDArray[np.object_]:
    out = np.empty(len(values), object)
    out[:] = values
    return out


def read_published_table(
    path: str | Path,
    qi: Sequence[str],
    set_name: str | None,
    keep: Sequence[str] = (),
    how: How | None = None,
) -> PublishedTable:
    """Read a published table, also of another tool; labels are as they are in it, other columns are skipped.

    `how` says how it is read, if that is not detected.
    """
    how = replace(how or How(), lacking=PUBLISHED)
    read = read_columns(path, [*qi, *keep], set_name, how)
    if read.ids is not None and np.unique(read.ids).size < read.ids.size:
        raise DataError(
            f"{read.name}: column {shorten(str(read.id_column))} has a value on several lines, expected a "
            "row on each."
        )
    place = {name: at for at, name in enumerate(read.header)} | {read.set_name: read.set_at}
    names = [*(column.name for column in read.texts), read.set_name]
    return PublishedTable(
        read.texts[: len(qi)],
        read.sets,
        read.texts[len(qi) :],
        tuple(sorted(names, key=lambda name: place[name])),
        read.set_name,
        read.delimiter,
        tuple(name for name in read.header if name not in (*names, *read.item_columns, read.id_column)),
    )


def write_table(path: Path, table: PublishedTable, sets: Sequence[tuple[str, Transactions]] = ()) -> None:
    """Write one line for each row; its items are one field, or one of each of the columns `sets`."""
    sets = sets or [(table.set_name, table.sets)]
    fields = [_set_fields(column, table.delimiter) for _, column in sets]
    _write(path, table, [name for name, _ in sets], fields)


def write_rows(folder: Path, table: PublishedTable, id_column: str, sets: Collection[str]) -> None:
    """Write data.csv with the number of each row, in a new column, and all columns but those of items."""
    numbers = _objects([str(row) for row in range(table.n_rows)])
    _write(folder / DATA_FILE, table, [id_column], [numbers], drop=sets)


def write_long(folder: Path, table: PublishedTable, id_column: str) -> None:
    """Write data.csv with numbered rows, in a new column, and items.csv with a line for each item."""
    write_rows(folder, table, id_column, [table.set_name])
    numbers = _objects([str(row) for row in range(table.n_rows)])
    sets, quote = table.sets, quoting(",")
    labels = _objects([quote(label) for label in sets.vocabulary.labels])
    rows = np.repeat(numbers, sets.row_lengths())
    with (folder / ITEMS_FILE).open("w", encoding="utf-8", newline="") as file:
        file.write(f"{quote(id_column)},{quote(table.set_name)}\n")
        for first in range(0, rows.size, _BLOCK):
            part = slice(first, first + _BLOCK)
            lines = zip(rows[part].tolist(), labels[sets.items[part]].tolist(), strict=True)
            file.writelines(f"{row},{label}\n" for row, label in lines)


def _write(
    path: Path,
    table: PublishedTable,
    more_names: list[str],
    more: list[NDArray[np.object_]],
    drop: Collection[str] = (),
) -> None:
    quote = quoting(",")
    fields = dict(zip(more_names, more, strict=True))
    for column in (*table.columns, *table.kept):
        fields[column.name] = _objects([quote(label) for label in column.labels])[column.codes]
    header = [name for name in more_names if name not in table.header] + [
        name for name in table.header if name not in drop
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{','.join(quote(name) for name in header)}\n")
        for first in range(0, table.n_rows, _BLOCK):
            part = [fields[name][first : first + _BLOCK].tolist() for name in header]
            file.writelines(f"{','.join(row)}\n" for row in zip(*part, strict=True))


def _set_fields(sets: Transactions, delimiter: str) -> NDArray[np.object_]:
    """Write the items of each row as one field."""
    inner, outer = quoting(delimiter), quoting(",")
    labels = [inner(label) for label in sets.vocabulary.labels]
    group, first, _ = merge_rows(sets.indptr, sets.items)
    indptr, items = take_rows(sets.indptr, sets.items, first)
    flat = [labels[item] for item in items.tolist()]
    fields = [outer(delimiter.join(flat[start:end])) for start, end in pairwise(indptr.tolist())]
    return _objects(fields)[group]


def require_no_facts(about: Mapping[str, Any]) -> None:
    """Refuse a table of facts, by what its about.json or its record says, where items are asked for."""
    if "facts" in about:
        raise RequestError(
            "Facts of tables are verified, and measured by the run that made them, but neither counted nor "
            "asked nor drawn, and no single one of them is explained.",
            hint="Count in the published lines; report.json reports the information loss.",
        )


def set_name_of(roles: Mapping[str, Any]) -> str:
    """Name the items of a table: the column that contains them; of several, facts."""
    return roles["set"] if isinstance(roles["set"], str) else "facts"
