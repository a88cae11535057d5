"""Tables: columns under broader labels or ranges, and a column of items, recoded in parts or by one cut."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, faces, listed
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import frozen, recode_rows, take_rows
from setveil.releases.published import KindInfo, MadeRelease
from setveil.releases.published.about import (
    about_beside,
    about_file,
    published_file,
    published_layout,
    read_about,
    require_columns,
    require_size,
)
from setveil.releases.published.as_written import require_table_as_written
from setveil.releases.published.counts import Counts, read_counts
from setveil.releases.published.fact_tables import (
    columns_of_codes,
    header_of,
    read_facts_table,
    require_no_facts,
    set_name_of,
)
from setveil.releases.published.facts import (
    FactRows,
    as_boxes,
    box_sizes,
    boxes_with_others,
    domain_of,
    facts_record,
    is_domain_public,
    with_all_codes,
    with_codes_listed,
    write_codes,
    write_lines,
)
from setveil.releases.published.listing import MEMBERS_FILE, Listing, others_of
from setveil.releases.published.parts import Parts, TableCut
from setveil.releases.published.recoding import (
    TABLE_GLOBAL,
    TABLE_LOCAL,
    AnyBoxes,
    AnyRecoding,
    LocalRecoding,
    Recoding,
    recode,
)
from setveil.releases.published.rows import (
    all_members,
    local_recoding_of,
    read_row_map,
    recoding_of,
    shuffled,
    write_members,
)
from setveil.releases.published.table_files import (
    DATA_FILE,
    ITEMS_FILE,
    PublishedTable,
    read_published_table,
    write_long,
    write_rows,
    write_table,
)
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Original, Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.facts.facts import Facts
from setveil.rows.facts.tables import FactTable
from setveil.rows.hierarchy.boxes import BoxTree
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.how import How
from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier
from setveil.rows.tables.table import Table, TextColumn


def _shared_sums(table: PublishedTable, counts: Any, about: Mapping[str, Any], _layout: Layout | None) -> Any:
    """Take what is shared of the items of a table."""
    from setveil.releases.published.shared import Shared, layout_of_sets

    require_no_facts({"facts": ()} if table.sets.has_facts else {})
    members = {label: tuple(items) for label, items in about["labels"].items()}
    made = {TABLE_LOCAL: LocalRecoding.kind, TABLE_GLOBAL: Recoding.kind}[about["recoding"]]
    about = {**about, "recoding": made}
    return Shared(table.sets, members, counts, about, layout_of_sets(table.delimiter), table)


info = KindInfo(
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

    info: ClassVar[KindInfo] = info

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
        read_as = {"format": info.format}
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


def publish(
    data: Table,
    made: Parts | TableCut,
    seed: int,
    details: dict[str, Any] | None = None,
    least: int = 0,
) -> TableRelease:
    """Recode the table, sort its rows by content, kept columns included, and shuffle them."""
    columns = [
        _in_order(column.name, *labels)
        for column, labels in zip(data.columns, made.column_labels(data), strict=True)
    ]
    kept = [_in_order(column.name, column.codes, list(column.labels)) for column in data.kept]
    recoded = recode(data, made.items)
    used = np.bincount(recoded.items, minlength=recoded.n_items) > 0
    shown = [label for label, u in zip(recoded.vocabulary.labels, used.tolist(), strict=True) if u]
    labels = Vocabulary(item_order(shown))
    ids = labels.ids
    image = np.array([ids.get(label, -1) for label in recoded.vocabulary.labels], np.int32)
    indptr, items = recode_rows(recoded.indptr, recoded.items, image)

    sets, header = Transactions(indptr, items, labels), data.header
    kind: type[TableRelease] = TableRelease
    facts: Facts | None = data.facts
    if facts is not None and made.items.labels_from == "boxes":
        sets = as_boxes(sets, cast("AnyBoxes", made.items).tree, facts.columns, facts.sign)
        header = header_of(header, data.set_name, list(data.set_names))
        kind = FactTableRelease

    content = merge_rows_by_content(indptr, items)[0]
    keys: list[NDArray[np.integer]] = [content, *(column.codes for column in (*columns, *kept))]
    order, row_map = shuffled(np.lexsort(keys), seed)
    table = PublishedTable(
        tuple(_taken(column, order) for column in columns),
        _with_rows(sets, *take_rows(indptr, items, order)),
        tuple(_taken(column, order) for column in kept),
        header,
        data.set_name,
        data.delimiter,
    )
    apart = made.seen_apart(table, row_map)
    counts = Counts.of(data, made.items, least, filled=_filled(indptr, apart, least)) if least else None
    recoding = TableRecoding(made, frozen(made.parts_of(data), np.int64))
    return kind(data, table, recoding, frozen(row_map, np.int64), details or {}, counts)


def _with_rows(sets: Transactions, indptr: NDArray[np.int64], items: NDArray[np.int32]) -> Transactions:
    """Put other rows of the same labels in place of those that are there."""
    return replace(sets, indptr=indptr, items=items)


def _filled(indptr: NDArray[np.int64], part: NDArray[np.int64], least: int) -> int:
    """Count rows published with items; if some part has too few without, all rows but one.

    Those few rows would reveal its suppressed items (docs/tables.md).
    """
    empty = np.diff(indptr) == 0
    in_part = np.bincount(part[empty])
    if ((in_part > 0) & (in_part < least)).any():
        return int(empty.size) - 1
    return int(np.count_nonzero(~empty))


def _in_order(name: str, codes: NDArray[np.integer], labels: list[str]) -> TextColumn:
    """Make a column whose codes follow the order of its labels as texts."""
    used = np.zeros(len(labels), bool)
    used[codes] = True
    names = sorted(label for label, u in zip(labels, used.tolist(), strict=True) if u)
    ids = {label: at for at, label in enumerate(names)}
    image = np.array([ids.get(label, -1) for label in labels], np.int32)
    return TextColumn(name, frozen(image[codes], np.int32), tuple(names))


def _taken(column: TextColumn, order: NDArray[np.int64]) -> TextColumn:
    return TextColumn(column.name, frozen(column.codes[order], np.int32), column.labels)


def holds(path: Path) -> bool:
    """Return whether a file or folder contains a published table."""
    try:
        file = published_file(path)
    except DataError:
        return False
    return published_layout(about_file(file)).get("format") == info.format


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> PublishedTable:
    """Read a published table as the about.json next to it says."""
    file = published_file(Path(path))
    if not holds(file):
        raise DataError(
            f"{path}: no about.json names its quasi-identifiers and its column of items.",
            hint=faces("Name them: --qi age,sex --set codes.", "setveil.read_published_table names them."),
        )
    about = about_file(file)
    if "facts" in about and about.get("rows") != 0:
        table, ignored = read_facts_table(file, about)
        require_columns(str(file), ignored)
    else:
        table = _read(file, about)
    empty = int((table.sets.row_lengths() == 0).sum())
    require_size(about, str(file), table.n_rows, empty)
    return table


def _read(file: Path, about: Mapping[str, Any]) -> PublishedTable:
    if about.get("rows") == 0:
        return _read_empty(file, about)
    roles, second = about["roles"], about.get("items_file")
    how = How(
        format="csv",
        separator=",",
        delimiter=about["delimiter"],
        items=file.parent / second if second else None,
        id_column=about.get("id_column"),
    )
    table = read_published_table(file, roles["qi"], roles["set"], roles["keep"], how)
    require_columns(str(file), table.ignored)
    require_table_as_written(file, table, second)
    return table


def _read_empty(file: Path, about: Mapping[str, Any]) -> PublishedTable:
    """Read a table without rows, from its header alone."""
    roles = about["roles"]
    sets = [roles["set"]] if isinstance(roles["set"], str) else roles["set"]
    names = {*roles["qi"], *roles["keep"], *sets}
    lines = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline="")))
    if len(lines) != 1 or {*lines[0]} != names:
        raise DataError(
            f"{file} is not the header of {listed(sorted(names))} alone, as its about.json says.",
            hint="The two files must come from the same release.",
        )
    nobody = frozen(np.zeros(0), np.int32)
    nothing = Transactions(frozen(np.zeros(1), np.int64), nobody, Vocabulary(()))
    known, kept = (tuple(TextColumn(name, nobody, ()) for name in roles[role]) for role in ("qi", "keep"))
    return PublishedTable(known, nothing, kept, tuple(lines[0]), set_name_of(roles), about["delimiter"])


def measurable(path: str, exposed: PublishedTable, original: Transactions, _tree: object) -> dict[str, Any]:
    """Return what measures need of a table that was read from the folder of a run."""
    if not original.is_table:
        raise DataError(
            "The release is a table, and the original was read as rows of items.",
            hint="Read the original with the same roles: --qi, --set.",
        )
    about = about_beside(path)
    if about is None:
        raise DataError(f"There is no about.json next to {path} to say what its labels represent.")
    content = read_about(about)
    require_no_facts(content)
    row_map = read_row_map(about.parent.parent / "internal" / "rows.csv", original.n_rows, exposed.n_rows)
    labels, domain = all_members(about, content, original)
    recoding: AnyRecoding
    if content["recoding"] == TABLE_GLOBAL:
        recoding = recoding_of(original, exposed.sets, labels, domain)
    else:
        recoding = local_recoding_of(original, exposed.sets, labels, domain, row_map)
    return {
        "kind": content["recoding"],
        "published": exposed.sets,
        "recoding": recoding,
        "counts": read_counts(about.parent, content),
        "table": exposed,
        "row_map": row_map,
    }
