"""The table of a run, read again as its record says, and what was published of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, faces
from setveil.judges.guarantees import Guarantee, model_named
from setveil.releases.published import tables
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.tables.read import make_table
from setveil.rows.tables.roles import read_roles, with_trees
from setveil.rows.tables.table import Table
from setveil.runs.options.columns import Columns, split_hierarchies
from setveil.runs.options.reading import Reading
from setveil.work.past.recorded import options_in, texts_in
from setveil.work.past.run import PastRun, items_known


def records_people(run: PastRun) -> bool:
    """Whether a run is of a table."""
    return run.report["recoding"] in tables.info.recodings


def find_table(run: PastRun, folder: Path | None = None, path: str | None = None) -> Table:
    """Read the table that a run was made from, with its roles and hierarchies.

    `path`: if it is not where the run read it. `folder`: where relative paths begin, in which the run was
    started.
    """
    options: Mapping[str, Any] = run.report.get("options") or {}
    files = [path] if path is not None else options.get("input") or []
    if not options:
        raise DataError(
            "This run was made in Python, and its record does not say how the table was read.",
            hint=faces(
                "In Python, give the table: sv.why(release, ..., data=table).", "Give the table: data."
            ),
        )
    if len(files) != 1 or files[0] == "-":
        raise DataError(
            "The record of this run does not say which file its table came from.",
            hint="Name it: --data FILE.",
        )
    words, reading = options_in(Columns, options), options_in(Reading, options)
    plain, named = split_hierarchies(texts_in(options, "hierarchy"))
    base = folder or Path()
    if words.roles is not None:
        roles = read_roles(base / words.roles, reading.text_encoding)
        roles = roles if plain is None else replace(roles, hierarchy=plain)
    else:
        roles = words.as_roles(named, plain)
    roles = with_trees(
        roles,
        lambda path: None if path is None else read_hierarchy(base / path, encoding=reading.text_encoding),
    )
    how = words.as_how(reading)
    how = replace(how, also=tuple(replace(one, path=str(base / one.path)) for one in how.also))
    table = make_table(str(base / files[0]), roles, how)
    require_table(run, table)
    return table


def require_table(run: PastRun, table: Any) -> None:
    """Refuse what is not the table of a run."""
    if not getattr(table, "is_table", False):
        raise RequestError(
            "This is the run of a table, and its data were read as rows of items.",
            hint="Read them with the same roles, as setveil.read_table does.",
        )
    recorded = run.report["input"]
    now = table.origin.sha256 if table.origin else None
    if now and recorded["sha256"] and now != recorded["sha256"]:
        raise DataError(
            "The table is no longer the one that this run was made from.",
            hint="It was changed since, or is another file.",
        )
    found = (table.n_rows, table.n_items, table.n_occurrences)
    expected = tuple(recorded[name] for name in ("rows", "items", "occurrences"))
    names = [column["name"] for column in run.report["table"]["columns"]]
    if found != expected or [column.name for column in table.columns] != names:
        raise DataError(
            "This is not the table of the run: it has other rows, items or quasi-identifiers.",
            hint="Read it as the run did.",
        )


def table_guarantee(run: PastRun) -> Guarantee:
    """Return the guarantee of the run of a table, from its record."""
    if run.guarantee is not None:
        return run.guarantee
    record: Mapping[str, Any] = run.report["guarantee"]
    model = model_named(run.model)
    values = {name: record[name] for name in model.options if name in record}
    made: Guarantee = model.make(**values | {"m": items_known(record)})
    return made
