"""The page Release."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.studio.render import page


async def show(request: Request) -> Response:
    """Show the page."""
    return page(request, "release.html", step="release", title="Release")


routes = [Route("/release", show)]
