"""Columns of marks or answers, where each column is an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from setveil.base.errors import DataError, TableError, listed, shorten
from setveil.rows.data import answers, evidence, known_words
from setveil.rows.data.columns import Codes, as_field, as_fields
from setveil.rows.data.ids import Values, why_id
from setveil.rows.data.named_columns import Column, NamedColumns
from setveil.rows.data.names import tells_person


def refuse_answers(name: str, columns: Sequence[Column], *, tables: bool = False) -> None:
    """Raise if item columns contain the same few values, as answers to questions do, and so are no items."""
    heads = [[column.labels[code] for code in column.codes[: evidence.LINES].tolist()] for column in columns]
    values = answers.values_of(heads)
    if values:
        raise TableError(
            f"{name}: the item columns contain the same few values ({listed(values, 4)}), and nothing says "
            "which of them means that an item is there",
            [],
            [
                *(({"yes": as_field(one)}, answers.meaning(one)) for one in answers.likely_yes(values)),
                *([] if tables else [({"format": "wide"}, "the values themselves are the items")]),
            ],
        )


def answered(
    table: Any, names: Sequence[str], columns: Sequence[Column], yes: frozenset[str]
) -> tuple[Codes, list[str]]:
    """Return the columns that contain a value which means that their item is there, -1 for the others."""
    _require_item_names(table, names)
    found = Counter(label for column in columns for label in column.labels)
    lacking = [value for value in yes if value not in found]
    if lacking or not yes:
        raise DataError(
            f"{table.name}: no item column contains {listed(lacking or [''])}; "
            f"they contain {listed(list(found), 5)}.",
            hint="Name a value that means that an item is there: --yes.",
        )
    cells = np.empty((columns[0].codes.size, len(columns)), np.int64)
    for at, column in enumerate(columns):
        if len(set(column.labels)) > answers.MOST:
            raise DataError(
                f"{table.name}: column {shorten(names[at])} contains {len(set(column.labels)):,} different "
                "values, expected a few answers.",
                hint="Name the columns of answers: --item-columns.",
            )
        marks = np.array([label in yes for label in column.labels], bool)
        cells[:, at] = np.where(marks[column.codes], at, -1)
    return cells, list(names)


def _require_item_names(table: Any, names: Sequence[str]) -> None:
    if not all(names) or len(set(names)) < len(names) or not table.header:
        raise DataError(
            f"{table.name}: in a one-hot table each column must be named like its item, once.",
            hint="Check the header line.",
        )


def refuse_people_as_items(
    table: Any, items_at: Sequence[int], columns: Sequence[Column], id_at: int | None
) -> None:
    """Raise if a column of people would be an item of a one-hot table whose items were not named."""
    names = [table.names[at] for at in items_at]
    if table.lacking.published or not all(names) or len(set(names)) < len(names):
        return
    held = {at: Values(table.names[at], *column[:2]) for at, column in zip(items_at, columns, strict=True)}
    found = [at for at, column in held.items() if tells_person(column.name) or why_id(column)]
    if not found or len(found) == len(held):
        return
    most = min(found, key=lambda at: (not tells_person(table.names[at]), at))
    name = table.names[most]
    others = as_fields([at for at in items_at if at not in found], table.names)
    every: list[tuple[dict[str, Any], str]] = []
    if all(label.isdecimal() or label in known_words.YES | known_words.NO for label in held[most].labels):
        every = [({"item_columns": as_fields(items_at, table.names)}, f"{name} is an item like the others")]
    if id_at is not None and tells_person(table.names[id_at]):
        person: dict[str, Any] = {"item_columns": others}
    elif set(held[most].present) <= known_words.YES | known_words.NO:
        person = {"item_columns": others, "rows_are_events": True}
    else:
        person = {"item_columns": others, "id_column": name}
    row = f"one row per value of {name}" if "id_column" in person else f"{name} is no item"
    raise TableError(
        f"{table.name}: column {shorten(name)} looks like person IDs, and would be an item of this one-hot "
        "table",
        [],
        [(person, row), *every],
    )


def marked(table: NamedColumns, names: list[str], columns: Sequence[Column]) -> tuple[Codes, list[str]]:
    """Return the columns that each line marks, -1 for the others."""
    _require_item_names(table, names)
    cells = np.empty((columns[0].codes.size, len(columns)), np.int64)
    yes, no = known_words.YES | known_words.TICKS, known_words.NO | known_words.NO_TICKS
    for at, column in enumerate(columns):
        marks = np.zeros(len(column.labels), bool)
        for code, label in enumerate(column.labels):
            amount = label.removesuffix(".0")
            number = amount.isascii() and amount.isdigit()
            marks[code] = label in yes or (number and amount.strip("0") != "")
            if not (marks[code] or number or label in no):
                line = int(np.argmax(column.codes == code))
                raise DataError(
                    f"{column.place(line)}: column {shorten(names[at])} contains {shorten(label)}, expected "
                    "0 or 1, true or false, yes or no (one-hot).",
                    hint="Name the columns that are items: --item-columns.",
                )
        cells[:, at] = np.where(marks[column.codes], at, -1)
    return cells, names
