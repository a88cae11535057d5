"""From a file or a data frame and the roles of its columns to a table."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from setveil.data.columns import column_at
from setveil.data.io.asked import ask_for_roles
from setveil.data.io.relational import How, TableColumns, read_columns
from setveil.data.layout import Origin
from setveil.data.quasi_identifiers import MISSING, QuasiIdentifier, quasi_identifier
from setveil.data.relational import Table, TextColumn
from setveil.errors import RequestError, shorten
from setveil.hierarchy.ranges import ranges
from setveil.hierarchy.tree import Hierarchy
from setveil.options.roles import Known, Roles, two_roles
from setveil.wording import count

_PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)  # 007 may be a code


def make_table(source: Any, roles: Roles, how: How) -> Table:
    """Read a table.

    Parameters
    ----------
    source : path or data frame
        As for `setveil.data.io.relational.read_columns`.
    roles : Roles
        What its columns are; hierarchies must have been read.
    how : How
        How it is read; id column and delimiter may also come with the roles.

    Returns
    -------
    Table
        Its `dropped` names the columns that are not published, its `tree` is the hierarchy of the items.

    Raises
    ------
    RequestError
        If roles contradict each other.
    DataError
        If the table cannot be read, or a column does not hold what its role asks for.
    """
    start = time.perf_counter()
    how = settled(source, roles, how)
    names = [*roles.qi, *roles.keep]
    read = read_columns(source, names, roles.set_name, how)
    _require_apart(read, roles)
    known = [
        _known_column(column, about, place)
        for column, about, place in zip(read.texts, roles.qi.values(), read.places, strict=False)
    ]
    kept = read.texts[len(known) :]
    place = {name: at for at, name in reversed(list(enumerate(read.header)))}
    shown = [column.name for column in read.texts]
    header = tuple(
        sorted([*shown, read.set_name], key=lambda name: place[name] if name in shown else read.set_at)
    )
    dropped = tuple(name for name in read.header if name not in (*header, *read.item_columns))
    origin = Origin(
        read.files,
        read.layout,
        id_column=read.id_column,
        item_columns=read.item_columns or (read.set_name,),
        ignored_columns=tuple(name for name in dropped if name != read.id_column),
        encoding=read.encoding,
        table=True,
        seconds=round(time.perf_counter() - start, 4),
    )
    return Table(
        read.sets.indptr, read.sets.items, read.sets.vocabulary, origin,
        columns=tuple(known), kept=kept, header=header, set_name=read.set_name,
        delimiter=read.delimiter, dropped=dropped, tree=roles.hierarchy,
    )  # fmt: skip


def settled(source: Any, roles: Roles, how: How) -> How:
    """Add to how a table is read what its roles say of that.

    Raises
    ------
    RequestError
        If they contradict each other.
    TableError
        If nothing says which columns someone may know, or which holds the items.
    """
    for name in ("id_column", "delimiter"):
        one, other = getattr(how, name), getattr(roles, name)
        if one is not None and other is not None and one != other:
            raise RequestError(f"The {name.replace('_', ' ')} is given twice, as {one!r} and as {other!r}.")
        how = replace(how, **{name: one if other is None else other})
    items = roles.set_name is not None or how.item_columns is not None or how.items is not None
    if not roles.qi or not items:
        some = [*roles.qi, *roles.keep, *roles.drop, *([roles.set_name] if roles.set_name else [])]
        raise ask_for_roles(source, how, some, known=bool(roles.qi), items=items)
    return how


def _require_apart(read: TableColumns, roles: Roles) -> None:
    """Refuse a column that was given two roles under two names, or is to be dropped and does not exist."""
    found = dict.fromkeys(read.item_columns, "set")
    if read.id_column is not None:
        if read.id_column in found:
            raise two_roles(read.id_column, "set", "id")
        found[read.id_column] = "id"
    for at, column in enumerate(read.texts):
        role = "qi" if at < len(roles.qi) else "keep"
        if column.name in found:
            raise two_roles(column.name, found[column.name], role)
        found[column.name] = role
    for name in roles.drop:
        dropped = read.header[column_at(read.header, name, read.name)]
        if found.get(dropped, "id") != "id":
            raise two_roles(dropped, found[dropped], "drop")
    if read.set_name in found and read.set_name not in read.item_columns:
        raise RequestError(
            f"The items cannot be published as {shorten(read.set_name)}: another column has this name.",
            hint="Name the column that is to hold them: --set diagnoses (in Python set=).",
        )


def _known_column(column: TextColumn, known: Known, place: Callable[[int], str]) -> QuasiIdentifier:
    """Make a quasi-identifier: numeric if that was said, or its values are numbers and nothing was said."""
    make = partial(
        quasi_identifier, column.name, column.codes, column.labels, weight=known.weight, place=place
    )
    if isinstance(known.hierarchy, Hierarchy):
        return make(numeric=known.kind == "numeric", parents=parents_of(known.hierarchy))
    if known.ranges is not None or known.kind == "numeric":
        plain = make(numeric=True)
        if known.ranges is None:
            return plain
        width = None if known.ranges is True else Fraction(known.ranges)
        return make(numeric=True, parents=ranges(column.labels, width), built=True)
    return make(numeric=known.kind is None and are_numbers(column.labels))


def parents_of(tree: Hierarchy) -> dict[str, str | None]:
    """Name the parent of each node of a hierarchy."""
    return {
        label: None if up < 0 else tree.labels[up]
        for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
    }


def are_numbers(texts: Iterable[str]) -> bool:
    """Tell whether all values that are there are decimal numbers, none of which begins with a needless zero.

    Such zeros speak for codes.
    """
    present = [text for text in texts if text != MISSING]
    return bool(present) and all(map(_PLAIN_NUMBER.fullmatch, present))


def sentence(table: Table, roles: Roles) -> str:
    """Say what was read: ``table, one row per line; known: age (numbers), sex; items: codes``."""
    known = [
        f"{column.name} ({_form(column, about)})"
        for column, about in zip(table.columns, roles.qi.values(), strict=True)
    ]
    said = [f"table, one row per line; quasi-identifiers: {', '.join(known)}; items: {table.set_name}"]
    if table.kept:
        said.append(f"kept as they are: {', '.join(column.name for column in table.kept)}")
    named = [*roles.drop, table.origin.id_column if table.origin else None]
    unnamed = [name for name in table.dropped if name not in named]
    if unnamed:
        said.append(f"dropped, having no role: {', '.join(unnamed)}")
    return "; ".join(said)


def _form(column: QuasiIdentifier, known: Known) -> str:
    kind = "numbers" if column.numeric else "categories"
    if known.hierarchy is not None:
        return f"{kind} with a hierarchy"
    if known.ranges is not None:
        return f"{kind} with built ranges"
    return kind


def warnings_of(table: Table) -> list[str]:
    """Say what may give people away although no promise covers it: kept values that a single row has."""
    said = []
    for column, rows in zip(table.kept, table.kept_once(), strict=True):
        if rows:
            said.append(
                f"Column {shorten(column.name)} is published as it is, and {count(rows, 'row')} "
                f"{'has' if rows == 1 else 'have'} a value there that no other row has: whoever knows it "
                "finds the row."
            )
    return said
