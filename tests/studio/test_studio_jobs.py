"""Commands and desks of the studio: how they end, and that nothing half-written stays."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cli_helpers
import studio_forks
from setveil.studio import desks as desks_module
from setveil.studio.desks import Desks, Lost, Refused
from setveil.studio.jobs import Job, Jobs
from setveil.studio.places import UNDER_WAY
from setveil.studio.projects import Project, Projects

# Replaces setveil: the first word is its action. It receives its end on its standard input.
PLAYED = (
    sys.executable,
    "-c",
    """
import json, os, pathlib, sys, threading, time
asked = threading.Event()
def listen():
    while os.read(0, 1):
        asked.set()
    os._exit(130)
threading.Thread(target=listen, daemon=True).start()
def say(**what):
    print(json.dumps(what), file=sys.stderr, flush=True)
do, *rest = sys.argv[1:]
if do == "answer":
    print(*rest)
elif do == "hang":
    say(phase={"name": "hanging", "share": 0.5, "stoppable": True})
    asked.wait()
    print("stopped early")
elif do == "hold":
    pathlib.Path(rest[0]).with_name("." + pathlib.Path(rest[0]).name + ".half").mkdir(parents=True)
    say(phase={"name": "holding", "share": None, "stoppable": False})
    while True:
        time.sleep(1)
elif do == "deaf":
    say(phase={"name": "deaf", "share": None, "stoppable": False})
    os.close(0)
    time.sleep(1000)
elif do == "refuse":
    say(note="by the way")
    say(error={"kind": "InfeasibleError", "message": "Not possible.", "hint": "The greatest k is 3."})
    sys.exit(3)
elif do == "break":
    raise KeyError("x")
""",
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Projects(tmp_path / "projects").create("Shop")


def in_a_loop(what: Coroutine[Any, Any, Any]) -> Any:
    """Run an asynchronous function, in another thread, as a browser may have its loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, what).result()


def played(what: Callable[[Jobs], Awaitable[Any]]) -> Any:
    """Do something with jobs that only play setveil, and end them."""

    async def do() -> Any:
        jobs = Jobs(PLAYED)
        try:
            return await asyncio.wait_for(what(jobs), 60)
        finally:
            await jobs.close()

    return in_a_loop(do())


async def reaches(jobs: Jobs, project: Project, job: Job, phase: str) -> None:
    async for _ in jobs.changes(project):
        if job.phase == phase:
            return


def test_a_command_is_watched_to_its_end(project: Project) -> None:
    async def do(jobs: Jobs) -> Job:
        return await jobs.wait(jobs.start(project, "risk", ["answer", "42"]))

    job = played(do)
    assert (job.state, job.exit_code, job.output) == ("done", 0, "42\n")


def test_why_a_command_ended_without_an_answer(project: Project) -> None:
    async def do(jobs: Jobs) -> list[Job]:
        words = [["refuse"], ["break"], ["hold", "runs/x"]]
        started = [jobs.start(project, "anonymize", argv, label="the run") for argv in words]
        await reaches(jobs, project, started[2], "holding")
        assert started[2].process is not None
        started[2].process.send_signal(signal.SIGKILL)
        return [await jobs.wait(job) for job in started]

    refused, broken, killed = played(do)
    assert refused.state == broken.state == killed.state == "failed"
    assert refused.error == {
        "kind": "InfeasibleError", "message": "Not possible.", "hint": "The greatest k is 3.",
    }  # fmt: skip
    assert refused.notes == ["by the way"]
    assert broken.error["message"] == "The run ended without a result (exit code 1). Nothing was written."
    assert broken.error["hint"] == "KeyError: 'x'"
    lines = [line.split() for line in project.log.read_text().splitlines()]
    assert [line[2:5] for line in lines] == [
        ["anonymize", "failed", kind] for kind in ("InfeasibleError", "Failed", "Killed")
    ]
    assert killed.error["message"] == "The run was ended from outside (signal 9). Nothing was written."


def test_finish_now_is_heard(project: Project) -> None:
    async def do(jobs: Jobs) -> Job:
        job = jobs.start(project, "anonymize", ["hang"])
        await reaches(jobs, project, job, "hanging")
        assert (job.share, job.as_dict()["stoppable"]) == (0.5, True)
        jobs.finish(job)
        assert job.as_dict()["stoppable"] is False
        return await jobs.wait(job)

    job = played(do)
    assert (job.state, job.output) == ("done", "stopped early\n")


