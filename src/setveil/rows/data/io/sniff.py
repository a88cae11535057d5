"""The format of a file, by its name and its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from setveil.base.errors import TableError
from setveil.rows.data import evidence
from setveil.rows.data.columns import guess_columns
from setveil.rows.data.io.archives import is_parquet
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.layout import formats_of, in_words
from setveil.rows.data.names import names_columns
from setveil.rows.data.personal_forms import PHONE, likely_form
from setveil.rows.data.vocabulary import is_integer

_JSON = re.compile(r'\[\s*(["\]]|-?[0-9])|\{\s*"')
_BRACKETED = re.compile(r'\[[^\[\]",]*\](\s*[;|\t,]\s*| +)[^\[\s]')  # a field of separated text: [12]
_DECIMAL = re.compile(r"[+-]?[0-9]+,[0-9]{1,2}")
_BYTES = 1 << 20
_COLUMNS = 3  # of a table between blanks, in which other signs stand inside of a column
_BETWEEN_SIGNS = re.compile(r"[0-9]+([,;|][0-9]+)+", re.ASCII)  # integers without blanks
_OFTEN = 0.1  # a sign in so many lines may be the separator


def detect_format(path: str | Path, content: bytes) -> str:
    """Detect the format of a file by its extension, or else by its content, text in UTF-8.

    ``.dat`` is FIMI, ``.txt`` SPMF, ``.parquet``, ``.jsonl``; ``.csv`` is separated text. `basket` represents
    all separated text (see `setveil.rows.data.evidence`).
    """
    formats = formats_of(Path(path).suffix)
    if len(formats) == 1:
        return formats[0]
    return "basket" if formats else sniff_content(content)


def sniff_content(content: bytes) -> str:
    """Recognize the format by the content: integers between blanks are FIMI, with comments or ``-2`` SPMF."""
    if is_parquet(content):
        return "parquet"
    lines = [line for line in _lines(content)[: evidence.LINES] if line.strip()]
    first = lines[0].lstrip() if lines else ""
    if (_JSON.match(first) and not _BRACKETED.match(first)) or _is_document(content):
        return "jsonl"
    rows = [line.split() for line in lines if line.lstrip()[0] not in "#%@"]
    if rows and all(is_integer(field) for row in rows for field in row):
        return "spmf" if len(rows) < len(lines) or any(row[-1] == "-2" for row in rows) else "fimi"
    return "basket"


def _is_document(content: bytes) -> bool:
    from setveil.rows.data.io.json_values import is_document

    return is_document(content)


def why_table(text: Text, form: str, separator: str | None) -> tuple[str, str | None]:
    """Say what speaks for a table in a file of rows of items ("": nothing), and its separator if known."""
    from setveil.rows.data import ids_in_lines

    if form == "basket" and separator is None and (sign := sign_of_columns(text)):
        return ids_in_lines.why_table(head_rows(text, sign)), sign
    if form == "basket":
        rows = head_rows(text, separator or basket_separator(text))
        if len(rows) == 1 and (guess_columns(rows[0]) or names_columns(rows[0])):
            return "its only line names columns", separator
        if evidence.common_width(rows) == (1, 1) and evidence.list_sign([row[0] for row in rows]).strip():
            return "every line contains one field, which seems to be a list", separator
        why, between = _why_blanks(text, rows)
        return (why, between or separator) if why else (ids_in_lines.why_table(rows), separator)
    between_tabs = head_rows(text, "\t")
    if evidence.has_columns(between_tabs):
        return "nearly every line has as many tabs", "\t"
    lines = [line.split() for line in _lines(text.content)[: evidence.LINES] if line.strip()]
    if form == "spmf" and b"@ITEM=" in text.content:
        return "", None  # made by a program, of items with names
    if form == "spmf":  # without comments, and the marks of ends
        lines = [
            [field for field in line if field not in {"-1", "-2"}]
            for line in lines
            if line[0][0] not in "#%@"
        ]
    others = sum(not all(map(is_integer, line)) for line in lines)
    if others > (_OFTEN * len(lines) if form == "spmf" else 0):  # a few are headers or titles
        return "", None  # it cannot be read as such
    tabs = b"\t" in text.content[:_BYTES] and not any(" " in line.strip() for line in _lines(text.content))
    return ids_in_lines.why_sets_are_table([line for line in lines if line]), "\t" if tabs else " "


def _why_blanks(text: Text, rows: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Say what speaks for columns or ids between blanks in lines like baskets, and the separator."""
    from setveil.rows.data import ids_in_lines

    if _share(rows) >= _OFTEN:
        words = [[word for field in row for word in field.split()] for row in rows]
        if _numbered(words, 0) and not evidence.has_columns(rows):
            return ids_in_lines.why_ids(words), ""
        return ids_in_lines.why_personal(words) or ids_in_lines.why_personal(rows), ""
    between = [[field for field in row if field] for row in head_rows(text, " ")]
    again = 2 * len(set(map(tuple, between))) < len(between)
    numbered = _numbered(between, 0) or _numbered(between, -1)
    named = again and (not numbered or len({row[0] for row in between if row}) == 1)
    alone = len(between) < 2 or _share(between) < _OFTEN
    return "" if named or alone else ids_in_lines.why_table(between), " "


