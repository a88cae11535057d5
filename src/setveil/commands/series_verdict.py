"""Whether releases of a series satisfy their guarantee, asked of the series or of the folders of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, described, unreadable
from setveil.base.plain_json import read_json
from setveil.base.progress import Progress
from setveil.commands.arguments import Listener, heard, integer, path_of
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.judges.guarantees.verify.series import verify_series
from setveil.report.series import verdict_text
from setveil.work.series.ledger import INSIDE, Ledger, open_ledger
from setveil.work.series.state import published_state, verdict_record

KNOWN, PRESENCE = ("histories", "facts"), ("implied", "known", "ignored")
_STAYS = (
    "counts.csv was published with a release of a register: the guarantee holds only against people who do "
    "not know what stays (docs/series.md)."
)
_FIRST = (
    "counts.csv is in the first release of a register. With a second one the guarantee holds only against "
    "people who do not know what stays. If that is not intended, drop the release before it is shared, and "
    "add it again without counts (docs/series.md)."
)


class SeriesRecord(dict[str, Any]):
    """What a series was asked, as JSON types, that shows itself in words."""

    def __init__(self, content: Mapping[str, Any], words: str) -> None:
        super().__init__(content)
        self._words = words

    def __repr__(self) -> str:
        return self._words

    def __bool__(self) -> bool:
        return bool(self.get("holds", True))


def one_of(name: str, value: object, words: Sequence[str]) -> Any:
    """Take one of some words."""
    if value not in words:
        raise RequestError(f"{name} must be one of {', '.join(words)}, got {described(value)}.")
    return value


def verified(ledger: Ledger, runs: Mapping[str, Path], *, progress: Progress, **options: Any) -> SeriesRecord:
    """Verify a series, or some of its releases by the folders of their runs (see `Series.verify`)."""
    own = ledger.promise
    promise = SeriesAnonymity(
        own.k if options["k"] is None else options["k"],
        own.m if options["m"] is None else options["m"],
        one_of("known", options["known"] or own.known, KNOWN),
        one_of("presence", options["presence"] or own.presence, PRESENCE),
    )
    progress("reading the series")
    state = published_state(ledger, runs)
    progress("verifying the series")
    verdict = verify_series(
        state.series, promise, show=integer("show", options["show"], 0), progress=progress
    )
    return verdict_of(ledger, verdict_record(verdict, state), counts_are_out=options["counts_are_out"])


def verdict_of(ledger: Ledger, found: dict[str, Any], *, counts_are_out: bool = False) -> SeriesRecord:
    """Say what was found of a series, and what of it does not hold for everyone."""
    warnings = []
    if len(ledger.releases) > 1 and (out := counts_out(ledger)):
        warnings.append(out)
        found["holds"] = found["holds"] and counts_are_out
    if ledger.settings.forgotten:
        warnings.append(f"{ledger.settings.forgotten:,} forgotten: no longer checked.")
    found["warnings"] = warnings
    return SeriesRecord(found, verdict_text(found))


def counts_out(ledger: Ledger) -> str:
    """Say against whom counts next to a release violate the guarantee; empty for none, or no register."""
    beside = ", ".join(entry.name for entry in ledger.releases if entry.counts)
    if ledger.settings.kind != "register" or not beside:
        return ""
    return f"{beside}: {_STAYS if len(ledger.releases) > 1 else _FIRST}"


def verify_together(
    runs: Sequence[str | PathLike[str]], *, show: int = 5, progress: Listener = None, **options: Any
) -> SeriesRecord:
    """Check two or more releases of one series, by the folders of their runs (see `Series.verify`)."""
    found = [(path_of("A run", run), _series_inside(Path(run))) for run in runs]
    series = {record["series"] for _, record in found if record}
    if len(series) != 1 or not all(record for _, record in found):
        raise RequestError(
            "These are not releases of one series: rows of two files cannot be put together without ids.",
            hint="`setveil series add --published RUN` records a release that is out, with the ids of its "
            "people.",
        )
    named = {record["release"]: run for run, record in found if record}
    if len(named) < len(found) or len(found) < 2:
        raise RequestError(
            "These are not two different releases of the series.",
            hint="Name the folders of two or more, such as q1 --with q2.",
        )
    ledger = open_ledger(Path(series.pop()))
    for name in named:
        ledger.entry(name)
    defaults = dict.fromkeys(("k", "m", "known", "presence")) | {"counts_are_out": False}
    return verified(ledger, named, progress=heard(progress), **defaults | {"show": show} | options)


def _series_inside(run: Path) -> dict[str, str] | None:
    """Read which series a run's folder is of; None if of none."""
    if not run.exists():
        raise DataError(f"There is no {run}.", hint="Name the folders of runs, with their internal/.")
    path = run / "internal" / INSIDE
    if not path.is_file():
        return None
    try:
        record = read_json(path.read_text(encoding="utf-8"))
        return {"series": str(record["series"]), "release": str(record["release"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(path, "is not what setveil wrote", error) from None
