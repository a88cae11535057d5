"""The page that opens first: the projects, and new ones."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.base.errors import RequestError, SetveilError
from setveil.studio.desks import Lost, Refused
from setveil.studio.projects import Project
from setveil.studio.render import page, said, to
from setveil.studio.requests import form_of

SAMPLE_ROWS = 5000
# The picture of a release: rows before and after, with k = 2 and m = 2 (the example of docs/glossary.md).
EXAMPLE = (
    (("rye", "milk"), ("bread", "milk")),
    (("wheat", "milk"), ("bread", "milk")),
    (("milk", "saffron"), ("milk",)),
    (("wheat",), ("bread",)),
)


async def show(request: Request) -> Response:
    """Show the projects; meanwhile a desk makes itself ready."""
    answer = _page(request)
    answer.background = BackgroundTask(request.app.state.studio.desks.ready)
    return answer


def _page(request: Request, errors: list[dict[str, str]] | None = None) -> Response:
    studio = request.app.state.studio
    projects = [
        {"name": one.name, "title": one.title, "state": _state(studio.jobs, one), "series": _is_series(one)}
        for one in studio.projects.all()
    ]
    return page(
        request, "start.html", title="Your projects", projects=projects, root=studio.projects.root,
        example=EXAMPLE, errors=errors or (), status=422 if errors else 200,
    )  # fmt: skip


def _is_series(project: Project) -> bool:
    with contextlib.suppress(SetveilError):  # its settings cannot be read
        return project.is_series
    return False


def _state(jobs: Any, project: Project) -> str:
    """Say how far a project is, in a few words."""
    try:
        project.check()
    except SetveilError as error:
        return error.message
    try:
        settings = project.settings()
    except SetveilError:
        return "its settings cannot be read"
    job = jobs.latest(project, "anonymize", "series-add")
    if job is not None and not job.is_over:
        return "a release is being made"
    if job is not None and job.state == "failed":
        return "the last run ended without a release"
    made = [path for path in project.runs.iterdir() if path.is_dir()] if project.runs.is_dir() else []
    if made:
        with contextlib.suppress(OSError, ValueError, OverflowError):  # a time that is no date
            latest = datetime.fromtimestamp(max(path.stat().st_mtime for path in made))
            return f"released on {latest.day} {latest:%B %Y}"
    if not settings.get("input"):
        return "no data yet"
    if not settings.get("hierarchy"):
        return "data read, no groups yet"
    return "no release yet" if settings.get("k") else "no promise yet"


async def new(request: Request) -> Response:
    """Make a project, and go on to its data."""
    form = await form_of(request)
    title = " ".join(str(form.get("title", "")).split())[:100]
    if not title:
        field = "series-title" if form.get("series") else "title"
        return _page(request, [said(RequestError("The project has no name."), field)])
    project = request.app.state.studio.projects.create(title)
    if form.get("series") == "yes":
        project.save(studio={"series": True})
        return to(request, "p", project.name, "series")
    return to(request, "p", project.name, "data")


async def try_out(request: Request) -> Response:
    """Make a project of made-up baskets and their products, with the tour."""
    studio = request.app.state.studio
    project = studio.projects.create("Made-up shopping baskets")
    try:
        found = await studio.desks.ask(project, "sample", number=SAMPLE_ROWS)
    except (Refused, Lost):
        studio.projects.delete(project)
        raise
    path, hierarchy = found.pop("path"), found.pop("hierarchy")
    kept = {key: found[key] for key in ("sha256", "rows", "items", "size", "mtime_ns")}
    project.save(input=path, hierarchy=hierarchy, studio={**kept, "row": "customer", "tour": True})
    return to(request, "p", project.name, "data")


async def delete(request: Request) -> Response:
    """Delete a project whose title was typed."""
    studio = request.app.state.studio
    form = await form_of(request)
    name, typed = str(form.get("name", "")), " ".join(str(form.get("typed", "")).split())
    try:
        project = studio.projects.find(name)
    except LookupError:
        return _page(request, [said(RequestError("There is no project of this name."), "")])
    if typed != " ".join(project.title.split()):
        wrong = RequestError(
            f"{typed or 'Nothing'} is not the name of the project, so it was not deleted.",
            hint=f"Type {project.title} to delete it with all that is in its folder.",
        )
        return _page(request, [said(wrong, f"typed-{name}")])
    for job in studio.jobs.of(project):
        studio.jobs.cancel(job)
        await studio.jobs.wait(job)
    await studio.desks.leave(project)
    studio.projects.delete(project)
    return to(request, "")


async def close(request: Request) -> Response:
    """End the studio."""
    answer = page(request, "closed.html", title="setveil is closed")
    request.app.state.studio.close()
    return answer


routes = [
    Route("/", show),
    Route("/new", new, methods=["POST"]),
    Route("/try", try_out, methods=["POST"]),
    Route("/delete", delete, methods=["POST"]),
    Route("/close", close, methods=["POST"]),
]
