"""Read files with one row a line: FIMI, basket, SPMF."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from setveil.base.errors import DataError, shorten
from setveil.kernels.tokens import Tokens, tokenize
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.sniff import basket_separator
from setveil.rows.data.layout import Layout
from setveil.rows.data.rows_read import RowsRead
from setveil.rows.data.vocabulary import is_integer

_SPMF_ITEM = re.compile(r"\+?[0-9]+", re.ASCII)
_SPMF_NAME = re.compile(rb"(?:^|(?<=[\r\n]))[ \t]*@ITEM=([^=\r\n]*)=([^\r\n]*)")


def read_fimi(text: Text) -> RowsRead:
    """Read rows of integers separated by blanks."""
    tokens = tokenize(text.content)

    def label(raw: bytes, offset: int) -> str:
        field = raw.decode()
        if not is_integer(field):
            looks_spmf = re.search(rb"(?m)^[ \t]*@|-2[ \t]*\r?$", text.content) is not None
            raise DataError(
                f"{text.where(offset)}: found {shorten(field)}, expected integers (FIMI).",
                hint="It looks like SPMF: add --format spmf."
                if looks_spmf
                else "If the items are names separated by commas, add --format basket.",
            )
        return field

    return RowsRead(tokens.indptr, tokens.codes, _labels(text, tokens, label), Layout("fimi"))


def read_basket(text: Text, separator: str | None) -> RowsRead:
    """Read rows of fields between separators; double quotes protect what is special."""
    layout = Layout("basket", separator or basket_separator(text, said=True))
    tokens = tokenize(text.content, separator=layout.separator, quotes=True)
    refuse_open_quote(text, tokens)
    labels = _labels(text, tokens, lambda raw, offset: unquoted(text, raw, offset))
    codes = tokens.codes
    if "" in labels:  # a quoted nothing; other empty fields are left out by the tokenizer
        codes = np.where(codes == labels.index(""), -1, codes)
    return RowsRead(tokens.indptr, codes, labels, layout)


def read_spmf(text: Text) -> RowsRead:
    """Read rows of numbers, as ``1 2 3`` or as ``1 -1 2 -1 -2``; items are their names, where they have some.

    ``-2`` ends a row and takes the line end after it along; otherwise a line end does, also of a blank line.
    """
    tokens = tokenize(text.content, comments=True)
    names = _spmf_names(text)

    def label(raw: bytes, offset: int) -> str:
        field = raw.decode()
        if not _SPMF_ITEM.fullmatch(field) and field not in {"-1", "-2"}:
            raise DataError(
                f"{text.where(offset)}: found {shorten(field)}, expected numbers, -1 or -2 (SPMF).",
                hint="If the items are names separated by commas, add --format basket.",
            )
        return names.get(field, field)

    labels = _labels(text, tokens, label)
    mark = [text.content[start : start + 1] == b"-" for start in tokens.starts.tolist()]
    numbers: dict[str, int] = {}
    for code, name in enumerate(labels):
        if not mark[code] and numbers.setdefault(name, code) != code:
            raise DataError(
                f"{text.name}: two numbers represent the same item, {shorten(name)}.",
                hint="Give each number a name of its own in the @ITEM lines.",
            )
    codes, bounds = tokens.codes, tokens.indptr[1:]
    if any(mark):
        ends_row = np.array([m and name == "-2" for m, name in zip(mark, labels, strict=True)])[codes]
        filled = np.flatnonzero(np.diff(tokens.indptr))
        ended = np.zeros(bounds.size, bool)
        ended[filled] = ends_row[bounds[filled] - 1]
        bounds = np.sort(np.concatenate([bounds[~ended], np.flatnonzero(ends_row) + 1]))
        codes = np.where(np.array(mark)[codes], np.int32(-1), codes)
    return RowsRead(np.concatenate([[0], bounds]), codes, labels, Layout("spmf"))


def _spmf_names(text: Text) -> dict[str, str]:
    names: dict[str, str] = {}
    if b"@ITEM=" not in text.content:
        return names
    for match in _SPMF_NAME.finditer(text.content):
        number, name = match[1].decode(), match[2].decode()
        where = text.where(match.start(1))
        if not _SPMF_ITEM.fullmatch(number) or not name:
            raise DataError(
                f"{where}: found {shorten(f'@ITEM={number}={name}')}, expected @ITEM=number=name."
            )
        if names.setdefault(number, name) != name:
            raise DataError(f"{where}: item {number} is named a second time, as {shorten(name)}.")
    return names


class QuoteError(DataError):
    """A double quote stands where it protects nothing."""


class OpenQuoteError(QuoteError):
    """A double quote is opened, and not closed until the text ends."""


def refuse_open_quote(text: Text, tokens: Tokens) -> None:
    """Raise if a quote was never closed."""
    if tokens.fault >= 0 and not tokens.width:
        raise OpenQuoteError(
            f"{text.where(tokens.fault)}: the double quote opened here is never closed.",
            hint='A double quote inside a quoted field is written twice: "".',
        )


def unquoted(text: Text, raw: bytes, offset: int) -> str:
    """Decode a field; of a quoted one, what its quotes protect."""
    if raw[:1] != b'"':
        return raw.decode()
    inner = raw[1:-1].replace(b'""', b"")
    if raw[-1:] != b'"' or b'"' in inner:
        raise QuoteError(
            f"{text.where(offset)}: found {shorten(raw.decode())}, expected nothing after the closing quote.",
            hint='A double quote inside a quoted field is written twice: "".',
        )
    return raw[1:-1].replace(b'""', b'"').decode()


def _labels(text: Text, tokens: Tokens, label: Callable[[bytes, int], str]) -> list[str]:
    content = text.content
    spans = zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
    return [label(content[start:end], start) for start, end in spans]
