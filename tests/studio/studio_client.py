"""Ask the studio's application directly, without a server or a browser."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from cli_helpers import setveil
from setveil.studio.app import Studio, make_app
from setveil.studio.desks import Desks, Refused
from setveil.studio.guard import COOKIE, Keys
from setveil.studio.jobs import Job, Jobs
from setveil.studio.projects import Project, Projects

PORT = 8765


class DirectDesks(Desks):
    """Desks that answer in this process."""

    async def ready(self) -> None:
        pass

    async def ask(self, project: Project, do: str, **options: Any) -> dict[str, Any]:
        from setveil.studio.desk.__main__ import _answer
        from setveil.studio.desk.place import Desk

        self._desks.setdefault(project.folder, Desk(project.folder))  # type: ignore[arg-type]
        desk: Any = self._desks[project.folder]
        answer = json.loads(json.dumps(_answer(desk, do, json.loads(json.dumps(options)))))
        if "error" in answer:
            raise Refused(**answer["error"])
        found: dict[str, Any] = answer["answer"]
        return found


class AtOnce(Jobs):
    """Jobs that are over when they have been started: commands run in a fork of this process."""

    ran: list[list[str]]

    def start(self, project: Project, kind: str, argv: Any, **more: Any) -> Job:
        self.ran = [*getattr(self, "ran", []), list(argv)]
        self._last += 1
        job = Job(self._last, kind, [*map(str, argv)], more.get("label") or kind, more.get("out"))
        done = setveil(*argv, cwd=project.folder)
        job.output, job.exit_code, job.notes = done.out, done.code, done.err.splitlines()
        said = re.search(r"^Error: (.*)(?:\nHint: (.*))?$", done.err, re.MULTILINE)
        job.error = said and {"kind": "Error", "message": said[1], "hint": said[2] or ""}
        job.state = "failed" if job.error or done.code not in (0, 1) else "done"
        job.begun = job.ended = 0.0
        job.over.set()
        self._lane(project).jobs.append(job)
        return job


class Client:
    """A browser that has been let in."""

    def __init__(self, root: Path, jobs: Jobs | None = None) -> None:
        self.closed = False
        self.keys = Keys(PORT)
        self.studio = Studio(
            Projects(root), self.keys, close=self._close, desks=DirectDesks(), jobs=jobs or Jobs()
        )
        self.app = make_app(self.studio)

    def _close(self) -> None:
        self.closed = True

    def raw(self, method: str, path: str, headers: Mapping[str, str], **what: Any) -> httpx.Response:
        """Send a request with these headers only."""

        async def response() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.keys.origin) as client:
                return await client.request(method, path, headers=dict(headers), **what)

        with ThreadPoolExecutor(1) as thread:  # in this one a browser may have its loop
            return thread.submit(asyncio.run, response()).result()

    def get(self, *parts: str, **what: Any) -> httpx.Response:
        return self.raw("GET", self.at(*parts), self.headers(), **what)

    def post(self, *parts: str, **what: Any) -> httpx.Response:
        return self.raw("POST", self.at(*parts), self.headers(post=True), **what)

    def at(self, *parts: str) -> str:
        return "/".join([self.keys.prefix, *parts])

    def headers(self, *, post: bool = False) -> dict[str, str]:
        """Return the headers of a request as the browser sends it from a page of the studio."""
        plain = {"cookie": f"{COOKIE}={self.keys.cookie}", "sec-fetch-site": "same-origin"}
        return plain | ({"origin": self.keys.origin} if post else {})
