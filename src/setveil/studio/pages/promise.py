"""The page Promise: what is promised, what that costs, and what it leaves open."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from setveil.base.errors import RequestError, shorten
from setveil.base.staging import staged_file
from setveil.base.values.kinds import Flag, Integer, Probability, Share, Size, sizes_in
from setveil.judges.guarantees import Model, model_named, models
from setveil.judges.guarantees.km import CODES
from setveil.report.models import promise as promise_in_words
from setveil.report.models import words_for
from setveil.runs.options.models import settled_model
from setveil.studio import commands, fronts
from setveil.studio.data_kinds import RowsOfItems, kind_of
from setveil.studio.pages import regroup
from setveil.studio.pages.hierarchy import saved
from setveil.studio.projects import Project
from setveil.studio.render import Json, at, page, to
from setveil.studio.requests import fault, form_of, whole
from setveil.work.studies.compare.settings import promise_options

COMMON = ((5, 2, "shared inside a consortium"), (20, 3, "published for everyone"))
_USUAL = {"k": "5", "m": "2", "rho": "", "left_out": "any", "share": "1%", "keep": "", "spare": ""}
_FRONT_MODELS = {"km-anonymity", "km-rho", "kkm"}
_WATCHING = {"km-anonymity"}  # looks at sensitive items, without a promise about them
_CALLED = {
    "k": "The number of rows (k)", "m": "The number of known items (m)", "rho": "The chance (rho)",
    "h": "The chance (h)", "share": "The share",
}  # fmt: skip
_SENSITIVE = "sensitive.csv"
_OF_COLUMNS = "="  # in an m that is said of each column


def model_of(project: Project) -> str:
    """Name the privacy model that a project's settings describe."""
    settings = project.settings()
    if "model" in settings:
        return str(settings["model"])
    kind = kind_of(settings)
    if kind.settled is not None:
        return kind.settled
    texts = {
        option: settings.get(option.replace("_", "-"))
        for name in models()
        for option in model_named(name).options
    }
    return settled_model(texts)


async def show(request: Request) -> Response:
    """Show the page, for the project's model or another one."""
    project: Project = request.state.project
    settings = project.settings()
    model = request.query_params.get("model") or model_of(project)
    if model not in models() or not kind_of(settings).chosen:
        model = model_of(project)
    values = {name: str(settings[name]) for name in commands.PROMISE if name in settings}
    values |= _limits(project, settings)
    values |= {
        name: text
        for name in ("k", "m")
        if (text := request.query_params.get(name, "").strip()) and not _wrong(name, text)
    }
    return await _page(request, model, values)


async def _page(
    request: Request, model: str, values: dict[str, str], errors: list[dict[str, str]] | None = None
) -> Response:
    project: Project = request.state.project
    settings = project.settings()
    if model in _FRONT_MODELS:
        values = _USUAL | values
    described = model_named(model)
    kind = kind_of(settings)
    spoken = _spoken(
        "km-anonymity" if model == "km-rho" else model, values, absent=bool(values.get("absent"))
    )
    has_front = model in _FRONT_MODELS and kind.priced
    if spoken:
        spoken["not_covered"] = [*kind.not_covered, *spoken["not_covered"]]
    job = fronts.job_of(request.app.state.studio.jobs, project)
    return page(
        request,
        "promise.html",
        step="promise",
        title="Promise",
        status=400 if errors else 200,
        errors=errors or [],
        same_as=fronts.same_as(project) if has_front else [],
        model=model,
        described=described,
        others=[
            (name, other.title)
            for name, other in models().items()
            if name not in {model, "km-rho"} and kind.offers(other)
        ],
        fields=_fields(described),
        given=values,
        spoken=spoken,
        has_front=has_front,
        front=fronts.read(project) if has_front else None,
        kind=kind,
        usual=model_named(kind.usual),
        of_columns=_of_columns(project, values),
        job=job,
        **regroup.offered(request),
        steps_of_k=fronts.KS,
        steps_of_m=fronts.MS,
        common=COMMON,
        sensitive=_sensitive(project),
    )


