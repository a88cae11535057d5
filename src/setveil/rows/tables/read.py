"""From a file or a data frame and the roles of its columns to a table."""

from __future__ import annotations

import logging
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from setveil.base.errors import DataError, RequestError, TableError, faces, listed, shorten
from setveil.base.wording import count
from setveil.rows.data.columns import as_field, column_at, split_names
from setveil.rows.data.evidence import FEW, SURE
from setveil.rows.data.io.source import open_source
from setveil.rows.data.layout import Origin
from setveil.rows.data.names import is_place
from setveil.rows.data.personal import Personal
from setveil.rows.data.spelling import NONE, merged_into, respelled
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.computed import is_computed
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.ages import with_ages
from setveil.rows.tables.columns import TableColumns, read_columns
from setveil.rows.tables.how import How
from setveil.rows.tables.levels import Levels, is_flat, likely_levels
from setveil.rows.tables.per_person import one_value
from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier, quasi_identifier
from setveil.rows.tables.ranges import PLAIN_NUMBER, are_numbers, ranges, width_for, written
from setveil.rows.tables.roles import Known, Roles, two_roles
from setveil.rows.tables.table import Table, TextColumn
from setveil.rows.tables.whose import not_ids_of, one_row_each, require_no_ids

log = logging.getLogger("setveil")

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?", re.ASCII)
_FEW_TEXTS = 3
FEWEST = 5  # rows that must reach a number for it to decide how wide ranges are
_SHORT_CODES = 3  # digits up to which numbers of a place are no zip codes
_GROUPS = {"prefix": "groups them by their first characters", "dates": "groups them by time"}


def make_table(
    source: Any, roles: Roles, how: How, read_as: Callable[..., TableColumns] = read_columns
) -> Table:
    """Read a table with known roles, whose hierarchies have been read; `read_as` reads the columns."""
    start = time.perf_counter()
    if isinstance(source, str | Path):
        source = open_source(source)
    how = settled(source, roles, how)
    names = [*roles.qi, *roles.keep]

    def reading(some: Sequence[str]) -> TableColumns:
        return read_as(source, some, roles.set_name, how, others=True)

    read = one_value(with_ages(reading, names, roles.ages), roles.per_person)
    tree = _items_tree(roles, read.sets)
    other = respelled(read.sets.vocabulary.labels, _leaves(tree)) if how.normalize != NONE else {}
    sets, spelled = (read.sets.with_names(other), merged_into(other)) if other else (read.sets, None)
    if spelled is not None:
        log.info("Spellings: %s", spelled.sentence())
    _require_apart(read, roles)
    known = [
        _known_column(column, about, place, how)
        for column, about, place in zip(read.texts, roles.qi.values(), read.places, strict=False)
    ]
    require_no_ids(read, len(known), how.not_ids)
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
        written=how.written(),
        table=True,
        merged=read.merged,
        respelled=spelled,
        notes=read.notes,
    )
    lines = Table(
        sets.indptr, sets.items, sets.vocabulary, origin,
        columns=tuple(known), kept=kept, header=header, set_name=read.set_name,
        delimiter=read.delimiter, dropped=dropped, tree=tree,
    )  # fmt: skip
    table = one_row_each(lines, read, how.not_ids)
    row = "line" if table.n_rows == lines.n_rows else f"value of {read.id_column}"
    personal = Personal(read.personal).without(not_ids_of(read, how.not_ids))
    origin = replace(origin, row=row, seconds=round(time.perf_counter() - start, 4))
    return replace(table, origin=origin, personal=personal)


def _leaves(tree: Hierarchy | None) -> tuple[str, ...]:
    return () if tree is None else tree.labels[: tree.n_leaves]


def _items_tree(roles: Roles, rows: Transactions) -> Hierarchy | None:
    tree: Any = roles.hierarchy  # read before
    if tree is not None:
        from setveil.rows.hierarchy.fit import fitted

        return fitted(tree, rows.vocabulary.labels)
    levels = roles.levels
    if levels is None:
        return None
    if levels.way != "prefix":
        raise RequestError(
            f"Items have no {levels.way}.", hint="Groups of codes: --hierarchy codes=prefix:3,1."
        )
    from setveil.rows.hierarchy.build import by_prefix

    return by_prefix(rows, lengths=levels.lengths())


def settled(source: Any, roles: Roles, how: How) -> How:
    """Add to how a table is read what its roles say of that."""
    for name in ("id_column", "delimiter"):
        one, other = getattr(how, name), getattr(roles, name)
        if one is not None and other is not None and one != other:
            raise RequestError(f"The {name.replace('_', ' ')} is given twice, as {one!r} and as {other!r}.")
        how = replace(how, **{name: one if other is None else other})
    how = replace(how, not_ids=(*how.not_ids, *roles.not_ids))
    items = roles.set_name is not None or how.item_columns is not None or how.items is not None
    if not roles.qi or not items:
        from setveil.rows.tables.questions import ask_for_roles

        some = [*roles.qi, *roles.keep, *roles.drop, *([roles.set_name] if roles.set_name else [])]
        raise ask_for_roles(
            source, how, some, known=bool(roles.qi), items=items, works=partial(works, source, roles, how)
        )
    return how


