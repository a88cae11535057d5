"""Read long tables: a header, then one line per id and item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setveil.data.columns import Codes, choose_columns, rows_by_id
from setveil.data.io.sniff import header_fields, header_separator
from setveil.data.io.source import Text
from setveil.data.io.text import refuse_open_quote, unquoted
from setveil.data.layout import Layout
from setveil.data.transactions import Transactions
from setveil.errors import DataError, shorten
from setveil.kernels.tokens import Tokens, tokenize


def read_long(
    text: Text, separator: str | None, id_column: str | None, item_column: str | None
) -> tuple[Transactions, Layout]:
    """Read a long table; lines of the same id, wherever they stand, are one row, by first appearance.

    Columns other than the two are not looked at. Blank lines are left out.
    """
    layout = Layout("long", separator or header_separator(text.content))
    separator = layout.separator
    names = header_fields(text.content, separator)
    id_column, item_column = choose_columns(names, id_column, item_column, where=text.name)
    id_at, item_at = names.index(id_column), names.index(item_column)
    keep = np.zeros(len(names), np.bool_)
    keep[[id_at, item_at]] = True
    tokens = tokenize(text.content, separator=separator, quotes=True, keep=keep)
    refuse_open_quote(text, tokens)
    if tokens.fault >= 0:
        raise DataError(
            f"{text.where(tokens.fault)}: the number of fields is {tokens.width}, "
            f"expected {len(names)} as in the header.",
            hint="Quote fields that hold the separator; rows of items are read with --format basket.",
        )
    cells = tokens.codes.reshape(-1, 2)[1:]  # without the header
    if not cells.size:
        raise DataError(f"{text.name}: there is a header, but no line of data below it.")
    ids, items = (cells[:, 0], cells[:, 1]) if id_at < item_at else (cells[:, 1], cells[:, 0])
    id_fields = _Fields(text, tokens, ids)
    item_fields = _Fields(text, tokens, items)
    _refuse_missing(text, {id_column: id_fields, item_column: item_fields})
    labels = item_fields.labels()
    rows = rows_by_id(id_fields.merged(), item_fields.codes)
    data = Transactions.from_codes(*rows, labels)
    return data, replace(layout, id_column=id_column, item_column=item_column)


class _Fields:
    """One column: `codes` per line into `distinct`, the numbers of its distinct fields."""

    def __init__(self, text: Text, tokens: Tokens, column: NDArray[np.int32]) -> None:
        self.text = text
        present = np.zeros(tokens.starts.size, bool)
        present[column] = True
        self.codes: Codes = (np.cumsum(present) - 1)[column]
        self.starts, self.ends = tokens.starts[present], tokens.ends[present]

    def labels(self) -> list[str]:
        """Decode the distinct fields."""
        content = self.text.content
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [unquoted(self.text, content[start:end], start) for start, end in spans]

    def merged(self) -> Codes:
        """Return codes that are equal where the fields mean the same: a quoted one may equal a bare one."""
        quoted = np.frombuffer(self.text.content, np.uint8)[self.starts] == ord('"')
        if not quoted.any():
            return self.codes
        numbers: dict[str, int] = {}
        image = [numbers.setdefault(label, len(numbers)) for label in self.labels()]
        return np.array(image, np.int64)[self.codes]

    def empty(self) -> NDArray[np.bool_]:
        """Tell which distinct fields hold nothing, quoted or not."""
        buffer = np.frombuffer(self.text.content, np.uint8)
        length = self.ends - self.starts
        nothing: NDArray[np.bool_] = length == 0
        pairs = np.flatnonzero(length == 2)
        at = self.starts[pairs]
        nothing[pairs] = (buffer[at] == ord('"')) & (buffer[at + 1] == ord('"'))
        return nothing


def _refuse_missing(text: Text, columns: dict[str, _Fields]) -> None:
    missing = {name: fields.empty() for name, fields in columns.items()}
    if not any(nothing.any() for nothing in missing.values()):
        return
    lines = {name: missing[name][fields.codes] for name, fields in columns.items()}
    count = int(np.logical_or.reduce(list(lines.values())).sum())
    name = min(columns, key=lambda c: int(np.argmax(lines[c])) if lines[c].any() else lines[c].size)
    at = min(int(fields.starts[missing[c]].min(initial=len(text.content))) for c, fields in columns.items())
    more = f"; {count:,} lines lack an id or an item" if count > 1 else ""
    raise DataError(
        f"{text.where(at)}: column {shorten(name)} is empty, expected a value on every line{more}.",
        hint="Complete or remove such lines; a long table cannot show a row without items.",
    )
