"""Questions about the data: how a file may be read, what is in it, and some of its rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, SetveilError, TableError
from setveil.base.values.declared import options_of
from setveil.base.wording import count
from setveil.rows.data.also import also_of
from setveil.rows.data.evidence import MANY
from setveil.rows.data.formulas import formula_note
from setveil.rows.data.io.rows import read
from setveil.rows.data.io.source import gather, open_source
from setveil.rows.data.names import is_id_name, is_person_name
from setveil.rows.data.readings import EVERY_FIELD, are_items, likely_readings
from setveil.rows.data.spelling import NONE, found_spellings
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import OpenedTable, open_table
from setveil.rows.tables.questions import ask_for_roles
from setveil.rows.tables.read import flat_columns, make_table, warnings_of
from setveil.rows.tables.roles import with_trees
from setveil.rows.tables.systems import systems_said
from setveil.runs.options.columns import Columns
from setveil.runs.options.facts import FactOptions as FactWords
from setveil.runs.options.names import FACTS, ROLES
from setveil.runs.options.reading import Reading
from setveil.studio.desk import facts
from setveil.studio.desk.columns import levels_of, presets
from setveil.studio.desk.place import Desk
from setveil.studio.fields import note_in_fields
from setveil.studio.places import make_folder, read_settings
from setveil.studio.trees import column_trees

READING = tuple(name.replace("_", "-") for name in options_of(Reading))
_OF_COLUMNS = frozenset({"format", "id-column", "item-column", "item-columns", "delimiter", "not-ids", "yes"})
SHOWN = 200  # rows under a reading
_MOST_WAYS = 5
_QUICK = 20_000_000  # bytes of a file that is read in several ways
_OPTION = re.compile(r"--(encoding|separator|format)[ =]+('[^']+'|[\w-]+)")


def read_as(path: str, options: Mapping[str, Any]) -> Transactions:
    """Read a file by these options, named as the command line names them; with roles of columns, a table."""
    reading = {key.replace("-", "_"): value for key, value in options.items() if key in READING}
    if not any(options.get(key) for key in (*ROLES, *FACTS)):
        return read(path, **reading)
    words = Columns(**_said(options, ROLES))
    fact_words = FactWords(**_said(options, FACTS))
    if fact_words.wanted(words):
        k = options.get("k")
        return facts.read(path, words, fact_words, Reading(**reading), k if isinstance(k, int) else 0)
    trees = dict(tree.split("=", 1) for tree in column_trees(options.get("hierarchy")))
    encoding = Reading(**reading).text_encoding
    roles = with_trees(words.as_roles(trees), lambda tree: tree and read_hierarchy(tree, encoding=encoding))
    how = words.as_how(Reading(**reading))
    table: Transactions = make_table(path, roles, how)
    return table


def _said(options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Take options as those of the command line are made of them: some may be given several times."""
    said = {key.replace("-", "_"): options.get(key) or None for key in names}
    for several in ("ranges", "bounds", "missing", "when", "amount"):
        if isinstance(said.get(several), str):
            said[several] = [said[several]]
    return said


def data_of(desk: Desk) -> Transactions:
    """Return the project's rows (a `Table` where columns have roles), read once for each way of reading."""
    settings = _settings(desk)
    path = str(settings.get("input", ""))
    options = {key: settings[key] for key in (*READING, *ROLES, *FACTS, "hierarchy", "k") if key in settings}
    return _opened(desk, path, options)


def systems_of(desk: Desk, system: str, column: str) -> dict[str, str]:
    """Read the ICD version of each item from a column of the project's long table."""
    settings = _settings(desk)
    how = _how_of(settings)
    return systems_said(settings.get("input"), system, how.item_column, column, how)


def _how_of(options: Mapping[str, Any]) -> How:
    """Say how a table is read by these options, named as the command line names them."""
    of_several = {"same-ids", "also"}
    reading = {
        key.replace("-", "_"): options[key] for key in READING if key in options and key not in of_several
    }
    return Columns().as_how(Reading(**reading))


