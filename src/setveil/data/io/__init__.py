"""Files of transactions: read them, write them, detect their format."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data import evidence
from setveil.data.also import Also, also_of
from setveil.data.columns import WANTED, Wanted, joined, names_several, rows_of
from setveil.data.events import PERSON, UnusedColumns, unit_of
from setveil.data.ids import Values, require_no_ids, why_id
from setveil.data.io.lines import (
    as_spec,
    comments_above,
    cut,
    has_comments_only,
    in_words,
    left_out,
    numbers_in,
    strays_said,
    table_in,
    without_lines,
)
from setveil.data.io.sniff import (
    detect_format,
    head_rows,
    holds_numbers,
    likely_separator,
    sign_of_columns,
    sniff_content,
    why_table,
)
from setveil.data.io.source import Source, Text, as_text, gather, is_xlsx, open_source
from setveil.data.io.text import QuoteError
from setveil.data.io.write import write_blocks
from setveil.data.io.written import long_separator, plain_text
from setveil.data.lacking import PLAIN, Lacking, lacking_of
from setveil.data.layout import (
    FORMATS,
    InputFile,
    Layout,
    Origin,
    function_of,
    refuse_unfit,
    require_separator,
    writable_layout,
)
from setveil.data.personal import merged
from setveil.data.readings import EVERY_FIELD, refusal, refuse_ids_in_lists
from setveil.data.rows_of_columns import (
    RowsRead,
    personal_in,
    refuse_rounded_parts,
    require_people,
    without_words,
)
from setveil.data.set_fields import refuse_lists
from setveil.data.skipped import NO_LINES, OF_LACKING, Lines, lines_of
from setveil.data.skipped import SAID as OF_LINES
from setveil.data.transactions import Transactions
from setveil.errors import DataError, OutputError, RequestError, TableError, faces, listed
from setveil.staging import staged_file
from setveil.wording import are, count

__all__ = [
    "FORMATS",
    "Layout",
    "detect_format",
    "read",
    "read_beginning",
    "read_ids",
    "save",
    "sniff_content",
    "writable_layout",
]


@dataclass(frozen=True)
class _Request:
    """What was said of how to read."""

    # format, encoding, separator: arguments of `read`
    format: str | None
    encoding: str | None
    separator: str | None
    wanted: Wanted
    published: bool  # whether it is no user's file: one that may be a table is refused otherwise
    normalize: str | None = None  # how spellings of an item become one
    # quote, decimal, sheet: arguments of `read`
    quote: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    lines: Lines = NO_LINES  # which are no data
    lacking: Lacking = PLAIN  # what means that there is no value
    also: tuple[Also, ...] = ()  # further files about the same people

    @property
    def written(self) -> dict[str, Any]:
        """Return what was said of how a file is written, for the record."""
        said = {name: getattr(self, name) for name in ("quote", "decimal", "sheet")} | {
            "yes": self.wanted.yes
        }
        if self.separator is not None and len(self.separator) > 1:
            said["separator"] = self.separator
        said = {name: value for name, value in said.items() if value is not None}
        also = {"also": [one.text for one in self.also]} if self.also else {}
        return {**said, **self.lines.as_dict(), **self.lacking.as_dict(), **also}

    def given(self) -> dict[str, Any]:
        """Return the options that formats may take, by name."""
        return {
            "separator": self.separator,
            "id_column": self.wanted.id_column,
            "item_column": self.wanted.item_column,
            "item_columns": self.wanted.item_columns,
            "delimiter": self.wanted.delimiter,
            "yes": self.wanted.yes,
        }

    def options(self, chosen: str) -> dict[str, Any]:
        """Return the options that the reader of a format takes."""
        given, form = self.given(), FORMATS[chosen]
        return {name: given[name] for name in form.takes} | (
            {"lacking": self.lacking} if form.columns else {}
        )

    @property
    def silent(self) -> bool:
        """Whether neither the format nor a column was named."""
        return self.format is None and not self.wanted.named


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
    """Read transactions from files or a database, and remember where they came from.

    Parameters
    ----------
    path : path or sequence of paths, optional
        A file, ``-`` for standard input, several files, or a folder of files, all with the same layout.
        Files may be compressed (gzip, zstd, xz, bzip2, zip with one member).
    format : {"fimi", "basket", "long", "wide", "onehot", "spmf", "parquet", "jsonl"}, optional
        By default detected from the extension: ``.dat`` is FIMI, ``.txt`` SPMF, ``.parquet``, ``.jsonl``,
        ``.csv`` baskets, or a table where columns are named; by the content where there is another extension
        or none. Spreadsheets (``.xlsx``) are tables.
    encoding : str, optional
        Of a text file; by default UTF-8, or UTF-16 or UTF-32 with a byte order mark.
    separator : str, optional
        Between fields of text; by default detected. Without `format` it also means that the file is separated
        text.
    id_column, item_column : str, optional
        Columns of a long table, by name, or by number from 1; `item_column` also the list column of a Parquet
        file or the key of JSON objects. `id_column` may be named for a wide or a one-hot table, too: then
        lines of the same id are one row.
    item_columns : str or sequence of str, optional
        Item columns of a wide or one-hot table: names, or a text with names, ranges (``DX1-DX20``) and
        patterns (``DX*``) between commas.
    delimiter : str, optional
        Between the items of a cell, where the item column or columns hold several, such as ``E11;I10``. By
        default a cell holds one.
    not_ids : str or sequence of str, optional
        Columns that are no ids of persons, although they look so: items are read from a column that was named
        and looks like ids only if it is one of these. For rows without columns, fields by number.
    rows_are_events : bool
        Whether rows are events, such as orders or stays, of which a person may have several. Otherwise an
        unused column of people who have several rows is an error.
    same_ids : bool
        Of several files: the same id is the same row. Otherwise an id that two files have is an error.
    query, connection : str, optional
        Instead of a path: SQL that gives a table, and the address of the database, such as
        ``sqlite:///visits.db``.
    normalize : {"codes", "text", "none"}, optional
        Make spellings one item, as for `setveil.read`.
    yes, quote, decimal, sheet
        How columns of answers, quotes, numbers and spreadsheets are read, as for `setveil.read`.
    skip_lines, skip_last, comment, header_lines
        Lines that are no data, as for `setveil.read`.
    missing, not_missing, missing_id, missing_item, fill_id
        Values that mean that there is none, and lines that lack an ID or an item, as for `setveil.read`.
    also : str, sequence of str, or mapping, optional
        Further files about the same people, as for `setveil.read`.
    published : bool
        Whether it is a published file. If nothing says which columns count, its lines are rows of items, and
        labels such as NA are labels. Otherwise a file that may be a table is rejected.

    Returns
    -------
    Transactions
        The rows. Their `origin` says how they were read.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.read("baskets.csv")                                             # doctest: +SKIP
    >>> data = sv.read("orders.csv", id_column="order", item_column="article")    # doctest: +SKIP
    >>> data = sv.read("stays.csv", item_columns="DX1-DX20")                      # doctest: +SKIP
    """
    lacking = lacking_of(missing, not_missing, missing_id, missing_item, fill_id=fill_id)
    lacking = _as_published(lacking) if published else lacking
    wanted = Wanted(id_column, item_column, item_columns, delimiter, yes, lacking)
    lines = lines_of(skip_lines, skip_last, comment, header_lines)
    request = _Request(
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
    request = _Request(
        form, encoding, separator, wanted, published, **more, lines=lines, lacking=lacking, also=also
    )
    beside = (reading.pop(name, None) for name in ("not_ids", "query", "connection"))
    return _read(path, request, *beside, **{"same_ids": False, "rows_are_events": False} | reading)


def _as_published(lacking: Lacking) -> Lacking:
    """Take labels of a published file as they are, unless words were named that mean no label."""
    return replace(lacking, published=True) if lacking == replace(PLAIN, values=lacking.values) else lacking


def _require_sense(path: object, request: _Request, query: str | None, connection: str | None) -> None:
    """Refuse ways of reading that contradict each other."""
    Layout(request.format or "basket")
    require_separator(request.separator)
    wanted = request.wanted
    if wanted.delimiter is not None and not wanted.named:
        raise RequestError(
            "The delimiter stands between the items of a cell, and no column of items is named.",
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
    request: _Request,
    not_ids: str | Sequence[str] | None,
) -> None:
    """Refuse columns of items that look like those of IDs, lists or rounded numbers."""
    wanted = request.wanted
    if wanted.named:
        for one, file in zip(parts, files, strict=True):
            require_no_ids(file.path, one.items, not_ids)
            if request.format is None and wanted.delimiter is None and _is_of_cells(one.layout):
                refuse_lists(file.path, one.items, one.layout.format)
    for one, file in zip(parts, files, strict=True):
        refuse_rounded_parts(file.path, one)


def _read(
    path: str | Path | Sequence[str | Path] | None,
    request: _Request,
    not_ids: str | Sequence[str] | None,
    query: str | None,
    connection: str | None,
    *,
    same_ids: bool,
    rows_are_events: bool,
) -> tuple[Transactions, list[str] | None]:
    """Read transactions and the ids of their rows."""
    start = time.perf_counter()
    wanted = request.wanted
    _require_sense(path, request, query, connection)
    if query is not None and connection is not None:
        parts, files, encodings = _query_parts(query, connection, request)
    else:
        paths = [path] if isinstance(path, str | Path) else list(path or ())
        parts, files, encodings = _file_parts([str(one) for one in paths], request)
    first = len(parts)
    unknown = [path for path in request.lines.files if path not in {one.path for one in request.also}]
    if unknown:
        raise RequestError(f"--skip-lines names {unknown[0]}, which no --also reads.")
    id_column = wanted.id_column or parts[0].id_column
    for further in request.also:
        part, file = _also_part(further, request, id_column)
        parts, files = [*parts, part], [*files, file]
    if not request.published:
        _require_items(parts, files, request, not_ids)
    lacking = [request.lacking] * first + [request.lacking.alone()] * len(request.also)
    parts = [
        without_words(one, file.path, words) for one, file, words in zip(parts, files, lacking, strict=True)
    ]
    part = parts[0] if first == 1 else _together(parts[:first], files[:first], same_ids=same_ids)
    if request.also:
        part = _united([part, *parts[first:]], same_ids=True)
    if not request.published and not rows_are_events:
        require_people(files[0].path, part, wanted)
    data = Transactions.from_codes(part.indptr, part.codes, part.labels)
    if not data.n_occurrences:
        names = ", ".join("standard input" if file.path == "-" else file.path for file in files[:3])
        raise DataError(f"{names} holds no item, expected rows of items.")
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
        notes=_noted(parts, files),
        unit=unit_of(part.id_column) if rows_are_events else PERSON,
        seconds=round(time.perf_counter() - start, 4),
    )
    data = replace(data, origin=origin, personal=personal_in(part, not_ids))
    if request.normalize is not None:
        data = data.with_normal_labels(request.normalize)
    return data, part.ids


def save(data: Transactions, path: str | Path, layout: Layout) -> None:
    r"""Write transactions; the same data and layout give the same bytes.

    Parameters
    ----------
    data : Transactions
        Rows are written in order, items of a row in the order of their ids.
    path : str or Path
        The file: UTF-8, lines end with ``\n``. It appears complete or not at all.
    layout : Layout
        In the long layouts the id is the row's number from 0, and empty rows cannot be shown.
    """
    blocks = write_blocks(data, layout)
    first = next(blocks, b"")  # a label that cannot be written shows now, before there is a file
    try:
        with staged_file(Path(path)) as beside, beside.open("wb") as file:
            file.write(first)
            for block in blocks:
                file.write(block)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def read_ids(how: Mapping[str, Any]) -> set[str] | None:
    """Read the ids of rows once more.

    Parameters
    ----------
    how : mapping
        How the rows were read, as `Origin.as_dict` tells.

    Returns
    -------
    set of str or None
        None where rows have no ids, or were not read from files that are still there and the same.
    """
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
    request = _Request(
        how["layout"], how["encoding"], how["separator"], wanted, False, None, how.get("quote"), None,
        how.get("sheet"), lines, lacking, also_of(how.get("also") or ()),
    )  # fmt: skip
    try:
        paths = [file["path"] for file in files]
        parts, found, _ = _file_parts(paths[: len(paths) - len(request.also)], request)
        for one in request.also:
            part, file = _also_part(one, request, wanted.id_column)
            parts, found = [*parts, part], [*found, file]
    except (DataError, RequestError):
        return None
    if [file.sha256 for file in found] != [file["sha256"] for file in files]:
        return None
    return {one for part in parts for one in part.ids or ()}


def _numbered(name: str) -> str:
    """Name a column without a name by its number."""
    return name.removeprefix("column ") if name.removeprefix("column ").isdigit() else name


Parts = tuple[list[RowsRead], list[InputFile], list[str | None]]


def _also_part(one: Also, request: _Request, id_column: str | None) -> tuple[RowsRead, InputFile]:
    """Read a further file about the same people; without columns of its own it has those of the first."""
    if id_column is None:
        raise RequestError(
            f"{one.text} cannot be joined: the rows of the first file have no IDs.",
            hint="Name the column of IDs, which all files have: --id-column.",
        )
    wanted = replace(request.wanted, id_column=id_column, yes=None, lacking=request.lacking.alone())
    if one.columns is not None:
        several = names_several(one.columns)
        wanted = replace(
            wanted,
            item_column=None if several else one.columns,
            item_columns=one.columns if several else None,
        )
    asked = replace(
        request, format=None, separator=None, wanted=wanted, sheet=one.sheet, quote=None,
        lines=request.lines.of_file(one.path), lacking=request.lacking.alone(), also=(),
    )  # fmt: skip
    try:
        parts, files, _ = _file_parts([one.path], asked)
    except TableError as error:
        raise _asked_of_also(error, one, request) from None
    except (DataError, RequestError) as error:
        if one.columns is None and one.path == one.text and Path(one.path).is_file():
            if (column := _column_of(asked, one.path)) and len(request.also) == 1:
                raise _asked_for_column(error, one, column) from None
            error.hint = _named(one)
        raise
    if len(parts) > 1 or parts[0].ids is None:
        raise RequestError(
            f"{one.text}: expected one file with a column of IDs.",
            hint=f"Name each file by itself: {faces('--also A.csv:X --also B.csv:Y', 'also=[...]')}.",
        )
    return parts[0], files[0]


def _named(one: Also) -> str:
    """Ask for the column of items of a further file."""
    text = f"{one.path}:COLUMN"
    return f"Name its column of items: {faces(f'--also {shlex.quote(text)}', f'also={text!r}')}."


def _asked_of_also(error: TableError, one: Also, request: _Request) -> DataError:
    """Ask what becomes of lines of a further file, by options that apply to it."""
    message = error.message.partition(":\n    ")[0].removesuffix(".")
    ways: list[tuple[Mapping[str, Any], str]] = []
    for options, meaning in error.readings:
        said = {name: value for name, value in options.items() if name in OF_LACKING}
        if "skip_lines" in options:
            said["skip_lines"] = request.lines.with_file(one.path, options["skip_lines"])
        what = "these lines are no data" if "skip_lines" in options else meaning
        if said:
            ways.append((said, f"{one.path}: {what}"))
    if ways:
        return TableError(message, [], ways[:1])
    found = next((column for options, _ in error.readings if (column := _items_of(options))), "")
    if one.columns is None and found and len(request.also) == 1:
        return _asked_for_column(error, one, found)
    hint = _named(one) if one.columns is None else f"Mend {one.path} itself."
    return DataError(error.message, hint=hint)


def _asked_for_column(error: DataError | RequestError, one: Also, column: str) -> TableError:
    message = error.message.partition(":\n    ")[0].removesuffix(".")
    return TableError(message, [], [({"also": f"{one.path}:{column}"}, f"items from {column} of {one.path}")])


def _items_of(options: Mapping[str, Any]) -> str:
    return str(options.get("item_column") or options.get("item_columns") or "")


def _column_of(asked: _Request, path: str) -> str:
    """Find the column of items of a further file that is proposed for it; "" if there is none."""
    whose = asked.wanted.id_column
    try:
        _file_parts([path], replace(asked, wanted=Wanted(None, None, None, lacking=asked.lacking)))
    except TableError as error:
        found = (_items_of(options) for options, _ in error.readings if options.get("id_column") == whose)
        return next(found, "")
    except (DataError, RequestError):
        pass
    return ""


def _is_of_cells(layout: Layout) -> bool:
    """Whether rows come from a table with an item in each cell."""
    return layout.format in {"long", "wide"} or not layout.nested


def _query_parts(query: str, connection: str, request: _Request) -> Parts:
    from setveil.data.frames import read_frame
    from setveil.data.io.query import read_query
    from setveil.redact import redacted

    _refuse_options("parquet", {"separator": request.separator}, "a query")
    _refuse_lines(request, "a query")
    table = read_query(query, connection)
    form = _form_of_table(request, "a query")
    part = read_frame(
        table, request.wanted, "the result of the query", form, skip_last=request.lines.skip_last
    )
    if part.layout.format == "parquet":
        _refuse_ids_in_lists(part, "the result of the query", request)
    return [part], [InputFile(redacted(connection), None)], [None]


def _file_parts(paths: list[str], request: _Request) -> Parts:
    files: list[InputFile] = []
    parts: list[RowsRead] = []
    encodings: list[str | None] = []
    found = gather(paths)
    for path in found:
        source = open_source(path)  # one at a time: their bytes need not all be held at once
        try:
            part, encoding = _read_source(source, request)
        except TableError as error:
            error.source = source if len(found) == 1 else None
            if len(found) > 1:  # a reading must be one of all files
                error.keep(
                    lambda options: all(
                        _works(_text(open_source(one), request), request, options) for one in found
                    )
                )
            raise
        files.append(InputFile(source.path, source.sha256, source.compression))
        parts.append(part)
        encodings.append(encoding)
    if not files:
        raise RequestError("No file is named, expected at least one.")
    return parts, files, encodings


def read_beginning(
    source: Source,
    format: str | None,  # noqa: A002
    encoding: str | None,
    separator: str | None,
) -> RowsRead:
    """Read what a file begins with as `read` reads a whole one."""
    return _read_source(source, _Request(format, encoding, separator, Wanted(None, None, None), False))[0]


def _read_source(source: Source, request: _Request) -> tuple[RowsRead, str | None]:
    """Read one file."""
    content, name = source.content, source.name
    if not content:
        raise DataError(f"{name} is an empty file, expected rows of items.")
    if not content.strip(b" \t\r\n"):  # a label may be of other blanks, such as a form feed
        raise DataError(f"{name} holds only blank lines, expected rows of items.")
    if is_xlsx(content):
        from setveil.data.frames import read_frame
        from setveil.data.io.xlsx import read_sheet_lines

        _refuse_options("parquet", {"separator": request.separator}, "a spreadsheet")
        refuse_unfit("a spreadsheet", quote=request.quote)
        form = _form_of_table(request, "a spreadsheet")
        try:
            sheet, notes = read_sheet_lines(source, request.sheet, lines=request.lines)
        except TableError as asked:
            raise _with_columns(asked, source, request) from None
        last = None if request.lines.skip_last is None else 0
        found = read_frame(sheet, request.wanted, name, form, skip_last=last)
        return replace(found, notes=(*notes, *found.notes)), None
    refuse_unfit("a file without sheets", sheet=request.sheet)
    chosen = request.format or detect_format(source.inner, content)
    given = request.given()
    part: RowsRead
    if not FORMATS[chosen].text:
        _refuse_options(chosen, given)
        refuse_unfit(f"the format {chosen}", quote=request.quote)
        _refuse_lines(request, f"the format {chosen}")
        options = request.options(chosen) | {"skip_last": request.lines.skip_last}
        part = function_of(FORMATS[chosen].reader)((content, name), **options)
        if part.layout.nested:
            _refuse_ids_in_lists(part, name, request)
        return part, None
    text = _text(source, request)
    chosen = request.format or detect_format(source.inner, text.content)
    if "separator" in FORMATS[chosen].takes or (request.format is None and chosen != "jsonl"):
        return _read_separated(text, chosen, request), text.encoding
    _refuse_options(chosen, given)
    refuse_unfit(f"the format {chosen}", quote=request.quote)
    if not request.published:
        _require_numbers(text, chosen, request)
    try:
        part = function_of(FORMATS[chosen].reader)(text, **request.options(chosen))
    except TableError as asked:  # of records, in which nothing says which keys count
        said = {name: value for name, value in given.items() if isinstance(value, str)}
        asked.keep(lambda options: _works(text, request, {"format": chosen, **said, **options}))
        raise
    except DataError as error:  # of arrays, with what is no item in between
        raise _asked_of_arrays(text, request, "") or error from None
    try:
        _refuse_ids_in_lists(part, name, request)
    except TableError as error:
        why = evidence.why_sets_are_table(_first_rows(part), "array")
        raise _asked_of_arrays(text, request, why) or error from None
    return replace(part, notes=(*text.notes, *part.notes)), text.encoding


def _with_columns(asked: TableError, source: Source, request: _Request) -> TableError:
    """Ask about the columns of a sheet together with its rows that are no data."""
    if any(name not in OF_LINES for options, _ in asked.readings for name in options):
        return asked
    readings: list[tuple[Mapping[str, Any], str]] = []
    columns = asked.columns
    for options, meaning in asked.readings:
        lines = lines_of(**{**request.lines.as_dict(), **options})
        try:
            _read_source(source, replace(request, lines=lines))
            readings.append((options, meaning))
        except TableError as error:
            columns = columns or error.columns
            readings += [({**options, **more}, f"{meaning}; {how}") for more, how in error.readings]
        except (DataError, RequestError):
            continue
    return TableError(asked.message.removesuffix("."), columns, readings)


_NUMBERS = "fimi", "spmf", "basket"  # formats of text that may be lines of integers


def _refuse_lines(request: _Request, what: str) -> None:
    """Refuse options on lines of a file that has none."""
    given = [
        name for name in ("skip_lines", "comment", "header_lines") if getattr(request.lines, name) is not None
    ]
    if given:
        raise RequestError(f"The option {given[0]} does not apply to {what}.", hint="Omit it.")


def _require_numbers(text: Text, chosen: str, request: _Request) -> None:
    """Raise if lines above or below lines of integers hold anything else."""
    if chosen not in _NUMBERS or request.format == "basket" or text.settled or not holds_numbers(text):
        return
    numbers = numbers_in(text)
    if (chosen == "spmf" and has_comments_only(text, numbers)) or _are_names(text, numbers):
        return
    if request.format is None and evidence.why_ids(head_rows(without_lines(text, numbers), " ")):
        return  # nothing speaks for rows of items below a name of IDs
    if numbers:
        format_of = {} if request.format is not None else {"format": "fimi" if chosen == "basket" else chosen}
        options = {**format_of, "skip_lines": as_spec(numbers)}
        asked = TableError(
            f"{text.name}: {in_words(numbers)} {are(len(numbers))} not integers between blanks, as all "
            "others are",
            [],
            [(options, "one row per line, without these; every number an item")],
        )
        asked.keep(lambda options: _can_be_read(text, request, options))
        raise asked


def _are_names(text: Text, numbers: Sequence[int]) -> bool:
    """Tell whether only the first line holds no integers, and has as many fields as the others: a header."""
    widths = {sign: [len(row) for row in head_rows(text, sign)] for sign in "\t "}
    return len(numbers) == 1 and any(len(set(found)) == 1 and found[0] > 1 for found in widths.values())


def _noted(parts: Sequence[RowsRead], files: Sequence[InputFile]) -> tuple[str, ...]:
    """List what was skipped, of several files with their names."""
    several = len(parts) > 1
    return tuple(
        f"{file.path}: {note}" if several else note
        for part, file in zip(parts, files, strict=True)
        for note in part.notes
        if note
    )


def _asked_of_arrays(text: Text, request: _Request, why: str) -> TableError | None:
    """Ask which elements of arrays are items, if a reading by their places works."""
    from setveil.data.io.records import RecordTable

    if request.published or not request.silent:
        return None
    try:
        table = RecordTable(text)
    except (DataError, ValueError):
        return None
    if table.header:
        return None
    asked = refusal(table, why)
    asked.keep(lambda options: _works(text, request, {**options, "format": "jsonl"}))
    return asked if asked.readings else None


def _read_separated(text: Text, detected: str, request: _Request) -> RowsRead:
    """Read separated text, however its fields are separated and quoted."""
    written = {"separator": request.separator, "quote": request.quote}
    long = long_separator(text) if request.separator is None else None
    if long and (request.wanted.named or why_table(text, "basket", None)[0]):
        request = replace(request, separator=long)
        written["separator"] = long
    plain, separator = plain_text(text, request.separator, request.quote)
    asked = replace(request, separator=separator, quote=None)
    try:
        if request.format is None:
            part = _read_undeclared(plain, detected, asked)
        else:
            given = asked.given()
            _refuse_options(detected, given)
            if not request.published:
                _require_numbers(plain, detected, request)
            part = function_of(FORMATS[detected].reader)(plain, **asked.options(detected))
            part = replace(part, notes=(*plain.notes, *part.notes))
        return replace(part, written={"separator": long}) if written["separator"] == long and long else part
    except TableError as error:
        if separator != written["separator"] or request.quote is not None:
            error.write_as({name: value for name, value in written.items() if value is not None})
        raise
    except QuoteError as error:
        bare = replace(asked, separator=written["separator"], quote="none")
        if request.quote is None and _can_be_read(text, bare, {}):
            raise _plain_quotes(error) from None
        raise


def _plain_quotes(error: QuoteError) -> TableError:
    """Ask whether double quotes are signs like any other."""
    return TableError(
        error.message.removesuffix("."),
        [],
        [({"quote": "none"}, "double quotes are signs like any other, as for inches")],
        error.hint.removesuffix("."),
    )


def _refuse_ids_in_lists(part: RowsRead, name: str, request: _Request) -> None:
    """Raise if arrays or lists, of which nothing says that they are rows of items, may hold ids."""
    if not request.published and request.silent:
        refuse_ids_in_lists(_first_rows(part), name, next(iter(part.item_columns), ""))


def _first_rows(part: RowsRead) -> list[list[str]]:
    return [
        [part.labels[code] for code in part.codes[start:end].tolist() if code >= 0]
        for start, end in pairwise(part.indptr[: evidence.LINES + 1].tolist())
    ]


def _read_undeclared(text: Text, detected: str, request: _Request) -> RowsRead:
    """Read text whose format was not named: a table if columns were, else rows unless it may be a table."""
    from setveil.data.io.table import TextTable, read_named, read_unnamed

    whole = text
    text = _without_comments(text, request)
    if request.wanted.named:
        named = read_named(text, request.separator, request.wanted)
        return replace(named, notes=(*text.notes, *named.notes))
    chosen = detected if request.separator is None else "basket"
    if chosen in {"fimi", "spmf"} and not holds_numbers(text) and why_table(text, "basket", None)[0]:
        chosen = "basket"
    if not request.published:
        _require_numbers(whole, chosen, request)
        if chosen == "basket":
            _ask_for_lines(text, request)
    why, separator = why_table(text, chosen, request.separator)
    if why:
        agreed = read_unnamed(text, request.separator, request.wanted) if chosen == "basket" else None
        if agreed is not None:
            return replace(agreed, notes=(*text.notes, *agreed.notes))
        if not request.published:
            more = {} if separator is None else {"separator": separator}
            if chosen != "basket":
                more["format"] = "long"
            asked = refusal(TextTable(text, separator), why, more=more, rows=chosen)
            asked.keep(lambda options: _works(text, request, options))
            raise asked
    options = {"separator": request.separator} if chosen == "basket" else {}
    part: RowsRead
    try:
        part = function_of(FORMATS[chosen].reader)(whole, **options)
    except DataError as error:
        raise _asked_of_texts(error, text, chosen, request) or error from None
    return replace(part, notes=(*whole.notes, *part.notes))


def _without_comments(text: Text, request: _Request) -> Text:
    """Skip the lines above a table that begin with #."""
    if text.settled or request.lines.comment is not None or not text.content.lstrip().startswith(b"#"):
        return text
    found = comments_above(text, request.separator or likely_separator(text))
    cut = without_lines(text, found)
    return replace(cut, notes=(*text.notes, left_out(found))) if found else text


