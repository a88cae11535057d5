"""Tables of facts: persons with columns that someone may know, and codes with dates and amounts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.base.wording import are, count
from setveil.kernels.rows import frozen
from setveil.rows.data.columns import joined
from setveil.rows.data.io.source import file_of
from setveil.rows.data.named_columns import Column
from setveil.rows.data.skipped import NO_LINES
from setveil.rows.facts.facts import Facts
from setveil.rows.facts.lines import FactLines
from setveil.rows.facts.read import facts_of_lines, parts_said
from setveil.rows.facts.request import FactsRequest
from setveil.rows.tables.columns import TableColumns, read_columns
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import Split
from setveil.rows.tables.read import make_table
from setveil.rows.tables.roles import Roles, two_roles
from setveil.rows.tables.table import Table

FACTS = "facts"  # what the facts of several columns of codes are called together


@dataclass(frozen=True, eq=False, repr=False)
class FactTable(Table):
    """A table whose items are facts, made by `setveil.read_facts` if some columns are quasi-identifiers.

    `of_items`: what its items are; `facts` has these facts in the rows of the table.
    """

    of_items: Facts = field(kw_only=True)

    has_facts: ClassVar[bool] = True

    @classmethod
    def of(cls, table: Table, facts: Facts) -> FactTable:
        """Say of a table what the facts are that its items represent."""
        ids = facts.vocabulary.ids
        place = [ids[label] for label in table.vocabulary.labels]
        column, parts = (frozen(of[place], np.int32) for of in (facts.column, facts.parts))
        said = {one.name: getattr(table, one.name) for one in fields(Table)}
        return cls(**said, of_items=replace(facts, column=column, parts=parts))

    @property
    def facts(self) -> Facts:
        """The facts of each row, without its other columns."""
        return replace(
            self.of_items, indptr=self.indptr, items=self.items, vocabulary=self.vocabulary,
            origin=self.origin, personal=self.personal,
        )  # fmt: skip

    def drawn(self, rows: NDArray[np.int64]) -> FactTable:
        """Take some of the rows, with the facts that occur in them."""
        return cast("FactTable", self.rows_at(rows)).with_facts(self.facts.rows_at(rows))

    def with_facts(self, facts: Facts) -> FactTable:
        """Return other facts in place of these."""
        rows = replace(self, indptr=facts.indptr, items=facts.items, vocabulary=facts.vocabulary)
        return FactTable.of(rows, facts)

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of codes."""
        return self.of_items.set_names

    @property
    def m(self) -> int | None:
        """How many facts someone may know, if that was said of the columns: of several, of each."""
        return self.of_items.m


def read_table_of_facts(
    source: Any,
    roles: Roles,
    request: FactsRequest,
    how: How,
    *,
    fewest: int = 0,
    most: int | None = None,
    seed: int = 0,
) -> FactTable:
    """Read persons with their facts (see `setveil.read_facts`).

    `source`: persons; or, if `how` names no second table `items`, the lines of all events, each with the
    columns of the person. `how` must name `id_column`. `roles`: of the other columns; hierarchies must have
    been read.
    """
    start = time.perf_counter()
    _require_one_role(roles, request)
    if how.id_column is None:
        raise RequestError(
            "Nothing says whose facts these are: which lines are one person's.",
            hint="Name the column of ids: --id-column patient.",
        )
    opened = file_of(source) or source
    apart = how.items is not None
    how, events = _ways(roles, request, how)
    lines = FactLines.of(how.items if apart else opened, request, events)
    personal = lines.personal(events)
    facts = replace(
        facts_of_lines(lines, request, events, fewest),
        origin=lines.origin(request, events),
        personal=personal,
    )
    if most is not None:
        facts = facts.at_most(most, seed)
    used = set() if apart else {lines.opened.table.names[at] for at in lines.used}
    set_name = roles.set_name or FACTS
    how = replace(how, item_columns=None, items=lines.where, not_ids=(*how.not_ids, set_name))

    def read_as(source: Any, names: Sequence[str], _: Any, how: How, *, others: bool) -> TableColumns:
        found = read_columns(
            source, names, set_name, how, others=others, second=_joined_with(lines, facts, set_name)
        )
        return replace(found, others=tuple(one for one in found.others if one.name not in used))

    table = make_table(opened, replace(roles, set_name=set_name), how, read_as)
    origin = table.origin
    assert origin is not None  # noqa: S101  (tables know where they come from)
    dropped = tuple(name for name in table.dropped if name not in used - {how.id_column})
    shown = [lines.opened.table.names[at] for some in lines.items_at.values() for at in some]
    table = replace(
        table,
        dropped=dropped,
        personal=table.personal + personal,
        origin=replace(
            origin,
            files=(*origin.files, *(lines.opened.files if apart else ())),
            item_columns=tuple(shown),
            ignored_columns=tuple(name for name in origin.ignored_columns if name not in used),
            seconds=round(time.perf_counter() - start, 4),
        ),
    )
    return FactTable.of(table, facts)


