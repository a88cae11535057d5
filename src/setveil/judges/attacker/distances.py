"""Rows found by a distance between two dates: two codes and the days between are known, but no date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError
from setveil.kernels.rows import Ints
from setveil.releases.published.boxes import Boxes
from setveil.releases.published.facts import FactRows
from setveil.rows.data.draws import row_keys
from setveil.rows.data.exposed import Exposed
from setveil.rows.facts.dates import in_period, span_of
from setveil.rows.facts.facts import MISSING, Facts, SetColumn

_MOST_PAIRS = 50_000_000
_LAST = date.max.toordinal()
_PEOPLE = 1000  # of whom a release is asked


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between two facts of a row: the codes of both, the earlier first, and the days between."""

    row: Ints
    first: Ints  # code of the earlier fact (see `codes_of`); of two on one day the first in item order
    second: Ints
    days: Ints
    support: Ints  # rows with the same two codes at the same distance


def has_days(rows: Exposed) -> TypeGuard[Facts]:
    """Return whether rows are facts, and the date of each fact of some column is known to the day."""
    return rows.only_facts and rows.facts is not None and any(map(_days_at, rows.facts.columns))


def distances_of(facts: Facts) -> Distances:
    """List the distances of all rows, each once; those of facts without a date are none."""
    code_of, day_of = codes_of(facts), np.zeros(facts.n_items, np.int64)
    for number, column in enumerate(facts.columns):
        at = _days_at(column)
        if at:
            tree = column.attributes[at - 1].tree
            labels = tree.labels[: tree.n_leaves]
            days = np.array([0 if label == MISSING else _ordinal(label) for label in labels], np.int64)
            day_of[facts.items_of(number)] = days[facts.parts_of(number)[:, at]]
    row = np.repeat(np.arange(facts.n_rows), facts.row_lengths())
    code, day = code_of[facts.items], day_of[facts.items]
    order = np.lexsort((code, day, row))
    order = order[day[order] > 0]
    row, code, day = row[order], code[order], day[order]
    ends = np.searchsorted(row, row, "right")
    later = ends - np.arange(row.size) - 1
    if later.sum() > _MOST_PAIRS:
        raise DataError(
            f"{int(later.sum()):,} pairs of dates are too many to be compared.", hint="Look at some rows."
        )
    one = np.repeat(np.arange(row.size), later)
    other = one + 1 + np.arange(one.size) - np.repeat(np.cumsum(later) - later, later)
    found = np.unique(np.stack([row[one], code[one], code[other], day[other] - day[one]], 1), axis=0)
    _, which, times = np.unique(found[:, 1:], axis=0, return_inverse=True, return_counts=True)
    rows, first, second, days = found.T
    return Distances(rows, first, second, days, times[which.reshape(-1)])


def _days_at(column: SetColumn) -> int:
    """Find the part of the facts of a column that holds days; 0: none does."""
    found = (i for i, one in enumerate(column.attributes, 1) if (one.kind, one.level) == ("when", "day"))
    return next(found, 0)


def codes_of(facts: Facts) -> Ints:
    """Give numbers to the codes of facts, those of one column after those of the other: int64 (facts,)."""
    first = np.cumsum([0, *(len(column.codes) for column in facts.columns)])
    return np.asarray(facts.parts[:, 0] + first[facts.column], np.int64)


def _ordinal(text: str) -> int:
    return date.fromisoformat(text).toordinal()


def best_of(found: Distances, n_rows: int) -> Ints:
    """Find the distance of each row that fewest rows share: its position, -1 where a row has none."""
    order = np.lexsort((found.support, found.row))
    best = np.full(n_rows, -1, np.int64)
    rows, at = np.unique(found.row[order], return_index=True)
    best[rows] = order[at]
    return best


def distance_risk(facts: Facts, thresholds: Iterable[int]) -> dict[str, Any]:
    """Count the rows that few others share their most identifying distance with."""
    found = distances_of(facts)
    best = best_of(found, facts.n_rows)
    fits = np.where(best >= 0, found.support[best] if found.row.size else 0, facts.n_rows)
    return {"looked": facts.n_rows, "rows_below": {str(t): int((fits < t).sum()) for t in thresholds}}


