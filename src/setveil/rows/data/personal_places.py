"""IDs at positions of fields, in rows of files without columns and in lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from setveil.rows.data import evidence, known_words
from setveil.rows.data.ids import MOST_LINES, are_grouped_ids, come_evenly, is_day, look_like_ids
from setveil.rows.data.names import is_person_id
from setveil.rows.data.personal import (
    GAP,
    IDS,
    LAST,
    Personal,
    PersonalColumn,
    bare,
    column_of,
    forms,
    forms_inside,
)
from setveil.rows.data.personal_forms import ADDRESS, addresses

_FIELDS = 12  # positions from the first on in which IDs are looked for, besides the last two
_AGAIN = 0.5  # share of different values from which on IDs may come again anywhere
_GROUPED = 0.1  # the same, if equal IDs stand on neighbouring lines
_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]*[.'\u2019]?(?:[ '\u2019-]{1,2}[^\W\d_a-z][^\W\d_]*\.?){1,3}")
_MANY_INTEGERS = 50  # integers that differ on this many lines, and come back nowhere, are IDs


def personal_fields(
    indptr: NDArray[np.integer],
    codes: NDArray[np.integer],
    labels: Sequence[str],
    places: Sequence[int] | None = None,
) -> tuple[PersonalColumn, ...]:
    """Find what rows of fields have of single persons, by positions (see `places_of_ids`)."""
    indptr, codes = _without_gaps(indptr, codes)
    if not codes.size:
        return ()
    places = places_of_ids(indptr, codes, labels) if places is None else places
    several = [column_at_place(at, ids) for at, ids in _ids_at(places, indptr, codes, labels)]
    for kind, some_labels in chain(forms(labels).items(), forms_inside(labels).items()):
        wanted = set(some_labels)
        at = np.flatnonzero(np.array([label in wanted for label in labels], bool)[codes])
        number = at - indptr[np.searchsorted(indptr, at, side="right") - 1] + 1
        for one in np.unique(number).tolist():
            values = [labels[code] for code in np.unique(codes[at[number == one]]).tolist()]
            if kind == ADDRESS:  # others beside them may be known as such by these alone
                here = np.unique(codes[fields_at(indptr, one - 1)]).tolist()
                values += addresses([labels[code] for code in here])
            several.append(column_of(_field(str(one)), str(one), kind, values))
    return tuple(several)


def ids_in_lists(
    name: str, indptr: NDArray[np.integer], codes: NDArray[np.integer], labels: Sequence[str]
) -> tuple[PersonalColumn, ...]:
    """Find the IDs at positions of the lists of a column, if most hold several values and are no lines."""
    indptr, codes = _without_gaps(indptr, codes)
    lengths = np.diff(indptr)
    if 2 * np.count_nonzero(lengths > 1) <= np.count_nonzero(lengths):
        return ()
    found = _ids_at(places_of_ids(indptr, codes, labels), indptr, codes, labels)
    return tuple(column_of(name, bare(name), IDS, ids) for _, ids in found)


def _ids_at(
    places: Sequence[int], indptr: NDArray[np.int64], codes: NDArray[np.integer], labels: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """List the values of each of some positions that stand at no other."""
    total = np.bincount(codes if places else codes[:0], minlength=len(labels))
    for place in places:
        here = np.bincount(codes[fields_at(indptr, place)], minlength=len(labels))
        yield place, [labels[at] for at in np.flatnonzero((here > 0) & (here == total)).tolist()]


def column_at_place(place: int, ids: Sequence[str]) -> PersonalColumn:
    """Name the IDs that stand at a position of rows."""
    named = _named_place(place)
    return column_of(_field(named), named, IDS, ids)


def people_at_places(
    indptr: NDArray[np.integer],
    codes: NDArray[np.integer],
    labels: Sequence[str],
    places: Iterable[int],
    not_ids: str | Iterable[str] | None,
) -> Iterator[tuple[str, int, int]]:
    """List the positions of IDs (`places`), with the number of IDs and of the rows that have one."""
    for place in places:
        named = _named_place(place)
        if not Personal((column_of(_field(named), named, IDS, ()),)).without(not_ids).columns:
            continue
        bounds, items = _without_gaps(indptr, codes)
        at = fields_at(bounds, place)
        values = items[at]
        people = np.unique(values)
        header = int(is_person_id(labels[values[0]]))
        others = np.delete(items, at)
        alone = 2 * np.count_nonzero(np.diff(bounds) > 1) <= values.size
        apart = not header and np.count_nonzero(np.diff(values)) + 1 > people.size
        if alone or (apart and np.unique(others).size * values.size >= people.size * others.size):
            continue  # whole rows, or items that come again as seldom as all others do
        yield _field(named), people.size - header, values.size - header


def _named_place(place: int) -> str:
    return str(place + 1) if place >= 0 else LAST[place]


def _without_gaps(
    indptr: NDArray[np.integer], codes: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Omit the fields that are no items."""
    bounds, items = np.asarray(indptr, np.int64), np.asarray(codes)
    if items.size and items.min() < 0:
        bounds, items = np.concatenate(([0], np.cumsum(items >= 0)))[bounds], items[items >= 0]
    return bounds, items


