"""Dates and the periods that they are published as."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from setveil.base.errors import DataError, RequestError, TableError, did_you_mean, listed, shorten
from setveil.base.wording import are
from setveil.rows.data.columns import as_field
from setveil.rows.facts.bands import attribute_tree
from setveil.rows.facts.facts import MISSING
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.day_numbers import EXCEL, SAS, day_of_number, programs_of

LEVELS = ("day", "week", "month", "quarter", "year")
_FINER = {"month": "month", "quarter": "month", "year": "year"}  # what a level may be read from, at the least
_SINCE = re.compile(r"([1-9][0-9]{0,5})d-since-first")
_HOUR = r"(?:[01][0-9]|2[0-3])"
_ZONE = rf"(?:Z|UTC|[+-]{_HOUR}(?::?[0-5][0-9])?)"
_TIME = rf"{_HOUR}(?::?[0-5][0-9](?::?(?:[0-5][0-9]|60)(?:[.,][0-9]+)?)?)?"
_ISO = re.compile(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}})(?:[T ]{_TIME}(?: ?{_ZONE})?)?")
_MONTH, _YEAR = re.compile(r"([0-9]{4})-([0-9]{2})"), re.compile(r"([0-9]{4})")
_OTHER = re.compile(
    r"([0-9]{1,4})([-/. ])([0-9]{1,2})\2([0-9]{1,4})(?:[T ,]+([0-9]{1,2}:[0-9]{2})(:[0-9]{2})?)?"
)
_PERIOD = re.compile(r"[0-9]{4}(?:-(?:Q[1-4]|[0-9]{2}(?:-[0-9]{2})?))?")  # all but weeks
_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})")
_COMPACT = re.compile(r"[0-9]{8}")
_SAS_DATE = re.compile(
    rf"([0-9]{{1,2}})[- ]?([A-Za-z]{{3}})[- ]?([0-9]{{4}}|[0-9]{{2}})(?:[: ]{_TIME}(?: ?[AaPp][Mm])?)?"
)
_OPEN = re.compile(r"(<|>=)([0-9]{4})")  # all dates before or after the years that are published
OTHER = "other"  # all dates, where enough rows share no year
_FEW_OTHERS = 3  # values that are no dates, and may mean that there is none


def level_of(text: str) -> str:
    """Take the finest period that is published, or bands of days since a person's first line."""
    if text in LEVELS or _SINCE.fullmatch(text):
        return text
    raise RequestError(
        f"There is no period {text!r} of dates; there are {', '.join(LEVELS)}, and days since a person's "
        "first line such as 30d-since-first.",
        hint=did_you_mean(text, LEVELS, "Such as --when date:month."),
    )


def days_since_first(level: str) -> int | None:
    """Say how many days are in a band of the days since a person's first line; None: it is a period."""
    found = _SINCE.fullmatch(level)
    return None if found is None else int(found[1])


