"""The page Run."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.studio.render import page


async def show(request: Request) -> Response:
    """Show the page."""
    return page(request, "run.html", step="run", title="Run")


routes = [Route("/run", show)]