_ALWAYS_OPEN = (
    (
        "Knowing that an item is absent.",
        "The promise is about items known to be present. Someone who also knows that an item is absent may "
        "narrow a person down further.",
    ),
    (
        "Other files.",
        "A second release about the same people, or any file that can be matched with this one, may together "
        "with it reveal more than each does alone. A series has one promise over all its releases.",
    ),
)


def _spoken(model: str, values: Mapping[str, str], *, absent: bool = False) -> dict[str, Any] | None:
    """Say what is promised, and what not; None where that cannot be said before the run."""
    if model not in {"km-anonymity", "kkm"}:
        return None
    k, m = values.get("k", "5"), values.get("m", "2")
    wrong = _wrong("k", k) or _wrong("m", m)
    if wrong:
        return {"promise": wrong, "not_covered": []}
    facts = facts_of(model, {"k": k, "m": m})
    if absent and model == "km-anonymity":
        facts["absent"] = 1
    if values.get("known") == CODES and isinstance(facts["m"], int):
        facts["known"] = CODES
    own = words_for(facts).not_covered(facts)
    said = {title for title, _ in own}
    return {
        "promise": promise_in_words(facts),
        "not_covered": [*own, *(point for point in _ALWAYS_OPEN if point[0] not in said)],
    }


def facts_of(model: str, values: Mapping[str, object]) -> dict[str, Any]:
    """Describe a guarantee by the values of its parameters, as a report does."""
    text = str(values["m"])
    said: Any = sizes_in("m", text).each if _OF_COLUMNS in text else "inf" if text == "inf" else int(text)
    return {"model": model, "k": int(str(values["k"])), "m": said}


def _of_columns(project: Project, values: Mapping[str, str]) -> list[tuple[str, str]]:
    """List the columns of codes that are lists of their own, each with its m as the form shows it."""
    names, text = kind_of(project.settings()).lists, values.get("m", "")
    if len(names) < 2:
        return []
    said = {f"m-{at}": values.get(f"m-{at}", "") for at in range(len(names))}
    if _OF_COLUMNS in text and not _wrong("m", text):
        each = sizes_in("m", text).each
        said = {f"m-{at}": str(each.get(name, "")) for at, name in enumerate(names)}
    return list(zip(names, said.values(), strict=True))


def _with_own(project: Project, form: dict[str, str]) -> dict[str, str]:
    """Take the m of each column from a form in which it is said of each."""
    names = kind_of(project.settings()).lists
    if form.get("alike") != "each" or len(names) < 2:
        return form
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(
        f"{name}{_OF_COLUMNS}{form.get(f'm-{at}', '')}" for at, name in enumerate(names)
    )
    return {**form, "m": line.getvalue()}


async def words(request: Request) -> Response:
    """Return what values of k and m promise, and what not."""
    model = model_of(request.state.project)
    among = {name: request.query_params.get(name, "").strip() for name in ("k", "m")}
    absent = bool(request.query_params.get("absent"))
    return Json(_spoken("kkm" if model == "kkm" else "km-anonymity", among, absent=absent))


def _fields(described: Model) -> list[tuple[str, str, bool]]:
    """List the options of a model that its plain form asks for: help, and whether they are ticked."""
    return [
        (name.replace("_", "-"), option.help, isinstance(option.kind, Flag))
        for name, option in described.options.items()
        if option.drawn_with is None and name not in {"k", "m", "absent", "known"}
    ]


def _sensitive(project: Project) -> list[str]:
    """List the items that nobody may learn about a person, as they were ticked with the data."""
    ticked = project.studio.get("sensitive", [])
    return [str(item) for item in ticked] if kind_of(project.settings()).sensitive else []


def _limits(project: Project, settings: Mapping[str, Any]) -> dict[str, str]:
    """Say what may be suppressed, and what must stay, as the form shows it."""
    share = str(settings.get("max-suppressed", ""))
    left_out = "none" if settings.get("suppress") is False else "share" if share else "any"
    return {
        "left_out": left_out,
        "share": share or "1%",
        "keep": "\n".join(row[0] for row in rows_of(project, "keep", settings)),
        "spare": "\n".join(row[0] for row in rows_of(project, "weights", settings)),
    }


