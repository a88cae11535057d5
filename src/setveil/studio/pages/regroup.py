"""Page Hierarchy, new groups within those that stay: a search that takes a while, and what it found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from setveil.runs.options.names import COLUMNS
from setveil.studio import commands, places
from setveil.studio.jobs import Job, Jobs
from setveil.studio.phases import job_state
from setveil.studio.projects import Project
from setveil.studio.requests import fault, whole
from setveil.studio.trees import items_tree

FOUND = "trees/regrouped.json"
_KIND = "regroup"
_JSON = "--json"  # for the losses; the command that is kept does without
USUAL = {"within": "1", "seconds": "300"}
_MEASURES = {"lm": "LM", "entropy": "Entropy"}


def shown(request: Request) -> dict[str, Any]:
    """Say how the search stands, and what it found; for the page."""
    project: Project = request.state.project
    job = _latest(request)
    found = job is not None and job.state == "done" and (project.folder / FOUND).is_file()
    return {
        "regroup": dict(USUAL),
        "regroup_wrong": False,
        "regrouping": None if job is None or job.is_over else job_state(job),
        "regroup_failed": job.error if job is not None and job.state == "failed" else None,
        "regrouped": _words_of(job) if found and job is not None else [],
    }


def offered(request: Request) -> dict[str, Any]:
    """Return the state of the search for new groups, for the page Promise.

    `regroups`: a search makes sense for these groups. `better`: the loss before and now, the promise, and
    whether the loss is halved; None without a result yet.
    """
    project: Project = request.state.project
    settings = project.settings()
    tree = items_tree(settings.get("hierarchy"))
    regrouping = shown(request)
    job = _latest(request)
    better = _gained(job) if regrouping["regrouped"] and job is not None else None
    regroups = tree is not None and not any(name in settings for name in COLUMNS)
    return {"regroups": regroups, "better": better, **regrouping}


def start(request: Request, form: Mapping[str, str]) -> dict[str, str] | None:
    """Begin to search; return what is wrong with the form, if anything is."""
    project: Project = request.state.project
    settings = project.settings()
    tree = items_tree(settings.get("hierarchy"))
    within, seconds = whole(form.get("within", "")), whole(form.get("seconds", ""), 1)
    if any(name in settings for name in COLUMNS):
        return fault("The items of a table are not regrouped.", "within")
    if tree is None:
        return fault("There are no groups yet.", "within")
    if within is None or seconds is None:
        return fault("Whole numbers are expected here, as 1 and 300.", "within")
    job = _latest(request)
    if job is not None and not job.is_over:
        return None
    before = _copy(project, tree)
    options = [f"--regroup={before}", f"--within={within}", f"--time-limit={seconds}"]
    for name in ("k", "m", "objective"):
        value = form.get(name) or settings.get(name)
        if value in ("lm", "entropy") or whole(str(value)) is not None:
            options.append(f"--{name}={value}")
    argv = [*commands.build(project, options, FOUND), _JSON]
    request.app.state.studio.jobs.start(project, _KIND, argv, label="the new groups")
    return None


def found(request: Request) -> list[str] | None:
    """Return the command that made what was found, if it is there."""
    job = _latest(request)
    there = (request.state.project.folder / FOUND).is_file()
    done = job is not None and job.state == "done" and there
    return [word for word in job.argv if word != _JSON] if done and job is not None else None


def _gained(job: Job) -> dict[str, Any]:
    """Return the loss before and now, the promise, and whether the loss is halved."""
    regrouped = json.loads(job.output)["regrouped"]
    before, now = regrouped["before"]["loss"], regrouped["after"]["loss"]
    return {
        "measure": _MEASURES[regrouped["objective"]],
        "before": f"{before:.4f}",
        "now": f"{now:.4f}",
        "k": regrouped["k"],
        "m": regrouped["m"],
        "halved": 2 * now <= before,
    }


def _words_of(job: Job) -> list[str]:
    """Return what is published of the groups, without the name of the file that they were written to."""
    lines = "\n".join(job.notes).splitlines()
    return [lines[0].removeprefix(f"{FOUND}: "), *lines[1:]] if lines else []


def _latest(request: Request) -> Job | None:
    jobs: Jobs = request.app.state.studio.jobs
    return jobs.latest(request.state.project, _KIND)


def _copy(project: Project, tree: str) -> str:
    """Keep the groups that are made again, so that the command stays one that can be run again."""
    folder = places.make_folder(project.folder / "trees")
    number = 1
    while (folder / f"before-{number}.csv").exists():
        number += 1
    shutil.copyfile(project.folder / tree, folder / f"before-{number}.csv")
    return f"trees/before-{number}.csv"
