"""Recognizes columns of IDs, of items, and of neither, by their names and their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

import numpy as np

from setveil.rows.data import answers, evidence, known_words
from setveil.rows.data.ids import come_evenly, look_like_ids
from setveil.rows.data.named_columns import NamedColumns
from setveil.rows.data.names import (
    is_id_name,
    is_item_name,
    is_measured_name,
    is_no_item,
    is_people,
    is_person_name,
    may_be_item,
    numbers_events,
    tells_person,
)
from setveil.rows.data.personal_forms import MAIL, PHONE, addresses, form_of, is_personal, likely_form

_KINDS = 4  # of items at least in a column that is named like the sexes or amounts of another language
_MANY_CONTACTS = 4  # a column is of addresses if one value of this many certainly is


def likely_ids(table: NamedColumns) -> tuple[str, ...]:
    """List the columns without names that may say whose lines are, by number: those of people before others.

    A person may have several papers, so of several columns only those of the fewest values count.
    """
    if table.header:
        return ()
    columns = [[row[at] for row in table.head if len(row) > at and row[at]] for at in range(len(table.names))]
    full = {at: len(set(column)) for at, column in enumerate(columns) if len(column) == len(table.head)}
    for fits in (_are_forms, _may_identify):
        found = {at: number for at, number in full.items() if fits(columns[at])}
        if found:
            return tuple(str(at + 1) for at, number in found.items() if number == min(found.values()))
    return ()


def _are_forms(values: Sequence[str]) -> bool:
    """Return whether values are mail addresses or telephone numbers."""
    found = sum(likely_form(value) in {MAIL, PHONE} for value in values)
    return bool(values) and found >= evidence.SURE * len(values)


def _may_identify(values: Sequence[str]) -> bool:
    return len(set(values)) > 2 and look_like_ids(values, once=evidence.are_different(values))


def subject_rank(table: NamedColumns, at: int, values: Sequence[str]) -> int:
    """Order columns by the subject of lines: people, then their papers and mail addresses, then others."""
    name = table.names[at] if table.header else ""
    return 2 * is_people(name) + (tells_person(name) or (table.header and _are_forms(values)))


def are_mostly_measured(table: NamedColumns, at: int, values: Sequence[str]) -> bool:
    """Return whether most values are dates, or numbers that are no integers and not named like IDs."""
    return _are_mostly({"date"} if is_called_id(table, at) else {"date", "number"}, values)


def _are_mostly(kinds: Container[str], values: Sequence[str]) -> bool:
    filled = [value for value in values if value not in known_words.MISSING]
    return 2 * sum(known_words.kind(value) in kinds for value in filled) > len(filled)


def is_called_measured(table: NamedColumns, at: int) -> bool:
    """Return whether a column is named like a measure."""
    return table.header and is_measured_name(table.names[at])


def holds_no_item(table: NamedColumns, at: int, values: Sequence[str]) -> bool:
    """Return whether a column is named like what is no item, or holds days of the week or times."""
    if table.header and is_item_name(table.names[at]):
        return False
    if known_words.are_days_or_times(values):
        return True
    if not table.header:
        return False
    few = len(set(values) - known_words.MISSING) < _KINDS or _are_mostly({"integer", "number"}, values)
    return is_no_item(table.names[at]) or (few and is_measured_name(table.names[at]))


def is_called_id(table: NamedColumns, at: int) -> bool:
    """Return whether a column is named like an id, of whatever, or a person."""
    name = table.names[at] if table.header else ""
    return not may_be_item(name) and (is_id_name(name) or is_person_name(name) or numbers_events(name))


def may_hold_ids(values: Sequence[str]) -> bool:
    """Return whether values may be ids: nearly all differ, or many are such as no item is."""
    filled = [value for value in values if value]
    return evidence.are_different(filled) or are_personal(filled)


def are_personal(values: Sequence[str]) -> bool:
    """Return whether half of the values are such as one person has."""
    return 2 * sum(map(is_personal, values)) >= len(values)


def _are_contacts(values: Sequence[str]) -> bool:
    """Return whether many values belong to one person each, such as streets with house numbers."""
    filled = [value for value in values if value]
    of_form = sum(form_of(value) != "" for value in filled)
    return bool(addresses(filled)) or _MANY_CONTACTS * of_form >= len(filled) > 0


def are_items_of(table: NamedColumns, values: Sequence[Sequence[str]], id_at: int, at: int) -> bool:
    """Return whether a column contains items for sure, and no ids: by the names of both, else by many values.

    Without a name that says so, the lines of each id must stand together, and those of items not.
    """
    if _are_contacts(values[at]) or holds_no_item(table, at, values[at]) or _are_mostly({"date"}, values[at]):
        return False
    named = table.header and may_be_item(table.names[at])
    called_id = is_called_id(table, id_at)
    if named and len(values[at]) < evidence.MANY and called_id:
        return not are_personal(list(filter(None, values[at])))
    if may_hold_ids(values[at]) or is_called_id(table, at):
        return False
    if named or evidence.is_grouped(values[at]):
        return named or (called_id and len(table.names) == 2)
    ids = values[id_at]
    pairs = {(row[id_at], row[at]) for row in table.head if len(row) > max(id_at, at)}
    if len(pairs) == len(set(ids)) < len(ids):
        return False  # it says the same on all lines of an id
    if len(ids) < evidence.MANY or evidence.are_different(ids):
        return called_id
    alone = likely_ids(table) == (str(id_at + 1),)
    times = Counter(ids)
    alone |= len(table.names) == 2 and come_evenly(list(times), np.array(list(times.values())))
    return called_id or evidence.is_grouped(ids) or (alone and 2 * len(set(values[at])) <= len(times))


def id_score(table: NamedColumns, at: int, values: Sequence[str]) -> int:
    """Rate what speaks for IDs in a column."""
    kinds = {known_words.kind(value) for value in values if value}
    again = len(set(values)) < len(values)
    score = (
        3 * evidence.is_grouped(values)
        + 2 * (evidence.is_grouped(values) and again)
        + 2 * (not kinds & {"date", "number"})
        + (kinds != {"word"})
    )
    if table.header and is_id_name(table.names[at]) and not is_item_name(table.names[at]):
        score += 4
    return score - 9 * answers.is_mark(values) - 2 * (len(set(values)) < min(len(values), 8) / 2)


def item_score(table: NamedColumns, at: int, values: Sequence[str]) -> int:
    """Rate what speaks for items in a column."""
    kinds = {known_words.kind(value) for value in values if value}
    score = 2 * (not evidence.are_different(values)) + 3 * (not kinds & {"date"}) + ("code" in kinds)
    score += (len(set(values)) > 4) - 2 * (kinds == {"integer"})
    if table.header and is_item_name(table.names[at]):
        score += 4
    return score - 9 * answers.is_mark(values)