def read_date(text: str, level: str, form: str | None) -> date | None:
    """Read a date, or a month or a year where no shorter periods are published; None: it is none."""
    try:
        if form == SAS:
            return _sas_day(text)
        if form == EXCEL:
            return day_of_number(text, EXCEL)
        if form is not None:
            return datetime.strptime(text, form).date()
        if found := _ISO.fullmatch(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
        if (found := _SAS_DATE.fullmatch(text)) and len(found[3]) == 4:
            return _sas_day(text)
        if level in _FINER and (found := _MONTH.fullmatch(text)):
            return date(int(found[1]), int(found[2]), 1)
        if level == "year" and (found := _YEAR.fullmatch(text)):
            return date(int(found[1]), 1, 1)
    except (ValueError, OverflowError):
        return None
    return None


def _sas_day(text: str) -> date | None:
    """Read a date of SAS: days since 1960-01-01, or such as ``01JAN2024``, with or without a time."""
    if (day := day_of_number(text, SAS)) is not None:
        return day
    found = _SAS_DATE.fullmatch(text)
    if found is None:
        return None
    year = "%Y" if len(found[3]) == 4 else "%y"
    return datetime.strptime(f"{found[1]}{found[2]}{found[3]}", f"%d%b{year}").date()


def forms_of(texts: Sequence[str]) -> list[str]:
    """List the formats that read all of some texts, if none is a date by ISO 8601."""
    if texts and all(_SAS_DATE.fullmatch(text) for text in texts):
        return [SAS] if _are_sas(texts) else []
    if all(_COMPACT.fullmatch(text) for text in texts):
        return [form for form in ("%Y%m%d", "%d%m%Y", "%m%d%Y") if _reads(form, texts)]
    found = [_OTHER.fullmatch(text) for text in texts]
    if not all(found) or len({(one[2], one[5] is None, one[6] is None) for one in found if one}) != 1:
        return []
    first = found[0]
    assert first is not None  # noqa: S101  (all are)
    time = "" if first[5] is None else " %H:%M" if first[6] is None else " %H:%M:%S"
    orders = [
        ("%d", "%m", "%Y"),
        ("%m", "%d", "%Y"),
        ("%Y", "%m", "%d"),
        ("%d", "%m", "%y"),
        ("%m", "%d", "%y"),
    ]
    return [form for order in orders if _reads(form := first[2].join(order) + time, texts)]


def _are_sas(texts: Sequence[str]) -> bool:
    try:
        return all(_sas_day(text) is not None for text in texts)
    except ValueError:
        return False


def _reads(form: str, texts: Sequence[str]) -> bool:
    try:
        return all(datetime.strptime(text, form).year >= 1000 for text in texts)
    except ValueError:
        return False


def refuse(where: str, column: str, text: str, texts: Sequence[str], form: str | None) -> DataError:
    """Make the error of a date that is not read, with each reading that fits; `texts`: all of the column."""
    forms = [one for one in _forms_as_dates(texts) if one != form]
    said = f"{where}: found {shorten(text)}, expected a date such as 2024-01-31"
    if form is not None:
        said = f"{where}: found {shorten(text)}, expected a date written as {form}"
    if not forms:
        readings = _without_few(column, texts, form)
        how = (
            "say how dates are written (--date-format '%d.%m.%Y'), or which values mean that there is no date"
        )
        return TableError(said, (), readings, how if readings else f"{how} (--missing {column}=VALUES)", "")
    ways = {one: f"{read_date(text, 'day', one):%d %B %Y}" for one in forms}
    fits = " or ".join(f"{day} (--date-format '{one}')" for one, day in ways.items())
    known = len(forms) == 1
    more = f"All dates of the column would fit {fits}" if known else f"It may be {fits}: nothing tells which"
    readings = [({"date_format": one}, f"{text} is {day}") for one, day in ways.items()]
    return TableError(f"{said}. {more}", (), readings)


def _forms_as_dates(texts: Sequence[str]) -> list[str]:
    """List the formats that read all of some texts; days since 1960 only if all are in likely years."""
    return forms_of(texts) or programs_of(texts)[:1]


def _without_few(column: str, texts: Sequence[str], form: str | None) -> list[tuple[dict[str, object], str]]:
    """Propose to take the few values that are no dates for missing ones, if one format reads the others."""
    found: list[tuple[dict[str, object], str]] = []
    as_iso = any(map(_ISO.fullmatch, texts))
    forms = [None] if as_iso else _forms_as_dates([text for text in texts if _may_be_date(text)])
    known = forms if form is None else [form]
    for one in known:
        others = [text for text in texts if read_date(text, "day", one) is None]
        if len(others) <= min(_FEW_OTHERS, len(texts) // 2) and not any(map(_may_be_date, others)):
            values = ",".join(map(as_field, others))
            written = {} if one == form else {"date_format": one}
            meaning = f"{listed(others, _FEW_OTHERS)} {are(len(others))} no date: it is missing there"
            found.append(({**written, "missing": {column: values}}, meaning))
    return found


def _may_be_date(text: str) -> bool:
    """Return whether a text has the form of a date, also of one that is in no calendar."""
    forms = (_ISO, _OTHER, _COMPACT, _SAS_DATE, _PERIOD, _WEEK)
    return any(one.fullmatch(text) for one in forms)


def period_of(day: date, level: str) -> str:
    """Name the period of a day: ``2024-01-03``, ``2024-W01``, ``2024-01``, ``2024-Q1``, ``2024``."""
    if level == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return {
        "day": day.isoformat(),
        "month": f"{day.year:04}-{day.month:02}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[level]


def in_period(label: str, period: str) -> bool:
    """Whether a day, month or quarter lies in a longer period, by their names; weeks lie in none.

    >>> in_period("2024-02", "2024-Q1"), in_period("2024-Q1", "2024"), in_period("2024-W05", "2024")
    (True, True, False)
    """
    if not _PERIOD.fullmatch(label) or not _PERIOD.fullmatch(period) or len(label) <= 4:
        return False
    if "Q" not in period:
        return label.startswith(f"{period}-")
    return "Q" not in label and period == f"{label[:4]}-Q{(int(label[5:7]) + 2) // 3}"


def is_period(text: str) -> bool:
    """Whether a text names a day, week, month, quarter or year.

    >>> is_period("2024-Q1"), is_period("2024-W53"), is_period("2024-13")
    (True, False, False)
    """
    if not _PERIOD.fullmatch(text) and not _WEEK.fullmatch(text):
        return False
    return span_of(text) != (0, date.max.toordinal())


def span_of(period: str) -> tuple[int, int]:
    """Find the first and the last day of a period by its name, as ordinals; all days of what is none.

    >>> [date.fromordinal(day).isoformat() for day in span_of("2024-Q1")]
    ['2024-01-01', '2024-03-31']
    """
    try:
        if found := _OPEN.fullmatch(period):
            border = date(int(found[2]), 1, 1).toordinal()
            return (0, border - 1) if found[1] == "<" else (border, date.max.toordinal())
        if found := _WEEK.fullmatch(period):
            first = date.fromisocalendar(int(found[1]), int(found[2]), 1).toordinal()
            return first, first + 6
        if not _PERIOD.fullmatch(period):
            return 0, date.max.toordinal()
        year, rest = int(period[:4]), period[5:]
        if len(rest) == 5:
            return (date.fromisoformat(period).toordinal(),) * 2
        start, months = (int(rest[1]) * 3 - 2, 3) if "Q" in rest else (int(rest), 1) if rest else (1, 12)
        end = year * 12 + start - 1 + months
        return date(year, start, 1).toordinal(), date(end // 12, end % 12 + 1, 1).toordinal() - 1
    except ValueError:
        return 0, date.max.toordinal()


def year_of(period: str) -> int | None:
    """Find the year of a period, of a week by ISO 8601; None where it is no period of one year."""
    return int(period[:4]) if period[:4].isascii() and period[:4].isdigit() else None


def periods_of(level: str, first: int, last: int) -> list[str]:
    """List all periods of some years.

    >>> periods_of("quarter", 2024, 2024)
    ['2024-Q1', '2024-Q2', '2024-Q3', '2024-Q4']
    """
    start, end = (
        (date.fromisocalendar(first, 1, 1).toordinal(), date(last, 12, 28).toordinal())
        if level == "week"
        else (date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal())
    )
    days = range(start, end + 1, 7 if level == "week" else 1)
    return list(dict.fromkeys(period_of(date.fromordinal(day), level) for day in days))


def tree_of_periods(labels: Sequence[str], level: str) -> Hierarchy:
    """Make the tree above periods that are given by name; others are below any (see `period_tree`)."""
    periods = [label for label in labels if year_of(label) is not None]
    days = {label: date.fromordinal(span_of(label)[0]) for label in periods}
    others = [label for label in labels if label not in days and label != MISSING]
    return period_tree(days, level, missing=MISSING in labels, others=others)


def period_tree(days: dict[str, date], level: str, *, missing: bool, others: Sequence[str] = ()) -> Hierarchy:
    """Make the tree above periods, each with one of its days; weeks, which cut months, are below any."""
    above = () if level == "week" else LEVELS[LEVELS.index(level) + 1 :]
    coarser = [one for one in above if one != "week"]
    paths = [[label, *(period_of(day, one) for one in coarser)] for label, day in days.items()]
    return attribute_tree([*paths, *([one] for one in others), *([[MISSING]] if missing else [])])
