"""The page Data: which file, how it is read, and who could be found in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.base.errors import DataError, OutputError, RequestError
from setveil.base.staging import staged_file
from setveil.report.risk import columns_known, risk_text
from setveil.runs.options.names import FACTS, READING, ROLES
from setveil.studio import commands, places
from setveil.studio.data_kinds import kind_of
from setveil.studio.desks import Refused
from setveil.studio.pages import data_facts, data_more, data_roles
from setveil.studio.projects import Project
from setveil.studio.render import STEPS, Json, page, to
from setveil.studio.requests import fault, form_of, json_of, whole
from setveil.studio.trees import column_trees, items_tree, joined

OF_COLUMNS = (*ROLES, *FACTS)
PAGE = 100  # rows on a plain page
LARGE = 1_000_000_000  # bytes, from which on it is asked
MOST_SENSITIVE = 10_000
_OF_CLASSES = ("classes", "class-size", "class-gain", "not-split")

ENCODINGS = {
    "cp1252": "Windows-1252 (Western Europe)",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16 (big end first)",
}
FORMATS = {
    "basket": "one row a line, items with a separator between them",
    "fimi": "one row a line, numbers with blanks between them",
    "long": "one item a line, with the number or name of its row",
    "wide": "one row a line, items in several columns",
    "onehot": "one row a line, a column for each item",
    "spmf": "SPMF: numbers that end with -1, rows that end with -2",
    "parquet": "Parquet",
    "jsonl": "JSON, a list or an object a line",
}
SPELLINGS = {
    "codes": "become one, as codes: without dots, in capitals",
    "text": "become one, as text: in small letters",
    "none": "stay apart, whatever the groups say",
}
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


async def show(request: Request) -> Response:
    """Show what is read, or what must be chosen first."""
    project: Project = request.state.project
    if project.settings().get("input"):
        return await _overview(request)
    if project.studio.get("file"):
        return to(request, "p", project.name, "data", "reading")
    return to(request, "p", project.name, "data", "file")


# --- which file


async def choose(request: Request) -> Response:
    """Show the files of a folder of this computer."""
    return _folder(request, request.query_params.get("in", ""))


def _folder(request: Request, named: str, errors: Sequence[dict[str, str]] = ()) -> Response:
    project: Project = request.state.project
    problems = list(errors)
    folder = Path.home()
    if named:
        try:
            folder = plain_path(named)
            if not folder.is_dir():
                raise DataError(f"{folder} is no folder.", hint="Choose one of those below.")
        except DataError as error:
            problems.append({"message": error.message, "hint": error.hint, "field": ""})
            folder = Path.home()
    folders: list[Path] = []
    files: list[dict[str, Any]] = []
    unnamed = 0
    try:
        for path in sorted(folder.iterdir(), key=lambda path: path.name.casefold()):
            if path.name.startswith("."):
                continue
            if not places.is_text(path.name):
                unnamed += 1
                continue
            try:
                if path.is_dir():
                    folders.append(path)
                elif path.is_file():  # no device, and no pipe
                    files.append({"path": path, "size": size_in_words(path.stat().st_size)})
            except OSError:
                continue
    except OSError as error:
        message = f"The folder {folder} cannot be read: {error.strerror}."
        problems.append({"message": message, "hint": "Choose another one.", "field": ""})
    known = {"Home": Path.home(), "This project": project.folder, "Documents": Path.home() / "Documents"}
    return page(
        request, "data_file.html", step="data", title="Choose your data", status=422 if problems else 200,
        errors=problems, folder=folder, parent=None if folder.parent == folder else folder.parent,
        folders=folders, files=files, unnamed=unnamed,
        places={name: path for name, path in known.items() if _is_folder(path)},
    )  # fmt: skip


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # where one may not look, or no name of a file
        return False


def plain_path(text: str) -> Path:
    """Take an absolute path of this computer, with links followed."""
    try:
        path = Path(text.strip()).expanduser() if "\0" not in text else Path()
    except RuntimeError:  # ~ of a user whom the system does not know
        path = Path()
    if not path.is_absolute():
        raise DataError(
            "This is not the whole path of a file.",
            hint="Such as /home/ann/visits.csv or C:\\data\\visits.csv.",
        )
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "its links go round in a circle"
        raise DataError(
            f"{text} cannot be opened: {reason}.", hint="Look for it in the folders below."
        ) from None


async def take(request: Request) -> Response:
    """Take a file, or a folder of files, as the project's data; it is read next."""
    project: Project = request.state.project
    form = await form_of(request)
    named = str(form.get("path", ""))
    try:
        path = plain_path(named)
        if not path.is_file() and not path.is_dir():
            raise DataError(f"{path} is no plain file.", hint="Devices and pipes cannot be read here.")
        size = path.stat().st_size
        if path.is_file() and not size:
            raise DataError(f"{path} is empty.", hint="Export it again, or choose another file.")
        if size >= LARGE and not form.get("large"):
            return page(
                request, "data_large.html", step="data", title="This is a large file",
                path=path, size=size_in_words(size),
            )  # fmt: skip
    except DataError as error:
        parent = Path(named).parent
        there = str(parent) if parent.is_absolute() and _is_folder(parent) else ""
        return _folder(request, there, [{"message": error.message, "hint": error.hint, "field": "path"}])
    except OSError as error:
        raise DataError(f"{named} cannot be opened: {error.strerror}.") from None
    project.save(studio={"file": str(path)})
    return to(request, "p", project.name, "data", "reading")


