"""Recognizes the column by which persons are on several rows, by how its values come again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Codes
from setveil.rows.data.ids import Values, are_grouped_ids, are_measured, kinds_of, look_like_ids, why_person
from setveil.rows.data.names import has_id_name, is_event, is_people, is_person_id, is_place, names_others
from setveil.rows.data.personal_forms import is_mail, is_phone

_SURE_CHANCE = log(10_000)  # so unlikely is no chance
_NAMED_CHANCE = log(1000)
_FEW_DIGITS = 3  # numbers of fewer may count people
_FEW_CODES = 100  # so many values may be codes of another column's
_MANY_TWICE, _HARDLY = 9, 0.1  # items that come twice with one value by chance, and the share that ids have
_SOME_TWICE = 4  # if the column is named or written like IDs

DERIVED, LIKELY, SURE, NAMED = range(4)


@dataclass(frozen=True, eq=False)
class Again:
    """A column by which persons may be on several rows."""

    column: Values
    # several, unequal: how many of its values are on several rows, and how many of these have different
    # values of what someone may know there
    several: int
    unequal: int
    classes: int  # how many combinations of what someone may know there are
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
    kinds = kinds_of(labels)
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
    return kinds_of(present)["number"] <= (1 - evidence.SURE) * len(present)
