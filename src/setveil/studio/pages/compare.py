"""The page Compare: releases side by side, where two of them differ, studies, and what is recommended."""

from __future__ import annotations

import asyncio
import json
import re
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
from setveil.base.wording import count
from setveil.judges.utility import Utility
from setveil.methods import algorithms
from setveil.report import accuracy, words
from setveil.report.record import Record, read_record
from setveil.report.run.exposure import sides
from setveil.runs.options.names import READING
from setveil.studio import commands, places
from setveil.studio.cuts import Difference, difference
from setveil.studio.data_kinds import kind_of
from setveil.studio.desks import Lost, Refused
from setveil.studio.jobs import Job, Jobs
from setveil.studio.pages.hierarchy import saved
from setveil.studio.pages.promise import model_of
from setveil.studio.pages.run import runs_of
from setveil.studio.phases import job_state
from setveil.studio.projects import Project, as_toml
from setveil.studio.render import Json, error_page, framed, page, to
from setveil.studio.requests import fault, form_of, whole
from setveil.studio.trees import items_tree
from setveil.work.past.run import past_run

_SHOWN = 6  # releases side by side where none were kept
_PARTS = 50  # of a difference that are listed
_METHODS = {  # of a study, with words; the first ones are chosen
    "exact": "least loss, proven",
    "mhghs": "quick and greedy, may suppress items",
    "aa": "quick and greedy, leaves nothing out",
    "hghs": "greedy, may suppress items",
    "da": "one name after the other, leaves nothing out",
    "lg": "groups of whole rows",
    "lra": "names of their own for parts of the rows",
}
_USUAL = ("exact", "mhghs", "aa")
_LIMITS = {60: "1 minute", 300: "5 minutes", 1800: "half an hour"}
_STATUS = {
    "done": "done",
    "infeasible": "not possible",
    "refused": "refused",
    "failed": "failed",
    "timeout": "out of time",
    "memory": "out of memory",
    "killed": "ended",
}
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 300, 64, 48  # of the chart, and of its margins
_NEAR = 12  # so close to one another the names of two points would overlap


async def show(request: Request) -> Response:
    """Show the page."""
    return await _page(request)


async def _page(
    request: Request, errors: list[dict[str, str]] | None = None, values: Mapping[str, Any] | None = None
) -> Response:
    project: Project = request.state.project
    jobs: Jobs = request.app.state.studio.jobs
    reports = {name: report for name in kept_of(project) if (report := _report(project, name))}
    names = [*reports]
    releases = [_side(project, name, chr(65 + i), report) for i, (name, report) in enumerate(reports.items())]
    first, second = _two(request, names)
    studies = _studies(project)
    study = jobs.latest(project, "compare", "study-plan")
    advising = jobs.latest(project, "recommend")
    recommended = await _recommended(request)
    settings = project.settings()
    kind = kind_of(settings)
    k, m = str(settings.get("k", 5)), str(settings.get("m", 2))
    fields = {"k": "5, 20" if k == "20" else f"{k}, 20", "m": m, "limit": "300", "methods": list(_USUAL)}
    same_as = [commands.recommend(project)] if "k" in settings and kind.recommended else []
    same_as += [commands.compare(f"studies/{name}/study.toml", f"studies/{name}/out") for name in studies[:3]]
    return page(
        request,
        "compare.html",
        step="compare",
        title="Compare",
        status=400 if errors else 200,
        errors=errors or [],
        same_as=same_as,
        releases=releases,
        rows=_rows(releases),
        chart=_chart(releases),
        others=[name for name in runs_of(project) if name not in names],
        first=first,
        second=second,
        differing=_differing(project, first, second),
        parts=_PARTS,
        methods=[(name, _METHODS[name]) for name in _METHODS if name in algorithms.names()],
        limits=_LIMITS,
        fields={**fields, **(values or {})},
        kind=kind,
        model=model_of(project),
        studies=[_study(project, name) for name in studies],
        study_job=job_state(study) if study and not study.is_over else None,
        running=study.argv[1].split("/")[1] if study and not study.is_over else "",
        study_failed=study if study and study.state == "failed" else None,
        ready="k" in settings and "input" in settings,
        recommend_job=job_state(advising) if advising and not advising.is_over else None,
        recommend_failed=advising if advising and advising.state == "failed" else None,
        recommended=recommended,
    )


