"""Risk from attackers who do not know who is in the data, or who know absent items: requests and tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from setveil.report.record import Record
from setveil.report.risk import absence_table, stranger_table
from setveil.studio import commands, places
from setveil.studio.jobs import Job, Jobs
from setveil.studio.phases import job_state
from setveil.studio.projects import Project

_MOST_KNOWN = 2  # items that are known beside an absent one: more take long


def sizes(report: Record) -> list[int]:
    """Name the numbers of known items that a record looks at."""
    risk: Any = report.get("risk")
    return sorted({entry["m"] for entry in risk["after"]["risk"]}) if risk else [1, 2, 3]


def risk_command(project: Project, kind: str, run: str, report: Record, form: dict[str, str]) -> list[str]:
    """Write the command of a question; the share of the population is kept with the project."""
    if kind == "absent":
        return commands.absent(run, range(1, _MOST_KNOWN + 1))
    share = form.get("fraction", "")
    project.save(studio={"fraction": share or None})
    return commands.stranger(run, share, sizes(report))


def latest(jobs: Jobs, project: Project, kind: str, run: str) -> Job | None:
    """Find the question of a kind that was asked last of a release."""
    found = [job for job in jobs.of(project) if job.kind == kind and f"runs/{run}" in job.argv]
    return found[-1] if found else None


def answered(job: Job | None) -> dict[str, Any] | None:
    """Put what was found as the page shows it: a table and what is said of it."""
    if job is None:
        return None
    found: dict[str, Any] = {"job": job_state(job), "lines": []}
    if job.state == "done":
        with places.reading("The answer of setveil risk"):
            title, lines, note = _SHOWN[job.kind](json.loads(job.output))
        found |= {"title": title, "heads": lines[0], "lines": lines[1:], "note": note}
    return found


def _strangers(result: Any) -> tuple[str, list[list[str]], str]:
    return stranger_table(result["population"])


def _absent(result: Any) -> tuple[str, list[list[str]], str]:
    return *absence_table(result), "A number, no promise: k^m-anonymity speaks of what a person has."


_SHOWN: dict[str, Callable[[Any], tuple[str, list[list[str]], str]]] = {
    "stranger": _strangers,
    "absent": _absent,
}