async def upload(request: Request) -> Response:
    """Copy a file that was dropped on the page into the project."""
    project: Project = request.state.project
    name = plain_name(request.query_params.get("name", ""))
    places.make_folder(project.input)
    place = project.input / name
    number = 1
    while place.exists():
        number += 1
        place = project.input / f"{Path(name).stem}-{number}{Path(name).suffix}"
    try:
        with staged_file(place) as staged, staged.open("wb") as file:
            async for piece in request.stream():
                file.write(piece)
            empty = file.tell() == 0
    except OSError as error:
        raise OutputError(f"{name} cannot be copied into the project: {error.strerror}.") from None
    if empty:
        place.unlink()
        raise DataError(f"{name} is empty.", hint="Export it again, or choose another file.")
    project.save(studio={"file": str(place)})
    return Json({"go": to(request, "p", project.name, "data", "reading").headers["location"]})


def plain_name(text: str) -> str:
    """Make a file name that stays in its folder: without folders, signs of control and a leading dot."""
    sent = text.encode("utf-8", "ignore").decode()
    name = re.sub(r"[\x00-\x1f\x7f<>:\"|?*]", "", re.split(r"[/\\]", sent)[-1]).lstrip(". ").rstrip(". ")
    stem, dot, suffix = name.rpartition(".")
    short = _cut(stem or suffix, 150)
    return f"{short}{dot}{_cut(suffix, 40)}" if stem else short or "data"


def _cut(text: str, most: int) -> str:
    """Take the beginning of a text, of at most this many bytes: systems count these in names."""
    return text.encode("utf-8", "ignore")[:most].decode("utf-8", "ignore")


# --- how it is read


async def reading(request: Request) -> Response:
    """Show a file under each way in which it may be read."""
    query = request.query_params
    return await _reading(
        request, _reading_options(query) if query else data_more.before(_before(request.state.project))
    )


def _before(project: Project) -> Mapping[str, Any]:
    """Take the settings that say how the file is read; of another file, which is not read yet, none."""
    return {} if project.studio.get("file") else project.settings()