# Releases side by side.


def kept_of(project: Project) -> list[str]:
    """List the runs that are compared: those that were kept, or the last ones."""
    made = runs_of(project)
    kept = project.studio.get("kept")
    if not isinstance(kept, list):
        return list(reversed(made[:_SHOWN]))
    return [name for name in kept if name in made]


def _report(project: Project, name: str) -> Record | None:
    try:
        return read_record(project.runs / name / "internal" / "report.json")
    except DataError:
        return None


def _side(project: Project, name: str, letter: str, report: Record) -> dict[str, Any]:
    utility: Utility = report["utility"]
    answers = report.get("answers", {})
    _, attacks = sides(report)
    tried = attacks["risk"] if attacks else []
    after = {one["m"]: one["rows_below"].get("2") for one in tried if one["choice"] == "best"}
    itemsets = answers.get("itemsets")
    inputs, guarantee = report["input"], report["guarantee"]
    occurrences = inputs["occurrences"]
    loss = next(((key, utility[key]) for key in ("lm", "ncp") if utility.get(key) is not None), None)
    left_out = utility.get("suppressed_occurrences")
    found: dict[str, str] = {
        "Promise": guarantee["phrase"],
        "It holds": "yes" if guarantee["holds"] else "no",
        "Method": report["algorithm"]["title"],
    }
    if loss is not None:
        found["Loss (LM)" if loss[0] == "lm" else "Loss (NCP)"] = words.measure(loss[1])
    if utility.get("published_labels") is not None:
        found["Labels published"] = f"{utility['published_labels']:,}"
    if utility.get("unchanged_items") is not None:
        found["Unchanged items"] = f"{utility['unchanged_items']:,} of {inputs['items']:,}"
    if utility.get("suppressed_items") is not None:
        found["Suppressed items"] = f"{utility['suppressed_items']:,}"
    if left_out is not None and occurrences:
        found["Suppressed occurrences"] = words.percent(left_out, occurrences)
    if error := accuracy.query_error(answers):
        found[f"Query error: counts of {error[1]} are typically off by"] = words.error(error[0])
    if itemsets and itemsets["frequent"]:
        found["Frequent itemsets kept"] = f"{itemsets['kept']:,} of {itemsets['frequent']:,}"
    for m, below in sorted(after.items()):
        if below is not None:
            found[f"Rows singled out by {count(m, 'known item')}"] = words.whole_or(below, 1)
    if report.get("timing", {}).get("anonymize") is not None:
        found["Seconds"] = f"{report['timing']['anonymize']:.1f}"
    widest = max(after, default=None)
    return {
        "name": name,
        "letter": letter,
        "figures": found,
        "chosen": project.studio.get("chosen") == name,
        "old": inputs.get("sha256") != project.studio.get("sha256", inputs.get("sha256")),
        "loss": None if loss is None else loss[1],
        "known": widest,
        "alone": None if widest is None else after[widest],
        "of": inputs.get("rows") or 1,
    }


def _rows(releases: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Put figures side by side; what was not measured of a release says so."""
    heads = dict.fromkeys(head for release in releases for head in release["figures"])
    return [(head, [release["figures"].get(head, "not measured") for release in releases]) for head in heads]


def _chart(releases: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Place releases by their unique rows and their loss."""
    known = min((one["known"] for one in releases if one["known"] is not None), default=None)
    points = [
        (one["letter"], one["alone"] / one["of"], one["loss"], one["chosen"])
        for one in releases
        if one["loss"] is not None and one["alone"] is not None and one["known"] == known
    ]
    if len(points) < 2:
        return None
    points.sort(key=lambda one: not one[3])  # the chosen one is larger: it lies below those at its place
    wide, high = (min(max(point[i] for point in points) * 1.1, 1) or 1 for i in (1, 2))

    def x(value: float) -> float:
        return round(_LEFT + value / wide * (_WIDTH - _LEFT - 24), 1)

    def y(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - value / high * (_HEIGHT - _BOTTOM - 16), 1)

    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "base": _HEIGHT - _BOTTOM,
        "known": count(known or 0, "known item"),
        "points": [(x(risk), y(loss), chosen) for _, risk, loss, chosen in points],
        "names": _names(sorted((name, x(risk), y(loss)) for name, risk, loss, _ in points)),
        "across": [(x(wide * part / 4), words.percent(wide * part / 4)) for part in (0, 2, 4)],
        "up": [(y(high * part / 4), words.measure(high * part / 4) if part else "0") for part in (0, 2, 4)],
    }


