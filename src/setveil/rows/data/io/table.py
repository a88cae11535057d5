"""Read tables of text: long, wide and one-hot."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from setveil.base.errors import DataError, TableError, shorten
from setveil.base.wording import are, count
from setveil.kernels.tokens import tokenize
from setveil.rows.data import evidence, headers
from setveil.rows.data.columns import NOTHING, Codes, Wanted, guess_columns
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.lines import as_spec, in_words, stray_lines, strays_said, without_headers
from setveil.rows.data.io.sniff import head_rows, likely_separator
from setveil.rows.data.io.text import refuse_open_quote, unquoted
from setveil.rows.data.io.written import with_fitting_header
from setveil.rows.data.lacking import PLAIN, Lacking
from setveil.rows.data.layout import Layout
from setveil.rows.data.named_columns import Column
from setveil.rows.data.rows_of_columns import read_table
from setveil.rows.data.rows_read import RowsRead

if TYPE_CHECKING:
    import polars as pl

_ENDS = 0.05  # of the lines that are longer than most, if lines end after different numbers of items
_MANY = 8  # values of a table for each of its lines: then a column is better sorted than looked up


def read_long(
    text: Text,
    separator: str | None,
    id_column: str | None,
    item_column: str | None,
    delimiter: str | None,
    lacking: Lacking = PLAIN,
) -> RowsRead:
    """Read lines of an id and an item, or several; those of the same id, wherever they stand, are one row."""
    wanted = Wanted(id_column, item_column, None, delimiter, lacking=lacking)
    return read_table(TextTable(text, separator, wanted), "long", wanted)


def read_wide(
    text: Text,
    separator: str | None,
    id_column: str | None,
    item_columns: str | Sequence[str] | None,
    delimiter: str | None,
    lacking: Lacking = PLAIN,
) -> RowsRead:
    """Read lines with several columns of items."""
    wanted = Wanted(id_column, None, item_columns, delimiter, lacking=lacking)
    return read_table(TextTable(text, separator, wanted), "wide", wanted)


def read_onehot(
    text: Text,
    separator: str | None,
    id_column: str | None,
    item_columns: str | Sequence[str] | None,
    yes: str | Sequence[str] | None = None,
    lacking: Lacking = PLAIN,
) -> RowsRead:
    """Read lines with a column for each item, by default all columns but that of the ids."""
    wanted = Wanted(id_column, None, item_columns, None, yes, lacking)
    return read_table(TextTable(text, separator, wanted), "onehot", wanted)


def read_named(text: Text, separator: str | None, wanted: Wanted) -> RowsRead:
    """Read a table of which columns were named, but not the layout."""
    return read_table(TextTable(text, separator, wanted), None, wanted)


def read_unnamed(text: Text, separator: str | None, wanted: Wanted = NOTHING) -> RowsRead | None:
    """Read a long table whose two columns are named unmistakably; None if the text is anything else."""
    table = TextTable(text, separator)
    return None if table.agreed(said=False) is None else read_table(table, "long", wanted)


class TextTable:
    """Lines of as many fields; the first is a header if `titled`, a column's name, or unlike others."""

    def __init__(
        self, text: Text, separator: str | None, wanted: Wanted = NOTHING, *, titled: bool = False
    ) -> None:
        self.name = text.name
        self.separator = Layout("long", separator or likely_separator(text)).separator
        self.text = text = with_fitting_header(text, self.separator)
        rows = head_rows(text, self.separator)
        text, rows = _with_row_names(text, self.separator, rows)
        self.from_end = False  # whether short lines were filled up in front
        if not (titled or text.header_lines is not None or (rows and wanted.names_of(rows[0]))):
            text, rows, self.from_end = _filled_in_front(text, self.separator, rows)
        first = rows[0] if rows else []
        above = text.header_lines or 1
        if above > 1:
            rows = [_joined_names(rows[:above]), *rows[above:]]
        self.width = len(rows[0]) if rows else 0
        usual, _ = evidence.common_width(rows)
        whole = [row + [""] * (self.width - len(row)) for row in rows if len(row) <= self.width]
        named = bool(rows) and wanted.names_of(rows[0])
        short = self.width > max(usual, 1) and len(whole) == len(rows)
        short = short and (named or headers.has_header(whole))
        self.trimmed = False  # whether empty fields at the end of a line are left out
        if self.from_end:
            self.trimmed = True
        elif evidence.has_columns(rows) and not short:  # title lines stand above what has the usual width
            self.width = usual
        elif self.width > 1 and len(whole) == len(rows):
            self.trimmed = True
            rows = whole
        if not (self.trimmed or named or titled) and (ragged := _with_ends(text, rows, self.separator)):
            self.trimmed, self.width, rows = True, len(ragged[0]), ragged
        whole = [row for row in rows if len(row) == self.width]
        self.outside = [row for row in rows if len(row) != self.width]
        named = bool(whole) and wanted.names_of(whole[0])
        said = text.header_lines is not None
        self.header = said or titled or named or len(rows) < 2 or headers.has_header(whole)
        self.header &= not self.from_end
        self.names = list(whole[0]) if self.header and whole else [str(at + 1) for at in range(self.width)]
        head = whole[1:] if self.header else whole
        self.above = above if self.header else 0  # lines above the data
        repeated = 0
        if self.header and whole:
            written = whole[0] if above == 1 else first
            text, repeated = without_headers(text, written, self.separator)
            head = [row for row in head if row != written]
        self.head = head
        self.text = text
        self.settled = text.last_said
        self.header_lines = 1 if said or not self.header else headers.header_lines(whole)
        self.notes = (*self._noted(repeated),)

    def _noted(self, repeated: int) -> list[str]:
        """Say what of the lines is worth knowing."""
        notes = []
        if self.header and self.width > 1 and not self.names[0] and all(self.names[1:]):
            notes.append("The header has no name for its first column, which is column 1.")
        if self.above > 1:
            notes.append(f"{count(self.above, 'line')} above the data are its header.")
        if repeated:
            equals, were = ("equals", "was") if repeated == 1 else ("equal", "were")
            notes.append(f"{count(repeated, 'more line')} {equals} the header and {were} skipped.")
        return notes

    def agreed(self, *, said: bool) -> tuple[int, int] | None:
        """Find id and item column where two columns are named unmistakably, and their values agree."""
        places = guess_columns(self.names) if self.header and (said or not self._irregular) else None
        if places is None:
            return None
        ids, items = ([row[at] for row in self.head] for at in places)
        return places if said or evidence.is_id_and_item(ids, items) else None

    def columns(
        self, wanted: Sequence[int], *, id_at: int | None = None, marks: bool = False
    ) -> list[Column]:
        """Read some columns of all lines."""
        text = self.text
        keep = np.zeros(self.width, np.bool_)
        keep[list(wanted)] = True
        short = marks and self.trimmed
        tokens = tokenize(text.content, separator=self.separator, quotes=True, keep=keep, short=short)
        refuse_open_quote(text, tokens)
        if tokens.fault >= 0:
            raise self._other_width(text.where(tokens.fault), tokens.width)
        lengths = np.diff(tokens.indptr)
        cells = np.full((lengths.size, int(keep.sum())), -1, np.int64)
        cells[np.arange(cells.shape[1]) < lengths[:, None]] = tokens.codes
        cells = cells[self.above :]
        if not cells.size:
            raise DataError(f"{text.name}: there is a header, but no line of data below it.")
        spans = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
        place = np.cumsum(keep) - 1
        return [self._column(cells[:, place[at]], spans) for at in wanted]

    def _other_width(self, where: str, width: int) -> DataError:
        """Make the error that names all lines that have another number of fields."""
        message = (
            f"{where}: the number of fields is {width}, expected {self.width} as in "
            f"{'the header' if self.header else 'the other lines'}"
        )
        strays = stray_lines(self.text, self.separator, self.width)
        if not strays:
            return DataError(
                f"{message}.",
                hint="Quote fields that contain the separator; rows of items are read with --format basket.",
            )
        more = "" if len(strays) == 1 else f"; {strays_said(strays, self.width)}"
        spec = as_spec(sorted({*self.text.left, *strays}))
        which = in_words(strays)
        error = TableError(f"{message}{more}", [], [({"skip_lines": spec}, f"{which}: no data")])
        error.trouble = (
            "Quote fields that contain the separator, or skip lines above the header and below the table"
        )
        error.say_how()
        return error

    def texts(self, at: int) -> tuple[Codes, list[str]]:
        """Read a column as texts, whatever it contains."""
        (column,) = self.columns([at], marks=True)
        return column.codes, column.labels

    def cells(self, at: int) -> pl.Series | None:
        """List the texts of a column, blanks around them omitted; None if polars cannot read the table."""
        import polars as pl

        try:
            frame = pl.read_csv(
                self.text.content, separator=self.separator, has_header=False, skip_rows=self.above,
                columns=[at], infer_schema=False, truncate_ragged_lines=True,
            )  # fmt: skip
        except pl.exceptions.PolarsError:
            return None
        return frame.to_series().str.strip_chars(" \t").fill_null("")

    def _column(self, tokens: Codes, spans: list[tuple[int, int]]) -> Column:
        content, lacking = self.text.content, len(spans)  # what stands for fields that a short line lacks
        present, codes = _numbered(np.where(tokens < 0, lacking, tokens), lacking + 1)
        labels = [
            unquoted(self.text, content[slice(*spans[code])], spans[code][0]) if code < lacking else ""
            for code in present.tolist()
        ]
        return Column(
            codes, labels, self.place
        )  # the same text may stand in a line before, in another column

    def skip(self, rows: Sequence[int], *, last: bool) -> list[dict[str, str]]:
        """Say by which options rows are skipped; `last`: it is one, and the last."""
        if last:
            return [{"skip_last": "1"}]
        numbers = [int(self.place(row).rpartition(" ")[2].replace(",", "")) for row in rows]
        return [{"skip_lines": as_spec(sorted({*self.text.left, *numbers}))}]

    def place(self, row: int) -> str:
        """Say where a row stands."""
        text = self.text.content.decode("utf-8", "replace")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator, skipinitialspace=True)
        start = 1
        with contextlib.suppress(csv.Error):  # of fields that are longer than it reads
            for fields in reader:
                row -= any(field.strip(" \t") for field in fields) or len(fields) > 1
                if row + self.above < 0:
                    return f"{self.name}, line {self.text.original(start):,}"
                start = reader.line_num + 1
        return self.name

    @property
    def _irregular(self) -> bool:
        return bool(self.outside) or self.trimmed

    @property
    def trouble(self) -> str:
        """Say what must be mended before columns can be read."""
        if not self.outside:
            return ""
        strays = stray_lines(self.text, self.separator, self.width)
        number = len(strays) or len(self.outside)
        them = "it" if number == 1 else "them"
        if strays:
            skip = f", or skip {them} (--skip-lines {as_spec(strays)})"
            lines = strays_said(strays, self.width)
        else:
            one = f"such as the one with {shorten(self.outside[0][0])} in front"
            lines = f"{count(number, 'line')} {are(number)} not of {self.width} fields like the others, {one}"
            skip = ""
        return f"{lines}: mend or remove {them}{skip}, then name columns"