def works(source: Any, roles: Roles, how: How, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Try a reading that is to be proposed, with the column of IDs, or the values, that it may lack."""
    said: dict[str, Any] = {
        key: options[key] for key in ("id_column", "delimiter", "item_columns", "yes") if key in options
    }
    set_name = options.get("set", roles.set_name)
    qi = {name: Known() for name in split_names(options["qi"])} if "qi" in options else roles.qi
    ways = {**roles.per_person, **options.get("per_person", {})}
    try:
        make_table(source, replace(roles, qi=qi, set_name=set_name, per_person=ways), replace(how, **said))
    except TableError as error:
        more = error.readings[0][0] if error.readings else {}
        if {*more} == {"per_person"} and not more["per_person"].keys() <= ways.keys():
            chosen = {**options.get("per_person", {}), **more["per_person"]}
            return works(source, roles, how, {**options, "per_person": chosen})
        if "id_column" in options or "id_column" not in more or {"fill_id", "per_person"} & more.keys():
            raise  # what differs within many persons says nothing of them
        return works(source, roles, how, {**options, **more})
    return options


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
            hint=faces("Name the column for them: --set diagnoses.", 'Such as set="diagnoses".'),
        )


def _known_column(column: TextColumn, known: Known, place: Callable[[int], str], how: How) -> QuasiIdentifier:
    """Make a quasi-identifier: numeric if said, or if nothing was said and its values are numbers."""
    missing = {*known.missing, *how.lacking.named(column.name)}
    labels = tuple(MISSING if label in missing else label for label in column.labels)
    whole = known.kind is None and known.ranges is None and not any("," in label for label in labels)
    if not known.has_hierarchy and known.kind != "categorical" and not whole:
        column, labels = _with_points(column, labels, how.decimal)
    column = TextColumn(column.name, column.codes, labels)
    make = partial(quasi_identifier, column.name, column.codes, labels, weight=known.weight, place=place)
    tree: Any = known.hierarchy  # read before
    if tree is not None:
        return make(numeric=known.kind == "numeric", parents=parents_of(tree), built=is_computed(tree))
    if known.ranges is not None or known.kind == "numeric":
        plain = _bounded(make(numeric=True), known.bounds)
        if known.ranges is None:
            return plain
        width = _usual_width(plain) if isinstance(known.ranges, bool) else known.ranges
        return make(numeric=True, parents=ranges(column.labels, width), built=True)
    if known.levels is not None:
        return make(parents=known.levels.parents_of(column.name, column.labels), built=True)
    if known.kind is None:
        _refuse_few_texts(column, place)
    return _bounded(make(numeric=known.kind is None and are_numbers(column.labels)), known.bounds)


def _bounded(column: QuasiIdentifier, bounds: tuple[Fraction, Fraction] | None) -> QuasiIdentifier:
    """Declare the bounds of a column of numbers, and refuse values beyond them."""
    if bounds is None:
        return column
    if not column.numeric:
        raise RequestError(
            f"Column {shorten(column.name)} has bounds, but its values are no numbers.",
            hint="Omit the bounds.",
        )
    low, high = bounds
    rows = np.bincount(column.codes, minlength=column.n_values).tolist()
    beyond = sum(n for number, n in _rows_of(column, rows).items() if not low <= number <= high)
    if beyond:
        raise DataError(
            f"Column {shorten(column.name)}: {count(beyond, 'value')} beyond the bounds "
            f"{written(low)} and {written(high)}.",
            hint="Correct such values, or declare wider bounds.",
        )
    return replace(column, bounds=bounds)


def _rows_of(column: QuasiIdentifier, rows: list[int]) -> dict[Fraction, int]:
    first = int(column.missing)
    return {Fraction(column.labels[v]): rows[v] for v in range(first, column.n_values)}


def _usual_width(column: QuasiIdentifier) -> Fraction:
    """Choose the width of ranges such that no single row decides it."""
    rows = np.bincount(column.codes, minlength=column.n_values).tolist()
    return width_for(_rows_of(column, rows), FEWEST, column.bounds)


def _with_points(
    column: TextColumn, labels: Sequence[str], decimal: str | None
) -> tuple[TextColumn, tuple[str, ...]]:
    """Write numbers with decimal commas with points; those that are then the same become one value."""
    from setveil.rows.data.decimals import with_points

    pointed = with_points(labels, decimal, (MISSING,))
    if pointed == list(labels):
        return column, tuple(labels)
    numbers: dict[str, int] = {}
    image = [numbers.setdefault(label, len(numbers)) for label in pointed]
    return TextColumn(column.name, np.array(image, np.int32)[column.codes], tuple(numbers)), tuple(numbers)


def _refuse_few_texts(column: TextColumn, place: Callable[[int], str]) -> None:
    """Refuse a column of numbers among which are a few texts: as categories it would lose all its order."""
    numbers = [bool(PLAIN_NUMBER.fullmatch(label)) for label in column.labels]
    texts = [
        at for at, label in enumerate(column.labels) if label != MISSING and not _NUMBER.fullmatch(label)
    ]
    if (
        sum(numbers) < FEW
        or not texts
        or sum(numbers) + len(texts) + (MISSING in column.labels) < len(numbers)
    ):
        return  # codes, of which some begin with a zero
    times = np.bincount(column.codes, minlength=len(column.labels))
    rows, others = int(times[np.array(numbers)].sum()), int(times[texts].sum())
    if others > (1 - SURE) * (rows + others) and len(texts) > _FEW_TEXTS:
        return
    name, shown = column.name, [column.labels[at] for at in sorted(texts, key=lambda at: -times[at])]
    at = int(np.flatnonzero(np.isin(column.codes, texts))[0])
    missing = shlex.join(["--missing", f"{name}={','.join(map(as_field, shown))}"])
    tree = shlex.join(["--hierarchy", f"{name}=FILE"])
    codes = shlex.join(["--categorical", as_field(name)])
    raise DataError(
        f"{place(at)}: column {shorten(name)} contains numbers, but {count(others, 'row')} of "
        f"{count(rows + others)} {'contains' if others == 1 else 'contain'} {listed(shown)}.",
        hint=f"Say what these are: {missing} where no value is known; {tree} with a hierarchy of all values "
        f"where they are bands such as 90+; or {codes} if the numbers are names only.",
    )


def parents_of(tree: Hierarchy) -> dict[str, str | None]:
    """Name the parent of each node of a hierarchy."""
    return {
        label: None if up < 0 else tree.labels[up]
        for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
    }


def sentence(table: Table, roles: Roles) -> str:
    """Say what was read: ``table, one row per line; known: age (numbers), sex; items: codes``."""
    known = [
        f"{column.name} ({_form(column, about)})"
        for column, about in zip(table.columns, roles.qi.values(), strict=True)
    ]
    row = table.origin.row if table.origin else "line"
    said = [f"table, one row per {row}; quasi-identifiers: {', '.join(known)}; items: {table.set_name}"]
    if table.origin and (also := table.origin.written.get("also")):
        said[0] += f", with items of {', '.join(also)}"
    if table.kept:
        said.append(f"kept as they are: {', '.join(column.name for column in table.kept)}")
    named = [*roles.drop, table.origin.id_column if table.origin else None]
    unnamed = [name for name in table.dropped if name not in named]
    if unnamed:
        said.append(f"dropped, having no role: {', '.join(unnamed)}")
    return "; ".join(said)


def _form(column: QuasiIdentifier, known: Known) -> str:
    kind = "numbers" if column.numeric else "categories"
    if known.levels is not None:
        return f"{kind} grouped by {known.levels.way}"
    if known.hierarchy is not None:
        return f"{kind} with a hierarchy"
    if known.ranges is not None:
        return f"{kind} with built ranges"
    return kind


def warnings_of(table: Table) -> list[str]:
    """Say what may give people away although no guarantee covers it: kept values that a single row has."""
    said = []
    for column, rows in zip(table.kept, table.kept_once(), strict=True):
        if rows:
            said.append(
                f"Column {shorten(column.name)} is published as it is, and {count(rows, 'row')} "
                f"{'has' if rows == 1 else 'have'} a value there that no other row has: someone who knows it "
                "finds the row."
            )
    return said


def flat_columns(table: Table) -> list[tuple[QuasiIdentifier, Levels | None]]:
    """List the columns that have no groups of their values, and a way to make some."""
    found = []
    for column in table.columns:
        values = column.labels[int(column.missing) : column.n_values]
        codes = column.parent is None and is_place(column.name) and len({*map(len, values)}) == 1
        if is_flat(column) or (codes and len(values[0]) > _SHORT_CODES):
            found.append((column, likely_levels(values)))
    return found


def flat_notes(table: Table) -> list[str]:
    """Say which columns lack groups of their values, and the option that makes some."""
    said = []
    for column, levels in flat_columns(table):
        values = count(column.n_values - column.missing, "value")
        lacking = f"no groups of them: what is not published as it is becomes {column.labels[-1]}"
        if column.parent is None:
            lacking = "is taken for numbers: they become ranges from one value to another"
        option = shlex.join(["--hierarchy", f"{column.name}={levels or 'FILE'}"])
        how = "names groups" if levels is None else _GROUPS[levels.way]
        said.append(f"Column {shorten(column.name)} has {values} and {lacking}. {option} {how}.")
    return said
