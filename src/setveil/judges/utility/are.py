"""ARE: how far the answers to COUNT queries are off when they are estimated from the published rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.progress import Progress, silent
from setveil.base.threads import each
from setveil.judges.utility import CHUNKS, ITEMS, NOISY, Case, Compared, Measure, StudyColumn, Utility
from setveil.judges.utility._expected_matches import expected_matches
from setveil.judges.utility._set_supports import supports_of_sets
from setveil.judges.utility.estimates import UNIFORM, Estimator
from setveil.judges.utility.estimators import estimator_for, estimator_of
from setveil.kernels.rows import frozen
from setveil.releases.published.shared import SharedSums
from setveil.rows.data.transactions import Transactions

Members = Mapping[str, Sequence[str]]
Queries = Sequence[Sequence[str]]

_EVERY = 32  # queries between two signs of life


def median(values: NDArray[np.float64]) -> float:
    """Return the median of one value or more; numpy's function would import masked arrays."""
    ordered = np.sort(values)
    return float((ordered[(values.size - 1) // 2] + ordered[values.size // 2]) / 2)


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """Exact and estimated answers of the queries that some original row matches."""

    # int64 (queries,): a(Q), the number of original rows that hold all items of the query; at least 1
    actual: NDArray[np.int64]
    estimate: NDArray[np.float64]  # float64 (queries,): e(Q), what a reader of the release expects it to be
    position: NDArray[np.int64]  # int64 (queries,): which of the given queries each one is
    # how many of the given queries no original row matches: their relative error is not defined
    left_out: int

    @property
    def queries(self) -> int:
        """Number of queries that count."""
        return self.actual.size

    @property
    def relative(self) -> NDArray[np.float64]:
        """RE(Q) = abs(a(Q) - e(Q)) / a(Q): float64 (queries,)."""
        return np.asarray(np.abs(self.actual - self.estimate) / self.actual, np.float64)

    @property
    def mean(self) -> float | None:
        """ARE, the mean relative error; None without queries."""
        return float(self.relative.mean()) if self.queries else None

    @property
    def sd(self) -> float | None:
        """Standard deviation of the relative errors over these queries (divided by their number)."""
        return float(self.relative.std()) if self.queries else None

    @property
    def median(self) -> float | None:
        """Median relative error; None without queries."""
        return median(self.relative) if self.queries else None

    def as_dict(self) -> dict[str, Any]:
        """Summarize: `mean`, `sd`, `median`, `queries`, `left_out` (JSON types)."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "median": self.median,
            "queries": self.queries,
            "left_out": self.left_out,
        }


def query_errors(
    original: Transactions,
    published: Transactions,
    members: Members,
    queries: Queries,
    progress: Progress = silent,
) -> QueryErrors:
    """Answer COUNT queries exactly from the original and by expectation from the release.

    A published label of s items in a row represents each of its 2^s - 1 non-empty subsets with equal
    probability, independently of the row's other labels. So t items of a query under one label of the row
    match with probability 2^(s-t) / (2^s - 1), and a row matches with the product over its labels. Items
    under no label of the row do not occur in it. `members` has all items of each label; a missing label
    represents itself. A repeated item counts once.

    Differences from [1]: no release of its set-based recoding publishes an item under two labels. Local
    recodings do; in a row the label that the row shows counts: of several the one with fewest items, then the
    first.

    [1] Loukides, Gkoulalas-Divanis, Malin, "COAT: Constraint-based anonymization of transactions", Knowledge
    and Information Systems 28, 2011, doi:10.1007/s10115-010-0354-4 (section 6.1 of its preprint)

    >>> original = Transactions.from_rows([["a", "c"], ["b", "c"], ["a", "b"]])
    >>> published = Transactions.from_rows([["A", "c"], ["A", "c"], ["A"]])
    >>> errors = query_errors(original, published, {"A": ["a", "b"]}, [["a"], ["a", "c"], ["a", "b"]])
    >>> errors.actual.tolist()
    [2, 1, 1]
    >>> errors.estimate.round(3).tolist()  # 3 * 2/3, 2 * 2/3, 3 * 1/3
    [2.0, 1.333, 1.0]
    """
    itemsets = [_ids(original, query) for query in queries]
    scale, starts, covers = _meaning(original, published, members)
    release = *published.distinct, *published.holders, scale, starts, covers

    progress("answering queries", 0.0)
    actual = _actual(original, itemsets)
    kept = np.flatnonzero(actual)
    # Estimates depend on the labels of the items alone.
    under = {
        j: tuple(covers[starts[item] : starts[item + 1]].tobytes() for item in itemsets[j].tolist())
        for j in kept.tolist()
    }
    first = {labels: j for j, labels in reversed(under.items())}
    different = list(first.values())
    matches: list[float] = []
    for begin in range(0, len(different), _EVERY):
        progress("answering queries", begin / len(different))
        some = different[begin : begin + _EVERY]
        matches += each(lambda j: float(expected_matches(*release, itemsets[j])), some)
    known = dict(zip(first, matches, strict=True))
    estimate = np.zeros(len(itemsets), np.float64)
    estimate[kept] = [known[labels] for labels in under.values()]
    return QueryErrors(actual[kept], estimate[kept], kept, len(itemsets) - kept.size)


def estimated_errors(original: Transactions, estimator: Estimator, queries: Queries) -> QueryErrors:
    """Answer COUNT queries exactly from the original, and by an estimator of the release."""
    actual = _actual(original, [_ids(original, query) for query in queries])
    kept = np.flatnonzero(actual)
    estimate = estimator.answers([queries[j] for j in kept.tolist()]).estimate
    return QueryErrors(actual[kept], estimate, kept, actual.size - kept.size)


def _actual(original: Transactions, itemsets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Count the rows that contain all items of each query."""
    ends = frozen(np.cumsum([0, *(query.size for query in itemsets)]), np.int64)
    items = frozen(np.concatenate([np.zeros(0, np.int64), *itemsets]), np.int32)
    return supports_of_sets(original, ends, items)


def _ids(original: Transactions, query: Sequence[str]) -> NDArray[np.int64]:
    if not query:
        raise RequestError("A query has no item, expected at least one.")
    ids = original.vocabulary.ids
    unknown = [item for item in query if item not in ids]
    if unknown:
        raise DataError(
            f"A query names {listed(unknown)}, which the original does not have.",
            hint="Queries are over the items of the original, not over published labels.",
        )
    return np.array(sorted({ids[item] for item in query}), np.int64)


def _meaning(
    original: Transactions, published: Transactions, members: Members
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """List the published labels that represent each item, that of fewest items first; 1 / (1 - 2^-s)."""
    ids = original.vocabulary.ids
    covers: list[list[int]] = [[] for _ in range(original.n_items)]
    sizes = np.ones(published.n_items, np.int32)
    for label, name in enumerate(published.vocabulary.labels):
        inside = set(members.get(name, (name,)))
        sizes[label] = max(len(inside), 1)
        for item in inside:
            if item in ids:
                covers[ids[item]].append(label)
    for labels in covers:
        labels.sort(key=lambda label: (sizes[label], label))
    starts = np.cumsum([0, *map(len, covers)])
    flat = [label for labels in covers for label in labels]
    scale = 1 / (1 - np.ldexp(1.0, -sizes))  # where 2^-s underflows to 0, the factor is 1 as it should be
    return frozen(scale, np.float64), frozen(starts, np.int64), frozen(np.array(flat, np.int64), np.int64)


def reader_errors(case: Case) -> dict[str, Any]:
    """Measure the errors of a reader's answers; `from_rows` has those of a reader without counts."""
    if case.chunks is not None or case.blocks is not None:
        estimator = case.once(by_name)
        errors = estimated_errors(case.original, estimator, case.queries)
        return {**errors.as_dict(), "estimator": estimator.method}
    members = case.recoding.members()
    alone = query_errors(case.original, case.published, members, case.queries, case.progress)
    estimator = case.once(counts_estimator)
    if estimator is None:
        return {**alone.as_dict(), "estimator": UNIFORM}
    queries = [case.queries[j] for j in alone.position.tolist()]
    errors = replace(alone, estimate=estimator.answers(queries).estimate)
    spread = {"mean": alone.mean, "sd": alone.sd, "median": alone.median}
    return {**errors.as_dict(), "estimator": estimator.method, "from_rows": spread}


def by_name(case: Case) -> Estimator:
    """Make the estimator of a reader of rows in chunks, or of noisy blocks."""
    return estimator_for(SharedSums(case.chunks or case.blocks, {}, None, case.about))


def counts_estimator(case: Case) -> Estimator | None:
    """Make the estimator of a reader of the counts; None if there are none, or they are not to be used."""
    if case.counts is None or case.estimator == "uniform":
        return None
    return estimator_of(case.published, case.recoding, case.counts)


def _part(name: str) -> Callable[[Utility], Any]:
    return lambda utility: utility.get("are", {}).get(name)


MEASURES = (
    Measure(
        name="are",
        title="ARE",
        meaning="mean relative error of COUNT queries",
        compute=reader_errors,
        place=5,
        needs="queries",
        kinds=(*ITEMS, *CHUNKS, *NOISY),
        high=None,
        number=lambda found: found.get("mean"),
        reported=False,  # the page of a run has a section about what is answered
        columns=(
            StudyColumn("are_mean", _part("mean")),
            StudyColumn("are_median", _part("median")),
            # Those of groups are group-by queries (`setveil.judges.utility.kl`).
            StudyColumn(
                "queries", lambda utility: utility.get("are", utility.get("kl", {})).get("queries"), int
            ),
        ),
        compared=(
            Compared(
                "are_median",
                "query error",
                "Query error: median relative error of random COUNT queries; 1: off by as much as the true "
                "count. Less is better.",
                "are_median",
                scale="spread",
                head="query error",
                section="answers",
                place=4,
                handed_out=True,
            ),
            Compared(
                "are_mean",
                "mean query error (ARE)",
                "Mean relative error of random COUNT queries (ARE); 1: off by as much as the true count. "
                "Less is better.",
                "are_mean",
                scale="spread",
                listed=False,
                decides=True,
                place=5,
                handed_out=True,
            ),
        ),
    ),
)
