"""What speaks for a table rather than rows of items: lines of equal length, columns unlike each other, ids.

A basket holds its items anywhere: the first field of a line is of the same sort as the others. A table has
columns. Nothing here looks at what a column is called, only at its values; names decide nothing that could
publish ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

Rows = Sequence[Sequence[str]]

SEPARATORS = ",;\t|"
ALIKE = 0.8  # so many lines of one length make a table: exports have title lines, totals and broken lines
DIFFERENT = 0.9  # so many different values in a column are ids
SURE = 0.9
LISTS = 0.2  # so many cells with separators are lists
NARROW = 4  # columns of a table of numbers
FEW, MANY = 5, 20  # lines from which on the values of a column say something, and something by themselves

MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None"})
YES, NO = frozenset({"1", "true", "True", "TRUE"}), frozenset({"0", "false", "False", "FALSE", ""})

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,' \u00a0][0-9]{3})*(?:[.,][0-9]+)?%?", re.ASCII)
_DATE = re.compile(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4})(?:[T ].*)?", re.ASCII
)
_PERSONAL = re.compile(r"@|^\+[0-9]|^(?=.*[0-9])[0-9a-f-]{16,}$", re.ASCII | re.IGNORECASE)


def kind(value: str) -> str:
    """Tell of what sort a value is: `integer`, `number`, `date`, `code` (letters and digits), `word`."""
    if _INTEGER.fullmatch(value):
        return "integer"
    if _DATE.fullmatch(value):
        return "date"
    if _NUMBER.fullmatch(value):
        return "number"
    if " " not in value and any(c.isdigit() for c in value):
        return "code"
    return "word"


def common_width(rows: Rows) -> tuple[int, float]:
    """Return the most frequent number of fields of a line, and the share of the lines that have it."""
    if not rows:
        return 0, 0.0
    width, lines = Counter(map(len, rows)).most_common(1)[0]
    return width, lines / len(rows)


def is_table(rows: Rows) -> bool:
    """Tell whether nearly all lines have the same number of fields, two or more."""
    width, share = common_width(rows)
    return len(rows) > 1 and width > 1 and share >= ALIKE


def are_different(values: Sequence[str]) -> bool:
    """Tell whether nearly all values differ, as ids do."""
    return len(set(values)) >= DIFFERENT * len(values)


def is_grouped(values: Sequence[str]) -> bool:
    """Tell whether equal values stand beside each other only, as ids do where a table is sorted by them."""
    runs = sum(a != b for a, b in pairwise(values)) + 1
    return runs == len(set(values))


def is_id_and_item(ids: Sequence[str], items: Sequence[str]) -> bool:
    """Tell whether the values of two columns agree with being ids and items, in this order.

    The lines of an id stand together, or there are more ids than items; and items come back under other
    ids, one in each line. Dates and amounts are no ids; addresses, telephone numbers and hashes are no items.
    A few lines agree with anything else.
    """
    amounts = sum(kind(value) in {"date", "number"} for value in ids)
    personal = sum(_PERSONAL.search(value) is not None for value in items)
    if max(amounts, personal) > (1 - SURE) * len(ids):
        return False
    if len(ids) < FEW:
        return True
    if sum(bool(set(item) & set(SEPARATORS)) for item in items) > LISTS * len(items):
        return False
    if are_different(items) or is_grouped(items):
        return False
    return is_grouped(ids) or len(set(ids)) >= len(set(items))


def are_swapped(ids: Sequence[str], items: Sequence[str]) -> bool:
    """Tell whether the values of two columns speak against being ids and items, in this order."""
    if len(ids) < MANY:
        return False
    return are_different(items) or (is_grouped(items) and not is_grouped(ids))


def has_header(rows: Rows) -> bool:
    """Tell whether the first line is unlike those below it.

    It is if a column of numbers or dates does not begin with one; else if none of its fields is a number, a
    date or empty, and none stands in its column again.
    """
    if len(rows) < 2:
        return False
    first, rest = rows[0], rows[1:]
    if len(first) > 2 and any(set(first) == {str(n + at) for n in range(len(first))} for at in (0, 1)):
        return True  # columns that are numbered
    plain = all(field and kind(field) in {"word", "code"} for field in first)
    for at, field in enumerate(first):
        below = [row[at] for row in rest if len(row) > at and row[at] not in MISSING]
        numeric = sum(kind(value) in {"integer", "number", "date"} for value in below)
        if below and numeric >= SURE * len(below) and kind(field) in {"word", "code"} and field:
            return True
        if below and field and field not in YES | NO and set(below) <= YES | NO and len(below) > 1:
            return True
        if field in below:
            plain = False
    return plain


def why_table(rows: Rows) -> str:
    """Say what speaks for a table in the first lines of a file; "" if nothing does.

    Parameters
    ----------
    rows : sequence of sequences of str
        Lines that are not blank, split into fields, blanks around these left out; empty fields are there.
    """
    if is_table(rows):
        width, share = common_width(rows)
        return f"{'every line has' if share == 1 else 'nearly all lines have'} {width} fields"
    if len(rows) == 1:
        return _why_one_line(rows[0])
    if _first_line_differs(rows):
        return "the first line is unlike the others"
    return why_ids([_trimmed(row) for row in rows])


def why_ids(rows: Rows) -> str:
    """Say what speaks for ids among the fields of lines, by their places; "" if nothing does."""
    rows = [row for row in rows if row]
    if sum(len(row) == 1 for row in rows) >= ALIKE * len(rows):
        values = [row[0] for row in rows]
        once = [value for value, times in Counter(values).items() if times == 1]
        numbered = sum(any(c.isdigit() for c in value) for value in once)
        if len(values) >= MANY and (2 * len(set(values)) >= len(values) or 5 * numbered >= len(values)):
            return "many of its lines stand there only once"
    for place, name in ((0, "first"), (1, "second"), (2, "third"), (-1, "last")):
        have = [row for row in rows if (len(row) > place if place >= 0 else len(row) > 1)]
        if len(have) < max(3, ALIKE * len(rows)):
            continue
        values = [row[place] for row in have if row[place]]
        at = [place if place >= 0 else len(row) - 1 for row in rows]
        others = [
            field for row, i in zip(rows, at, strict=True) for j, field in enumerate(row) if j != i and field
        ]
        if _are_ids(values, others):
            return f"the {name} field of nearly every line is a different one"
        if place in {0, -1} and _differ_in_kind(values, others):
            return f"the {name} field of the lines is of another kind than the others"
        different = set(values)
        if len(different) >= FEW and 4 * len(others) >= len(values) and _are_apart(values, others):
            return f"what stands in the {name} field stands in no other"
    return ""


def _why_one_line(row: Sequence[str]) -> str:
    """Tell a record, or a header without data, from a row of items."""
    if len(row) > 1 and any(kind(field) != "word" for field in row if field):
        return "there is one line, and it may be a record"
    return ""


def _trimmed(row: Sequence[str]) -> Sequence[str]:
    """Leave out empty fields at the end of a line."""
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _first_line_differs(rows: Rows) -> bool:
    """Tell whether the first line of ragged ones is a header: numbers under words, or words of its own."""
    if len(rows) < 3 or len(rows[0]) < 2:
        return False
    first, rest = rows[0], rows[1:]
    for at, field in enumerate(first):
        below = [row[at] for row in rest if len(row) > at and row[at]]
        numeric = sum(kind(value) in {"integer", "number", "date"} for value in below)
        if len(below) > 1 and numeric >= SURE * len(below) and kind(field) == "word" and field:
            return True
    if len(rows) < 2 * FEW or not all(kind(field) == "word" for field in first if field):
        return False
    again = {field for row in rest for field in row}
    as_long = sum(len(row) <= len(first) for row in rest)
    return not again.intersection(field for field in first if field) and as_long >= SURE * len(rest)


def _are_ids(values: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether a field that every line has looks like an id: values that nearly all differ."""
    if len(values) < FEW or not are_different(values):
        return False
    return len(values) >= MANY or _are_apart(values, others)


