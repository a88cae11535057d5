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

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import TableError, shorten
from setveil.base.wording import count
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Codes, as_field, split_names
from setveil.rows.data.names import (
    has_id_name,
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
_HARDLY_TWICE, _SEVERAL_WORDS = 2, 4  # times and words from which on texts are free
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
    fits = np.array([fits_form(label) for label in labels], bool)
    return float(times[fits].sum()) / max(float(times.sum()), 1)


def kinds_of(labels: Sequence[str]) -> dict[str, int]:
    """Count the values of each kind (see `known_words.kind`)."""
    found = dict.fromkeys(("integer", "number", "date", "code", "word"), 0)
    for label in labels:
        found[known_words.kind(label)] += 1
    return found


def is_day(label: str) -> bool:
    """Return whether a number may be a day, such as 20240131."""
    return _DAY.fullmatch(label) is not None


def are_measured(labels: Sequence[str]) -> bool:
    """Return whether more than a few values are dates or numbers that are no integers."""
    kinds = kinds_of(labels)
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
    """Return whether numbers or codes come again on the next lines alone, as IDs of adjacent lines do."""
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
    """Refuse columns of items that look like IDs, unless named as none; `by_line`: each line is a row."""
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
    if is_item_name(column.name) or is_place(column.name) or not column.is_grouped:
        return ""
    return "equal values are on neighbouring lines only"


def _is_alone(column: Values, several: Sequence[Values]) -> bool:
    """Return whether hardly any value is in another column of items."""
    own = set(column.present)
    others = set(chain.from_iterable(one.present for one in several if one is not column))
    return len(own & others) <= (1 - evidence.SURE) * len(own)
