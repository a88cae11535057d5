"""Workloads of COUNT queries: drawn at random, frequent itemsets, or a user's own file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, shorten
from setveil.base.progress import Progress, silent
from setveil.judges.utility.are import Members
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, holders, recode_rows, take_rows
from setveil.kernels.tokens import tokenize
from setveil.kernels.walk import mark_occurring
from setveil.rows.data.io.decoded import Text, as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.text import refuse_open_quote, unquoted
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions

Queries = list[tuple[str, ...]]

_FEW = 5  # problems of a file that a message shows


def random_queries(
    data: Transactions,
    number: int = 1000,
    size: int = 2,
    seed: int = 0,
    among: NDArray[np.bool_] | None = None,
    progress: Progress = silent,
) -> Queries:
    """Draw queries at random: each is any set of `size` items that occurs, all equally likely, with repeats.

    Rows in any order give the same queries on every platform, whatever the release, so that releases of the
    same data can be compared. `among`, bool (n_items,), restricts the items.

    The queries of [1] are of generalized items, which there may be single ones: so every item can be drawn.
    Only queries with a(Q) > 0 have a relative error. Drawing sets until one has a(Q) > 0 makes all those sets
    equally likely; so does the quicker way here: draw one of all pairs of a distinct row and a set of `size`
    of its items, and keep it if no earlier row contains the set. The way with fewer cases to draw from is
    used.

    [1] Loukides, Gkoulalas-Divanis, Malin, "COAT: Constraint-based anonymization of transactions", Knowledge
    and Information Systems 28, 2011, doi:10.1007/s10115-010-0354-4 (section 6.1 of its preprint)

    >>> data = Transactions.from_rows([["a", "b"], ["b", "c"], ["b"]])
    >>> random_queries(data, number=4, size=2)
    [('b', 'c'), ('a', 'b'), ('b', 'c'), ('b', 'c')]
    """
    _refuse_less_than_one(number, size)
    keep = data.supports() > 0 if among is None else among & (data.supports() > 0)
    inside = np.flatnonzero(keep)
    indptr, items, _ = data.distinct  # by content, not as the rows happen to stand
    if inside.size < data.n_items:
        indptr, items = _restricted(indptr, items, keep)
        _, first, _ = merge_rows_by_content(indptr, items)
        indptr, items = take_rows(indptr, items, first)
        starts, held_by = holders(indptr, items, inside.size)
    else:
        starts, held_by = data.holders
    lengths = np.diff(indptr)
    longest = int(lengths.max(initial=0))
    if longest < size:
        which = "items" if among is None else "of the items to draw from"
        raise RequestError(
            f"A query size of {size} was asked for, but no row contains more than {longest} {which}.",
            hint=f"Use a query size of at most {longest}." if longest else "There is nothing to ask for.",
        )

    # How many sets there are in the rows of each length, and among all items.
    classes = [length for length in np.flatnonzero(np.bincount(lengths)).tolist() if length >= size]
    rows_of = [np.flatnonzero(lengths == length) for length in classes]
    cases = [rows.size * comb(length, size) for rows, length in zip(rows_of, classes, strict=True)]
    by_row = sum(cases) < comb(inside.size, size)
    # The length is drawn by comparing 64 random bits with shares of 2^64, all but the last.
    shares = np.array([(total << 64) // sum(cases) for total in accumulate(cases[:-1])], np.uint64)
    sizes = np.array([rows.size for rows in rows_of], np.uint64)
    by_length = np.concatenate(rows_of)
    begins = np.cumsum(sizes) - sizes

    ones = frozen(np.ones(lengths.size), np.int64)
    stream = np.random.PCG64(seed)
    labels = data.vocabulary.labels
    queries: Queries = []
    while len(queries) < number:
        progress("drawing queries", len(queries) / number)
        words = stream.random_raw((4096, size + 2))
        rows = np.full(len(words), -1)
        if by_row:
            of_length = np.searchsorted(shares, words[:, 0], side="right")
            rows = by_length[begins[of_length] + words[:, 1] % sizes[of_length]]
            places = _choose(np.array(classes)[of_length], words[:, 2:])
            drawn = items[indptr[rows][:, None] + places].astype(np.int64)
        else:
            drawn = _choose(np.full(len(words), inside.size), words[:, 2:])
        occurs = np.zeros(len(words), bool)
        mark_occurring(starts, held_by, ones, drawn, rows, number - len(queries), occurs)
        queries += [tuple(labels[i] for i in itemset) for itemset in inside[drawn[occurs]].tolist()]
    return queries


def _choose(n: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Choose as many of 0..n-1 as a row has random words, all sets equally likely (Floyd's method).

    Returns int64 (words.shape), increasing in each row.
    """
    chosen = np.empty(words.shape, np.int64)
    size = words.shape[1]
    for at in range(size):
        top = n - size + at
        place = (words[:, at] % (top + 1).astype(np.uint64)).astype(np.int64)
        is_taken = (chosen[:, :at] == place[:, None]).any(axis=1)
        chosen[:, at] = np.where(is_taken, top, place)
    chosen.sort(axis=1)
    return chosen