def _are_apart(values: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether hardly any of some values stand elsewhere."""
    elsewhere = set(others)
    return sum(value in elsewhere for value in values) <= (1 - SURE) * len(values)


def _differ_in_kind(values: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether one field of the lines is of one kind, and all others are of other kinds."""
    if len(values) < 3 or not others:
        return False
    usual, times = Counter(map(kind, values)).most_common(1)[0]
    elsewhere = sum(kind(value) == usual for value in others)
    return times >= SURE * len(values) and elsewhere <= (1 - SURE) * len(others)


def why_numbers_are_table(rows: Rows) -> str:
    """Say what speaks for a table in lines of integers between blanks; "" if nothing does.

    Sets of one size are common there, so only ids count, and short lines whose places share no number.
    """
    if _are_narrow_columns(rows):
        return f"every line has {len(rows[0])} numbers, and what stands in one place stands in no other"
    for place, name in ((0, "first"), (-1, "last")):
        values = [row[place] for row in rows if row]
        others = [field for row in rows for field in (row[1:] if place == 0 else row[:-1])]
        if _are_ids(values, others):
            return f"the {name} number of nearly every line is a different one"
    return ""


def why_arrays_are_table(rows: Rows) -> str:
    """Say what speaks for records in JSON arrays, which are rows of items unless ids stand in them."""
    if _are_narrow_columns(rows):
        return f"every array has {len(rows[0])} values, and what stands in one place stands in no other"
    return why_ids(rows)


def _are_narrow_columns(rows: Rows) -> bool:
    """Tell whether the places in short lines are columns.

    They are if no two share a value, or one of many values shares none or holds much longer numbers.
    """
    width, _ = common_width(rows)
    if len(rows) < 3 or not 1 < width <= NARROW or not is_table(rows):
        return False
    columns = {tuple(row[at] for row in rows if len(row) == width) for at in range(width)}
    places = [set(column) for column in columns]  # one column may stand twice
    apart = 0
    for place in places:
        others = set().union(*(other for other in places if other is not place))
        longest = max(map(len, others), default=0)
        if all(map(_INTEGER.fullmatch, place)) and min(map(len, place)) > longest + 1:
            return True
        if place.isdisjoint(others):
            apart += 1
            if len(place) >= FEW:
                return True
    return apart == len(places)
