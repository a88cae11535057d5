"""Read tables of which some columns are texts, and one, or several, hold the items of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.base.errors import DataError, RequestError, TableError, faces, listed, shorten
from setveil.base.wording import are, count
from setveil.kernels.rows import take_rows
from setveil.rows.data import answers
from setveil.rows.data.columns import Codes, Wanted, column_at, columns_at, joined
from setveil.rows.data.come_again import may_come_again
from setveil.rows.data.ids import Values
from setveil.rows.data.lacking import (
    Lacking,
    doubtful_noted,
    emptied,
    only,
    settled_ids,
    skipped_noted,
    without_words,
    words_noted,
)
from setveil.rows.data.layout import InputFile, Layout
from setveil.rows.data.named_columns import Column
from setveil.rows.data.one_hot import answered, marked, refuse_answers
from setveil.rows.data.personal import Personal, PersonalColumn, cells_of, ids_of_columns, items_of_columns
from setveil.rows.data.personal_places import ids_in_lists
from setveil.rows.data.rows_read import RowsRead, refuse_rounded_column
from setveil.rows.data.set_fields import DELIMITER, require_delimiter, split_column
from setveil.rows.data.spelling import Merged, normalized
from setveil.rows.data.totals import refuse_total_items, refuse_total_lines
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import OpenedTable, Split, open_table, text_column
from setveil.rows.tables.table import TextColumn

# The items of each id, what their column is called, and what other columns have of single persons.
Second = Callable[[Column, str, How], tuple[Split, str, tuple[PersonalColumn, ...]]]


@dataclass(frozen=True, eq=False)
class TableColumns:
    """What was read of a table."""

    name: str  # what to call it in messages
    header: tuple[str, ...]  # names of all its columns, in their order
    texts: tuple[TextColumn, ...]  # the columns that were asked for, as texts; "" where a value is missing
    sets: Transactions
    set_name: str  # name of the column with the items
    # place in the header of the (first) column with items; its length if they stand in another table
    set_at: int
    item_columns: tuple[str, ...]  # columns that hold the items; empty if they stand in another table
    items: tuple[Values, ...]  # the items by the columns that they stand in, as often as lines hold them
    id_column: str | None  # the column of ids
    ids: Codes | None  # int64 (n_rows,) or None: the id of each row, as a number
    delimiter: str  # between the items of one field
    files: tuple[InputFile, ...]  # what was read; empty: a data frame
    layout: Layout  # how it holds rows
    encoding: str | None  # of text
    # for each text column, what says where a value first stands, by its first row
    places: tuple[Callable[[int], str], ...]
    place: Callable[[int], str]  # says where a row is, whatever it holds
    others: tuple[Values, ...] = ()  # columns that were not asked for, of those that may be ids
    personal: tuple[PersonalColumn, ...] = ()  # what columns have of single persons
    merged: Merged | None = None  # which spellings of items became one
    notes: tuple[str, ...] = ()  # which lines were skipped, and what stood for no item


def read_columns(
    source: Any,
    names: Sequence[str],
    set_name: str | None = None,
    how: How | None = None,
    *,
    others: bool = False,
    second: Second | None = None,
) -> TableColumns:
    r"""Read some columns of a table as texts, and the items of its rows.

    Items are in one column, as lists or as fields like ``I10;"a;b"``, in several columns, or in a second
    table with a line for each id and item. An empty field is an empty set.

    `source` is a file (text with a header line, Parquet, JSON lines, a spreadsheet; ``-`` is standard
    input), one that was opened, or a data frame. `set_name` is the column with the items; where they are in
    several columns, or in another table, what to call it. With `others`, as for data and not for releases,
    other columns are read that may be ids. `second` takes the items of each id from the second table, given
    the column of ids, its name and `how`; by default they are those of a long table.

    >>> from pathlib import Path
    >>> _ = Path("ward.csv").write_text("age,codes\n34,I21;J18\n36,\n")
    >>> read = read_columns("ward.csv", ["age"], "codes")
    >>> read.texts[0].labels, read.sets.rows()
    (('34', '36'), [('I21', 'J18'), ()])
    """
    how = how or How()
    _require_possible(set_name, how)
    lines = _lines_of_people(source, names, set_name, how)
    own, items_name, notes, beside = _items_of(lines, how, second, others=others)
    further = _further(how, lines.id_name)
    split, skipped = _with_further(own, lines, further)
    notes = [*notes, *skipped]
    lines.require_missing_words_used()
    sets = Transactions.from_codes(*split)
    refuse_rounded_column(
        lines.where, items_name, sets.items.astype(np.int64), sets.vocabulary.labels, "items"
    )
    before = after = sets.vocabulary.labels
    merged = None
    if how.normalize is not None:
        normal, merged = normalized(before, how.normalize)
        after = tuple(normal)
        sets = sets.with_normal_labels(how.normalize)
    items_split = own if further else (sets.indptr, sets.items, sets.vocabulary.labels)
    items = _item_values(lines, how, items_name, items_split)
    items += [column for part, _ in further for column in part.items]
    set_name = items_name if lines.in_one else set_name or "items"
    unused = _others(lines) if others else ()
    elsewhere = (*beside, *(column for part, _ in further for column in part.personal))
    personal = Personal((*_personal(lines, items, own if lines.in_one else None, unused), *elsewhere))
    opened, kept = lines.opened, lines.kept
    return TableColumns(
        name=lines.where,
        header=tuple(lines.names),
        texts=tuple(text_column(lines.names[at], lines.columns[at]) for at in lines.texts_at),
        sets=sets,
        set_name=set_name,
        set_at=lines.items_at[0] if lines.items_at else len(lines.names),
        item_columns=tuple(lines.names[at] for at in lines.items_at),
        items=tuple(items),
        id_column=lines.id_name,
        ids=None if lines.id_at is None else _merged(lines.columns[lines.id_at])[0],
        delimiter=how.delimiter or DELIMITER,
        files=(*opened.files, *(file for _, file in further)),
        layout=opened.layout(set_name),
        encoding=opened.encoding,
        places=tuple(lines.columns[at].place for at in lines.texts_at),
        place=opened.place if kept is None else lambda row: opened.place(int(kept[row])),
        others=unused,
        personal=personal.respelled(before, after).columns,
        merged=merged,
        notes=tuple(note for note in (*lines.notes, *notes) if note),
    )


@dataclass(frozen=True, eq=False)
class _PeopleLines:
    """The lines of a table that are people, and which of its columns hold texts, ids and items."""

    opened: OpenedTable
    texts_at: Sequence[int]
    id_at: int | None
    items_at: Sequence[int]  # empty: a second table holds the items
    in_one: bool  # whether one column holds all items of a line
    lists: bool  # whether it contains lists, which are no texts
    columns: Mapping[int, Column]  # those of texts and ids, and of items that are texts
    kept: Codes | None  # the line of each person, if lines without an id were skipped
    lacking: Lacking
    notes: Sequence[str]

    @property
    def names(self) -> Sequence[str]:
        """The header."""
        names: Sequence[str] = self.opened.table.names
        return names

    @property
    def where(self) -> str:
        """What messages call the table."""
        return str(self.opened.table.name)

    @property
    def id_name(self) -> str | None:
        """The name of the column of ids."""
        return None if self.id_at is None else self.names[self.id_at]

    def values(self, at: int) -> Values:
        """Return a column as it was read."""
        return Values(self.names[at], self.columns[at].codes, self.columns[at].labels)

    def require_missing_words_used(self) -> None:
        """Refuse words for missing values of a column that is not there, or is not read."""
        read = [self.names[at] for at in {*self.columns, *self.items_at}]
        self.lacking.require(
            self.names, read if self.items_at else [*read, *self.lacking.of_columns], self.where
        )


def _lines_of_people(source: Any, names: Sequence[str], set_name: str | None, how: How) -> _PeopleLines:
    """Open a table, find its columns, and read those that are texts, without lines that lack an id."""
    in_one = how.item_columns is None and how.items is None
    sought = [
        *names,
        *([set_name] if in_one and set_name else []),
        *([how.id_column] if how.id_column else []),
    ]
    opened = open_table(source, sought, how)
    table, where = opened.table, opened.table.name
    texts_at = [column_at(table.names, name, where) for name in names]
    id_at = None if how.id_column is None else column_at(table.names, how.id_column, where)
    items_at: Sequence[int] = ()
    if in_one:
        items_at = [column_at(table.names, str(set_name), where)]
    elif how.item_columns is not None:
        items_at = columns_at(table.names, how.item_columns, id_at, where)
    lists = in_one and opened.holds_lists(items_at[0])
    read_at = list(
        dict.fromkeys([*texts_at, *([] if id_at is None else [id_at]), *([] if lists else items_at)])
    )
    columns = dict(zip(read_at, opened.texts(read_at), strict=True))
    lacking = how.lacking.of(table.names)
    kept, notes = None, list(opened.notes)
    if id_at is not None:
        name, n_lines = table.names[id_at], columns[id_at].codes.size
        columns[id_at], kept = settled_ids(columns[id_at], name, lacking)
        columns = {at: only(column, kept) for at, column in columns.items()}
        refuse_rounded_column(where, name, *columns[id_at][:2], "ids")
        refuse_total_lines(table, name, columns[id_at], kept, lacking)
        notes += skipped_noted(kept, n_lines)
    return _PeopleLines(opened, texts_at, id_at, items_at, in_one, lists, columns, kept, lacking, notes)


def _items_of(
    lines: _PeopleLines, how: How, second: Second | None, *, others: bool
) -> tuple[Split, str, Sequence[str], Sequence[PersonalColumn]]:
    """Take the items of each line, the name of their (first) column, notes, and what a second table knows."""
    if lines.in_one:
        at = lines.items_at[0]
        name = lines.names[at]
        if lines.lists:
            split = kept_lists(lines.opened.lists(at), lines.kept)
        else:
            in_brackets = others and how.delimiter == ","
            split = split_column(
                lines.columns[at], name, how.delimiter, in_brackets=in_brackets, whole_brackets=others
            )
        codes, words = emptied(np.asarray(split[1], np.int64), split[2], lines.lacking.words(name))
        refuse_total_items(lines.where, name, codes, split[2], lines.lacking)
        doubts = doubtful_noted(codes, split[2], name, lines.lacking, "value")
        return (split[0], codes, split[2]), name, [words_noted(words, name, "value"), *doubts], ()
    if how.item_columns is not None:
        cells = [lines.columns[at] for at in lines.items_at]
        split, notes = _from_cells(lines.opened.table, lines.items_at, cells, how, lines.lacking)
        return split, lines.names[lines.items_at[0]], notes, ()
    assert lines.id_at is not None  # noqa: S101  (required above)
    split, name, found = (second or _from_second)(lines.columns[lines.id_at], lines.names[lines.id_at], how)
    return split, name, [], found


def _item_values(lines: _PeopleLines, how: How, name: str, split: Split) -> list[Values]:
    """Return the items of the table by column, as often as its lines have them."""
    if how.item_columns is not None:
        return [lines.values(at) for at in lines.items_at]
    return [Values(name, np.asarray(split[1]), tuple(split[2]))]


def _personal(
    lines: _PeopleLines, items: Sequence[Values], split: Split | None, unused: Sequence[Values]
) -> tuple[PersonalColumn, ...]:
    """Collect what columns, and positions in lists of items, have of single people."""
    whose = () if lines.id_at is None else (_merged_values(lines, lines.id_at),)
    shown = [*items, *(_merged_values(lines, at) for at in lines.texts_at)]
    return (
        *ids_of_columns(whose, map(cells_of, unused), shown),
        *items_of_columns(shown),
        *(ids_in_lists(lines.names[lines.items_at[0]], *split) if split is not None else ()),
    )


def _merged_values(lines: _PeopleLines, at: int) -> Values:
    """Return a column with each text once."""
    return Values(lines.names[at], *_merged(lines.columns[at]))


def kept_lists(lists: Split, kept: Codes | None) -> Split:
    """Take the lists of some lines."""
    if kept is None:
        return lists
    bounds, codes, labels = lists
    indptr, taken = take_rows(np.asarray(bounds, np.int64), np.asarray(codes, np.int32), kept)
    return indptr, taken, labels


def _others(lines: _PeopleLines) -> tuple[Values, ...]:
    """Read the columns that were not asked for and may be ids; none that cannot be read as texts."""
    opened, table = lines.opened, lines.opened.table
    places = [
        at
        for at, name in enumerate(table.names)
        if at not in lines.columns
        and at not in lines.items_at
        and table.names.count(name) == 1
        and not opened.holds_lists(at)
        and may_come_again(name, [row[at] for row in table.head if len(row) > at])
    ]
    try:
        found = dict(zip(places, opened.texts(places), strict=True)) if places else {}
    except DataError:
        found = {}
        for at in places:
            with suppress(DataError):
                found[at] = opened.texts([at])[0]
    return tuple(Values(table.names[at], *_merged(only(column, lines.kept))) for at, column in found.items())


def _require_possible(set_name: str | None, how: How) -> None:
    """Refuse options that do not fit a table whose columns have roles, or one another."""
    if how.format not in (None, "csv", "parquet", "jsonl"):
        raise RequestError(
            f"The format {how.format} is not that of a table whose columns have roles.",
            hint="Omit it, or use parquet or jsonl; --output-format says how a release is written.",
        )
    _require_one_way(set_name, how)
    if how.yes is not None and how.item_columns is None:
        raise RequestError(
            "yes says which values of several item columns mean that an item is there; none are named.",
            hint="Name them: --item-columns, or omit --yes.",
        )
    if how.delimiter is not None:
        require_delimiter(how.delimiter)


def _require_one_way(set_name: str | None, how: How) -> None:
    if how.item_columns is not None and how.items is not None:
        raise RequestError(
            "Items are either in several columns (item_columns) or in a second table (items), not both."
        )
    if how.item_columns is None and how.items is None and not set_name:
        raise RequestError(
            "Nothing says where the items of a row are.",
            hint="Name the column that contains them (--set), several (--item-columns), or a second table "
            "(--items).",
        )
    if how.items is not None and how.id_column is None:
        raise RequestError(
            "A second table of items needs the column of ids that both tables have.",
            hint=faces("Name it: --id-column patient.", 'Such as id_column="patient".'),
        )
    if how.item_column is not None and how.items is None:
        raise RequestError(
            "item_column names the items of a second table, and there is none.",
            hint="Name the column of a table that contains the sets with --set.",
        )


def _merged(column: Column) -> tuple[Codes, list[str]]:
    whole = text_column("", column)
    return whole.codes.astype(np.int64), list(whole.labels)


def _from_cells(
    table: Any, items_at: Sequence[int], columns: Sequence[Column], how: How, lacking: Lacking
) -> tuple[Split, list[str]]:
    """Take the items of several columns, each cell one or none; answers say which columns are items."""
    names = [table.names[at] for at in items_at]
    values = {label for column in columns for label in column.labels}
    if how.yes is not None or (len(columns) > 1 and answers.are_marks(values)):
        if how.yes is None:
            cells, labels = marked(table, names, columns)
        else:
            cells, labels = answered(table, names, columns, Wanted(yes=how.yes).yes_values)
        return (np.arange(cells.shape[0] + 1, dtype=np.int64) * len(columns), cells.ravel(), labels), []
    if how.format is None:
        refuse_answers(table.name, columns, tables=True)
    split, notes = _cells_of(columns, names, lacking)
    refuse_total_items(table.name, names[0], split[1], split[2], lacking)
    return split, [*notes, *doubtful_noted(split[1], split[2], "", lacking, "cell")]


def _cells_of(columns: Sequence[Column], names: Sequence[str], lacking: Lacking) -> tuple[Split, list[str]]:
    labels: list[str] = []
    found: Counter[str] = Counter()
    cells = np.empty((columns[0].codes.size, len(columns)), np.int64)
    for at, column in enumerate(columns):
        filled, words = without_words(column, lacking.words(names[at], wide=True))
        found += words
        none = np.array([not label for label in filled.labels], bool)
        cells[:, at] = np.where(none[filled.codes], -1, filled.codes + len(labels))
        labels += filled.labels
    bounds = np.arange(cells.shape[0] + 1, dtype=np.int64) * len(columns)
    return (bounds, cells.ravel(), labels), [words_noted(found, "", "cell")]


def _further(how: How, id_column: str | None) -> list[tuple[RowsRead, InputFile]]:
    if not how.also:
        return []
    if id_column is None:
        raise RequestError(
            f"{how.also[0].text} cannot be joined: the persons of the table have no IDs.",
            hint="Name the column of IDs, which all files have: --id-column.",
        )
    from setveil.rows.data.io.further import read_further

    return read_further(how.also, id_column, how.encoding, how.lines, how.lacking, how.not_ids)


def _with_further(
    split: Split, lines: _PeopleLines, further: Sequence[tuple[RowsRead, InputFile]]
) -> tuple[Split, list[str]]:
    """Add the items that further files have of the persons of a table; say how many of others are skipped."""
    if not further or lines.id_at is None:
        return split, []
    ids, name = lines.columns[lines.id_at], lines.names[lines.id_at]
    skips = lines.lacking.missing_id == "skip"
    bounds, codes, labels = split
    rows = [np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))]
    found = [np.asarray(codes, np.int64)]
    every = list(labels)
    notes = []
    for part, file in further:
        row = _rows_of_persons(part, file.path, ids, name, skips=skips)
        held = np.asarray(part.codes, np.int64)
        if number := int((row < 0).sum()):
            were = "was" if number == 1 else "were"
            notes.append(f"{file.path}: {count(number, 'item')} of people not in the table {were} skipped.")
        rows.append(row[row >= 0])
        found.append(np.where(held < 0, -1, held + len(every))[row >= 0])
        every += part.labels
    bounds, codes = joined(np.concatenate(rows), np.concatenate(found), ids.codes.size)
    return (bounds, codes, every), notes


def _rows_of_persons(part: RowsRead, where: str, ids: Column, name: str, *, skips: bool = False) -> Codes:
    """Find the row of a table for each item of another file: -1 if its person is not there and is skipped."""
    row_of = {ids.labels[code]: row for row, code in enumerate(ids.codes.tolist())}
    rows = [row_of.get(one, -1) for one in part.ids or ()]
    lacking = [one for one, row in zip(part.ids or (), rows, strict=True) if row < 0]
    if lacking and not skips:
        raise TableError(
            f"{where}: {count(len(lacking), 'id')} {are(len(lacking))} not in column "
            f"{shorten(name)} of the table: {listed(lacking, 3)}",
            [],
            [({"missing_id": "skip"}, "items of people who are not in the table are skipped")],
            "add the lines of these people to the table, or skip their items",
        )
    return np.repeat(np.array(rows, np.int64), np.diff(part.indptr))


def _from_second(ids: Column, name: str, how: How) -> tuple[Split, str, tuple[PersonalColumn, ...]]:
    """Take the items of each id from a second, long table, the name of their column, and what is personal."""
    second = open_table(how.items, [str(how.id_column)], How(encoding=how.encoding), apart=True)
    from setveil.rows.data.rows_of_columns import read_table

    part = read_table(
        second.table, "long", Wanted(how.id_column, how.item_column, lacking=how.lacking.alone())
    )
    row = _rows_of_persons(part, second.table.name, ids, name)
    bounds, codes = joined(row, np.asarray(part.codes, np.int64), ids.codes.size)
    return (bounds, codes, part.labels), part.item_columns[0], part.personal