def generalized_items(original: Transactions, published: Transactions, members: Members) -> NDArray[np.bool_]:
    """Mark the items that are not published alone but under a label of several, or suppressed."""
    ids = original.vocabulary.ids
    known = np.zeros(original.n_items, bool)
    several = np.zeros(original.n_items, bool)
    for label in published.vocabulary.labels:
        inside = set(members.get(label, (label,)))
        at = [ids[item] for item in inside if item in ids]
        known[at] = True
        several[at] |= len(inside) > 1
    return several | ~known


def frequent_queries(
    data: Transactions,
    size: int,
    least: int,
    number: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Queries:
    """List the itemsets of one size in at least `least` rows, in item order, or a random `number` of them.

    Loukides, Gkoulalas-Divanis, Malin, "COAT: Constraint-based anonymization of transactions", Knowledge and
    Information Systems 28, 2011, doi:10.1007/s10115-010-0354-4 (workload W1, section 7 of its preprint)

    >>> data = Transactions.from_rows([["a", "b"], ["b", "a", "c"], ["b", "c"]])
    >>> frequent_queries(data, size=2, least=2)
    [('a', 'b'), ('b', 'c')]
    """
    _refuse_less_than_one(1 if number is None else number, size)
    if least < 1:
        raise RequestError(f"A support of {least} rows was asked for, expected at least 1.")
    frequent = data.supports() >= least
    inside = np.flatnonzero(frequent)
    stream = np.random.PCG64(seed)
    found: list[tuple[int, tuple[int, ...]]] = []
    greatest = 1 << 64
    for prefix, last in _frequent(*_restricted(data.indptr, data.items, frequent), size, least, progress):
        if number is None:
            found += [(0, (*prefix, item)) for item in last.tolist()]
            continue
        # Those with the least random keys are kept.
        keys = stream.random_raw(last.size)
        drawn = zip(keys.tolist(), last.tolist(), strict=True)
        found += [(key, (*prefix, item)) for key, item in drawn if key <= greatest]
        if len(found) > 2 * number + 1000:
            found = sorted(found)[:number]
            greatest = found[-1][0]
    if not found:
        raise RequestError(
            f"No {size} items occur together in {least:,} rows or more: no query to ask.",
            hint="Lower the support or the query size.",
        )
    labels = data.vocabulary.labels
    kept = sorted(itemset for _, itemset in sorted(found)[:number])
    return [tuple(labels[inside[i]] for i in itemset) for itemset in kept]


def frequent_sets(
    data: Transactions, size: int, least: int, progress: Progress = silent
) -> NDArray[np.int64]:
    """Find the itemsets of one size that at least this many rows hold: int64 (any, size), in item order.

    >>> data = Transactions.from_rows([["a", "b"], ["b", "a", "c"], ["b", "c"]])
    >>> frequent_sets(data, size=2, least=2).tolist()
    [[0, 1], [1, 2]]
    """
    frequent = data.supports() >= least
    inside = np.flatnonzero(frequent)
    found = [
        (*prefix, item)
        for prefix, last in _frequent(*_restricted(data.indptr, data.items, frequent), size, least, progress)
        for item in last.tolist()
    ]
    return inside[np.array(sorted(found), np.int64).reshape(-1, size)]


def _frequent(
    indptr: Ints, items: Ids, size: int, least: int, progress: Progress
) -> Iterator[tuple[tuple[int, ...], Ids]]:
    """Walk over the frequent prefixes of size - 1 items in item order, each with its frequent last items."""
    indptr, items, weights = distinct_rows(indptr, items)
    # A prefix, the rows that hold it, and where in them the items behind its last one begin.
    stack: list[tuple[tuple[int, ...], Ints, Ints]] = [((), np.arange(weights.size), indptr[:-1])]
    most = int(items.max(initial=0)) + 1
    steps = 0
    while stack:
        prefix, rows, places = stack.pop()
        if steps % 256 == 0:
            progress("finding frequent itemsets", prefix[0] / most if prefix else 0.0)
        steps += 1
        lengths = indptr[rows + 1] - places
        at = np.arange(lengths.sum()) + np.repeat(places - np.cumsum(lengths) + lengths, lengths)
        order = np.argsort(items[at], kind="stable")
        at, holders = at[order], np.repeat(rows, lengths)[order]
        behind = items[at]
        starts = np.flatnonzero(np.diff(behind, prepend=-1))
        supports = np.add.reduceat(weights[holders], starts) if starts.size else starts
        wanted = np.flatnonzero(supports >= least)
        if len(prefix) == size - 1:
            yield prefix, behind[starts[wanted]]
            continue
        ends = np.append(starts[1:], at.size)
        for j in wanted[::-1].tolist():
            part = slice(starts[j], ends[j])
            stack.append(((*prefix, int(behind[starts[j]])), holders[part], at[part] + 1))


def read_queries(path: str | Path, data: Transactions, encoding: str = "utf-8") -> Queries:
    """Read queries from a file: one itemset a line, written like the rows of the data, without repeats.

    Items are separated by blanks if the data's file is FIMI or SPMF, else by commas or the separator of that
    file.
    """
    text = as_text(read_bytes(path), str(path), encoding)
    layout = data.origin.layout if data.origin else None
    ids = data.vocabulary.ids
    problems: list[str] = []
    queries: Queries = []
    for line, found in enumerate(split_queries(text, layout), 1):
        if not found:
            problems.append(f"line {line}: found no item")
        unknown = sorted(set(found) - ids.keys())
        problems += [f"line {line}: {shorten(label, 40)} is not an item of the data" for label in unknown]
        queries.append(tuple(sorted(found, key=lambda label: ids.get(label, -1))))
    if not queries:
        raise DataError(f"{text.name} is an empty file, expected one query a line.")
    if problems:
        more = f"; and {len(problems) - _FEW:,} more problems" if len(problems) > _FEW else ""
        raise DataError(
            f"{text.name}, {'; '.join(problems[:_FEW])}{more}.",
            hint=f"Expected one query a line, items of the original data separated by {between(layout)}.",
        )
    return queries


def between(layout: Layout | None) -> str:
    """Say what stands between the items of a query that is written like rows of some layout."""
    return "blanks" if _blanks(layout) else repr(layout.separator if layout else ",")


def _blanks(layout: Layout | None) -> bool:
    return layout is not None and layout.format in {"fimi", "spmf"}


def split_queries(text: Text, layout: Layout | None) -> list[tuple[str, ...]]:
    """Split a text into lines, and each into its distinct items, separated as in the layout, or by commas."""
    blanks = _blanks(layout)
    separator = "" if blanks else layout.separator if layout else ","
    tokens = tokenize(text.content, separator=separator, quotes=not blanks)
    refuse_open_quote(text, tokens)
    spans = zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
    fields = [(text.content[start:end], start) for start, end in spans]
    labels = [raw.decode() if blanks else unquoted(text, raw, start) for raw, start in fields]
    codes = tokens.codes.tolist()
    return [
        tuple(dict.fromkeys(labels[code] for code in codes[start:end] if labels[code]))
        for start, end in pairwise(tokens.indptr.tolist())
    ]


def _restricted(indptr: Ints, items: Ids, keep: NDArray[np.bool_]) -> tuple[Ints, Ids]:
    """Drop all but some items, which get numbers of their own in the same order."""
    image = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return recode_rows(indptr, items, image)


def _refuse_less_than_one(number: int, size: int) -> None:
    for what, value in (("number of queries", number), ("query size", size)):
        if value < 1:
            raise RequestError(f"The {what} is {value}, expected at least 1.")
