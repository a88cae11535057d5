"""The page Release: what came out, why, and what may be shared."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.base.errors import DataError
from setveil.report import words
from setveil.report.models import check, words_for
from setveil.report.record import Record, read_record
from setveil.report.run.choice import uses_by_fit
from setveil.report.run.exposure import alone_bars, found_alone, what_is_known
from setveil.report.run.kinds import promised
from setveil.report.verdict import verdict_text
from setveil.studio import commands, places
from setveil.studio.desks import Lost, Refused
from setveil.studio.jobs import Job, Jobs
from setveil.studio.pages import release_evidence as evidence
from setveil.studio.pages import release_figures as figures
from setveil.studio.pages import release_handout as handout
from setveil.studio.pages import release_risk as strangers
from setveil.studio.pages.promise import spare
from setveil.studio.pages.run import runs_of
from setveil.studio.phases import job_state
from setveil.studio.projects import Project
from setveil.studio.render import Json, at, error_page, framed, page, to
from setveil.studio.requests import form_of, whole

_EXPLAINED = {"km-anonymity", "constraints"}  # why answers of these
_ONE_LABEL = {"global", "table-cut"}  # of each item, whatever row it is in
_QUESTIONS = ("why", "query", "verify", "stranger", "absent", "checker")  # questions of a release
NEIGHBOUR = "neighbour"  # a job that makes a release beside another one
_FOLDS = {  # of the page, by the parameters of its address that show a part of the fold
    "left": {"why", "query", "show", "find", "row"},
    "research": {"stranger", "absent", "neighbour", "others"},
}
_ROWS = 10  # shown before and after
_COUNTS = 20
_SHORT = 3  # seconds that an answer is waited for before the page is shown
_STATES = {
    "closed": "Published under a broader label",
    "out": "Suppressed",
    "kept": "Published as they are",
}
# of the summary, beside the figures
_SUMMARIZED = ("Lost", "Optimum", "Items", "Facts", "Rows", "Suppressed", "Dropped")


async def show(request: Request) -> Response:
    """Show one release of the project, by default the newest."""
    project: Project = request.state.project
    run = _run(request)
    if run is None and request.query_params.get("run"):
        return _missing(request)
    if run is None:
        return page(request, "release.html", step="release", title="Release", run=None)
    parameters = request.query_params
    report = report_of(project, run)
    state = parameters.get("show", "closed")
    names = await _ask(request, "release_names", run=run, state=state, text=parameters.get("find", ""))
    first = max(_number(parameters.get("row")) - 1, 0)
    rows = await _ask(request, "release_rows", run=run, first=first, count=_ROWS)
    picture = await _ask(request, "release_picture", run=run)
    said = await _ask(request, "release_in_words", run=run)
    columns = await _ask(request, "release_columns", run=run) if report.get("table") else {"columns": []}
    jobs: Jobs = request.app.state.studio.jobs
    why, query, verify, checker = (
        _job(jobs, project, parameters.get(kind), kind) for kind in ("why", "query", "verify", "checker")
    )
    stranger, absent = (strangers.latest(jobs, project, kind, run) for kind in ("stranger", "absent"))
    with places.reading(f"The record of the release {run}"):
        recorded = _recorded(project, report)
        same_as = [shlex.split(report["command"])[1:]] if report.get("command") else []
        same_as += [commands.verify(f"runs/{run}", report)]
    neighbour = _neighbour(jobs, project)
    same_as += [job.argv for job in (why, query, neighbour, stranger, absent, checker) if job is not None]
    return page(
        request,
        "release.html",
        step="release",
        title="Release",
        same_as=same_as,
        run=run,
        runs=_described(project),
        **recorded,
        told=[pair for pair in said.get("facts", []) if pair[0] in _SUMMARIZED],
        states=_STATES,
        state=state,
        find=parameters.get("find", ""),
        names=names,
        columns=columns if "problem" in columns else {"columns": figures.columns(columns["columns"])},
        others=_others(project, run, report),
        neighbour=None if neighbour is None else job_state(neighbour),
        picture=picture,
        opened=_opened(parameters),
        rows=rows,
        row=first + 1,
        step_of_rows=_ROWS,
        counts=_counts(project, run),
        why=None if why is None else _why(why),
        query=None if query is None else _query(query),
        verify=None if verify is None else _verify(verify),
        refused=await _ask(request, "release_refused", run=run),
        stranger=strangers.answered(stranger),
        absent=strangers.answered(absent),
        fraction=project.studio.get("fraction", ""),
        checker=None if checker is None else job_state(checker),
        checkers=[name for name in handout.CHECKERS if (project.runs / run / "published" / name).is_file()],
        files=[
            (handout.name_of(path), path.stat().st_size) for path in handout.handed_out(project.runs / run)
        ],
        published=project.runs / run / "published",
        public=(project.runs / run / "published" / "report.html").is_file(),
        kept=run in project.studio.get("kept", []),
    )


def _opened(parameters: Mapping[str, str]) -> str:
    """Name the fold that the page is opened at: the one whose answer the address has."""
    return next((fold for fold, names in _FOLDS.items() if names & parameters.keys()), "share")


def _neighbour(jobs: Jobs, project: Project) -> Job | None:
    """Find the work on releases next to this one: what runs, what waits, or what was last."""
    found = [job for job in jobs.of(project) if job.kind == NEIGHBOUR]
    return next((job for job in found if not job.is_over), found[-1] if found else None)


def _recorded(project: Project, report: Record) -> dict[str, Any]:
    """Put what the record of a release says as the page shows it."""
    guarantee = report["guarantee"]
    return {
        "holds": guarantee["holds"],
        "rows_are": guarantee.get("rows_are", ""),
        "promise": promised(report),
        "outcome": check(guarantee),
        "open_points": words_for(guarantee).not_covered(guarantee),
        "tiles": figures.tiles(report),
        "classes": figures.classes(report),
        "facts": figures.facts(report),
        "uses": uses_by_fit(report),
        "exposed": found_alone(report),
        "bars": alone_bars(report),
        "unit": words.unit(report),
        "known": what_is_known(report),
        "old": _is_old(project, report),
        "can_say_why": _can_say_why(report),
        "has_tree": bool(report.get("hierarchy")) and report["recoding"] in _ONE_LABEL,
    }


def _can_say_why(report: Record) -> bool:
    """Return whether why can explain an unsplit label; in a series, one release alone does not decide."""
    if report.get("table"):
        return True
    one_of_those = (
        report["recoding"] in {"global", "classes", "facts"} and report["guarantee"]["model"] in _EXPLAINED
    )
    return one_of_those and "known" not in report["guarantee"] and "series" not in report


def _run(request: Request) -> str | None:
    """Name the release that is asked for, or the newest; None if there is none (of this name)."""
    made = runs_of(request.state.project)
    wanted = request.query_params.get("run")
    if wanted:
        return wanted if wanted in made else None
    return made[0] if made else None


def report_of(project: Project, run: str) -> Record:
    """Read the record of a release."""
    return read_record(project.runs / run / "internal" / "report.json")


async def _ask(request: Request, do: str, **arguments: Any) -> dict[str, Any]:
    """Ask the desk for a part of the page; what it cannot tell is said in that part."""
    try:
        return await request.app.state.studio.desks.ask(request.state.project, do, **arguments)  # type: ignore[no-any-return]
    except (Refused, Lost) as error:
        return {"problem": error.message, "hint": error.hint}


def _number(text: str | None) -> int:
    return whole(text) or 0


def _job(jobs: Jobs, project: Project, number: str | None, kind: str) -> Job | None:
    if number is None:
        return None
    try:
        found = jobs.find(project, _number(number))
    except LookupError:
        return None
    return found if found.kind == kind else None


def _is_old(project: Project, report: Record) -> bool:
    """Return whether the data have been read again, and are others, since a release was made."""
    now, then = project.studio.get("sha256"), report["input"]["sha256"]
    return now is not None and then is not None and now != then


def _described(project: Project) -> list[dict[str, Any]]:
    """List the releases there are, each in a few words."""
    kept = project.studio.get("kept", [])
    found = []
    for name in runs_of(project):
        with places.reading(f"The record of the release {name}"):
            report = report_of(project, name)
            utility = report["utility"]
            found.append(
                {
                    "name": name,
                    "phrase": report["guarantee"]["phrase"],
                    "algorithm": report["algorithm"]["name"],
                    "loss": words.measure(utility["lm"]) if "lm" in utility else "",
                    "kept": name in kept,
                }
            )
    return found


def _others(project: Project, run: str, report: Record) -> dict[str, Any] | None:
    """List alternatives, from the records of this release and of those like it."""
    if figures.share_of(report) is None:
        return None
    made = {}
    for name in runs_of(project):
        if name != run:
            with contextlib.suppress(DataError):  # one that cannot be read is no neighbour
                other = report_of(project, name)
                if figures.same_but_share(report, other):
                    made[name] = other
    with places.reading(f"The record of the release {run}"):
        return figures.others(run, report, made)


def _counts(project: Project, run: str) -> dict[str, Any] | None:
    """Read the counts that are published next to the rows, the greatest first."""
    place = project.runs / run / "published" / "counts.csv"
    if not place.is_file():
        return None
    with places.reading("counts.csv"), place.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
        in_classes = header[0] == "class"
        ordered = sorted(lines, key=lambda line: (-int(line[-1]), line[-3], line[0]))
        shown = [
            (
                (where[0] or "all",) if in_classes else (),
                item,
                label if label != item else "",
                f"{int(rows):,}",
            )
            for *where, item, label, rows in ordered[:_COUNTS]
        ]
    return {"all": len(lines), "in_classes": in_classes, "lines": shown}


def _answer(job: Job) -> Any:
    try:
        return json.loads(job.output)
    except ValueError:
        return None


def _why(job: Job) -> dict[str, Any]:
    """Put the answer of why as the page shows it, next to what to do about it."""
    found = _answer(job) if job.state == "done" else None
    if found is None:
        return {"job": job_state(job), "title": job.label, "parts": [], "of_row": _of_row(job)}
    actions: list[tuple[list[str], int]] = []
    in_tree = "column" not in found and found.get("unit") != "fact"
    for one in found["tries"]:
        blamed = one.get("leave_out") if found.get("unit") != "fact" else None  # facts have no weights
        if blamed and blamed["labels"] and blamed["labels"] not in [names for names, _ in actions]:
            actions.append((blamed["labels"], blamed["entries"]))
    shown = [
        (_together(entry), f"{entry.get('support', 0):,}") for one in found["tries"] for entry in one["first"]
    ]
    parts = [part.split("\n") for part in found["text"].split("\n\n")]
    # The combinations are shown apart, as they are for inside only.
    said = [[_ended(line) for line in part if not line.startswith("  ")] for part in parts]
    return {
        "job": job_state(job),
        "title": job.label,
        "name": found["name"],
        "parts": [part for part in said if part],
        "of_row": _of_row(job),
        "in_tree": in_tree,
        "actions": actions[:3],
        "combinations": list(dict.fromkeys(shown)),
    }


def _of_row(job: Job) -> bool:
    """Return whether why was asked in a row, below which the answer belongs: of a table, or in its class."""
    return "--row" in job.argv or "--class" in job.argv


def _together(entry: dict[str, Any]) -> str:
    """Name the labels of a combination: those of a class, and items."""
    known = [f"{name} {label}" for name, label in entry.get("class", {}).items()]
    return ", ".join([*known, *entry["itemset"]])


def _ended(line: str) -> str:
    return f"{line[:-1]}." if line.endswith(":") else line


def _query(job: Job) -> dict[str, Any]:
    found = _answer(job) if job.state == "done" else None
    answers = [
        (
            ", ".join(one["itemset"]),
            f"{round(one['estimate']):,}",
            _bounds(one),
        )
        for one in found or []
    ]
    return {"job": job_state(job), "asked": job.label, "answers": answers}


def _bounds(answer: dict[str, Any]) -> str:
    """Say between which counts an answer lies; nothing bounds what is estimated from counts with noise."""
    if "least" not in answer:
        return ""
    least, greatest = answer["least"], answer["greatest"]
    return "exactly" if least == greatest else f"{least:,} to {greatest:,}"


def _verify(job: Job) -> dict[str, Any]:
    found = _answer(job) if job.state == "done" else None
    text = "" if found is None else verdict_text(found, str(found.get("phrase") or "the promise"))
    return {"job": job_state(job), "holds": bool(found and found["holds"]), "text": text}


def _missing(request: Request) -> Response:
    return error_page(request, 404, "No such release", "There is no release of this name.")


async def _start(request: Request, kind: str) -> Response:
    """Ask a question of a release; the page shows the answer when it is there."""
    project: Project = request.state.project
    form = {key: str(value).strip() for key, value in (await form_of(request)).items()}
    run = form.get("run", "")
    if run not in runs_of(project):
        return _missing(request)
    folder = f"runs/{run}"
    if kind == "verify":
        with places.reading(f"The record of the release {run}"):
            argv, label = commands.verify(folder, report_of(project, run)), "the check"
    elif kind == "checker":
        argv, label = commands.checker(folder), "the checker"
    elif kind in ("stranger", "absent"):
        with places.reading(f"The record of the release {run}"):
            argv = strangers.risk_command(project, kind, folder, report_of(project, run), form)
        label = "the count"
    elif kind == "why":
        label, row = form.get("name", ""), whole(form.get("row", ""), 1)
        class_ = whole(form.get("class", ""))
        argv = commands.why(folder, label, row, class_)
        place = f" of row {row:,}" if row else "" if class_ is None else f" in class {class_}"
        label = f"{label}{place}" if label else label
    else:
        items = form.get("items", "")
        with places.reading(f"The record of the release {run}"):
            layout = report_of(project, run)["published"].get("layout", {})
        written = items.replace(",", " ") if layout.get("format") == "fimi" else items  # as its rows are
        argv, label = commands.query(folder, [written]), items
    if not label:
        return to(request, "p", project.name, "release")
    job = request.app.state.studio.jobs.start(project, kind, argv, label=label)
    with contextlib.suppress(TimeoutError):  # a short one is not worth a page that waits
        await asyncio.wait_for(request.app.state.studio.jobs.wait(job), _SHORT)
    return _back(request, run, kind, **{kind: job.id})


def _back(request: Request, run: str, part: str = "", **more: Any) -> Response:
    """Go back to a release, to a part of it."""
    from urllib.parse import urlencode

    from starlette.responses import RedirectResponse

    place = at(request, "p", request.state.project.name, "release")
    return RedirectResponse(f"{place}?{urlencode({'run': run, **more})}#{part}", status_code=303)


async def leave_out(request: Request) -> Response:
    """Let items count for nothing, so that they are suppressed where that helps others, and run again."""
    project: Project = request.state.project
    form = await form_of(request)
    spare(project, [str(name) for name in form.getlist("name")])
    return to(request, "p", project.name, "run")


async def neighbours(request: Request) -> Response:
    """Make the releases for the next shares on either side, to be compared with this one."""
    project: Project = request.state.project
    jobs: Jobs = request.app.state.studio.jobs
    run = str((await form_of(request)).get("run", ""))
    if run not in runs_of(project):
        return _missing(request)
    with places.reading(f"The record of the release {run}"):
        report = report_of(project, run)
        found = figures.others(run, report, {})
    busy = any(job.kind == NEIGHBOUR and not job.is_over for job in jobs.of(project))
    for share, written in [] if busy or found is None else found["compute"]:
        name = commands.run_name(project.runs, f"{run}-share-{share.replace('/', '-')}")
        argv = commands.again(report, f"runs/{name}", share=share)
        jobs.start(project, NEIGHBOUR, argv, label=f"the share of {written}", out=project.runs / name)
    return _back(request, run, "others", others="made")


async def share(request: Request) -> Response:
    """Take another share of the columns in the loss for the next release."""
    project: Project = request.state.project
    percent = whole(str((await form_of(request)).get("percent", "")))
    if percent is None or percent > 100:
        return error_page(request, 400, "No such share", "A share is a whole number from 0 to 100.")
    project.save(share=str(Fraction(percent, 100)))
    return to(request, "p", project.name, "run")


async def keep(request: Request) -> Response:
    """Keep a release for comparing, or keep it no longer."""
    project: Project = request.state.project
    form = await form_of(request)
    run = str(form.get("run", ""))
    if run not in runs_of(project):
        return _missing(request)
    kept = [name for name in project.studio.get("kept", []) if name != run]
    if form.get("keep") == "yes":
        kept.append(run)
    project.save(studio={"kept": kept or None})
    return _back(request, run)


async def delete(request: Request) -> Response:
    """Delete a release."""
    project: Project = request.state.project
    form = await form_of(request)
    run = str(form.get("run", ""))
    if run not in runs_of(project) or form.get("sure") != "yes":
        return _missing(request)
    shutil.rmtree(project.runs / run)
    kept = [name for name in project.studio.get("kept", []) if name != run]
    project.save(studio={"kept": kept or None})
    return to(request, "p", project.name, "release")


async def open_folder(request: Request) -> Response:
    """Show the folder to share in the system's own window."""
    form = await form_of(request)
    run = str(form.get("run", ""))
    if run not in runs_of(request.state.project):
        return _missing(request)
    _show_folder(request.state.project.runs / run / "published")
    return _back(request, run)