def distance_risk_after(
    facts: Facts, published: FactRows, thresholds: Iterable[int], seed: int = 0
) -> dict[str, Any]:
    """Count the same for an attacker who looks through the rows of a release, by their boxes.

    A row fits if it shows a box with the one code and a box with the other, in periods that allow for the
    distance, or if a fact of it is suppressed. If there are many people, some are drawn.
    """
    found = distances_of(facts)
    best = best_of(found, facts.n_rows)
    people = np.flatnonzero(best >= 0)
    if people.size > _PEOPLE:
        keys = row_keys(facts, seed, "distances")[people]
        people = np.sort(people[np.argsort(keys, kind="stable")[:_PEOPLE]])
    boxes = published.stands_for
    spans = np.array([_span(boxes, facts, box) for box in boxes.boxes], np.int64).reshape(-1, 2)
    hidden, code_of = ~_published(facts, boxes), codes_of(facts)
    codes = [(column.name, code) for column in facts.columns for code in column.codes]
    with_code: dict[tuple[str, str], list[int]] = {}
    for number, box in enumerate(boxes.boxes):
        at = boxes.places_of(box).start
        for code in boxes.values(at, box[at]):
            with_code.setdefault((boxes.names[at], code), []).append(number)
    shown_by: dict[int, Ints] = {}
    row_of = np.repeat(np.arange(published.n_rows), published.row_lengths())
    order = np.argsort(published.items, kind="stable")
    ends = np.searchsorted(published.items[order], np.arange(published.n_items + 1))
    for number in range(published.n_items):
        shown_by[number] = row_of[order[ends[number] : ends[number + 1]]]
    below = dict.fromkeys(map(str, thresholds), 0)
    for person in people.tolist():
        one = best[person]
        fits = np.zeros(published.n_rows, bool)
        hers = facts.items[facts.indptr[person] : facts.indptr[person + 1]]
        known = np.isin(code_of[hers], (found.first[one], found.second[one]))
        suppressed = hidden[hers[known]].any()
        for first in with_code.get(codes[found.first[one]], []):
            for second in with_code.get(codes[found.second[one]], []):
                low, high = spans[second, 0] - spans[first, 1], spans[second, 1] - spans[first, 0]
                if low <= found.days[one] <= high:
                    fits[np.intersect1d(shown_by[first], shown_by[second])] = True
        number = published.n_rows if suppressed else int(fits.sum())
        for t in below:
            below[t] += number < int(t)
    return {"looked": int(people.size), "rows_below": below}


def _span(boxes: Boxes, facts: Facts, box: Sequence[str]) -> tuple[int, int]:
    """Find the first and the last day of a box, all days if it has no dates."""
    places = boxes.places_of(box)
    names = boxes.names[places]
    column = next((one for one in facts.columns if one.name == names[0]), None)
    day = 0 if column is None else _days_at(column)
    if column is None or not day or column.part_names[day] not in names:
        return 0, _LAST
    at = places.start + names.index(column.part_names[day])
    days = [day for value in boxes.values(at, box[at]) if value != MISSING for day in span_of(value)]
    return (min(days), max(days)) if days else (_LAST, 0)


def _published(facts: Facts, boxes: Boxes) -> NDArray[np.bool_]:
    """Find the facts that lie in some box, whose periods may be longer: bool (facts,)."""
    out = np.zeros(facts.n_items, bool)
    for own, column in enumerate(facts.columns):
        parts = facts.parts_of(own)
        for places in (one for one in boxes.places if boxes.names[one.start] == column.name):
            found = np.ones((len(parts), len(boxes.boxes)), bool)
            of_parts = [(column.codes, "codes"), *((one.tree.labels, one.kind) for one in column.attributes)]
            for number, (name, (labels, kind)) in enumerate(zip(column.part_names, of_parts, strict=True)):
                if name not in boxes.names[places]:
                    continue
                at = places.start + boxes.names[places].index(name)
                holds = np.zeros((len(labels), len(boxes.boxes)), bool)
                for box, shown in enumerate(boxes.boxes):
                    values = set(boxes.values(at, shown[at]))
                    holds[:, box] = [
                        label in values or (kind == "when" and any(in_period(label, one) for one in values))
                        for label in labels
                    ]
                found &= holds[parts[:, number]]
            out[facts.items_of(own)] = found.any(1)
    return out
