"""Numbers of people found by a few known items: in each release, and in all, linked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.judges.guarantees.verify.series import least_candidates
from setveil.rows.data.people import SeriesPeople
from setveil.work.series.state import State

THRESHOLDS = (2, 5, 10)
MOST = 3  # known items


def risk(state: State, promise: SeriesAnonymity, progress: Progress = silent) -> dict[str, Any]:
    """Count people below some thresholds if none to three items are known.

    Returns `thresholds`, and `risk`: for each `release` (null: all, linked), `view` ("items": of the people;
    "labels": published ones) and `m` the `people` and how many of them are `below` each threshold.
    """
    found = []
    shown = state.series
    plain = replace(
        shown,
        releases=tuple(
            replace(one, labels=np.arange(len(shown.items), dtype=np.int32)) for one in shown.releases
        ),
    )
    for view, series in (("items", plain), ("labels", shown)):
        parts: list[tuple[str | None, SeriesPeople]] = [
            (name, replace(series, releases=(release,)))
            for name, release in zip(state.names, series.releases, strict=True)
        ]
        for name, some in [*parts, *([(None, series)] if len(parts) > 1 else [])]:
            there = np.unique(np.concatenate([release.people for release in some.releases]))
            for m in range(MOST + 1):
                progress(f"counting candidates ({view}, m = {m})")
                least = _least(some, promise, m)[there]
                below = {str(t): int((least < t).sum()) for t in THRESHOLDS}
                found.append(
                    {"release": name, "view": view, "m": m, "people": int(there.size), "below": below}
                )
    return {"thresholds": list(THRESHOLDS), "risk": found}


def _least(series: SeriesPeople, promise: SeriesAnonymity, m: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Find how few people are left for who knows m items; none: that someone is in her releases."""
    if m:
        return least_candidates(series, replace(promise, m=m))
    nothing = tuple(
        replace(one, indptr=np.zeros_like(one.indptr), items=one.items[:0]) for one in series.releases
    )
    known = SeriesAnonymity(promise.k, 1, "histories", "known")
    return least_candidates(replace(series, releases=nothing), known)
