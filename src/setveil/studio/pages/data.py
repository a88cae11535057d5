"""The page Data."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.studio.render import page


async def show(request: Request) -> Response:
    """Show the page."""
    return page(request, "data.html", step="data", title="Data")


routes = [Route("/data", show)]
