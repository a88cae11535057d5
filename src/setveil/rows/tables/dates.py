"""Hierarchies of dates: days, months, quarters, years, five years, decades."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from setveil.base.errors import DataError, RequestError, listed
from setveil.rows.tables.quasi_identifiers import ANY, MISSING

PERIODS = ("day", "month", "quarter", "year", "5-year", "decade")
USUAL = ("month", "quarter", "year")
OF_LIFETIMES = ("year", "5-year", "decade")  # of dates of birth
_LIFETIMES = 5  # decades
_TIME = r"(?P<time>[T ][0-9:.,+Z -]+)?"
_YEAR_FIRST = re.compile(rf"(?P<y>[0-9]{{4}})(?P<s>[-/.])(?P<m>[0-9]{{1,2}})(?P=s)(?P<d>[0-9]{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(?P<a>[0-9]{{1,2}})(?P<s>[-/.])(?P<b>[0-9]{{1,2}})(?P=s)(?P<y>[0-9]{{4}}){_TIME}")
_COMPACT = re.compile(r"(?P<y>(19|20)[0-9]{2})(?P<m>0[1-9]|1[0-2])(?P<d>[0-3][0-9])")
_MONTH = re.compile(r"(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})")
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_NAMED = re.compile(  # as SAS and Oracle write dates
    r"(?P<d>[0-9]{1,2})(?P<s>[- ]?)(?P<name>[A-Za-z]{3})(?P=s)(?P<y>[0-9]{4})(?P<time>[: ][0-9:., APMapm]+)?"
)

Taken = tuple[date, int]  # a day, or the first one of a month; how fine: -1 a time, 0 a day, 1 a month


def dates(texts: Iterable[str], periods: Sequence[str] = ()) -> dict[str, str | None]:
    """Build a hierarchy of dates: the parent of each node.

    Dates are such as ``2024-03-15``, ``15.03.2024``, ``03/15/2024`` or ``15MAR2024``, also with a time, or
    ``2024-03``; "" is a missing value, below the root ``*``. If days and months are ambiguous, dates with
    points begin with the day, others are rejected. `periods`: some of day, month, quarter, year, 5-year and
    decade, by default month, quarter and year; groups are ``2024-03``, ``2024-Q1``, ``2024``, ``2020-2024``,
    ``2020s``.

    >>> tree = dates(["2024-03-15", "2024-02-01"], ["quarter"])
    >>> tree["2024-03-15"], tree["2024-Q1"]
    ('2024-Q1', '*')
    """
    wrong = [period for period in periods if period not in PERIODS]
    if wrong:
        raise RequestError(f"There is no period {wrong[0]!r} of dates; there are {', '.join(PERIODS)}.")
    present = set(texts)
    values = sorted(present - {MISSING})
    taken = _days(values)
    finest = min((fine for _, fine in taken.values()), default=0)
    levels = [at for at, name in enumerate(PERIODS) if name in (periods or USUAL)]
    if all(fine == finest for _, fine in taken.values()):
        levels = [at for at in levels if at > finest]  # what the values say already is no group of them
    used = {*values, ANY}
    names: dict[tuple[int, str], str] = {}
    parents: dict[str, str | None] = {ANY: None}
    if MISSING in present:
        parents[MISSING] = ANY
    for value, (day, fine) in taken.items():
        node = value
        for level in levels:
            if level < fine:
                continue
            key = level, _called(day, level)
            if key not in names:
                label = key[1]
                while label in used:
                    label += "*"
                used.add(label)
                names[key] = label
            parents[node] = node = names[key]
        parents[node] = ANY
    return parents


def likely_periods(texts: Sequence[str]) -> tuple[str, ...]:
    """Propose the periods of dates: those of dates of birth if they are in as many decades; (): no dates.

    Values are no dates either if `dates` cannot tell days from months.
    """
    try:
        days = _days([text for text in texts if text != MISSING])
    except DataError:
        return ()
    decades = {day.year // 10 for day, _ in days.values()}
    return OF_LIFETIMES if len(decades) >= _LIFETIMES else USUAL if decades else ()


def days_of(texts: Iterable[str]) -> dict[str, date]:
    """Read the day that each text names, or the first one of a month; missing values are not there."""
    return {text: day for text, (day, _) in _days(sorted({*texts} - {MISSING})).items()}


def day_of(text: str) -> date | None:
    """Read a single day, the year first; None: it is none."""
    found = _day(text, month_first=False) if _YEAR_FIRST.fullmatch(text) else None
    return None if found is None else found[0]


def _called(day: date, level: int) -> str:
    decade = f"{day.year // 10 * 10}s"
    quarter = f"{day.year:04}-Q{(day.month + 2) // 3}"
    month, five = f"{day.year:04}-{day.month:02}", day.year // 5 * 5
    return (day.isoformat(), month, quarter, f"{day.year:04}", f"{five:04}-{five + 4:04}", decade)[level]


def _days(values: Sequence[str]) -> dict[str, Taken]:
    last = [match for value in values if (match := _YEAR_LAST.fullmatch(value))]
    day_first = any(int(match["a"]) > 12 for match in last)
    month_first = any(int(match["b"]) > 12 for match in last)
    unclear = last and not day_first and not month_first and any(match["s"] != "." for match in last)
    if unclear or (day_first and month_first):
        why = "is the day or the month first?" if unclear else "some begin with the day, some with the month."
        raise DataError(
            f"{listed([match[0] for match in last])}: {why}",
            hint="Write dates as 2024-03-15, the year first.",
        )
    found: dict[str, Taken] = {}
    wrong = []
    for value in values:
        day = _day(value, month_first=month_first)
        if day is None:
            wrong.append(value)
        else:
            found[value] = day
    if wrong:
        raise DataError(
            f"{listed(wrong)}: expected dates such as 2024-03-15 or 15.03.2024.",
            hint="Say which values mean that there is none: --missing COLUMN=NA,unknown.",
        )
    return found


def _day(value: str, *, month_first: bool) -> Taken | None:
    match = _YEAR_FIRST.fullmatch(value) or _COMPACT.fullmatch(value) or _MONTH.fullmatch(value)
    try:
        if match is not None:
            parts = match.groupdict()
            day = parts.get("d")
            fine = 1 if day is None else -1 if parts.get("time") else 0
            return date(int(parts["y"]), int(parts["m"]), int(day or 1)), fine
        if (match := _NAMED.fullmatch(value)) and (at := _MONTHS.find(match["name"].lower())) % 3 == 0:
            return date(int(match["y"]), at // 3 + 1, int(match["d"])), -1 if match["time"] else 0
        match = _YEAR_LAST.fullmatch(value)
        if match is None:
            return None
        first, second = int(match["a"]), int(match["b"])
        month, day_of = (first, second) if month_first else (second, first)
        return date(int(match["y"]), month, day_of), -1 if match["time"] else 0
    except ValueError:  # no such day
        return None
