"""The page that opens first: the projects, and new ones."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.studio.render import page, to


async def show(request: Request) -> Response:
    """Show the projects."""
    studio = request.app.state.studio
    return page(
        request,
        "start.html",
        title="Your projects",
        projects=studio.projects.all(),
        root=studio.projects.root,
    )


async def new(request: Request) -> Response:
    """Make a project, and go on to its data."""
    form = await request.form()
    title = str(form.get("title", "")).strip()[:100]
    project = request.app.state.studio.projects.create(title or "New project")
    return to(request, "p", project.name, "data")


async def close(request: Request) -> Response:
    """End the studio."""
    answer = page(request, "closed.html", title="setveil is closed")
    request.app.state.studio.close()
    return answer


routes = [
    Route("/", show),
    Route("/new", new, methods=["POST"]),
    Route("/close", close, methods=["POST"]),
]
