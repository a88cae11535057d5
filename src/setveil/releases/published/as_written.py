"""Bytes of a published text file: nothing in them may tell apart what is the same once it is read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base.errors import DataError
from setveil.base.plain_json import read_json_with
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.write import quoting
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable

NUMBER = re.compile("0|[1-9][0-9]*", re.ASCII)
_LINES = {
    "fimi": re.compile(rb"(?:[+-]?[0-9]+(?: [+-]?[0-9]+)*)?"),
    "spmf": re.compile(rb"(?:[1-9][0-9]* -1 )*-2"),
}


def require_as_written(file: Path, layout: Layout, rows: Transactions) -> None:
    """Refuse a file of rows, unless Parquet, with other blanks, quotes or line ends than setveil writes.

    Equal rows must be equal lines, and no line may name an item twice: else the bytes tell rows apart.
    """
    if layout.format == "parquet" or file.is_dir():
        return
    lines, named = _lines_of(file, layout)
    if named is not None and named != rows.n_occurrences:
        raise _otherwise(file, "an item is named twice in a row, or a field is empty")
    if len(set(lines)) > rows.distinct[2].size:
        raise _otherwise(file, "rows with the same labels are different lines")


def require_table_as_written(file: Path, table: PublishedTable, items_file: str | None = None) -> None:
    """Refuse a published table with other blanks, quotes or line ends, as `require_as_written` does."""
    header, *lines = fields_as_written(file, read_bytes(file), ",")
    if not all(lines):
        raise _otherwise(file, "a line is blank")
    place = {name: at for at, name in enumerate(header)}
    for column in (*table.columns, *table.kept):
        if len({line[place[column.name]] for line in lines}) > len(set(column.codes.tolist())):
            raise _otherwise(file, f"one label of {column.name} is written in several ways")
    if items_file is not None:
        fields_as_written(file, read_bytes(file.parent / items_file), ",")
        return
    known = [place[column.name] for column in table.columns]
    seen: dict[tuple[tuple[str, ...], frozenset[str]], str] = {}
    for line in lines:
        field = line[place[table.set_name]]
        (items,) = fields_as_written(file, f"{field}\n".encode(), table.delimiter)
        key = tuple(line[at] for at in known), frozenset(items)
        if len(key[1] - {""}) != len(items) or seen.setdefault(key, field) != field:
            raise _otherwise(file, "rows with the same labels are written in several ways")


def require_rows_as_written(file: Path, rows: Sequence[Sequence[str]]) -> None:
    """Refuse a table with one fact a line unless equal rows, in the order of lines, are written alike."""
    fields_as_written(file, read_bytes(file), ",")
    _require_one_order(file, rows)


def _require_one_order(file: Path, rows: Iterable[Sequence[str]]) -> None:
    seen: dict[frozenset[str], Sequence[str]] = {}
    for row in rows:
        key = frozenset(row)
        if len(key) != len(row) or seen.setdefault(key, row) != row:
            raise _otherwise(file, "a label is named twice in a row, or equal rows are in different orders")


def require_groups_as_written(data: Path, groups: Path) -> None:
    """Refuse rows in groups with other blanks, quotes or line ends, or equal rows in different orders."""
    lines = [fields_as_written(file, read_bytes(file), ",") for file in (data, groups)]
    if not all(map(all, ((len(line) == 3 for line in some) for some in lines))):
        raise _otherwise(data, "a line of it or of the groups is blank")
    rows: dict[tuple[str, str], list[str]] = {}
    for group, row, item in lines[0][1:]:
        if not (NUMBER.fullmatch(group) and NUMBER.fullmatch(row)):
            raise _otherwise(data, "a number is written otherwise")
        rows.setdefault((group, row), []).append(item)
    _require_one_order(data, rows.values())


def require_written(folder: Path, contents: Mapping[str, Iterable[bytes]]) -> None:
    """Refuse files of a release that differ from these pieces of bytes; skip files that are missing."""
    for name, pieces in contents.items():
        file = folder / name
        if file.is_file() and read_bytes(file) != b"".join(pieces):
            raise _otherwise(file, "blanks, quotes, line ends or the order are others, or the files disagree")


def require_lines_as_written(file: Path, layout: Layout, vocabulary: Vocabulary) -> None:
    """Refuse a file as `require_as_written` does, a line at a time, so that rows need no memory."""
    place = vocabulary.ids
    for row in _rows_as_written(file, layout):
        ids = [place.get(label, -1) for label in row]
        if -1 in ids or any(ids[at] >= ids[at + 1] for at in range(len(ids) - 1)):
            raise _otherwise(file, "the items of a row are not in order, or an item is named twice")


def _rows_as_written(file: Path, layout: Layout) -> Iterator[Sequence[str]]:
    """Read rows of a basket or FIMI file one by one, each as the bytes that setveil writes."""
    raw: list[str] = []

    def lines(opened: Iterable[str]) -> Iterator[str]:
        for line in opened:
            raw.append(line)
            yield line

    quote, sign = quoting(layout.separator or ","), layout.separator or ","
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            if layout.format == "fimi":
                for line in opened:
                    if not (line.endswith("\n") and _LINES["fimi"].fullmatch(line[:-1].encode())):
                        raise _otherwise(file, "a line has other blanks or signs")
                    yield line.split()
                return
            for row in csv.reader(lines(opened), delimiter=sign, strict=True):
                again = sign.join(map(quote, row)) if row != [""] else '""'
                if "".join(raw) != f"{again}\n":
                    raise _otherwise(file, "quotes, blanks or line ends are others")
                raw.clear()
                yield row
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}.") from error


def _lines_of(file: Path, layout: Layout) -> tuple[Sequence[bytes | tuple[str, ...]], int | None]:
    """Return the lines of rows as they are written, and how many items they name."""
    form, content = layout.format, read_bytes(file)
    if form in ("fimi", "spmf", "jsonl"):
        return _plain_lines(file, content, layout)
    if form == "basket" and not _marked(content, layout.separator):
        plain = _ended(file, content).split(b"\n")[:-1]
        filled = sum(map(bool, plain))
        return plain, content.count(layout.separator.encode()) + filled
    lines = fields_as_written(file, content, layout.separator)
    if form == "basket":
        return lines, sum(map(len, lines))
    if form == "long":
        place = lines[0].index(layout.id_column) if lines and layout.id_column in lines[0] else 0
        if not all(NUMBER.fullmatch(line[place]) for line in lines[1:] if line):
            raise _otherwise(file, "a row has no number")
        return _rows_of_long(file, lines[1:], place), max(len(lines) - 1, 0)
    if form == "onehot":
        if not all(cell in ("0", "1") for line in lines[1:] for cell in line):
            raise _otherwise(file, "a cell is neither 0 nor 1")
        return lines[1:], None
    lengths = [sum(map(bool, line)) for line in lines[1:]]
    if any(any(line[length:]) for line, length in zip(lines[1:], lengths, strict=True)):
        raise _otherwise(file, "an empty cell is before a filled one")
    return lines[1:], sum(lengths)


def _rows_of_long(file: Path, lines: list[tuple[str, ...]], place: int) -> list[tuple[str, ...]]:
    """Return the items of each row of a long table, as they are written."""
    numbers = [int(line[place]) for line in lines if line]
    if numbers != sorted(numbers):
        raise _otherwise(file, "rows are not in the order of their numbers")
    rows: dict[int, list[str]] = {}
    for number, line in zip(numbers, filter(None, lines), strict=True):
        rows.setdefault(number, []).append(line[1 - place])
    return [*map(tuple, rows.values())]


def _plain_lines(file: Path, content: bytes, layout: Layout) -> tuple[list[bytes], int]:
    lines = _ended(file, content).split(b"\n")[:-1]
    if layout.format == "spmf":
        head = next((at for at, line in enumerate(lines) if line[:1] != b"@"), len(lines))
        named = [line for line in lines[:head] if line != b"@CONVERTED_FROM_TEXT"]
        if b"\r" in content or not all(line.startswith(b"@ITEM=") for line in named):
            raise _otherwise(file, "its head is not that of a release")
        lines = lines[head:]
    if layout.format == "jsonl":
        found = {line: _json_items(file, line, layout) for line in set(lines)}
        return lines, sum(found[line] for line in lines)
    known = _LINES[layout.format]
    if not all(map(known.fullmatch, set(lines))):
        raise _otherwise(file, "a line has other blanks or signs")
    of_row = b" -1 " if layout.format == "spmf" else b" "
    return lines, sum(line.count(of_row) for line in lines) + (
        0 if layout.format == "spmf" else sum(map(bool, lines))
    )


def _json_items(file: Path, line: bytes, layout: Layout) -> int:
    """Count the items of a line of JSON, which must be written in one way."""
    try:
        value = read_json_with(line)
    except ValueError as error:
        raise _otherwise(file, "a line is no JSON") from error
    items = value.get(layout.item_column) if isinstance(value, dict) else value
    wanted = {layout.item_column: items} if layout.objects else items
    if value != wanted or json.dumps(value, ensure_ascii=False).encode() != line:
        raise _otherwise(file, "a line is written otherwise, or says more")
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _otherwise(file, "a line is no list of texts")
    return len(items)


def _marked(content: bytes, separator: str) -> bool:
    """Look for quotes, carriage returns, and fields with blanks or a byte order mark at an end."""
    edge, blank = re.escape(separator).encode() + b"\n", b" \t".replace(separator.encode(), b"")
    marks = rb'["\r]|(?:\A|[%b])(?:[%b]|\xef\xbb\xbf)|[%b](?:[%b]|\Z)' % (edge, blank, blank, edge)
    return re.search(marks, content) is not None


def fields_as_written(file: Path, content: bytes, separator: str) -> list[tuple[str, ...]]:
    """Split text into lines of fields, and refuse other quotes, blanks and line ends than setveil writes."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8: {error}.") from error
    quote = quoting(separator)
    try:
        lines = [*map(tuple, csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))]
    except csv.Error as error:
        raise DataError(f"{file} cannot be read: {error}.") from error
    again = (separator.join(map(quote, line)) if line != ("",) else '""' for line in lines)
    if "".join(f"{line}\n" for line in again) != text:
        raise _otherwise(file, "quotes, blanks or line ends are others")
    return lines


def _ended(file: Path, content: bytes) -> bytes:
    if content.startswith(b"\xef\xbb\xbf") or (content and not content.endswith(b"\n")):
        raise _otherwise(file, "it begins with a byte order mark, or the last line has no end")
    return content


def _otherwise(file: Path, what: str) -> DataError:
    return DataError(
        f"{file} is not as setveil writes it: {what}. Its bytes may distinguish rows with the same labels.",
        hint="Verify the file that setveil wrote; copies must be equal byte for byte.",
    )
