"""The page Series: releases about the same people in order, what the next one costs, and whether all hold."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.base.errors import DataError
from setveil.base.staging import staged_file
from setveil.report.series import advice_words, people_words, promise_words, verdict_text, way_cells, way_name
from setveil.report.ways import WAYS
from setveil.studio import commands, places
from setveil.studio.data_kinds import kind_of
from setveil.studio.desks import Refused
from setveil.studio.jobs import Job, Jobs
from setveil.studio.pages.compare import in_background
from setveil.studio.pages.data import plain_path
from setveil.studio.pages.hierarchy import saved
from setveil.studio.pages.run import frozen, runs_of
from setveil.studio.phases import job_state
from setveil.studio.projects import Project
from setveil.studio.render import page, to
from setveil.studio.requests import fault, form_of, whole
from setveil.studio.trees import items_tree

PLAN, ADD, VERIFY = "series-plan", "series-add", "series-verify"
_SHORT = 3  # seconds that an answer is waited for before the page is shown
_KINDS = {
    "periods": "what came since the last one: a month's purchases, a year's stays",
    "register": "everyone so far, with all items so far: nobody leaves, and no item is removed",
}
_KNOWN = {
    "histories": "An item counts once, in all releases in which a person has it, such as a disease",
    "facts": "An item in one release counts once: where the same item again is news, as with purchases",
}
_PRESENCE = {
    "implied": "A known item implies that the person is in its releases",
    "known": "It may be known without an item, and counts as one of those that are known",
    "ignored": "It does not count as known",
}
_IDS = {
    "keyed": "Codes by a secret key, which is next to the ledger",
    "plain": "Ids as they are in the files",
}
_HOLD_BACK = {
    "needed": "append: only people who would be exposed under any labels",
    "found": "found: its own best labels, without the people whom they would expose",
    "returners": "returners: only people who were in no release before",
}
_SEARCHES = {"exact": "least loss, proven", "greedy": "greedy, for large data"}
_LIMITS = {0: "no limit", 60: "1 minute", 300: "5 minutes", 1800: "half an hour"}
_ALONE = "Work on this series is under way: it is changed by one thing at a time."


async def show(request: Request) -> Response:
    """Show the page."""
    return await _page(request)


async def _page(
    request: Request,
    errors: list[dict[str, str]] | None = None,
    values: Mapping[str, str] | None = None,
    said: str = "",
) -> Response:
    project: Project = request.state.project
    jobs: Jobs = request.app.state.studio.jobs
    begun = (project.folder / places.SERIES).is_dir()
    series: dict[str, Any] = {"releases": []}
    problems = list(errors or [])
    if begun:
        try:
            series = await request.app.state.studio.desks.ask(project, "series_told")
        except Refused as refused:
            series["broken"] = {"message": refused.message, "hint": refused.hint}
    names = [one["name"] for one in series["releases"]]
    settings = project.settings()
    adding = jobs.latest(project, ADD)
    working = next((job for job in jobs.of(project) if job.kind in {ADD, PLAN} and not job.is_over), None)
    verify = jobs.latest(project, VERIFY)
    tree = items_tree(settings.get("hierarchy"))
    return page(
        request,
        "series.html",
        step="series",
        title="Series" if begun else "Begin the series",
        status=400 if problems else 200,
        errors=problems,
        same_as=_commands(project, tree) if begun and "input" in settings else None,
        begun=begun,
        series=series,
        promise=promise_words(series) if "k" in series else "",
        runs={name for name in names if name in runs_of(project)},
        strays=[name for name in runs_of(project) if name not in names] if begun else [],
        kinds=_KINDS,
        known=_KNOWN,
        presence=_PRESENCE,
        ids=_IDS,
        hold_back=_HOLD_BACK,
        searches=_SEARCHES,
        limits=_LIMITS,
        fields={**_USUAL, **({"counts": ""} if series.get("kind") == "register" else {}), **(values or {})},
        said=said,
        ready="input" in settings,
        kind=kind_of(settings),
        file=Path(str(settings.get("input", ""))).name,
        tree=tree is not None or bool(names),
        plan=_plan(project, jobs),
        working=None if working is None else job_state(working),
        added=None if adding is None or not adding.is_over else job_state(adding),
        verify=None if verify is None else job_state(verify),
        verdict=_verdict(verify),
    )


_USUAL = {
    "k": "5", "m": "2", "kind": "periods", "known": "histories", "presence": "implied", "ids": "keyed",
    "name": "", "hold-back": "needed", "labels-of": "", "algorithm": "exact", "time-limit": "0",
    "counts": "yes", "external": "", "merge": "", "ways": "yes", "published": "",
}  # fmt: skip


def _commands(project: Project, tree: str | None) -> list[list[str]]:
    return [
        commands.series_plan(project, tree),
        commands.series_add(project, tree, "NAME", "runs/NAME"),
        commands.series_verify(),
    ]


# --- what was found


def _plan(project: Project, jobs: Jobs) -> dict[str, Any] | None:
    """Show the prices that were found last, and whether they are of what would be published now."""
    job = jobs.latest(project, PLAN)
    place = project.fronts / "series.json"
    found: dict[str, Any] = {"job": None if job is None else job_state(job), "ways": []}
    try:
        kept = places.read_json(place)
        plan, most = (
            kept["plan"],
            max((one["lm"] for one in kept["plan"]["ways"] if "lm" in one), default=0.0),
        )
        found["ways"] = [
            {
                "name": way_name(one), "cells": way_cells(one), "why": one.get("why", ""),
                "share": round(100 * one.get("lm", 0) / most, 1) if most else 0, "what": WAYS[one["way"]],
            }
            for one in plan["ways"]
        ]  # fmt: skip
        found |= {
            "people": people_words(plan), "advice": advice_words(plan), "when": str(kept["when"]),
            "old": kept["of"] != _state(project),
        }  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        found["ways"] = []
    return found if found["ways"] or job is not None else None


def _state(project: Project) -> list[Any]:
    """Say of what prices are: the data, the groups and the releases as they are now."""
    studio, settings = project.studio, project.settings()
    tree = items_tree(settings.get("hierarchy"))
    stamps = []
    for path in (project.folder / (tree or ""), project.folder / places.SERIES / "series.json"):
        try:
            stamps.append(path.stat().st_mtime_ns if path.is_file() else 0)
        except (OSError, ValueError):
            stamps.append(0)
    return [settings.get("input"), studio.get("sha256"), studio.get("mtime_ns"), tree, *stamps]


def _verdict(job: Job | None) -> dict[str, Any] | None:
    if job is None or job.state != "done":
        return None
    try:
        found = json.loads(job.output)
        return {"holds": found["holds"], "lines": verdict_text(found).split("\n")}
    except (ValueError, KeyError, TypeError):
        return None


# --- what is done


async def begin(request: Request) -> Response:
    """Begin the series: the ledger, and its key."""
    project: Project = request.state.project
    form = {key: str(value) for key, value in (await form_of(request)).items()}
    k, m = whole(form.get("k", ""), 2), whole(form.get("m", ""), 1)
    errors = []
    if k is None:
        errors.append(fault("k must be a whole number of at least 2.", "k"))
    if m is None:
        errors.append(fault("m must be a whole number of at least 1.", "m"))
    if errors:
        return await _page(request, errors, form)
    settings = {name: form.get(name, _USUAL[name]) for name in ("kind", "known", "presence", "ids")}
    try:
        await request.app.state.studio.desks.ask(project, "series_begin", k=k, m=m, **settings)
    except Refused as refused:
        return await _page(request, [_said(refused)], form)
    project.save(k=k, m=str(m))
    return to(request, "p", project.name, "series")


async def plan(request: Request) -> Response:
    """Price every way to publish the project's data next; nothing is written but what it costs."""
    studio, project = request.app.state.studio, request.state.project
    form = {key: str(value) for key, value in (await form_of(request)).items()}
    if errors := _cannot(request):
        return await _page(request, errors, form)
    await saved(studio, project)
    argv = commands.series_plan(project, _tree(project), _search(form))
    of = _state(project)
    job = studio.jobs.start(project, PLAN, argv, label="the plan")
    in_background(_keep_plan(studio.jobs, project, job, of))
    return to(request, "p", project.name, "series")


