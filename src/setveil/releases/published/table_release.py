"""A published table: columns under broader labels or ranges, and a column of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError
from setveil.releases.published import KindInfo, MadeRelease
from setveil.releases.published.counts import Counts
from setveil.releases.published.listing import MEMBERS_FILE, Listing, others_of
from setveil.releases.published.parts import Parts, TableCut
from setveil.releases.published.recoding import (
    TABLE_GLOBAL,
    TABLE_LOCAL,
    AnyRecoding,
    LocalRecoding,
    Recoding,
)
from setveil.releases.published.rows import write_members
from setveil.releases.published.table_files import (
    DATA_FILE,
    ITEMS_FILE,
    PublishedTable,
    require_no_facts,
    write_long,
    write_table,
)
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Original, Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier
from setveil.rows.tables.table import Table


def _shared_sums(table: PublishedTable, counts: Any, about: Mapping[str, Any], _layout: Layout | None) -> Any:
    """Take what is shared of the items of a table."""
    from setveil.releases.published.shared import Shared, layout_of_sets

    require_no_facts({"facts": ()} if table.sets.has_facts else {})
    members = {label: tuple(items) for label, items in about["labels"].items()}
    made = {TABLE_LOCAL: LocalRecoding.kind, TABLE_GLOBAL: Recoding.kind}[about["recoding"]]
    about = {**about, "recoding": made}
    return Shared(table.sets, members, counts, about, layout_of_sets(table.delimiter), table)


TABLE = KindInfo(
    title="a table",
    recodings=(TABLE_LOCAL, TABLE_GLOBAL),
    shown=PublishedTable,
    means="roles",
    asks=(
        "queries", "query_size", "queries_file", "risk_m", "estimator", "rules", "confidence", "rule_length",
    ),
    format="table",
    by_labels=True,
    unsplit="an item may be published under several labels",
    short="tables",
    shared_sums=_shared_sums,
    drawn=_shared_sums,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TableRecoding:
    """The recoding of a table's columns and items."""

    made: Parts | TableCut  # how columns and items were recoded
    # int64 (n_rows,), read-only: part of each row of the input; one part where all rows were recoded alike
    part: NDArray[np.int64]

    @property
    def kind(self) -> str:
        """Its name in about.json and report.json."""
        return self.made.kind

    @property
    def items(self) -> AnyRecoding:
        """The recoding of the items."""
        return self.made.items


