"""Read rows of items and their IDs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, TableError
from setveil.rows.data.also import also_of
from setveil.rows.data.columns import WANTED, Wanted
from setveil.rows.data.events import PERSON, unit_of
from setveil.rows.data.ids import require_no_ids
from setveil.rows.data.io.further import further_parts
from setveil.rows.data.io.request import ReadingRequest
from setveil.rows.data.io.several_files import file_parts, notes_of, query_parts, together, united
from setveil.rows.data.io.source import open_source
from setveil.rows.data.lacking import PLAIN, Lacking, lacking_of
from setveil.rows.data.layout import FORMATS, InputFile, Layout, Origin, require_separator
from setveil.rows.data.rows_read import (
    RowsRead,
    personal_in,
    refuse_rounded_parts,
    require_people,
    without_words,
)
from setveil.rows.data.skipped import OF_LACKING, lines_of
from setveil.rows.data.skipped import SAID as OF_LINES
from setveil.rows.data.transactions import Transactions


def read(
    path: str | Path | Sequence[str | Path] | None = None,
    *,
    format: str | None = None,  # noqa: A002  (the word that users know)
    encoding: str | None = None,
    separator: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    item_columns: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    not_ids: str | Sequence[str] | None = None,
    rows_are_events: bool = False,
    same_ids: bool = False,
    query: str | None = None,
    connection: str | None = None,
    normalize: str | None = None,
    yes: str | Sequence[str] | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    skip_lines: str | int | None = None,
    skip_last: int | None = None,
    comment: str | None = None,
    header_lines: int | None = None,
    missing: str | Sequence[str] | Mapping[str, Any] | None = None,
    not_missing: str | Sequence[str] | None = None,
    missing_id: str | None = None,
    missing_item: str | None = None,
    fill_id: bool = False,
    also: str | Sequence[str] | Mapping[str, str] | None = None,
    published: bool = False,
) -> Transactions:
    """Read transactions from files or a database, as `setveil.read` does, and remember where they came from.

    `published`: it is a published file. If nothing says which columns count, its lines are rows of items, and
    labels such as NA are labels. Otherwise a file that may be a table is rejected.
    """
    lacking = lacking_of(missing, not_missing, missing_id, missing_item, fill_id=fill_id)
    lacking = _as_published(lacking) if published else lacking
    wanted = Wanted(id_column, item_column, item_columns, delimiter, yes, lacking)
    lines = lines_of(skip_lines, skip_last, comment, header_lines)
    request = ReadingRequest(
        format, encoding, separator, wanted, published, normalize, quote, decimal, sheet, lines, lacking,
        also_of(also or ()),
    )  # fmt: skip
    return _read(
        path, request, not_ids, query, connection, same_ids=same_ids, rows_are_events=rows_are_events
    )[0]


def read_with_ids(
    path: str | Path | Sequence[str | Path] | None = None, **reading: Any
) -> tuple[Transactions, list[str] | None]:
    """Read transactions as `read` does, and the id of each row; None where rows have none."""
    published = reading.pop("published", False)
    lacking = lacking_of(**{name: reading.pop(name, None) for name in OF_LACKING})
    lacking = _as_published(lacking) if published else lacking
    lines = lines_of(**{name: reading.pop(name, None) for name in OF_LINES})
    wanted = Wanted(**{name: reading.pop(name, None) for name in WANTED}, lacking=lacking)
    form, encoding, separator = (reading.pop(name, None) for name in ("format", "encoding", "separator"))
    more = {name: reading.pop(name, None) for name in ("normalize", "quote", "decimal", "sheet")}
    also = also_of(reading.pop("also", None) or ())
    request = ReadingRequest(
        form, encoding, separator, wanted, published, **more, lines=lines, lacking=lacking, also=also
    )
    beside = (reading.pop(name, None) for name in ("not_ids", "query", "connection"))
    return _read(path, request, *beside, **{"same_ids": False, "rows_are_events": False} | reading)


def read_ids(how: Mapping[str, Any]) -> set[str] | None:
    """Read the IDs of rows again (see `Origin.as_dict`); None: rows have none, or their files changed."""
    files, column = how.get("files") or [], how.get("id_column")
    if not column or how.get("query") or how["layout"] not in FORMATS:
        return None
    if not all(Path(file["path"]).is_file() for file in files):
        return None
    items = [_numbered(name) for name in how["item_columns"]]
    long = how["layout"] not in {"wide", "onehot"} and len(items) == 1
    wanted = Wanted(
        _numbered(column), items[0] if long else None, None if long else items, how.get("delimiter")
    )
    lacking = lacking_of(**{name: how.get(name) for name in OF_LACKING})
    lines = lines_of(**{name: how.get(name) for name in OF_LINES})
    wanted = replace(wanted, yes=how.get("yes"), lacking=lacking)
    request = ReadingRequest(
        how["layout"], how["encoding"], how["separator"], wanted, False, None, how.get("quote"), None,
        how.get("sheet"), lines, lacking, also_of(how.get("also") or ()),
    )  # fmt: skip
    try:
        paths = [file["path"] for file in files]
        parts, found, _ = file_parts(paths[: len(paths) - len(request.also)], request)
        more, further = further_parts(request, wanted.id_column)
    except (DataError, RequestError):
        return None
    if [file.sha256 for file in (*found, *further)] != [file["sha256"] for file in files]:
        return None
    return {one for part in (*parts, *more) for one in part.ids or ()}


def _numbered(name: str) -> str:
    return name.removeprefix("column ") if name.removeprefix("column ").isdigit() else name


def _as_published(lacking: Lacking) -> Lacking:
    """Take labels of a published file as they are, unless words were named that mean no label."""
    return replace(lacking, published=True) if lacking == replace(PLAIN, values=lacking.values) else lacking


def _require_sense(path: object, request: ReadingRequest, query: str | None, connection: str | None) -> None:
    Layout(request.format or "basket")
    require_separator(request.separator)
    wanted = request.wanted
    if wanted.delimiter is not None and not wanted.named:
        raise RequestError(
            "The delimiter separates the items of a cell, and no column of items is named.",
            hint="Name it: --item-column, or --item-columns where each line is a row. What stands between "
            "the fields of a line is the separator.",
        )
    if wanted.item_column is not None and wanted.item_columns is not None:
        raise RequestError(
            "Both item_column and item_columns are given, expected one of them.",
            hint="A long table has one item column, a wide or one-hot table several.",
        )
    if (query is None) != (connection is None):
        raise RequestError(
            "A query needs a connection, and a connection a query: got one of them.",
            hint='Such as --query "SELECT ..." --connection sqlite:///visits.db.',
        )
    if (path is None) == (query is None):
        raise RequestError("Rows are read either from files or by a query, expected one of these.")


def _require_items(
    parts: Sequence[RowsRead],
    files: Sequence[InputFile],
    request: ReadingRequest,
    not_ids: str | Sequence[str] | None,
) -> None:
    """Refuse columns of items that look like those of IDs, lists or rounded numbers."""
    wanted = request.wanted
    if wanted.named:
        for one, file in zip(parts, files, strict=True):
            require_no_ids(file.path, one.items, not_ids, by_line=one.id_column is None)
            if request.format is None and wanted.delimiter is None and _is_of_cells(one.layout):
                from setveil.rows.data.set_fields import refuse_lists

                refuse_lists(file.path, one.items, one.layout.format)
    for one, file in zip(parts, files, strict=True):
        refuse_rounded_parts(file.path, one)


def _is_of_cells(layout: Layout) -> bool:
    """Return whether rows come from a table with an item in each cell."""
    return layout.format in {"long", "wide"} or not layout.nested


def _read(
    path: str | Path | Sequence[str | Path] | None,
    request: ReadingRequest,
    not_ids: str | Sequence[str] | None,
    query: str | None,
    connection: str | None,
    *,
    same_ids: bool,
    rows_are_events: bool,
) -> tuple[Transactions, list[str] | None]:
    start = time.perf_counter()
    wanted = request.wanted
    _require_sense(path, request, query, connection)
    standard = None
    if query is not None and connection is not None:
        parts, files, encodings = query_parts(query, connection, request)
    else:
        paths = [str(path)] if isinstance(path, str | Path) else [*map(str, path or ())]
        standard = open_source("-") if paths == ["-"] else None
        parts, files, encodings = file_parts(paths, request, standard)
    first = len(parts)
    more, further = further_parts(request, wanted.id_column or parts[0].id_column)
    parts, files = [*parts, *more], [*files, *further]
    if not request.published:
        _require_items(parts, files, request, not_ids)
    lacking = [request.lacking] * first + [request.lacking.alone()] * len(request.also)
    parts = [
        without_words(one, file.path, words) for one, file, words in zip(parts, files, lacking, strict=True)
    ]
    part = parts[0] if first == 1 else together(parts[:first], files[:first], same_ids=same_ids)
    if request.also:
        part = united([part, *parts[first:]], same_ids=True)
    if not request.published and not rows_are_events:
        where = "standard input" if files[0].path == "-" else files[0].path
        try:
            require_people(where, part, wanted, not_ids, named=request.format is not None)
        except TableError as error:
            error.source = standard
            raise
    data = Transactions.from_codes(part.indptr, part.codes, part.labels)
    if not data.n_occurrences:
        names = ", ".join("standard input" if file.path == "-" else file.path for file in files[:3])
        raise DataError(f"{names} contains no item, expected rows of items.")
    origin = Origin(
        tuple(files),
        part.layout,
        part.row,
        part.id_column,
        part.item_columns,
        part.ignored_columns,
        encodings[0],
        query,
        named=not request.silent,
        cells=part.cells,
        written={**part.written, **request.written},
        notes=notes_of(parts, files),
        unit=unit_of(part.id_column) if rows_are_events else PERSON,
        seconds=round(time.perf_counter() - start, 4),
    )
    data = replace(data, origin=origin, personal=personal_in(part, not_ids))
    if request.normalize is not None:
        data = data.with_normal_labels(request.normalize)
    return data, part.ids
