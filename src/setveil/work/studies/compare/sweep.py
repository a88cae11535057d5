"""Many runs, each in a process of its own, with limits; what was done is kept and not done again."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from setveil.base.errors import OutputError, RequestError
from setveil.base.plain_json import read_json
from setveil.base.progress import Progress, silent
from setveil.base.staging import private_file, private_folders, remove_abandoned
from setveil.base.threads import usable_cpus
from setveil.work.studies.compare.plan import Run
from setveil.work.studies.compare.worker import write_record

STATUSES = ("done", "infeasible", "refused", "failed", "timeout", "memory", "killed")
RETRIED = ("failed", "timeout", "memory", "killed")
WORKER = (sys.executable, "-P", "-m", "setveil.work.studies.compare.worker")

RUNS = "runs"
_LOCK = ".lock"
_POLL = 0.02  # seconds between two looks at the processes
_GRACE = 2.0  # seconds between asking a process to end and ending it

Record = Mapping[str, Any]


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a study's folder against other processes, where the system has such locks."""
    try:
        private_folders(folder, folder / RUNS)
        lock = private_file(folder / _LOCK, "w")
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}.") from None
    with lock:
        try:
            import fcntl
        except ImportError:  # Windows
            pass
        else:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(
                    f"Another setveil is working on {folder}.", hint="Wait for it, or choose another folder."
                ) from None
        yield


