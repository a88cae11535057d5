"""The page Run: make the release, see how it comes on, finish it early or call it off."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from setveil.base.staging import staged_file
from setveil.judges.guarantees import model_named
from setveil.methods import algorithms
from setveil.report.models import promise as promise_in_words
from setveil.studio import commands, places
from setveil.studio.data_kinds import kind_of
from setveil.studio.jobs import Job, Jobs
from setveil.studio.pages.hierarchy import saved
from setveil.studio.pages.promise import (
    facts_of,
    lines_of,
    listed_in_a_file,
    model_of,
    own_file,
    rows_of,
)
from setveil.studio.phases import job_state
from setveil.studio.projects import Project
from setveil.studio.render import Json, error_page, page, to
from setveil.studio.requests import form_of, whole
from setveil.studio.trees import column_trees, items_tree, joined

ABOUT = {  # statements about a release: their labels and helps
    "purpose": ("Purpose", "What the release is for."),
    "recipient": ("Recipient", "Who gets it."),
    "responsible": ("Responsible", "The person who is responsible for it."),
    "legal-basis": ("Legal basis", "The law or the consent that allows the release."),
    "review": ("Review", "When the release is reviewed."),
    "date": ("Date", "The date of the release, such as 2026-01-31."),
}
_TIMED = {"classes", "exact", "forest"}  # take a time limit, and can hand over the best so far
_LIMITS = {
    60: "at most 1 minute, then the best so far",
    300: "at most 5 minutes, then the best so far",
    1800: "at most half an hour, then the best so far",
    7200: "at most 2 hours, then the best so far",
}
_USUAL_LIMIT = 300
_OF_CLASSES = "classes", "class-gain", "not-split"  # options of no other method
_METHODS = {
    "aa": "AA, quick and greedy",
    "classes": "rows in published classes, each with the least loss; shows which items go together",
    "exact": "least loss, proven",
    "forest": "least loss, proven; a label means the same in every row",
    "hghs": "HgHs, greedy; suppresses outliers",
    "mhghs": "mHgHs, quick and greedy; suppresses outliers",
    "rt": "classes of rows, each with its best items",
}


_ORDERS = {
    "": "try all, choose the one that loses least",
    "last": "codes become broader first, periods and bands are dropped last",
    "first": "periods and bands are dropped first",
}


async def show(request: Request) -> Response:
    """Show the page."""
    return _page(request)


def _page(request: Request, errors: list[dict[str, str]] | None = None) -> Response:
    project: Project = request.state.project
    settings = project.settings()
    jobs: Jobs = request.app.state.studio.jobs
    job = jobs.latest(project, "anonymize")
    model = model_of(project)
    lacking = _lacking(settings, model)
    chosen = _chosen(settings, model)
    kind = kind_of(settings)
    methods = [name for name in _by_use(model) if kind.takes(name)]
    argv = commands.anonymize(project, "runs/NAME") if not lacking else []
    return page(
        request,
        "run.html",
        step="run",
        title="Run",
        status=400 if errors else 200,
        errors=errors or [],
        same_as=[argv] if argv else None,
        lacking=lacking,
        promise=_promised(project, model),
        methods=methods,
        described=_METHODS,
        chosen=chosen,
        timed=sorted(_TIMED),
        limits=_LIMITS,
        class_size=settings.get("class-size", ""),
        not_split="\n".join(row[0] for row in rows_of(project, "not-split", settings)),
        limit=_seconds(settings.get("time-limit", _USUAL_LIMIT)),
        statements=ABOUT,
        about={name: str(settings.get(name, "")) for name in ABOUT},
        external=bool(settings.get("external", False)),
        list_members=bool(settings.get("list-members", False)),
        suppress_below=settings.get("suppress-below", ""),
        job=None if job is None else job_state(job),
        job_out=None if job is None or job.out is None else job.out.name,
        nearest=None if job is None else _nearest(job),
        earlier=sum(1 for path in runs_of(project)),
        tree=items_tree(settings.get("hierarchy")) is not None,
        kind=kind,
        several=len(kind.lists) > 1,
        orders=_ORDERS,
        order=str(settings.get("fact-order", "")),
        by_parts=settings.get("fact-loss") == "parts",
        lines=bool(settings.get("fact-lines")),
    )


def _chosen(settings: dict[str, Any], model: str) -> str:
    """Name the method of the settings: where classes are asked for, no other is named."""
    usual = "classes" if settings.get("classes") else model_named(model).algorithm
    return str(settings.get("algorithm") or usual)


def _seconds(value: Any) -> int:
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return _USUAL_LIMIT


def _by_use(model: str) -> list[str]:
    """List the algorithms for a model, its usual one first, then those that have words here."""
    usual = model_named(model).algorithm
    names = algorithms.giving(model)
    return sorted(names, key=lambda name: (name != usual, name not in _METHODS, name))


def _lacking(settings: dict[str, Any], model: str) -> str:
    """Say what must be settled before a release can be made; empty: nothing."""
    if not settings.get("input"):
        return "data"
    needed = [name for name, option in model_named(model).options.items() if option.needed]
    return "promise" if any(name.replace("_", "-") not in settings for name in needed) else ""


def _promised(project: Project, model: str) -> str:
    settings = project.settings()
    if model in {"km-anonymity", "kkm"} and "k" in settings and "m" in settings:
        with places.reading("The promise"):
            return promise_in_words(facts_of(model, settings))
    names = [name for name in commands.PROMISE if name in settings and name not in {"model", "private"}]
    values = ", ".join(f"{name} = {settings[name]}" for name in names if name != "sensitive")
    return f"{model_named(model).title} ({values})"


def _nearest(job: Job) -> int | None:
    """Return the k that would be possible, if the run was refused for too great a k."""
    return None if job.error is None else job.error.get("greatest_k")


def runs_of(project: Project) -> list[str]:
    """List the names of a project's runs, the newest first."""
    if not project.runs.is_dir():
        return []
    made = [
        (path.stat().st_mtime_ns, path.name)
        for path in project.runs.iterdir()
        if not path.name.startswith(".")
        and places.is_text(path.name)
        and (path / "internal" / "report.json").is_file()
    ]
    return [name for _, name in sorted(made, reverse=True)]


