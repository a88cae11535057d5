"""Recognizes columns of IDs: by their names, their values, and the repetition of values.

A published ID reveals its person. If it is ignored but comes again, the lines of one person count as several
people, who seem to hide among each other. So an ID is never proposed for publication, and questioned if it is
named.

Unmistakable names decide alone (`patient_id`, `Versichertennummer`), vaguer ones (`no`, `key`) with values
that fit. Values decide alone if nothing else looks like them: telephone numbers, mail addresses, running
numbers, long codes, each on one line. Ages, dates, amounts and codes of places may differ on nearly every
line too, and are no IDs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import log

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import TableError, shorten
from setveil.base.wording import count
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Codes, as_field, split_names
from setveil.rows.data.names import (
    has_id_name,
    is_event,
    is_item_name,
    is_measured_name,
    is_no_item,
    is_people,
    is_person_id,
    is_place,
    names_others,
)
from setveil.rows.data.personal_forms import UNMISTAKABLE, is_long, is_mail, is_phone

_PREFIXED = re.compile(r"([^\W0-9]+[-_/ .]?)([0-9]{3,})", re.ASCII)
_DAY = re.compile(
    r"(19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])|([0-2][0-9]|3[01])(0[1-9]|1[0-2])(19|20)[0-9]{2}"
)
_PUBLIC = re.compile(  # codes of diagnoses, procedures, drugs and findings
    r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?|[A-Z][0-9]{2}(?:[A-Z]{1,2}(?:[0-9]{2})?)?|[0-9]+(?:\.[0-9]+)+"
    r"|[0-9]-[0-9]{3}(?:\.[0-9a-z]{1,2})?|[0-9]{4,5}-[0-9]{3,4}-[0-9]{1,2}|[0-9]{1,5}-[0-9]", re.ASCII,
)  # fmt: skip
_LONG_NUMBER = 6  # digits that hardly any postal code has
_OLDEST = 120  # numbers up to here may be ages
_SURE_CHANCE = log(10_000)  # so unlikely is no chance
_NAMED_CHANCE = log(1000)
_FEW_DIGITS = 3  # numbers of fewer may count people
_FEW_CODES = 100  # so many values may be codes of another column's
_HARDLY_TWICE, _SEVERAL_WORDS = 2, 4  # times and words from which on texts are free
_MANY_TWICE, _HARDLY = 9, 0.1  # items that come twice with one value by chance, and the share that ids have
_SOME_TWICE = 4  # if the column is named or written like IDs
# Values of people that come again: at least this many, on at most this many lines on average, and none on
# more than this multiple of the average and a few.
_MANY_PEOPLE, _FEW_LINES, _MORE_LINES, _A_FEW = 50, 20, 7, 3


@dataclass(frozen=True, eq=False)
class Values:
    """A column of texts."""

    name: str  # of the column
    codes: NDArray[np.integer]  # int (n_rows,): position in `labels` of the value of each row; -1: none
    labels: Sequence[str]  # each value once; "" where a value is missing

    @property
    def present(self) -> list[str]:
        """The values that some row has, but for those that are missing."""
        return [self.labels[at] for at in np.flatnonzero(self.times).tolist()]

    @property
    def is_grouped(self) -> bool:
        """Return whether the first values come again as IDs do if a person's lines are adjacent."""
        return are_grouped_ids([self.labels[at] for at in self.codes[: evidence.LINES].tolist()])

    @cached_property
    def times(self) -> Codes:
        """Return the number of rows with each value; missing values count for none."""
        missing = np.array([label in known_words.MISSING for label in self.labels], bool)
        codes = self.codes[self.codes >= 0] if self.codes.min(initial=0) < 0 else self.codes
        found: Codes = np.bincount(codes, minlength=len(self.labels))
        return np.where(missing, 0, found) if missing.size else found


def of_cells(name: str, cells: Sequence[str]) -> Values:
    """Make a column of the texts of its rows."""
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], np.int64)
    return Values(name, codes, list(numbers))


MOST_LINES = 50  # of one value, on average, above which it is no person


# --- values


