"""The page Hierarchy: what items may be called instead."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from setveil.base.errors import RequestError
from setveil.rows.hierarchy.systems.known import NAMES
from setveil.runs.options.names import COLUMNS
from setveil.studio import commands, places
from setveil.studio.desk.place import key_of
from setveil.studio.desks import Lost, Refused
from setveil.studio.pages import regroup
from setveil.studio.pages.data import ENCODINGS
from setveil.studio.pages.data_roles import split
from setveil.studio.projects import Project
from setveil.studio.render import Json, page, to
from setveil.studio.requests import fault, form_of, json_object, whole
from setveil.studio.trees import column_trees, items_tree, joined

_USUAL_K = 5  # where nothing is promised yet
_QUIET = 1.0  # seconds without an edit until a large tree is written
_FORMS = {"csv": "text/csv", "txt": "text/plain", "json": "application/json"}
_WAYS = {"co-occurrence": "items that often occur together", "prefix": "by code"}
_later: dict[Path, asyncio.Task[None]] = {}


async def show(request: Request) -> Response:
    """Show the page; where there are no groups yet, with what would group codes."""
    lengths: list[int] = []
    if not _is_there(request.state.project):
        with contextlib.suppress(Refused):  # the page Data says what is wrong
            lengths = (await _ask(request, "tree_proposal"))["lengths"]
    return _page(request, lengths=",".join(map(str, lengths)))


def _is_there(project: Project) -> bool:
    return project.edits.exists() or items_tree(project.settings().get("hierarchy")) is not None


async def show_column(request: Request) -> Response:
    """Show the groups of a column's values; where none are kept yet, those that it has are the beginning."""
    project: Project = request.state.project
    column = _column(request)
    if not (project.folder / "columns" / key_of(column) / "edits.jsonl").exists():
        desks = request.app.state.studio.desks
        found = await desks.ask(project, "column_groups", column=column)
        await _ask(request, "tree_begin_column", parents=found["parents"], named="the groups before")
        _name_column(project, column)
    return page(
        request, "hierarchy_column.html", step="data", title=f"Groups of the values of {column}",
        column=column, key=key_of(column), rare=_USUAL_K, same_as=_same_as(project, key_of(column)),
    )  # fmt: skip


def _column(request: Request) -> str:
    """Find the column that an address names."""
    known = split(str(request.state.project.settings().get("qi", "")))
    key = request.path_params["column"]
    found = next((name for name in known if key_of(name) == key), None)
    if found is None:
        raise RequestError("The table has no such column that someone may know.", hint="Look at page Data.")
    return found


def _name_column(project: Project, column: str) -> None:
    """Let the commands read the groups of a column that are edited here, in place of built ones."""
    settings = project.settings()
    setting = settings.get("hierarchy")
    place = project.folder / "columns" / key_of(column) / "hierarchy.csv"
    others = [one for one in column_trees(setting) if one.partition("=")[0] != column]
    said = settings.get("ranges", [])
    ranges = [one for one in said if str(one).partition("=")[0] != column] if isinstance(said, list) else []
    wanted = joined(items_tree(setting), [*others, f"{column}={place}"])
    if setting != wanted or ranges != said:
        project.save(hierarchy=wanted, ranges=ranges or None)


def _page(request: Request, status: int = 200, *, fields: Mapping[str, str] = {}, **values: Any) -> Response:
    project: Project = request.state.project
    settings = project.settings()
    k = settings.get("k")
    return page(
        request,
        "hierarchy.html",
        step="hierarchy",
        title="Hierarchy",
        status=status,
        there=_is_there(project),
        rare=k if isinstance(k, int) else _USUAL_K,
        same_as=_same_as(project),
        systems=NAMES,
        encodings=ENCODINGS,
        columns_named=_columns_named(settings),
        is_long=settings.get("item-column") is not None,
        **{**regroup.shown(request), "errors": [], "problems": [], "way": "", "lengths": "", **values},
        given={"system": "", "zeros": "", "names": "", "system-column": "", **fields},
    )


