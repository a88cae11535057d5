"""Rows that are events, such as orders, stays or days: a person may have several, or people share one.

A guarantee about such rows is none about people: the rows of one person hide among themselves. A column that
is named like persons, or has values that only IDs have, reveals it. Columns that many people share (stores,
wards, dates, ages) do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import TableError, shorten
from setveil.base.wording import count
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Codes
from setveil.rows.data.come_again import are_addresses
from setveil.rows.data.ids import (
    MOST_LINES,
    Values,
    are_grouped_ids,
    are_measured,
    are_unmistakable,
    look_like_ids,
    of_cells,
    why_person,
)
from setveil.rows.data.names import (
    event_noun,
    is_measured_name,
    is_people,
    names_others,
    person_noun,
    tells_person,
)
from setveil.rows.data.personal_forms import is_full_name
from setveil.rows.data.personal_places import people_at_places

PERSON = "person"  # what a row is unless it was confirmed that it is an event
_PLURALS = {"person": "people", "insured person": "insured people"}
_LONG = 6  # digits that no postcode has, or hardly any


@dataclass(frozen=True, eq=False)
class UnusedColumns:
    """Columns that may say whose rows are, though they were not read: their values, line by line."""

    row: Codes  # int64 (lines,): the row of each line
    columns: tuple[Values, ...]

    @classmethod
    def joined(cls, parts: Sequence[UnusedColumns], n_rows: Sequence[int]) -> UnusedColumns:
        """Put together those of several files with the same columns."""
        offsets = np.cumsum([0, *n_rows])
        row = np.concatenate([part.row + at for part, at in zip(parts, offsets, strict=False)])
        names = [column.name for column in parts[0].columns]
        columns = []
        for name in names:
            found = [next((c for c in part.columns if c.name == name), None) for part in parts]
            if any(one is None for one in found):
                continue
            numbers: dict[str, int] = {}
            codes = [
                np.array([numbers.setdefault(label, len(numbers)) for label in one.labels] or [0], np.int64)[
                    one.codes
                ]
                for one in found
                if one is not None
            ]
            columns.append(Values(name, np.concatenate(codes), list(numbers)))
        return cls(row, tuple(columns))


NOBODY = UnusedColumns(np.zeros(0, np.int64), ())


def may_tell(name: str, head: Sequence[str]) -> bool:
    """Return whether the first values of an unused column look like those of a column of persons."""
    if tells_person(name):
        return True
    if names_others(name):
        return False
    filled = [value for value in head if value not in known_words.MISSING]
    different = list(dict.fromkeys(filled))
    if _are_ids(different, named=bool(name)) or are_grouped_ids(filled):
        return True
    return why_person(of_cells(name, filled)) != ""


def _are_ids(labels: Sequence[str], *, named: bool) -> bool:
    """Return whether values are those of people; in columns without a name that may be full names.

    Few values are asked about as well, if no code of goods or places is written so: one question too many is
    better than rows that are taken for people.
    """
    full = not named and sum(map(is_full_name, labels)) >= evidence.SURE * len(labels)
    long = sum(sum(sign.isdigit() for sign in label) >= _LONG for label in labels)
    few = evidence.FEW if full or long >= evidence.SURE * len(labels) else evidence.MANY
    if len(labels) < (2 if are_unmistakable(labels) else few):
        return False
    return full or (not are_measured(labels) and look_like_ids(labels, once=False))


def require_lines_of_people(
    where: str,
    indptr: NDArray[np.integer],
    codes: NDArray[np.integer],
    labels: Sequence[str],
    places: Sequence[int],
    not_ids: str | Sequence[str] | None,
    *,
    named: bool,
) -> None:
    """Stop if IDs at `places` are those of several rows; `named`: whether the format was named."""
    for name, n_people, n_rows in people_at_places(indptr, codes, labels, places, not_ids):
        if n_people < n_rows:
            raise TableError(
                f"{where}: {of(n_people, PERSON)} have {count(n_rows, 'row')}: rows would not be people. "
                f"{name[:1].upper()}{name[1:]}, which would be an item, says whose they are",
                (),
                [({"format": None}, "asks which columns count, and whose lines are")] if named else [],
                "rows that are meant to be no people need --rows-are-events",
                "",
            )


def require_rows_of_people(
    where: str,
    unused: UnusedColumns,
    n_rows: int,
    id_column: str | None,
    reading: Mapping[str, Any],
) -> None:
    """Stop if rows, of an ID or of a line each, would be events of people whom an unused column names."""
    if id_column is not None and is_people(id_column):
        return
    named = sorted(
        unused.columns,
        key=lambda one: (not is_people(one.name), not tells_person(one.name), _may_be_places(one)),
    )
    for column in named:
        found = _shared(unused.row, column, n_rows, id_column)
        if found:
            raise _question(where, column, n_rows, id_column, found, reading)


def _may_be_places(column: Values) -> bool:
    """Return whether values are short numbers, which postcodes are as well as IDs."""
    return all(label.isdecimal() and len(label) < _LONG for label in column.labels)


def _shared(row: Codes, column: Values, n_rows: int, id_column: str | None) -> tuple[int, int] | None:
    """Count the people, and the rows of several people, if rows and people differ; else None."""
    present = (column.times > 0)[column.codes]
    people = column.codes[present].astype(np.int64)
    if not people.size:
        return None
    rows = row[present]
    if max(np.bincount(people).max(), np.bincount(rows).max()) == 1:
        return None  # each line is a row of another person
    pairs = np.unique(people * n_rows + rows)
    rows_of_person = np.bincount(pairs // n_rows)
    people_of_row = np.bincount(pairs % n_rows)
    several, mixed = int((rows_of_person > 1).sum()), int((people_of_row > 1).sum())
    n_people = int((rows_of_person > 0).sum())
    if tells_person(column.name):
        if several:
            return n_people, mixed
        shared = mixed and not (id_column is not None and (tells_person(id_column) or _is_group(id_column)))
        return (n_people, mixed) if shared else None
    if not several or (id_column is not None and tells_person(id_column)):
        return None
    labels, named = column.present, not re.fullmatch("column [0-9]+", column.name)
    if mixed and not are_addresses(column.name, labels):
        return None  # goods may be on several rows, too
    if not (mixed or n_people < n_rows) or n_rows > MOST_LINES * n_people:
        return None
    sure = _are_ids(labels, named=named) or column.is_grouped or why_person(column) != ""
    return (n_people, mixed) if sure else None


def _is_group(name: str) -> bool:
    """Return whether a column is named like households, whose members may share a row."""
    return names_others(name) and event_noun(name) == "row" and not is_measured_name(name)


def _question(
    where: str,
    column: Values,
    n_rows: int,
    id_column: str | None,
    found: tuple[int, int],
    reading: Mapping[str, Any],
) -> TableError:
    n_people, mixed = found
    person, event = person_noun(column.name), unit_of(id_column)
    word = column.name.removeprefix("column ")
    have = "have" if n_people != 1 else "has"
    said = f"{of(n_people, person)} {have} {of(n_rows, event)}"
    if mixed:
        said += f", {count(mixed)} of them of several people"
    return TableError(
        f"{where}: {said}: {_not_people(event)}. Column {shorten(column.name)}, which is not used, says "
        "whose they are",
        (),
        [
            (
                {"id_column": word, **reading},
                f"one row per value of {column.name}: {count(n_people, 'row')}, each with all items of one "
                f"{person}",
            ),
            (
                {"rows_are_events": True},
                f"{count(n_rows, 'row')}: the guarantee is about {_plural(event)}, and not about people",
            ),
        ],
    )


def _not_people(event: str) -> str:
    return "rows would not be people" if event == "row" else f"rows would be {_plural(event)}, not people"


def unit_of(id_column: str | None) -> str:
    """Name what a row is that is an event: ``order``; ``row`` if nothing says it."""
    return "row" if id_column is None else event_noun(id_column)


def of(number: int, noun: str) -> str:
    """Count people or events: ``30 users``."""
    return count(number, noun, _plural(noun))


def _plural(noun: str) -> str:
    return _PLURALS.get(noun, f"{noun}s")
