"""Split the bytes of a text file into rows and fields, and number the distinct fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.rows import Ids, Ints


class Tokens(NamedTuple):
    """Rows of fields."""

    indptr: Ints  # int64 (n_rows + 1,): row r holds ``codes[indptr[r]:indptr[r + 1]]``
    codes: Ids  # int32 (n_fields,): which distinct field each field is; numbered by first appearance
    # starts, ends: int64 (n_distinct,): where in the buffer each distinct field first stands, blanks around
    # it left out, quotes included
    starts: Ints
    ends: Ints
    # -1, or the offset of what stopped the split: a quote that is never closed, or the row of a table that
    # has more or fewer fields than the table has columns
    fault: int
    width: int  # how many fields the row at `fault` has; 0 if an open quote is the fault


@compiled
def _tokenize(buffer, syntax, keep, indptr, codes):
    separator, quotes, comments, short = syntax
    space, tab, lf, cr, quote = 32, 9, 10, 13, 34
    size = buffer.size
    tabular = keep.size > 0
    table = np.full(2048, -1, np.int64)
    starts, ends = np.empty(1024, np.int64), np.empty(1024, np.int64)
    hashes = np.empty(1024, np.uint64)
    mask = np.uint64(table.size - 1)
    distinct = n = rows = columns = p = row_start = 0
    fresh = True  # at the start of a line; after the last separator of a file one more, empty, field follows
    while p < size or not fresh:
        if fresh:
            row_start = p
        while p < size and (buffer[p] == space or buffer[p] == tab) and buffer[p] != separator:
            p += 1
        if (
            comments and fresh and p < size and (buffer[p] == 35 or buffer[p] == 37 or buffer[p] == 64)
        ):  # # % @
            while p < size and buffer[p] != lf and buffer[p] != cr:
                p += 1
            if p < size:
                p += 2 if buffer[p] == cr and p + 1 < size and buffer[p + 1] == lf else 1
            continue

        start = last = p
        quoted = quotes and p < size and buffer[p] == quote
        inside = False
        while p < size:
            b = np.int64(buffer[p])
            p += 1
            if quoted and b == quote:
                inside = not inside  # a doubled quote closes and opens again
            elif not inside:
                if b in (lf, cr, separator):
                    p -= 1
                    break
                if b in (space, tab):
                    if separator < 0:
                        p -= 1
                        break
                    continue
            last = p
        if inside:
            return rows, n, starts[:distinct], ends[:distinct], start, 0

        terminator = True
        if p < size:
            b = np.int64(buffer[p])
            p += 1
            terminator = b in (lf, cr)
            if b == cr and p < size and buffer[p] == lf:
                p += 1
        columns += 1
        blank = tabular and terminator and columns == 1 and last == start
        wanted = last > start
        if tabular:
            wanted = not blank and columns <= keep.size and keep[columns - 1]

        if wanted:
            h = np.uint64(0xCBF29CE484222325)
            for q in range(start, last):
                h = (h ^ np.uint64(buffer[q])) * np.uint64(0x100000001B3)
            h ^= h >> np.uint64(32)
            slot = h & mask
            while True:
                code = table[slot]
                if code < 0:
                    break
                if hashes[code] == h and ends[code] - starts[code] == last - start:
                    q = 0
                    while q < last - start and buffer[starts[code] + q] == buffer[start + q]:
                        q += 1
                    if q == last - start:
                        break
                slot = (slot + np.uint64(1)) & mask
            if code < 0:
                code = np.int64(distinct)
                table[slot] = code
                starts[code], ends[code], hashes[code] = start, last, h
                distinct += 1
                if distinct == starts.size:
                    table = np.full(4 * distinct, -1, np.int64)
                    mask = np.uint64(table.size - 1)
                    old_starts, old_ends, old_hashes = starts, ends, hashes
                    starts, ends = np.empty(2 * distinct, np.int64), np.empty(2 * distinct, np.int64)
                    hashes = np.empty(2 * distinct, np.uint64)
                    for d in range(distinct):
                        starts[d], ends[d], hashes[d] = old_starts[d], old_ends[d], old_hashes[d]
                        slot = hashes[d] & mask
                        while table[slot] >= 0:
                            slot = (slot + np.uint64(1)) & mask
                        table[slot] = d
            codes[n] = code
            n += 1

        if terminator:
            if not blank:
                if tabular and (columns > keep.size or (columns < keep.size and not short)):
                    return rows, n, starts[:distinct], ends[:distinct], row_start, columns
                rows += 1
                indptr[rows] = n
            columns = 0
        fresh = terminator
    return rows, n, starts[:distinct], ends[:distinct], -1, 0


def tokenize(
    content: bytes,
    *,
    separator: str = "",
    quotes: bool = False,
    comments: bool = False,
    keep: NDArray[np.bool_] | None = None,
    short: bool = False,
) -> Tokens:
    r"""Split text into rows at ``\n``, ``\r\n`` or ``\r``, and rows into fields.

    Blanks (spaces and tabs) around a field are omitted. Every line is a row, also a blank one. In `content`,
    bytes below 128 mean ASCII characters. An empty separator means runs of blanks. With `quotes`, a field
    that begins with a double quote runs to the closing one; with `comments`, lines with ``#``, ``%`` or ``@``
    first are omitted.

    With keep: bool (columns,), the text is a table: fields of columns marked False and blank lines are
    omitted, empty fields have length 0, and lines may have fewer fields if `short`. By default empty fields
    are omitted.
    """
    rows = content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n") + 1
    between = content.count(separator.encode()) if separator else content.count(b" ") + content.count(b"\t")
    indptr = np.zeros(rows + 1, np.int64)
    codes = np.empty(rows + between, np.int32)
    if keep is None:
        keep = np.zeros(0, np.bool_)
    with np.errstate(over="ignore"):
        n_rows, n, starts, ends, fault, width = _tokenize(
            np.frombuffer(content, np.uint8),
            (ord(separator) if separator else -1, quotes, comments, short),
            keep,
            indptr,
            codes,
        )
    return Tokens(indptr[: n_rows + 1], codes[:n], starts, ends, fault, width)