def _columns_named(settings: Mapping[str, Any]) -> bool:
    """Return whether the items are in columns that are named; `hierarchy build` reads rows of items only."""
    return any(name in settings for name in COLUMNS)


def _same_as(project: Project, key: str = "") -> list[list[str]]:
    """List the commands that make a hierarchy: those that built trees, and the edits; `key`: of a column."""
    inside = f"columns/{key}/" if key else ""
    edits = project.folder / f"{inside}edits.jsonl"
    try:
        lines = edits.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    with places.reading(f"The file {edits.name}"):
        starts = [json.loads(line) for line in lines if line.startswith('{"do": "start"')]
        built = [list(start["command"]) for start in starts if start.get("command")]
        first = [f"{inside}{start['file']}" for start in starts[:1]]
        edit = ["hierarchy", "edit", *first, f"{inside}edits.jsonl"]
    return [*built, [*edit, "--out", f"{inside}hierarchy.csv", "--force"]] if starts else []


async def saved(studio: Any, project: Project) -> None:
    """Make sure that the hierarchy file contains the last edit; for all that is about to read it."""
    waiting = _later.pop(project.folder, None)
    if waiting is not None:
        waiting.cancel()
    if not project.edits.exists():
        return
    try:
        late = project.hierarchy.stat().st_mtime_ns < project.edits.stat().st_mtime_ns
    except FileNotFoundError:
        late = True
    if late:
        await studio.desks.ask(project, "tree_save")
    _name(project)


def _name(project: Project) -> None:
    """Let the commands read the hierarchy that is edited here."""
    setting = project.settings().get("hierarchy")
    wanted = joined(str(project.hierarchy), column_trees(setting))
    if setting != wanted:
        project.save(hierarchy=wanted)


def _save_soon(studio: Any, project: Project) -> None:
    """Write a large tree when no more edits come."""

    async def save() -> None:
        await asyncio.sleep(_QUIET)
        _later.pop(project.folder, None)
        with contextlib.suppress(Refused, Lost):  # whoever needs the file hears of it
            await studio.desks.ask(project, "tree_save")

    if project.folder in _later:
        _later[project.folder].cancel()
    _later[project.folder] = asyncio.create_task(save())


async def tree(request: Request) -> Response:
    """Send the whole tree."""
    return Json(await _ask(request, "tree"))


async def items(request: Request) -> Response:
    """Send how many rows contain each item."""
    return Json(await _ask(request, "tree_items"))


async def problems(request: Request) -> Response:
    """Send what is wrong or doubtful."""
    return Json(await _ask(request, "tree_problems"))


async def rows(request: Request) -> Response:
    """Send how many rows contain an item of a group."""
    return Json(await _ask(request, "tree_rows", label=request.query_params.get("label", "")))


async def edit(request: Request) -> Response:
    """Make an edit, undo one or make it again."""
    body = await json_object(request)
    return await _edited(request, "tree_edit", edit=_table(body, "edit"), version=_text(body, "version"))


async def missing(request: Request) -> Response:
    """Put what is missing under a group."""
    body = await json_object(request)
    return await _edited(request, "tree_missing", under=_text(body, "under"), version=_text(body, "version"))


async def alone(request: Request) -> Response:
    """Group the items that stand alone by their first characters."""
    await json_object(request)
    return await _edited(request, "tree_alone")


async def _edited(request: Request, do: str, **arguments: Any) -> Response:
    studio, project = request.app.state.studio, request.state.project
    answer = await _ask(request, do, **arguments)
    if "column" in request.path_params:
        _name_column(project, _column(request))
        return Json(answer)
    _name(project)
    if not answer["saved"]:
        _save_soon(studio, project)
    return Json(answer)