def own_file(project: Project, option: str) -> Path:
    """Name the file that the project writes for an option."""
    return project.folder / f"{option}.csv"


def rows_of(project: Project, option: str, settings: Mapping[str, Any]) -> list[list[str]]:
    """Read a small file that the project itself has written for an option."""
    file = own_file(project, option)
    if settings.get(option) != str(file) or not file.is_file():
        return []
    return [row for row in csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline="")) if row]


def spare(project: Project, names: Sequence[str]) -> None:
    """Let more items count for nothing: they are suppressed where that helps others."""
    already = [row[0] for row in rows_of(project, "weights", project.settings())]
    items = list(dict.fromkeys([*already, *(name for name in names if name)]))
    project.save(weights=listed_in_a_file(own_file(project, "weights"), items, "0"))


async def save(request: Request) -> Response:
    """Take the promise, and go on to the run."""
    project: Project = request.state.project
    form = {key: str(value).strip() for key, value in (await form_of(request)).items()}
    model = form.get("model", "")
    kind = kind_of(project.settings())
    if model not in models() or not kind.chosen:
        model = model_of(project)
    form = _with_own(project, form)
    errors, changes = _checked(model, form, project)
    if errors:
        return await _page(request, model, form, errors)
    limited = kind.limits and (model in _FRONT_MODELS or not kind.chosen)
    limits = _kept(project, form) if limited else {}
    changes |= {name: limits.get(name) if name in kind.limits else None for name in RowsOfItems.limits}
    if (not changes["sensitive"] and "sensitive" in model_named(model).options) or model in _WATCHING:
        changes["sensitive"] = listed_in_a_file(project.folder / _SENSITIVE, _sensitive(project))
    project.save(**changes)
    return to(request, "p", project.name, "run")


