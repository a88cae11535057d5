"""Start the studio: take a port, open the browser by a one-time address, end when unused."""

from __future__ import annotations

import asyncio
import contextlib
import html
import logging
import os
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn

from setveil.base.errors import RequestError
from setveil.base.staging import private_file, scratch_folder
from setveil.studio.app import Studio, make_app
from setveil.studio.desks import Desks
from setveil.studio.guard import HOST, Keys
from setveil.studio.jobs import Jobs
from setveil.studio.limits import BACKLOG, HEAD_BYTES, Connection
from setveil.studio.places import open_to_others
from setveil.studio.projects import Projects
from setveil.studio.running import announced, ask_running

IDLE_SECONDS = 30 * 60  # without a page open or a command under way
_FAREWELL = 1.0  # seconds


def projects_folder() -> Path:
    """Say where projects are kept unless a folder is named."""
    return Path.home() / "setveil"


def start(folder: Path | None, port: int, *, browser: bool) -> None:
    """Serve the studio until it is closed; if it runs already, only open it again.

    `folder`: a project's, whose neighbours are the other projects. `port`: 0 is any free one. Without
    `browser`, the address for it is the only line on standard output.
    """
    # What the studio writes is for its owner alone. What commands write for others is as they would write it.
    umask = os.umask(0o077) if os.name == "posix" else -1
    folder = None if folder is None else folder.absolute()
    projects = Projects(projects_folder() if folder is None else folder.parent)
    if folder is not None:
        projects.open(folder)
        who = open_to_others(folder)
        if who:
            print(f"The folder {folder} can be read by {who}.", file=sys.stderr)  # noqa: T201
    if not _open_running(projects.root, browser=browser):
        _serve(projects, port, browser=browser, umask=umask)


def listening(port: int) -> socket.socket:
    """Take a port at 127.0.0.1, which other computers cannot reach."""
    taken = socket.socket()
    if os.name == "posix":  # elsewhere this would let others listen at the same port
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((HOST, port))
        taken.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        taken.close()
        raise RequestError(
            f"Port {port} cannot be used: {getattr(error, 'strerror', None) or error}.",
            hint="Omit --port, and a free one is taken.",
        ) from None
    return taken


class _Idle:
    """Count requests under way, and note when the last one ended."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.open = 0
        self.since = time.monotonic()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open -= 1
            self.since = time.monotonic()

    @property
    def seconds(self) -> float:
        return 0 if self.open else time.monotonic() - self.since


class _Server(uvicorn.Server):
    """A server that leaves signals to us: its own way would end the process before it has tidied up."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _serve(projects: Projects, port: int, *, browser: bool, umask: int) -> None:
    taken = listening(port)
    keys = Keys(taken.getsockname()[1])
    studio = Studio(projects, keys, close=lambda: None, desks=Desks(), jobs=Jobs(umask=umask))
    app = _Idle(make_app(studio))
    logging.getLogger("setveil.studio").addHandler(logging.StreamHandler())
    server = _Server(
        uvicorn.Config(
            app,
            http=Connection,
            h11_max_incomplete_event_size=HEAD_BYTES,
            backlog=BACKLOG,
            access_log=False,  # addresses hold the secret
            log_config=None,
            log_level="critical",  # what fails is told by the pages; traces would show data
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
    )

    def close() -> None:
        # Not at once: the page that says so still fetches its style.
        asyncio.get_running_loop().call_later(_FAREWELL, _end, server)

    studio.close = close
    with taken, announced(projects.root, keys):
        asyncio.run(_until_closed(server, taken, app, studio, browser=browser))


def _end(server: uvicorn.Server) -> None:
    server.should_exit = True


async def _until_closed(
    server: uvicorn.Server,
    taken: socket.socket,
    app: _Idle,
    studio: Studio,
    *,
    browser: bool,
) -> None:
    for name in ("SIGHUP", "SIGINT", "SIGTERM"):
        if signal.getsignal(getattr(signal, name, signal.SIGINT)) is signal.SIG_IGN:
            continue  # made deaf to it, by nohup or the shell
        with contextlib.suppress(AttributeError, NotImplementedError):  # not everywhere
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), _end, server)
    serving = asyncio.create_task(server.serve(sockets=[taken]))
    opened = _open(studio.keys.origin, studio.keys.new_code(), browser=browser)
    try:
        while not serving.done():
            await asyncio.wait([serving], timeout=5)
            if opened and not studio.keys.waits:
                opened.close()
            if app.seconds > IDLE_SECONDS and not studio.jobs.busy():
                studio.close()
        await serving
    finally:
        await studio.jobs.close()
        await studio.desks.close()
        if opened:
            opened.close()


def _open(origin: str, code: str, *, browser: bool) -> contextlib.ExitStack | None:
    """Open the browser, or print the address for it; return what removes the file that the browser reads."""
    address = f"{origin}/enter#{code}"
    if not browser:
        print(address, flush=True)  # noqa: T201
        return None
    # A command line can be read by everyone on the computer: the browser gets the name of a file instead.
    opened = contextlib.ExitStack()
    page = opened.enter_context(scratch_folder()) / "studio.html"
    with private_file(page, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>setveil studio</title>'
            f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">'
            f'<p><a href="{html.escape(address)}">Open setveil studio</a></p>'
        )
    webbrowser.open(page.as_uri())
    return opened


def _open_running(root: Path, *, browser: bool) -> bool:
    """Open the studio that runs for these projects already, if there is one."""
    found = ask_running(root)
    if found is None:
        return False
    opened = _open(*found, browser=browser)
    if opened:
        time.sleep(5)  # the browser reads it meanwhile
        opened.close()
    return True