def _how_of_file(options: Mapping[str, Any]) -> How:
    """Say how a table is read of whose columns nothing was said."""
    how = _how_of({key: value for key, value in options.items() if key not in _OF_COLUMNS})
    return replace(how, lacking=how.lacking.alone())


def _settings(desk: Desk) -> dict[str, Any]:
    try:
        return read_settings(desk.folder)
    except (OSError, ValueError):
        return {}


def rows_of(desk: Desk) -> Transactions:
    """Return the project's rows as sets of items, without other columns; of facts the codes alone."""
    data = data_of(desk)
    if data.only_facts:
        return data.facts.codes_alone()  # type: ignore[no-any-return]
    return Transactions(data.indptr, data.items, data.vocabulary, data.origin)


def same_rows(report: Mapping[str, Any], data: Transactions) -> Transactions:
    """Take the project's rows if they are those that a run was made of."""
    then, now = report["input"]["sha256"], data.origin.sha256 if data.origin else None
    if then != now or report.get("sample"):
        raise DataError("The data are no longer those that this release was made of.")
    return data


def _opened(desk: Desk, path: str, options: Mapping[str, Any]) -> Transactions:
    trees = column_trees(options.get("hierarchy"))
    since = any("since-first" in str(one) for one in options.get("when") or ())
    others = {"hierarchy"} if since else {"hierarchy", "k"}
    said = {name: value for name, value in options.items() if name not in others}
    files = [*_plain_files(path), *_also(options), *(tree.partition("=")[2] for tree in trees)]
    stamps = [_stamp(file) for file in files]
    key = [path, said, trees, stamps]
    if desk.data is None or desk.kept.get("data") != key:
        desk.forget()
        desk.data = read_as(path, options)
        desk.kept["data"] = key
    data: Transactions = desk.data
    return data


def _plain_files(path: str) -> list[str]:
    """List the files to read: no pipe and no device, which may never end."""
    files = gather([path])
    odd = next((one for one in files if one == "-" or (os.path.exists(one) and not Path(one).is_file())), "")  # noqa: PTH110
    if odd:
        raise DataError(f"{odd} is no plain file.", hint="Devices and pipes cannot be read here.")
    return files


def _also(options: Mapping[str, Any]) -> list[str]:
    """List the further files about the same people."""
    return [file for one in also_of(options.get("also") or ()) for file in _plain_files(one.path)]


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


# --- how a file may be read


