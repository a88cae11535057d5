"""Dates as programs number them: days since 1960-01-01 (SAS), or since 1899-12-30 (spreadsheets)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

SAS, EXCEL = "sas", "excel"
OLDEST = 1900  # years before it are no slips of the pen only now and then
_FIRST = {SAS: date(1960, 1, 1), EXCEL: date(1899, 12, 30)}
_NUMBERS = {SAS: re.compile(r"-?[0-9]{1,5}(?:\.0+)?"), EXCEL: re.compile(r"[0-9]{4,5}(?:\.[0-9]+)?")}


def day_of_number(text: str, program: str) -> date | None:
    """Read the number of a day; None: it is none.

    >>> day_of_number("22660", "sas"), day_of_number("44673.5", "excel")
    (datetime.date(2022, 1, 15), datetime.date(2022, 4, 22))
    """
    if _NUMBERS[program].fullmatch(text) is None:
        return None
    return _FIRST[program] + timedelta(days=int(float(text)))


def programs_of(texts: Sequence[str]) -> list[str]:
    """List the programs whose numbers of days all texts may be, in likely years.

    >>> programs_of(["22660", "23100"]), programs_of(["44673.5"]), programs_of(["12"]), programs_of([])
    (['sas', 'excel'], ['excel'], ['sas'], [])
    """
    last = date.today().year + 1

    def likely(text: str, program: str) -> bool:
        day = day_of_number(text, program)
        return day is not None and OLDEST <= day.year <= last

    return [program for program in _FIRST if texts and all(likely(text, program) for text in texts)]