def fields_at(indptr: NDArray[np.int64], place: int) -> NDArray[np.int64]:
    """Find the fields that stand at a position, counted from 0, or from -1 at the end."""
    lengths = np.diff(indptr)
    if place >= 0:
        return indptr[:-1][lengths > place] + place
    return indptr[1:][lengths > -place] + place


def places_of_ids(
    indptr: NDArray[np.integer], codes: NDArray[np.integer], labels: Sequence[str]
) -> list[int]:
    """List the positions whose values behave like IDs: 0, 1, ..., or -1, -2, ... from the end."""
    indptr, codes = _without_gaps(indptr, codes)
    lengths = np.diff(indptr)
    filled = int(np.count_nonzero(lengths))
    if filled < evidence.MANY or len(labels) * MOST_LINES < evidence.ALIKE * filled:  # too few for `_behave`
        return []
    total = np.bincount(codes, minlength=len(labels))
    longest = int(lengths.max())
    same = longest == int(lengths[lengths > 0].min())
    places = [*range(min(_FIELDS, longest)), *([] if same and longest <= _FIELDS else [-1, -2])]
    return [place for place in places if _behave(codes[fields_at(indptr, place)], labels, total, filled)]


def _behave(
    values: NDArray[np.integer], labels: Sequence[str], total: NDArray[np.integer], filled: int
) -> bool:
    if values.size < max(evidence.MANY, evidence.ALIKE * filled):
        return False
    here = np.bincount(values, minlength=total.size)
    different = np.flatnonzero(here)
    stay = different[here[different] == total[different]]
    if total[values[0]] == 1 and is_person_id(labels[values[0]]):  # the name of a column
        return bool(2 * stay.size > different.size)
    if _count_lines([labels[at] for at in values[: evidence.LINES].tolist()]) and 2 * stay.size > values.size:
        return True
    if int(here[stay].sum()) < evidence.SURE * values.size or stay.size < evidence.SURE * different.size:
        return False
    share = different.size / values.size
    runs = int(np.count_nonzero(values[1:] != values[:-1])) + 1
    if runs == different.size and are_grouped_ids([labels[at] for at in values[: evidence.LINES].tolist()]):
        return True
    if come_evenly([labels[at] for at in different.tolist()], here[different]):
        return True
    if share < _GROUPED:
        return False
    if share >= evidence.DIFFERENT:
        some = [labels[at] for at in stay.tolist()]
        return _are_written_so(some, once=stay.size == values.size) or _are_names(some) or _contain_ids(some)
    if share < _AGAIN and runs > different.size:
        return False
    return look_like_ids([labels[at] for at in stay.tolist()], once=False)


def _count_lines(values: Sequence[str]) -> bool:
    """Return whether values are the numbers of the lines, from whatever number on, but for a header."""
    numbers = [int(value) for value in values[1:] if value.isascii() and value.isdigit() and len(value) < 18]
    return len(numbers) + 1 == len(values) and all(b - a == 1 for a, b in pairwise(numbers))


def _are_written_so(labels: Sequence[str], *, once: bool) -> bool:
    """Return whether values that differ on nearly every line are written like IDs."""
    kinds = Counter(known_words.kind(label) for label in labels[: evidence.LINES])
    if kinds["date"] + kinds["number"] > (1 - evidence.SURE) * kinds.total():
        return False
    if kinds["code"] >= evidence.SURE * kinds.total() or look_like_ids(labels, once=once):
        return True
    integers = [label for label in labels if label.isascii() and label.isdigit()]
    written = sum(is_day(label) or label.endswith("00") for label in integers)
    return len(integers) >= max(_MANY_INTEGERS, evidence.SURE * len(labels)) and 2 * written < len(integers)


def _are_names(labels: Sequence[str]) -> bool:
    some = labels[: evidence.LINES]
    return sum(_NAME.fullmatch(label) is not None for label in some) >= evidence.SURE * len(some)


def _contain_ids(labels: Sequence[str]) -> bool:
    lines = [list(filter(None, GAP.split(label))) for label in labels[: evidence.LINES]]
    if sum(len(line) > 1 for line in lines) < evidence.SURE * len(lines):
        return False
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(word, len(numbers)) for line in lines for word in line], np.int64)
    return bool(places_of_ids(np.cumsum([0, *map(len, lines)]), codes, list(numbers)))


def _field(named: str) -> str:
    return f"field {named}" if named.isdigit() else f"the {named} field"