async def start(request: Request) -> Response:
    """Make a release, unless one is being made already."""
    project: Project = request.state.project
    jobs: Jobs = request.app.state.studio.jobs
    form = {key: str(value).strip() for key, value in (await form_of(request)).items()}
    if any(job.kind == "anonymize" and not job.is_over for job in jobs.of(project)):
        return to(request, "p", project.name, "run")
    changes: dict[str, Any] = {}
    if "k" in form:  # the nearest that is possible
        changes["k"] = whole(form["k"])
    if "algorithm" in form:
        usual = model_named(model_of(project)).algorithm
        known = form["algorithm"] in algorithms.names()
        name = form["algorithm"] if known else usual
        limit = whole(form.get("time-limit", ""))
        timed = name in _TIMED and limit in _LIMITS
        in_classes = name == "classes"
        size = whole(form.get("class-size", "")) if in_classes else None
        changes |= {
            "algorithm": None if name == usual else name,
            **({} if in_classes else dict.fromkeys(_OF_CLASSES)),
            **(_not_split(project, form) if in_classes else {}),
            "class-size": size,
            "time-limit": limit if timed and limit != _USUAL_LIMIT else None,
            "external": True if "external" in form else None,
            "list-members": True if "list-members" in form else None,
            "suppress-below": whole(form.get("suppress-below", ""), 2),
            **{what: form.get(what, "")[:500] or None for what in ABOUT},
        }
    if "fact-order" in form:
        order = form["fact-order"]
        changes |= {
            "fact-order": order if order in _ORDERS and order else None,
            "fact-loss": "parts" if "by-parts" in form else None,
            "fact-lines": True if "fact-lines" in form and not order else None,
        }
    project.save(**changes)
    settings = project.settings()
    lacking = _lacking(settings, model_of(project))
    if lacking:
        return to(request, "p", project.name, lacking)
    await saved(request.app.state.studio, project)
    places.make_folder(project.runs)
    name = commands.run_name(project.runs, time.strftime("%Y-%m-%d-%H%M%S"))
    argv = commands.anonymize(project, f"runs/{name}", frozen(project, settings))
    jobs.start(project, "anonymize", argv, label="the run", out=project.runs / name)
    return to(request, "p", project.name, "run")


def _not_split(project: Project, form: dict[str, str]) -> dict[str, str | None]:
    """Take the items that no class is cut on; a file that the settings name stays if there are none."""
    file, items = own_file(project, "not-split"), lines_of(form.get("not-split", ""))
    if not items and project.settings().get("not-split") not in {None, str(file)}:
        return {}
    return {"not-split": listed_in_a_file(file, items)}


def frozen(project: Project, settings: Mapping[str, Any]) -> str | list[str] | None:
    """Copy the project's own hierarchy, so that later edits change nothing for this run."""
    setting = settings.get("hierarchy")
    if items_tree(setting) != str(project.hierarchy) or not project.hierarchy.is_file():
        return None
    digest = hashlib.sha256(project.hierarchy.read_bytes()).hexdigest()[:16]
    copy = project.folder / "hierarchies" / f"{digest}.csv"
    if not copy.exists():
        places.make_folder(copy.parent)
        with staged_file(copy) as staged:
            shutil.copyfile(project.hierarchy, staged)
    return joined(f"hierarchies/{copy.name}", column_trees(setting))


def _job(request: Request, form: Any) -> Job:
    jobs: Jobs = request.app.state.studio.jobs
    return jobs.find(request.state.project, whole(form.get("job")) or 0)


async def finish(request: Request) -> Response:
    """End a job with the best so far."""
    return await _end(request, finishing=True)


async def cancel(request: Request) -> Response:
    """End a job, and leave nothing of it."""
    return await _end(request, finishing=False)


async def _end(request: Request, *, finishing: bool) -> Response:
    form = await form_of(request)
    jobs: Jobs = request.app.state.studio.jobs
    try:
        job = _job(request, form)
    except LookupError:
        return error_page(request, 404, "No such work", "This work is over already.")
    (jobs.finish if finishing else jobs.cancel)(job)
    if "application/json" in request.headers.get("accept", ""):
        return Json(job_state(job))
    back = form.get("back")
    known = back in {"compare", "hierarchy", "promise", "series"}
    return to(request, "p", request.state.project.name, str(back) if known else "run")


async def events(request: Request) -> Response:
    """Return how the project's jobs stand, at once and whenever that changes."""
    jobs: Jobs = request.app.state.studio.jobs

    async def stream() -> AsyncIterator[str]:
        async for _ in jobs.changes(request.state.project):
            content = {"jobs": [job_state(job) for job in jobs.of(request.state.project)]}
            yield f"data: {json.dumps(content)}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


routes = [
    Route("/run", show),
    Route("/run/start", start, methods=["POST"]),
    Route("/run/finish", finish, methods=["POST"]),
    Route("/run/cancel", cancel, methods=["POST"]),
    Route("/events", events),
]
