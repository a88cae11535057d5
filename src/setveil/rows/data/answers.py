"""Columns of answers and marks: the same few values in each, such as 1 for yes, 2 for no and -99 for none.

In a list of items no item stands twice. In columns of answers most lines contain a value twice or more, and
there are only a few values. Which of them means that the item of a column is there is asked, not guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set

from setveil.base.errors import shorten
from setveil.rows.data.evidence import FEW
from setveil.rows.data.known_words import MISSING, NO, TICKS, YES, kind

MOST = 12  # different answers of a column
_CODE = 3  # signs of a code, such as I10, and codes that are no answers
_OFFERED = 3  # of these are shown as what may mean that an item is there
_FILLED = 0.5  # of the cells contain an answer
_NONE = re.compile(r"-[0-9]+|99+|n\.? ?a\.?|k\.? ?a\.?|(no|keine?|sans) .*|missing|unknown", re.IGNORECASE)
_AGREEING = (
    "yes y t v ja j oui si s\u00ed sim s\u00ec tak ano igen evet da joo kyll\u00e4 \u0434\u0430 \u306f\u3044 "
    "\u662f true wahr vrai x checked ticked selected chosen mentioned quoted genannt ausgew\u00e4hlt "
    "gew\u00e4hlt angekreuzt coch\u00e9 choisi marcado"
)
_REFUSING = "no n f nein non n\u00e3o nao nie ne nem nu ei \u043d\u0435\u0442 false falsch faux 0"
_AGREE, _REFUSE = (frozenset(words.split()) for words in (_AGREEING, _REFUSING))
_TICKED = [frozenset(found) for found in ("x", "X", "y", "Y", "yn", "YN")]


def values_of(columns: Sequence[Sequence[str]]) -> list[str]:
    """List the few values that columns hold as answers, most frequent first; empty: they are none.

    >>> values_of([["1", "2", "2", "1", "2"], ["2", "2", "2", "1", "1"]])
    ['2', '1']
    >>> values_of([["I10", "E11", "I10", "I50", "J18"], ["E11", "", "I50", "", ""]])
    []
    """
    times = Counter(value for column in columns for value in column if value not in MISSING)
    rows = [[value for value in row if value not in MISSING] for row in zip(*columns, strict=False)]
    if len(columns) < 2 or len(rows) < FEW or not 1 <= len(times) <= MOST:
        return []
    if len(times) > 1 and times.total() < _FILLED * len(rows) * len(columns):
        return []
    codes = [value for value in times if len(value) >= _CODE and kind(value) in {"code", "integer"}]
    if len(codes) >= _CODE and 2 * len(codes) > len(times):
        return []
    again = sum(len(set(row)) < len(row) for row in rows)
    shared = all(len(set(column) & times.keys()) for column in columns)
    return [value for value, _ in times.most_common()] if shared and (2 * again > len(rows)) else []


def likely_yes(values: Sequence[str]) -> list[str]:
    """List the values that may mean that an item is there, best first.

    >>> likely_yes(["2", "1", "-99"]), likely_yes(["nicht genannt", "genannt"]), likely_yes(["3", "1", "2"])
    (['1'], ['genannt'], ['3', '2', '1'])
    """
    there = [value for value in values if not _NONE.fullmatch(value)] or list(values)
    agree = [value for value in there if value.casefold() in _AGREE or (value in YES and len(value) > 1)]
    if agree:
        return agree
    ends = [
        one
        for one in there
        if any(other != one and other.casefold().endswith(one.casefold()) for other in there)
    ]
    if ends and not all(value.isdigit() for value in there):
        return ends
    if set(there) <= {"0", "1", "2"} and "1" in there and len(there) < 3:
        return ["1"]
    left = [value for value in there if value.casefold() not in _REFUSE and value not in NO] or there
    numbers = all(value.isdigit() for value in left)
    return sorted(left, key=lambda value: -int(value))[:_OFFERED] if numbers else left[:_OFFERED]


def meaning(value: str) -> str:
    """Say what a reading with a value means."""
    return f"an item for each column that contains {shorten(value)}"


def are_marks(values: Set[str]) -> bool:
    """Return whether columns contain nothing but marks: whether what each is named after is there."""
    found = values - MISSING
    return bool(found & YES and found <= YES | NO) or found in _TICKED


def is_mark(values: Sequence[str]) -> bool:
    """Return whether a column contains nothing but marks, and some lines have none."""
    found = set(values)
    return are_marks(found) and not found <= YES | TICKS


def columns_of_marks(columns: Sequence[Sequence[str]]) -> list[int]:
    """List columns of marks; of several, an item that all lines have, or none, is one of them."""
    marks = [at for at, values in enumerate(columns) if is_mark(values)]
    if len(marks) < 2:
        return marks
    return [at for at, values in enumerate(columns) if at in marks or set(values) <= {"0", "1"}]
