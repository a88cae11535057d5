"""Likely readings of a file for every face: as a table, as rows of facts, and as rows of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from setveil.data.evidence import MISSING
from setveil.data.names import is_date_name
from setveil.errors import SetveilError, TableError
from setveil.facts.dates import forms_of, read_date
from setveil.facts.read import read_rows_of_facts
from setveil.facts.request import make_facts_request
from setveil.tables.columns import How, open_table
from setveil.tables.questions import ask_for_roles
from setveil.tables.read import works
from setveil.tables.roles import make_roles

PERIOD = "month"  # the finest that is proposed for dates


def propose(error: TableError, source: Any, how: How) -> None:
    """Add to the question how rows are read that the file may be a table of people, or a log of theirs.

    Proposals are tried first, so that they work, and kept apart from readings as rows, which are options of
    `setveil.read`. The file is read again, but not standard input, whose content the question keeps.
    """
    source = error.source or source
    if all(name == f"column {at}" for at, (name, _) in enumerate(error.columns, 1)):
        return  # roles are given to names, and there are none
    encoding = next((options.get("encoding") for options, _ in error.readings[:1]), None)
    said = {} if encoding is None else {"encoding": encoding}
    how = replace(how, **said)
    error.tables = tuple(({**said, **options}, meaning) for options, meaning in _as_table(source, how))
    if not error.tables:
        rows = [
            {key: options[key] for key in options if key not in said} for options, _ in error.readings[:1]
        ]
        found = [_as_facts(source, how, options) for options in rows]
        error.logs = tuple(({**said, **one[0]}, one[1]) for one in found if one is not None)
    error.say_how()


def _as_table(source: Any, how: How) -> list[tuple[Mapping[str, Any], str]]:
    try:
        tried = partial(works, source, make_roles(), how)
        return list(ask_for_roles(source, how, (), known=False, items=False, works=tried).readings)
    except SetveilError:
        return []


def _as_facts(source: Any, how: How, rows: Mapping[str, Any]) -> tuple[Mapping[str, Any], str] | None:
    """Propose the first column of dates next to the codes of each person; None if there is none."""
    if set(rows) != {"id_column", "item_column"}:
        return None
    try:
        table = open_table(source, list(rows.values()), how).table
        if not table.header:
            return None
        columns = [[row[at] for row in table.head if len(row) > at] for at in range(len(table.names))]
        filled = [[value for value in column if value not in MISSING] for column in columns]
        for at in sorted(range(len(filled)), key=lambda at: -len(filled[at])):  # the fewest lines lack a date
            name, values = table.names[at], filled[at]
            form = _form_of(values) if values and name not in rows.values() else None
            if form is None or not (is_date_name(name) or len(values) > 1):
                continue
            when = f"{name}:{PERIOD}"
            code = rows["item_column"]
            request = make_facts_request(code, when, None, date_format=form or None, sign=None, missing={})
            read_rows_of_facts(source, request, replace(how, id_column=rows["id_column"]))
            said = {"id_column": rows["id_column"], "set": rows["item_column"], "when": when}
            more = {"date_format": form} if form else {}
            return {**said, **more}, f"one row per value of {rows['id_column']}, each item with its {PERIOD}"
    except SetveilError:
        return None
    return None


def _form_of(values: list[str]) -> str | None:
    """Tell how dates are written: "" as ISO 8601 has it; None if they are none, or not in one form only."""
    if all(read_date(value, "day", None) is not None for value in values):
        return ""
    if all(value.isdigit() for value in values):
        return None
    forms = forms_of(values)
    return forms[0] if len(forms) == 1 else None
