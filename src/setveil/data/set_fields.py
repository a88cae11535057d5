"""Fields that hold a set: items between delimiters, quoted as in csv where they hold one."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from setveil.data import evidence
from setveil.data.layout import Layout
from setveil.data.named_columns import Column
from setveil.errors import DataError, RequestError, shorten
from setveil.kernels.rows import take_rows

DELIMITER = ";"
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_LIST = re.compile(r"\s*(\[.*\]|\{.*\})\s*", re.DOTALL)
_LIST_OF_TEXTS = re.compile(r"\s*[\[{]\s*['\"].*['\"]\s*[\]}]\s*", re.DOTALL)
_SIGNS = evidence.SEPARATORS.replace(DELIMITER, "")


def require_delimiter(delimiter: str) -> None:
    """Refuse what cannot stand between items."""
    try:
        Layout("basket", delimiter)
    except RequestError as error:
        error.message = error.message.replace("The separator", "The delimiter of the set column")
        raise


def split_column(
    column: Column, name: str, delimiter: str | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], list[str]]:
    """Split a column of such fields.

    Parameters
    ----------
    column : Column
        A text for each row; "" is a row without items.
    name : str
        What to call it in messages.
    delimiter : str, optional
        Between items; by default a semicolon, unless another sign stands in fields that hold none.

    Returns
    -------
    indptr, codes, labels
        As `setveil.data.transactions.Transactions.from_codes` takes them.
    """
    if delimiter is None:
        _refuse_other_signs(column, name)
    _refuse_lists(column, name, _LIST if delimiter is None else _LIST_OF_TEXTS)
    sign = delimiter or DELIMITER
    items: dict[str, int] = {}
    codes: list[int] = []
    bounds = [0]
    for text in column.labels:
        if '"' in text:
            fields = _quoted_fields(text, sign, column, name)
        else:
            fields = [field.strip(" \t") for field in text.split(sign)]
        codes += [items.setdefault(field, len(items)) for field in fields if field]
        bounds.append(len(codes))
    indptr, taken = take_rows(
        np.array(bounds, np.int64), np.array(codes, np.int32), np.ascontiguousarray(column.codes, np.int64)
    )
    return indptr, taken, list(items)


def _quoted_fields(text: str, sign: str, column: Column, name: str) -> list[str]:
    """Split a text of which some field may be quoted."""
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
                raise DataError(
                    f"{place()}: a double quote is never closed in {shorten(text)}.",
                    hint='A double quote inside a quoted item is written twice: "".',
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


def _place(column: Column, label: int, name: str) -> str:
    return f"{column.place(int(np.argmax(column.codes == label)))}, column {shorten(name)}"


def _refuse_other_signs(column: Column, name: str) -> None:
    """Refuse fields that hold no semicolon, but often another sign that may stand between items."""
    filled = np.array([bool(label) for label in column.labels], bool)[column.codes].sum()
    if not filled or any(DELIMITER in label for label in column.labels):
        return
    for sign in _SIGNS:
        holds = np.array([sign in label for label in column.labels], bool)
        if holds[column.codes].sum() > evidence.LISTS * filled:
            example = column.labels[int(np.argmax(holds))]
            raise DataError(
                f"{_place(column, int(np.argmax(holds)), name)}: no field holds {DELIMITER!r}, which stands "
                f"between items, but many hold {sign!r}, such as {shorten(example)}.",
                hint=f"Say what stands between items: --delimiter {sign!r}, or --delimiter {DELIMITER!r} if "
                "each field is one item.",
            )


def _refuse_lists(column: Column, name: str, form: re.Pattern[str]) -> None:
    """Refuse fields that a program wrote lists into."""
    filled = [at for at, label in enumerate(column.labels) if label]
    lists = [at for at in filled if form.fullmatch(column.labels[at])]
    if filled and len(lists) > evidence.SURE * len(filled):
        example = column.labels[lists[0]]
        raise DataError(
            f"{_place(column, lists[0], name)}: found {shorten(example)}, expected items with a delimiter "
            "between them.",
            hint="Write the lists as Parquet or JSON lines, or join the items of a row with ';'.",
        )