def read_record(folder: Path, run: str) -> Record | None:
    """Read how a run ended; None if it has not, or the file is damaged."""
    try:
        found = read_json((folder / RUNS / f"{run}.json").read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("run") != run or found.get("status") not in STATUSES:
        return None
    if not isinstance(found.get("error"), str) or not isinstance(found.get("measures"), dict):
        return None
    return found


def run_all(
    runs: Sequence[Run],
    folder: Path,
    *,
    jobs: int | None = None,
    retry: bool = False,
    budget: float | None = None,
    worker: Sequence[str] = WORKER,
    progress: Progress = silent,
) -> dict[str, Record]:
    """Do the runs that the folder lacks, each once, and return how all of them ended.

    `folder`: gets one file for each run in `runs`, without rows and items. `jobs`: processes at once, by
    default one for each processor. `retry`: repeat those that failed or ran out of time or memory. `budget`:
    seconds for all; runs that need more are ended, without a record. Returns records by the run's id, and by
    `Run.risk_id` for the risk of the original rows: `status` (one of `STATUSES`), `error`, `measures`.
    """
    with locked(folder):
        return sweep(runs, folder, jobs=jobs, retry=retry, budget=budget, worker=worker, progress=progress)


def sweep(
    runs: Sequence[Run],
    folder: Path,
    *,
    jobs: int | None = None,
    retry: bool = False,
    budget: float | None = None,
    worker: Sequence[str] = WORKER,
    progress: Progress = silent,
) -> dict[str, Record]:
    """Do what `run_all` does, in a folder that is locked already."""
    jobs = usable_cpus() if jobs is None else jobs
    if jobs < 1:
        raise RequestError(f"The number of jobs must be at least 1, got {jobs}.")
    wanted = {run.id for run in runs}
    records: dict[str, Record] = {}
    for run in {*wanted, *(run.risk_id for run in runs if run.risk_id is not None)}:
        record = read_record(folder, run)
        if record is not None and not (retry and record["status"] in RETRIED):
            records[run] = record
    tasks = deque(_tasks(runs, records))
    end = None if budget is None else time.monotonic() + budget
    children: list[_Child] = []
    try:
        while tasks or children:
            if end is not None and time.monotonic() >= end:
                break
            while tasks and len(children) < jobs:
                children.append(_Child(tasks.popleft(), folder, worker))
            for child in list(children):
                if child.ended():
                    children.remove(child)
                    records |= child.records(folder)
            done = len(wanted & records.keys()) + sum(child.written() for child in children)
            progress(f"{done:,} of {len(wanted):,} runs, {len(children)} running", done / max(len(wanted), 1))
            time.sleep(_POLL)
    finally:
        for child in children:
            child.kill()
        remove_abandoned(folder / RUNS)  # of workers that were killed, now or before
    return records


@dataclass(frozen=True)
class _Task:
    """What a process does: one run, and others that only measure the same release with other seeds."""

    content: Mapping[str, Any]
    others: Sequence[Run]
    time_limit: float | None


def _tasks(runs: Sequence[Run], ended: Collection[str]) -> list[_Task]:
    """List what is to be done: the risks of original rows first, since many runs share them."""
    risks: dict[str, _Task] = {}
    solutions: dict[str, dict[str, Run]] = {}
    for run in runs:
        if run.risk_id is not None and run.risk_id not in ended:
            content = {**run.task(), "run": run.risk_id, "kind": "risk"}
            risks.setdefault(run.risk_id, _Task(content, (), run.time_limit))
        if run.id not in ended:
            solutions.setdefault(run.solution, {}).setdefault(run.id, run)
    solved = [list(of.values()) for of in solutions.values()]
    return [*risks.values(), *(_Task(one.task(), more, one.time_limit) for one, *more in solved)]


class _Child:
    """A process that does one task."""

    def __init__(self, task: _Task, folder: Path, worker: Sequence[str]) -> None:
        self.kind: str = task.content["kind"]
        runs = [task.content["run"], *(run.id for run in task.others)]
        self.places = {run: (folder / RUNS / f"{run}.json").absolute() for run in runs}
        self.limit = task.time_limit
        self.stopped_at: float | None = None  # when it was asked to end
        for place in self.places.values():
            place.unlink(missing_ok=True)  # damaged, or to be repeated
        self.started = time.monotonic()
        self.since = self.started  # the limit holds from here: the start, or when it last wrote a record
        self.seen = 0  # records by then
        self.stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
        # A session of its own: Ctrl-C is for the parent, whose end the worker notices.
        self.process = subprocess.Popen(  # noqa: S603
            worker, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.stderr,
            start_new_session=True, env={**os.environ, "PYTHONUTF8": "1", "POLARS_MAX_THREADS": "1"},
        )  # fmt: skip
        first, *others = ({"run": run, "out": str(place)} for run, place in self.places.items())
        content = {**task.content, **first, "started": self.started, "others": [
            {**one, "seed": run.seed} for one, run in zip(others, task.others, strict=True)
        ]}  # fmt: skip
        assert self.process.stdin is not None  # noqa: S101
        with contextlib.suppress(OSError):  # it may have ended already
            self.process.stdin.write(json.dumps(content).encode() + b"\n")
            self.process.stdin.flush()

    def ended(self) -> bool:
        """Look whether it has ended; end it if its time is over."""
        if self.process.poll() is not None:
            return True
        now = time.monotonic()
        if self.stopped_at is not None:
            if now - self.stopped_at >= _GRACE:
                self.process.kill()
        elif self.limit is not None and now - self.since >= self.limit:
            if self.written() > self.seen:
                self.seen, self.since = self.written(), now
            else:
                self.stopped_at = now
                self.process.terminate()
        return False

    def written(self) -> int:
        """Count the runs whose records it has written, while it has others to do."""
        return sum(place.exists() for place in self.places.values()) if len(self.places) > 1 else 0

    def records(self, folder: Path) -> dict[str, Record]:
        """Read what it wrote; of runs without a record, write how they ended."""
        seconds = round(time.monotonic() - self.started, 4)
        said = self._last_words()
        self._close()
        found = {run: read_record(folder, run) for run in self.places}
        code = self.process.returncode
        if self.stopped_at is not None:
            status, error = "timeout", f"Took more than the {self.limit:g} s of its limit."
        elif code < 0:
            status, error = "killed", f"Ended by signal {-code}, by the system or from outside."
        else:
            status, error = "failed", f"The worker ended with exit code {code}. {said}"
        try:
            return {
                run: record
                or write_record(self.places[run], run, self.kind, status, error, {"seconds": seconds})
                for run, record in found.items()
            }
        except OSError as problem:
            raise OutputError(f"{folder} cannot be written: {problem.strerror or problem}.") from None

    def kill(self) -> None:
        """End it now."""
        self.process.kill()
        self.process.wait()
        self._close()

    def _last_words(self) -> str:
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _close(self) -> None:
        self.stderr.close()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
