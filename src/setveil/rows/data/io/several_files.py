"""Read several files, or the result of a query, and join their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from setveil.base.errors import DataError, RequestError, TableError, listed
from setveil.base.wording import are, count
from setveil.rows.data.columns import joined, rows_of
from setveil.rows.data.events import UnusedColumns
from setveil.rows.data.ids import Values
from setveil.rows.data.io.encodings import with_encoding
from setveil.rows.data.io.one_file import read_source, refuse_unnamed_ids, text_of
from setveil.rows.data.io.request import ReadingRequest, refuse_lines, refuse_options, table_format
from setveil.rows.data.io.source import Source, gather, open_source
from setveil.rows.data.layout import InputFile
from setveil.rows.data.personal import merged
from setveil.rows.data.rows_read import RowsRead

Parts = tuple[list[RowsRead], list[InputFile], list[str | None]]


def file_parts(paths: list[str], request: ReadingRequest, standard: Source | None = None) -> Parts:
    """Read each file by itself; `standard`: standard input, if that is the file and was opened before."""
    files: list[InputFile] = []
    parts: list[RowsRead] = []
    encodings: list[str | None] = []
    found = gather(paths)
    for path in found:
        source = standard or open_source(path)  # one at a time: their bytes need not all be held at once
        try:
            part, encoding = read_source(source, request)
        except TableError as error:
            error.source = source if len(found) == 1 else None
            if any("encoding" in options for options, _ in error.readings) and len(found) > 1:
                named = _encodings_of(found, request)
                message = error.message.partition(":\n    ")[0].removesuffix(".")
                raise TableError(message, [], [({"encoding": named}, "for all files")]) from None
            if len(found) > 1:  # a reading must be one of all files
                from setveil.rows.data.io.undeclared import works

                error.keep(
                    lambda options: all(
                        works(text_of(open_source(one), request), request, options) for one in found
                    )
                )
            raise
        files.append(InputFile(source.path, source.sha256, source.compression))
        parts.append(part)
        encodings.append(encoding)
    if not files:
        raise RequestError("No file is named, expected at least one.")
    return parts, files, encodings


def _encodings_of(paths: Sequence[str], request: ReadingRequest) -> str:
    """Name the encoding of several files: one for all of them, or of each that is not read as it is."""
    own = {}
    for path in paths:
        try:
            text_of(open_source(path), request)
        except TableError as error:
            own[path] = str(error.readings[0][0]["encoding"])
    if len(own) == len(paths) and len({*own.values()}) == 1:
        return with_encoding(request.encoding, "", next(iter(own.values())))
    named = request.encoding
    for path, encoding in own.items():
        named = with_encoding(named, path, encoding)
    return str(named)


def query_parts(query: str, connection: str, request: ReadingRequest) -> Parts:
    """Read the result of a query."""
    from setveil.base.redact import redacted
    from setveil.rows.data.frames import read_frame
    from setveil.rows.data.io.query import read_query

    refuse_options("parquet", {"separator": request.separator}, "a query")
    refuse_lines(request, "a query")
    table = read_query(query, connection)
    form = table_format(request, "a query")
    part = read_frame(
        table, request.wanted, "the result of the query", form, skip_last=request.lines.skip_last
    )
    if part.layout.format == "parquet":
        refuse_unnamed_ids(part, "the result of the query", request)
    return [part], [InputFile(redacted(connection), None)], [None]


def together(parts: Sequence[RowsRead], files: Sequence[InputFile], *, same_ids: bool) -> RowsRead:
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
    return united(parts, same_ids=same_ids)


def united(parts: Sequence[RowsRead], *, same_ids: bool) -> RowsRead:
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
    return tuple(column for part in parts for column in part.items)


def _laid_out(part: RowsRead) -> str:
    columns = f" with items from {listed(part.item_columns, 3)}" if part.item_columns else ""
    return f"{part.layout.format}, separator {part.layout.separator!r}{columns}"


def notes_of(parts: Sequence[RowsRead], files: Sequence[InputFile]) -> tuple[str, ...]:
    """List what was skipped, of several files with their names."""
    several = len(parts) > 1
    return tuple(
        f"{file.path}: {note}" if several else note
        for part, file in zip(parts, files, strict=True)
        for note in part.notes
        if note
    )
