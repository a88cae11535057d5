"""The request where nothing says which columns of a table someone may know, and which contains the items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.base.errors import SetveilError, TableError, listed
from setveil.rows.data import answers, evidence, known_words
from setveil.rows.data.columns import Codes, as_field, as_fields, columns_at, numbered_alike, rows_of
from setveil.rows.data.come_again import DERIVED, LIKELY, NAMED, Again, comes_again, rank
from setveil.rows.data.ids import Values, are_measured, are_unmistakable, look_like_ids, of_cells, why_id
from setveil.rows.data.named_columns import called
from setveil.rows.data.names import (
    is_item_name,
    is_measured_name,
    is_no_item,
    is_people,
    is_place,
    is_sex,
    may_be_id,
    may_be_item,
    tells_person,
)
from setveil.rows.data.readings import SAMPLES
from setveil.rows.data.set_fields import DELIMITER
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import open_table

_SIGNS = DELIMITER + evidence.SEPARATORS.replace(DELIMITER, "")
_RANGE = re.compile(r"[\[(][^\[(]*,[^\[(]*[\])]")
_MOST = 60  # columns that are compared with each other
_LIKELY = 3  # what a column without a name or list needs to be proposed for items

Works = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def ask_for_roles(
    source: Any,
    how: How,
    named: Collection[str],
    *,
    known: bool,
    items: bool,
    works: Works = lambda options: options,
) -> TableError:
    """Make the error that asks for the roles of columns, with some values of each and a way to give them.

    Columns that look like IDs are not proposed for publication. `named`: columns with a role. `known`,
    `items`: quasi-identifiers and items were named. `works`: tries options to be proposed, returns those that
    work, else raises.
    """
    opened = open_table(source, named, how)
    table = opened.table
    heads = [[row[at] for row in table.head if len(row) > at] for at in range(len(table.names))]
    shown = [
        (called(table, at), list(dict.fromkeys(filter(None, column)))[:SAMPLES])
        for at, column in enumerate(heads)
    ]
    times = Counter(table.names)
    if how.item_columns is not None:
        items_at = columns_at(table.names, how.item_columns, None, table.name)
        held = {value for at in items_at for value in heads[at]} - known_words.MISSING
        again = [at for at, column in enumerate(heads) if _repeats(column, held)]
        named = {*named, *(table.names[at] for at in (*items_at, *again))}
    free = [
        at
        for at, name in enumerate(table.names)
        if times[name] == 1 and name and name not in named and name != how.id_column
    ]
    columns = {at: of_cells(table.names[at], heads[at]) for at in free}
    lists = [at for at in free if opened.holds_lists(at)]
    inside = len(lists) > 1 and any("." in table.names[at] for at in lists)  # which holds items is in doubt
    whose = [at for at, name in enumerate(table.names) if name == how.id_column]
    ids = of_cells(str(how.id_column), heads[whose[0]]) if len(whose) == 1 else None
    options = (
        {} if inside else _proposed(columns, lists, heads, how, known=known, items=items, ids_of_lines=ids)
    )
    found: Mapping[str, Any] | None = None
    trouble = ""
    if (known or "qi" in options) and (items or {"set", "item_columns"} & options.keys()):
        try:
            found = works(options)
        except SetveilError as error:
            trouble = f". Was tried: {error.message}"
    lacking = ["what someone may know of a person (--qi)"] * (not known)
    lacking += ["which column contains the items (--set)"] * (not items)
    meaning = "columns without a role are not published; see also --keep-columns and --hierarchy"
    if found and "id_column" in found:
        most = listed([*found.get("per_person", ())], 4).replace("'", "")
        row = f"one row per value of {found['id_column']}"
        meaning = f"{row}{', with its most frequent ' if most else ''}{most}; {meaning}"
    return TableError(
        f"{table.name}: nothing says {' and '.join(lacking)}",
        shown,
        [(found, meaning)] if found else [],
        "" if found else f"Name columns; there are {listed(table.names, 9)}{trouble}",
        "--qi, --set, --id-column",
    )


def _proposed(
    columns: Mapping[int, Values],
    lists: Sequence[int],
    heads: Sequence[Sequence[str]],
    how: How,
    *,
    known: bool,
    items: bool,
    ids_of_lines: Values | None,
) -> dict[str, str]:
    """Propose roles of columns; nothing if it is in doubt which column the ids are."""
    plain = [at for at in columns if at not in lists]
    ids = {at for at in plain if _is_id(columns[at])}
    person: int | None = None
    same: Collection[int] = plain
    if ids_of_lines is not None:
        codes = np.asarray(ids_of_lines.codes, np.int64)
        same = [at for at in plain if _is_same(codes, columns[at])]
    elif how.id_column is None and len(plain) <= _MOST:
        again, same = _person(columns, plain)
        if again is not None and again.grade < LIKELY:
            return {}
        person = next((at for at in plain if again is not None and columns[at] is again.column), None)
    options: dict[str, str] = {}
    taken: set[int] = {person} if person is not None else set()
    if not items:
        least = _LIKELY if person is None else 1  # what varies with one person is an item, or of a stay
        items_at = [at for at in columns if not is_no_item(columns[at].name)]
        free = [at for at in items_at if at not in ids and (person is None or at not in same)]
        bare = [
            at
            for at in columns
            if at not in lists
            and at != person
            and not tells_person(columns[at].name)
            and not is_sex(columns[at].name)
        ]
        marks = [bare[at] for at in answers.columns_of_marks([heads[at] for at in bare])]
        several = numbered_alike({at: columns[at].name for at in free})
        if several:  # the last of many columns hold few items, each of which may stand there once
            alike = {at: columns[at].name for at in items_at if at != person}
            more = numbered_alike(alike)
            several = more if {*several} <= {*more} and 2 * len(several) > len(more) else several
        set_at = (
            None if several else _set_at(columns, lists, heads, [at for at in free if at != person], least)
        )
        if several:
            options["item_columns"] = as_fields(several, {at: columns[at].name for at in several})
            found = answers.values_of([heads[at] for at in several])
            if found and how.yes is None:
                options["yes"] = as_field(answers.likely_yes(found)[0])
            taken.update(several)
        elif len(marks) > 1 and set_at is None:
            options["item_columns"] = as_fields(marks, {at: columns[at].name for at in marks})
            taken.update(marks)
        elif set_at is not None:
            options["set"] = columns[set_at].name
            taken.add(set_at)
            sign = max(_SIGNS, key=lambda sign: _marked(heads[set_at], sign))
            marked = set_at not in lists and how.delimiter is None and _marked(heads[set_at], sign)
            if marked and sign != DELIMITER:
                options["delimiter"] = sign
    if not known:
        has_ids = person is not None or ids_of_lines is not None
        likely = [at for at in plain if at not in ids | taken and (not has_ids or at in same)]
        likely = [at for at in likely if not _is_named(columns[at]) and not _are_times(columns[at])]
        likely = [
            at for at in likely if len(columns[at].present) > 1 and not are_unmistakable(columns[at].present)
        ]
        if likely:
            options = {"qi": ",".join(as_field(columns[at].name) for at in likely)} | options
    if person is None and how.id_column is None and options:
        named = [at for at in plain if at not in taken and _names_each(columns[at])]
        person = min(named, key=lambda at: (not is_people(columns[at].name), at), default=None)
    if person is not None and options:
        options["id_column"] = columns[person].name
    return options


def _repeats(values: Sequence[str], items: Collection[str]) -> bool:
    """Tell whether a column says again what columns of items contain, other than answers."""
    found = {*values} - known_words.MISSING
    return (
        bool(found)
        and not found <= known_words.YES | known_words.NO
        and 2 * len(found & {*items}) > len(found)
    )


def _names_each(column: Values) -> bool:
    """Tell whether a column is named like people, and every line has another value."""
    return tells_person(column.name) and len(column.present) == column.codes.size > 0


def _are_times(column: Values) -> bool:
    """Tell whether most values are dates with a time of the day, such as when a form was sent."""
    times = [value for value in column.present if ":" in value and known_words.is_moment(value)]
    return 2 * len(times) > len(column.present)


def _is_id(column: Values) -> bool:
    present = column.present
    rows = int(column.times.sum())
    if why_id(column):
        return True
    if not rows or is_item_name(column.name) or is_measured_name(column.name):
        return False
    if may_be_id(column.name) and not is_place(column.name):
        return True
    kinds = [known_words.kind(value) for value in present]
    if rows < 2 * evidence.FEW and look_like_ids(present, once=True):
        return True
    if len(present) < evidence.DIFFERENT * rows or len(present) < 2:
        return False
    if rows >= evidence.MANY or look_like_ids(present, once=True):
        return True
    return any(
        k in {"code", "word"} or (k == "integer" and len(v) > 5) for k, v in zip(kinds, present, strict=True)
    )


def _person(columns: Mapping[int, Values], places: Sequence[int]) -> tuple[Again | None, Collection[int]]:
    """Find the column by which persons come again, and the columns that are the same on all lines of each."""
    found: list[tuple[Again, list[int]]] = []
    for at in places:
        if not (columns[at].times > 1).any():
            continue
        codes = np.asarray(columns[at].codes, np.int64)
        same = [o for o in places if o != at and _is_same(codes, columns[o])]
        columns_that_vary = [columns[o].codes for o in same if len(columns[o].present) > 1]
        vary = [o for o in columns if o != at and o not in same]
        if not vary:
            continue
        if not columns_that_vary:  # then only the items say whose lines are
            columns_that_vary = [np.zeros(codes.size, np.int64)]
        item = max(vary, key=lambda o: _item_score(columns[o]))
        items = np.arange(codes.size), columns[item].codes
        again = comes_again(columns[at], columns_that_vary, items if _item_score(columns[item]) > 1 else None)
        if again is not None and not are_measured(columns[at].present):
            found.append((again, same))
    best = [one[0].values for one in found if not one[0].looks_so and one[0].grade < NAMED]
    if len(best) > 1 and len(best) == len(found) and best.count(min(best)) > 1:
        return replace(found[0][0], grade=DERIVED), []  # each may say the other in other words
    return min(found, key=lambda one: (one[0].grade < LIKELY, *rank(one[0])), default=(None, []))


def _is_same(codes: Codes, column: Values) -> bool:
    """Tell whether a column has one value on all lines of nearly each id that comes again."""
    row, first = rows_of(codes)
    unequal = np.unique(row[column.codes != column.codes[first][row]]).size
    return bool(unequal <= (1 - evidence.SURE) * (np.bincount(row) > 1).sum())


def _set_at(
    columns: Mapping[int, Values],
    lists: Sequence[int],
    heads: Sequence[Sequence[str]],
    free: Sequence[int],
    least: int,
) -> int | None:
    """Choose the column that most likely holds items; None where none does."""
    if lists:
        return lists[0]
    marks = {at: max(_marked(heads[at], sign) for sign in _SIGNS) for at in free}
    if any(marks.values()):
        return max(free, key=lambda at: marks[at])
    best = max(free, key=lambda at: _item_score(columns[at]), default=None)
    return best if best is not None and _item_score(columns[best]) >= least else None


def _item_score(column: Values) -> int:
    """Tell how much speaks for a column that holds an item a line."""
    present = column.present
    kinds = [known_words.kind(label) for label in present]
    timed = bool({"date", "number"} & set(kinds)) or known_words.are_days_or_times(present)
    if is_place(column.name) or timed:
        return 4 * _is_named(column)
    small = all(value.isdigit() and len(value) < 3 for value in present)
    if (small or len(present) <= 4) and not _is_named(column):
        return 0
    words, codes = (2 * kinds.count(kind) > len(kinds) for kind in ("word", "code"))
    return 4 * _is_named(column) + 1 + 2 * codes + words + (len(set(kinds)) > 1)


def _is_named(column: Values) -> bool:
    """Tell whether a column is named like items; of few rows, in any of the languages."""
    few = column.codes.size < evidence.MANY
    return is_item_name(column.name) or (few and may_be_item(column.name))


def _marked(values: Sequence[str], sign: str) -> float:
    """Tell in what share of the values that are there a sign stands between items; of ranges it does not."""
    filled = [value for value in values if value]
    if 2 * sum(known_words.kind(value) in {"number", "date"} for value in filled) > len(filled):
        return 0.0  # decimal commas and points stand between no items
    found = sum(sign in value and not _RANGE.fullmatch(value) for value in filled) / max(len(filled), 1)
    return found if sign == DELIMITER or found > evidence.LISTS else 0.0