def _ask_for_lines(text: Text, request: _Request) -> None:
    """Raise if lines above, below or between those of a table are none of it, and propose to skip them."""
    if text.settled:
        return
    named = request.separator or sign_of_columns(text)
    signs = [named] if named else list(evidence.SEPARATORS)
    wide = [sign for sign in signs if _is_mostly_wide(head_rows(text, sign))]
    numbers, separator = table_in(text, "".join(wide))
    if not numbers:
        return
    from setveil.data.io.table import TextTable

    table = TextTable(without_lines(text, numbers), separator)
    spec = as_spec(sorted({*text.left, *numbers}))
    more = {"skip_lines": spec} | ({"separator": separator} if request.separator else {})
    asked = refusal(table, strays_said(numbers, table.width), more=more)
    asked.asked = f"--skip-lines {spec}, and --id-column, --item-column, --item-columns, --format"
    asked.keep(lambda options: _can_be_read(text, request, options))
    raise asked


def _is_mostly_wide(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether half of some lines or more have one number of fields, two or more."""
    width, share = evidence.common_width([row for row in rows if len(row) > 1])
    several = sum(len(row) > 1 for row in rows)
    return width > 1 and 2 * share * several >= len(rows)


def _asked_of_texts(error: DataError, text: Text, chosen: str, request: _Request) -> TableError | None:
    """Ask whether lines that are no numbers, as their format has them, are texts with signs between them."""
    if chosen not in {"fimi", "spmf"} or holds_numbers(text) or request.published:
        return None
    asked = TableError(error.message.removesuffix("."), [], [({"format": "basket"}, EVERY_FIELD)])
    asked.keep(lambda options: _can_be_read(text, request, options))
    return asked if asked.readings else None


def _text(source: Source, request: _Request) -> Text:
    return cut(as_text(source.content, source.name, request.encoding), request.lines)


def _can_be_read(text: Text, request: _Request, options: Mapping[str, str]) -> bool:
    """Tell whether a reading gives rows of people, and not ids for items."""
    with suppress(TableError):
        return _works(text, request, options)
    return False


def _works(text: Text, request: _Request, options: Mapping[str, str]) -> bool:
    """Tell whether a reading that could be proposed gives rows, and not ids for items.

    Raises
    ------
    TableError
        If rows would be events of people.
    """
    said: dict[str, Any] = dict(options)
    lines = {name: said.pop(name) for name in OF_LINES if name in said}
    if lines:
        before = Text(text.name, text.content, text.encoding, text.left)
        text = cut(before, lines_of(**{**request.lines.as_dict(), **lines}))
    lacking = request.lacking.with_ways(said)
    asked = replace(
        request,
        lacking=lacking,
        format=said.pop("format", request.format),
        separator=said.pop("separator", request.separator),
        quote=said.pop("quote", request.quote),
        wanted=replace(request.wanted, **said, lacking=lacking),
        published=False,
    )
    try:
        text, separator = plain_text(text, asked.separator, asked.quote)
        asked = replace(asked, separator=separator, quote=None)
        if asked.format is None:
            part = _read_undeclared(text, "basket", asked)
        else:
            part = function_of(FORMATS[asked.format].reader)(text, **asked.options(asked.format))
    except TableError as error:
        of_lines = {*OF_LINES} if not lines else set()
        if error.readings and {*error.readings[0][0]} <= of_lines | {*OF_LACKING} - {*options}:
            raise
        return False
    except (DataError, RequestError):
        return False
    require_people(text.name, part, asked.wanted)
    items = int((part.codes >= 0).sum())
    several = len(part.items) > 1
    if any(why_id(column, items=not several) for column in part.items):
        return False
    return items > 0 and (
        not part.item_columns or len(part.labels) < evidence.DIFFERENT * items or items < 20
    )


def _form_of_table(request: _Request, what: str) -> str | None:
    """Return the layout of a table that is no text."""
    if request.format not in {None, "long", "wide", "onehot"}:
        raise RequestError(
            f"The format {request.format} is not that of {what}, which is a table.",
            hint="Use long, wide or onehot, or omit --format.",
        )
    return request.format


def _together(parts: Sequence[RowsRead], files: Sequence[InputFile], *, same_ids: bool) -> RowsRead:
    """Join what several files hold."""
    first = parts[0]
    for part, file in zip(parts[1:], files[1:], strict=True):
        if (part.layout, part.cells, part.id_column, part.item_columns) != (
            first.layout,
            first.cells,
            first.id_column,
            first.item_columns,
        ):
            raise DataError(
                f"{file.path} is not laid out like {files[0].path}: {_laid_out(part)}, and not "
                f"{_laid_out(first)}.",
                hint="Read files of different layouts apart, convert them to one, and then read these.",
            )
    return _united(parts, same_ids=same_ids)


def _united(parts: Sequence[RowsRead], *, same_ids: bool) -> RowsRead:
    """Join the rows of several files, by their ids if they have any; the first says how they are written."""
    first = parts[0]
    offsets = np.cumsum([0, *(len(part.labels) for part in parts)])
    codes = np.concatenate(
        [np.where(part.codes < 0, -1, part.codes + at) for part, at in zip(parts, offsets, strict=False)]
    )
    labels = [label for part in parts for label in part.labels]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    first = replace(first, personal=merged([part.personal for part in parts]), items=_items(parts))
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    if first.ids is None:
        if same_ids:
            raise RequestError("Rows without ids cannot have the same ids.", hint="Omit --same-ids.")
        return replace(first, indptr=indptr, codes=codes, labels=labels, beside=_beside(parts))
    numbers: dict[str, int] = {}
    ids = [label for part in parts for label in part.ids or ()]
    row, firsts = rows_of(np.array([numbers.setdefault(label, len(numbers)) for label in ids], np.int64))
    if firsts.size < row.size:
        if not same_ids:
            again = [ids[at] for at in np.setdiff1d(np.arange(row.size), firsts)[:3].tolist()]
            number = row.size - firsts.size
            raise DataError(
                f"{count(number, 'id')} {are(number)} in several files: {listed(again)}.",
                hint="Add --same-ids if the same id is the same row; else make the ids differ.",
            )
        indptr, codes = joined(np.repeat(row, lengths), codes, firsts.size)
        ids = [ids[at] for at in firsts.tolist()]
    beside = _beside(parts)
    if beside.columns:
        beside = replace(beside, row=row[beside.row])
    return replace(first, indptr=indptr, codes=codes, labels=labels, ids=ids, beside=beside)


def _beside(parts: Sequence[RowsRead]) -> UnusedColumns:
    """Put together what the unused columns of several files say of whose rows are."""
    return UnusedColumns.joined([part.beside for part in parts], [part.indptr.size - 1 for part in parts])


def _items(parts: Sequence[RowsRead]) -> tuple[Values, ...]:
    """List what the columns of items of several files hold."""
    return tuple(column for part in parts for column in part.items)


def _laid_out(part: RowsRead) -> str:
    columns = f" with items from {listed(part.item_columns, 3)}" if part.item_columns else ""
    return f"{part.layout.format}, separator {part.layout.separator!r}{columns}"


def _refuse_options(chosen: str, given: dict[str, Any], what: str = "") -> None:
    for option, value in given.items():
        if value is not None and option not in FORMATS[chosen].takes:
            formats = [name for name, form in FORMATS.items() if option in form.takes]
            raise RequestError(
                f"The option {option} does not apply to {what or f'the format {chosen}'}, only to "
                f"{', '.join(formats)}.",
                hint="Omit it, or name another --format.",
            )
