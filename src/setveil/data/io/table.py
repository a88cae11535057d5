"""Read tables of text: long, wide and one-hot."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from setveil.data import evidence
from setveil.data.columns import NOTHING, Codes, Wanted, guess_columns
from setveil.data.io.sniff import head_rows, likely_separator
from setveil.data.io.source import Text
from setveil.data.io.text import refuse_open_quote, unquoted
from setveil.data.io.written import with_fitting_header
from setveil.data.layout import Layout
from setveil.data.named_columns import Column
from setveil.data.rows_of_columns import RowsRead, read_table
from setveil.errors import DataError, shorten
from setveil.kernels.tokens import tokenize
from setveil.wording import are, count

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
) -> RowsRead:
    """Read lines of an id and an item, or several; those of the same id, wherever they stand, are one row."""
    wanted = Wanted(id_column, item_column, None, delimiter)
    return read_table(TextTable(text, separator, wanted), "long", wanted)


def read_wide(
    text: Text,
    separator: str | None,
    id_column: str | None,
    item_columns: str | Sequence[str] | None,
    delimiter: str | None,
) -> RowsRead:
    """Read lines with several columns of items."""
    wanted = Wanted(id_column, None, item_columns, delimiter)
    return read_table(TextTable(text, separator, wanted), "wide", wanted)


def read_onehot(
    text: Text,
    separator: str | None,
    id_column: str | None,
    item_columns: str | Sequence[str] | None,
    yes: str | Sequence[str] | None = None,
) -> RowsRead:
    """Read lines with a column for each item, by default all columns but that of the ids."""
    wanted = Wanted(id_column, None, item_columns, None, yes)
    return read_table(TextTable(text, separator, wanted), "onehot", wanted)


def read_named(text: Text, separator: str | None, wanted: Wanted) -> RowsRead:
    """Read a table of which columns were named, but not the layout."""
    return read_table(TextTable(text, separator, wanted), None, wanted)


def read_unnamed(text: Text, separator: str | None) -> RowsRead | None:
    """Read a long table whose two columns are named unmistakably; None if the text is anything else."""
    table = TextTable(text, separator)
    return None if table.agreed(said=False) is None else read_table(table, "long", Wanted())


class TextTable:
    """A table of text: a header line, if there is one, and lines of as many fields.

    The first line is a header if a column is named as it stands there, or if it is unlike the others.

    Parameters
    ----------
    separator : str or None
        Between fields; by default detected.
    titled : bool
        Whether the first line is known to be a header.
    """

    def __init__(
        self, text: Text, separator: str | None, wanted: Wanted = NOTHING, *, titled: bool = False
    ) -> None:
        self.name = text.name
        self.separator = Layout("long", separator or likely_separator(text)).separator
        self.text = text = with_fitting_header(text, self.separator)
        rows = head_rows(text, self.separator)
        self.width = len(rows[0]) if rows else 0
        usual, _ = evidence.common_width(rows)
        whole = [row + [""] * (self.width - len(row)) for row in rows if len(row) <= self.width]
        named = bool(rows) and wanted.names_of(rows[0])
        short = self.width > max(usual, 1) and len(whole) == len(rows)
        short = short and (named or evidence.has_header(whole))
        self.trimmed = False  # whether empty fields at the end of a line are left out
        if evidence.is_table(rows) and not short:  # title lines stand above what has the usual width
            self.width = usual
        elif self.width > 1 and len(whole) == len(rows):
            self.trimmed = True
            rows = whole
        if not (self.trimmed or named or titled) and (ragged := _with_ends(text, rows, self.separator)):
            self.trimmed, self.width, rows = True, len(ragged[0]), ragged
        whole = [row for row in rows if len(row) == self.width]
        self.outside = [row for row in rows if len(row) != self.width]
        named = bool(whole) and wanted.names_of(whole[0])
        self.header = titled or named or len(rows) < 2 or evidence.has_header(whole)
        self.names = list(whole[0]) if self.header and whole else [str(at + 1) for at in range(self.width)]
        self.head = whole[1:] if self.header else whole

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
            raise DataError(
                f"{text.where(tokens.fault)}: the number of fields is {tokens.width}, "
                f"expected {self.width} as in {'the header' if self.header else 'the other lines'}.",
                hint="Remove lines above the header and below the table, quote fields that hold the "
                "separator; rows of items are read with --format basket.",
            )
        lengths = np.diff(tokens.indptr)
        cells = np.full((lengths.size, int(keep.sum())), -1, np.int64)
        cells[np.arange(cells.shape[1]) < lengths[:, None]] = tokens.codes
        cells = cells[1 if self.header else 0 :]
        if not cells.size:
            raise DataError(f"{text.name}: there is a header, but no line of data below it.")
        spans = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
        place = np.cumsum(keep) - 1
        return [self._column(cells[:, place[at]], spans) for at in wanted]

    def texts(self, at: int) -> tuple[Codes, list[str]]:
        """Read a column as texts, whatever it contains."""
        (column,) = self.columns([at], marks=True)
        return column.codes, column.labels

    def cells(self, at: int) -> pl.Series | None:
        """List the texts of a column, blanks around them omitted; None if polars cannot read the table."""
        import polars as pl

        try:
            frame = pl.read_csv(
                self.text.content, separator=self.separator, has_header=False, skip_rows=int(self.header),
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

    def place(self, row: int) -> str:
        """Say where a row stands."""
        text = self.text.content.decode("utf-8", "replace")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator, skipinitialspace=True)
        start = self.text.before + 1
        with contextlib.suppress(csv.Error):  # of fields that are longer than it reads
            for fields in reader:
                row -= any(field.strip(" \t") for field in fields) or len(fields) > 1
                if row + self.header < 0:
                    return f"{self.name}, line {start:,}"
                start = self.text.before + reader.line_num + 1
        return self.name

    @property
    def _irregular(self) -> bool:
        return bool(self.outside) or self.trimmed

    @property
    def trouble(self) -> str:
        """Say what must be mended before columns can be read."""
        if not self.outside:
            return ""
        number = len(self.outside)
        lines = f"{count(number, 'line')} {are(number)} not of {self.width} fields like the others"
        which = shorten(self.outside[0][0], 30)
        mend = f"mend or remove {'it' if number == 1 else 'them'}, then name columns"
        return f"{lines}, such as the one with {which} in front: {mend}"


def _with_ends(text: Text, rows: Sequence[Sequence[str]], separator: str) -> list[list[str]]:
    """Make lines without a header, which end after different numbers of items, as long as the longest.

    Empty: lines are not such; a header, or few lines of another length, are something else.
    """
    usual, _ = evidence.common_width(rows)
    if min(map(len, rows), default=0) < 2 or sum(len(row) > usual for row in rows) < _ENDS * len(rows):
        return []
    width = max(map(len, rows))
    if b'"' not in text.content and separator.strip():
        sign = separator.encode()
        width = max(width, max(line.count(sign) for line in text.content.splitlines()) + 1)
    found = [[*row, *[""] * (width - len(row))] for row in rows]
    return [] if evidence.has_header([row[: len(rows[0])] for row in found]) else found


def _numbered(tokens: Codes, n: int) -> tuple[Codes, Codes]:
    """List the tokens below `n` that a column holds, ascending, and the place of each in that list."""
    if n > _MANY * tokens.size:  # of a line with very many columns
        present, places = np.unique(tokens, return_inverse=True)
        return present, places.astype(np.int64)
    used = np.zeros(n, bool)
    used[tokens] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[tokens]
