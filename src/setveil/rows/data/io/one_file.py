"""Read one file, of any format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from setveil.base.errors import DataError, RequestError, TableError
from setveil.rows.data import evidence
from setveil.rows.data.columns import Wanted
from setveil.rows.data.io.archives import is_xlsx
from setveil.rows.data.io.decoded import DAMAGED, Text, as_text
from setveil.rows.data.io.dumps import without_sql
from setveil.rows.data.io.encodings import with_encoding
from setveil.rows.data.io.integers import require_numbers
from setveil.rows.data.io.lines import cut
from setveil.rows.data.io.request import ReadingRequest, refuse_lines, refuse_options, table_format
from setveil.rows.data.io.sniff import detect_format, head_rows, likely_separator
from setveil.rows.data.io.source import Source
from setveil.rows.data.layout import FORMATS, function_of, refuse_unfit
from setveil.rows.data.rows_read import RowsRead
from setveil.rows.data.skipped import SAID as OF_LINES
from setveil.rows.data.skipped import lines_of


def read_beginning(
    source: Source,
    format: str | None,  # noqa: A002
    encoding: str | None,
    separator: str | None,
) -> RowsRead:
    """Read what a file begins with as `read` reads a whole one."""
    return read_source(source, ReadingRequest(format, encoding, separator, Wanted(None, None, None), False))[
        0
    ]


def first_lines(
    source: Source, encoding: str | None = None, separator: str | None = None, quote: str | None = None
) -> list[list[str]]:
    """Split the first lines of a text into fields, whatever they hold."""
    from setveil.rows.data.io.written import plain_text

    text = without_sql(as_text(source.content, source.name, encoding), None)
    text, sign = plain_text(text, separator, quote)
    rows = head_rows(text, sign or likely_separator(text))
    if not rows:
        raise DataError(f"{source.name}: there are no lines of fields.")
    return rows[: evidence.FEW]


def read_source(source: Source, request: ReadingRequest) -> tuple[RowsRead, str | None]:
    """Read one file."""
    content, name = source.content, source.name
    if not content:
        raise DataError(f"{name} is an empty file, expected rows of items.")
    if not content.strip(b" \t\r\n"):  # a label may be of other blanks, such as a form feed
        raise DataError(f"{name} contains only blank lines, expected rows of items.")
    if is_xlsx(content):
        from setveil.rows.data.frames import read_frame
        from setveil.rows.data.io.xlsx import read_sheet_lines

        refuse_options("parquet", {"separator": request.separator}, "a spreadsheet")
        refuse_unfit("a spreadsheet", quote=request.quote)
        form = table_format(request, "a spreadsheet")
        try:
            sheet, notes = read_sheet_lines(source, request.sheet, lines=request.lines)
        except TableError as question:
            raise _with_columns(question, source, request) from None
        last = None if request.lines.skip_last is None else 0
        found = read_frame(sheet, request.wanted, name, form, skip_last=last)
        return replace(found, notes=(*notes, *found.notes)), None
    chosen = request.format or detect_format(source.inner, content)
    values = request.explicit_options()
    part: RowsRead
    if not FORMATS[chosen].text:
        refuse_options(chosen, values)
        refuse_unfit("a file without sheets", sheet=request.sheet)
        refuse_unfit(f"the format {chosen}", quote=request.quote)
        refuse_lines(request, f"the format {chosen}")
        options = request.options(chosen) | {"skip_last": request.lines.skip_last}
        part = function_of(FORMATS[chosen].reader)((content, name), **options)
        if part.layout.nested:
            refuse_unnamed_ids(part, name, request)
        return part, None
    try:
        text = text_of(source, request)
    except TableError as question:
        raise _with_columns(question, source, request) from None
    chosen = request.format or detect_format(source.inner, text.content)
    if "separator" in FORMATS[chosen].takes or (request.format is None and chosen != "jsonl"):
        from setveil.rows.data.io.undeclared import read_separated

        return read_separated(text, chosen, request), text.encoding
    refuse_options(chosen, values)
    refuse_unfit(f"the format {chosen}", quote=request.quote)
    if not request.published:
        require_numbers(text, chosen, request, _can_be_read)
    try:
        part = function_of(FORMATS[chosen].reader)(text, **request.options(chosen))
    except TableError as question:  # of records, in which nothing says which keys count
        from setveil.rows.data.io.undeclared import works

        said = {name: value for name, value in values.items() if isinstance(value, str)}
        question.keep(lambda options: works(text, request, {"format": chosen, **said, **options}))
        raise
    except DataError as error:  # of arrays, with what is no item in between; of lines that are no numbers
        from setveil.rows.data.io.undeclared import question_of_texts

        question_or_none = question_of_texts(error, text, chosen, request) or _question_of_arrays(
            text, request, ""
        )
        raise question_or_none or error from None
    try:
        refuse_unnamed_ids(part, name, request)
    except TableError as error:
        from setveil.rows.data.ids_in_lines import why_sets_are_table

        why = why_sets_are_table(_first_rows(part), "array")
        raise _question_of_arrays(text, request, why) or error from None
    return replace(part, notes=(*text.notes, *part.notes)), text.encoding


def _can_be_read(text: Text, request: ReadingRequest, options: Mapping[str, str]) -> bool:
    from setveil.rows.data.io.undeclared import can_be_read

    return can_be_read(text, request, options)


def _with_columns(question: TableError, source: Source, request: ReadingRequest) -> DataError:
    """Ask about columns together with the encoding, the sheet, or rows of a sheet that are no data."""
    known = (*OF_LINES, "encoding", "sheet")
    if any(name not in known for options, _ in question.readings for name in options):
        return question
    readings: list[tuple[Mapping[str, Any], str]] = []
    columns = question.columns
    for options, meaning in question.readings:
        said = {**request.lines.as_dict(), **{name: options[name] for name in OF_LINES if name in options}}
        encoding, sheet = options.get("encoding", request.encoding), options.get("sheet", request.sheet)
        try:
            read_source(source, replace(request, lines=lines_of(**said), encoding=encoding, sheet=sheet))
            readings.append((options, meaning))
        except TableError as error:
            columns = columns if columns or "sheet" in options else error.columns
            readings += [({**options, **more}, f"{meaning}; {how}") for more, how in error.readings]
        except (DataError, RequestError):
            continue
    message = question.message.partition(":\n    ")[0].removesuffix(".")
    if not readings and all("sheet" in options for options, _ in question.readings):
        return question
    if not readings and all("encoding" in options for options, _ in question.readings):
        return DataError(f"{message}.", hint=DAMAGED)
    return TableError(message, columns, readings, question.trouble)


def _question_of_arrays(text: Text, request: ReadingRequest, why: str) -> TableError | None:
    """Ask which elements of arrays are items, if a reading by their places works."""
    from setveil.rows.data.io.records import RecordTable
    from setveil.rows.data.io.undeclared import works
    from setveil.rows.data.readings import refusal

    if request.published or not request.silent:
        return None
    try:
        table = RecordTable(text)
    except (DataError, ValueError):
        return None
    if table.header:
        return None
    question = refusal(table, why)
    question.keep(lambda options: works(text, request, {**options, "format": "jsonl"}))
    return question if question.readings else None


def refuse_unnamed_ids(part: RowsRead, name: str, request: ReadingRequest) -> None:
    """Raise if arrays or lists that are not declared as rows of items may contain ids."""
    if not request.published and request.silent and part.ids is None:
        from setveil.rows.data.readings import refuse_ids_in_lists

        refuse_ids_in_lists(_first_rows(part), name, next(iter(part.item_columns), ""))


def _first_rows(part: RowsRead) -> list[list[str]]:
    return [
        [part.labels[code] for code in part.codes[start:end].tolist() if code >= 0]
        for start, end in pairwise(part.indptr[: evidence.LINES + 1].tolist())
    ]


def text_of(source: Source, request: ReadingRequest) -> Text:
    """Decode a text, without the lines that are no data."""
    ask = partial(with_encoding, request.encoding, source.path if request.also or request.beside else "")
    text = as_text(source.content, source.name, request.encoding, ask=ask)
    return cut(without_sql(text, request.sheet), request.lines)