def _checked(
    model: str, form: Mapping[str, str], project: Project
) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Check what a form says, and turn it into settings."""
    described = model_named(model)
    errors: list[dict[str, str]] = []
    changes: dict[str, Any] = dict.fromkeys(commands.PROMISE)
    for name, option in described.options.items():
        key = name.replace("_", "-")
        text = form.get(key, "")
        if key == "sensitive" and not text and _sensitive(project):
            continue  # they are written down
        if not text:
            if option.needed and option.drawn_with is None and key != "rho":
                errors.append(fault(f"{_called(key)} is missing.", key, option.help))
            continue
        problem = _wrong(key, text)
        if problem:
            errors.append(fault(problem, key))
        elif isinstance(option.kind, Flag):
            changes[key] = True
        else:
            changes[key] = (
                whole(text) if key in {"k", "m", "p", "absent"} and whole(text) is not None else text
            )
    if changes.get("known") == CODES and not isinstance(changes.get("m"), int):
        errors.append(fault("Whole codes need one m for all columns, a number.", "m", "Such as 2."))
    if model in _FRONT_MODELS and form.get("rho"):
        problem = _wrong("rho", form["rho"])
        if problem:
            errors.append(fault(problem, "rho"))
        elif not _sensitive(project):
            errors.append(fault("No items are sensitive yet.", "rho", "Choose them with the data."))
        elif form.get("absent"):
            errors.append(
                fault("With a chance nothing is promised of absent items.", "absent", "Choose one.")
            )
        changes["rho"] = form["rho"]
    changes["model"] = None if model in {"km-anonymity", "km-rho"} else model
    if form.get("left_out") == "share":
        problem = _wrong("share", form.get("share", ""))
        if problem:
            errors.append(fault(problem, "share"))
    return errors, changes


def _called(key: str) -> str:
    return _CALLED.get(key, f"The value {key}")


def _wrong(key: str, text: str) -> str:
    """Say what is wrong with a value; empty: nothing that could be seen without the data."""
    kind = {"share": Share(), "k": Integer(2)}.get(key) or promise_options()[key].kind
    if not isinstance(kind, Integer | Size | Share | Probability):
        return ""
    try:
        fits = not kind.accepts(kind.read(key, text, None, {}))
    except RequestError:
        fits = False
    endless = isinstance(kind, Integer | Size) and text != "inf" and whole(text) is None
    endless = endless and not (key == "m" and _OF_COLUMNS in text)
    return "" if fits and not endless else f"{_called(key)} must be {kind.allowed}, got {shorten(text)}."


def _kept(project: Project, form: Mapping[str, str]) -> dict[str, Any]:
    """Write down what may be suppressed and what must stay."""
    left_out = form.get("left_out", "any")
    return {
        "suppress": False if left_out == "none" else None,
        "max-suppressed": form.get("share", "1%") if left_out == "share" else None,
        "keep": listed_in_a_file(own_file(project, "keep"), lines_of(form.get("keep", ""))),
        "weights": listed_in_a_file(own_file(project, "weights"), lines_of(form.get("spare", "")), "0"),
    }


def lines_of(text: str) -> list[str]:
    """List the items of a field, one a line."""
    return list(dict.fromkeys(line.strip() for line in re.split(r"[\r\n]", text) if line.strip()))


def listed_in_a_file(file: Path, items: Sequence[str], *beside: str) -> str | None:
    """Write items into a file, one a line and what is next to it, and name it; no items: no file."""
    if not items:
        file.unlink(missing_ok=True)
        return None
    with staged_file(file) as staged, staged.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows([item, *beside] for item in items)
    return str(file)


async def front(request: Request) -> Response:
    """Return what the promises cost, and whether more is being computed."""
    project: Project = request.state.project
    return Json({"front": fronts.read(project), "job": fronts.job_of(request.app.state.studio.jobs, project)})


async def compute(request: Request) -> Response:
    """Compute what the promises cost: the chosen one first, then the usual ones; or one that is asked for."""
    project: Project = request.state.project
    studio = request.app.state.studio
    form = await form_of(request)
    k, m = (str(form.get(name, "")).strip() for name in ("k", "m"))
    chosen = None if not k or _wrong("k", k) or _wrong("m", m) else (int(k), m)
    await saved(studio, project)
    if project.settings().get("input") and kind_of(project.settings()).priced:
        fronts.start(studio.jobs, project, chosen, alone=bool(form.get("one")))
    if "application/json" in request.headers.get("accept", ""):
        return Json({"job": fronts.job_of(studio.jobs, project)})
    kept = f"?{urlencode({'k': k, 'm': m})}" if chosen else ""
    return RedirectResponse(at(request, "p", project.name, "promise") + kept, status_code=303)


async def other_groups(request: Request) -> Response:
    """Look for groups that lose less, for the promise on the page."""
    project: Project = request.state.project
    form = {name: str(text).strip() for name, text in (await form_of(request)).items()}
    k, m = form.get("k", ""), form.get("m", "")
    await saved(request.app.state.studio, project)
    wrong = _wrong("k", k) or _wrong("m", m)
    if not wrong and whole(m) is None:
        wrong = "Other groups are looked for if m is a number."
    fault_found = (
        fault(wrong, "k" if _wrong("k", k) else "m") if wrong
        else regroup.start(request, {"k": k, "m": m, "within": "1", "seconds": "120"})
    )  # fmt: skip
    if fault_found is not None:
        return await _page(request, model_of(project), form, [fault_found])
    await asyncio.sleep(0)  # the job is there when the page is
    query = f"?{urlencode({'k': k, 'm': m})}#groups"
    return RedirectResponse(at(request, "p", project.name, "promise") + query, status_code=303)


routes = [
    Route("/promise", show),
    Route("/promise/groups", other_groups, methods=["POST"]),
    Route("/promise", save, methods=["POST"]),
    Route("/promise/front", front),
    Route("/promise/words", words),
    Route("/promise/compute", compute, methods=["POST"]),
]