async def upload(request: Request) -> Response:
    """Begin with the groups of a file that was sent."""
    project: Project = request.state.project
    form = await form_of(request, files=True)
    try:
        sent = form.get("file")
        if not isinstance(sent, UploadFile) or not sent.filename:
            return _page(request, 400, errors=[fault("Choose the file of your groups first.", "file")])
        ending = Path(sent.filename).suffix.lower()
        place = places.make_folder(project.folder / "trees") / (
            f"sent{ending if ending in {'.txt', '.json'} else '.csv'}"
        )
        with place.open("wb") as file:
            await asyncio.to_thread(shutil.copyfileobj, sent.file, file)
        named = Path(sent.filename).name
        encoding = str(form.get("encoding") or "utf-8")
    finally:
        await form.close()
    if encoding not in {"utf-8", *ENCODINGS}:
        raise RequestError("This encoding is not known here.")
    return await _begun(request, place, named, [], encoding)


async def build(request: Request) -> Response:
    """Begin with groups made from the data, by the command that does so."""
    studio, project = request.app.state.studio, request.state.project
    form = await form_of(request)
    by = str(form.get("by", ""))
    if by == "system":
        return await _of_codes(request, {key: str(value).strip() for key, value in form.items()})
    if by not in _WAYS:
        raise RequestError("This way to make groups is not known.")
    settings = project.settings()
    if any(name in settings for name in COLUMNS):
        return await _of_a_table(request, by, {key: str(value).strip() for key, value in form.items()})
    options = ["--by", by]
    for name in ("fanout", "lengths", "at"):
        value = str(form.get(name, "")).strip()
        if value and not (name == "at" and "--lengths" in options):
            options += [f"--{name}={value}"]
    place = project.folder / "trees" / "built.json"
    places.make_folder(place.parent)
    argv = commands.build(project, options, "trees/built.json")
    job = await studio.jobs.wait(studio.jobs.start(project, "groups", argv, label="the groups"))
    if job.state != "done":
        error = job.error or {"message": "The groups were not made.", "hint": ""}
        return _page(request, 400, errors=[fault(error["message"], by, error["hint"])])
    return await _begun(request, place, _WAYS[by], argv)


async def _of_codes(request: Request, form: dict[str, str]) -> Response:
    """Make groups of the codes of a classification; the desk does it, which can say how they were read."""
    project: Project = request.state.project
    system, zeros = form.get("system", ""), form.get("zeros") or None
    options = ["--system", system] + (["--zeros", zeros] if zeros else [])
    column = form.get("system-column", "")
    options += [f"--system-column={column}"] if column else []
    names = None
    if form.get("names"):
        names = places.make_folder(project.folder / "trees") / "names.csv"
        await asyncio.to_thread(names.write_text, form["names"].replace("\r\n", "\n") + "\n", "utf-8")
        options += ["--names", f"trees/{names.name}"]
    named = _columns_named(project.settings())
    argv = [] if named else commands.build(project, options, "trees/built.json")
    try:
        await _ask(
            request,
            "tree_codes",
            system=system,
            zeros=zeros,
            names=None if names is None else str(names),
            column=column,
            command=argv,
        )
    except Refused as error:
        return _page(
            request, 400, errors=[fault(error.message, "system", error.hint)], fields=form, way="system"
        )
    _name(project)
    return to(request, "p", project.name, "hierarchy")


async def _of_a_table(request: Request, by: str, form: dict[str, str]) -> Response:
    """Make groups from the items of a table, which the command does not read."""
    lengths = [whole(one) for one in re.split(r"[,;\s]+", form.get("lengths", "")) if one]
    fanout = whole(form.get("fanout", "5"))
    if fanout is None or None in lengths:
        return _page(request, 400, errors=[fault("Whole numbers are expected here, as 1,3 or 5.", by)])
    try:
        await _ask(
            request,
            "tree_build",
            by=by,
            fanout=fanout,
            at=form.get("at", "."),
            lengths=lengths,
            named=_WAYS[by],
        )
    except Refused as error:
        return _page(request, 400, errors=[fault(error.message, by, error.hint)])
    _name(request.state.project)
    return to(request, "p", request.state.project.name, "hierarchy")


