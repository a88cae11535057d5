"""Whose lines a table has: no id is published unasked, and the lines of one person are one row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.base.errors import TableError, listed, shorten
from setveil.base.wording import are, count
from setveil.kernels.rows import frozen
from setveil.rows.data.columns import Codes, as_field, column_at, joined, rows_of
from setveil.rows.data.come_again import DERIVED, LIKELY, NAMED, Again, comes_again, rank, who_comes_again
from setveil.rows.data.evidence import SURE
from setveil.rows.data.ids import Values, free_text, published_id, published_text, why_id, why_person
from setveil.rows.data.lacking import stand_once
from setveil.rows.data.names import is_people, is_person_id, tells_person
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.columns import TableColumns
from setveil.rows.tables.roles import MOST, WAYS
from setveil.rows.tables.table import Table, TextColumn


def require_no_ids(read: TableColumns, n_known: int, not_ids: Collection[str]) -> None:
    """Refuse published columns that look like IDs, unless in `not_ids`; the first `n_known` can be known."""
    fine = not_ids_of(read, not_ids)
    found = [
        ("qi" if at < n_known else "keep", Values(column.name, column.codes, column.labels))
        for at, column in enumerate(read.texts)
    ]
    alone = len(read.items) == 1
    for role, column in [*found, *(("set", one) for one in read.items)]:
        why = "" if column.name in fine else why_id(column, items=role == "set" and alone)
        if not why and read.ids is None and column.name not in fine:
            why = why_person(column)
        if why:
            raise published_id(read.name, column.name, why, role)
        text = free_text(column) if role == "set" and column.name not in fine else ""
        if text:
            raise published_text(read.name, column.name, text)


def _published_again(read: TableColumns, table: Table, fine: Collection[str]) -> tuple[str, str] | None:
    """Find a published column by which persons come again, as they do by ids: its role and its name."""
    codes: list[Any] = [column.codes for column in table.columns]
    rows = np.repeat(np.arange(table.n_rows), table.row_lengths())
    items = rows, table.items
    found = []
    published = [Values(column.name, column.codes, column.labels) for column in table.columns]
    published += [Values(column.name, column.codes, column.labels) for column in table.kept]
    for at, values in enumerate(published):
        beside = codes[:at] + codes[at + 1 :]
        fits = bool(beside) and values.name not in fine
        again = comes_again(values, beside, items, published=True) if fits else None
        if again is not None and again.grade >= LIKELY and (again.looks_so or again.tells_apart):
            found.append((rank(again), "qi" if at < len(codes) else "keep", values.name))
    name = read.items[0].name
    if len(read.items) == 1 and name not in fine:
        values = Values(name, table.items, table.vocabulary.labels)
        again = comes_again(values, [some[rows] for some in codes])
        if again is not None:
            found.append((rank(again), "set", name))
    return min(found)[1:] if found else None


def not_ids_of(read: TableColumns, not_ids: Collection[str]) -> set[str]:
    """Find the columns that were named as no ids."""
    second = {column.name for column in read.items} | {column.named for column in read.personal}
    second -= {*read.header}
    return {
        name if name in second else read.header[column_at(read.header, name, read.name)] for name in not_ids
    }


def one_row_each(table: Table, read: TableColumns, not_ids: Collection[str]) -> Table:
    """Make one row of the lines of each ID; refuse lines that may be several of one person.

    `table`: a row for each line. `read`: also its IDs and the columns without a role. `not_ids`: names or
    numbers of columns.
    """
    fine = not_ids_of(read, not_ids)
    others = [column for column in read.others if column.name not in fine]
    if read.ids is None:
        _require_complete(read, others)
    published: dict[str, Any] = {column.name: column.codes for column in table.columns}
    published |= {column.name: column.codes for column in table.kept}
    if read.ids is not None:
        row, first = rows_of(read.ids)
        if first.size < row.size:
            apart = _disagreement(read.ids, published)
            if apart is not None:
                raise _unequal(read, str(read.id_column), apart)
            table = _merged(table, row, first)
            others = [replace(column, codes=column.codes[first]) for column in others]
    known = [column.codes for column in table.columns]
    items = np.repeat(np.arange(table.n_rows), table.row_lengths()), table.items
    also = _published_again(read, table, fine)
    again = who_comes_again(others, known, items, LIKELY if also is None else DERIVED)
    if again is not None:
        raise _taken_for_persons(read, table, again, published)
    if also is not None:
        why = "wherever one of its values comes again, other columns come again with it"
        raise published_id(read.name, also[1], why, also[0])
    return table


def _require_complete(read: TableColumns, others: Sequence[Values]) -> None:
    """Refuse lines without an ID if a column that is named like people has one for a group of lines."""
    for column in others:
        lacks = (column.times == 0)[column.codes]
        if tells_person(column.name) and stand_once(column.codes.astype(np.int64), lacks):
            number = int(lacks.sum())
            raise TableError(
                f"{read.name}: each line would be a separate person, but column {shorten(column.name)} is "
                f"named like persons and empty on {count(number, 'line')}, as if a value stood once for a "
                "group of lines",
                (),
                [
                    (
                        {"id_column": column.name, "fill_id": True},
                        f"one row per value of {column.name}: an empty one is that above it",
                    ),
                    ({"not_ids": as_field(column.name)}, "each line is a separate person"),
                ],
            )


def _merged(table: Table, row: Codes, first: Codes) -> Table:
    indptr, items = joined(np.repeat(row, table.row_lengths()), table.items.astype(np.int64), first.size)
    rows = Transactions.from_codes(indptr, items, table.vocabulary.labels)
    return replace(
        table,
        indptr=rows.indptr,
        items=rows.items,
        vocabulary=rows.vocabulary,
        columns=tuple(column.taken(first) for column in table.columns),
        kept=tuple(
            TextColumn(column.name, frozen(column.codes[first], np.int32), column.labels)
            for column in table.kept
        ),
    )


Apart = tuple[int, tuple[int, int], list[str]]  # how many ids, two lines of the first of them, what differs


def _disagreement(ids: Codes, published: Mapping[str, Any]) -> Apart | None:
    """Find ids whose lines have different values in a column that is published."""
    row, first = rows_of(ids)
    bad = {name: codes != codes[first][row] for name, codes in published.items()}
    lines = np.flatnonzero(np.logical_or.reduce(list(bad.values())))
    if not lines.size:
        return None
    line = int(lines[0])
    names = [name for name, some in bad.items() if some[line]]
    return int(np.unique(row[lines]).size), (int(first[row[line]]), line), names


def _two_lines(read: TableColumns, two: tuple[int, int], names: Sequence[str], of: str) -> str:
    """Show two lines of one id that should have the same values: the id, and what differs."""
    differ = [column for column in read.texts if column.name in names]
    said = []
    for line in two:
        values = [f"{one.name} {shorten(one.labels[int(one.codes[line])])}" for one in differ]
        said.append(f"    {read.place(line)}: {of}, {', '.join(values)}")
    return "\n".join(said)


def _unequal(read: TableColumns, name: str, apart: Apart) -> TableError:
    number, two, names = apart
    said = (
        f"{read.name}: {count(number, 'value')} of column {shorten(name)} {are(number)} on lines with "
        f"different values in columns that are published, such as\n"
        f"{_two_lines(read, two, names, f'the same {name}')}"
    )
    return TableError(said, (), [_most_frequent(names)])


def _most_frequent(names: Sequence[str]) -> tuple[Mapping[str, Any], str]:
    """Propose the value that most lines of a person have."""
    ways = listed([way for way in WAYS if way != MOST], 9).replace("'", "")
    meaning = f"of {_and(names)} the value that most lines of a person have; other ways are {ways}"
    return {"per_person": dict.fromkeys(names, MOST)}, meaning


def _taken_for_persons(
    read: TableColumns, table: Table, again: Again, published: Mapping[str, Any]
) -> TableError:
    name = again.column.name
    like = (
        "is named like person IDs"
        if is_person_id(again.column.name)
        else "is named like persons"
        if is_people(again.column.name)
        else "contains mail addresses or telephone numbers"
        if again.grade == NAMED
        else "is named or written like IDs, and no value of it has one item twice"
        if again.unequal > (1 - SURE) * again.several
        else f"is next to the same {_and([column.name for column in table.columns])} wherever a value "
        "comes again"
    )
    said = (
        f"{read.name}: each {'line' if table.n_rows == read.sets.n_rows else 'row'} would be a separate "
        f"person, but column {shorten(name)} {like}, and {again.several:,} of its "
        f"{count(again.values, 'value')} {are(again.several)} on several lines: "
        "the lines of one person would hide among each other"
    )
    as_lines: tuple[Mapping[str, Any], str] = (
        {"not_ids": as_field(name)},
        f"each is a separate person: {count(table.n_rows, 'row')}; {name} is not a person ID",
    )
    missing = int((again.column.times == 0)[again.column.codes].sum())
    apart = None
    if table.n_rows == read.sets.n_rows:
        apart = _disagreement(again.column.codes.astype(np.int64), published)
    if apart is None and not missing:
        meaning = f"one row per value of {name}: {count(again.values, 'row')}, each with all its items"
        return TableError(said, (), [({"id_column": name}, meaning), as_lines])
    if apart is None:
        trouble = f"{count(missing, 'line')} {'lacks' if missing == 1 else 'lack'} an id: complete them"
    else:
        number, two, names = apart
        said += (
            f". {count(number, 'of them has', 'of them have')} lines with different {_and(names)}, such as\n"
            f"{_two_lines(read, two, names, f'the same {name}')}"
        )
        if not missing:
            more, meaning = _most_frequent(names)
            as_people = {"id_column": name, **more}, f"{count(again.values, 'row')}; {meaning}"
            return TableError(said, (), [as_people, as_lines])
        trouble = "give each person one value of " + _and(names)
    return TableError(said, (), [as_lines], f"{trouble}, and name the column of ids (--id-column {name})")


def _and(names: Sequence[str]) -> str:
    return listed(list(names), 4).replace("'", "")
