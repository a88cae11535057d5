"""Further files about the same people: read them, and ask for the columns of items."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, TableError, faces
from setveil.rows.data.also import Also
from setveil.rows.data.columns import Wanted, names_several
from setveil.rows.data.ids import require_no_ids
from setveil.rows.data.io.request import ReadingRequest
from setveil.rows.data.io.several_files import file_parts
from setveil.rows.data.lacking import Lacking
from setveil.rows.data.layout import InputFile
from setveil.rows.data.rows_read import RowsRead, refuse_rounded_parts, without_words
from setveil.rows.data.skipped import OF_LACKING, Lines


def further_parts(request: ReadingRequest, id_column: str | None) -> tuple[list[RowsRead], list[InputFile]]:
    """Read the further files of a request."""
    unknown = [path for path in request.lines.files if path not in {one.path for one in request.also}]
    if unknown:
        raise RequestError(f"--skip-lines names {unknown[0]}, which no --also reads.")
    read = [_further_part(one, request, id_column) for one in request.also]
    return [part for part, _ in read], [file for _, file in read]


def read_further(
    also: Sequence[Also],
    id_column: str,
    encoding: str | None,
    lines: Lines,
    lacking: Lacking,
    not_ids: Sequence[str],
) -> list[tuple[RowsRead, InputFile]]:
    """Read further files about the people of a table: the items of each ID."""
    wanted = Wanted(id_column, None, None)
    request = ReadingRequest(
        None, encoding, None, wanted, False, lines=lines, lacking=lacking, also=tuple(also)
    )
    found = [_further_part(one, request, id_column) for one in also]
    for part, file in found:
        require_no_ids(file.path, part.items, not_ids)
        refuse_rounded_parts(file.path, part)
    return [(without_words(part, file.path, lacking.alone()), file) for part, file in found]


def _further_part(one: Also, request: ReadingRequest, id_column: str | None) -> tuple[RowsRead, InputFile]:
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
    own_request = replace(
        request, format=None, separator=None, wanted=wanted, sheet=one.sheet, quote=None,
        lines=request.lines.of_file(one.path), lacking=request.lacking.alone(), also=(), beside=True,
    )  # fmt: skip
    try:
        parts, files, _ = file_parts([one.path], own_request)
    except TableError as error:
        raise _question_of_also(error, one, request) from None
    except (DataError, RequestError) as error:
        if one.columns is None and one.path == one.text and Path(one.path).is_file():
            if (column := _column_of(own_request, one.path)) and len(request.also) == 1:
                raise _question_of_column(error, one, column) from None
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


def _question_of_also(error: TableError, one: Also, request: ReadingRequest) -> DataError:
    """Ask what becomes of lines of a further file, by options that apply to it."""
    message = error.message.partition(":\n    ")[0].removesuffix(".")
    ways: list[tuple[Mapping[str, Any], str]] = []
    for options, meaning in error.readings:
        said = {name: value for name, value in options.items() if name in OF_LACKING}
        if "encoding" in options:
            said["encoding"] = options["encoding"]
        if "skip_lines" in options:
            said["skip_lines"] = request.lines.with_file(one.path, options["skip_lines"])
        what = "these lines are no data" if "skip_lines" in options else meaning
        if said:
            ways.append((said, f"{one.path}: {what}"))
    if ways:
        return TableError(message, [], ways if "encoding" in ways[0][0] else ways[:1])
    found = next((column for options, _ in error.readings if (column := _items_of(options))), "")
    if one.columns is None and found and len(request.also) == 1:
        return _question_of_column(error, one, found)
    hint = _named(one) if one.columns is None else f"Mend {one.path} itself."
    return DataError(error.message, hint=hint)


def _question_of_column(error: DataError | RequestError, one: Also, column: str) -> TableError:
    message = error.message.partition(":\n    ")[0].removesuffix(".")
    return TableError(message, [], [({"also": f"{one.path}:{column}"}, f"items from {column} of {one.path}")])


def _items_of(options: Mapping[str, Any]) -> str:
    return str(options.get("item_column") or options.get("item_columns") or "")


def _column_of(request: ReadingRequest, path: str) -> str:
    """Find the column of items of a further file that is proposed for it; "" if there is none."""
    whose = request.wanted.id_column
    try:
        file_parts([path], replace(request, wanted=Wanted(None, None, None, lacking=request.lacking)))
    except TableError as error:
        found = (_items_of(options) for options, _ in error.readings if options.get("id_column") == whose)
        return next(found, "")
    except (DataError, RequestError):
        pass
    return ""
