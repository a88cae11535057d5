"""Pages from templates: everything is escaped, and what a template asks for must be there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from setveil.base.errors import DataError, SetveilError
from setveil.base.version import __version__
from setveil.base.wording import about_events, count
from setveil.report import glossary, words
from setveil.studio.fields import in_fields
from setveil.studio.guard import FRAMED_POLICY
from setveil.studio.projects import Project

STEPS = {
    "data": "Data",
    "hierarchy": "Hierarchy",
    "promise": "Promise",
    "run": "Run",
    "release": "Release",
    "compare": "Compare",
}

_TITLES = {**STEPS, "series": "Series"}
SERIES_STEPS = ("data", "hierarchy", "series", "release")  # of a project whose releases are those of a series

TOUR = {
    "data": "These are made-up purchases, a row for each customer, and next to them the number of customers "
    "who can be found by someone who knows a few of their purchases.",
    "hierarchy": "A rare product can be published under the name of its group instead, so look which groups "
    "there are, and move or rename some.",
    "promise": "Choose how many rows must match anyone with m known items, and see the cost in advance.",
    "run": "Make the release: setveil looks for the one that loses least, and recounts the promise from "
    "the rows that would be published.",
    "release": "See the result, ask of any group why it is not split, and share the folder published, "
    "never the folder internal.",
    "compare": "Keep releases of different promises and set them side by side, then begin a project with "
    "data of your own.",
}

templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.filters["count"] = count
templates.filters["in_fields"] = lambda text: in_fields(text) if text else ""
templates.filters["percent"] = words.percent
templates.filters["of_events"] = lambda text, noun: about_events(text, noun) if noun else text
templates.filters["shell"] = lambda argv: shlex.join(["setveil", *map(str, argv)])
templates.globals["explain"] = lambda term: Markup(glossary.ask(term))  # noqa: S704  (made of our own entries)
templates.globals["explain_figure"] = lambda text: Markup(glossary.in_brackets(text))  # noqa: S704
templates.globals["version"] = __version__


class Json(JSONResponse):
    """JSON in ASCII, which every text can be written in."""

    def render(self, content: Any) -> bytes:
        """Write the answer."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def at(request: Request, *parts: str) -> str:
    """Make the address of a page: ``at(request, "p", project.name, "data")``."""
    return "/".join([request.app.state.studio.keys.prefix, *(quote(part, safe="") for part in parts)])


def to(request: Request, *parts: str) -> RedirectResponse:
    """Go on to a page after a form was sent."""
    return RedirectResponse(at(request, *parts), status_code=303)


def steps(project: Project) -> list[dict[str, Any]]:
    """List the steps of a project: whether each can be reached, and if not, why."""
    settings = project.settings()
    needs = "" if settings.get("input") else "Choose your data first."
    runs = project.runs.iterdir() if project.runs.is_dir() else ()
    kept = any(not path.name.startswith(".") for path in runs)
    why_not = {
        "hierarchy": needs,
        "promise": needs,
        "run": needs,
        "release": needs or ("" if kept else "Make a release first."),
        "compare": needs,
    }
    titles = {name: _TITLES[name] for name in SERIES_STEPS} if project.is_series else STEPS
    return [
        {"name": name, "title": title, "why_not": why_not.get(name, "")} for name, title in titles.items()
    ]


def _tour(project: Project | None, step: str, reached: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Say the sentence of the tour that belongs to a step, if the tour is on."""
    if project is None or step not in TOUR or not project.studio.get("tour"):
        return None
    number = list(TOUR).index(step)
    following = reached[number + 1] if number + 1 < len(reached) else None
    onward = following is not None and not following["why_not"]
    return {
        "number": number + 1,
        "sentence": TOUR[step],
        "next": following["name"] if following and onward else "",
        "title": following["title"] if following and onward else "",
    }


def page(
    request: Request,
    template: str,
    *,
    title: str,
    step: str = "",
    same_as: Sequence[Sequence[str]] | None = None,
    status: int = 200,
    errors: Sequence[dict[str, str]] = (),
    **values: Any,
) -> HTMLResponse:
    """Make a page.

    `step`: one of the six, if any. `same_as`: argument lists of the commands that do what the page does,
    shown folded. `errors`: {"message", "hint", "field"}, shown at the top; ``field`` is the id of their
    input, or empty. `values`: for the template.
    """
    project = getattr(request.state, "project", None)
    try:
        reached = steps(project) if project is not None else []
    except DataError:
        if template != "error.html":  # which says so
            raise
        project, reached = None, []
    content = templates.get_template(template).render(
        at=lambda *parts: at(request, *parts),
        title=title,
        step=step,
        steps=reached,
        tour=_tour(project, step, reached),
        project=project,
        trouble=project.input_trouble() if project is not None else "",
        same_as=same_as or [],
        errors=list(errors),
        **values,
    )
    return HTMLResponse(glossary.with_entries(content).encode("utf-8", "replace"), status)


def said(error: SetveilError, field: str = "") -> dict[str, str]:
    """Put an error as `page` and `error_page` show it."""
    return {"message": error.message, "hint": error.hint, "field": field}


def error_page(request: Request, status: int, title: str, message: str, hint: str = "") -> HTMLResponse:
    """Make a page that says what went wrong, with the way back."""
    return page(request, "error.html", title=title, status=status, message=message, hint=hint)


def framed(content: bytes | str) -> Response:
    """Answer with a report that a frame of the studio shows, without any rights."""
    return HTMLResponse(content, headers={"content-security-policy": FRAMED_POLICY})
