"""The cost of promises for a project's data: computed by setveil's own command in parts, and combined.

Each part is a job whose answer is a file: the chosen promise alone, those of few known items, the others, and
whatever promise is asked for by itself. The name of a file says what its figures depend on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError
from setveil.base.version import __version__
from setveil.report.explore import cells as explored
from setveil.report.explore.cells import Explored, ExploredCell
from setveil.report.explore.kinds import kind_of
from setveil.report.explore.merged import merged
from setveil.report.explore.text import steps
from setveil.studio import commands, places
from setveil.studio.jobs import FRONT, Job, Jobs
from setveil.studio.phases import in_words
from setveil.studio.projects import Project

KS = (2, 3, 5, 10, 20, 50, 100)
MS = ("1", "2", "3", "4")
_FEW, _MORE = MS[:2], MS[2:]
_BUDGETS = {"few": 40, "more": 60}  # seconds
_ALONE = (20, 60, 180, 540)  # seconds for one promise: the chosen one, then each time that it is asked for


@dataclass(frozen=True)
class PromiseGroup:
    """Promises that are computed together."""

    place: Path  # of the answer
    ks: Sequence[int]
    ms: Sequence[str]
    budget: int
    label: str = "what the promises cost"


def same_as(project: Project) -> list[list[str]]:
    """Write the command that computes all of it at once."""
    return [commands.explore(project, KS, MS, _rhos(project.settings()), sum(_BUDGETS.values()))]


def read(project: Project) -> dict[str, Any] | None:
    """Read what the promises cost as far as it is known, as the page shows it."""
    if not project.settings().get("input"):
        return None
    computed = sorted(project.fronts.glob(f"{_base(project).stem}.*.json")) if project.fronts.is_dir() else []
    known = {place: found for place in computed if (found := _read(place)) is not None}
    try:
        with places.reading("What was computed before"):
            return _shown([*known.values()], complete=all(part.place in known for part in _grid(project)))
    except DataError:
        return None


def start(jobs: Jobs, project: Project, chosen: tuple[int, str] | None, *, alone: bool) -> None:
    """Have computed what is missing, the chosen promise first; `alone`: only this one, in more time."""
    base, under_way = _base(project).stem, []
    for job in jobs.of(project):
        if job.kind == FRONT and not job.is_over:
            if job.answer is not None and job.answer.name.startswith(base):
                under_way.append(job.answer)
            else:
                jobs.cancel(job)  # of other data or groups, or with another rho
    wanted = [] if alone else [part for part in _grid(project) if _read(part.place) is None]
    tries = [] if chosen is None else [_one(project, *chosen, budget) for budget in _ALONE]
    untried = [one for one in tries if _read(one.place) is None]
    if alone:
        wanted = [one for one in untried if one is not tries[0]][:1]
    elif wanted and len(untried) == len(tries):
        wanted = [*tries[:1], *wanted]
    for part in wanted:
        if part.place not in under_way:
            argv = commands.explore(project, part.ks, part.ms, _rhos(project.settings()), part.budget)
            jobs.start(project, FRONT, argv, label=part.label, answer=part.place, urgent=alone)


def job_of(jobs: Jobs, project: Project) -> dict[str, Any] | None:
    """Return the state of the running job, or of the latest."""
    own = [job for job in jobs.of(project) if job.kind == FRONT]
    running = [job for job in own if job.state == "running"] or [job for job in own if not job.is_over]
    shown: Job | None = (running or own[-1:] or [None])[0]  # type: ignore[list-item]
    return None if shown is None else {**shown.as_dict(), "words": in_words(shown.phase)}


def _base(project: Project) -> Path:
    """Name what is computed by all that it depends on."""
    settings = project.settings()
    known: list[Any] = [__version__, commands.explore(project, KS, MS, _rhos(settings))]
    files = [
        *_listed(settings.get("input")),
        *_listed(settings.get("hierarchy")),
        settings.get("keep"),
        settings.get("weights"),
    ]
    for name in filter(None, files):
        path = (
            project.folder / str(name).partition("=")[2] if "=" in str(name) else project.folder / str(name)
        )
        try:
            found = path.stat()
            known.append([str(path), found.st_size, found.st_mtime_ns])
        except OSError:
            known.append(str(path))
    digest = hashlib.sha256(json.dumps(known).encode()).hexdigest()[:16]
    return project.fronts / f"{digest}.json"


def _grid(project: Project) -> list[PromiseGroup]:
    """List the parts that make the table, the quick one first."""
    base = _base(project)
    return [
        PromiseGroup(base.with_suffix(f".{name}.json"), KS, ms, _BUDGETS[name])
        for name, ms in (("few", _FEW), ("more", _MORE))
    ]


def _one(project: Project, k: int, m: str, budget: int) -> PromiseGroup:
    place = _base(project).with_suffix(f".k{k}m{m}-{budget}.json")
    return PromiseGroup(place, [k], [m], budget, f"what k = {k}, m = {m} costs")


def _read(place: Path) -> Explored | None:
    """Read what was computed; None where there is nothing that can be read."""
    try:
        with places.reading("What was computed before"):
            found: Explored = places.read_json(place)
            _shown([found], complete=False)
            return found
    except DataError:
        return None


def _rhos(settings: Mapping[str, Any]) -> list[str]:
    rho = settings.get("rho")
    return [] if rho is None or not settings.get("sensitive") else [str(rho)]


def _listed(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)] if value else []


def _shown(parts: Sequence[Explored], *, complete: bool) -> dict[str, Any] | None:
    """Put what was computed as the page shows it: each cell with its texts."""
    if not parts:
        return None
    first = parts[0]
    heads = list(kind_of(first).heads)
    cells = merged(parts)
    whole: Any = {
        **first,
        "cells": cells,
        "k": sorted({cell["k"] for cell in cells}),
        "m": sorted({cell["m"] for cell in cells}, key=float),
        "stopped": False,
    }
    return {
        "complete": complete,
        "cells": {f"{cell['k']},{cell['m']}": _cell(cell, whole, heads) for cell in cells},
        "heads": heads,
        "rows": first["rows"],
        "said": _said(whole) if complete else [],
    }


def _cell(cell: ExploredCell, whole: Explored, heads: Sequence[str]) -> dict[str, Any]:
    own = cell["loss"] is not None and not explored.is_taken(cell) and cell["status"] == "done"
    made = cell["made_for"]
    return {
        "loss": cell["loss"],
        "shown": explored.loss_text(cell, "≤\u00a0") if cell["loss"] is not None or cell["error"] else "?",
        "bound": explored.is_bound(cell),
        "status": cell["status"],
        "error": cell["error"],
        "texts": dict(zip(heads, kind_of(whole).numbers(cell, "at most "), strict=True)) if own else {},
        "made_for": "" if own or made is None else explored.promise(made),
    }


def _said(whole: Explored) -> list[str]:
    """Say where losses rise, if all of the table is there, and how many are bounds."""
    bounds = sum(map(explored.is_bound, whole["cells"]))
    rises = steps(whole) if len(whole["cells"]) == len(whole["k"]) * len(whole["m"]) else []
    if not bounds:
        return rises
    number = f"{bounds} of {len(whole['cells'])} promises"
    return [*rises, f"≤ at most: for {number} the search was not finished; less may be found."]
