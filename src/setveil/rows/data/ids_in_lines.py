"""Evidence of IDs in lines of fields, which are then a table rather than rows of items.

A basket has its items anywhere: the first field of a line is of the same sort as the others. A table has
columns. Only values count here, never the name of a column: names decide nothing that could publish IDs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from setveil.rows.data.evidence import (
    ALIKE,
    FEW,
    MANY,
    SURE,
    Rows,
    are_different,
    common_width,
    has_columns,
    is_grouped,
)
from setveil.rows.data.known_words import INTEGER, kind
from setveil.rows.data.personal_forms import is_personal

_DIGITS = 18  # of numbers that may count lines
_PLACES = 12  # in lines that ids are looked for in, besides the last two
_SHAPED = 500  # lines whose values are compared by how they are written
_ORDER = {0: "first", 1: "second", 2: "third", -1: "last", -2: "last but one"}


def why_table(rows: Rows) -> str:
    """Say what speaks for a table in the first lines of a file, as stripped fields; "" if nothing does."""
    if has_columns(rows):
        width, share = common_width(rows)
        return f"{'every line has' if share == 1 else 'nearly all lines have'} {width} fields"
    if len(rows) == 1:
        return _why_one_line(rows[0])
    if _first_line_differs(rows):
        return "the first line is unlike the others"
    trimmed = [_trimmed(row) for row in rows]
    below = trimmed[1:] if trimmed and _may_be_header(rows[0], rows[1:]) else []
    return why_ids(trimmed) or why_ids(below)


def why_sets_are_table(rows: Rows, what: str = "line") -> str:
    """Say what speaks for a table in lines of integers or in lists, IDs or exactly one size; "": nothing."""
    width, share = common_width(rows)
    if width > 1 and share == 1 and len(rows) > 2:
        return f"every {what} has {width} {'numbers' if what == 'line' else 'values'}"
    return why_ids(rows)


def why_ids(rows: Rows) -> str:
    """Say what speaks for ids among the fields of lines, by their places; "" if nothing does."""
    rows = [row for row in rows if row]
    if len(rows) < 3:
        return ""
    if personal := why_personal(rows):
        return personal
    if sum(len(row) == 1 for row in rows) >= ALIKE * len(rows):
        once = Counter(row[0] for row in rows)
        alone = [value for value, times in once.items() if times == 1]
        numbered = sum(any(c.isdigit() for c in value) for value in alone)
        if 2 * len(once) >= len(rows) or (len(rows) >= MANY and 5 * numbered >= len(rows)):
            return "many of its lines occur only once"
    if place := _why_place(rows) or _why_place(_integers(rows)):
        return place
    if _have_one_of_a_shape(rows[:_SHAPED]):
        return "nearly every line contains just one value that is written as ids or dates are"
    return ""


def _integers(rows: Rows) -> Rows:
    """Omit of mixed lines what is no integer; of others there is nothing to see that was not seen."""
    fields = {field for row in rows for field in row}
    integers = {field for field in fields if INTEGER.fullmatch(field)}
    if integers == fields:
        return []
    left = ([field for field in row if field in integers] for row in rows)
    return [row for row in left if row]


def _why_place(rows: Rows) -> str:
    fields = Counter(field for row in rows for field in row if field)
    lines = Counter(field for row in rows for field in set(row) if field)
    kinds = _kinds(fields)
    ascending = are_ascending(rows)
    for place in (*range(_PLACES), -1, -2):
        least = place + 1 if place >= 0 else 2
        values = [row[place] for row in rows if len(row) >= least and row[place]]
        if len(values) < max(3, ALIKE * len(rows)) or len(values) == fields.total():
            continue
        which = _ORDER.get(place, f"{place + 1}th")
        if _differ_in_kind(_kinds(Counter(values)), kinds):
            return f"the {which} field of the lines is of another kind than the others"
        by_chance = ascending or place not in {
            0,
            1,
            2,
            -1,
        }  # places near the ends of sorted lines differ, too
        if are_different(values) and (
            _stay(values, lines) or _are_consecutive(values) or (len(values) >= MANY and not by_chance)
        ):
            return f"the {which} field of nearly every line is a different one"
        if _may_be_persons(values) and (_stay(values, lines) or _count_up(values)):
            return f"the value of the {which} field is in no other"
    return ""


def why_personal(rows: Rows) -> str:
    """Say whether half of some lines contain what tells a person, or a date; "" if they do not."""
    fields = {field for row in rows for field in row}

    def often(found: set[str]) -> bool:
        return 2 * sum(not found.isdisjoint(row) for row in rows) >= max(len(rows), 1)

    if often({field for field in fields if is_personal(field)}):
        return "many lines contain what looks like a telephone number, an address or a hash"
    return "many lines contain a date" if often({field for field in fields if kind(field) == "date"}) else ""


def are_ascending(rows: Rows) -> bool:
    """Return whether the fields of nearly every line ascend, so that its first is the least."""
    several = [row for row in rows if len(row) > 1]
    numbers = all(INTEGER.fullmatch(field) for row in several for field in row)
    keys = [[(len(field.lstrip("+0")) if numbers else 0, field) for field in row] for row in several]
    return sum(all(a < b for a, b in pairwise(row)) for row in keys) >= SURE * len(several)


def _stay(values: Sequence[str], lines: Counter[str]) -> bool:
    """Return whether few values of a place are in other places (`lines`: how many contain each field)."""
    here = Counter(values)
    staying = sum(lines[value] <= times for value, times in here.items())
    in_lines = sum(times for value, times in here.items() if lines[value] <= times)
    return staying >= SURE * len(here) and in_lines >= SURE * len(values)


def _may_be_persons(values: Sequence[str]) -> bool:
    """Return whether values may be ids on several lines each; those of a few words must stand together."""
    different = set(values)
    if len(different) >= FEW or len(different) < 2 or 10 * len(different) < len(values):
        return len(different) >= FEW
    return is_grouped(values) or all(any(sign.isdigit() for sign in value) for value in different)


def _are_consecutive(values: Sequence[str]) -> bool:
    integers = [value for value in values if INTEGER.fullmatch(value) and len(value) < _DIGITS]
    numbers = set(map(int, integers))
    if len(numbers) < 3 or len(integers) < ALIKE * len(values):
        return False
    return SURE * (max(numbers) - min(numbers) + 1) <= len(numbers)


def _count_up(values: Sequence[str]) -> bool:
    """Return whether values are integers that count up from line to line, each on several lines."""
    if not _are_consecutive(values):
        return False
    numbers = [int(value) for value in values if INTEGER.fullmatch(value)]
    return all(0 <= b - a <= 1 for a, b in pairwise(numbers)) and 10 * len(set(numbers)) > len(numbers)


def _why_one_line(row: Sequence[str]) -> str:
    """Distinguish a record, or a header without data, from a row of items."""
    if len(row) > 1 and any(kind(field) != "word" for field in row if field):
        return "there is one line, and it may be a record"
    return ""


def _trimmed(row: Sequence[str]) -> Sequence[str]:
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _first_line_differs(rows: Rows) -> bool:
    """Return whether the first line of ragged ones is a header: numbers under words, or words of its own."""
    if len(rows) < 3:
        return False
    first, rest = rows[0], rows[1:]
    if len(first) < 2:
        return len(rest[0]) > 1 and all(len(row) == len(rest[0]) for row in rest)
    for at, field in enumerate(first):
        below = [row[at] for row in rest if len(row) > at and row[at]]
        numeric = sum(kind(value) in {"integer", "number", "date"} for value in below)
        if len(below) > 1 and numeric >= SURE * len(below) and kind(field) == "word" and field:
            return True
    as_long = sum(len(row) <= len(first) for row in rest)
    return len(rows) >= 2 * FEW and as_long >= SURE * len(rest) and _may_be_header(first, rest)


def _may_be_header(first: Sequence[str], rest: Rows) -> bool:
    """Return whether the fields of a line are words that are in no other line."""
    names = {field for field in first if field}
    return all(kind(name) == "word" for name in names) and not any(names.intersection(row) for row in rest)


def _have_one_of_a_shape(rows: Rows) -> bool:
    """Return whether nearly every line has, in whatever place, just one field of a shape, as of an id."""
    shapes = {field: _shape(field) for field in {field for row in rows for field in row if field}}
    values: dict[str, list[str]] = {}
    for row in rows:
        times = Counter(shapes[field] for field in set(row) if field)
        for field in dict.fromkeys(row):
            if field and times[shapes[field]] == 1:
                values.setdefault(shapes[field], []).append(field)
    several = 2 * sum(map(len, rows)) >= 3 * len(rows)
    return any(
        are_different(found)
        or (several and kind(found[0]) == "date")
        or (several and "9" in shape and _may_be_persons(found) and is_grouped(found))
        for shape, found in values.items()
        if len(found) >= SURE * len(rows)
    )


def _shape(value: str) -> str:
    """Write 9 for a digit, A for a capital, a for other letters side by side; 9 for any integer."""
    if INTEGER.fullmatch(value):
        return "9"
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in value)
    return re.sub("a+", "a", "".join(signs))


def _kinds(values: Counter[str]) -> Counter[str]:
    """Count the values of each kind; words that begin with capitals, as names do, are one of their own."""
    kinds: Counter[str] = Counter()
    for value, times in values.items():
        sort = kind(value)
        named = sort == "word" and all(word[0].isupper() for word in value.split())
        kinds["name" if named else sort] += times
    return kinds


def _differ_in_kind(here: Counter[str], everywhere: Counter[str]) -> bool:
    """Return whether the values of one place are of one kind, and all others of other kinds."""
    usual, times = here.most_common(1)[0]
    others = everywhere.total() - here.total()
    return times >= SURE * here.total() and everywhere[usual] - times <= (1 - SURE) * others
