"""Questions about the columns of a table: what each may be, and how many of its values each level keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setveil.base.errors import SetveilError
from setveil.rows.data.columns import columns_at, split_names
from setveil.rows.data.evidence import MANY, are_different
from setveil.rows.data.ids import of_cells, why_id
from setveil.rows.data.names import is_id_name, is_person_name, is_place
from setveil.rows.hierarchy.alone import GROUPED
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.tables.how import How
from setveil.rows.tables.levels import Levels, in_words, levels_in, likely_levels, parents_in
from setveil.rows.tables.opened import OpenedTable, column_values
from setveil.rows.tables.ranges import are_numbers
from setveil.rows.tables.read import parents_of
from setveil.rows.tables.table import Table
from setveil.studio.desk.place import Desk, key_of

SAMPLES = 4
_SHORT = 3  # digits up to which numbers of a place are no zip codes


def presets(opened: OpenedTable, roles: Mapping[str, str], *, whole: bool) -> list[dict[str, Any]]:
    """Say of each column what it may be; columns with an item each are one line.

    `roles`: the proposal: ``qi``, ``set`` or ``item_columns``, ``id_column``. `whole`: all values count, not
    only those of the first lines. Returns ``name``, ``columns`` (of a line), ``values``, ``role``,
    ``personal`` (looks like the name or number of a person), ``kind`` and ``steps`` of groups, and the values
    that these ``keep``.
    """
    names = list(opened.table.names)
    series = _item_columns(opened, roles)
    known, number = split_names(roles.get("qi", "")), roles.get("id_column")
    heads = [[row[at] for row in opened.table.head if len(row) > at and row[at]] for at in range(len(names))]
    is_id = [bool(why_id(of_cells(name, values))) for name, values in zip(names, heads, strict=True)]
    number = number or next((name for name, is_id in zip(names, is_id, strict=True) if is_id), None)
    found = []
    for at, (name, values) in enumerate(zip(names, heads, strict=True)):
        if at in series[1:]:
            continue
        personal = is_id[at] or is_id_name(name) or is_person_name(name)
        personal = personal or (len(values) >= MANY and are_different(values))
        items = at in series or name == roles.get("set")
        role = (
            "id" if name == number
            else "set" if items
            else "qi" if name in known and not is_id[at]
            else "drop"
        )  # fmt: skip
        of = [names[one] for one in series] if at in series else [name]
        shown = values if at not in series else [value for one in series for value in heads[one]]
        column = {
            "name": f"{of[0]} to {of[-1]}" if len(of) > 1 else name,
            "columns": of,
            "values": list(dict.fromkeys(shown))[:SAMPLES],
            "personal": personal and not items,
            "role": role,
            "kind": "",
            "steps": "",
        }
        if len(of) == 1:
            column |= _groups(opened, at, values, whole=whole and role == "qi")
        found.append(column)
    return found


def _item_columns(opened: OpenedTable, roles: Mapping[str, str]) -> list[int]:
    """List the columns that contain an item each."""
    if "item_columns" not in roles:
        return []
    return columns_at(opened.table.names, roles["item_columns"], None, opened.table.name)


def _groups(opened: OpenedTable, at: int, head: Sequence[str], *, whole: bool) -> dict[str, str]:
    """Propose groups of the values of a column, and say what they keep."""
    values = list(head)
    if whole:
        with contextlib.suppress(SetveilError):
            values = [value for value in opened.texts([at])[0].labels if value]
    numbers = are_numbers(values)
    codes = is_place(opened.table.names[at]) and len({*map(len, values)}) == 1
    levels = likely_levels(values) if not numbers or (codes and len(values[0]) > _SHORT) else None
    kind, steps = (levels.way, ",".join(levels.steps)) if levels else ("", "")
    return {"kind": kind, "steps": steps, "keep": _kept(opened.table.names[at], values, levels)}


def _kept(name: str, values: Sequence[str], levels: Levels | None) -> str:
    if not values:
        return ""
    if levels is not None:
        return in_words(levels.parents_of(name, values), values)
    if are_numbers(values):
        return f"{len({*values}):,} numbers, published as ranges from the least to the greatest of a class"
    return in_words({**dict.fromkeys(values, "*"), "*": None}, values)


def levels_of(table: Table) -> list[dict[str, Any]]:
    """Say of each column that someone may know how many of its values each level of its groups keeps."""
    found = []
    for column in table.columns:
        values = column.labels[int(column.missing) : column.n_values]
        plain = column.parent is None
        keep = _kept(column.name, values, None) if plain else in_words(parents_in(column), values)
        said = {"name": column.name, "key": key_of(column.name), "keep": keep}
        found.append({**said, "grouped": column.levels != 1, "several": len(values) >= GROUPED})
    return found


def kept(
    desk: Desk, path: str, options: Mapping[str, Any], column: str, kind: str, steps: str
) -> dict[str, Any]:
    """Say how many values of a column each level of its groups keeps, or what is wrong with them."""
    try:
        how = How(options.get("format"), options.get("encoding"), options.get("separator"))
        values = column_values(path, column, how)
        if kind == "file":
            tree = read_hierarchy(steps.strip())
            lacking = [value for value in values if value not in tree]
            if lacking:
                return {"error": f"The file lacks {len(lacking):,} values, such as {lacking[0]}."}
            return {"keep": in_words(parents_of(tree), values)}
        levels = levels_in(f"{kind}:{steps}") if kind in ("prefix", "ranges", "dates") else None
        if kind == "categorical":
            return {"keep": in_words({**dict.fromkeys(values, "*"), "*": None}, values)}
        return {"keep": _kept(column, values, levels)}
    except SetveilError as error:
        return {"error": f"{error.message} {error.hint}".strip()}


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {"column_kept": kept}
