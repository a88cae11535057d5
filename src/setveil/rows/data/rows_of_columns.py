"""Tables of columns, from text, files or data frames: which columns make the rows, and what the rows contain.

Layouts are long (a line for each ID and item), wide (several columns of items) and one-hot (a column for each
item). Which columns count is never guessed if that could publish IDs: `setveil.rows.data.readings` asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.errors import DataError, RequestError, TableError, superfluous
from setveil.base.wording import are, count
from setveil.rows.data import answers, known_words
from setveil.rows.data.columns import Codes, Wanted, column_at, columns_at, joined, long_columns, rows_of
from setveil.rows.data.events import NOBODY, UnusedColumns, may_tell
from setveil.rows.data.ids import Values
from setveil.rows.data.lacking import (
    PLAIN,
    Lacking,
    doubtful_noted,
    emptied,
    is_of_sums,
    only,
    refuse_lines,
    settled_ids,
    skipped_noted,
    words_noted,
)
from setveil.rows.data.lacking import without_words as emptied_column
from setveil.rows.data.layout import Layout
from setveil.rows.data.named_columns import Column, NamedColumns, called
from setveil.rows.data.objects_in_cells import with_inner
from setveil.rows.data.one_hot import answered, marked, refuse_answers, refuse_people_as_items
from setveil.rows.data.personal import PersonalColumn, ids_of_columns, numbered, other_columns
from setveil.rows.data.personal_places import ids_in_lists
from setveil.rows.data.rows_read import RowsRead
from setveil.rows.data.set_fields import require_delimiter, split_column
from setveil.rows.data.totals import refuse_total_items, refuse_total_lines, refuse_totals

if TYPE_CHECKING:
    import polars as pl


def read_table(table: NamedColumns, form: str | None, wanted: Wanted) -> RowsRead:
    """Take the rows out of a table, and the values of all its columns that belong to one person.

    Without `form`, the columns named decide, and the values of item columns.
    """
    if not table.names:
        raise DataError(f"{table.name}: a table needs columns; it has none.")
    table, wanted = with_inner(table, wanted)
    read = _Remembered(table, wanted.lacking or PLAIN)
    read.require_data_below()
    part = _read_table(read, form, wanted)
    lacking = read.lacking
    used = [*part.item_columns, *([] if part.id_column is None else [part.id_column])]
    lacking.require([called(table, at) for at in range(len(table.names))], used, table.name)
    doubts = list[str]()
    for column in part.items:
        refuse_total_items(table.name, column.name, column.codes, column.labels, lacking)
        doubts += doubtful_noted(column.codes, column.labels, column.name, lacking)
    notes = (*getattr(table, "notes", ()), *part.notes, *read.notes(), *doubts)
    part = replace(part, notes=notes, of_columns=True)
    return with_unused(table, part, read.known)


def with_unused(table: NamedColumns, part: RowsRead, known: Mapping[int, Column]) -> RowsRead:
    """Add what columns without items say of people; `known`: the ID column, by its place, if any."""
    names = [called(table, at) for at in range(len(table.names))]
    ids = [Values(names[at], column.codes, column.labels) for at, column in known.items()]
    used = {at for at, name in enumerate(names) if name not in part.ignored_columns}

    @cache
    def cells(at: int) -> pl.Series | None:
        """Read a column by polars, which is fast, if that can read the table."""
        found = table.cells(at) if hasattr(table, "cells") else None
        n_lines = part.indptr.size - 1 if part.lines is None else part.lines.size
        return None if found is None or found.len() < n_lines else found  # it saw other ends of lines

    def any_cells(at: int) -> Column | pl.Series:
        found = cells(at)
        return table.columns([at], marks=True)[0] if found is None else found

    ids += getattr(table, "keys", ())
    others = [*other_columns(names, table.head, used, any_cells), *getattr(table, "aside", {}).items()]
    beside = _beside(table, part, cells)
    return replace(part, beside=beside, personal=ids_of_columns(ids, others, part.items))


def _beside(table: NamedColumns, part: RowsRead, cells: Callable[[int], pl.Series | None]) -> UnusedColumns:
    """Read the unused columns that may say whose rows are."""
    unused = [at for at in range(len(table.names)) if called(table, at) in part.ignored_columns]
    found = []
    for at in unused:
        name = table.names[at] if table.header else ""
        if may_tell(name, [row[at] for row in table.head if len(row) > at]):
            texts = cells(at)
            codes, labels = table.texts(at) if texts is None else numbered(texts)
            found.append(Values(called(table, at), codes if part.kept is None else codes[part.kept], labels))
    if not found:
        return NOBODY
    n_rows = part.indptr.size - 1
    row = np.arange(n_rows) if part.lines is None else part.lines
    return UnusedColumns(row, tuple(replace(one, codes=one.codes[: row.size]) for one in found))


class _Remembered:
    """A table that remembers the columns that were read of it."""

    def __init__(self, table: NamedColumns, lacking: Lacking = PLAIN) -> None:
        self._table = table
        self.known: dict[int, Column] = {}
        self.lacking = lacking.of([called(table, at) for at in range(len(table.names))])
        self._words: dict[str, Counter[str]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def columns(
        self, wanted: Sequence[int], *, id_at: int | None = None, marks: bool = False
    ) -> list[Column]:
        """Read some columns, empty where a word says that there is nothing, and remember that of the ids."""
        found = self._table.columns(wanted, id_at=id_at, marks=marks)
        for place, at in enumerate(wanted):
            name = called(self._table, at)
            said = self.lacking.words(name, wide=marks)
            if at == id_at:  # the lines of sums are counted before they are skipped
                said = frozenset(word for word in said if not is_of_sums(word))
            found[place], words = emptied_column(found[place], said)
            if words and at != id_at:
                self._words[name] = words
        if id_at is not None and id_at in wanted:
            self.known[id_at] = found[list(wanted).index(id_at)]
        return found

    def ends_noted(self, used: Sequence[int], end: int) -> list[str]:
        """Say how many lines from one on, which have no ID and no item, have a value in another column."""
        others = [at for at in range(len(self._table.names)) if at not in used]
        columns = self._table.columns(others) if others else []
        filled = [np.array([*map(bool, column.labels)], bool)[column.codes[end:]] for column in columns]
        number = int(np.logical_or.reduce(filled).sum()) if filled else 0
        lines = f"{count(number, 'line')} at the end without an ID and an item"
        return [f"{lines} {'was' if number == 1 else 'were'} skipped."] if number else []

    def require_data_below(self) -> None:
        """Raise if lines below the header have words where nearly all others have numbers."""
        lines = getattr(self._table, "header_lines", 1)
        if lines > 1 and not self.lacking.published:
            rows = f"lines 1 to {lines}" if lines > 2 else "lines 1 and 2"
            raise TableError(
                f"{self._table.name}: {rows} of the table seem to be headers, as the lines below are "
                "unlike them",
                [],
                [
                    ({"header_lines": str(lines)}, f"the data begin below {lines} header lines"),
                    ({"header_lines": "1"}, "the first line alone is the header"),
                ],
            )

    def remember(self, name: str, words: Counter[str]) -> None:
        """Count words for no item in cells of several items."""
        if words:
            self._words[name] = self._words.get(name, Counter()) + words

    def notes(self) -> list[str]:
        """Say which words mean no item."""
        if len(self._words) < 4:
            return [words_noted(words, name) for name, words in self._words.items()]
        return [words_noted(sum(self._words.values(), Counter()), "", "cell")]


def _read_table(table: Any, form: str | None, wanted: Wanted) -> RowsRead:
    form = _form_with_yes(form, wanted)
    if wanted.delimiter is not None:
        return _read_cells(table, form, wanted, wanted.delimiter)
    if form == "long" or (form is None and wanted.item_columns is None):
        return _read_long(table, wanted, said=form == "long")
    id_at = None if wanted.id_column is None else column_at(table.names, wanted.id_column, table.name)
    if wanted.item_columns is not None:
        items_at = columns_at(table.names, wanted.item_columns, id_at, table.name)
    elif form == "onehot":
        items_at = [at for at in range(len(table.names)) if at != id_at]
    else:
        raise _refused(table)
    wanted_at = [*([] if id_at is None else [id_at]), *items_at]
    columns = table.columns(wanted_at, id_at=id_at, marks=True)
    ids = None if id_at is None else columns.pop(0)
    values = {label for column in columns for label in column.labels}
    if form is None:
        form = _form_of(table, columns, values)
    names = [table.names[at] for at in items_at]
    if form == "onehot" and wanted.item_columns is None:
        refuse_people_as_items(table, items_at, columns, id_at)
        refuse_totals(
            table, items_at, columns, None if ids is None or id_at is None else (called(table, id_at), ids)
        )
    if form == "onehot" and wanted.yes is not None:
        cells, labels = answered(table, names, columns, wanted.yes_values)
    elif form == "onehot":
        cells, labels = marked(table, names, columns)
    else:
        cells, labels = _filled(columns)
    part = _by_line(table, form, (cells, labels), items_at, id_at, ids)
    if form == "onehot":
        return part
    held = [
        Values(name, column.codes, column.labels)
        for name, column in zip(part.item_columns, columns, strict=True)
    ]
    return replace(part, items=tuple(held))


def _refused(table: Any) -> TableError:
    from setveil.rows.data.readings import refusal

    return refusal(table, "")


def _read_long(table: Any, wanted: Wanted, *, said: bool) -> RowsRead:
    found = long_columns(table.names, wanted, table.name)
    if found is None:
        found = None if wanted.named else table.agreed(said=said)
        if found is None:
            raise _refused(table)
    id_at, item_at = found
    (ids, items), ends = _without_blank_ends(table, found, table.columns(found, id_at=id_at))
    row, rows, kept = _rows_of_ids(table, id_at, ids)
    item_codes, items = _of_items(table, item_at, items, kept)
    indptr, codes = joined(row, item_codes, len(rows))
    id_name, item_name = ((table.names[at] if table.header else "") for at in found)
    return RowsRead(
        indptr,
        codes,
        items.labels,
        Layout("long", table.separator, id_column=id_name or "id", item_column=item_name or "item"),
        f"value of {called(table, id_at)}",
        called(table, id_at),
        (called(table, item_at),),
        _ignored(table, found),
        rows,
        (Values(called(table, item_at), items.codes, items.labels),),
        lines=row,
        kept=kept,
        notes=(*ends, *skipped_noted(kept, ids.codes.size), *_without_items(item_codes, indptr, codes)),
    )


def _of_items(table: Any, at: int, items: Column, kept: Codes | None) -> tuple[Codes, Column]:
    """Return the number of the item of each line, -1 where there is none."""
    items = only(items, kept)
    if "" not in items.labels:
        return items.codes, items
    empty = np.array([not label for label in items.labels], bool)[items.codes]
    if empty.any() and table.lacking.missing_item == "stop":
        where = items.place(int(np.argmax(empty)))
        raise refuse_lines(where, called(table, at), int(empty.sum()), "item")
    return np.where(empty, -1, items.codes), items


def _without_items(lines: Codes, indptr: Codes, codes: Codes) -> list[str]:
    """Say how many lines of a long table lack an item, and how many rows are empty for it."""
    number = int((lines < 0).sum())
    if not number:
        return []
    filled = np.concatenate([[0], np.cumsum(codes >= 0)])
    empty = int((filled[indptr[1:]] == filled[indptr[:-1]]).sum())
    rows = f"; {count(empty, 'row')} {are(empty)} empty" if empty else ""
    return [f"{count(number, 'line')} {'has' if number == 1 else 'have'} an ID and no item{rows}."]


def _places_of_cells(table: Any, wanted: Wanted, *, long: bool) -> tuple[int | None, list[int]]:
    """Find the column of ids, if there is one, and those whose cells contain items."""
    if long:
        found = long_columns(table.names, wanted, table.name)
        if found is None:
            raise _refused(table)
        return found[0], [found[1]]
    id_at = None if wanted.id_column is None else column_at(table.names, wanted.id_column, table.name)
    return id_at, columns_at(table.names, wanted.item_columns or (), id_at, table.name)


def _read_cells(table: Any, form: str | None, wanted: Wanted, delimiter: str) -> RowsRead:
    require_delimiter(delimiter)
    if form == "onehot":
        raise superfluous(
            "delimiter",
            "The option delimiter does not apply to one-hot tables, whose cells contain no items.",
            "Omit it, or --format onehot.",
        )
    long = form == "long" or (form is None and wanted.item_columns is None)
    id_at, items_at = _places_of_cells(table, wanted, long=long)
    wanted_at = [*([] if id_at is None else [id_at]), *items_at]
    columns = table.columns(wanted_at, id_at=id_at, marks=True)
    ids, ends = None, list[str]()
    if id_at is not None:
        (ids, *columns), ends = _without_blank_ends(table, wanted_at, columns)
    row, rows, kept = np.arange(columns[0].codes.size), None, None
    if ids is not None and id_at is not None:
        row, rows, kept = _rows_of_ids(table, id_at, ids)
    lengths, codes, held = [], [], []
    labels: list[str] = []
    in_lists: list[PersonalColumn] = []
    for at, column in zip(items_at, columns, strict=True):
        name = called(table, at)
        indptr, split, names = split_column(
            only(column, kept), name, delimiter, in_brackets=delimiter == ",", whole_brackets=True
        )
        items, words = emptied(split.astype(np.int64), names, table.lacking.words(name))
        table.remember(name, words)
        names = [label or "" for label in names]
        lengths.append(np.diff(indptr))
        codes.append(np.where(items < 0, -1, items + len(labels)))
        labels += names
        held.append(Values(called(table, at), items, names))
        in_lists += ids_in_lists(called(table, at), indptr, items, names)
    of = np.repeat(np.tile(row, len(columns)), np.concatenate(lengths))
    indptr, flat = joined(of, np.concatenate(codes), row.size if rows is None else len(rows))
    names_of_items = tuple(called(table, at) for at in items_at)
    if long and id_at is not None:
        layout = Layout(
            "long", table.separator, id_column=called(table, id_at), item_column=names_of_items[0]
        )
    else:
        layout = Layout("wide", table.separator, item_columns=names_of_items)
    return RowsRead(
        indptr,
        flat,
        labels,
        Layout("basket", delimiter),
        "line" if id_at is None else f"value of {called(table, id_at)}",
        None if id_at is None else called(table, id_at),
        names_of_items,
        _ignored(table, wanted_at),
        rows,
        tuple(held),
        (layout, delimiter),
        row,
        in_lists=tuple(in_lists),
        kept=kept,
        notes=() if ids is None else (*ends, *skipped_noted(kept, ids.codes.size)),
    )


def read_lists_by_id(
    table: NamedColumns,
    id_at: int,
    item_at: int,
    lists: tuple[Codes, Codes, list[str]],
    lacking: Lacking = PLAIN,
) -> RowsRead:
    """Take rows out of a table of records with a list in each: the records of one ID are one row."""
    bounds, codes, labels = lists
    (ids,) = table.columns([id_at], id_at=id_at)
    row, rows, kept = _rows_of_ids(_Remembered(table, lacking), id_at, ids)
    lengths = np.diff(bounds)
    if kept is not None:
        there = np.zeros(lengths.size, bool)
        there[kept] = True
        codes, lengths = codes[np.repeat(there, lengths)], lengths[kept]
    indptr, flat = joined(np.repeat(row, lengths), codes, len(rows))
    name = called(table, item_at)
    part = RowsRead(
        indptr,
        flat,
        labels,
        Layout("jsonl", item_column=name, objects=True),
        f"value of {called(table, id_at)}",
        called(table, id_at),
        (name,),
        _ignored(table, (id_at, item_at)),
        rows,
        (Values(name, codes, labels),),
        lines=row,
        in_lists=ids_in_lists(name, np.concatenate(([0], np.cumsum(lengths))), codes, labels),
        kept=kept,
        notes=tuple(skipped_noted(kept, ids.codes.size)),
    )
    return with_unused(table, part, {id_at: ids})


def _without_blank_ends(
    table: Any, places: Sequence[int], columns: Sequence[Column]
) -> tuple[list[Column], list[str]]:
    """Omit the lines at the end that are empty in all columns of IDs and items, and say which are totals."""
    filled = [np.array([bool(label) for label in column.labels], bool)[column.codes] for column in columns]
    there = np.flatnonzero(np.logical_or.reduce(filled))
    end = int(there[-1]) + 1 if there.size else 0
    if end in {0, columns[0].codes.size}:
        return list(columns), []
    return [column._replace(codes=column.codes[:end]) for column in columns], table.ends_noted(places, end)


def _by_line(
    table: NamedColumns,
    form: str,
    cells: tuple[Codes, list[str]],
    items_at: Sequence[int],
    id_at: int | None,
    ids: Column | None,
) -> RowsRead:
    codes, labels = cells
    lines, width = codes.shape
    names = [table.names[at] for at in items_at]
    if not table.header or len(set(names)) < len(names) or not all(names):
        written = tuple(f"item{number}" for number in range(1, width + 1))
    else:
        written = tuple(names)
    layout = Layout(form, table.separator, item_columns=written if form == "wide" else ())
    part = RowsRead(
        np.arange(lines + 1, dtype=np.int64) * width,
        codes.ravel(),
        labels,
        layout,
        item_columns=tuple(called(table, at) for at in items_at),
        ignored_columns=_ignored(table, [*items_at, *([] if id_at is None else [id_at])]),
    )
    if ids is None or id_at is None:
        return part
    row, rows, kept = _rows_of_ids(table, id_at, ids)
    if kept is not None:
        codes = codes[kept]
    indptr, flat = joined(np.repeat(row, width), codes.ravel(), len(rows))
    most = int(np.diff(indptr).max(initial=0))
    if form == "wide" and most > width:  # lines of one id are joined: rows outgrow the columns
        layout = Layout(form, table.separator, item_columns=tuple(f"item{i}" for i in range(1, most + 1)))
    return RowsRead(
        indptr,
        flat,
        labels,
        layout,
        f"value of {called(table, id_at)}",
        called(table, id_at),
        part.item_columns,
        part.ignored_columns,
        rows,
        lines=row,
        kept=kept,
        notes=tuple(skipped_noted(kept, ids.codes.size)),
    )


def _rows_of_ids(table: Any, id_at: int, ids: Column) -> tuple[Codes, list[str], Codes | None]:
    """Return the row of each line, the ID of each row, and the lines with an ID (None for all)."""
    name = called(table, id_at)
    ids, kept = settled_ids(ids, name, table.lacking)
    ids = only(ids, kept)
    refuse_total_lines(table, name, ids, kept, table.lacking)
    row, first = rows_of(_merged(ids))
    return row, [ids.labels[code] for code in ids.codes[first].tolist()], kept


def _ignored(table: NamedColumns, used: Sequence[int]) -> tuple[str, ...]:
    kept = frozenset(used)
    return tuple(called(table, at) for at in range(len(table.names)) if at not in kept)


def _merged(column: Column) -> Codes:
    """Return codes that are equal where the values are: a quoted field may equal a bare one."""
    numbers: dict[str, int] = {}
    image = [numbers.setdefault(label, len(numbers)) for label in column.labels]
    return column.codes if len(numbers) == len(image) else np.array(image, np.int64)[column.codes]


def _form_of(table: NamedColumns, columns: Sequence[Column], values: set[str]) -> str:
    """Decide by all values of the item columns whether they contain items or mark items by name."""
    if len(columns) > 1 and answers.are_marks(values):
        return "onehot"
    zeros = sum(
        int((column.codes == column.labels.index("0")).sum()) for column in columns if "0" in column.labels
    )
    cells = sum(column.codes.size for column in columns)
    if (
        len(columns) > 1
        and 2 * zeros > cells
        and all(value.isdigit() for value in values - known_words.MISSING)
    ):
        raise DataError(
            f"{table.name}: the item columns contain numbers, mostly 0: are these amounts, or the items?",
            hint="Add --format onehot (an item is there where its number is above 0) or --format wide "
            "(the numbers are the items).",
        )
    refuse_answers(table.name, columns)
    return "wide"


def _form_with_yes(form: str | None, wanted: Wanted) -> str | None:
    """Say that a table is one-hot where values are named that mean that an item is there."""
    if wanted.yes is None:
        return form
    if form in {"long", "wide"} or wanted.item_column is not None or wanted.delimiter is not None:
        raise RequestError(
            "yes says which values of the item columns mean that an item is there: expected item columns, "
            "one for each item.",
            hint="Name them: --item-columns; or omit --yes.",
        )
    return "onehot" if wanted.item_columns is not None else form


def _filled(columns: Sequence[Column]) -> tuple[Codes, list[str]]:
    labels: list[str] = []
    cells = np.empty((columns[0].codes.size, len(columns)), np.int64)
    for at, column in enumerate(columns):
        missing = np.array([not label for label in column.labels], bool)
        cells[:, at] = np.where(missing[column.codes], -1, column.codes + len(labels))
        labels += column.labels
    return cells, labels
