"""Tables: columns and a column of items, recoded in parts or by one cut; published, and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, faces, listed
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import frozen, recode_rows, take_rows
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
from setveil.releases.published.parts import Parts, TableCut
from setveil.releases.published.recoding import TABLE_GLOBAL, AnyBoxes, AnyRecoding, recode
from setveil.releases.published.rows import (
    all_members,
    local_recoding_of,
    read_row_map,
    recoding_of,
    shuffled,
)
from setveil.releases.published.table_files import (
    PublishedTable,
    read_published_table,
    require_no_facts,
    set_name_of,
)
from setveil.releases.published.table_release import TABLE, TableRecoding, TableRelease
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.tables.how import How
from setveil.rows.tables.table import Table, TextColumn

info = TABLE


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
    facts = data.facts
    if facts is not None and made.items.labels_from == "boxes":
        from setveil.releases.published.fact_tables import FactTableRelease, header_of
        from setveil.releases.published.facts import as_boxes

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
    """Count rows published with items; all but one, if too few without would reveal suppressed items."""
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
        from setveil.releases.published.fact_tables import read_facts_table

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
