"""Lines above a table, and below it: headers and titles.

A line with values of a person is no header: its fields would be published as names of columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from setveil.rows.data.evidence import FEW, MANY, SURE, Rows, has_columns
from setveil.rows.data.known_words import INTEGER, MISSING, NO, YES, kind
from setveil.rows.data.names import is_id_name, is_item_name, is_person_name
from setveil.rows.data.personal_forms import holds_address, is_full_name, likely_form

_MOST_HEADERS = 6  # lines that may be above the data


def has_header(rows: Rows) -> bool:
    """Return whether the first line is unlike those below it; lines that equal it do not count.

    It is no header if it has a mail address or a telephone number, the like in a column of such values (see
    `likely_form`), or a full name over full names: these would be published as names of columns. Else it is
    one if a column of numbers or dates does not begin with one; else if no field is a number, a date, empty,
    or in its column again. A name may be empty if its column is, and the first if that column numbers the
    lines.
    """
    if len(rows) < 2:
        return False
    if any(map(holds_address, rows[0])):
        return False
    first, rest = rows[0], [row for row in rows[1:] if row != rows[0]]
    again = len(rest) + 1 < len(rows)
    if len(first) > 2 and any(set(first) == {str(n + at) for n in range(len(first))} for at in (0, 1)):
        return True  # columns that are numbered
    columns = [
        [row[at] for row in rest if len(row) > at and row[at] not in MISSING] for at in range(len(first))
    ]
    if any(map(_is_personal_like, first, columns)) or any(map(_is_list_over_lists, first, columns)):
        return False
    unnamed = len(first) > 1 and not first[0] and len(rest) > 1 and _number_lines(columns[0])
    plain = any(first) and all(
        kind(field) in {"word", "code"} if field else not below
        for field, below in zip(first[unnamed:], columns[unnamed:], strict=True)
    )
    unlike = not again
    for field, below in zip(first, columns, strict=True):
        numeric = sum(kind(value) in {"integer", "number", "date"} for value in below)
        if below and numeric >= SURE * len(below) and kind(field) in {"word", "code"} and field:
            return True
        if below and field and field not in YES | NO and set(below) <= YES | NO and len(below) > 1:
            return True
        if field in below:
            plain = False
        unlike |= sum(kind(value) != kind(field) for value in below) >= SURE * max(len(below), 1)
    return plain and unlike and not any(map(_is_name_over_names, first, columns))


def _is_name_over_names(field: str, below: Sequence[str]) -> bool:
    """Return whether a field is the full name of a person, as nearly all values below it are."""
    if not is_full_name(field) or is_person_name(field) or is_item_name(field) or not below:
        return False
    return sum(map(is_full_name, below)) >= SURE * len(below)


def _is_list_over_lists(field: str, below: Sequence[str]) -> bool:
    for sign in ";|,":
        here = {part.strip(" \t") for part in field.split(sign)}
        if len(here) > 1:
            others = {part.strip(" \t") for value in below if sign in value for part in value.split(sign)}
            if not here.isdisjoint(others - {""}):
                return True
    return False


def _is_personal_like(field: str, below: Sequence[str]) -> bool:
    """Return whether a field is written like an IP address or a hash, as nearly all values below it are."""
    form = likely_form(field)
    return bool(form) and bool(below) and sum(likely_form(v) == form for v in below) >= SURE * len(below)


def _number_lines(values: Sequence[str]) -> bool:
    return bool(values) and all(map(INTEGER.fullmatch, values)) and len(set(values)) == len(values)


def name_lines(values: Sequence[str]) -> bool:
    """Return whether values may be the names of rows of R: running numbers, or words that differ."""
    if values and all(map(INTEGER.fullmatch, values)):
        return list(values) == [str(number + int(values[0])) for number in range(len(values))]
    return len(set(values)) == len(values) and all(kind(value) == "word" for value in values)


def header_lines(rows: Rows) -> int:
    """Count lines above a table that are words over numbers, or names that the next line completes."""
    if len(rows) >= 2 * FEW and _completes(rows[0], rows[1], rows[2:]):
        return 2
    if len(rows) < MANY:
        return 1
    if (found := _described_lines(rows)) > 1:
        return found
    numeric = []
    columns = [{row[at] for row in rows[_MOST_HEADERS:] if len(row) > at} for at in range(len(rows[0]))]
    for at in range(len(rows[0])):
        kinds = [kind(row[at]) for row in rows[1:] if len(row) > at and row[at] not in MISSING]
        numbers = sum(one in {"integer", "number", "date"} for one in kinds)
        if len(kinds) >= MANY and numbers >= SURE * len(kinds):
            numeric.append(at)
    found = 1
    for row in rows[1:_MOST_HEADERS] if numeric else ():
        if any(field in MISSING or kind(field) not in {"word", "code"} for field in row):
            break
        if any(len(row[at]) < 2 for at in numeric if at < len(row)):
            break
        if any(row[at] in columns[at] for at in range(len(row)) if at not in numeric):
            break
        found += row != rows[0]
    return found


def _described_lines(rows: Rows) -> int:
    """Count the first lines with longer texts than the few values below them, as survey tools write."""
    filled = [
        [row[at] for row in rows[_MOST_HEADERS:] if len(row) > at and row[at] not in MISSING]
        for at in range(len(rows[0]))
    ]
    longest = {
        at: max(map(len, values))
        for at, values in enumerate(filled)
        if 2 * len(set(values)) <= len(values) > 1
    }
    found = 1
    for row in rows[1:_MOST_HEADERS] if len(longest) > 1 else ():
        if (
            len(row) < len(rows[0])
            or not all(row)
            or any(len(row[at]) <= most for at, most in longest.items())
        ):
            break
        if sum(" " in row[at] or row[at].startswith("{") for at in longest) < 2:
            break
        found += row != rows[0]
    return found


def _completes(first: Sequence[str], second: Sequence[str], rest: Rows) -> bool:
    """Return whether a line names columns that lack a name, and is empty where all lines below are not."""
    if any(field and kind(field) not in {"word", "code"} for field in second):
        return False
    added = [field for name, field in zip(first, second, strict=False) if field and not name]
    empty = [at for at, field in enumerate(second) if not field and at < len(first) and first[at]]
    return len(added) > 1 and any(all(len(row) > at and row[at] for row in rest) for at in empty)


def title_lines(rows: Rows) -> tuple[int, int]:
    """Count the first and last lines with one text and empty fields after it, around a table with a header.

    The header is above numbers or dates, or two of its names are those of IDs and items.

    >>> table = [["customer", "product"], *[["C1", "tea"], ["C2", "rice"]] * 3]
    >>> title_lines([["Sales 2024", ""], ["", ""], *table])
    (2, 0)
    """
    found = next((at for at, row in enumerate(rows[: 2 * _MOST_HEADERS]) if not _is_title(row)), 0)
    body = rows[found:]
    if not found or not any(rows[0]) or len(body) <= FEW or not all(body[0]) or not has_columns(body):
        return 0, 0
    columns = ([row[at] for row in body[1:] if len(row) > at] for at in range(len(body[0])))
    kinds = [[kind(value) in {"integer", "number", "date"} for value in column] for column in columns]
    numeric = [
        sum(below) >= SURE * max(len(below), 1) and kind(name) == "word"
        for name, below in zip(body[0], kinds, strict=True)
    ]
    called = [is_id_name(name) or is_person_name(name) for name in body[0]]
    if not any(numeric) and not (any(called) and any(map(is_item_name, body[0]))):
        return 0, 0
    last = 0
    while numeric[0] and last < _MOST_HEADERS and _is_title(body[-1 - last]) and not kinds[0][-1 - last]:
        last += 1
    return found, last


def _is_title(row: Sequence[str]) -> bool:
    return len(row) > 1 and not any(row[1:])