async def _keep_plan(jobs: Jobs, project: Project, job: Job, of: list[Any]) -> None:
    await jobs.wait(job)
    if job.state != "done":
        return
    content = {"plan": json.loads(job.output), "of": of, "when": time.strftime("%Y-%m-%d %H:%M")}
    places.make_folder(project.fronts)
    with staged_file(project.fronts / "series.json") as staged:
        staged.write_text(json.dumps(content), encoding="utf-8")


async def add(request: Request) -> Response:
    """Publish the project's data as the next release, or record one that is out."""
    studio, project = request.app.state.studio, request.state.project
    form = {key: str(value).strip() for key, value in (await form_of(request)).items()}
    form = {**dict.fromkeys(("counts", "external", "merge", "ways"), ""), **form}
    if errors := _cannot(request):
        return await _page(request, errors, form)
    name = form.get("name", "")
    try:
        await studio.desks.ask(project, "series_free_name", name=name)
        published = plain_path(form["published"]) if form.get("published") else None
    except Refused as refused:
        return await _page(request, [_said(refused, "name")], form)
    except DataError as error:
        return await _page(request, [fault(error.message, "published", error.hint)], form)
    await saved(studio, project)
    label = f"release {name}"
    if published is not None:
        argv = commands.series_published(project, name, str(published))
        studio.jobs.start(project, ADD, argv, label=label)
        return to(request, "p", project.name, "series")
    out = project.runs / name
    places.make_folder(project.runs)
    argv = commands.series_add(project, _tree(project), name, f"runs/{name}", _how(form))
    studio.jobs.start(project, ADD, argv, label=label, out=out, settled=lambda: _is_in(project, name))
    return to(request, "p", project.name, "series")


