"""Setveil's own commands, run for a project: their progress, how they end, and how they are ended.

A command is a process, watched and steered by `setveil.cli.watched`. Nothing of it stays if it is cancelled
or killed. Work in progress is noted in the project's folder, so that the server after a killed one reports
what became of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from setveil.base.staging import staged_file
from setveil.studio import places
from setveil.studio.places import UNDER_WAY

if TYPE_CHECKING:
    from setveil.studio.projects import Project

COMMAND = (sys.executable, "-m", "setveil")
FRONT = "explore"  # put off for any other work
# Short; asked while other work goes on.
QUESTIONS = frozenset(
    {"absent", "checker", "evidence", "query", "risk", "series-verify", "stranger", "verify", "why"}
)

_KEPT = 30  # jobs of a project, the newest
_GRACE = 5.0  # seconds in which a cancelled command shall have tidied up
_BETWEEN = 0.1  # seconds between two events, at least
_MOST_LINES = 200  # of standard error that is not events
_OF_FREE = 0.9  # share of the free memory that a command may take


@dataclass(eq=False)
class Job:
    """A command of setveil that runs, waits to run, or has run.

    `kind`: the project's word, such as anonymize or explore. `state`: waiting, running, done, failed or
    cancelled. `share`: of the phase, None if unknown. `stoppable`, `finishing`: it can end with its best so
    far, and was asked to. `error`: kind (the class of setveil's error), message, hint, and `greatest_k` if
    that is why. `errors`: the end of standard error without events.
    """

    id: int
    kind: str
    argv: list[str]
    label: str
    out: Path | None = None
    answer: Path | None = None
    urgent: bool = False  # among those of its kind
    settled: Callable[[], bool] | None = None  # whether it was done, however its process ended
    state: str = "waiting"
    phase: str = ""
    share: float | None = None
    stoppable: bool = False
    finishing: bool = False
    notes: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None
    exit_code: int | None = None
    output: str = ""
    errors: str = ""
    begun: float | None = None
    ended: float | None = None
    cancelling: bool = False
    again: bool = False  # ended for more urgent work; waits to begin anew
    process: asyncio.subprocess.Process | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seconds(self) -> float:
        """Return its duration so far."""
        if self.begun is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.begun

    @property
    def is_over(self) -> bool:
        """Return whether it is done, has failed or was cancelled."""
        return self.over.is_set()

    def as_dict(self) -> dict[str, Any]:
        """Say how it stands, without what it has answered."""
        return {
            "id": self.id, "kind": self.kind, "label": self.label, "state": self.state, "phase": self.phase,
            "share": self.share, "stoppable": self.stoppable and not self.finishing,
            "finishing": self.finishing, "cancelling": self.cancelling, "seconds": round(self.seconds, 1),
            "error": self.error,
        }  # fmt: skip


class _Lane:
    """The jobs of a project."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.changed = asyncio.Event()

    def running(self, *, questions: bool) -> Job | None:
        return next(
            (job for job in self.jobs if job.state == "running" and _is_question(job) == questions), None
        )

    def next(self, *, questions: bool) -> Job | None:
        waiting = [job for job in self.jobs if job.state == "waiting" and _is_question(job) == questions]
        return min(waiting, key=lambda job: (job.kind == FRONT, not job.urgent, job.id), default=None)

    def tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


def _is_question(job: Job) -> bool:
    return job.kind in QUESTIONS


class Jobs:
    """The commands of all projects, each started by `command`, with `umask` and at most `memory_mb`."""

    def __init__(
        self, command: Sequence[str] = COMMAND, memory_mb: float | None = None, umask: int = -1
    ) -> None:
        self.command = tuple(command)
        self.memory_mb = memory_mb
        self.umask = umask
        self._lanes: dict[Path, _Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._last = 0
        self._closed = False

    def start(
        self,
        project: Project,
        kind: str,
        argv: Sequence[str],
        *,
        label: str = "",
        out: Path | None = None,
        answer: Path | None = None,
        urgent: bool = False,
        settled: Callable[[], bool] | None = None,
    ) -> Job:
        """Run a command as soon as it is its turn.

        `kind`: one command of each kind in `QUESTIONS` runs next to other work; explore is put off for any
        other work, unless `urgent`: then it is first, and the others begin again afterwards. `label`: for
        pages. `out`: written as a whole or not at all, must not exist. `answer`: where to store standard
        output, if it is done. `settled`: tells whether the work was done and cannot be undone, however its
        process ended.
        """
        lane = self._lane(project)
        self._last += 1
        job = Job(self._last, kind, [*map(str, argv)], label or kind, out, answer, urgent, settled)
        lane.jobs.append(job)
        over = [one for one in lane.jobs if one.is_over]
        for one in over[: max(len(lane.jobs) - _KEPT, 0)]:
            lane.jobs.remove(one)
        now = lane.running(questions=False)
        if now is not None and now.kind == FRONT and not _is_question(job) and (urgent or kind != FRONT):
            now.again = True
            self._end(now)
        self._begin_next(project)
        return job

    def of(self, project: Project) -> list[Job]:
        """List the jobs of a project, the oldest first."""
        return list(self._lane(project).jobs)

    def find(self, project: Project, number: int) -> Job:
        """Find a job by its id."""
        for job in self._lane(project).jobs:
            if job.id == number:
                return job
        raise LookupError(f"There is no job {number}.")

    def latest(self, project: Project, *kinds: str) -> Job | None:
        """Find the newest job of some kinds."""
        return next((job for job in reversed(self._lane(project).jobs) if job.kind in kinds), None)

    def busy(self) -> bool:
        """Return whether anything runs or waits."""
        return any(not job.is_over for lane in self._lanes.values() for job in lane.jobs)

    def finish(self, job: Job) -> None:
        """Ask a job to end with what it has so far."""
        if job.state == "running" and job.process is not None and job.process.stdin is not None:
            job.finishing = True
            with contextlib.suppress(OSError, RuntimeError):
                job.process.stdin.write(b"\n")
        self._tell(job)

    def cancel(self, job: Job) -> None:
        """End a job; nothing of it stays."""
        if job.is_over:
            return
        job.again = False
        job.cancelling = True
        if job.state == "waiting":
            self._close(job, "cancelled")
        else:
            self._end(job)
        self._tell(job)

    async def wait(self, job: Job) -> Job:
        """Wait until a job is over."""
        await job.over.wait()
        return job

    async def changes(self, project: Project) -> AsyncIterator[dict[str, Any]]:
        """Return how the jobs of a project stand: at once, and whenever that has changed."""
        lane = self._lane(project)
        while True:
            changed = lane.changed
            yield {"jobs": [job.as_dict() for job in lane.jobs]}
            await changed.wait()
            await asyncio.sleep(_BETWEEN)

    async def close(self) -> None:
        """End all jobs; nothing of those under way stays."""
        self._closed = True
        for lane in self._lanes.values():
            for job in list(lane.jobs):
                self.cancel(job)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _lane(self, project: Project) -> _Lane:
        lane = self._lanes.get(project.folder)
        if lane is None:
            lane = self._lanes[project.folder] = _Lane()
            self._recall(project.folder, lane)
        return lane

    def _recall(self, folder: Path, lane: _Lane) -> None:
        """Say what became of work that was under way when an earlier server ended."""
        note = folder / UNDER_WAY
        if places.foreign(folder) is not None:
            return
        try:
            was = places.read_json(note)
            # The file may be anybody's: what it names is removed only where it is a run of this project.
            out = places.run_of(folder, was["out"])
            kind, argv, label = str(was["kind"]), list(map(str, was["argv"])), str(was["label"])
            server = int(was["server"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return
        if out is None or (server != os.getpid() and _is_alive(server)):
            return  # nothing of ours; or of another server, which tells itself
        self._last += 1
        job = Job(self._last, kind, argv, label, out, begun=0.0, ended=0.0)
        if out.exists():
            job.state = "done"
        else:
            job.state = "failed"
            job.error = {
                "kind": "Ended",
                "message": f"{label[:1].upper()}{label[1:]} ended without a result, because setveil was "
                "ended. Nothing was written.",
                "hint": "Start it again.",
            }
            places.tidy(out)
        job.over.set()
        lane.jobs.append(job)
        note.unlink(missing_ok=True)

    def _begin_next(self, project: Project) -> None:
        lane = self._lane(project)
        for questions in (False, True):
            job = lane.next(questions=questions)
            if self._closed or job is None or lane.running(questions=questions) is not None:
                continue
            job.state, job.phase, job.begun = "running", "starting", time.monotonic()
            task = asyncio.get_running_loop().create_task(self._run(project, job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        lane.tell()

    async def _run(self, project: Project, job: Job) -> None:
        try:
            with _written_down(project.folder, job):
                await self._watch(job, project.folder)
            if job.is_over:
                _log(project.log, job)
        except Exception as error:  # the job's, not the server's
            if not job.is_over:
                message = f"The command could not be run: {error}"
                job.error = {"kind": type(error).__name__, "message": message, "hint": ""}
                self._close(job, "failed")
        finally:
            self._begin_next(project)

    async def _watch(self, job: Job, folder: Path) -> None:
        """Start a job's process in the project's folder, and follow it to its end."""
        from setveil.runs.memory import share_left_mb

        memory = self.memory_mb if self.memory_mb is not None else share_left_mb(_OF_FREE)
        process = await asyncio.create_subprocess_exec(
            *self.command,
            *job.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "SETVEIL_WATCHED": f"{memory:.0f}", "PYTHONIOENCODING": "utf-8"},
            cwd=folder,
            limit=1 << 24,
            start_new_session=True,  # Ctrl-C in the terminal is the server's
            umask=self.umask,
        )
        job.process = process
        if job.cancelling or job.again:  # while it was started
            self._end(job)
        output, _ = await asyncio.gather(
            cast(asyncio.StreamReader, process.stdout).read(),
            self._listen(job, cast(asyncio.StreamReader, process.stderr)),
        )
        job.exit_code = await process.wait()
        job.output = output.decode("utf-8", "replace")
        job.process = None
        if job.again and not job.cancelling:
            job.again, job.error = False, None
            job.state, job.phase, job.share, job.begun = "waiting", "", None, None
            return
        # Code 1 with an answer: what was to be checked does not hold.
        answered = job.exit_code == 0 or (job.exit_code == 1 and job.error is None and job.output != "")
        if job.settled is not None and job.settled():
            answered, job.cancelling, job.error = True, False, None  # too late to cancel it
        if answered and job.answer is not None:
            _write(job.answer, job.output)
        if answered and (job.out is None or not job.cancelling):
            self._close(job, "done")
            return
        if job.out is not None:
            places.tidy(job.out)
        if job.cancelling:
            if job.out is not None:
                shutil.rmtree(job.out, ignore_errors=True)  # complete at the very moment it was cancelled
            self._close(job, "cancelled")
            return
        if job.error is None:
            job.error = _unexplained(job)
        self._close(job, "failed")

    async def _listen(self, job: Job, stream: asyncio.StreamReader) -> None:
        lines: list[str] = []
        async for line in stream:
            text = line.decode("utf-8", "replace").rstrip("\n")
            event = _event(text)
            if event is None:
                lines = [*lines, text][-_MOST_LINES:]
            elif "phase" in event:
                job.phase, job.share = event["phase"]["name"], event["phase"]["share"]
                job.stoppable = event["phase"]["stoppable"]
            elif "note" in event:
                job.notes.append(event["note"])
            else:
                job.error = event["error"]
            self._tell(job)
        job.errors = "\n".join(lines)

    def _end(self, job: Job) -> None:
        """End a job's process: it tidies up, and is killed if that takes long."""
        process = job.process
        if process is None or process.stdin is None:
            return  # ended as soon as it is there
        process.stdin.close()
        asyncio.get_running_loop().call_later(_GRACE, _kill, process)

    def _close(self, job: Job, state: str) -> None:
        job.state, job.ended, job.stoppable = state, time.monotonic(), False
        job.over.set()
        self._tell(job)

    def _tell(self, job: Job) -> None:
        for lane in self._lanes.values():
            if job in lane.jobs:
                lane.tell()


def _write(place: Path, text: str) -> None:
    places.make_folder(place.parent)
    with staged_file(place) as beside:
        beside.write_text(text, encoding="utf-8")


def _log(place: Path, job: Job) -> None:
    """Note when a job ended and how; no word of the data."""
    why = f" {job.error['kind']}" if job.error else ""
    with contextlib.suppress(OSError), place.open("a", encoding="utf-8") as log:
        log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {job.kind} {job.state}{why} {job.seconds:.1f} s\n")


def _event(text: str) -> dict[str, Any] | None:
    """Read an event; None: the line is none."""
    if not text.startswith('{"'):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.keys() <= {"phase", "note", "error"} else None


def _unexplained(job: Job) -> dict[str, str]:
    """Say what is known of a command that ended without a word of its own."""
    what = f"{job.label[:1].upper()}{job.label[1:]}"
    if job.exit_code is not None and job.exit_code < 0:
        return {
            "kind": "Killed",
            "message": f"{what} was ended from outside (signal {-job.exit_code}). Nothing was written.",
            "hint": "Start it again. If the system did it for lack of memory, close other programs first.",
        }
    line = next((line for line in reversed(job.errors.splitlines()) if line.strip()), "")
    return {
        "kind": "Failed",
        "message": f"{what} ended without a result (exit code {job.exit_code}). Nothing was written.",
        "hint": line,
    }


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(OSError):
            process.kill()


@contextlib.contextmanager
def _written_down(folder: Path, job: Job) -> Iterator[None]:
    """Keep a note in the project's folder as long as a job that writes something is under way."""
    if job.out is None:
        yield
        return
    note = folder / UNDER_WAY
    content = {
        "kind": job.kind, "argv": job.argv, "label": job.label, "out": str(job.out), "server": os.getpid(),
    }  # fmt: skip
    _write(note, json.dumps(content) + "\n")
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return False  # to ask is to end it, there
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # there is none, and cannot be
        return False
    except OSError:
        return True
    return True