def test_nothing_stays_of_what_is_cancelled_or_killed(project: Project) -> None:
    runs = project.runs
    out = runs / "x"

    async def do(jobs: Jobs) -> tuple[Job, Job]:
        ended = []
        for end in (jobs.cancel, lambda job: job.process.kill()):
            job = jobs.start(project, "anonymize", ["hold", str(out)], out=out)
            await reaches(jobs, project, job, "holding")
            assert (project.folder / UNDER_WAY).exists()
            assert list(runs.iterdir()) == [runs / ".x.half"]
            end(job)
            ended.append(await jobs.wait(job))
            assert list(runs.iterdir()) == []
        return ended[0], ended[1]

    cancelled, killed = played(do)
    assert (cancelled.state, killed.state) == ("cancelled", "failed")
    assert not (project.folder / UNDER_WAY).exists()


def test_a_command_that_does_not_hear_is_killed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setveil.studio.jobs._GRACE", 0.05)

    async def do(jobs: Jobs) -> Job:
        job = jobs.start(project, "anonymize", ["deaf"])
        await reaches(jobs, project, job, "deaf")
        jobs.cancel(job)
        return await jobs.wait(job)

    assert played(do).state == "cancelled"


def test_one_work_at_a_time_and_fronts_are_put_off(project: Project) -> None:
    async def do(jobs: Jobs) -> list[str]:
        front = jobs.start(project, "explore", ["hang"])
        await reaches(jobs, project, front, "hanging")
        run = jobs.start(project, "anonymize", ["hang"])
        second = jobs.start(project, "anonymize", ["answer"])
        question = jobs.start(project, "why", ["answer", "why"])
        await reaches(jobs, project, run, "hanging")
        assert (front.state, second.state) == ("waiting", "waiting")
        await jobs.wait(question)
        assert run.state == "running"
        jobs.finish(run)
        await jobs.wait(second)
        await reaches(jobs, project, front, "hanging")
        jobs.finish(front)
        await jobs.wait(front)
        return [job.state for job in (front, run, second, question)]

    assert played(do) == ["done"] * 4


def test_requested_fronts_come_before_others(project: Project) -> None:
    async def do(jobs: Jobs) -> list[str]:
        first = jobs.start(project, "explore", ["hang"])
        jobs.start(project, "explore", ["answer"])
        await reaches(jobs, project, first, "hanging")
        search = jobs.start(project, "explore", ["hang"], urgent=True)
        await reaches(jobs, project, search, "hanging")
        assert first.state == "waiting"
        run = jobs.start(project, "anonymize", ["answer"])  # any other work precedes all of them
        await jobs.wait(run)
        await reaches(jobs, project, search, "hanging")
        assert first.state == "waiting"
        jobs.finish(search)
        await reaches(jobs, project, first, "hanging")
        jobs.finish(first)
        await jobs.wait(jobs.of(project)[1])
        return [job.state for job in jobs.of(project)]

    assert played(do) == ["done"] * 4


def test_the_chosen_promise_is_computed_first(project: Project) -> None:
    class Noted(Jobs):
        def _begin_next(self, project: Project) -> None:
            """Begin nothing."""

    from setveil.studio import fronts

    async def queue(jobs: Jobs, *chosen: tuple[tuple[int, str], bool]) -> list[str]:
        for one, alone in chosen:
            fronts.start(jobs, project, one, alone=alone)
        return [
            " ".join(job.argv[job.argv.index(name) + 1] for name in ("--k", "--m", "--time-budget"))
            for job in sorted(jobs.of(project), key=lambda job: (not job.urgent, job.id))
        ]

    project.save(input="rows.csv", format="basket")
    ks = ",".join(map(str, fronts.KS))
    parts = ["5 2 20", f"{ks} 1,2 40", f"{ks} 3,4 60"]
    assert in_a_loop(queue(Noted(), ((5, "2"), False))) == parts
    assert in_a_loop(queue(Noted(), ((5, "2"), False), ((5, "2"), False))) == parts  # each once
    first = in_a_loop(queue(Noted(), ((5, "2"), False), ((7, "inf"), True)))
    assert first == ["7 inf 60", *parts]
    project.fronts.mkdir(exist_ok=True)
    found = {"objective": "lm", "cells": [], "rows": 1, "k": [], "m": []}
    for part in fronts._grid(project):
        part.place.write_text(json.dumps(found))
    assert in_a_loop(queue(Noted(), ((5, "2"), False))) == []  # all is known
    for budget in (60, 180, 540):  # longer each time
        assert in_a_loop(queue(Noted(), ((5, "2"), True))) == [f"5 2 {budget}"]
        fronts._one(project, 5, "2", budget).place.write_text(json.dumps(found))
    assert in_a_loop(queue(Noted(), ((5, "2"), True))) == []


