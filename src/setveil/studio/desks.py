"""The server's side of the desks: warm workers, one a project, that answer small questions about its data."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from setveil.studio.projects import Project

COMMAND = (sys.executable, "-m", "setveil.studio.desk")
MOST = 2
_LONGEST_LINE = 1 << 28  # bytes: a tree of 110,000 nodes has some 3 MB
_OF_FREE = 0.6  # share of the free memory that a desk may take


class Refused(Exception):  # noqa: N818  (an answer, in a way)
    """The desk's answer is one of setveil's errors, with further content such as readings."""

    def __init__(
        self, kind: str, message: str, hint: str = "", where: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.where = dict(where or {})


class Lost(Exception):  # noqa: N818  (the desk is, not the server)
    """The desk ended before it had answered; the next question starts a new one."""

    message = "The part of setveil that had the data has ended."
    hint = "Nothing is lost. Try again; if it happens again, the computer may be short of memory."

    def __init__(self) -> None:
        super().__init__(self.message)


class _Desk:
    """One worker, and the questions it has not answered yet."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.reader = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        try:
            async for line in cast(asyncio.StreamReader, self.process.stdout):
                answer = json.loads(line)
                future = self.pending.pop(answer["id"], None)
                if future is not None and not future.done():
                    future.set_result(answer)
        finally:
            await self.process.wait()
            for future in self.pending.values():
                if not future.done():
                    future.set_exception(Lost())
            self.pending.clear()

    async def end(self) -> None:
        if self.process.returncode is None:
            with contextlib.suppress(OSError):
                self.process.kill()  # it writes nothing that is not complete or not at all
        await self.reader


class Desks:
    """The desks of the open projects, each started by `command`."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.command = tuple(command)
        self._desks: dict[Path, _Desk] = {}  # the one asked last is the last
        self._starting = asyncio.Lock()
        self._last = 0
        self._spare: _Desk | None = None

    async def ready(self) -> None:
        """Start a desk for the project that is opened next: what it imports takes a while."""
        async with self._starting:
            if not self._desks and (self._spare is None or self._spare.reader.done()):
                self._spare = _Desk(await self._start())

    async def ask(self, project: Project, do: str, **arguments: Any) -> dict[str, Any]:
        """Ask the desk of a project; `do` names one of its functions."""
        desk = await self._of(project.folder)
        self._last += 1
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        number = self._last
        desk.pending[number] = future
        question = {"id": number, "do": do, "with": arguments, "folder": str(project.folder)}
        pipe = cast(asyncio.StreamWriter, desk.process.stdin)
        try:
            pipe.write(json.dumps(question).encode() + b"\n")
            await pipe.drain()
        except OSError:
            desk.pending.pop(number, None)
            raise Lost from None
        answer = await future
        if "error" in answer:
            raise Refused(**answer["error"])
        return dict(answer["answer"])

    async def leave(self, project: Project) -> None:
        """End the desk of a project, if there is one."""
        desk = self._desks.pop(project.folder, None)
        if desk is not None:
            await desk.end()

    async def close(self) -> None:
        """End all desks."""
        for desk in list(self._desks.values()):
            await desk.end()
        self._desks.clear()
        if self._spare is not None:
            await self._spare.end()

    async def _of(self, folder: Path) -> _Desk:
        async with self._starting:
            desk = self._desks.pop(folder, None)
            if desk is None or desk.process.returncode is not None or desk.reader.done():
                while len(self._desks) >= MOST:
                    idle = (one for one, other in self._desks.items() if not other.pending)
                    await self._desks.pop(next(idle, next(iter(self._desks)))).end()
                spare, self._spare = self._spare, None
                desk = spare if spare is not None and not spare.reader.done() else _Desk(await self._start())
            self._desks[folder] = desk
            return desk

    async def _start(self) -> asyncio.subprocess.Process:
        from setveil.runs.memory import share_left_mb

        return await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "SETVEIL_DESK_MEMORY": f"{share_left_mb(_OF_FREE):.0f}"},
            limit=_LONGEST_LINE,
            start_new_session=True,
        )
