"""The shared parts of a release: its folder as one file, and a page to print and to sign."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from setveil.releases.recipients import CHECK, FILES, PAGE
from setveil.report.models import check, words_for
from setveil.report.record import Record, read_record
from setveil.report.run.choice import uses_by_fit
from setveil.report.run.folder import is_published
from setveil.report.run.kinds import promised
from setveil.studio import places
from setveil.studio.pages.release_figures import tiles
from setveil.studio.pages.run import ABOUT, runs_of
from setveil.studio.projects import Project
from setveil.studio.render import error_page, page
from setveil.studio.requests import form_of

CHECKERS = FILES
_BLOCK = 1 << 18  # bytes that are read at a time
_WHEN = (1980, 1, 1, 0, 0, 0)  # of every file: when it was made is nobody's business
_LONGEST = 500  # characters of what is said on the page


def handed_out(folder: Path) -> list[Path]:
    """List the files that may be shared: plain ones that a run writes into `published`."""
    place = folder / "published"
    return sorted(
        path
        for path in place.rglob("*")
        if is_published(path.relative_to(place).as_posix())
        and places.is_plain(path)
        and places.is_plain(path.parent)
        and path.is_file()
    )


def name_of(path: Path) -> str:
    """Name a file that may be shared: with its folder, if the data are in several files."""
    return path.name if path.parent.name == "published" else f"{path.parent.name}/{path.name}"


def zipped(files: list[Path]) -> Iterator[bytes]:
    """Put files into one, piece by piece; the same files give the same bytes."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            about = zipfile.ZipInfo(f"published/{name_of(path)}", _WHEN)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with path.open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                while block := source.read(_BLOCK):
                    target.write(block)
                    yield pieces.taken()
    yield pieces.taken()


class _Pieces(io.RawIOBase):
    """A file that cannot go back: what was written is taken away at once."""

    def __init__(self) -> None:
        self.written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.written += content
        return len(content)

    def taken(self) -> bytes:
        found = bytes(self.written)
        self.written.clear()
        return found


def file_name(project: Project, run: str) -> str:
    """Name the file: letters, digits and dashes of any name."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", f"{project.name}-{run}").strip("-")
    return f"{plain[:100] or 'release'}.zip"


def _wanted_file(request: Request, run: str) -> Path | None:
    project: Project = request.state.project
    return project.runs / run if run in runs_of(project) else None


def _missing(request: Request) -> Response:
    return error_page(request, 404, "No such release", "There is no release of this name.")


async def download(request: Request) -> Response:
    """Send what may be shared, and nothing else, as one file."""
    run = request.query_params.get("run", "")
    folder = _wanted_file(request, run)
    if folder is None:
        return _missing(request)
    with places.reading(f"The record of the release {run}"):
        holds = read_record(folder / "internal" / "report.json")["guarantee"]["holds"]
    if not holds:
        return error_page(request, 400, "Not to be shared", "The promise does not hold.")
    named = f'attachment; filename="{file_name(request.state.project, run)}"'
    return StreamingResponse(
        zipped(handed_out(folder)), media_type="application/zip", headers={"content-disposition": named}
    )


async def checker(request: Request) -> Response:
    """Send one of the two programs with which recipients check a release themselves."""
    name = request.path_params["name"]
    program = next((path for path in (CHECK, PAGE) if path.name == name), None)
    if program is None:
        return error_page(request, 404, "No such program", "There are check.py and check.html.")
    return Response(
        program.read_bytes(),
        media_type="application/octet-stream",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


def _fingerprints(files: list[Path]) -> list[tuple[str, str, str]]:
    found = []
    for path in files:
        with path.open("rb") as file:
            found.append(
                (name_of(path), f"{path.stat().st_size:,}", hashlib.file_digest(file, "sha256").hexdigest())
            )
    return found


async def sheet(request: Request) -> Response:
    """Show a page to print and to sign; what is said on it is kept nowhere."""
    form = {key: str(value).strip()[:_LONGEST] for key, value in (await form_of(request)).items()}
    run = form.get("run", "")
    folder = _wanted_file(request, run)
    if folder is None:
        return _missing(request)
    with places.reading(f"The record of the release {run}"):
        report = read_record(folder / "internal" / "report.json")
        said = _said(report)
        return page(
            request,
            "release_print.html",
            step="release",
            title="Release to share",
            run=run,
            rows=report["input"]["rows"],
            holds=report["guarantee"]["holds"],
            promise=promised(report),
            outcome=check(report["guarantee"]),
            open_points=words_for(report["guarantee"]).not_covered(report["guarantee"]),
            tiles=tiles(report),
            uses=uses_by_fit(report),
            algorithm=report["algorithm"]["title"],
            files=await asyncio.to_thread(_fingerprints, handed_out(folder)),
            said={name: form.get(name, said.get(name, "")) for name in ABOUT},
            date=form.get("date", time.strftime("%Y-%m-%d")),
        )


def _said(report: Record) -> dict[str, str]:
    """Take what was said when the release was made."""
    texts: Any = report.get("about") or {}
    return {name: str(texts[name]) for name in ABOUT if texts.get(name)}


routes = [
    Route("/release/zip", download),
    Route("/release/print", sheet, methods=["POST"]),
    Route("/release/checker/{name}", checker),
]
