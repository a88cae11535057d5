"""Finds the columns of a table that hold the same kind of items, such as DX1, DX2, ..."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from setveil.rows.data import answers, evidence, known_words
from setveil.rows.data.columns import numbered_alike
from setveil.rows.data.ids import look_like_ids
from setveil.rows.data.ids_in_lines import why_ids
from setveil.rows.data.likely_roles import (
    are_personal,
    holds_no_item,
    is_called_id,
    is_called_measured,
    may_hold_ids,
)
from setveil.rows.data.named_columns import NamedColumns
from setveil.rows.data.names import is_no_item
from setveil.rows.data.personal_forms import form_of, is_full_name

_SHORT = 2  # digits that ages and answers have
_ANY_COLUMN = re.compile(r"(.|col|column|field|var|variable|feature|value|unnamed|_)?[\W_]*", re.IGNORECASE)


def hold_somebody(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether values that stand only once are full names or IDs, as if short lines shift columns."""
    times = Counter(value for column in columns for value in column if value not in known_words.MISSING)
    once = [value for value, number in times.items() if number == 1]
    return sum(is_full_name(value) or look_like_ids([value], once=False) for value in once) > 1


def numbered_columns(table: NamedColumns) -> list[int]:
    """List the columns that are numbered alike under a name that says something, such as DX1, DX2."""
    if not table.header:
        return []
    named = {at: name for at, name in enumerate(table.names) if not is_no_item(name)}
    return numbered_alike(named, said=lambda stem: not _ANY_COLUMN.fullmatch(stem))


def of_one_kind(table: NamedColumns, values: Sequence[Sequence[str]]) -> list[int]:
    """Find columns that are numbered alike (DX1, DX2, ...), else those side by side that share values."""
    if alike := numbered_columns(table):
        return [] if any(_is_intruder(table, values, alike, at) for at in alike) else alike
    sets = [
        set()
        if is_called_id(table, at) or holds_no_item(table, at, column)
        else _shared(column) or _number_codes(table, at, column)
        for at, column in enumerate(values)
    ]
    if words := _of_own_words(table, values):
        return words
    runs: list[list[int]] = []
    for at in range(len(sets)):
        if sets[at] and not answers.is_mark(values[at]):
            if runs and runs[-1][-1] == at - 1 and _alike(sets[at - 1], sets[at]):
                runs[-1].append(at)
            else:
                runs.append([at])
    best = max((_with_sparse(run, values) for run in runs), key=len, default=[])
    rows = [
        [row[at] for at in best if at < len(row) and row[at] not in known_words.MISSING] for row in table.head
    ]
    return best if len(best) > 1 and not why_ids(rows) and not hold_ends(table.head, best) else []


def _with_sparse(columns: list[int], values: Sequence[Sequence[str]]) -> list[int]:
    """Add the columns that follow, which fewer and fewer lines fill: with values of those before, or none."""
    known = {value for at in columns for value in values[at]} - known_words.MISSING
    fewest = min(sum(value in known for value in values[at]) for at in columns)
    found, empty = [*columns], list[int]()
    for at in range(columns[-1] + 1, len(values)):
        filled = [value for value in values[at] if value not in known_words.MISSING]
        come_again = 2 * sum(value in known for value in filled) > len(filled)
        if not filled:
            empty.append(at)
        elif come_again and len(filled) <= fewest and len(filled) < len(values[at]):
            found, empty, fewest = [*found, *empty, at], [], len(filled)
            known.update(filled)
        else:
            return found
    return [*found, *empty]


def _of_own_words(table: NamedColumns, values: Sequence[Sequence[str]]) -> list[int]:
    """Find columns side by side of one word each, most their names, as forms write what was ticked."""
    best: list[int] = []
    run: list[int] = []
    for at, column in enumerate(values):
        found = set(column) - known_words.MISSING
        lacks = len(column) > sum(value in found for value in column)
        fits = lacks and len(found) < 2 and not found & (known_words.YES | known_words.TICKS)
        run = [*run, at] if fits else []
        best = max(best, run, key=len)
    words = [next(iter(set(values[at]) - known_words.MISSING), "") for at in best]
    filled = [(table.names[at], word) for at, word in zip(best, words, strict=True) if word]
    own = sum(name == word for name, word in filled)
    alone = len({word for _, word in filled}) == len(filled) > 1
    return best if table.header and alone and 2 * own >= len(filled) else []


def _number_codes(table: NamedColumns, at: int, values: Sequence[str]) -> set[str]:
    """Return the values of a column if they may be codes of items: numbers of three digits or more."""
    filled = [value for value in values if value not in known_words.MISSING]
    long = all(value.isdecimal() and len(value) > _SHORT for value in filled)
    if not long or len(filled) < evidence.MANY or is_called_measured(table, at) or may_hold_ids(filled):
        return set()
    return set() if evidence.is_grouped(values) else set(filled)


def _alike(one: set[str], other: set[str]) -> bool:
    """Return whether columns share values as items do; of numbers most, since ages and places share some."""
    both = len(one & other)
    numbers = all(value.isdecimal() for value in one | other)
    return 3 * both >= 2 * len(one | other) if numbers else 5 * both >= min(len(one), len(other))


def only_items_lack(table: NamedColumns, values: Sequence[Sequence[str]]) -> bool:
    """Return whether the last columns are numbered alike, and each of the others has values of one kind."""
    alike = numbered_alike(dict(enumerate(table.names))) if table.header else []
    if not alike or alike != list(range(alike[0], len(values))):
        return False
    kinds = [
        Counter(form_of(value) or known_words.kind(value) for value in values[at]) for at in range(alike[0])
    ]
    return all(max(found.values(), default=0) >= evidence.SURE * found.total() for found in kinds)


def hold_ends(rows: evidence.Rows, columns: Sequence[int]) -> bool:
    """Return whether lines end in columns with what only ends lines, as ids do."""
    filled = [[at for at, value in enumerate(row) if value not in known_words.MISSING] for row in rows]
    ends = [(row[at[-1]], at[-1]) for row, at in zip(rows, filled, strict=True) if at]
    times, last = Counter(value for row in rows for value in row), Counter(value for value, _ in ends)
    here = [times[value] == last[value] for value, at in ends if at in columns]
    return sum(here) >= max(evidence.SURE * len(here), 1)


def _is_intruder(
    table: NamedColumns, values: Sequence[Sequence[str]], columns: Sequence[int], at: int
) -> bool:
    """Return whether a column may hold ids, and shares hardly any value with others that are named alike."""
    filled = [value for value in values[at] if value not in known_words.MISSING]
    if is_called_id(table, at) or (filled and are_personal(filled)):
        return True
    others = {value for other in columns if other != at for value in values[other]}
    return all_differ(filled) and 5 * len(set(filled) & others) < len(set(filled))


def all_differ(values: Sequence[str]) -> bool:
    """Return whether many values differ, as those of IDs do."""
    return len(values) >= evidence.MANY and evidence.are_different(values)


def _shared(values: Sequence[str]) -> set[str]:
    """Return the values by which columns side by side are known to hold items; of what may be ids, none."""
    filled = [value for value in values if value not in known_words.MISSING]
    kinds = Counter(map(known_words.kind, filled))
    dates, numbers = kinds["date"] > (1 - evidence.SURE) * len(filled), kinds["integer"] == len(filled)
    return set() if dates or numbers or may_hold_ids(filled) or evidence.is_grouped(values) else set(filled)
