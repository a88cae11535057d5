"""The rows of a file as they were read, and checks of them before they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError
from setveil.base.wording import are, count
from setveil.rows.data.columns import Codes, Wanted, as_field, split_names
from setveil.rows.data.events import NOBODY, UnusedColumns, require_lines_of_people, require_rows_of_people
from setveil.rows.data.ids import Values
from setveil.rows.data.lacking import Lacking, doubtful_noted, emptied, words_noted
from setveil.rows.data.layout import Layout
from setveil.rows.data.personal import Personal, PersonalColumn, items_of_columns
from setveil.rows.data.personal_places import personal_fields, places_of_ids
from setveil.rows.data.spelling import refuse_rounded
from setveil.rows.data.totals import refuse_total_items


@dataclass(frozen=True)
class RowsRead:
    """The content of one file, or of a piece of it."""

    # indptr, codes, labels: as `setveil.rows.data.transactions.Transactions.from_codes` takes them
    indptr: NDArray[np.int64]
    codes: NDArray[Any]
    labels: Sequence[str]
    layout: Layout  # how rows are written like this
    row: str = "line"  # what one row is, to be continued after "one row per"
    id_column: str | None = None
    item_columns: tuple[str, ...] = ()
    ignored_columns: tuple[str, ...] = ()
    ids: list[str] | None = field(default=None, repr=False)  # the id of each row; None: rows have none
    items: tuple[Values, ...] = field(default=(), repr=False)  # what the columns of items hold, line by line
    # the layout of a table whose cells contain several items, and what stands between these
    cells: tuple[Layout, str] | None = None
    lines: Codes | None = field(default=None, repr=False)  # the row of each line; None: a line is a row
    beside: UnusedColumns = field(default=NOBODY, repr=False)  # unused columns that may say whose rows are
    personal: tuple[PersonalColumn, ...] = field(default=(), repr=False)  # of columns that contain no items
    in_lists: tuple[PersonalColumn, ...] = ()  # of positions in the lists of columns of items
    written: Mapping[str, str] = field(default_factory=dict)  # options that were found, of how it is written
    kept: Codes | None = field(default=None, repr=False)  # lines that were not skipped; None: all
    notes: tuple[str, ...] = ()  # what was noticed or skipped while reading, and what means no item
    of_columns: bool = False  # whether words for no item were looked for column by column

    @cached_property
    def places(self) -> list[int]:
        """The positions of IDs, of rows of fields."""
        return places_of_ids(self.indptr, self.codes, self.labels)


def _is_of_columns(part: RowsRead) -> bool:
    """Return whether rows are made of columns with a role; else each is a line or list of fields."""
    by_layout = part.layout.format in {"long", "wide", "onehot"} or part.cells is not None
    by_column = part.layout.format == "parquet" and not part.layout.nested
    return by_layout or by_column or part.id_column is not None


def personal_in(part: RowsRead, not_ids: str | Sequence[str] | None = None) -> Personal:
    """Find what rows have of single persons, except in columns and fields that `not_ids` names."""
    if _is_of_columns(part):
        found = (*part.personal, *part.in_lists, *items_of_columns(part.items))
        return Personal(found).without(not_ids)
    fields = Personal((*part.personal, *personal_fields(part.indptr, part.codes, part.labels, part.places)))
    if set(part.item_columns) & set(split_names(not_ids) if isinstance(not_ids, str) else not_ids or ()):
        fields = Personal(part.personal)
    known = (*part.item_columns, *part.ignored_columns, *(column.named for column in part.personal))
    return fields.without(not_ids, known)


def refuse_rounded_column(where: str, column: str, codes: Codes, labels: Sequence[str], what: str) -> None:
    """Raise if values of a column are numbers that a spreadsheet has rounded (see `refuse_rounded`)."""
    if any("+" in label for label in labels):
        times = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
        counted = {label: n for label, n in zip(labels, times, strict=True) if n}
        refuse_rounded(where, column, counted, what)


def without_words(part: RowsRead, where: str, lacking: Lacking) -> RowsRead:
    """Omit words that mean that there is no item, unless that was done column by column."""
    if not part.of_columns:
        used = [*part.item_columns, *([part.id_column] if part.id_column else [])]
        lacking.require([*used, *part.ignored_columns], used, where)
        name = next(iter(part.item_columns), "")
        codes, words = emptied(np.asarray(part.codes), part.labels, lacking.words(name))
        part = replace(part, codes=codes, notes=(*part.notes, words_noted(words, name, "value")))
        refuse_total_items(where, name, codes, part.labels, lacking)
        part = replace(part, notes=(*part.notes, *doubtful_noted(codes, part.labels, name, lacking, "value")))
    if lacking.missing_item == "stop":
        filled = np.concatenate([[0], np.cumsum(np.asarray(part.codes) >= 0)])
        empty = int((filled[part.indptr[1:]] == filled[part.indptr[:-1]]).sum())
        if empty:
            raise DataError(
                f"{where}: {count(empty, 'row')} {are(empty)} without an item.",
                hint="Add --missing-item skip to read them as empty rows.",
            )
    return part


def refuse_rounded_parts(where: str, part: RowsRead) -> None:
    """Raise if ids or items are numbers that a spreadsheet has rounded."""
    if part.ids is not None:
        lengths = np.diff(part.indptr).tolist()
        lines: dict[str, int] = {}
        for one, length in zip(part.ids, lengths, strict=True):
            if "+" in one:
                lines[one] = lines.get(one, 0) + max(length, 1)
        refuse_rounded(where, part.id_column or "", lines, "ids")
    refuse_rounded_column(where, ", ".join(part.item_columns[:1]), part.codes, part.labels, "items")


def require_people(
    where: str,
    part: RowsRead,
    wanted: Wanted,
    not_ids: str | Sequence[str] | None = None,
    *,
    named: bool = False,
) -> None:
    """Stop if rows would be events of people whom an unused column or a position of the rows names."""
    if not _is_of_columns(part):
        fields = part.indptr, part.codes, part.labels
        require_lines_of_people(where, *fields, part.places, not_ids, named=named)
    items = {} if wanted.named or not part.item_columns else _items_of(part)
    require_rows_of_people(where, part.beside, part.indptr.size - 1, part.id_column, items)


def _items_of(part: RowsRead) -> dict[str, str]:
    """Name the columns of items that were found as options of `setveil.read`."""
    names = [_word(name) for name in part.item_columns]
    if len(names) == 1 and part.layout.format in {"long", "jsonl", "parquet"}:
        return {"item_column": names[0]}
    return {"item_columns": ",".join(map(as_field, names))}


def _word(name: str) -> str:
    number = name.removeprefix("column ")
    return number if number.isdigit() else name
