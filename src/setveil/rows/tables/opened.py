"""Open a table: detect its form, and say how its columns are taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from setveil.base.errors import DataError, shorten, superfluous
from setveil.base.memory import Unpacked
from setveil.kernels.rows import frozen
from setveil.rows.data import evidence
from setveil.rows.data.columns import Codes, column_at
from setveil.rows.data.io.archives import is_parquet, is_xlsx
from setveil.rows.data.io.decoded import Text, as_text
from setveil.rows.data.io.dumps import without_sql
from setveil.rows.data.io.encodings import with_encoding
from setveil.rows.data.io.lines import comments_above, cut, without_lines
from setveil.rows.data.io.sniff import detect_format, head_rows, likely_separator
from setveil.rows.data.io.source import file_of
from setveil.rows.data.io.table import TextTable
from setveil.rows.data.io.written import long_separator, plain_text
from setveil.rows.data.layout import InputFile, Layout, refuse_unfit
from setveil.rows.data.named_columns import Column
from setveil.rows.data.skipped import NO_LINES
from setveil.rows.tables.how import How
from setveil.rows.tables.table import TextColumn

Split = tuple[Codes, Any, Sequence[str]]  # row boundaries, codes, labels


@dataclass(frozen=True)
class OpenedTable:
    """A table, and how its cells are taken."""

    table: Any
    texts: Callable[[Sequence[int]], list[Column]]
    holds_lists: Callable[[int], bool]
    lists: Callable[[int], Split]
    layout: Callable[[str], Layout]
    place: Callable[[int], str]
    files: tuple[InputFile, ...] = ()
    encoding: str | None = None
    notes: tuple[str, ...] = ()  # which lines were skipped


def column_values(source: Any, name: str, how: How) -> list[str]:
    """List the values of a column that some row has, missing ones omitted."""
    opened = open_table(source, [name], how)
    at = column_at(opened.table.names, name, opened.table.name)
    column = text_column(name, opened.texts([at])[0])
    used = np.unique(column.codes).tolist()
    return [label for label in (column.labels[code] for code in used) if label]


def column_pairs(source: Any, names: tuple[str, str], how: How) -> list[tuple[str, str]]:
    """List the different pairs of values that two columns have in one row."""
    opened = open_table(source, names, how)
    at = [column_at(opened.table.names, name, opened.table.name) for name in names]
    one, other = (text_column(name, text) for name, text in zip(names, opened.texts(at), strict=True))
    pairs = np.unique(np.column_stack([one.codes, other.codes]), axis=0).tolist()
    return [(one.labels[a], other.labels[b]) for a, b in pairs]


def open_table(source: Any, sought: Collection[str], how: How, *, apart: bool = False) -> OpenedTable:
    """Open a table that is known to have the columns `sought`.

    Its separator is the one between them in the header. `apart`: options of text are for another table;
    encoding and separator are ignored if they do not apply.
    """
    found = file_of(source)
    if found is None:
        _refuse_text_options(how, apart, "a data frame")
        return _frame(source, "the data frame", how, ())
    content, name = found.content, found.name
    files = (InputFile(found.path, found.sha256, found.compression),)
    if not content.strip():
        raise DataError(f"{name} is empty, expected a table.")
    if is_xlsx(content):
        from setveil.rows.data.io.xlsx import read_sheet_lines

        _refuse_text_options(how, apart, "a spreadsheet")
        sheet, notes = read_sheet_lines(found, how.sheet, lines=NO_LINES if apart else how.lines)
        return replace(_frame(sheet, name, how, files), notes=tuple(notes))
    if how.format == "parquet" or (how.format is None and is_parquet(content)):
        refuse_unfit("a file without sheets", sheet=how.sheet)
        _refuse_text_options(how, apart, "a Parquet file")
        return _frame(_parquet(content, name), name, how, files)
    ask = partial(with_encoding, how.encoding, found.path if apart else "")
    text = without_sql(as_text(content, name, how.encoding, ask=ask), how.sheet)
    text = cut(text, NO_LINES if apart else how.lines)
    if how.format == "jsonl" or (how.format is None and detect_format(found.inner, content) == "jsonl"):
        if how.separator is not None:
            raise superfluous("separator", "The option separator does not apply to JSON lines.")
        from setveil.rows.data.io.records import RecordTable

        records = RecordTable(text)
        return OpenedTable(
            records, records.columns, records.holds_lists, records.lists,
            lambda called: Layout("jsonl", item_column=called, objects=True), records.place,
            files, text.encoding,
        )  # fmt: skip
    if not text.settled and text.content.lstrip().startswith(b"#"):
        text = without_lines(text, comments_above(text, how.separator or _separator(text, sought)))
    text, separator = _plain(text, sought, how)
    table = TextTable(text, separator, titled=True)
    return OpenedTable(
        table, table.columns, lambda _: False, lambda _: ((), (), ()),  # type: ignore[arg-type, return-value]
        lambda called: Layout("wide", table.separator, item_columns=(called,)), table.place,
        files, text.encoding, (*text.notes, *table.notes),
    )  # fmt: skip


def _refuse_text_options(how: How, apart: bool, what: str) -> None:
    options = [name for name in ("encoding", "separator", "quote") if getattr(how, name) is not None]
    if options and not apart:
        raise superfluous(options[0], f"The option {options[0]} does not apply to {what}.")


def _frame(frame: object, name: str, how: How, files: tuple[InputFile, ...]) -> OpenedTable:
    from setveil.rows.data import cells

    table = cells.frame_table(frame, name, how.id_column)
    return OpenedTable(
        table,
        lambda wanted: cells.texts_of(table, wanted),
        lambda at: cells.holds_lists(table, at),
        lambda at: cells.lists_of(table, at),
        lambda called: Layout("parquet", item_column=called),
        lambda row: f"{name}, row {row} counted from 0",
        files,
    )


def _parquet(content: bytes, name: str) -> Any:
    import io

    import polars as pl

    from setveil.rows.data.io.footer import least_memory

    Unpacked(name).require(least_memory(content))
    try:
        return pl.read_parquet(io.BytesIO(content))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{name} cannot be read as Parquet: {shorten(str(error), 200)}.") from None


def _plain(text: Text, sought: Collection[str], how: How) -> tuple[Text, str]:
    """Turn a text into plain csv, and tell what stands between its fields."""
    text, separator = plain_text(text, how.separator, how.quote)
    if separator is None and (long := long_separator(text)):
        text, separator = plain_text(text, long, how.quote)
    return text, separator or _separator(text, sought)


def _separator(text: Text, sought: Collection[str]) -> str:
    """Tell what stands between fields: what gives the header most named columns, else most fields."""

    def fits(sign: str) -> tuple[int, int]:
        rows = head_rows(text, sign)
        width = evidence.common_width(rows)[0]
        named = max((len({*sought} & {*row}) for row in rows if len(row) == width), default=0)
        return named, width if rows and len(rows[0]) == width else 1

    likely = likely_separator(text)
    signs: list[str] = [likely, *evidence.SEPARATORS.replace(likely, "")]
    return max(signs, key=fits)


def text_column(name: str, column: Column) -> TextColumn:
    """Give equal texts one code: a quoted field may equal a bare one."""
    numbers: dict[str, int] = {}
    image = [numbers.setdefault(label, len(numbers)) for label in column.labels]
    return TextColumn(name, frozen(np.array(image, np.int32)[column.codes], np.int32), tuple(numbers))
