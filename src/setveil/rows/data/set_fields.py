"""Fields that hold a set: items between delimiters, quoted as in csv where they hold one."""

from __future__ import annotations

import ast
import contextlib
import csv
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, TableError, shorten
from setveil.base.plain_json import read_json_with
from setveil.kernels.rows import take_rows
from setveil.rows.data import evidence
from setveil.rows.data.ids import Values
from setveil.rows.data.layout import Layout, in_words
from setveil.rows.data.named_columns import Column

DELIMITER = ";"
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_LIST_OF_TEXTS = re.compile(r"\s*[\[{]\s*['\"].*['\"]\s*[\]}]\s*", re.DOTALL)
_SIGNS = evidence.SEPARATORS.replace(DELIMITER, "")


def require_delimiter(delimiter: str) -> None:
    """Refuse what cannot separate items."""
    try:
        Layout("basket", delimiter)
    except RequestError as error:
        error.message = error.message.replace("The separator", "The delimiter between items")
        raise


def refuse_lists(name: str, columns: Sequence[Values], form: str) -> None:
    """Raise if the cells of a named item column ("long", "wide" or "parquet") seem to have several items."""
    for column in columns:
        cells = [column.labels[code] for code in column.codes[: evidence.LINES].tolist()]
        sign = evidence.list_sign(cells)
        if sign:
            example = shorten(next(cell for cell in cells if sign in cell))
            raise TableError(
                f"{name}: the cells of column {shorten(column.name)} seem to be lists of items, such as "
                f"{example}, and nothing says what separates them",
                [],
                [
                    ({"delimiter": sign}, f"{in_words(sign)} separate items"),
                    ({"format": form}, "each cell is one item"),
                ],
            )


def split_column(
    column: Column,
    name: str,
    delimiter: str | None,
    *,
    in_brackets: bool = False,
    whole_brackets: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int32], list[str]]:
    """Split a column of sets, or of lists as programs write them, as `Transactions.from_codes` takes them.

    Arrays of JSON or a database, and lists or sets of Python, are taken apart if nearly all fields are in
    brackets and no delimiter is named, or with `in_brackets`. The default delimiter is a semicolon, unless
    fields without one have another sign. `whole_brackets`: a delimiter within round brackets belongs to the
    item, as in ``Controller (ODL, NSX)``; a published file quotes such items. "" is a row without items.
    """
    filled = [text for text in column.labels if text.strip(" \t")]
    written = (delimiter is None or in_brackets) and evidence.are_written_lists(filled)
    if delimiter is None and not written:
        _refuse_other_signs(column, name)
    elif not written and filled and all(map(_LIST_OF_TEXTS.fullmatch, filled)):
        raise TableError(
            f"{_place(column, column.labels.index(filled[0]), name)}: found {shorten(filled[0])}, expected "
            "items with a delimiter between them",
            [],
            [({"delimiter": ","}, "commas separate the items of a list in brackets")],
        )
    sign = delimiter or DELIMITER
    items: dict[str, int] = {}
    codes: list[int] = []
    bounds = [0]
    for text in column.labels:
        if written:
            fields = _listed_fields(text, column, name)
        elif '"' in text:
            fields = _quoted_fields(text, sign, column, name)
        else:
            parts = evidence.split_outside(text, sign) if whole_brackets else text.split(sign)
            fields = [field.strip(" \t") for field in parts]
        codes += [items.setdefault(field, len(items)) for field in fields if field]
        bounds.append(len(codes))
    indptr, taken = take_rows(
        np.array(bounds, np.int64), np.array(codes, np.int32), np.ascontiguousarray(column.codes, np.int64)
    )
    return indptr, taken, list(items)


def _quoted_fields(text: str, sign: str, column: Column, name: str) -> list[str]:
    blanks = "".join({" ", "\t"} - {sign})
    fields = []

    def place() -> str:
        return _place(column, column.labels.index(text), name)

    start = 0
    while start <= len(text):
        start += len(text[start:]) - len(text[start:].lstrip(blanks))
        end = text.find(sign, start)
        end = len(text) if end < 0 else end
        if text[start : start + 1] != '"':
            fields.append(text[start:end].strip(" \t"))
        else:
            found = _QUOTED.match(text, start)
            if found is None:
                raise TableError(
                    f"{place()}: a double quote is never closed in {shorten(text)}",
                    [],
                    [],
                    'A double quote inside a quoted item is written twice: ""',
                    "",
                )
            rest = text[found.end() :]
            end = len(text) - len(rest.lstrip(blanks))
            if end < len(text) and text[end] != sign:
                raise DataError(
                    f"{place()}: found {shorten(text[start : start + 60])}, expected nothing after the "
                    "closing quote.",
                    hint='A double quote inside a quoted item is written twice: "".',
                )
            fields.append(found[1].replace('""', '"'))
        start = end + 1
    return fields


def _listed_fields(text: str, column: Column, name: str) -> list[str]:
    """Take apart a list in brackets; what is missing in it is omitted."""
    bare = text.strip(" \t")
    if not bare:
        return []
    found: Any = None
    if bare[0] in "[{" and bare[-1] in "]}":
        for read in (read_json_with, _literal, _array):
            with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError, csv.Error):
                found = read(bare) or []  # {} is empty, too
                break
    if not isinstance(found, list | tuple | set | frozenset) or not all(
        isinstance(one, str | int) and not isinstance(one, bool) for one in found if one is not None
    ):
        raise DataError(
            f"{_place(column, column.labels.index(text), name)}: found {shorten(text)}, expected a list of "
            "items in brackets, like nearly all others.",
            hint='Such as ["tea", "milk"].',
        )
    # A set has an order of its own in each process.
    return sorted(str(one).strip(" \t") for one in found if one is not None)


def _literal(text: str) -> Any:
    """Read a list or set as Python writes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a backslash that Python doubles
        return ast.literal_eval(text)


def _array(text: str) -> list[str | None]:
    """Read an array as databases write it: ``{tea,"milk, whole",NULL}``."""
    reader = csv.reader([text[1:-1]], escapechar="\\", doublequote=False, skipinitialspace=True, strict=True)
    return [None if field == "NULL" else field for field in next(reader, [])]


def _place(column: Column, label: int, name: str) -> str:
    return f"{column.place(int(np.argmax(column.codes == label)))}, column {shorten(name)}"


def _refuse_other_signs(column: Column, name: str) -> None:
    """Refuse fields that contain no semicolon, but often another sign that may separate items."""
    filled = np.array([bool(label) for label in column.labels], bool)[column.codes].sum()
    if not filled or any(DELIMITER in label for label in column.labels):
        return
    for sign in _SIGNS:
        holds = np.array([sign in label for label in column.labels], bool)
        if holds[column.codes].sum() > evidence.LISTS * filled:
            example = column.labels[int(np.argmax(holds))]
            raise TableError(
                f"{_place(column, int(np.argmax(holds)), name)}: no field contains {DELIMITER!r} between "
                f"items, but many contain {sign!r}, such as {shorten(example)}",
                [],
                [
                    ({"delimiter": sign}, f"{in_words(sign)} separate items"),
                    ({"delimiter": DELIMITER}, "each field is one item"),
                ],
            )
