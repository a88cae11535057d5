"""The lines of a raw file: whose they are, and the columns that hold codes, dates and amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from setveil.base.errors import RequestError, listed, shorten
from setveil.rows.data.columns import Codes, column_at, columns_at, rows_of
from setveil.rows.data.ids import Values
from setveil.rows.data.lacking import doubtful_noted, emptied, only, settled_ids, skipped_noted, words_noted
from setveil.rows.data.layout import Layout, Origin
from setveil.rows.data.named_columns import Column
from setveil.rows.data.personal import (
    Personal,
    PersonalColumn,
    ids_of_columns,
    items_of_columns,
    other_columns,
)
from setveil.rows.data.personal_places import ids_in_lists
from setveil.rows.data.rows_read import refuse_rounded_column
from setveil.rows.data.set_fields import split_column
from setveil.rows.data.spelling import normalized
from setveil.rows.data.totals import refuse_total_items, refuse_total_lines
from setveil.rows.facts.request import FactsRequest
from setveil.rows.tables.columns import kept_lists
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import OpenedTable, Split, open_table


@dataclass(frozen=True)
class FactLines:
    """The columns of a table that count, line by line."""

    opened: OpenedTable
    where: str  # what to call the table
    id_at: int
    items_at: Mapping[str, tuple[int, ...]]  # of each column of codes: where they stand
    texts: Mapping[int, Column]  # of the columns that are texts
    places: Mapping[str, int]  # where the column of each attribute stands
    row: Codes  # int64 (lines,): the person of each line
    persons: tuple[str, ...]  # their ids, in the order of their first lines
    decimal: str | None = None  # the decimal sign of amounts; None: that of each column
    kept: Codes | None = None  # lines that have an ID; None: all
    notes: list[str] = field(default_factory=list)  # which lines were skipped, and what stood for no code
    lists: dict[int, Split] = field(default_factory=dict)  # the codes of each line, by their columns

    @property
    def n_rows(self) -> int:
        """How many persons there are."""
        return len(self.persons)

    @classmethod
    def of(cls, source: Any, request: FactsRequest, how: How) -> FactLines:
        """Open a table and find its columns."""
        if how.also:
            raise RequestError(
                f"{how.also[0].text}: --also does not apply to facts, whose codes have dates or amounts.",
                hint="Put the lines of all files below each other, in the same columns.",
            )
        if how.id_column is None:
            raise RequestError(
                "Nothing says whose facts these are: which lines are one person's.",
                hint="Name the column of ids: --id-column patient.",
            )
        spread = how.item_columns is not None
        if spread and len(request.sets) > 1:
            raise RequestError(
                f"--item-columns are columns of codes of one sort, and --set names several: "
                f"{listed(list(request.sets))}.",
                hint="Name one --set, or omit --item-columns.",
            )
        names = list(dict.fromkeys(one.column for one in request.attributes))
        opened = open_table(source, [how.id_column, *([] if spread else request.sets), *names], how)
        table, where = opened.table, opened.table.name
        id_at = column_at(table.names, how.id_column, where)
        items_at = {
            name: tuple(columns_at(table.names, how.item_columns, id_at, where))
            if how.item_columns is not None
            else (column_at(table.names, name, where),)
            for name in request.sets
        }
        places = {name: column_at(table.names, name, where) for name in names}
        codes_at = [at for some in items_at.values() for at in some]
        used = [id_at, *codes_at, *places.values()]
        twice = next((at for at in used if used.count(at) > 1), None)
        if twice is not None:
            raise RequestError(
                f"The column {shorten(table.names[twice])} is named twice among ids, codes, dates and "
                "amounts."
            )
        wanted = [at for at in used if at not in codes_at or not opened.holds_lists(at)]
        texts = dict(zip(wanted, opened.texts(wanted), strict=True))
        lacking = how.lacking.of(table.names)
        lacking.require(table.names, [*(table.names[at] for at in used), *how.persons], where)
        name, n_lines = table.names[id_at], texts[id_at].codes.size
        texts[id_at], kept = settled_ids(texts[id_at], name, lacking)
        texts = {at: only(column, kept) for at, column in texts.items()}
        ids = texts[id_at]
        refuse_total_lines(table, name, ids, kept, lacking)
        notes = [*opened.notes, *skipped_noted(kept, n_lines)]
        numbers: dict[str, int] = {}
        image = [numbers.setdefault(label, len(numbers)) for label in ids.labels]
        refuse_rounded_column(where, name, *ids[:2], "ids")
        row, first = rows_of(np.array(image, np.int64)[ids.codes])
        persons = tuple(ids.labels[code] for code in ids.codes[first].tolist())
        return cls(opened, where, id_at, items_at, texts, places, row, persons, how.decimal, kept, notes)

    def codes(self, name: str, how: How) -> tuple[Codes, Codes, list[str]]:
        """List the codes of a column of all lines: line, position in the labels, labels."""
        numbers: dict[str, int] = {}
        lines, found = [], []
        for at in self.items_at[name]:
            indptr, split, held = self._lists(at, how)
            labels, name_of = list(held), self.opened.table.names[at]
            lacking = how.lacking.of(self.opened.table.names)
            codes, words = emptied(np.asarray(split, np.int64), labels, lacking.words(name_of))
            if words:
                self.notes.append(words_noted(words, name_of, "value"))
            self.notes.extend(doubtful_noted(codes, labels, name_of, lacking, "value"))
            image = np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)
            refuse_total_items(self.where, name_of, codes, labels, lacking)
            line = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
            lines.append(line[codes >= 0])
            found.append(image[codes[codes >= 0]])
        return np.concatenate(lines), np.concatenate(found), list(numbers)

    def column(self, name: str) -> tuple[Column, str]:
        """Take the column of an attribute, and its name."""
        at = self.places[name]
        return self.texts[at], self.opened.table.names[at]

    @property
    def used(self) -> set[int]:
        """Where the columns stand that were read."""
        return {self.id_at, *(at for some in self.items_at.values() for at in some), *self.places.values()}

    def first_line(self, row: int) -> str:
        """Say where the first line of a person is."""
        return self.texts[self.id_at].place(int(np.argmax(self.row == row)))

    def personal(self, how: How) -> Personal:
        """Find what the columns have of single persons, but for those that are no IDs."""
        table = self.opened.table
        plain = [at for at in range(len(table.names)) if not self.opened.holds_lists(at)]
        unused = other_columns(
            table.names,
            table.head,
            self.used | (set(range(len(table.names))) - set(plain)),
            lambda at: self.opened.texts([at])[0],
        )
        values = {at: Values(table.names[at], one.codes, one.labels) for at, one in self.texts.items()}
        codes = [values[at] for some in self.items_at.values() for at in some if at in values]
        found = ids_of_columns((values[self.id_at],), unused, codes)
        found = (*found, *items_of_columns(codes), *self._ids_in_lists(how))
        personal = Personal(found).without(how.not_ids)
        if how.normalize is not None:
            for one in codes:
                personal = personal.respelled(one.labels, normalized(one.labels, how.normalize)[0])
        return personal

    def _lists(self, at: int, how: How) -> Split:
        """Split a column of codes into those of each line, once."""
        if at not in self.lists:
            self.lists[at] = (
                split_column(self.texts[at], self.opened.table.names[at], how.delimiter, whole_brackets=True)
                if at in self.texts
                else kept_lists(self.opened.lists(at), self.kept)
            )
        return self.lists[at]

    def _ids_in_lists(self, how: How) -> Iterator[PersonalColumn]:
        for at in (at for some in self.items_at.values() for at in some):
            indptr, codes, labels = self._lists(at, how)
            yield from ids_in_lists(self.opened.table.names[at], indptr, np.asarray(codes), labels)

    def origin(self, request: FactsRequest, how: How) -> Origin:
        """Say what was read."""
        names, used = self.opened.table.names, self.used
        codes_at = [at for some in self.items_at.values() for at in some]
        layout = Layout("long", id_column=names[self.id_at], item_column=next(iter(request.sets)))
        return Origin(
            self.opened.files, layout, f"value of {names[self.id_at]}", names[self.id_at],
            tuple(names[at] for at in codes_at),
            tuple(name for at, name in enumerate(names) if at not in used), self.opened.encoding,
            notes=tuple(dict.fromkeys(note for note in self.notes if note)), written=how.written(),
        )  # fmt: skip
