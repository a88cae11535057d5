"""Questions about facts: which columns may be codes, dates and amounts, and what they would become."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.rows.data.names import is_id_name
from setveil.rows.facts.dates import forms_of, read_date
from setveil.rows.facts.facts import MISSING, Attribute, Facts
from setveil.rows.facts.read import read_rows_of_facts, sentence, taken_as
from setveil.rows.tables.opened import OpenedTable
from setveil.rows.tables.ranges import are_numbers
from setveil.runs.options.columns import Columns
from setveil.runs.options.facts import FactOptions as Words
from setveil.runs.options.reading import Reading

BAND = re.compile(r"(?:\[|>=)(-?[0-9.]+)")
_MOST = 400  # that are listed


def read(path: str, columns: Columns, words: Words, reading: Reading, fewest: int) -> Facts:
    """Read a log as the command line does, with last bands that `fewest` people reach."""
    words.require_alone(columns)
    how, request = columns.as_how(reading), words.as_request(columns)
    return read_rows_of_facts(path, request, how, fewest=fewest)


def proposed(opened: OpenedTable, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Say what each column may be in a log of events, and whether the table is `likely` to be one."""
    names = list(opened.table.names)
    found: list[dict[str, Any]] = [
        {**{key: column[key] for key in ("name", "columns", "values", "personal")}, "role": "drop"}
        for column in columns
    ]
    for one, column in zip(found, columns, strict=True):
        if column["role"] in {"id", "set"}:
            one["role"] = column["role"]
        elif column["values"] and _are_dates(column["values"]):
            one["role"] = "when"

    def first(role: str, fits: Callable[[dict[str, Any]], bool]) -> None:
        """Give a role that nobody has to the first column that fits."""
        if all(one["role"] != role for one in found):
            for one in [one for one in found if one["role"] == "drop" and fits(one)][:1]:
                one["role"] = role

    first("id", lambda one: len(one["columns"]) == 1 and is_id_name(one["name"]))
    first("set", lambda one: not one["personal"] and not are_numbers(one["values"]))
    at = next((names.index(one["name"]) for one in found if one["role"] == "id"), None)
    ids = [row[at] for row in opened.table.head if at is not None and len(row) > at]
    several = len({*ids}) < len(ids)
    return {"columns": found, "likely": several and {"set", "when"} <= {one["role"] for one in found}}


def _are_dates(values: Sequence[str]) -> bool:
    """Return whether all of these look like dates, as ISO 8601 has them or in another form."""
    iso = all(read_date(value, "day", None) is not None for value in values)
    return iso or (not are_numbers(values) and bool(forms_of(values)))


def about(facts: Facts) -> dict[str, Any]:
    """Say what was read, in the words of the command, and what each part is."""
    return {
        "said": sentence(facts),
        "notes": list(facts.notes),
        "rows": facts.n_rows,
        "facts": facts.n_items,
        "parts": [part for number in range(len(facts.columns)) for part in _parts(facts, number)],
    }


def _parts(facts: Facts, number: int) -> Iterator[dict[str, Any]]:
    """Say of a column of codes what the parts of its facts are."""
    column = facts.columns[number]
    mine = facts.items[facts.column[facts.items] == number]
    yield {**_part(facts.parts[mine, 0], column.name, "codes", column.codes, None), "becomes": []}
    of = f" of {column.name}" if len(facts.columns) > 1 else ""
    for at, one in enumerate(column.attributes, 1):
        yield _attribute(facts.parts[mine, at], one, f"{one.name}{of}")


def _attribute(leaves_of: NDArray[np.int32], one: Attribute, name: str) -> dict[str, Any]:
    tree = one.tree
    leaves = list(range(tree.n_leaves))
    if BAND.match(tree.labels[0]) or one.kind == "amount":
        leaves.sort(key=lambda leaf: _least(tree.labels[leaf]))
    first = next((leaf for leaf in leaves if tree.labels[leaf] != MISSING), 0)
    becomes = [tree.labels[node] for node in (first, *tree.ancestors(first))]
    return {**_part(leaves_of, name, taken_as(one), tree.labels, leaves), "becomes": becomes}


def _least(band: str) -> float:
    """Say where a band begins, to put bands in order: what is missing comes last."""
    found = BAND.match(band)
    return -inf if band.startswith("<") else float(found[1]) if found else inf


def _part(
    occurring: NDArray[np.int32], name: str, taken: str, labels: Sequence[str], leaves: Sequence[int] | None
) -> dict[str, Any]:
    """Count the values of a part; for an attribute, by its `leaves` in order, including missing values."""
    number = np.bincount(occurring, minlength=len(labels)).tolist()
    values = [(labels[leaf], number[leaf]) for leaf in (range(len(labels)) if leaves is None else leaves)]
    there = [one for one in values if leaves is None or one[0] != MISSING]
    missing = sum(times for _, times in values) - sum(times for _, times in there)
    return {"name": name, "taken": taken, "number": len(there), "values": there[:_MOST], "missing": missing}
