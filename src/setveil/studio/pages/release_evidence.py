"""The compliance record of a release: its questions as a form, and the page that is made of the answers."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from setveil.base.plain_json import read_toml
from setveil.base.staging import staged_file
from setveil.report.evidence.page import LONGEST, NO_CLAIM, open_questions
from setveil.report.evidence.questions import QUESTIONS, grouped, prefilled
from setveil.report.evidence.standards import ALL, FRAMES, questions_of, sections
from setveil.report.record import read_record
from setveil.studio import commands, places
from setveil.studio.desks import Lost, Refused
from setveil.studio.jobs import Jobs
from setveil.studio.pages.run import runs_of
from setveil.studio.phases import job_state
from setveil.studio.projects import Project, as_toml
from setveil.studio.render import at, error_page, framed, page
from setveil.studio.requests import fault, form_of, whole

_ANSWERS, _PAGE, _ATTACK = "answers.toml", "evidence.html", "attack.json"
_NAMES = {
    "all": "European Union and United States",
    "eu": "European Union",
    "us": "United States",
}
_SHORT = 6  # seconds that the page is waited for


async def show(request: Request) -> Response:
    """Show the questions and, once it is made, the page."""
    run = request.query_params.get("run", "")
    if run not in runs_of(request.state.project):
        return _missing(request)
    return await _form(request, run, _answers(_inside(request, run)))


async def _form(
    request: Request, run: str, answers: dict[str, str], errors: list[dict[str, str]] | None = None
) -> Response:
    project: Project = request.state.project
    jobs: Jobs = request.app.state.studio.jobs
    inside, frame = _inside(request, run), _frame(project.studio.get("frame"))
    job = None
    with contextlib.suppress(LookupError):
        job = jobs.find(project, whole(request.query_params.get("job", "")) or 0)
    answers = _prefilled(inside) | answers
    try:
        refused = await request.app.state.studio.desks.ask(project, "release_refused", run=run)
    except (Refused, Lost) as error:
        refused = {"stranger": error.message}
    return page(
        request,
        "release_evidence.html",
        step="release",
        title="Compliance record",
        status=400 if errors else 200,
        errors=errors or [],
        same_as=[_argv(project, run, refused)],
        run=run,
        frame=frame,
        frames=_NAMES,
        no_claim=NO_CLAIM,
        longest=LONGEST,
        groups={
            heading: [(one.name, one.text, answers.get(one.name, "")) for one in group]
            for heading, group in grouped(questions_of(frame)).items()
        },
        open=open_questions(sections(frame), answers),
        fraction=project.studio.get("fraction", ""),
        refused=refused.get("stranger", ""),
        attack=(inside / _ATTACK).is_file(),
        attack_place=f"runs/{run}/internal/{_ATTACK}",
        job=None if job is None or job.kind != "evidence" else job_state(job),
        made=(inside / _PAGE).is_file(),
        place=inside / _PAGE,
    )


def _prefilled(inside: Path) -> dict[str, str]:
    place = inside / "report.json"
    return prefilled(read_record(place)) if place.is_file() else {}


def _frame(name: object) -> str:
    return str(name) if name in FRAMES else ALL


def _inside(request: Request, run: str) -> Path:
    return Path(request.state.project.runs) / run / "internal"


def _answers(inside: Path) -> dict[str, str]:
    """Read what has been answered so far."""
    place = inside / _ANSWERS
    if not place.is_file():
        return {}
    with places.reading(_ANSWERS):
        found = read_toml(place.read_text(encoding="utf-8"))
        return {name: str(text) for name, text in found.items()}


def _argv(project: Project, run: str, refused: dict[str, Any]) -> list[str]:
    kept, folder = project.studio, f"runs/{run}"
    attack = f"{folder}/internal/{_ATTACK}"
    return commands.evidence(
        folder,
        _frame(kept.get("frame")),
        answers=f"{folder}/internal/{_ANSWERS}",
        attack=attack if (project.folder / attack).is_file() else None,
        share="" if refused.get("stranger") else str(kept.get("fraction", "")),
    )


async def save(request: Request) -> Response:
    """Keep the answers inside the run's folder, and make the page again."""
    project: Project = request.state.project
    form = {key: str(value).replace("\r\n", "\n").strip() for key, value in (await form_of(request)).items()}
    run = form.get("run", "")
    if run not in runs_of(project):
        return _missing(request)
    inside = _inside(request, run)
    said = _answers(inside) | {name: text.replace("\0", "") for name, text in form.items()}
    answers = {name: said[name] for name in QUESTIONS if said.get(name)}
    long = [
        fault(f"An answer has at most {LONGEST:,} characters.", name)
        for name, text in answers.items()
        if len(text) > LONGEST
    ]
    if long:
        return await _form(request, run, answers, long)
    kept = {"frame": _frame(form.get("frame"))}
    if "fraction" in form:
        kept["fraction"] = form["fraction"] or None  # type: ignore[assignment]
    project.save(studio=kept)
    with staged_file(inside / _ANSWERS) as staged:
        staged.chmod(0o600)
        staged.write_text(
            "".join(f"{name} = {as_toml(text)}\n" for name, text in answers.items()), encoding="utf-8"
        )
    jobs: Jobs = request.app.state.studio.jobs
    refused = {} if "fraction" in form else {"stranger": "it is not asked for"}
    job = jobs.start(project, "evidence", _argv(project, run, refused), label="the compliance record")
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(jobs.wait(job), _SHORT)
    return RedirectResponse(_address(request, run, job.id), status_code=303)


def _address(request: Request, run: str, job: int) -> str:
    from urllib.parse import urlencode

    place = at(request, "p", request.state.project.name, "release", "evidence")
    return f"{place}?{urlencode({'run': run, 'job': job})}#made"


async def made(request: Request) -> Response:
    """Send the page: as it is, in a frame or to be printed, or as a file."""
    run = request.query_params.get("run", "")
    if run not in runs_of(request.state.project):
        return _missing(request)
    file = _inside(request, run) / _PAGE
    if not file.is_file():
        return _missing(request)
    if "download" not in request.query_params:
        return framed(file.read_bytes())
    named = {"content-disposition": f'attachment; filename="{_PAGE}"'}
    return Response(file.read_bytes(), media_type="text/html", headers=named)


def _missing(request: Request) -> Response:
    return error_page(request, 404, "No such release", "There is no release of this name, or no page of it.")


routes = [
    Route("/release/evidence", show),
    Route("/release/evidence", save, methods=["POST"]),
    Route("/release/evidence/page", made),
]
