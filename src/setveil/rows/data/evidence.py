"""Evidence for columns: lines of one length, values that differ or come again, cells that are lists.

Only values count here, never the name of a column: names decide nothing that could publish IDs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from setveil.rows.data.known_words import INTEGER, MISSING, is_total, kind
from setveil.rows.data.personal_forms import is_full_name, is_personal, likely_form

Rows = Sequence[Sequence[str]]

SEPARATORS = ",;\t|"
LINES = 5000  # of a file that are looked at
ALIKE = 0.8  # so many lines of one length make a table: exports have title lines, totals and broken lines
DIFFERENT = 0.9  # so many different values in a column are ids
SURE = 0.9
LISTS = 0.2  # so many cells with separators are lists
FEW, MANY = 5, 20  # lines from which on the values of a column say something, and something by themselves
_WRITTEN = re.compile(r"\s*(\[.*\]|\{.*\})\s*", re.DOTALL)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_LISTED = re.compile(r"[0-9]{1,15}", re.ASCII)  # a number in a list


def common_width(rows: Rows) -> tuple[int, float]:
    """Return the most frequent number of fields of a line, and the share of the lines that have it."""
    if not rows:
        return 0, 0.0
    width, lines = Counter(map(len, rows)).most_common(1)[0]
    return width, lines / len(rows)


def has_columns(rows: Rows) -> bool:
    """Return whether nearly all lines have the same number of fields, two or more."""
    width, share = common_width(rows)
    return len(rows) > 1 and width > 1 and share >= ALIKE


def end_alike(rows: Rows) -> bool:
    """Return whether lines of different lengths have about one kind of value per place from their end."""
    least = min(map(len, rows), default=0)
    if common_width(rows)[1] < ALIKE and are_numbered_lists(rows, -1):
        return True
    if len(rows) < MANY // 2 or least < 2 or common_width(rows)[1] >= ALIKE:
        return False

    def of_one_kind(place: int) -> bool:
        kinds = Counter(likely_form(row[place]) or kind(row[place]) for row in rows)
        return kinds.most_common(1)[0][1] >= SURE * len(rows)

    return sum(map(of_one_kind, range(-least, 0))) > sum(map(of_one_kind, range(least)))


def are_numbered_lists(rows: Rows, place: int) -> bool:
    """Return whether lines are ascending integers, with a larger one before (0) or after them (-1).

    >>> are_numbered_lists([["3", "7", "9001"], ["5", "9002"], ["1", "4", "6", "9003"]], -1)
    False
    >>> are_numbered_lists([[str(9000 + at), "3", "5", str(6 + at)] for at in range(5)], 0)
    True
    """
    if len(rows) < FEW or any(INTEGER.fullmatch(field) is None for row in rows for field in row):
        return False
    numbers = [[*map(int, row)] for row in rows if len(row) > 1]
    lists = [row[1:] if place == 0 else row[:-1] for row in numbers]
    ids = {row[place] for row in numbers}
    ascending = all(a < b for row in lists for a, b in pairwise(row))
    several = sum(len(row) > 1 for row in lists) >= FEW
    return several and ascending and len(ids) == len(rows) and min(ids) > max(row[-1] for row in lists)


def are_different(values: Sequence[str]) -> bool:
    """Return whether nearly all values differ, as ids do."""
    return len(set(values)) >= DIFFERENT * len(values)


def is_grouped(values: Sequence[str]) -> bool:
    """Return whether equal values are next to each other only, as ids do where a table is sorted by them."""
    runs = sum(a != b for a, b in pairwise(values)) + 1
    return runs == len(set(values))


def is_id_and_item(ids: Sequence[str], items: Sequence[str]) -> bool:
    """Return whether the values of two columns agree with being IDs and items, in this order.

    The lines of an ID are adjacent, or there are more IDs than items; and items come back under other IDs,
    one a line. Dates and amounts are no IDs; addresses, telephone numbers and hashes are no items. A few
    lines agree with anything.
    """
    amounts = sum(kind(value) in {"date", "number"} for value in ids)
    personal = sum(map(is_personal, items))
    if max(amounts, personal) > (1 - SURE) * len(ids):
        return False
    if len(ids) < FEW:
        return not sign_of_few(items, named=True)
    if sum(bool(set(item) & set(SEPARATORS)) for item in items) > LISTS * len(items):
        return False
    if are_different(items) or is_grouped(items) or list_sign(items):
        return False
    return is_grouped(ids) or len(set(ids)) >= len(set(items))


def are_swapped(ids: Sequence[str], items: Sequence[str]) -> bool:
    """Return whether the values of two columns speak against being ids and items, in this order."""
    if len(ids) < MANY:
        return False
    return are_different(items) or (is_grouped(items) and not is_grouped(ids))


def are_written_lists(values: Sequence[str]) -> bool:
    """Return whether programs wrote lists into nearly all cells: in brackets, with commas between items."""
    return bool(values) and sum(map(bool, map(_WRITTEN.fullmatch, values))) >= SURE * len(values)


def list_sign(values: Sequence[str]) -> str:
    """Name the sign that stands between several items in many cells of a column; "" if none does.

    Items stand anywhere in a list: what comes first in one comes later in others. The words of one name do
    not (``milk, whole`` and ``milk, skim``). Between blanks only numbers and codes may be items.
    """
    filled = [value for value in values if value not in MISSING]
    if are_written_lists(filled) and sum("," in value for value in filled) >= FEW:
        return ","
    plain = [value for value in filled if kind(value) not in {"number", "date"}]
    for sign in (";", "|", "\t", ",", " "):
        if are_sorted_lists(filled, sign):
            return sign
        outside = [value for value in plain if sign in _IN_BRACKETS.sub("", value)]
        parts = [[part.strip(" \t") for part in split_outside(value, sign)] for value in outside]
        lists = [[part for part in row if part not in MISSING and not is_total(part)] for row in parts]
        if len(lists) < FEW or len(lists) <= LISTS * len(filled):
            continue
        if sign == " " and not all(any(c.isdigit() for c in part) for row in lists for part in row):
            continue
        later = {part for row in lists for part in row[1:]}
        earlier = {part for row in lists for part in row[:-1]}
        starts = sum(row[:1] != [] and row[0] in later for row in lists)
        ends = sum(row[:1] != [] and row[-1] in earlier for row in lists)
        if min(starts, ends) >= LISTS * len(lists):
            return sign
    return ""


def sign_of_few(values: Sequence[str], *, named: bool) -> str:
    """Name the sign between items in few cells that are lists: their items come again in others."""
    filled = [value for value in values if value not in MISSING]
    if len(filled) >= MANY or any(kind(value) in {"number", "date"} for value in filled):
        return ""
    for sign in ";|,":
        rows = [[part.strip(" \t") for part in value.split(sign) if part.strip(" \t")] for value in filled]
        times = Counter(part for row in rows for part in {*row})
        lists = [row for row in rows if len(row) > 1]
        again = sum(any(times[part] > 1 for part in row) for row in lists)
        if len(lists) < 2 or any(map(is_personal, times)):
            continue
        if come_anywhere(rows) or (named and 2 * again > len(lists)):
            return sign
    return ""


def split_outside(text: str, sign: str) -> list[str]:
    """Split a text at a sign, but not within round brackets.

    >>> split_outside("Switch, Controller (ODL, NSX)", ",")
    ['Switch', ' Controller (ODL, NSX)']
    """
    if "(" not in text:
        return text.split(sign)
    hidden = _IN_BRACKETS.sub(lambda found: found[0].replace(sign, "\0"), text)
    return [part.replace("\0", sign) for part in hidden.split(sign)]


def are_sorted_lists(values: Sequence[str], sign: str) -> bool:
    """Return whether many values are ascending numbers with a sign between them, and not decimals."""
    parts = [value.strip(sign + " ").split(sign) for value in values if sign in value]
    rows = [[part.strip(" \t") for part in row if part.strip(" \t")] for row in parts]
    long = [row for row in rows if len(row) > 2]
    if len(rows) < FEW or len(rows) <= LISTS * len(values) or len(long) < FEW:
        return False
    if not all(_LISTED.fullmatch(part) for row in rows for part in row) or len(set(map(len, rows))) < 2:
        return False
    if sign == "," and all(len(part) == 3 for row in rows for part in row[1:]):
        return False
    return sum(all(int(a) < int(b) for a, b in pairwise(row)) for row in rows) >= SURE * len(rows)


def come_anywhere(rows: Rows) -> bool:
    """Return whether the words of few lines come anywhere, and few lines have one to themselves."""
    rows = [row for row in rows if row]
    first = {row[0] for row in rows}.isdisjoint(word for row in rows for word in row[1:])
    last = {row[-1] for row in rows}.isdisjoint(word for row in rows for word in row[:-1])
    times = Counter(word for row in rows for word in {*row})
    once = {word for word, number in times.items() if number == 1}
    if len(rows) < 3 or first or last or 2 * sum(not once.isdisjoint(row) for row in rows) >= len(rows):
        return False
    if any(kind(word) != "word" for word in once) or any(kind(word) == "date" for word in times):
        return False
    return not any(is_full_name(" ".join(pair)) for row in rows for pair in pairwise(row))