def _numbered(rows: Sequence[Sequence[str]], end: int) -> bool:
    """Return whether a digit is in the first (0) or the last (-1) word of nearly all lines."""
    found = [any(sign.isdigit() for sign in row[end]) for row in rows if row]
    return sum(found) >= evidence.SURE * len(found)


def holds_numbers(text: Text) -> bool:
    """Return whether half of the first lines or more hold nothing but integers between blanks."""
    lines = [line.split() for line in _lines(text.content)[: evidence.LINES] if line.strip()]
    rows = [line for line in lines if line[0][0] not in "#%@"]
    numbers = [row for row in rows if all(map(is_integer, row))]
    otherwise = sum(len(row) == 1 and bool(_BETWEEN_SIGNS.fullmatch(row[0])) for row in rows)
    return 2 * len(numbers) >= len(rows) and otherwise <= sum(len(row) > 1 for row in numbers)


def basket_separator(text: Text, *, said: bool = False) -> str:
    """Detect the separator between the items of rows; a comma is preferred if they are known to be rows."""
    head = _head(text.content)
    shares = {sign: _share(_rows(head, sign, strict=True)) for sign in evidence.SEPARATORS}
    often = [sign for sign in evidence.SEPARATORS if shares[sign] >= _OFTEN]
    tables = [sign for sign in often if _is_table(head, sign)]
    if tables or not often:
        return likely_separator(text) if tables else max(evidence.SEPARATORS, key=lambda s: shares[s])
    if len(often) > 1 and said and "," in often:
        return ","
    shared = sorted(often, key=lambda sign: -shares[sign])
    if len(often) > 1 and shares[shared[1]] < shares[shared[0]] / 2:
        return shared[0]
    if len(often) > 1:
        words = ", ".join(repr(sign) for sign in often)
        raise TableError(
            f"{text.name}: the separator may be one of {words}; each is in many lines",
            [],
            [({"separator": sign}, f"{in_words(sign)} separate items") for sign in shared],
        )
    return often[0]


def likely_separator(text: Text) -> str:
    """Return what stands between the fields of a table: what gives the lines the same number of fields.

    Of several signs that do, those that give it to the first line, too, which may name columns of lists; of
    these the one that gives most fields, where no comma is in numbers only.
    """
    if sign := sign_of_columns(text):
        return sign
    best, width = "", 0
    head = _head(text.content)
    split = {sign: _rows(head, sign, strict=True) for sign in evidence.SEPARATORS}
    common = {sign: evidence.common_width(rows)[0] for sign, rows in split.items()}
    tables = [sign for sign in evidence.SEPARATORS if _is_table(head, sign)]
    for sign in [sign for sign in tables if len(split[sign][0]) == common[sign]] or tables:
        if common[sign] > width or best == ",":
            best, width = sign, common[sign]
    if best:
        return (_beside_decimals(split) or best) if best == "," else best
    first = next((line for line in _lines(text.content) if line.strip()), "")
    return max(evidence.SEPARATORS, key=first.count)