def _with_row_names(text: Text, separator: str, rows: list[list[str]]) -> tuple[Text, list[list[str]]]:
    """Add the empty name of the first column where the header lacks it, as for row names of R."""
    width = len(rows[0]) + 1 if rows else 0
    quoted = separator != " " or b'"' in text.content  # as R writes words between blanks
    if len(rows) < evidence.FEW or not quoted or any(len(row) != width for row in rows[1:]):
        return text, rows
    completed = [["", *rows[0]], *rows[1:]]
    first = [row[0] for row in rows[1:]]
    if (
        not headers.name_lines(first)
        or not all(rows[0])
        or not headers.has_header([row[1:] for row in completed])
    ):
        return text, rows
    blank = len(text.content) - len(text.content.lstrip(b" \t\r\n"))
    content = text.content[:blank] + separator.encode() + text.content[blank:]
    return replace(text, content=content), completed


def _filled_in_front(text: Text, separator: str, rows: list[list[str]]) -> tuple[Text, list[list[str]], bool]:
    """Fill up lines in front that begin with different numbers of items, and say whether they are such."""
    if not evidence.end_alike(rows):
        return text, rows, False
    lines = text.content.decode("utf-8", "replace").splitlines(keepends=True)
    bare = (line.rstrip("\r\n") for line in lines)
    try:
        found = list(csv.reader(bare, delimiter=separator, skipinitialspace=True))
    except csv.Error:  # of fields that are longer than it reads
        return text, rows, False
    width = max(map(len, found))
    filled = [[""] * (width - len(row)) + row for row in rows]
    if len(found) != len(lines) or headers.has_header(filled):
        return text, rows, False
    empty = f'""{separator}'
    content = "".join(
        line if not line.strip() else empty * (width - len(row)) + line.lstrip(" ")
        for line, row in zip(lines, found, strict=True)
    )
    return replace(text, content=content.encode()), filled, True