def preview(desk: Desk, path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Show the first rows of a file, or a folder of files, under each way in which it may be read.

    ``ways``: each with `options`, `title`, `rows`, and `sure` if nothing speaks against it. ``log``: what
    columns may be in a log of events, and whether it looks like one. ``columns`` and ``roles``: of a table.
    ``as_table``: how many rows and items that gives, empty if unreadable, None if no table is proposed.
    ``error``: why the request fails, with the lines around, and options that may help. ``ask``: options about
    lines with which it is a table, and what they mean.
    """
    ways: list[dict[str, Any]] = []
    error: SetveilError | None = None
    reason = ""
    lines: dict[str, Any] = {}
    _plain_files(path)
    _also(options)
    try:
        ways.append(_way(read_as(path, options), dict(options), sure=True))
    except TableError as question:
        if question.readings and all({*found} == {"encoding"} for found, _ in question.readings):
            error = question  # its line is shown
        reason = question.message.partition(":\n")[0] + "."
        if question.trouble:
            reason += f" {question.trouble[0].upper()}{question.trouble[1:]}."
        lines = _of_lines([_dashed(found) for found, _ in question.readings])
        for found, meaning in () if error else question.readings:
            _add(ways, path, {**options, **_dashed(found)}, meaning)
    except SetveilError as refused:
        error = refused
    table = None if error or lines else _table(path, options)
    if table is not None and not options and sum(map(_size, gather([path]))) < _QUICK:
        for found, meaning in likely_readings(table.table):
            _add(ways, path, _dashed(found), meaning)
        if len(table.table.names) > 1 and are_items(table.table):
            _add(ways, path, {"format": "basket"}, EVERY_FIELD)
    size = sum(map(_size, _files(path)))
    roles = {} if table is None else _roles(path, options)
    columns = [] if table is None else presets(table, roles, whole=size < _QUICK)
    return {
        "ways": ways,
        "reason": reason,
        "columns": columns,
        "log": {"columns": [], "likely": False} if table is None else facts.proposed(table, columns),
        "roles": roles,
        "as_table": _as_persons(path, options, roles),
        "error": None if error is None else _explained(path, error),
        "ask": [] if error or table else _line_readings(path, options, lines),
        "size": size,
    }


def _as_persons(path: str, options: Mapping[str, Any], roles: Mapping[str, str]) -> dict[str, Any] | None:
    """Count what a file holds as the table that is proposed: lines of one person are one row."""
    if "qi" not in roles:
        return None
    try:
        found = read_as(path, {**options, **_dashed(roles)} | ({} if "set" in roles else {"set": "items"}))
    except SetveilError:
        return {}
    return {"rows": found.n_rows, "items": found.n_items}


def _dashed(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in options.items()}


def _add(ways: list[dict[str, Any]], path: str, options: dict[str, Any], meaning: str) -> None:
    """Add a way of reading, if the file can be read so and it is a way of its own."""
    if len(ways) >= _MOST_WAYS or any(way["options"] == options for way in ways):
        return
    try:
        way = _way(read_as(path, options), options, meaning)
    except SetveilError:
        return
    if all((way["rows"], way["n_rows"]) != (other["rows"], other["n_rows"]) for other in ways):
        ways.append(way)


def _way(
    data: Transactions, options: dict[str, Any], meaning: str = "", *, sure: bool = False
) -> dict[str, Any]:
    said = data.origin.sentence() if data.origin else ""
    return {
        "options": options,
        "title": meaning or said.partition(", ")[2] or said,
        "said": said,
        "sure": sure,
        "n_rows": data.n_rows,
        "n_items": data.n_items,
        "rows": [list(row) for row in data[: min(SHOWN, data.n_rows)].rows()],
    }


def _table(path: str, options: Mapping[str, Any]) -> OpenedTable | None:
    """Open a file as a table with named columns, if it can be one."""
    files = _files(path)
    try:
        opened = open_table(files[0], (), _how_of_file(options))
    except (SetveilError, IndexError):
        return None
    return opened if len(opened.table.names) > 1 and opened.table.header else None


def _of_lines(readings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Take the lines that every proposed reading skips."""
    said = readings[0].get("skip-lines") if readings else None
    same = said is not None and all(one.get("skip-lines") == said for one in readings)
    return {"skip-lines": said} if same else {}


def _line_readings(path: str, options: Mapping[str, Any], lines: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """List options about lines without which a file is no table, and what they mean."""
    if lines:
        return [(dict(lines), f"lines {lines['skip-lines']} are no data")]
    try:
        open_table(_files(path)[0], (), _how_of_file(options))
    except TableError as question:
        return [(dict(found), meaning) for found, meaning in question.readings]
    except (SetveilError, IndexError):
        pass
    return []


def _roles(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Propose roles of columns: to be known, items and what is between them, numbers of persons."""
    files = _files(path)
    try:
        question = ask_for_roles(files[0], _how_of_file(options), (), known=False, items=False)
    except SetveilError:
        return {}
    return dict(question.readings[0][0]) if question.readings else {}


def _files(path: str) -> list[str]:
    try:
        return gather([path])
    except SetveilError:
        return []


def _size(path: str) -> int:
    return _stamp(path)[0]


def _explained(path: str, error: SetveilError) -> dict[str, Any]:
    """Say why a file cannot be read: the lines around, the line itself marked, and options that may help."""
    at = re.search(r"line ([0-9,]+)", error.message)
    readings = [(dict(found), meaning) for found, meaning in getattr(error, "readings", ())]
    helping = {key: value.strip("'") for key, value in _OPTION.findall(error.hint)}
    if readings and "encoding" in readings[0][0]:
        helping = {"encoding": readings[0][0]["encoding"]}
    return {
        "message": error.message,
        "hint": error.hint,
        "lines": _around(path, int(at[1].replace(",", ""))) if at else [],
        "options": helping,
        "readings": readings,
    }


def _around(path: str, line: int) -> list[dict[str, Any]]:
    """Show a line of a file with two before and two after it."""
    try:
        content = open_source(_files(path)[0]).content
    except (SetveilError, IndexError):
        return []
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    if b"\0" in content[:4096] or line > len(lines):
        return []
    if lines and not lines[-1]:
        lines.pop()
    first = max(line - 3, 0)
    return [
        {"number": number, "text": text.decode("utf-8", "replace")[:300], "marked": number == line}
        for number, text in enumerate(lines[first : line + 2], first + 1)
    ]


# --- what is in the data


def look(desk: Desk, path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Read facts as was chosen, and say what each part is, before anything is kept; or why not."""
    try:
        found = _opened(desk, path, options)
        assert found.only_facts  # noqa: S101  (they are asked for)
        return {"facts": facts.about(found.facts), "error": None}
    except SetveilError as error:
        return {"facts": None, "error": _explained(path, error)}


def open_data(desk: Desk, path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Read a file as was chosen, keep it, and say what is in it."""
    desk.forget()
    data = _opened(desk, path, options)
    stamps = [_stamp(file) for file in (*gather([path]), *_also(options))]
    return {
        "sha256": data.origin.sha256 if data.origin else None,
        "size": sum(size for size, _ in stamps),
        "mtime_ns": max((when for _, when in stamps), default=0),
        **_counts(data),
    }


def _counts(data: Transactions) -> dict[str, Any]:
    return {
        "rows": data.n_rows,
        "items": data.n_items,
        "occurrences": data.n_occurrences,
        "empty": data.n_rows - int(data.filled_rows),
    }


def overview(desk: Desk) -> dict[str, Any]:
    """Say what is in the project's data, and what in it asks for attention."""
    data = data_of(desk)
    found = _OVERVIEWS.get(data.kind, _overview_of_rows)(data)
    notes = [*_notes_of_reading(data), *found["notes"], *filter(None, [formula_note(data.vocabulary.labels)])]
    return {**_counts(data), **found, "notes": notes, "spellings": _spellings(data)}


def _notes_of_reading(data: Any) -> list[str]:
    """List what reading noticed: skipped lines, and words for no item, with the fields that change this."""
    origin = [] if data.is_table or data.origin is None else data.origin.notes
    notes = [] if data.only_facts else [*getattr(data, "notes", ()), *origin]
    return [note_in_fields(note) for note in notes]


def _overview_of_rows(data: Any) -> dict[str, Any]:
    """Describe rows of items, as other kinds of data are described, too."""
    once = int((data.supports() == 1).sum())
    note = (
        f"{count(once, 'item')} of {data.n_items:,} are in one row only. "
        "Are they items, or names or IDs of people?"
    )
    return {
        "said": data.origin.sentence() if data.origin else "",
        "facts": None,
        "columns": [],
        "notes": [note] if data.n_items >= MANY and 10 * once >= 9 * data.n_items else [],
        "table": False,
        "levels": [],
    }


def _overview_of_table(table: Any) -> dict[str, Any]:
    """Describe a table: its columns, and those that are not grouped or look like IDs."""
    names = [column.name for column in table.value_columns]
    notes = warnings_of(table)
    notes += [
        f"Column {column.name!r} has {count(column.n_values - column.missing, 'value')} and no groups of "
        f"them: what is not published as it is becomes {column.labels[-1]}. Choose below how to group it."
        for column, _ in flat_columns(table)
        if column.parent is not None
    ]
    notes += [
        f"Column {name!r} looks like the name or number of a person. Is it to be published?"
        for name in names
        if is_id_name(name) or is_person_name(name)
    ]
    row = table.origin.row if table.origin else "line"
    known = ", ".join(column.name for column in table.columns)
    found = _overview_of_rows(table)
    return {
        **found,
        "said": f"table, one row per {row}; someone may know: {known}; items from {table.set_name}",
        "columns": names,
        "notes": [*notes, *found["notes"]],
        "table": True,
        "levels": levels_of(table),
    }


def _overview_of_facts(data: Any) -> dict[str, Any]:
    """Describe rows of facts: their codes, and what is known next to these."""
    found = facts.about(data.facts)
    return {
        **_overview_of_rows(data),
        "said": found["said"],
        "facts": found,
        "notes": found["notes"],
    }


_OVERVIEWS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "tables": _overview_of_table,
    "facts": _overview_of_facts,
}


def _spellings(data: Transactions) -> dict[str, Any]:
    """Say which spellings became one item, or look like one, and what `normalize` would change that."""
    merged = data.origin.merged if data.origin else None
    if merged is not None and merged.how != NONE:
        return {"said": f"{merged.counted()}.", "how": ""}
    said, how = found_spellings(data.vocabulary.labels) if not data.only_facts else ("", None)
    return {"said": said, "how": how}


def rows(desk: Desk, first: int, number: int) -> dict[str, Any]:
    """Return some rows: the values of columns, if there are any, and the items."""
    data = data_of(desk)
    first = min(max(first, 0), data.n_rows)
    last = min(first + min(max(number, 0), 1000), data.n_rows)
    shown = [{"items": list(row), "values": []} for row in data[first:last].rows()]
    for column in data.value_columns:
        for row, code in zip(shown, column.codes[first:last].tolist(), strict=True):
            row["values"].append(column.labels[code])
    return {"first": first, "total": data.n_rows, "rows": shown}


def items(desk: Desk, text: str, number: int = 50) -> dict[str, Any]:
    """Find items by a part of their names, the most frequent ones first."""
    data = data_of(desk)
    wanted = text.casefold()
    supports = data.supports().tolist()
    found = [
        (-supports[at], label)
        for at, label in enumerate(data.vocabulary.labels)
        if wanted in label.casefold()
    ]
    return {
        "total": len(found),
        "items": [{"item": label, "rows": -n} for n, label in sorted(found)[:number]],
    }


def unknown_items(desk: Desk, names: Sequence[str]) -> dict[str, Any]:
    """List which of these are no items of the data."""
    known = set(data_of(desk).vocabulary.labels)
    return {"unknown": [name for name in names if name not in known]}


# --- the sample


def sample(desk: Desk, number: int) -> dict[str, Any]:
    """Make up baskets and the hierarchy of their products, as ``setveil demo`` does."""
    from setveil.rows.data.io.write import save
    from setveil.rows.data.layout import Layout
    from setveil.rows.data.sample import grocery_sample
    from setveil.rows.hierarchy.io import write_hierarchy
    from setveil.rows.hierarchy.tree import Hierarchy

    generated, paths = grocery_sample(number, 0)
    folder = desk.folder / "input"
    make_folder(folder)
    baskets = folder / "baskets.csv"
    save(generated, baskets, Layout("basket"))
    products = folder / "products.csv"
    write_hierarchy(Hierarchy.from_paths(paths), products)
    return {"path": str(baskets), "hierarchy": str(products), **open_data(desk, str(baskets), {})}


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "preview": preview,
    "open": open_data,
    "look": look,
    "overview": overview,
    "rows": rows,
    "items": items,
    "unknown_items": unknown_items,
    "sample": sample,
}