def _beside_decimals(split: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """Find the sign between fields if every comma is that of a number inside of a line; else nothing."""
    for sign in (";", "|", "\t"):
        rows = split[sign]
        with_comma = [row for row in rows if any("," in field for field in row)]
        inside = all(_DECIMAL.fullmatch(field) for row in with_comma for field in row[1:-1] if "," in field)
        ends = any("," in field for row in with_comma for field in (row[0], row[-1]))
        if with_comma and inside and not ends and _share(rows) >= evidence.SURE:
            return sign
    return ""


def sign_of_columns(text: Text) -> str:
    """Find the sign between columns if others stand only inside of columns; "" if another may be it.

    Commas are then those of decimals, one in each line or some in each; other signs are those of lists in one
    column between blanks, where all lines have the same number of columns.
    """
    head = _head(text.content)
    return "" if '"' in head else _around_decimals(head) or _between_blanks(head)


@lru_cache(16)
def _around_decimals(head: str) -> str:
    """Find the sign between columns if commas are those of decimals, in each line but the first."""
    commas = [row for row in _rows(head, ",", strict=True)[1:] if any(row)]
    numbers = {len(row) for row in commas}
    if len(commas) < evidence.FEW or len(numbers) != 1 or numbers == {1}:
        return ""
    for sign in (";", "|", "\t", " "):
        rows = _rows(head, sign, strict=True)[1:]
        decimals = [[bool(_DECIMAL.fullmatch(field)) for field in row] for row in rows]
        plain = all(found or "," not in field for row, here in zip(rows, decimals, strict=True)
                    for field, found in zip(row, here, strict=True))  # fmt: skip
        few = all(len(row) > 2 and 2 * sum(here) < len(row)
                  for row, here in zip(rows, decimals, strict=True))  # fmt: skip
        if plain and few:
            return sign
    return ""


@lru_cache(16)
def _between_blanks(head: str) -> str:
    """Find blanks between columns if other signs are in one column only, as in lists."""
    rows = _rows(head, " ", strict=True)
    if len(rows) < evidence.FEW or len(set(map(len, rows))) != 1 or len(rows[0]) < _COLUMNS:
        return ""
    others = [sign for sign in evidence.SEPARATORS if any(sign in field for row in rows for field in row)]
    inside = [{at for row in rows for at, field in enumerate(row) if sign in field} for sign in others]
    columns = set().union(*inside)
    if len(columns) != 1 or any(_is_table(head, sign) or _are_spaced(head, sign) for sign in others):
        return ""
    return " "


def _are_spaced(head: str, sign: str) -> bool:
    """Return whether blanks are only within telephone numbers, one in each line between such signs."""
    rows = _rows(head, sign, strict=True)
    spaced = [field for row in rows for field in row if " " in field]
    return len(spaced) == len(rows) and all(likely_form(field) == PHONE for field in spaced)


@lru_cache(16)
def _is_table(head: str, sign: str) -> bool:
    """Return whether a sign gives lines the same number of fields, and does not stand within quoted ones."""
    rows = _rows(head, sign, strict=True)
    cut = sum(any(field.count('"') % 2 for field in row) for row in rows)
    return evidence.has_columns(rows) and 2 * cut <= len(rows)


def head_rows(text: Text, separator: str) -> list[list[str]]:
    """Split the first lines that are not blank into fields, blanks around these omitted."""
    return _rows(_head(text.content), separator)


@lru_cache(16)
def _rows(head: str, separator: str, *, strict: bool = False) -> list[list[str]]:
    lines = io.StringIO(head, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict)
    rows: list[list[str]] = []
    try:
        for row in reader:
            fields = [field.strip(" \t") for field in row]
            if any(fields) or len(fields) > 1:
                rows.append(fields)
            if len(rows) == evidence.LINES:
                break
    except csv.Error as error:  # a sign within quotes is no separator; and fields may be very long
        return [] if "expected after" in str(error) else rows
    return rows


def _share(rows: Sequence[Sequence[str]]) -> float:
    return sum(len(row) > 1 for row in rows) / max(len(rows), 1)


def _head(content: bytes) -> str:
    """Decode the first lines, without the last one if it is cut."""
    head = content[:_BYTES]
    if len(head) < len(content):
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
    return head.decode("utf-8", "replace")


def _lines(content: bytes) -> list[str]:
    """List the first lines, which end as those of files do; other signs that end lines may be in a label."""
    return io.StringIO(_head(content), newline=None).read().split("\n")
