"""Likely readings of a file for every face: as a table, as rows of facts, and as rows of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from setveil.base.errors import SetveilError, TableError
from setveil.rows.data.known_words import MISSING
from setveil.rows.data.names import is_date_name
from setveil.rows.facts.dates import forms_of, read_date
from setveil.rows.facts.read import read_rows_of_facts
from setveil.rows.facts.request import make_facts_request
from setveil.rows.tables.dates import OF_LIFETIMES, likely_periods
from setveil.rows.tables.how import OF_TEXT, How
from setveil.rows.tables.opened import open_table
from setveil.rows.tables.questions import ask_for_roles
from setveil.rows.tables.read import works
from setveil.rows.tables.roles import make_roles

Reading = tuple[Mapping[str, Any], str]

PERIOD = "month"  # the finest that is proposed for dates


def propose(error: TableError, source: Any, how: How) -> None:
    """Add to the question how rows are read that the file may be a table of people, or a log of theirs.

    Proposals are tried first, so that they work, and kept apart from readings as rows, which are options of
    `setveil.read`. The file is read again, but not standard input, whose content the question keeps.
    """
    source = error.source or source
    if error.columns and all(name == f"column {at}" for at, (name, _) in enumerate(error.columns, 1)):
        return  # roles are given to names, and there are none
    rows = dict(next((options for options, _ in error.readings), {}))
    said = {name: rows.pop(name) for name in OF_TEXT & rows.keys()}
    how = replace(how, **said)
    tables = _as_table(source, how) or _as_table_of_rows(source, how, rows)
    error.tables = tuple(({**said, **options}, meaning) for options, meaning in tables)
    error.logs = tuple(({**said, **options}, meaning) for options, meaning in _as_facts(source, how, rows))
    error.say_how()


def _as_table(source: Any, how: How) -> list[Reading]:
    try:
        tried = partial(works, source, make_roles(), how)
        return list(ask_for_roles(source, how, (), known=False, items=False, works=tried).readings)
    except SetveilError:
        return []


def _as_table_of_rows(source: Any, how: How, rows: Mapping[str, Any]) -> list[Reading]:
    """Propose what someone may know in addition to the items of a reading as rows, of the same people."""
    items = rows.get("item_columns", rows.get("item_column"))
    if items is None or not rows.keys() <= {"id_column", "item_column", "item_columns", "delimiter", "yes"}:
        return []
    said = {**rows} if "item_columns" in rows else {**rows, "set": rows["item_column"]}
    said.pop("item_column", None)
    how = replace(how, **{name: said[name] for name in said if name != "set"})
    try:
        tried = partial(works, source, make_roles(set_name=said.get("set")), how)
        named = [said["set"]] if "set" in said else []
        found = ask_for_roles(source, how, named, known=False, items=True, works=tried).readings
        return [({**options, **said}, meaning) for options, meaning in found]
    except SetveilError:
        return []


def _as_facts(source: Any, how: How, rows: Mapping[str, Any]) -> list[Reading]:
    """Propose the first column of dates next to the codes of each person, in each form that fits.

    A date that differs on the lines of a person comes before others, such as the date of birth.
    """
    if set(rows) != {"id_column", "item_column"}:
        return []
    try:
        table = open_table(source, list(rows.values()), how).table
        if not table.header:
            return []
        columns = [[row[at] for row in table.head if len(row) > at] for at in range(len(table.names))]
        ids = columns[table.names.index(rows["id_column"])]
        for at in sorted(range(len(columns)), key=lambda at: _order(ids, columns[at])):
            name, values = table.names[at], [value for value in columns[at] if value not in MISSING]
            forms = _forms_of(values) if values and name not in rows.values() else []
            if not forms or not (is_date_name(name) or len(values) > 1):
                continue
            if _order(ids, columns[at])[0] and likely_periods(values) == OF_LIFETIMES:
                continue  # dates of birth
            return [_with_dates(source, how, rows, name, form, len(forms) > 1) for form in forms]
    except (SetveilError, ValueError):
        return []
    return []


def _order(ids: Sequence[str], dates: Sequence[str]) -> tuple[bool, int]:
    """Order columns of dates: those that differ on the lines of an ID, then those that few lines lack."""
    pairs = {(one, date) for one, date in zip(ids, dates, strict=False) if date not in MISSING}
    return len(pairs) == len({one for one, _ in pairs}), sum(date in MISSING for date in dates)


def _with_dates(
    source: Any, how: How, rows: Mapping[str, str], name: str, form: str, in_doubt: bool
) -> Reading:
    """Say how facts are read whose dates are in a column; SetveilError if they cannot be."""
    when = f"{name}:{PERIOD}"
    request = make_facts_request(
        rows["item_column"], when, None, date_format=form or None, sign=None, missing={}
    )
    read_rows_of_facts(source, request, replace(how, id_column=rows["id_column"]))
    options = {"id_column": rows["id_column"], "set": rows["item_column"], "when": when}
    more = {"date_format": form} if form else {}
    written = f", dates written as {form}" if in_doubt else ""
    return (
        {**options, **more},
        f"one row per value of {rows['id_column']}, each item with its {PERIOD}{written}",
    )


def _forms_of(values: Sequence[str]) -> list[str]:
    """List how dates may be written: "" as ISO 8601 has it; none if they are no dates."""
    if all(read_date(value, "day", None) is not None for value in values):
        return [""]
    return [] if all(value.isdigit() for value in values) else forms_of(values)
