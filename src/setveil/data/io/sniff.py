"""The format of a file, by its name and its first lines."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from setveil.data.columns import guess_columns
from setveil.data.io.source import is_parquet
from setveil.data.layout import formats_of
from setveil.data.vocabulary import is_integer

_JSON = re.compile(r'\[\s*(["\]]|-?[0-9])|\{\s*"')
_LINES = 1000
_BYTES = 1 << 18


def detect_format(path: str | Path, content: bytes) -> str:
    """Tell the format of a file by its extension, and by its content where that does not say it.

    Parameters
    ----------
    path : str or Path
        Only its extension counts: ``.dat`` is FIMI, ``.csv`` basket or long, ``.txt`` SPMF, ``.parquet``,
        ``.jsonl``.
    content : bytes
        The file's bytes, text in UTF-8.
    """
    formats = formats_of(Path(path).suffix)
    if len(formats) == 1:
        return formats[0]
    return sniff_table(content) if formats else sniff_content(content)


def sniff_content(content: bytes) -> str:
    """Tell the format by the content alone.

    Integers separated by blanks are FIMI, or SPMF if they come with its comments or its end marker ``-2``.
    """
    if is_parquet(content):
        return "parquet"
    lines = [line for line in _head(content).splitlines()[:_LINES] if line.strip()]
    if lines and _JSON.match(lines[0].lstrip()):
        return "jsonl"
    rows = [line.split() for line in lines if line.lstrip()[0] not in "#%@"]
    if rows and all(is_integer(field) for row in rows for field in row):
        return "spmf" if len(rows) < len(lines) or any(row[-1] == "-2" for row in rows) else "fimi"
    return sniff_table(content)


def sniff_table(content: bytes, separator: str | None = None) -> str:
    """Tell whether separated text is a long table or rows of items (basket).

    It is long if a header of two columns names an id and an item, and all of the first lines have two fields.
    """
    rows = _fields(content, separator or header_separator(content))
    if rows and guess_columns(rows[0]) and all(len(row) == 2 for row in rows):
        return "long"
    return "basket"


def header_separator(content: bytes) -> str:
    """Guess the separator of a table: the one that stands most often in its first line, else a comma."""
    header = next((line for line in _head(content).splitlines() if line.strip()), "")
    return max(",;\t|", key=header.count)


def header_fields(content: bytes, separator: str) -> list[str]:
    """Split the first line that is not blank."""
    return next(iter(_fields(content, separator)), [])


def _fields(content: bytes, separator: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(_head(content), newline=""), delimiter=separator, skipinitialspace=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            fields = [field.strip(" \t") for field in row]
            if any(fields) or len(fields) > 1:
                rows.append(fields)
            if len(rows) == _LINES:
                break
    except csv.Error:  # a field longer than the module allows: whatever it is, it is no long table
        return []
    return rows


def _head(content: bytes) -> str:
    """Decode the first lines, without the last one if it is cut."""
    head = content[:_BYTES]
    if len(head) < len(content):
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
    return head.decode("utf-8", "replace")
