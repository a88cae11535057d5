"""Questions about the series of a project: what is in its ledger, and what changes it at once.

They are answered here, and not by a command: whom someone wants to be forgotten is in no list of processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setveil.base.errors import DataError
from setveil.commands.series import Series
from setveil.report.series import dropped_words, forgotten_words
from setveil.studio.desk.place import Desk
from setveil.studio.places import SERIES
from setveil.work.series.ledger import require_free_name


def _of(desk: Desk) -> Series:
    return Series.open(desk.folder / SERIES)


def begin(desk: Desk, **promise: Any) -> dict[str, Any]:
    """Begin the series of a project."""
    Series.create(desk.folder / SERIES, **promise)
    return series_record(desk)


def series_record(desk: Desk) -> dict[str, Any]:
    """Return what a series promises, its releases, and why it cannot go on, if its key is lost."""
    series = _of(desk)
    try:
        series.ledger.code()
        problem = {}
    except DataError as error:
        problem = {"problem": error.message, "hint": error.hint}
    return {**series.told(), **problem}


def free_name(desk: Desk, name: str) -> dict[str, Any]:
    """Refuse a name that no new release can have."""
    require_free_name(_of(desk).ledger, name)
    return {}


def forget(desk: Desk, id: str) -> dict[str, Any]:  # noqa: A002  (as the command has it)
    """Forget someone."""
    return {"words": forgotten_words(_of(desk).forget(id))}


def drop(desk: Desk, name: str, *, not_shared: bool) -> dict[str, Any]:
    """Remove the last release of the series."""
    series = _of(desk)
    runs = {entry.name: entry.run for entry in series.releases}
    series.drop(name, not_shared=not_shared)
    return {"words": dropped_words(name, runs[name])}


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "series_begin": begin,
    "series_told": series_record,
    "series_free_name": free_name,
    "series_forget": forget,
    "series_drop": drop,
}