def why_id(column: Values, *, items: bool = False) -> str:
    """Say why a column (for sets, its items) that is to be published looks like IDs; "" if it does not."""
    times = column.times
    labels = column.present
    rows = int(times.sum())
    if not rows or set(labels) <= known_words.YES | known_words.NO:
        return ""
    if is_person_id(column.name):
        return "it is named like person IDs"
    if items and is_people(column.name):
        return "it is named like persons"
    if _share(times, column.labels, is_mail) >= evidence.SURE:
        return "it contains mail addresses"
    if _share(times, column.labels, is_phone) >= evidence.SURE:
        return "it contains telephone numbers"
    if len(labels) < evidence.DIFFERENT * rows:
        return ""
    return _why_different(column.name, labels, rows, items=items)


def _why_different(name: str, labels: Sequence[str], rows: int, *, items: bool) -> str:
    """Say why values that differ on nearly every row look like ids."""
    if rows < evidence.FEW or is_place(name):
        return ""
    measured = are_measured(labels)
    every = f"it has {count(len(labels), 'different value')} in {count(rows, 'line')}"
    if has_id_name(name) and not measured:
        return f"{every}, and is named like an id"
    if sum(map(is_long, labels)) >= evidence.SURE * len(labels):
        return every
    if rows < evidence.MANY:
        return ""
    if items and not is_item_name(name):
        return f"{every}: hardly any comes again"
    return every if not measured and look_like_ids(labels, once=len(labels) == rows) else ""


def _share(times: Codes, labels: Sequence[str], fits_form: Callable[[str], bool]) -> float:
    """Return which share of the rows has values of a form."""
    fits = np.array([fits_form(label) for label in labels], bool)
    return float(times[fits].sum()) / max(float(times.sum()), 1)


def _kinds(labels: Sequence[str]) -> dict[str, int]:
    found = dict.fromkeys(("integer", "number", "date", "code", "word"), 0)
    for label in labels:
        found[known_words.kind(label)] += 1
    return found


def is_day(label: str) -> bool:
    """Return whether a number may be a day, such as 20240131."""
    return _DAY.fullmatch(label) is not None


def are_measured(labels: Sequence[str]) -> bool:
    """Return whether more than a few values are dates or numbers that are no integers."""
    kinds = _kinds(labels)
    return kinds["date"] + kinds["number"] > (1 - evidence.SURE) * len(labels)


def are_unmistakable(labels: Sequence[str]) -> bool:
    """Return whether values are mail addresses, telephone numbers, hashes or long numbers, however few."""
    sure = max(evidence.SURE * len(labels), 1)
    return any(sum(form.fullmatch(x) is not None for x in labels) >= sure for form in UNMISTAKABLE)