def _names(points: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Place names next to points; those of points at one place stand together."""
    placed: list[tuple[str, float, float]] = []
    for name, x, y in points:
        at = next((i for i, one in enumerate(placed) if max(abs(one[1] - x), abs(one[2] - y)) < _NEAR), None)
        if at is None:
            placed.append((name, x, y))
        else:
            placed[at] = (f"{placed[at][0]}, {name}", *placed[at][1:])
    return placed


async def keep(request: Request) -> Response:
    """Keep a release for comparing, or take it out again."""
    project, name, form = await _run_of(request)
    if name is None:
        return error_page(request, 404, "No such release", "There is no release of this name.")
    kept = project.studio.get("kept")
    shown = kept_of(project) if isinstance(kept, list) or "out" in form else []
    others = [one for one in shown if one != name]
    project.save(studio={"kept": others if "out" in form else [*others, name]})
    return to(request, "p", project.name, "compare")


async def choose(request: Request) -> Response:
    """Mark a release as the one to be shared."""
    project, name, _ = await _run_of(request)
    if name is None:
        return error_page(request, 404, "No such release", "There is no release of this name.")
    project.save(studio={"chosen": name})
    return to(request, "p", project.name, "compare")


async def _run_of(request: Request) -> tuple[Project, str | None, dict[str, str]]:
    project: Project = request.state.project
    form = {key: str(value) for key, value in (await form_of(request)).items()}
    name = form.get("run", "")
    return project, name if name in runs_of(project) else None, form


# Differences between two releases.


def _two(request: Request, names: list[str]) -> tuple[str | None, str | None]:
    """Return which two are asked for: by the address, else the last two."""
    wanted = [request.query_params.get(one, "") for one in ("first", "second")]
    usual = [*names[-2:], None, None]
    return tuple(one if one in names else usual[i] for i, one in enumerate(wanted))  # type: ignore[return-value]


def _differing(project: Project, first: str | None, second: str | None) -> Difference | None:
    if first is None or second is None or first == second:
        return None
    try:
        one, other = (past_run(project.runs / name).image for name in (first, second))
    except DataError:
        return None
    return difference(one, other) if one and other else None


# Studies.


def _studies(project: Project) -> list[str]:
    if not project.studies.is_dir():
        return []
    names = [
        path.name
        for path in project.studies.iterdir()
        if places.is_text(path.name) and (path / "study.toml").is_file()
    ]
    return sorted(names, key=lambda name: (len(name), name), reverse=True)


def _study(project: Project, name: str) -> dict[str, Any]:
    """Return what a study has found so far."""
    folder = project.studies / name
    try:
        read = places.read_json(folder / "plan.json")["runs"]
        planned = [run for run in read if isinstance(run, dict) and {"run", "algorithm"} <= {*run}]
    except (OSError, ValueError, KeyError, TypeError):
        planned = []
    lines = []
    for run in planned:
        try:
            record = places.read_json(folder / "out" / "runs" / f"{Path(str(run['run'])).name}.json")
            found = record["measures"]
            lines.append([*_options(run), _STATUS.get(record["status"], record["status"]), *_measured(found)])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            lines.append([*_options(run), "not yet", *[""] * 5])
    done = sum(line[3] != "not yet" for line in lines)
    return {
        "name": name,
        "lines": lines,
        "done": done,
        "complete": bool(lines) and done == len(lines),
        "report": (folder / "out" / "report.html").is_file(),
    }


def _options(run: Mapping[str, Any]) -> list[str]:
    known = {"run", "data", "algorithm", "k", "m", "seed", "status"}
    more = [f"{key}={json.dumps(value)}" for key, value in run.items() if key not in known and value]
    return [" ".join([str(run["algorithm"]), *more]), str(run.get("k", "")), str(run.get("m", ""))]


def _measured(found: Mapping[str, Any]) -> list[str]:
    """Write the figures of a run: loss, labels, suppressed, query error, unique rows."""
    values = [found.get(name) for name in ("lm", "published_labels", "suppressed_occurrences", "are_median")]
    alone, rows = found.get("risk_below_2"), found.get("rows")
    return [
        "" if values[0] is None else words.measure(values[0]),
        "" if values[1] is None else f"{values[1]:,}",
        "" if values[2] is None else words.percent(values[2], found.get("occurrences") or 1),
        "" if values[3] is None else words.error(values[3]),
        "" if alone is None or not rows else words.percent(alone, rows),
    ]


async def study(request: Request) -> Response:
    """Plan a study and run it."""
    studio, project = request.app.state.studio, request.state.project
    form = await form_of(request)
    values = {name: str(form.get(name, "")).strip() for name in ("k", "m", "limit")}
    methods = [str(one) for one in form.getlist("methods") if one in _METHODS]
    errors = []
    kind = kind_of(project.settings())
    if kind.not_studied:
        return await _page(request, [fault(kind.not_studied, "study", kind.studied_by)])
    ks, ms = _numbers(values["k"], 2), _numbers(values["m"], 1, inf=True)
    if not ks:
        errors.append(fault("k must be whole numbers, 2 or more, with commas between them: 5, 20.", "k"))
    if not ms:
        errors.append(fault("m must be whole numbers, 1 or more, with commas between them: 1, 2.", "m"))
    if not methods:
        errors.append(fault("Choose at least one method.", "method-exact"))
    if errors:
        return await _page(request, errors, {**values, "methods": methods})
    await saved(studio, project)
    name = _new_study(project)
    folder = project.studies / name
    places.make_folder(folder.parent)
    folder.mkdir(mode=0o700)
    limit = whole(values["limit"])
    limit = limit if limit in _LIMITS else 300
    text = _study_file(project, folder, name, methods, ks, ms, limit)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    in_background(_planned_and_run(studio, project, name))
    await asyncio.sleep(0)  # the first job is there when the page is
    return to(request, "p", project.name, "compare")


async def _planned_and_run(studio: Any, project: Project, name: str) -> None:
    where = f"studies/{name}"
    argv = commands.compare(f"{where}/study.toml", f"{where}/out")
    job: Job = await studio.jobs.wait(
        studio.jobs.start(project, "study-plan", [*argv, "--dry-run", "--json"], label="the study")
    )
    if job.state != "done":
        shutil.rmtree(project.folder / where)  # nothing has been run: its file was refused
        return
    with staged_file(project.folder / where / "plan.json") as staged:
        staged.write_text(job.output, encoding="utf-8")
    studio.jobs.start(project, "compare", argv, label="the study")


async def go_on(request: Request) -> Response:
    """Go on with a study that was stopped."""
    studio, project = request.app.state.studio, request.state.project
    name = str((await form_of(request)).get("study", ""))
    if name not in _studies(project):
        return error_page(request, 404, "No such study", "There is no study of this name.")
    busy = any(not job.is_over for job in studio.jobs.of(project) if job.kind in {"compare", "study-plan"})
    if not busy:
        in_background(_planned_and_run(studio, project, name))
        await asyncio.sleep(0)
    return to(request, "p", project.name, "compare")


async def results(request: Request) -> Response:
    """Send what a study has found so far."""
    project: Project = request.state.project
    name = request.query_params.get("study", "")
    if name not in _studies(project):
        return Json({"lines": [], "done": 0})
    return Json(_study(project, name))


async def report(request: Request) -> Response:
    """Show a study's own report in a frame."""
    project: Project = request.state.project
    name = request.query_params.get("study", "")
    place = project.studies / name / "out" / "report.html"
    if name not in _studies(project) or not place.is_file():
        return error_page(request, 404, "No report", "This study has no report yet.")
    return framed(place.read_bytes())


def _new_study(project: Project) -> str:
    taken = _studies(project)
    number = 1
    while f"study-{number}" in taken or (project.studies / f"study-{number}").exists():
        number += 1
    return f"study-{number}"


def _study_file(
    project: Project, folder: Path, name: str, methods: list[str], ks: list[str], ms: list[str], limit: int
) -> str:
    """Write a study as the command takes it, with a copy of the groups that stays as it is."""
    settings = project.settings()
    source = settings["input"]
    data: dict[str, Any] = {"path": source, "name": project.name}
    tree = items_tree(settings.get("hierarchy"))
    if project.hierarchy.is_file() and tree == str(project.hierarchy):
        shutil.copyfile(project.hierarchy, folder / "groups.csv")
        data["hierarchy"] = "groups.csv"
    elif tree is not None:
        data["hierarchy"] = str(project.folder / tree)
    for option in READING:
        if option in settings:
            data[option.replace("-", "_")] = settings[option]
    lines = {
        "name": f"{project.title}: {name}",
        "data": [data],
        "algorithms": methods,
        "k": [int(k) for k in ks],
        "m": [m if m == "inf" else int(m) for m in ms],
        "time_limit": limit,
    }
    return "".join(f"{key} = {as_toml(value)}\n" for key, value in lines.items())


def _numbers(text: str, least: int, *, inf: bool = False) -> list[str]:
    """Read numbers with commas between them; none where one is wrong."""
    found = [one for one in re.split(r"[,;\s]+", text) if one]
    good = all((inf and one == "inf") or whole(one, least) is not None for one in found)
    return list(dict.fromkeys(found)) if good else []


# What is recommended.


async def recommend(request: Request) -> Response:
    """Let setveil try what suits the promise."""
    studio, project = request.app.state.studio, request.state.project
    kind = kind_of(project.settings())
    if not kind.recommended:
        return await _page(request, [fault(kind.not_studied, "study")])
    if not any(job.kind == "recommend" and not job.is_over for job in studio.jobs.of(project)):
        await saved(studio, project)
        in_background(_recommend(studio, project))
        await asyncio.sleep(0)
    return to(request, "p", project.name, "compare")


async def _recommend(studio: Any, project: Project) -> None:
    job: Job = await studio.jobs.wait(
        studio.jobs.start(project, "recommend", commands.recommend(project), label="what is recommended")
    )
    if job.state == "done":
        places.make_folder(project.studies)
        found = {**json.loads(job.output), "when": time.strftime("%Y-%m-%d %H:%M")}
        with staged_file(project.studies / "recommended.json") as staged:
            staged.write_text(json.dumps(found), encoding="utf-8")


async def _recommended(request: Request) -> dict[str, Any] | None:
    """Put what was recommended last in the words of the command."""
    project: Project = request.state.project
    try:
        found = places.read_json(project.studies / "recommended.json")
        words_of_it: dict[str, Any] = await request.app.state.studio.desks.ask(
            project, "recommended", found=found
        )
    except (OSError, ValueError, Refused, Lost):
        return None
    return words_of_it


async def use(request: Request) -> Response:
    """Take the recommended method for the run."""
    project: Project = request.state.project
    found = await _recommended(request)
    if found and found["use"] in algorithms.names():
        project.save(
            algorithm=found["use"],
            objective=found["options"].get("objective"),
            suppress=False if found["options"].get("suppress") is False else None,
        )
    return to(request, "p", project.name, "run")


_background: set[asyncio.Task[None]] = set()


def in_background(work: Any) -> None:
    """Start work that goes on when its page is closed."""
    task = asyncio.create_task(work)
    _background.add(task)
    task.add_done_callback(_background.discard)


routes = [
    Route("/compare", show),
    Route("/compare/keep", keep, methods=["POST"]),
    Route("/compare/choose", choose, methods=["POST"]),
    Route("/compare/study", study, methods=["POST"]),
    Route("/compare/go-on", go_on, methods=["POST"]),
    Route("/compare/results", results),
    Route("/compare/report", report),
    Route("/compare/recommend", recommend, methods=["POST"]),
    Route("/compare/use", use, methods=["POST"]),
]