def test_what_waits_can_be_cancelled(project: Project) -> None:
    async def do(jobs: Jobs) -> list[str]:
        first = jobs.start(project, "anonymize", ["hang"])
        second = jobs.start(project, "anonymize", ["answer"])
        jobs.cancel(second)
        await reaches(jobs, project, first, "hanging")
        jobs.finish(first)
        await jobs.wait(first)
        return [first.state, second.state]

    assert played(do) == ["done", "cancelled"]


def test_a_later_server_says_what_became_of_a_run(project: Project) -> None:
    """Check that, if the server is killed during a run, the run ends and its files are removed."""
    script = f"""
import asyncio
from pathlib import Path
from setveil.studio.jobs import Jobs
from setveil.studio.projects import Projects
async def do():
    project = Projects(Path({str(project.folder.parent)!r})).find({project.name!r})
    jobs = Jobs({PLAYED!r})
    out = project.runs / "x"
    job = jobs.start(project, "anonymize", ["hold", str(out)], label="the run", out=out)
    async for _ in jobs.changes(project):
        if job.phase == "holding":
            print(job.process.pid, flush=True)
asyncio.run(do())
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], env=cli_helpers.environment(), stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        server.kill()
    cli_helpers.until_gone([child])
    assert (project.folder / UNDER_WAY).exists()

    async def do(jobs: Jobs) -> list[Job]:
        return jobs.of(project)

    (job,) = played(do)
    assert job.state == "failed"
    assert job.error["message"].startswith("The run ended without a result, because setveil was ended.")
    assert list(project.runs.iterdir()) == []
    assert not (project.folder / UNDER_WAY).exists()
    assert played(do) == []


def _rows(project: Project, n: int = 90) -> Path:
    rows = cli_helpers.sample_rows(n)
    return cli_helpers.write(project.folder / "rows.dat", cli_helpers.dump(rows, "fimi"))


@pytest.mark.exhaustive
def test_the_real_command_reports_its_phases_and_errors(project: Project) -> None:
    file = _rows(project, 5_000)
    phases = []

    class Heard(Jobs):
        def _tell(self, job: Job) -> None:
            phases.append(job.phase)
            super()._tell(job)

    async def do() -> tuple[Job, Job]:
        jobs = Heard()
        words = ["anonymize", str(file), "--k", "3", "--m", "2", "--out", "a"]
        made = await jobs.wait(jobs.start(project, "anonymize", words))
        words[3], words[7] = "6000", "b"
        return made, await jobs.wait(jobs.start(project, "anonymize", words))

    made, refused = in_a_loop(do())
    assert made.state == "done", made
    assert (project.folder / "a" / "published").is_dir()
    assert set(phases) - {"", "starting"}  # every tenth of a second the command reports its progress
    assert refused.state == "failed"
    assert refused.exit_code == 3
    assert refused.error is not None
    assert refused.error["kind"] == "InfeasibleError"
    assert "greatest possible k" in refused.error["hint"]


def test_the_real_command_ends_with_its_parent_and_leaves_nothing(project: Project) -> None:
    file = _rows(project, 20_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "setveil", "anonymize", file, "--k", "3", "--m", "4", "--out", "runs/x"],
        cwd=project.folder,
        env={**cli_helpers.environment(), "SETVEIL_WATCHED": "100000"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert b"phase" in process.stderr.readline()
    _, err = process.communicate(timeout=60)  # closes its standard input
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert not (project.folder / "runs" / "x").exists()
    assert cli_helpers.leftovers(project.folder / "runs" / "x") == []


def test_the_real_command_keeps_to_its_memory(project: Project) -> None:
    file = _rows(project)
    words = ["anonymize", str(file), "--k", "3", "--m", "2", "--out", "a"]

    async def do() -> Job:
        jobs = Jobs(memory_mb=40)
        return await jobs.wait(jobs.start(project, "anonymize", words, out=project.folder / "a"))

    job = in_a_loop(do())
    assert job.state == "failed"
    assert job.error is not None
    assert job.error["message"] == "It took more than the 40 MB of memory that it may take."
    assert not (project.folder / "a").exists()


DESK = (
    sys.executable,
    "-c",
    """
