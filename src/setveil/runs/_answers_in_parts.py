"""Answers from a release of rows in parts, by the tables of all pairs, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.utility.are import QueryErrors
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.estimators import estimator_of
from setveil.judges.utility.greatest import found_again
from setveil.kernels.count import members_of_cells
from setveil.kernels.rows import Ints, frozen
from setveil.releases.published.counts import Counts
from setveil.releases.published.recoding import Recoding

if TYPE_CHECKING:
    from setveil.rows.engine.tabled import TabledRows

_CELLS = 1 << 20  # of a table that are looked at together


def answers_in_parts(
    before: TabledRows,
    after: TabledRows,
    recoding: Recoding,
    counts: Counts | None,
    *,
    queries: int,
    top: int,
    threshold: int,
    longest: int,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Measure what a release still answers, for rows all of whose pairs fit in tables.

    `are` is as of `setveil.judges.utility.are`, for pairs that occur or, without any, single items, with
    `size`, the items of a query; `pairs` as of `found_again`, for the `top` ones; `itemsets` as of
    `surviving_itemsets`, with a smaller `max_length` if larger sets do not fit in a table. Nothing if all
    rows are empty.
    """
    size = min(before.lengths.size - 1, 2)
    if not size:
        return {}
    progress("answering queries")
    drawn = drawn_queries(before, queries, size)
    ends = frozen(np.arange(0, drawn.size + 1, size), np.int64)
    actual = before.supports_of_sets(ends, frozen(drawn.ravel(), np.int32))
    labels = before.vocabulary.labels
    itemsets = [[labels[item] for item in query] for query in drawn.tolist()]

    def errors(estimator: Estimator) -> dict[str, Any]:
        return QueryErrors(actual, estimator.answers(itemsets).estimate, np.arange(queries), 0).as_dict()

    estimator = estimator_of(after, recoding, counts)
    are = {**errors(estimator), "estimator": estimator.method}
    if counts is not None:
        alone = errors(estimator_of(after, recoding, None))
        are["from_rows"] = {name: alone[name] for name in ("mean", "sd", "median")}
    found: dict[str, Any] = {"are": {**are, "size": size}}
    if size == 2:
        found["pairs"] = found_again(before, estimator, top, progress)
    found["itemsets"] = surviving_in_parts(before, after, threshold, longest, progress)
    return found


def drawn_queries(data: TabledRows, number: int, size: int, seed: int = 0) -> Ints:
    """Draw sets of 1 or 2 items that occur, all equally likely: int64 (number, size).

    They are drawn by their places in the table of all, so `setveil.judges.utility.queries.random_queries`
    draws others with the same seed.
    """
    table = data.table(size)
    starts = range(0, table.size, _CELLS)
    before = np.cumsum([0, *(np.count_nonzero(table[start : start + _CELLS]) for start in starts)])
    words = np.random.PCG64(seed).random_raw(number) % np.uint64(before[-1])
    drawn = words.astype(np.int64)
    block = np.searchsorted(before, drawn, "right") - 1
    cells = np.zeros(number, np.int64)
    for one in np.unique(block).tolist():
        some = block == one
        there = np.flatnonzero(table[starts[one] : starts[one] + _CELLS])
        cells[some] = starts[one] + there[drawn[some] - before[one]]
    return members_of_cells(cells, data.n_items, size)


def surviving_in_parts(
    before: TabledRows, after: TabledRows, threshold: int, longest: int, progress: Progress = silent
) -> dict[str, Any]:
    """Count how many frequent itemsets of the original a release still holds, from tables of these alone."""
    frequent = np.flatnonzero(before.supports() >= threshold)
    shown = after.vocabulary.ids
    labels = before.vocabulary.labels
    kept = [item for item in frequent.tolist() if labels[item] in shown]
    common = before.only(frequent)
    own = common.only(np.searchsorted(frequent, np.array(kept, np.int64)))
    theirs = after.only(np.array([shown[labels[item]] for item in kept], np.int64))
    by_length: list[dict[str, int]] = []
    unchanged = True
    most = next((size - 1 for size in range(1, longest + 1) if not common.fits(size)), longest)
    for length in range(1, most + 1):
        progress("counting itemsets")
        number = int(np.count_nonzero(common.table(length) >= threshold))
        if not number:
            break  # no itemset is so long, so none is longer
        survives = own.table(length)
        unchanged = unchanged and bool((survives == theirs.table(length)).all())
        there = int(np.count_nonzero(survives >= threshold))
        by_length.append({"length": length, "frequent": number, "kept": there})
    return {
        "threshold": threshold,
        "max_length": most,
        "frequent": sum(entry["frequent"] for entry in by_length),
        "kept": sum(entry["kept"] for entry in by_length),
        "by_length": by_length,
        "supports_unchanged": unchanged,
        "rules": 0,
        "rules_kept": 0,
    }