@dataclass(frozen=True, eq=False)
class TableRelease(MadeRelease):
    """A table as published, with what was made of it (see `setveil.releases.published.Release`)."""

    original: Table
    table: PublishedTable
    recoding: TableRecoding
    row_map: NDArray[np.int64]
    details: dict[str, Any] = field(default_factory=dict)
    counts: Counts | None = None
    listing: Listing | None = None  # items that about.json may list below labels; None: all of them

    info: ClassVar[KindInfo] = TABLE

    @property
    def published(self) -> Transactions:
        """The items of each published row."""
        return self.table.sets

    @property
    def labelled(self) -> AnyRecoding:
        """The recoding of the items."""
        return self.recoding.items

    def exposed(self) -> PublishedTable:
        """Return the table."""
        return self.table

    def measurable(self) -> dict[str, Any]:
        """Return items, their recoding and counts, and the table with the map of its rows."""
        return {
            "kind": self.recoding.kind,
            "published": self.published,
            "recoding": self.recoding.items,
            "counts": self.counts,
            "table": self.table,
            "row_map": self.row_map,
        }

    def image(self) -> Mapping[str, str | None]:
        """Refuse to name one label for each item where parts have their own."""
        items = self.recoding.items
        if not items.uniform:
            raise DataError("An item may be published under several labels here.")
        return self.recoding.made.images(self.original)[0]

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return roles of the columns, what each label represents, and the number of items that exist."""
        table, tree, said = self.table, report["hierarchy"], self.meaning()
        of_the_data = (
            tree is None
            or self.listing is not None
            or (tree["source"] == "co-occurrence" and said["domain"] == report["input"]["items"])
            or not self._is_domain_public(report)
        )
        return {
            "roles": {
                "qi": [column.name for column in table.columns],
                "set": self.set_names[0] if len(self.set_names) == 1 else list(self.set_names),
                "keep": [column.name for column in table.kept],
            },
            "delimiter": table.delimiter,
            "columns": {
                column.name: _values_of(original, column.labels)
                for original, column in zip(self.original.columns, table.columns, strict=True)
            },
            **({} if of_the_data else {"domain": said["domain"]}),
            **({} if self.counts is None else {"counts": self.counts.about()}),
            "labels": said["labels"],
            **({"others": said["others"]} if "others" in said else {}),
        }

    def _is_domain_public(self, _report: Mapping[str, Any]) -> bool:
        """Return whether the number of items that exist says nothing more of the data."""
        return True

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of items; facts may have several."""
        return self.original.set_names

    def with_others(self, members: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the labels that may have members that about.json does not list."""
        return others_of(self.listing, members)

    def with_listing(self, data: Sums, tree: Hierarchy | None, least: int) -> Self:
        """Let about.json list only items that enough rows contain, unless the hierarchy lists them."""
        return replace(self, listing=self.labelled.listing(data, tree, least))

    def promised(self) -> dict[str, Any]:
        """Return the recoding."""
        return {"recoding": self.recoding.kind}

    def meaning(self) -> dict[str, Any]:
        """Return what labels of items mean in the terms of about.json (see `RowsRelease.meaning`)."""
        items = self.recoding.items
        members = self.members()
        listed = {"labels": members} if self.listing is None else self.listing.about(members)
        return {"recoding": self.recoding.kind, "domain": items.domain, **listed}

    def members(self) -> dict[str, list[str]]:
        """List all members of each label of items. Internal: about.json may list only some."""
        items = self.recoding.items
        own, members = set(items.items.labels), items.members()
        return {x: members[x] for x in self.published.vocabulary.labels if x not in own}

    def with_all_members(self) -> Self:
        """Let about.json list all items of labels."""
        return replace(self, listing=None)

    def recorded(self, _data: Original) -> dict[str, Any]:
        """Describe the columns of a table, and how they are published."""
        original, table = self.original, self.table
        rows = [np.bincount(column.codes, minlength=len(column.labels)) for column in table.kept]
        record = {
            "set": table.set_name,
            "columns": [
                {
                    "name": column.name,
                    "kind": "numeric" if column.numeric else "categorical",
                    "published_as": "ranges" if column.parent is None else "nodes",
                    "values": column.n_values,
                    "missing": int((column.codes == 0).sum()) if column.missing else 0,
                    "weight": float(column.weight),
                    "labels": len(shown.labels),
                    "levels": column.levels,
                }
                for column, shown in zip(original.columns, table.columns, strict=True)
            ],
            "kept": [
                {"name": column.name, "values": len(column.labels), "unique": int((of == 1).sum())}
                for column, of in zip(table.kept, rows, strict=True)
            ],
            "dropped": list(original.dropped),
        }
        return {"table": record}

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Choose one file with a field of items, or (long) a second one with a line for each item."""
        if wanted not in (None, "long", "wide"):
            raise RequestError(
                f"A table is published as csv, not as {wanted}.",
                hint="Omit the format, or choose long: the items in a file of their own.",
            )
        return Layout("wide" if wanted is None else wanted)

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write the table, and the counts if there are any."""
        read_as = {"format": TABLE.format}
        if layout.format == "long" and self.published.n_occurrences:  # else there is nothing to list
            name = next(
                name for name in ("id", "row", "row_id", "row_number") if name not in self.table.header
            )
            self._write_long(folder, name)
            read_as |= {"items_file": ITEMS_FILE, "id_column": name}
        else:
            write_table(folder / DATA_FILE, self.table, self._item_columns())
        if self.counts is not None:
            self.counts.write(folder)
        return DATA_FILE, read_as

    def _write_long(self, folder: Path, name: str) -> None:
        """Write the columns of people, and a line for each item with the number of the row in a column."""
        write_long(folder, self.table, name)

    def _item_columns(self) -> list[tuple[str, Transactions]]:
        """List the columns of items as they are written, by name."""
        return [(self.table.set_name, self.table.sets)]

    def _write_members(self, folder: Path) -> None:
        """Write members.json: all items of each label, if about.json lists only some."""
        if self.listing is not None and self.listing.is_partial(members := self.members()):
            write_members(folder / MEMBERS_FILE, members, self.meaning()["domain"])

    def write_inside(self, folder: Path) -> None:
        """Write what each part, or each value and item, became."""
        self._write_members(folder)
        self.recoding.made.write(folder, self.original, self.table, self.row_map)


def _values_of(column: QuasiIdentifier, labels: tuple[str, ...]) -> dict[str, list[str]]:
    """List the values of each label of several, for a column with a hierarchy of the user's.

    A hierarchy made from the data would reveal which values occur there.
    """
    if not column.has_own_tree:
        return {}
    ids = {label: v for v, label in enumerate(column.labels)}
    inner = [v for v in (ids[label] for label in labels) if v >= column.n_values]
    spans = {column.labels[v]: (column.low[v], column.high[v]) for v in inner}
    return {
        label: [value for value in column.labels[low:high] if value != MISSING]
        for label, (low, high) in spans.items()
    }