def _joined_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Name columns by the first of several header lines that has a name for them."""
    width = max(map(len, rows), default=0)
    return [next((row[at] for row in rows if at < len(row) and row[at]), "") for at in range(width)]


def _with_ends(text: Text, rows: Sequence[Sequence[str]], separator: str) -> list[list[str]]:
    """Make lines of different numbers of items as long as the longest; empty: they have a header."""
    usual, share = evidence.common_width(rows)
    longer = sum(len(row) > usual for row in rows)
    alike = longer < _ENDS * len(rows) and share >= evidence.ALIKE
    if min(map(len, rows), default=0) < 2 or alike:
        return []
    width = max(map(len, rows))
    if b'"' not in text.content and separator.strip():
        sign = separator.encode()
        width = max(width, max(line.count(sign) for line in text.content.splitlines()) + 1)
    found = [[*row, *[""] * (width - len(row))] for row in rows]
    return [] if headers.has_header([row[: len(rows[0])] for row in found]) else found


def _numbered(tokens: Codes, n: int) -> tuple[Codes, Codes]:
    """List the tokens below `n` that a column holds, ascending, and the place of each in that list."""
    if n > _MANY * tokens.size:  # of a line with very many columns
        present, places = np.unique(tokens, return_inverse=True)
        return present, places.astype(np.int64)
    used = np.zeros(n, bool)
    used[tokens] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[tokens]