def _show_folder(folder: Path) -> None:
    program = {"darwin": "open", "win32": "explorer"}.get(sys.platform, "xdg-open")
    found = shutil.which(program)
    if found is not None:
        subprocess.Popen(  # noqa: S603  (a program of the system, a folder of ours)
            [found, str(folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


async def report(request: Request) -> Response:
    """Show the full report, as it is, in a frame."""
    return _framed(request, "internal")


async def public(request: Request) -> Response:
    """Show the page that may be shared, as it is, in a frame."""
    return _framed(request, "published")


def _framed(request: Request, part: str) -> Response:
    run = _run(request)
    file = None if run is None else request.state.project.runs / run / part / "report.html"
    if file is None or not file.is_file():
        return _missing(request)
    return framed(file.read_bytes())


async def cut(request: Request) -> Response:
    """Return what lies under a node of the hierarchy, and what became of it."""
    run = _run(request)
    if run is None:
        return _missing(request)
    query = request.query_params
    desks = request.app.state.studio.desks
    found = await desks.ask(
        request.state.project,
        "release_cut",
        run=run,
        node=query.get("node"),
        first=_number(query.get("first")),
    )
    return Json(found)


routes = [
    *handout.routes,
    *evidence.routes,
    *(Route(f"/release/{kind}", partial(_start, kind=kind), methods=["POST"]) for kind in _QUESTIONS),
    Route("/release", show),
    Route("/release/report", report),
    Route("/release/public", public),
    Route("/release/cut", cut),
    Route("/release/leave-out", leave_out, methods=["POST"]),
    Route("/release/neighbours", neighbours, methods=["POST"]),
    Route("/release/share", share, methods=["POST"]),
    Route("/release/keep", keep, methods=["POST"]),
    Route("/release/delete", delete, methods=["POST"]),
    Route("/release/open", open_folder, methods=["POST"]),
]