def _how(form: Mapping[str, str]) -> list[str]:
    """Write the choices of the form as options; the command refuses what does not go together."""
    words = _search(form)
    if form.get("hold-back") in _HOLD_BACK and form["hold-back"] != _USUAL["hold-back"]:
        words += ["--hold-back", form["hold-back"]]
    if form.get("labels-of"):
        words += ["--labels-of", form["labels-of"]]
    flags = {"merge": "--merge", "external": "--external", "ways": "--ways"}
    words += [flag for name, flag in flags.items() if form.get(name)]
    return words if form.get("counts") else [*words, "--no-counts"]


def _search(form: Mapping[str, str]) -> list[str]:
    words = []
    if form.get("algorithm") == "greedy":
        words += ["--algorithm", "greedy"]
    limit = whole(form.get("time-limit", ""))
    return [*words, "--time-limit", str(limit)] if limit in _LIMITS and limit else words


def _is_in(project: Project, name: str) -> bool:
    """Return whether the ledger has a release."""
    try:
        found = places.read_json(project.folder / places.SERIES / "series.json")
        return any(one["name"] == name for one in found["releases"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


async def verify(request: Request) -> Response:
    """Check the promise of all releases together, from what is published."""
    studio, project = request.app.state.studio, request.state.project
    job = studio.jobs.start(project, VERIFY, commands.series_verify(), label="the check")
    with contextlib.suppress(TimeoutError):  # a short one is not worth a page that waits
        await asyncio.wait_for(studio.jobs.wait(job), _SHORT)
    return to(request, "p", project.name, "series")


async def forget(request: Request) -> Response:
    """Forget someone; whom is in no address, no list of processes and no log."""
    form = await form_of(request)
    return await _changed(request, "series_forget", "id", id=str(form.get("id", "")).strip())


async def drop(request: Request) -> Response:
    """Remove the last release of the series."""
    form = await form_of(request)
    sure = form.get("not-shared") == "yes"
    return await _changed(
        request, "series_drop", "not-shared", name=str(form.get("name", "")), not_shared=sure
    )


async def _changed(request: Request, do: str, field: str, **arguments: Any) -> Response:
    try:
        found = await request.app.state.studio.desks.ask(request.state.project, do, **arguments)
    except Refused as refused:
        return await _page(request, [_said(refused, field)])
    return await _page(request, said=found["words"])


async def clear(request: Request) -> Response:
    """Delete the folder of a release that is in no series: work on it was ended, or it was taken out."""
    project: Project = request.state.project
    form = await form_of(request)
    name = str(form.get("run", ""))
    busy = any(not job.is_over for job in request.app.state.studio.jobs.of(project) if job.kind == ADD)
    if name in runs_of(project) and not _is_in(project, name) and form.get("sure") == "yes" and not busy:
        shutil.rmtree(project.runs / name)
    return to(request, "p", project.name, "series")


def _cannot(request: Request) -> list[dict[str, str]]:
    """Say why nothing can be published now."""
    project: Project = request.state.project
    settings = project.settings()
    jobs: Jobs = request.app.state.studio.jobs
    if not (project.folder / places.SERIES).is_dir():
        return [fault("The series is not started yet.", "k")]
    if any(job.kind in {ADD, PLAN} and not job.is_over for job in jobs.of(project)):
        return [fault(_ALONE, "", "Wait until it is done, or cancel it.")]
    if "input" not in settings:
        return [fault("There are no data to publish.", "", "Choose them on the page Data.")]
    if not kind_of(settings).in_series:
        return [fault("A series supports rows of items, not tables.", "", "Read the data otherwise.")]
    return []


def _tree(project: Project) -> str | None:
    """Name the groups, in a copy that stays as it is: they are those of the next release, too."""
    found = frozen(project, project.settings())
    return items_tree(found if found is not None else project.settings().get("hierarchy"))


def _said(refused: Refused, field: str = "") -> dict[str, str]:
    return fault(refused.message, field, refused.hint)


routes = [
    Route("/series", show),
    Route("/series/begin", begin, methods=["POST"]),
    Route("/series/plan", plan, methods=["POST"]),
    Route("/series/add", add, methods=["POST"]),
    Route("/series/verify", verify, methods=["POST"]),
    Route("/series/forget", forget, methods=["POST"]),
    Route("/series/drop", drop, methods=["POST"]),
    Route("/series/clear", clear, methods=["POST"]),
]