import os, signal, time
from setveil.base.errors import DataError, HierarchyError
from setveil.studio.desk import __main__ as desk, data
def refuse(desk): raise HierarchyError("Two roots.", hint="Take one.", problems=["a", "b"])
def echo(desk, text):
    print("noise", flush=True)
    desk.kept["n"] = desk.kept.get("n", 0) + 1
    return {"text": text, "times": desk.kept["n"], "folder": str(desk.folder)}
def kill(desk): os.kill(os.getpid(), signal.SIGKILL)
def fail(desk): raise KeyError("secret")
def memory(desk): raise MemoryError
desk.HANDLERS.update(refuse=refuse, echo=echo, kill=kill, fail=fail, memory=memory)
desk.main()
""",
)


def at_desks(what: Callable[[Desks], Awaitable[Any]]) -> Any:
    async def do() -> Any:
        desks = Desks((studio_forks.python(), *DESK[1:]))
        try:
            return await asyncio.wait_for(what(desks), 60)
        finally:
            await desks.close()

    return in_a_loop(do())


def test_a_desk_answers_and_keeps(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    async def do(desks: Desks) -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(desks.ask(project, "echo", text="é\n" * 99_999) for _ in "12")))

    first, second = at_desks(do)
    assert first == {"text": "é\n" * 99_999, "times": 1, "folder": str(project.folder)}
    assert second["times"] == 2
    assert "noise" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("do", "kind", "message", "where"),
    [
        ("refuse", "HierarchyError", "Two roots.", {"problems": ["a", "b"]}),
        ("fail", "Defect", "Setveil failed where it should not: KeyError.", {}),
        ("memory", "MemoryError", "The computer has too little free memory for this.", {}),
    ],
)
def test_what_a_desk_refuses(
    project: Project, do: str, kind: str, message: str, where: dict[str, Any]
) -> None:
    async def ask(desks: Desks) -> Refused:
        with pytest.raises(Refused) as refused:
            await desks.ask(project, do)
        assert (await desks.ask(project, "echo", text=""))["text"] == ""
        return refused.value

    refused = at_desks(ask)
    assert (refused.kind, refused.message, refused.where) == (kind, message, where)


@pytest.mark.exhaustive
def test_a_desk_that_died_is_replaced(project: Project) -> None:
    async def do(desks: Desks) -> dict[str, Any]:
        for _ in "12":
            with pytest.raises(Lost, match="has ended"):
                await desks.ask(project, "kill")
        return await desks.ask(project, "echo", text="there")

    assert at_desks(do)["times"] == 1


@pytest.mark.exhaustive
def test_two_desks_at_most(tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    several = [projects.create(name) for name in "abc"]

    async def do(desks: Desks) -> list[int]:
        times = []
        for project in (*several[:2], several[0], several[2], several[0], several[1]):
            times.append((await desks.ask(project, "echo", text=""))["times"])
            assert len(desks._desks) <= desks_module.MOST
        return times

    assert at_desks(do) == [1, 1, 2, 1, 3, 1]


def test_a_desk_ends_with_the_server(project: Project) -> None:
    script = f"""
import asyncio
from pathlib import Path
from setveil.studio.desks import Desks
from setveil.studio.projects import Projects
async def do():
    project = Projects(Path({str(project.folder.parent)!r})).find({project.name!r})
    desks = Desks({DESK!r})
    await desks.ask(project, "echo", text="")
    print(next(iter(desks._desks.values())).process.pid, flush=True)
    await asyncio.sleep(1000)
asyncio.run(do())
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], env=cli_helpers.environment(), stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        status = Path(f"/proc/{child}/status")
        assert not status.exists() or "Umask:\t0077\n" in status.read_text()  # its files are private
        server.kill()
    cli_helpers.until_gone([child])


def test_the_note_of_another_server_that_lives_is_left_alone(project: Project) -> None:
    note: dict[str, Any] = {
        "kind": "anonymize",
        "argv": [],
        "label": "the run",
        "out": str(project.runs / "one"),
        "server": os.getppid(),
    }
    (project.folder / UNDER_WAY).write_text(json.dumps(note))

    async def do(jobs: Jobs) -> list[Job]:
        return jobs.of(project)

    assert played(do) == []
    assert (project.folder / UNDER_WAY).exists()
