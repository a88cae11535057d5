"""From the lines of a table to rows of facts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten
from setveil.base.wording import count
from setveil.rows.data.columns import Codes
from setveil.rows.data.decimals import with_points
from setveil.rows.data.ids import Values, require_no_ids
from setveil.rows.data.io.source import open_source
from setveil.rows.data.named_columns import Column
from setveil.rows.data.rows_read import refuse_rounded_column
from setveil.rows.data.spelling import normalized
from setveil.rows.data.vocabulary import item_order
from setveil.rows.facts import dates
from setveil.rows.facts.bands import Bands, number_in, usual_bounds
from setveil.rows.facts.facts import MISSING, Attribute, Facts, SetColumn
from setveil.rows.facts.lines import FactLines
from setveil.rows.facts.request import Amount, FactsRequest, When
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.day_numbers import OLDEST
from setveil.rows.tables.how import How

FEWEST = 5  # persons who reach an amount by which bands are chosen, where no other number is given
_EXACT = 1 << 62  # sums below it are made of 64-bit integers


def read_rows_of_facts(source: Any, request: FactsRequest, how: How, *, fewest: int = 0) -> Facts:
    """Read facts from a table with a line for each event (see `setveil.read_facts`).

    `how`: `id_column` must be named; `item_columns` are columns of codes of one sort. `fewest`: the last band
    of days since a person's first line is the last one that this many people reach. Chosen bands of amounts
    follow the greatest that this many people reach (0: `FEWEST`).
    """
    start = time.perf_counter()
    if isinstance(source, str | Path):
        source = open_source(source)
    lines = FactLines.of(source, request, how)
    made = facts_of_lines(lines, request, how, fewest)
    origin = replace(lines.origin(request, how), seconds=round(time.perf_counter() - start, 4))
    return replace(made, origin=origin, personal=lines.personal(how))


def facts_of_lines(lines: FactLines, request: FactsRequest, how: How, fewest: int) -> Facts:
    """Make a row of the facts of each person (see `read_rows_of_facts`)."""
    names = {one.column for one in request.attributes}
    said = {name: (*(request.missing or {}).get(name, ()), *how.lacking.named(name)) for name in names}
    request = replace(request, missing=said)
    notes: dict[str, None] = {}
    columns, occurrences = [], []
    for name in request.sets:
        column, found = _column(lines, name, request, how, fewest, notes)
        columns.append(column)
        occurrences.append(found)
    made = Facts.from_parts(columns, occurrences, lines.n_rows, request.sign)
    return replace(made, notes=tuple(notes))


def _column(
    lines: FactLines, name: str, request: FactsRequest, how: How, fewest: int, notes: dict[str, None]
) -> tuple[SetColumn, tuple[Codes, NDArray[np.int32]]]:
    line, code, labels = lines.codes(name, how)
    if not line.size:
        holds = (
            f"column {shorten(name)} contains no code" if len(request.sets) > 1 else "no line contains a code"
        )
        raise DataError(f"{lines.where}: {holds}, expected facts.")
    require_no_ids(lines.where, [Values(name, code, labels)], how.not_ids)
    refuse_rounded_column(lines.where, name, code, labels, "codes")
    if how.normalize is not None:
        labels = normalized(labels, how.normalize)[0]
    order = item_order({labels[at] for at in np.unique(code).tolist()})
    rank = {label: at for at, label in enumerate(order)}
    code = np.array([rank.get(label, -1) for label in labels], np.int64)[code]
    # A code that stands twice in a line is there once.
    line, code = np.divmod(np.unique(line * len(order) + code), len(order))
    whens = [_Periods.of(lines, one, request, line, fewest, notes) for one in request.dates_of(name)]
    key = lines.row[line] * len(order) + code
    for when in whens:
        key = key * when.tree.n_leaves + when.leaf
    keys, group = np.unique(key, return_inverse=True)
    group = group.reshape(-1)
    first = np.zeros(keys.size, np.int64)
    first[group[::-1]] = np.arange(group.size - 1, -1, -1)
    parts = [code[first], *(when.leaf[first] for when in whens)]
    attributes = [when.attribute for when in whens]
    for one in request.amounts_of(name):
        attribute, leaf = _banded(lines, one, request, line, group, lines.row[line][first], fewest)
        attributes.append(attribute)
        parts.append(leaf)
    column = SetColumn(name, tuple(order), tuple(attributes), request.sets[name])
    return column, (lines.row[line][first], np.stack(parts, 1).astype(np.int32))


@dataclass(frozen=True)
class _Periods:
    attribute: Attribute
    leaf: Codes  # int64 (codes,): of the line of each code

    @property
    def tree(self) -> Hierarchy:
        return self.attribute.tree

    @classmethod
    def of(
        cls,
        lines: FactLines,
        when: When,
        request: FactsRequest,
        line: Codes,
        fewest: int,
        notes: dict[str, None],
    ) -> _Periods:
        column, name = lines.column(when.column)
        days = _days(column, name, when, request)
        _notice(column, name, days, notes)
        width = dates.days_since_first(when.level)
        if width is None:
            codes, labels, tree = _periods(column, days, when.level, line)
        else:
            codes, bands = _since_first(lines, column, days, width, fewest)
            labels = [*bands.labels, MISSING]
            tree = bands.tree({labels[at] for at in np.unique(codes[line]).tolist()})
        leaf = np.array([tree.id(label) if label in tree else -1 for label in labels], np.int64)
        return cls(Attribute(name, "when", when.level, tree), leaf[codes[line]])


def _periods(
    column: Column, days: Sequence[date | None], level: str, line: Codes
) -> tuple[Codes, list[str], Hierarchy]:
    """Name the period of each line; the tree is of those of lines with a code."""
    numbers: dict[str, int] = {}
    one_of: dict[str, date] = {}
    image = []
    for day in days:
        label = MISSING if day is None else dates.period_of(day, level)
        image.append(numbers.setdefault(label, len(numbers)))
        if day is not None:
            one_of.setdefault(label, day)
    codes, labels = np.array(image, np.int64)[column.codes], list(numbers)
    used = [labels[at] for at in np.unique(codes[line]).tolist()]
    present = {label: one_of[label] for label in used if label != MISSING}
    return codes, labels, dates.period_tree(present, level, missing=MISSING in used)


def _days(column: Column, name: str, when: When, request: FactsRequest) -> list[date | None]:
    gone = {"", *(request.missing or {}).get(when.column, ())}
    texts = [label.strip() for label in column.labels]
    found = [
        None if text in gone else dates.read_date(text, when.level, request.date_format) for text in texts
    ]
    wrong = {
        at
        for at, (text, day) in enumerate(zip(texts, found, strict=True))
        if day is None and text not in gone
    }
    if wrong:
        line = int(np.argmax(np.isin(column.codes, list(wrong))))
        where = f"{column.place(line)}, column {shorten(name)}"
        others = sorted({text for text in texts if text not in gone})
        raise dates.refuse(where, when.column, texts[int(column.codes[line])], others, request.date_format)
    return found


def _notice(column: Column, name: str, days: Sequence[date | None], notes: dict[str, None]) -> None:
    """Say how many dates are in years that can hardly be."""
    latest = date.today().year + 1
    odd = [day is not None and not OLDEST <= day.year <= latest for day in days]
    number = int(np.array(odd, bool)[column.codes].sum())
    if number:
        example = next(day for day, is_odd in zip(days, odd, strict=True) if is_odd)
        notes.setdefault(
            f"Column {shorten(name)}: {count(number, 'date')} before {OLDEST} or after {latest}, such "
            f"as {example}. --missing {name}=VALUE says that a value means that there is none."
        )


def _since_first(
    lines: FactLines, column: Column, days: Sequence[date | None], width: int, fewest: int
) -> tuple[Codes, Bands]:
    """Band the days since each person's first line: of each line, the next one where there is none."""
    never = np.int64(1 << 40)
    ordinals = np.array([never if day is None else day.toordinal() for day in days], np.int64)[column.codes]
    first = np.full(lines.n_rows, never, np.int64)
    np.minimum.at(first, lines.row, ordinals)
    there = ordinals < never
    band = np.where(there, (ordinals - first[lines.row]) // width, -1)
    last = np.full(lines.n_rows, -1, np.int64)
    np.maximum.at(last, lines.row, band)
    top = int(band.max(initial=0))
    reach = np.cumsum(np.bincount(last[last >= 0], minlength=top + 1)[::-1])[::-1]  # persons, of each band
    enough = np.flatnonzero(reach >= fewest)
    end = int(enough[-1]) if enough.size else 0
    bounds = [Decimal(at * width) for at in range(end + 1 if end < top else end + 2)]
    bands = Bands(bounds, below=False, above=end < top)
    return np.where(there, np.minimum(band, end), len(bands.labels)), bands


def _banded(
    lines: FactLines,
    amount: Amount,
    request: FactsRequest,
    line: Codes,
    group: Codes,
    row: Codes,
    fewest: int,
) -> tuple[Attribute, NDArray[np.int64]]:
    """Put together the amounts of the lines of each fact, and find the leaf of its band."""
    n_groups = row.size
    column, name = lines.column(amount.column)
    if amount.way == "lines":
        total, number, places = np.bincount(group, minlength=n_groups).astype(np.int64), None, 0
        there = np.ones(n_groups, bool)
    else:
        missing = (request.missing or {}).get(amount.column, ())
        values, places, present = _numbers(column, name, missing, lines.decimal)
        value, has = values[column.codes[line]], present[column.codes[line]]
        at, value = group[has], value[has]
        number = np.bincount(at, minlength=n_groups).astype(np.int64)
        there = number > 0
        total = np.zeros(n_groups, value.dtype)
        if amount.way == "max":
            total[there] = -_EXACT
            np.maximum.at(total, at, value)
        else:
            np.add.at(total, at, value)
    divisor = number if amount.way == "mean" else None
    bounds = amount.bounds
    if not bounds:
        sizes = np.abs(total[there]) if divisor is None else np.abs(total[there]) // divisor[there]
        reached = Decimal(_reached(row[there], sizes, fewest or FEWEST)).scaleb(-places)
        bounds = tuple(usual_bounds(reached, amount.number))
    bands = Bands(bounds)
    index = np.zeros(n_groups, np.int64)
    for bound in bounds:
        # Compared as integers of the finer of the two scales, times the number of lines for a mean.
        more = max(-int(bound.as_tuple().exponent) - places, 0)
        limit = int(bound.scaleb(places + more))
        index += (total.astype(object) * 10**more if more else total) >= (
            limit if divisor is None else limit * divisor
        )
    labels = [*bands.labels, MISSING]
    index = np.where(there, index, len(bands.labels))
    tree = bands.tree({labels[at] for at in np.unique(index).tolist()})
    leaf = np.array([tree.id(label) if label in tree else -1 for label in labels], np.int64)
    way = "" if amount.way == "sum" else f"{amount.way}:"
    level = way + ",".join(format(bound, "f") for bound in bounds)
    return Attribute(name, "amount", level, tree), leaf[index]


def _numbers(
    column: Column, name: str, missing: Sequence[str], decimal: str | None
) -> tuple[NDArray[Any], int, NDArray[np.bool_]]:
    """Read the amount of each label as an integer of one scale; which of them are there."""
    gone = {"", *missing}
    texts = with_points([label.strip() for label in column.labels], decimal, gone)
    found = [None if text in gone else number_in(text) for text in texts]
    wrong = [
        at
        for at, (text, one) in enumerate(zip(texts, found, strict=True))
        if one is None and text not in gone
    ]
    if wrong:
        line = int(np.argmax(np.isin(column.codes, wrong)))
        raise DataError(
            f"{column.place(line)}, column {shorten(name)}: found {shorten(texts[int(column.codes[line])])}, "
            "expected a number such as 12 or 3.5, of at most 15 digits.",
            hint=_decimal_hint(texts, wrong)
            or f"Say which values mean that there is none: --missing {name}=VALUES.",
        )
    places = max((-int(one.as_tuple().exponent) for one in found if one is not None), default=0)
    places = max(places, 0)
    values = [0 if one is None else int(one.scaleb(places)) for one in found]
    fits = max(map(abs, values), default=0) * max(column.codes.size, 1) < _EXACT
    present = np.array([one is not None for one in found], bool)
    return np.array(values, np.int64 if fits else object), places, present


def _decimal_hint(texts: Sequence[str], wrong: Sequence[int]) -> str:
    """Hint at decimal commas, if all that are no numbers would be numbers with these."""
    commas = with_points([texts[at] for at in wrong], ",")
    if not all(number_in(text) is not None for text in commas):
        return ""
    return "If the numbers have decimal commas: --decimal ,"


def _reached(row: Codes, sizes: NDArray[Any], fewest: int) -> int:
    """Find the greatest amount that this many people reach; where there are fewer, the one that all reach."""
    if not row.size:
        return 0
    persons, place = np.unique(row, return_inverse=True)
    greatest = np.zeros(persons.size, sizes.dtype)
    np.maximum.at(greatest, place.reshape(-1), sizes)
    return int(sorted(greatest.tolist(), reverse=True)[min(fewest, persons.size) - 1])


def sentence(facts: Facts) -> str:
    """Say what was taken as what: ``facts, one row per value of patient; codes: dx; on: months``."""
    origin = facts.origin
    said = [f"facts, one row per {origin.row if origin else 'line'}", *parts_said(facts)]
    if origin and origin.ignored_columns:
        said.append(f"ignored: {', '.join(origin.ignored_columns)}")
    return "; ".join(said)


def parts_said(facts: Facts) -> list[str]:
    """Say what the columns of codes, dates and amounts were taken as."""
    origin, said = facts.origin, []
    several = len(facts.columns) > 1
    for at, column in enumerate(facts.columns):
        read_as = origin.item_columns if origin and not several else (column.name,)
        name = f" (as {column.name})" if read_as != (column.name,) else ""
        said.append(f"codes: {', '.join(read_as)}{name}")
        for one in column.attributes:
            values = [label for label in one.tree.labels[: one.tree.n_leaves] if label != MISSING]
            of = f" of {column.name}" if several else ""
            said.append(
                f"{one.name}{of}: {taken_as(one)}, {count(len(values), 'value')}{_missing(facts, at, one)}"
            )
    return said


def taken_as(one: Attribute) -> str:
    """Say what a column of dates or amounts was taken as: ``dates as months``."""
    if one.kind == "when":
        width = dates.days_since_first(one.level)
        plural = "days" if one.level == "day" else f"{one.level}s"
        return (
            f"dates as {plural}"
            if width is None
            else f"days since a person's first line, in bands of {width}"
        )
    way, sign, bounds = one.level.partition(":")
    how = {"mean": "their mean", "max": "the greatest", "lines": "the number of lines"}.get(
        way, "added over lines"
    )
    return f"amounts, {how if sign else 'added over lines'}, in bands at {bounds if sign else one.level}"


def _missing(facts: Facts, at: int, one: Attribute) -> str:
    if MISSING not in one.tree:
        return ""
    place = 1 + facts.columns[at].attributes.index(one)
    occurring = facts.items[facts.column[facts.items] == at]
    number = int((facts.parts[occurring, place] == one.tree.id(MISSING)).sum())
    return f" and {count(number)} missing"
