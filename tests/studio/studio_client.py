"""Ask the studio's application directly, without a server or a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from setveil.studio.app import Studio, make_app
from setveil.studio.desks import Desks, Refused
from setveil.studio.guard import COOKIE, Keys
from setveil.studio.jobs import Jobs
from setveil.studio.projects import Project, Projects

PORT = 8765


class DirectDesks(Desks):
    """Desks that answer in this process."""

    async def ready(self) -> None:
        pass

    async def ask(self, project: Project, do: str, **given: Any) -> dict[str, Any]:
        from setveil.studio.desk.__main__ import _answer
        from setveil.studio.desk.place import Desk

        self._desks.setdefault(project.folder, Desk(project.folder))  # type: ignore[arg-type]
        desk: Any = self._desks[project.folder]
        answer = json.loads(json.dumps(_answer(desk, do, json.loads(json.dumps(given)))))
        if "error" in answer:
            raise Refused(**answer["error"])
        found: dict[str, Any] = answer["answer"]
        return found


class Client:
    """A browser that has been let in."""

    def __init__(self, root: Path) -> None:
        self.closed = False
        self.keys = Keys(PORT)
        self.studio = Studio(Projects(root), self.keys, close=self._close, desks=DirectDesks(), jobs=Jobs())
        self.app = make_app(self.studio)

    def _close(self) -> None:
        self.closed = True

    def raw(self, method: str, path: str, headers: Mapping[str, str], **what: Any) -> httpx.Response:
        """Send a request with these headers only."""

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.keys.origin) as client:
                return await client.request(method, path, headers=dict(headers), **what)

        with ThreadPoolExecutor(1) as thread:  # in this one a browser may have its loop
            return thread.submit(asyncio.run, asked()).result()

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
