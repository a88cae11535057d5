"""The routes of the studio."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router

from setveil.base.errors import SetveilError
from setveil.report import glossary
from setveil.studio.desks import Desks, Lost, Refused
from setveil.studio.fields import in_fields
from setveil.studio.guard import App, Guard, Keys, Receive, Scope, Send, equal, signed
from setveil.studio.jobs import Jobs
from setveil.studio.pages import compare, data, hierarchy, promise, release, run, series, start
from setveil.studio.projects import Projects
from setveil.studio.render import Json, error_page, templates, to
from setveil.studio.requests import way_in

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_STATIC = {path.name: path for path in sorted((Path(__file__).parent / "static").iterdir())}
_STATIC[glossary.STYLESHEET.name] = glossary.STYLESHEET

# Pages that make releases which a series would not know; see `Project.is_series`.
_OF_ONE_RELEASE = re.compile(
    r"/(promise|compare)(/.*)?|/run(/start)?|/release/(delete|keep|leave-out|neighbours|share|why)"
)


@dataclass
class Studio:
    """The state that all pages share."""

    projects: Projects
    keys: Keys
    close: Callable[[], None]  # ends the studio
    desks: Desks  # workers that answer questions about the data
    jobs: Jobs


def make_app(studio: Studio) -> App:
    """Make the whole application, guarded."""
    inside = [
        *start.routes,
        Route("/static/{name}", _static),
        Route("/alive", _alive),
        Mount(
            "/p/{project}",
            app=_router(
                [
                    route
                    for module in (data, hierarchy, promise, run, release, compare, series)
                    for route in module.routes
                ]
            ),
            middleware=[Middleware(_InProject)],
        ),
    ]
    app = Starlette(
        routes=[
            Route("/enter", _enter_page),
            Route("/enter", _enter, methods=["POST"]),
            Route("/again", _again, methods=["POST"]),
            Route("/enter.js", _static_as("enter.js")),
            Route("/icon.svg", _static_as("icon.svg")),
            Route("/studio.css", _static_as("studio.css")),
            Mount(studio.keys.prefix, app=_router(inside)),
        ],
        exception_handlers={
            HTTPException: _no_page,
            SetveilError: _refused,
            ClientDisconnect: _gone,
            OSError: _no_file,
            Refused: _refused_by_desk,
            Lost: _refused_by_desk,
            Exception: _broken,
        },
    )
    app.router.redirect_slashes = False
    app.state.studio = studio
    return Guard(app, studio.keys, _refusing)


def _router(routes: Sequence[BaseRoute]) -> Router:
    return Router(routes, redirect_slashes=False)


class _InProject:
    """Find the project that an address names, by the list of those there are."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            project = request.app.state.studio.projects.find(scope["path_params"]["project"])
        except LookupError:
            answer = error_page(
                request,
                404,
                "No such project",
                "There is no project of this name.",
                "It may have been deleted.",
            )
            await answer(scope, receive, send)
            return
        project.check()
        request.state.project = project
        path = scope["path"].removeprefix(scope["root_path"])
        if project.is_series and _OF_ONE_RELEASE.fullmatch(path):
            await to(request, "p", project.name, "series")(scope, receive, send)
            return
        if path.startswith("/series") and not project.is_series:
            await to(request, "p", project.name, "data")(scope, receive, send)
            return
        await self.app(scope, receive, send)


async def _static(request: Request) -> Response:
    file = _STATIC.get(request.path_params["name"])
    if file is None:
        raise HTTPException(404)
    return Response(file.read_bytes(), media_type=_TYPES[file.suffix])


def _static_as(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        request.path_params["name"] = name
        return await _static(request)

    return answer


async def _alive(request: Request) -> Response:
    """Hear from an open page; the guard counts every request."""
    return Response(status_code=204)


async def _enter_page(request: Request) -> Response:
    return HTMLResponse(templates.get_template("enter.html").render())


async def _enter(request: Request) -> Response:
    """Let a browser in for a code."""
    keys: Keys = request.app.state.studio.keys
    if not keys.use_code(await way_in(request)):
        return JSONResponse({"message": "This way in was used already, or it is too late for it."}, 403)
    return JSONResponse({"go": f"{keys.prefix}/"}, headers={"set-cookie": keys.set_cookie()})


async def _again(request: Request) -> Response:
    """Make a new code for a second start of the studio, which finds the key in a file of its owner.

    Both sides sign, and neither tells the key: once the studio is gone, another may answer at its port.
    """
    studio = request.app.state.studio
    once, _, sign = (await way_in(request)).partition(" ")
    if not equal(sign, signed(studio.keys.again, "ask", once)):
        return JSONResponse({"message": "This is not the key of this studio."}, 403)
    code = studio.keys.new_code()
    return JSONResponse({"code": code, "signed": signed(studio.keys.again, "code", once, code)})


def _refusing(status: int, title: str, message: str) -> App:
    content = templates.get_template("refused.html").render(title=title, message=message)
    return HTMLResponse(content, status)


async def _no_page(request: Request, error: Any) -> Response:
    if error.status_code == 404:
        return _answer(request, 404, "No such page", "There is nothing at this address.", "")
    return _answer(request, error.status_code, "Not possible", str(error.detail), "")


async def _gone(request: Request, error: Any) -> Response:
    """Answer nobody: who asked has left."""
    return Response(status_code=400)


async def _refused(request: Request, error: Any) -> Response:
    return _answer(request, 400, "This did not work", error.message, error.hint)


async def _no_file(request: Request, error: Any) -> Response:
    """Say what the system refused."""
    what = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return _answer(request, 400, "This did not work", f"{what}{error.strerror or error}.", "")


async def _refused_by_desk(request: Request, error: Any) -> Response:
    status = 503 if isinstance(error, Lost) else 400
    return _answer(request, status, "This did not work", error.message, error.hint)


async def _broken(request: Request, error: Exception) -> Response:
    """Say that the studio failed: what exactly goes to the terminal's log, never to the page."""
    place = request.url.path.removeprefix(request.app.state.studio.keys.prefix)  # which is a secret
    logging.getLogger("setveil.studio").error("%s at %s", type(error).__name__, place)
    return _answer(
        request,
        500,
        "setveil made a mistake",
        f"Something went wrong inside of setveil ({type(error).__name__}). Your files are as they were.",
        "Go back and try again; if it happens again, please report it.",
    )


def _answer(request: Request, status: int, title: str, message: str, hint: str) -> Response:
    if not request.state.let_in:  # whose pages hold no address of a page inside
        content = templates.get_template("refused.html").render(title=title, message=message)
        return HTMLResponse(content, status)
    if "application/json" in request.headers.get("accept", ""):
        said = {"kind": title, "message": in_fields(message), "hint": in_fields(hint), "where": {}}
        return Json({"error": said}, status)
    return error_page(request, status, title, message, hint)