def _reading_options(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Take options of reading from a form; empty ones are not given."""
    return {
        key: True if key in data_more.FLAGS else str(fields[key])[:1000] for key in READING if fields.get(key)
    }


async def _reading(
    request: Request,
    options: Mapping[str, Any],
    errors: Sequence[dict[str, str]] = (),
    form: Mapping[str, Any] | None = None,
    looked: Mapping[str, Any] | None = None,
    readings: Sequence[Any] = (),
) -> Response:
    """Show a file under each way of reading it.

    `readings`: options that an error of the form proposes, with their meaning. `form`: its columns as sent,
    which stay. `looked`: the desk's answer about the facts that this reads, or why there is none.
    """
    project: Project = request.state.project
    path = str(project.studio.get("file") or project.settings().get("input") or "")
    if not path:
        return to(request, "p", project.name, "data", "file")
    try:
        found = await request.app.state.studio.desks.ask(project, "preview", path=path, options=dict(options))
        failed = found["error"]
    except Refused as refused:
        found = {
            "ways": [], "reason": "", "columns": [], "roles": {}, "as_table": None, "size": 0,
            "log": {"columns": [], "likely": False}, "ask": [],
        }  # fmt: skip
        failed = {"message": refused.message, "hint": refused.hint, "lines": [], "options": {}}
    problems = [*errors]
    if failed:
        problems.append({"message": failed["message"], "hint": in_words(failed["hint"]), "field": ""})
    before = _before(project)
    asks_facts = form is not None and "facts" in form
    asks_roles = form is not None and not asks_facts
    chosen = data_roles.chosen_in(form or {}) if asks_roles else data_roles.chosen_before(before)
    facts = data_facts.chosen_in(form or {}) if asks_facts else data_facts.chosen_before(before)
    no_facts = looked["error"] if looked else None
    if no_facts:
        problems.append({"message": no_facts["message"], "hint": in_words(no_facts["hint"]), "field": ""})
    shown = no_facts or failed
    known = {key: before[key] for key in READING if key in before}
    for way in found["ways"]:
        way["value"] = json.dumps(way["options"], sort_keys=True)
        way["sure"] = way["options"] == known if before and not (chosen or facts) else way["sure"]
    has_person_id = found["as_table"] and found["roles"].get("id_column")  # all lines of one say the same
    log_first = bool(facts) or (
        found["log"]["likely"] and not (has_person_id or options or before or asks_roles)
    )
    first = not log_first and (bool(chosen) or (found["as_table"] is not None and not options and not before))
    return page(
        request, "data_reading.html", step="data", title="Reading this file", errors=problems,
        status=422 if problems else 200, path=path, size=size_in_words(found["size"]), ways=found["ways"],
        reason=found["reason"].replace(path, Path(path).name), table_first=first and bool(found["columns"]),
        columns=data_roles.merged(found["columns"], chosen), as_table=found["as_table"],
        person=found["roles"].get("id_column", ""), groupings=data_roles.GROUPINGS,
        missing=_missing(before, form), ways_of_person=data_roles.WAYS_OF_PERSON,
        per_person=data_roles.per_person(before, form if asks_roles else None),
        age=data_roles.ages(before, form if asks_roles else None),
        log_first=log_first and bool(found["columns"]),
        log=data_facts.merged(found["log"]["columns"], facts),
        roles_of_log=data_facts.ROLES, periods=data_facts.PERIODS, together=data_facts.TOGETHER,
        date_format=(form or before).get("written") or (form or before).get("date-format", ""),
        readings=data_facts.readings(no_facts["message"]) if no_facts else [],
        looked=looked["facts"] if looked else None,
        apart="apart" in (form or {}) if asks_facts else len(kind_of(before).lists) > 1,
        looked_at=asks_facts, lines=shown["lines"] if shown else [],
        helping=helping(failed["options"]) if failed else [],
        proposed=data_more.buttons([*readings, *(no_facts or {}).get("readings", ())]),
        asked_first=data_more.buttons(found["ask"]), more=data_more.fields(options),
        options={key: options.get(key, "") for key in READING}, formats=FORMATS, separators=SEPARATORS,
        encodings=ENCODINGS, spellings=SPELLINGS,
        delimiter=(form or before).get("delimiter") or found["roles"].get("delimiter", ";"),
    )  # fmt: skip


def _missing(before: Mapping[str, Any], form: Mapping[str, Any] | None) -> str:
    """Take the values that mean that none is known, which the page asks for once for all columns."""
    if form is not None:
        return str(form.get("missing", ""))
    values = before.get("missing", [])
    of_columns = [str(one) for one in values if "=" in str(one)] if isinstance(values, list) else []
    return of_columns[0].partition("=")[2] if of_columns else ""


def in_words(hint: str) -> str:
    """Omit of a hint what only the command line can use."""
    return "" if any(words in hint for words in ("\n    setveil", "--id-column", "--query")) else hint


def helping(options: Mapping[str, str]) -> list[dict[str, Any]]:
    """Make the buttons that read a file otherwise."""
    found = []
    for key, value in options.items():
        text = {
            "encoding": f"Read it as {ENCODINGS.get(value, value)}",
            "separator": f"Read it with {SEPARATORS.get(value, value)} between the fields",
            "format": f"Read it as {FORMATS.get(value, value)}",
        }[key]
        found.append({"text": text, "name": key, "value": value})
    return found


async def read(request: Request) -> Response:
    """Read the file in the way that was chosen, and keep that way."""
    form = await form_of(request)
    chosen = json_of(str(form.get("way", "")))
    if not isinstance(chosen, dict):
        return await _reading(request, {}, [fault("Choose how to read the file.", "way-1")])
    options = {
        key: value
        for key, value in chosen.items()
        if key in READING and isinstance(value, str | bool) and "\0" not in str(value)
    }
    return await _open(request, options)


def _other_options(form: Mapping[str, Any], *own: str) -> dict[str, Any]:
    """Take options of reading from a form that says what each column is, but for what is its own."""
    fields = {**form, "missing": form.get("missing-words", "")}
    return {key: value for key, value in _reading_options(fields).items() if key not in ("delimiter", *own)}


def _with_missing(options: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Add what a form says of columns to options of the file: missing values may be said in both."""
    words = [*([options["missing"]] if "missing" in options else []), *said.get("missing", ())]
    return {**options, **said, **({"missing": words} if words else {})}


_OF_COLUMNS = ("format", "id-column", "item-column", "item-columns")


async def roles(request: Request) -> Response:
    """Read the file as a table with a role for each column."""
    form = dict((await form_of(request)).items())
    said, lacking = data_roles.options_in(form)
    options = _other_options(form, *_OF_COLUMNS)
    if lacking:
        return await _reading(
            request, _other_options(form), [fault(text, "role-1") for text in lacking], form
        )
    return await _open(request, _with_missing(options, said), form)


async def facts(request: Request) -> Response:
    """Read the file as a log of events, or only look at what its dates and amounts would become."""
    project: Project = request.state.project
    form = dict((await form_of(request)).items())
    said, lacking = data_facts.options_in(form)
    options = _other_options(form, *_OF_COLUMNS)
    if lacking:
        return await _reading(
            request, _other_options(form), [fault(text, "holds-1") for text in lacking], form
        )
    path = str(project.studio.get("file") or project.settings().get("input") or "")
    both = _with_missing(options, said)
    arguments = {**both, "k": project.settings().get("k")}
    try:
        found = await request.app.state.studio.desks.ask(project, "look", path=path, options=arguments)
    except Refused as refused:
        said_why = {"message": refused.message, "hint": in_words(refused.hint), "lines": []}
        found = {"facts": None, "error": said_why}
    if found["error"] or "look" in form or "written" in form:
        return await _reading(request, _other_options(form), (), form, found)
    return await _open(request, both, form)


async def levels(request: Request) -> Response:
    """Answer with how many values of a column each level of its groups keeps."""
    project: Project = request.state.project
    path = str(project.studio.get("file") or project.settings().get("input") or "")
    arguments = {key: request.query_params.get(key, "")[:1000] for key in ("column", "kind", "steps")}
    options = _reading_options(request.query_params)
    desks = request.app.state.studio.desks
    return Json(await desks.ask(project, "column_kept", path=path, options=options, **arguments))


async def _open(
    request: Request, options: Mapping[str, Any], form: Mapping[str, Any] | None = None
) -> Response:
    project: Project = request.state.project
    path = str(project.studio.get("file") or project.settings().get("input") or "")
    if not path:
        return to(request, "p", project.name, "data", "file")
    desks = request.app.state.studio.desks
    try:
        found = await desks.ask(project, "open", path=path, options=dict(options))
    except Refused as refused:
        said = {"message": refused.message, "hint": in_words(refused.hint), "field": ""}
        plain = {
            key: value if value is True else str(value) for key, value in options.items() if key in READING
        }
        if form is not None:  # what it says of columns stays in it
            plain = _other_options(form, *_OF_COLUMNS, "not-ids")
        return await _reading(request, plain, [said], form, readings=refused.where.get("readings", ()))
    settings = project.settings()
    kind = kind_of(options)
    cleared: dict[str, Any] = dict.fromkeys((*READING, *OF_COLUMNS))
    if not kind.chosen:  # under the usual promise alone
        no_longer = {*commands.PROMISE, "keep", "weights", *_OF_CLASSES} - {"k", "m", "model", *options}
        cleared = {**dict.fromkeys(no_longer), **cleared}
        for name in commands.GENERALIZING:
            cleared.pop(name, None)
        if settings.get("algorithm") not in kind.methods:
            cleared["algorithm"] = None
    another = settings.get("input") != path
    kept = {key: found[key] for key in ("sha256", "rows", "items", "size", "mtime_ns")}
    trees = joined(items_tree(settings.get("hierarchy")), column_trees(options.get("hierarchy")))
    project.save(
        **cleared | dict(options) | {"hierarchy": trees},
        input=path,
        model=kind.keeps_model(settings.get("model")),
        studio={**kept, "file": None, **({"sensitive": None} if another or not kind.chosen else {})},
    )
    return to(request, "p", project.name, "data")


async def again(request: Request) -> Response:
    """Read the project's file once more, as it is now."""
    settings = request.state.project.settings()
    names = (*READING, *OF_COLUMNS, "hierarchy")
    return await _open(request, {key: settings[key] for key in names if key in settings})


async def spellings(request: Request) -> Response:
    """Read the file once more, and make spellings of an item one, or keep them apart."""
    how = str((await form_of(request)).get("normalize", ""))
    if how not in {"", *SPELLINGS}:
        raise RequestError("This way to make spellings one is not known.")
    settings = request.state.project.settings()
    names = {*READING, *OF_COLUMNS, "hierarchy"} - {"normalize"}
    kept = {key: settings[key] for key in names if key in settings}
    return await _open(request, kept | ({"normalize": how} if how else {}))


# --- what is in it


async def _overview(request: Request) -> Response:
    project: Project = request.state.project
    desks = request.app.state.studio.desks
    settings = project.settings()
    try:
        found = await desks.ask(project, "overview")
    except Refused as refused:
        if not project.studio.get("file"):
            project.save(studio={"file": settings["input"]})
        said = {"message": refused.message, "hint": in_words(refused.hint), "field": ""}
        return await _reading(request, {}, [said])
    sizes = [0, 1, 2] if found["table"] else [1, 2, 3]
    return page(
        request, "data.html", step="data", title="Data",
        same_as=[commands.risk(project, sizes)], found=found,
        path=settings["input"],
        word=project.studio.get("row", ""), sensitive=project.studio.get("sensitive", []),
    )  # fmt: skip


async def rows(request: Request) -> Response:
    """Answer with some rows."""
    first, number = _number(request, "first"), _number(request, "count", 100)
    desks = request.app.state.studio.desks
    return Json(await desks.ask(request.state.project, "rows", first=first, number=number))


async def plain_rows(request: Request) -> Response:
    """Show rows as a plain table, page by page."""
    project: Project = request.state.project
    first = max(_number(request, "row", 1) - 1, 0)
    first -= first % PAGE
    desks = request.app.state.studio.desks
    found = await desks.ask(project, "rows", first=first, number=PAGE)
    about = await desks.ask(project, "overview")
    return page(
        request, "data_rows.html", step="data", title="The rows, page by page", found=found,
        columns=about["columns"], each=PAGE,
    )  # fmt: skip


def _number(request: Request, name: str, default: int = 0) -> int:
    found = whole(request.query_params.get(name))
    return default if found is None else found


async def items(request: Request) -> Response:
    """Find items by a part of their names."""
    desks = request.app.state.studio.desks
    text = request.query_params.get("text", "")[:200]
    return Json(await desks.ask(request.state.project, "items", text=text))


async def risk(request: Request) -> Response:
    """Answer with what an attacker finds in the data: figures of ``setveil risk``, counted once."""
    project: Project = request.state.project
    jobs, studio = request.app.state.studio.jobs, project.studio
    settings = project.settings()
    argv = commands.risk(project, [0, 1, 2] if "qi" in settings else [1, 2, 3])
    key = hashlib.sha256(json.dumps([argv, studio.get("sha256")]).encode()).hexdigest()[:16]
    kept = project.folder / "risk.json"
    with contextlib.suppress(DataError), places.reading("What was counted before"):
        known = places.read_json(kept)
        if known["key"] == key:
            return Json(_risk_record(known["found"]))
    same = [job for job in jobs.of(project) if job.kind == "risk" and job.argv == argv and not job.is_over]
    job = same[0] if same else jobs.start(project, "risk", argv, label="who could be found")
    await jobs.wait(job)
    if job.state != "done":
        error = job.error or {"message": "The count ended without an answer.", "hint": "Load the page again."}
        return Json({"error": error})
    with places.reading("The count"):
        found = json.loads(job.output)
        answer = _risk_record(found)
    with staged_file(kept) as staged:
        staged.write_text(json.dumps({"key": key, "found": found}), encoding="utf-8")
    return Json(answer)


def _risk_record(found: Any) -> dict[str, Any]:
    """Put the figures as the page shows them; of facts, next to those of their codes, as the command does."""
    if "risk" not in found:
        return {"text": risk_text([*found.items()])}
    best = [entry for entry in found["risk"] if entry["choice"] == "best"]
    least = str(min(found["thresholds"]))
    return {
        "known": columns_known(found).removesuffix(" and "),
        "alone": [
            {"m": entry["m"], "rows": entry["rows_below"][least], "exact": bool(entry["exact"])}
            for entry in best
        ],
        "rows": found["rows"],
        "below": found["revealing"]["below"],
        "items": found["revealing"]["items"][:10],
    }


async def keep(request: Request) -> Response:
    """Keep what a row is called, and the items that nobody may learn."""
    project: Project = request.state.project
    form = await form_of(request)
    word = re.sub(r"\s+", " ", str(form.get("row", ""))).strip()[:30]
    names = list(dict.fromkeys(str(name) for name in form.getlist("sensitive")))
    if len(names) > MOST_SENSITIVE:
        raise RequestError(f"{len(names):,} items are ticked, expected {MOST_SENSITIVE:,} or fewer.")
    found = await request.app.state.studio.desks.ask(project, "unknown_items", names=names)
    if found["unknown"]:
        raise RequestError(
            f"The data contain no item {found['unknown'][0]!r}.", hint="Search for it by a part of its name."
        )
    project.save(studio={"row": word or None, "sensitive": names or None})
    return to(request, "p", project.name, "hierarchy" if form.get("next") else "data")


async def end_tour(request: Request) -> Response:
    """Omit the sentences of the tour from now on."""
    project: Project = request.state.project
    form = await form_of(request)
    step = str(form.get("step", ""))
    project.save(studio={"tour": None})
    return to(request, "p", project.name, step if step in STEPS else "data")


def size_in_words(size: int) -> str:
    """Write a number of bytes."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:,.1f} {unit}"
    return f"{size:,} bytes"


routes = [
    Route("/data", show),
    Route("/data/file", choose),
    Route("/data/take", take, methods=["POST"]),
    Route("/data/upload", upload, methods=["POST"]),
    Route("/data/reading", reading),
    Route("/data/read", read, methods=["POST"]),
    Route("/data/roles", roles, methods=["POST"]),
    Route("/data/facts", facts, methods=["POST"]),
    Route("/data/levels", levels),
    Route("/data/again", again, methods=["POST"]),
    Route("/data/spellings", spellings, methods=["POST"]),
    Route("/data/rows", rows),
    Route("/data/pages", plain_rows),
    Route("/data/items", items),
    Route("/data/risk", risk, methods=["POST"]),
    Route("/data/keep", keep, methods=["POST"]),
    Route("/tour", end_tour, methods=["POST"]),
]
