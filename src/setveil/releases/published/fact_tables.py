"""Published tables whose items are facts: how they are written, read back and checked for overlaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from setveil.base.errors import DataError, listed, shorten
from setveil.base.values.per_column import item_of
from setveil.kernels.rows import frozen
from setveil.releases.published.boxes import Fact
from setveil.releases.published.facts import (
    FactRows,
    ShownColumn,
    box_sizes,
    boxes_with_others,
    domain_of,
    facts_record,
    is_domain_public,
    label_of,
    lines_in,
    read_parts,
    with_all_codes,
    with_boxes,
    with_codes_listed,
    write_codes,
    write_lines,
)
from setveil.releases.published.listing import MEMBERS_FILE
from setveil.releases.published.table_files import (
    ITEMS_FILE,
    PublishedTable,
    set_name_of,
    write_rows,
)
from setveil.releases.published.table_release import TableRelease
from setveil.rows.data.columns import joined
from setveil.rows.data.lacking import PUBLISHED
from setveil.rows.data.named_columns import Column
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.columns import TableColumns, read_columns
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import Split

if TYPE_CHECKING:
    from setveil.rows.data.sums import Sums
    from setveil.rows.facts.tables import FactTable
    from setveil.rows.hierarchy.boxes import BoxTree
    from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True, eq=False)
class FactTableRelease(TableRelease):
    """A table as published whose items are facts: there the parts of labels represent values."""

    original: FactTable

    @property
    def facts(self) -> FactRows:
        """The published facts."""
        return cast("FactRows", self.table.sets)

    def _with_facts(self, facts: FactRows) -> Self:
        return replace(self, table=replace(self.table, sets=facts))

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same as of other tables, and what the parts of facts are."""
        parts = facts_record(self.facts, self.original.facts.columns, report)
        return {**super().about(report), "facts": parts}

    def _is_domain_public(self, report: Mapping[str, Any]) -> bool:
        """Return whether the number of facts says nothing of the data."""
        return is_domain_public(self.facts, report)

    def with_others(self, _members: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the boxes that may have codes that about.json does not list."""
        return boxes_with_others(self.facts)

    def label_sizes(self) -> dict[str, int]:
        """Return how many facts each box may represent."""
        return box_sizes(self.facts)

    def with_listing(self, data: Sums, tree: Hierarchy | None, least: int) -> Self:
        """Let about.json list only codes that enough rows contain (see `published.facts`)."""
        boxes = cast("BoxTree", self.labelled.tree_of(tree))
        return self._with_facts(with_codes_listed(self.facts, self.original.facts, boxes, least))

    def meaning(self) -> dict[str, Any]:
        """Return the recoding and how many facts there can be; boxes say the rest."""
        return {"recoding": self.recoding.kind, "domain": domain_of(self.facts), "labels": {}}

    def with_all_members(self) -> Self:
        """Let about.json list all codes of labels."""
        return self._with_facts(with_all_codes(self.facts))

    def _write_long(self, folder: Path, name: str) -> None:
        """Write the columns of people, and a line for each fact with the number of the row in a column."""
        write_rows(folder, self.table, name, self.set_names)
        write_lines(folder / ITEMS_FILE, self.facts, name)

    def _item_columns(self) -> list[tuple[str, Transactions]]:
        """List the columns of codes, by name; one column of facts is written as it is."""
        columns = super()._item_columns()
        return columns if len(self.facts.columns) == 1 else columns_of_codes(self.facts)

    def _write_members(self, folder: Path) -> None:
        """Write members.json: all codes of each label, if about.json lists only some."""
        write_codes(folder / MEMBERS_FILE, self.facts)


def columns_of_codes(sets: FactRows) -> list[tuple[str, Transactions]]:
    """List the columns of codes as they are written, by name."""
    found = []
    row = np.repeat(np.arange(sets.n_rows), sets.row_lengths())
    for at, column in enumerate(sets.columns):
        mine = sets.column[sets.items] == at
        indptr, items = joined(row[mine], sets.items[mine].astype(np.int64), sets.n_rows)
        labels = [item_of(x) if sets.column[i] == at else "" for i, x in enumerate(sets.vocabulary.labels)]
        found.append((column.name, Transactions.from_codes(indptr, items, labels)))
    return found


def header_of(header: tuple[str, ...], set_name: str, names: list[str]) -> tuple[str, ...]:
    """Put the names of the columns of codes where the one of their facts stands."""
    return tuple(one for name in header for one in (names if name == set_name else [name]))


def read_facts_table(file: Path, about: Mapping[str, Any]) -> tuple[PublishedTable, tuple[str, ...]]:
    """Read a published table of facts, with the columns that its about.json omits."""
    columns, sign = read_parts(file.parent / "about.json", about)
    roles, second = about["roles"], about.get("items_file")
    names = [*roles["qi"], *roles["keep"]]
    box_of: dict[str, tuple[int, Fact]] = {}
    how = How(format="csv", separator=",", delimiter=about["delimiter"], id_column=about.get("id_column"))
    if second:
        how = How(format="csv", separator=",", items=file.parent / second, id_column=how.id_column)

        def facts(ids: Column, name: str, how: How) -> tuple[Split, str, tuple[()]]:
            return _split_lines(Path(how.items), ids, name, columns, sign, box_of), ITEMS_FILE, ()

        how = replace(how, lacking=PUBLISHED)
        read = read_columns(file, names, _set_names(roles)[0], how, second=facts)
        sets, used = read.sets, []
    else:
        parts = [read_columns(file, names, name, how) for name in _set_names(roles)]
        read, used = parts[0], [part.set_name for part in parts]
        sets = _together(file, parts, columns, sign, box_of)
    rows = with_boxes(sets, box_of, columns, sign)
    known = [column.name for column in read.texts]
    place = {name: at for at, name in enumerate(read.header)}
    shown = sorted([*known, *used], key=lambda name: place[name])
    ignored = tuple(name for name in read.header if name not in (*shown, read.id_column))
    table = PublishedTable(
        read.texts[: len(roles["qi"])], rows, read.texts[len(roles["qi"]) :],
        (*shown, *(_set_names(roles) if second else [])), set_name_of(roles), about["delimiter"],
    )  # fmt: skip
    return table, ignored


def _set_names(roles: Mapping[str, Any]) -> list[str]:
    return [roles["set"]] if isinstance(roles["set"], str) else list(roles["set"])


def _together(
    file: Path,
    parts: list[TableColumns],
    columns: tuple[ShownColumn, ...],
    sign: str,
    box_of: dict[str, tuple[int, Fact]],
) -> Transactions:
    """Put the facts of all columns of codes together, with the names of these before them."""
    if len(parts) != len(columns) or any(
        part.set_name != one.name for part, one in zip(parts, columns, strict=True)
    ):
        raise DataError(
            f"{file.parent / 'about.json'} is not an about.json that setveil wrote: roles and facts name "
            "different columns of codes."
        )
    set_names = [one.name for one in columns]
    labels: list[str] = []
    row, items = [], []
    for at, (part, column) in enumerate(zip(parts, columns, strict=True)):
        before = len(labels)
        for text in part.sets.vocabulary.labels:
            box = tuple(text.split(sign))
            if len(box) != len(column.part_names) or not all(box):
                raise DataError(
                    f"{file}, column {shorten(part.set_name)}: found {shorten(text)}, expected "
                    f"{listed(list(column.part_names))} with {sign!r} between them.",
                    hint="The two files must come from the same release.",
                )
            labels.append(label_of(set_names, at, box, sign))
            box_of[labels[-1]] = at, box
        row.append(np.repeat(np.arange(part.sets.n_rows), part.sets.row_lengths()))
        items.append(part.sets.items.astype(np.int64) + before)
    indptr, codes = joined(np.concatenate(row), np.concatenate(items), parts[0].sets.n_rows)
    return Transactions.from_codes(indptr, codes, labels)


def _split_lines(
    file: Path,
    ids: Column,
    name: str,
    columns: tuple[ShownColumn, ...],
    sign: str,
    box_of: dict[str, tuple[int, Fact]],
) -> Split:
    """Take the facts of each row from the lines of a second file."""
    row_of = {ids.labels[code]: row for row, code in enumerate(ids.codes.tolist())}
    numbers: dict[str, int] = {}
    rows, codes = [], []
    for row, label, found, where in lines_in(file, columns, sign, name):
        if row not in row_of:
            raise DataError(
                f"{where}: found row {shorten(row)}, which is not in data.csv.",
                hint="The two files must come from the same release.",
            )
        box_of[label] = found
        rows.append(row_of[row])
        codes.append(numbers.setdefault(label, len(numbers)))
    indptr, found_codes = joined(np.array(rows, np.int64), np.array(codes, np.int64), ids.codes.size)
    return indptr, frozen(found_codes, np.int64), list(numbers)
