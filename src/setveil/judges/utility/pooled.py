"""Errors of rows drawn from a release: mean and standard deviation over draws, as analyses report them.

Answers are counted in the rows of a draw. The error of the draws' mean answers is less, as chance evens out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.utility.are import Queries, query_errors
from setveil.judges.utility.queries import frequent_queries
from setveil.kernels.rows import distinct_rows
from setveil.rows.data.transactions import Transactions

LONGEST = 3  # frequent itemsets where no length is given

Floats = NDArray[np.float64]


def pooled_errors(
    original: Transactions,
    draws: Iterable[Transactions],
    queries: Queries,
    *,
    threshold: int | None = None,
    longest: int = LONGEST,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare draws with the original, in items, `queries` and perhaps itemsets in at least `threshold` rows.

    `mean` and `sd` are over the draws (of a single one `sd` is None):

    - `items`: `number` that occur in the original; `mean_error` and `median_error`, the relative error of
      their supports; `of_mean`, the mean error of the draws' mean supports, one number;
    - `queries`: the same of the queries that some original row matches; `left_out`, the others;
    - `itemsets` of at most `longest` items: `frequent` in the original, `found` (of these, in at least
      `threshold` rows of a draw), `wrong` (frequent in the draw alone).
    """
    there = original.supports() > 0
    actual = original.supports()[there]
    wanted = [] if threshold is None else _frequent(original, threshold, longest)
    items: list[Floats] = []
    answers: list[Floats] = []
    found: list[int] = []
    wrong: list[int] = []
    exact = np.zeros(0, np.int64)
    left_out = 0
    for drawn in draws:
        progress("measuring the draws")
        supports = dict(zip(drawn.vocabulary.labels, drawn.supports().tolist(), strict=True))
        items.append(np.array([supports.get(x, 0) for x in original.vocabulary.labels], np.float64)[there])
        errors = query_errors(original, drawn, {}, queries, progress)
        answers.append(errors.estimate)
        exact, left_out = errors.actual, errors.left_out
        if threshold is not None:
            again = query_errors(original, drawn, {}, wanted, progress).estimate >= threshold
            found.append(int(np.count_nonzero(again)))
            wrong.append(_count(drawn, threshold, longest) - found[-1])
    out: dict[str, Any] = {
        "draws": len(items),
        "rows": {"original": original.n_rows, "draw": drawn.n_rows},
        "items": {"number": int(actual.size), **_errors(actual, items)},
        "queries": {"number": int(exact.size), "left_out": left_out, **_errors(exact, answers)},
    }
    if threshold is not None:
        out["itemsets"] = {
            "threshold": threshold,
            "longest": longest,
            "frequent": len(wanted),
            "found": spread(found),
            "wrong": spread(wrong),
        }
    return out


def usual_number(original: Transactions, size: int | None) -> int | None:
    """Return the default number of random queries for draws; None if no row has two items."""
    return 1000 if size is not None or original.row_lengths().max(initial=0) >= 2 else None


def _errors(actual: NDArray[np.int64], estimates: list[Floats]) -> dict[str, Any]:
    """Summarize relative errors of each draw, and that of the mean of all."""
    if not actual.size:
        return {"mean_error": None, "median_error": None, "of_mean": None}
    each = [np.abs(estimate - actual) / actual for estimate in estimates]
    return {
        "mean_error": spread([float(errors.mean()) for errors in each]),
        "median_error": spread([float(np.median(errors)) for errors in each]),
        "of_mean": float((np.abs(np.mean(estimates, axis=0) - actual) / actual).mean()),
    }


def spread(values: list[float] | list[int]) -> dict[str, float | None]:
    """Mean and standard deviation (divided by one less than their number)."""
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"mean": float(np.mean(values)), "sd": sd}


def _frequent(rows: Transactions, threshold: int, longest: int) -> list[tuple[str, ...]]:
    """List the itemsets of 1 to `longest` items in at least this many rows."""
    out: list[tuple[str, ...]] = []
    for size in range(1, longest + 1):
        if _count(rows, threshold, size) == len(out):
            break  # none is so long, so none is longer
        out += frequent_queries(rows, size, threshold)
    return out


def _count(rows: Transactions, threshold: int, longest: int) -> int:
    """Count the itemsets of at most `longest` items in at least this many rows."""
    from setveil.kernels.itemset_counts import ItemsetFamily

    family = ItemsetFamily(*distinct_rows(rows.indptr, rows.items), rows.n_items, threshold, longest)
    return int(family.counts()[0])
