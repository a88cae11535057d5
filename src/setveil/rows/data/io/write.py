"""Write files of transactions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, OutputError, RequestError, shorten
from setveil.base.staging import staged_file
from setveil.rows.data.layout import FORMATS, Layout, function_of, writable_layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import is_integer

_BLOCK = 1 << 18
_POSITIVE = re.compile(r"[1-9][0-9]*", re.ASCII)


def save(data: Transactions, path: str | Path, layout: Layout) -> None:
    r"""Write transactions to a file in UTF-8, which appears complete or not at all.

    The same data and layout give the same bytes: rows in order, items of a row in the order of their ids,
    lines that end with a line feed. In long layouts the id is the row's number from 0, and empty rows cannot
    be shown.
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


def write_blocks(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write transactions in a layout, piece by piece; the first piece comes once all labels are checked."""
    require_text(data.vocabulary.labels)
    yield from function_of(FORMATS[layout.format].writer)(data, layout)


def require_text(labels: Iterable[str]) -> None:
    """Refuse labels that cannot be written as UTF-8."""
    for label in labels:
        try:
            label.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"The label {shorten(label)} cannot be written: it contains half of a surrogate pair."
            ) from None


def fimi(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write rows of integers separated by spaces."""
    for label in data.vocabulary.labels:
        if not is_integer(label):
            raise RequestError(
                f"A FIMI file contains only integers, found the label {shorten(label)}.",
                hint="Write a basket file: --format basket.",
            )
    labels = [label.encode() for label in data.vocabulary.labels]
    yield from _rows(data, [label + b" " for label in labels], labels, b"\n")


def basket(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write rows of fields between separators."""
    labels = _encoded(data, layout, quoting(layout.separator))
    between = layout.separator.encode()
    yield from _rows(data, [label + between for label in labels], labels, b"\n")


def long(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write a header, then one line per row number and item; empty rows cannot be shown."""
    quote, separator = quoting(layout.separator), layout.separator.encode()
    labels = _objects([separator + label + b"\n" for label in _encoded(data, layout, quote)])
    yield separator.join(quote(name).encode() for name in (layout.id_column, layout.item_column)) + b"\n"
    for first, last, items in _blocks(data):
        ids = _objects([b"%d" % row for row in range(first, last)])
        lines = np.empty(2 * items.size, object)
        lines[::2] = np.repeat(ids, np.diff(data.indptr[first : last + 1]))
        lines[1::2] = labels[items]
        yield b"".join(lines.tolist())


def wide(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write a header, then the items of each row in as many columns as the longest row needs."""
    quote, separator = quoting(layout.separator), layout.separator.encode()
    names = writable_layout(layout, (), int(data.row_lengths().max(initial=0))).item_columns
    width = len(names)
    labels = _encoded(data, layout, quote)
    inner, last = (
        _objects([label + separator for label in labels]),
        _objects([label + b"\n" for label in labels]),
    )
    nothing = b"\n" if width > 1 else b'""\n'  # a blank line would be no row
    yield separator.join(quote(name).encode() for name in names) + b"\n"
    for first_row, last_row, items in _blocks(data, width):
        bounds = data.indptr[first_row : last_row + 1] - data.indptr[first_row]
        lengths = np.diff(bounds)
        cells = np.full((lengths.size, width), separator, object)
        cells[:, -1] = nothing
        rows = np.repeat(np.arange(lengths.size), lengths)
        places = np.arange(items.size) - np.repeat(bounds[:-1], lengths)
        at_end = places == width - 1
        cells[rows[~at_end], places[~at_end]] = inner[items[~at_end]]
        cells[rows[at_end], -1] = last[items[at_end]]
        yield b"".join(cells.ravel().tolist())


def onehot(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write a header with all items, then 0 or 1 for each of them in each row."""
    quote, separator = quoting(layout.separator), layout.separator.encode()
    labels = _encoded(data, layout, quote)
    yield separator.join(labels) + b"\n"
    signs = np.array([b"0" + separator, b"1" + separator], object)
    for first_row, last_row, items in _blocks(data, max(len(labels), 1)):
        marks = np.zeros((last_row - first_row, len(labels)), np.int8)
        lengths = np.diff(data.indptr[first_row : last_row + 1])
        marks[np.repeat(np.arange(lengths.size), lengths), items] = 1
        cells = signs[marks]
        cells[:, -1:] = np.array([b"0\n", b"1\n"], object)[marks[:, -1:]]
        yield b"".join(cells.ravel().tolist())


def spmf(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write rows as sequences of numbers, after the names of the items unless these are numbers."""
    labels = data.vocabulary.labels
    if all(map(_POSITIVE.fullmatch, labels)):
        numbers = [label.encode() for label in labels]
    else:
        numbers = [b"%d" % number for number in range(1, len(labels) + 1)]
        names = _encoded(data, layout, _spmf_name)
        yield b"@CONVERTED_FROM_TEXT\n"
        yield b"".join(b"@ITEM=%s=%s\n" % pair for pair in zip(numbers, names, strict=True))
    items = [number + b" -1 " for number in numbers]
    yield from _rows(data, items, items, b"-2\n")


def jsonl(data: Transactions, layout: Layout) -> Iterator[bytes]:
    """Write arrays, or objects that contain them."""
    labels = _encoded(data, layout, lambda label: json.dumps(label, ensure_ascii=False))
    name = json.dumps(layout.item_column, ensure_ascii=False).encode()
    start, end = (b"{" + name + b": [", b"]}\n") if layout.objects else (b"[", b"]\n")
    for block in _rows(data, [label + b", " for label in labels], labels, end + start):
        # Each row's end carries the next row's start, which for a block stands at the wrong side.
        yield start + block[: len(block) - len(start)]


def _rows(data: Transactions, inner: list[bytes], last: list[bytes], end: bytes) -> Iterator[bytes]:
    """Join rows: `inner` for all items of a row but the last, `last` for that, then `end`."""
    inner_labels, last_labels = _objects(inner), _objects(last)
    for first_row, last_row, items in _blocks(data):
        bounds = data.indptr[first_row : last_row + 1] - data.indptr[first_row]
        lengths = np.diff(bounds)
        pieces = np.empty(items.size + lengths.size, object)
        places = np.arange(items.size) + np.repeat(np.arange(lengths.size), lengths)
        pieces[places] = inner_labels[items]
        closing = bounds[1:][lengths > 0] - 1
        pieces[places[closing]] = last_labels[items[closing]]
        pieces[bounds[1:] + np.arange(lengths.size)] = end
        yield b"".join(pieces.tolist())


def _blocks(data: Transactions, cells: int = 1) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
    """Cut the rows into pieces; `cells`: what a row needs in addition to its items."""
    step = max(_BLOCK // cells, 1)
    for first in range(0, data.n_rows, step):
        last = min(first + step, data.n_rows)
        yield first, last, data.items[data.indptr[first] : data.indptr[last]]


def _objects(values: list[bytes]) -> NDArray[np.object_]:
    out = np.empty(len(values), object)
    out[:] = values
    return out


def quoting(separator: str) -> Callable[[str], str]:
    """Make a function that quotes a field of a line where it must be.

    So must a lone carriage return, which Python's own writer leaves bare before 3.13: no reader takes it for
    a part of a field then.
    """
    special = re.compile(f'[{re.escape(separator)}"\r\n]|^[ \t\ufeff]|[ \t]$')

    def quote(label: str) -> str:
        return '"' + label.replace('"', '""') + '"' if special.search(label) else label

    return quote


def _spmf_name(label: str) -> str:
    if "\n" in label or "\r" in label:
        raise DataError(
            f"An SPMF file cannot contain the label {shorten(label)}, which has a line break.",
            hint="Write JSON lines: --format jsonl.",
        )
    return label


def _encoded(data: Transactions, layout: Layout, write: Callable[[str], str]) -> list[bytes]:
    out = []
    for label in data.vocabulary.labels:
        text = write(label)
        if "\0" in text:
            raise DataError(
                f"A {layout.format} file cannot contain the label {shorten(label)}, which has a zero byte.",
                hint="Write JSON lines: --format jsonl.",
            )
        out.append(text.encode())
    return out