def look_like_ids(labels: Sequence[str], *, once: bool) -> bool:
    """Return whether different values are such as nothing but ids have; `once`: each is on one row only."""
    if are_unmistakable(labels):
        return True
    sure = evidence.SURE * len(labels)
    parts = [found for label in labels if (found := _PREFIXED.fullmatch(label))]
    if len(parts) >= sure and len({found[1] for found in parts}) <= 2:
        return True
    numbers = [label for label in labels if label.isascii() and label.isdigit()]
    if len(numbers) < sure or sum(_DAY.fullmatch(number) is not None for number in numbers) >= sure:
        return False
    if 2 * sum(number.endswith("00") for number in numbers) > len(numbers):
        return False  # rounded amounts
    values = sorted(map(int, numbers))
    span = values[-1] - values[0] + 1
    if once and values[0] in {0, 1} and span == len(values):
        return True  # running numbers
    if values[-1] > _OLDEST and not 1850 <= values[0] <= values[-1] <= 2100 and 4 * span <= 5 * len(values):
        return True
    lengths = sorted(map(len, numbers))
    if lengths[len(lengths) // 10] >= 7:
        return True
    least = {6: 100, 5: 500}.get(lengths[0], len(labels) + 1)
    return once and lengths[0] == lengths[-1] and len(labels) >= least


def are_grouped_ids(values: Sequence[str]) -> bool:
    """Return whether values come again on the next lines alone, as IDs do if a person's lines are adjacent.

    They are numbers or codes; days, amounts and words are no IDs.
    """
    different = list(dict.fromkeys(values))
    few = len(different) < max(evidence.MANY, len(values) / MOST_LINES)
    if few or len(different) >= evidence.DIFFERENT * len(values) or not evidence.is_grouped(values):
        return False
    codes = sum(known_words.kind(value) in {"integer", "code"} and not is_day(value) for value in different)
    return codes >= evidence.SURE * len(different)


def come_evenly(labels: Sequence[str], times: NDArray[np.integer]) -> bool:
    """Return whether many words, codes or long numbers come again a few times each, as IDs of people do.

    `times`: int (len(labels),), of lines with each. Of items a few are on far more lines than others. Codes
    written as those of diagnoses and drugs are, and short numbers, are no IDs.
    """
    number, lines = len(labels), int(times.sum())
    if number < _MANY_PEOPLE or not lines <= _FEW_LINES * number < _FEW_LINES * evidence.DIFFERENT * lines:
        return False
    if int(times.max()) > _MORE_LINES * lines / number + _A_FEW:
        return False
    return sum(map(_may_be_of_a_person, labels)) >= evidence.SURE * number


def _may_be_of_a_person(label: str) -> bool:
    """Return whether a value may be an ID that comes again: no date, short number, item or public code."""
    if _PUBLIC.fullmatch(label) or is_item_name(label):
        return False
    if label.isascii() and label.isdecimal():
        return len(label) >= _LONG_NUMBER and not is_day(label)
    return known_words.kind(label) in {"word", "code"}


def why_person(column: Values) -> str:
    """Say why values of a column whose lines are rows of their own may be those of people; "" if not."""
    if names_others(column.name) or is_measured_name(column.name) or is_no_item(column.name):
        return ""
    labels, times = column.present, column.times
    if not come_evenly(labels, times[times > 0]):
        return ""
    lines = count(int(times.sum()), "line")
    return f"its {count(len(labels), 'value')} come about equally often in {lines}, as people do"


_AS = {
    "qi": "as what someone may know, in ranges between two of them",
    "keep": "as they are",
    "set": "as items",
}


def published_id(where: str, name: str, why: str, role: str) -> TableError:
    """Make the error of a column that looks like ids and was named as `qi`, `keep` or `set`."""
    word = name.removeprefix("column ")
    return TableError(
        f"{where}: column {shorten(name)} looks like person IDs ({why}), and its values would be "
        f"published {_AS[role]}",
        (),
        [({"not_ids": as_field(word)}, f"{name} does not contain IDs: its values are published {_AS[role]}")],
        f"name it as the ID column (--id-column {word}) instead",
    )


def free_text(column: Values) -> str:
    """Say why items may be texts that people wrote: most have several words and stand there hardly twice."""
    times = column.times
    texts = [label for label, n in zip(column.labels, times.tolist(), strict=True) if 0 < n <= _HARDLY_TWICE]
    long = sum(len(label.split()) >= _SEVERAL_WORDS for label in texts)
    several = len(column.present)
    if is_item_name(column.name):  # whose texts are from a catalogue of products, drugs or diagnoses
        return ""
    if several < evidence.MANY or 2 * long <= several:
        return ""
    return f"{count(long)} of {count(several, 'different text')} have several words and come once or twice"


def published_text(where: str, name: str, why: str) -> TableError:
    """Make the error of items that may be free text."""
    word = name.removeprefix("column ")
    return TableError(
        f"{where}: column {shorten(name)} contains free text ({why}). Such texts may name people, and "
        "would be published as items",
        (),
        [({"not_ids": as_field(word)}, f"no text of {name} says who wrote it: texts are published as items")],
        "replace texts by codes or categories",
    )


def require_no_ids(
    where: str,
    columns: Iterable[Values],
    not_ids: str | Iterable[str] | None,
    *,
    by_line: bool = False,
) -> None:
    """Refuse columns of items that look like ids, unless they are named as none.

    `by_line`: whether each line is a row, so that no column is known as that of the ids.
    """
    fine = set(split_names(not_ids) if isinstance(not_ids, str) else not_ids or ())
    several = tuple(columns)
    for column in several:
        why = why_id(column, items=len(several) == 1)
        if not why and by_line:
            again = _why_groups(column) or why_person(column)
            why = again if again and _is_alone(column, several) else ""
        if why and not {column.name, column.name.removeprefix("column ")} & fine:
            raise published_id(where, column.name, why, "set")
        text = "" if {column.name, column.name.removeprefix("column ")} & fine else free_text(column)
        if text:
            raise published_text(where, column.name, text)


def _why_groups(column: Values) -> str:
    """Say why values group lines as IDs do; "" if they do not."""
    if is_item_name(column.name) or is_place(column.name) or not column.is_grouped:
        return ""
    return "equal values are on neighbouring lines only"


def _is_alone(column: Values, several: Sequence[Values]) -> bool:
    """Return whether hardly any value is in another column of items."""
    own = set(column.present)
    others = set(chain.from_iterable(one.present for one in several if one is not column))
    return len(own & others) <= (1 - evidence.SURE) * len(own)


# --- how values come again

DERIVED, LIKELY, SURE, NAMED = range(4)


@dataclass(frozen=True, eq=False)
class Again:
    """A column by which persons may be on several rows."""

    column: Values
    # several, unequal: how many of its values are on several rows, and how many of these have different
    # values of what somebody may know there
    several: int
    unequal: int
    classes: int  # how many combinations of what somebody may know there are
    # `NAMED`: it is named like person IDs. `SURE`: what someone may know is the same wherever a
    # value comes again, which is no chance, and does not follow from a single column. `LIKELY`: it does, but
    # the values behave like ids otherwise, too. `DERIVED`: they may as well say that column in other words.
    grade: int

    @property
    def values(self) -> int:
        """Return the number of values of the column."""
        return len(self.column.present)

    @property
    def looks_so(self) -> bool:
        """Return whether the column is named like ids, or its values are such as nothing but ids have."""
        by_values = look_like_ids(self.column.present, once=False) or self.column.is_grouped
        return has_id_name(self.column.name) or by_values

    @property
    def tells_apart(self) -> bool:
        """Return whether what someone may know tells most values apart, as it does persons."""
        return 2 * self.classes >= self.values


Items = tuple[Codes, NDArray[np.integer]]  # rows, and the item of each


def who_comes_again(
    columns: Sequence[Values],
    known: Sequence[NDArray[np.integer]],
    items: Items | None = None,
    least: int = LIKELY,
) -> Again | None:
    """Find the column, of several, by which the same persons are most likely on several rows.

    It is named like IDs of persons and has values on several rows; or all `known` values (one or more columns
    of int (rows,)) are the same on the rows of each of its values, which cannot be chance. Of several, the
    one that is named or looks like IDs counts, then the one with the fewest values: a person has stays, and a
    stay is of one person. `items`: of rows; no ID has one twice. `least`: the grade required.
    """
    found = [again for column in columns if (again := comes_again(column, known, items))]
    return min((one for one in found if one.grade >= least), key=rank, default=None)


def rank(again: Again) -> tuple[bool, bool, bool, int]:
    """Order columns by which persons come again: what is most likely their id first."""
    labels = again.column.present
    kinds = _kinds(labels)
    return (
        not is_person_id(again.column.name),
        not again.looks_so,
        kinds["date"] + kinds["number"] > 0,
        len(labels),
    )


def comes_again(
    column: Values,
    known: Sequence[NDArray[np.integer]],
    items: Items | None = None,
    *,
    published: bool = False,
) -> Again | None:
    """Return whether values, to be published or not, come again as ids do (see `who_comes_again`)."""
    times = column.times
    several = times > 1
    labels = column.present
    if not several.any() or set(labels) <= known_words.YES | known_words.NO:
        return None
    present = times[column.codes] > 0
    codes, others = column.codes[present].astype(np.int64), [some[present] for some in known]
    classes = together(others)
    n_classes = int(classes.max()) + 1
    pairs, shared = np.unique(codes * n_classes + classes, return_counts=True)
    parts = np.bincount(pairs // n_classes, minlength=times.size)
    number, unequal = int(several.sum()), int((several & (parts > 1)).sum())
    of_people = _are_people(column.name, labels) or (is_people(column.name) and column.is_grouped)
    if is_person_id(column.name) or of_people or are_addresses(column.name, labels):
        return Again(column, number, unequal, n_classes, NAMED)
    if number < 2 or is_place(column.name):
        return None
    if not published and (why_person(column) or (items and _are_ids_of_items(column, labels, items))):
        return Again(column, number, unequal, n_classes, LIKELY)
    if unequal > (1 - evidence.SURE) * number:
        return None
    alike = _pairs(np.bincount(classes)) - _pairs(shared)  # of two rows with different values
    all_pairs = _pairs(np.array([codes.size])) - _pairs(times)
    chance = min(max(alike, 0.5) / max(all_pairs, 0.5), 1.0)
    unlikely = -log(chance) * float((times[several & (parts == 1)] - 1).sum())
    named = has_id_name(column.name)
    if unlikely < (_NAMED_CHANCE if named else _SURE_CHANCE):
        return None
    if named or _are_independent(others):
        return Again(column, number, unequal, n_classes, SURE)
    return Again(
        column, number, unequal, n_classes, LIKELY if _behaves(column, labels, codes, items) else DERIVED
    )


def _are_people(name: str, labels: Sequence[str]) -> bool:
    """Return whether a column is named like people, and has their names or IDs, not how many there are."""
    return is_people(name) and not all(label.isdecimal() and len(label) < _FEW_DIGITS for label in labels)


def _are_independent(known: Sequence[NDArray[np.integer]]) -> bool:
    """Return whether columns, all or without the finest, identify more than any single one of them."""
    sizes = [int(np.unique(codes).size) for codes in known]
    if int(together(known).max()) + 1 > max(sizes):
        return True
    rest = [codes for at, codes in enumerate(known) if at != sizes.index(max(sizes)) and sizes[at] > 1]
    return len(rest) > 1 and int(together(rest).max()) + 1 > max(int(np.unique(codes).size) for codes in rest)


def _behaves(column: Values, labels: Sequence[str], codes: Codes, items: Items | None) -> bool:
    """Return whether values that may say the same as another column are ids all the same."""
    if len(labels) < evidence.FEW:
        return False
    if items is not None and _once_each(column, items):
        return True
    if are_measured(labels):
        return False
    runs = int((codes[1:] != codes[:-1]).sum()) + 1
    return look_like_ids(labels, once=False) or (
        runs == len(labels) > _FEW_CODES
    )  # the lines of an id stand together


def _are_ids_of_items(column: Values, labels: Sequence[str], items: Items) -> bool:
    """Return whether most lines have an ID, by its name or form, that comes again and has no item twice.

    By name, an ID may also have an item twice if its lines are adjacent.
    Then the lines of an ID belong together, also if what someone may know differs among them.
    """
    times = column.times
    if 2 * int(times[times > 1].sum()) <= int(times.sum()) or are_measured(labels):
        return False
    own = not names_others(column.name) and (has_id_name(column.name) or look_like_ids(labels, once=False))
    if own and has_id_name(column.name) and column.is_grouped:
        return True
    return (own or is_event(column.name)) and _once_each(column, items, _SOME_TWICE)


def _once_each(column: Values, items: Items, least: float = _MANY_TWICE) -> bool:
    """Return whether no item comes twice with one value, though by chance many would."""
    rows, codes = items
    values = column.codes[rows].astype(np.int64)
    times = np.bincount(values)
    twice = rows.size - np.unique(values * (int(codes.max(initial=0)) + 1) + codes).size
    by_chance = _pairs(times) * _pairs(np.bincount(codes)) / max(_pairs(np.array([rows.size])), 1)
    return by_chance > least and twice <= _HARDLY * by_chance


def together(columns: Sequence[NDArray[np.integer]]) -> Codes:
    """Give the combinations of values of columns numbers from 0: int64 (rows,)."""
    found = np.unique(columns[0], return_inverse=True)[1].astype(np.int64)
    for codes in columns[1:]:
        found = np.unique(found * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return np.asarray(found, np.int64)


def _pairs(times: Codes) -> float:
    """Count the pairs of rows that have the same value."""
    return float((times.astype(np.float64) * (times - 1)).sum()) / 2


def are_addresses(name: str, labels: Sequence[str]) -> bool:
    """Return whether values are mail addresses or telephone numbers, but for those that many people share."""
    found = sum(is_mail(label) or is_phone(label) for label in labels)
    return len(labels) > 1 and found >= evidence.SURE * len(labels) and not names_others(name)


def may_come_again(name: str, values: Sequence[str]) -> bool:
    """Return whether the first values of a column suggest that it shows repeated persons."""
    present = [value for value in values if value not in known_words.MISSING]
    of_people = _are_people(name, present) or (is_people(name) and are_grouped_ids(present))
    if is_person_id(name) or of_people or are_addresses(name, present):
        return True
    if not present or set(present) <= known_words.YES | known_words.NO:
        return False
    if is_place(name) or (len(set(present)) < 3 and len(present) >= evidence.MANY):
        return False
    return _kinds(present)["number"] <= (1 - evidence.SURE) * len(present)