def _ways(roles: Roles, request: FactsRequest, how: How) -> tuple[How, How]:
    events = replace(how, persons=(*roles.qi, *roles.keep))
    fact_columns = {how.id_column, *request.sets, *(one.column for one in request.attributes)}
    if how.items is not None:
        of_events = how.lacking.among(fact_columns)
        events = replace(events, items=None, format=None, separator=None, lines=NO_LINES, lacking=of_events)
    person_words = {name: words for name, words in how.lacking.of_columns.items() if name not in fact_columns}
    return replace(how, lacking=replace(how.lacking, of_columns=person_words)), events


def _require_one_role(roles: Roles, request: FactsRequest) -> None:
    """Refuse a column of codes, dates or amounts that has another role, too."""
    other = {**dict.fromkeys(roles.keep, "keep"), **dict.fromkeys(roles.qi, "qi")}
    for name in request.sets:
        if name in other:
            raise two_roles(name, "set", other[name])
    for one in request.attributes:
        if one.column in other:
            raise RequestError(
                f"Column {shorten(one.column)} has two roles, {other[one.column]} and part of a fact.",
                hint="A date or an amount belongs to each fact, or a column to each person.",
            )


def _joined_with(
    lines: FactLines, facts: Facts, set_name: str
) -> Callable[[Column, str, How], tuple[Split, str, tuple[()]]]:
    """Give each line of a table the facts of its id: one line of those of an id."""

    def second(ids: Column, name: str, how: How) -> tuple[Split, str, tuple[()]]:
        row_of = {ids.labels[code].strip(): row for row, code in enumerate(ids.codes.tolist())}
        rows = np.array([row_of.get(one.strip(), -1) for one in lines.persons], np.int64)
        if (rows < 0).any():
            unknown = [lines.persons[at] for at in np.flatnonzero(rows < 0).tolist()]
            raise DataError(
                f"{lines.first_line(int(np.argmax(rows < 0)))}: {count(len(unknown), 'id')} of column "
                f"{shorten(lines.opened.table.names[lines.id_at])} {are(len(unknown))} not in column "
                f"{shorten(name)} of the table of persons: {listed(unknown, 3)}.",
                hint="Each must be a person of the table: add their lines there, or omit their events.",
            )
        row = np.repeat(rows, facts.row_lengths())
        bounds, codes = joined(row, facts.items.astype(np.int64), ids.codes.size)
        return (bounds, codes, list(facts.vocabulary.labels)), set_name, ()

    return second


def sentence_of_table(table: FactTable, said: str) -> str:
    """Describe the input, given the description of the other columns."""
    kept = [part for part in said.split("; ") if not part.startswith("items: ")]
    empty = int((table.row_lengths() == 0).sum())
    parts = [kept[0].replace("table", "table of facts", 1), *kept[1:], *parts_said(table.facts)]
    return "; ".join([*parts, *([f"{count(empty, 'person', 'persons')} without facts"] if empty else [])])