async def _begun(
    request: Request, file: Path, named: str, command: list[str], encoding: str = "utf-8"
) -> Response:
    """Take the tree of a file, or say what is wrong with it: then the groups stay as they were."""
    studio, project = request.app.state.studio, request.state.project
    try:
        await studio.desks.ask(
            project, "tree_start", file=str(file), named=named, command=command, encoding=encoding
        )
    except Refused as error:
        message = error.message.replace(str(file), named).split("\n")[0]
        unread = any("encoding" in options for options, _ in error.where.get("readings", ()))
        otherwise = "Choose how its letters are written. " if unread else ""
        return _page(
            request,
            400,
            errors=[fault(message, "file", f"{otherwise}Your groups are as they were.")],
            problems=[str(one) for one in error.where.get("problems", [])],
        )
    finally:
        file.unlink(missing_ok=True)
    _name(project)
    return to(request, "p", project.name, "hierarchy")


async def regroup_within(request: Request) -> Response:
    """Look for better groups within those that stay."""
    studio, project = request.app.state.studio, request.state.project
    form = {key: str(value).strip() for key, value in (await form_of(request)).items()}
    await saved(studio, project)
    wrong = regroup.start(request, form)
    if wrong is not None:
        return _page(request, 400, errors=[wrong], regroup=regroup.USUAL | form, regroup_wrong=True)
    await asyncio.sleep(0)  # the job is there when the page is
    return to(request, "p", project.name, "hierarchy")


async def use_regrouped(request: Request) -> Response:
    """Begin with the groups that were found."""
    project: Project = request.state.project
    command = regroup.found(request)
    if command is None:
        return _page(request, 400, errors=[fault("There are no new groups to be used.", "within")])
    return await _begun(request, project.folder / regroup.FOUND, "groups made again", command)


async def export(request: Request) -> Response:
    """Send the hierarchy as a file."""
    form = request.query_params.get("form", "csv")
    if form not in _FORMS:
        raise RequestError(f"Groups are written as {', '.join(_FORMS)}.")
    answer = await _ask(request, "tree_export", form=form)
    name = f"{request.state.project.name}-groups.{form}"
    return FileResponse(answer["file"], media_type=_FORMS[form], filename=name)


async def _ask(request: Request, do: str, **arguments: Any) -> dict[str, Any]:
    if "column" in request.path_params:
        do, arguments = "of_column", {"column": _column(request), "what": do, "given": arguments}
    answer: dict[str, Any] = await request.app.state.studio.desks.ask(request.state.project, do, **arguments)
    return answer


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise RequestError(f"The request has no text called {name}.")
    return value


def _table(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    if not isinstance(value, dict) or value.get("do") == "start" or not all(map(_is_named, value.values())):
        raise RequestError("The request is not an edit.")
    return value


def _is_named(value: object) -> bool:
    """Return whether a part of an edit is a name, names, or nothing."""
    listed = value if isinstance(value, list) else [value]
    return value is None or all(isinstance(one, str) for one in listed)


_EDITOR = [
    ("tree", tree, "GET"), ("items", items, "GET"), ("problems", problems, "GET"), ("rows", rows, "GET"),
    ("edit", edit, "POST"), ("missing", missing, "POST"), ("alone", alone, "POST"), ("export", export, "GET"),
]  # fmt: skip

routes = [
    Route("/hierarchy", show),
    Route("/hierarchy/column/{column}", show_column),
    *(Route(f"/hierarchy/column/{{column}}/{name}", do, methods=[how]) for name, do, how in _EDITOR),
    *(Route(f"/hierarchy/{name}", do, methods=[how]) for name, do, how in _EDITOR),
    Route("/hierarchy/upload", upload, methods=["POST"]),
    Route("/hierarchy/build", build, methods=["POST"]),
    Route("/hierarchy/regroup", regroup_within, methods=["POST"]),
    Route("/hierarchy/regrouped", use_regrouped, methods=["POST"]),
]
