"""Columns inside other columns, such as ``items.sku``: their names, and which of them hold items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from setveil.base.errors import TableError, listed, shorten
from setveil.rows.data.columns import Wanted
from setveil.rows.data.named_columns import NamedColumns
from setveil.rows.data.names import is_people, tells_person
from setveil.rows.data.objects_in_cells import likely_lists
from setveil.rows.data.readings import SAMPLES

_LISTS = re.compile(r"\[\*?\]")
_AROUND = "entry.resource."  # of resources in a FHIR bundle
_MOST = 3  # readings that are shown


def paths(wanted: Wanted, names: Iterable[str]) -> Wanted:
    """Write the columns that were named as those of a table are: ``items[].sku`` is ``items.sku``."""
    known = set(names)

    def plain(name: str) -> str:
        bare = _LISTS.sub("", name).removeprefix("$.")
        return next((one for one in (name, bare, bare.removeprefix(_AROUND)) if one in known), bare)

    columns = wanted.item_columns
    if isinstance(columns, str):
        columns = columns if columns in known else _LISTS.sub("", columns)
    return replace(
        wanted,
        id_column=None if wanted.id_column is None else plain(wanted.id_column),
        item_column=None if wanted.item_column is None else plain(wanted.item_column),
        item_columns=columns,
    )


def require_columns(table: NamedColumns, wanted: Wanted, lists: Sequence[int]) -> None:
    """Ask which column inside another one is meant, where the outer one is named."""
    for option, name in (("id_column", wanted.id_column), ("item_column", wanted.item_column)):
        inside = [at for at, one in enumerate(table.names) if one.startswith(f"{name}.")]
        if name is None or name in table.names or not inside:
            continue
        if option == "id_column":
            fits = [at for at in inside if at not in lists][:_MOST]
            readings = [({option: table.names[at]}, f"one row per value of {table.names[at]}") for at in fits]
        else:
            known = wanted.id_column is not None
            readings = _readings(table, [at for at in inside if at in lists] or inside, lists, known=known)
        raise TableError(
            f"{table.name}: {shorten(name)} contains objects, expected items or IDs. Their keys are "
            f"{listed([table.names[at] for at in inside], 5)}",
            [],
            readings,
            options_named=f"--{option.replace('_', '-')}",
        )


def which_list(table: NamedColumns, lists: Sequence[int]) -> TableError:
    """Ask which of several lists holds the items, and whose they are."""
    values = _values(table)
    names = listed([table.names[at] for at in lists], 5)
    return TableError(
        f"{table.name}: {len(lists)} columns contain lists ({names}), and nothing says which has the items",
        [(name, tuple(dict.fromkeys(values[at]))[:SAMPLES]) for at, name in enumerate(table.names)],
        _readings(table, lists, lists, known=False),
    )


def _readings(
    table: NamedColumns, columns: Sequence[int], lists: Sequence[int], *, known: bool
) -> list[tuple[dict[str, str], str]]:
    """Say how items are read from columns; `known`: it was said whose they are."""
    found = []
    for name in (table.names[at] for at in _likely(table, columns)):
        person = None if known else _person(table, lists, name)
        whose = {} if person is None else {"id_column": person}
        row = "" if known else f"one row per {'line' if person is None else f'value of {person}'}, "
        found.append(({**whose, "item_column": name}, f"{row}items from {name}"))
    return found


def _person(table: NamedColumns, lists: Sequence[int], item: str) -> str | None:
    """Find the column that says whose the items are, by its name or that of a column around it."""
    values = _values(table)
    kind, _, _ = item.partition(".")
    around = f"{kind}." if kind in getattr(table, "kinds", ()) else ""
    found = []
    for at, name in enumerate(table.names):
        bare = name.removeprefix(around)
        if at not in lists and name.startswith(around) and any(map(tells_person, (bare, *bare.split(".")))):
            found.append(at)
    best = max(found, key=lambda at: (is_people(table.names[at]), len(set(values[at])), -at), default=None)
    return None if best is None else table.names[best]


def _likely(table: NamedColumns, lists: Sequence[int]) -> list[int]:
    values = _values(table)
    found = likely_lists([table.names[at] for at in lists], [values[at] for at in lists])
    return [table.names.index(name) for name in found]


def _values(table: NamedColumns) -> list[list[str]]:
    return [[row[at] for row in table.head if row[at]] for at in range(len(table.names))]


def without_nulls(name: str, number: int, lists: int) -> tuple[str, ...]:
    """Say how many values inside lists were null."""
    if not number:
        return ()
    where = "1 list" if lists == 1 else f"{lists:,} lists"
    return (f"{name}: {number:,} null in {where} skipped, as null is no item.",)
