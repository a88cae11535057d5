"""Errors of answers to COUNT queries over a table that ask for columns and items together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.utility import TABLES, Case, Compared, Measure, StudyColumn
from setveil.judges.utility.are import QueryErrors, counts_estimator
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.estimators import estimator_of
from setveil.kernels.rows import invert

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable
    from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
    from setveil.rows.tables.table import Table

_EVERY = 32  # queries between two signs of life


@dataclass(frozen=True, eq=False)
class TableQuery:
    """A COUNT query: rows whose values are among some, and that contain some items."""

    # dict of int to bool (n_values,): for some columns, by number, the values that are asked for
    values: dict[int, NDArray[np.bool_]]
    items: tuple[int, ...]  # ids of items


def random_table_queries(original: Table, number: int, seed: int = 0) -> list[TableQuery]:
    """Draw queries that at least one row matches: one to all columns, and one or two items of a random row.

    A number is asked for as an interval to that of another random row; another value with every other value
    by the toss of a coin; a missing value by itself. Rows in any order give the same queries, whatever the
    release. Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, ECML PKDD 2013,
    doi:10.1007/978-3-642-40994-3_23
    """
    if not original.n_rows or not original.columns:
        return []
    order, stream = original.canonical_order(), np.random.PCG64(seed)
    return [_drawn(original, order, stream) for _ in range(number)]


def _drawn(original: Table, order: NDArray[np.int64], stream: np.random.PCG64) -> TableQuery:
    def pick(below: int) -> int:
        return int(stream.random_raw()) % below

    row, other = (int(order[pick(order.size)]) for _ in range(2))
    shuffled = np.argsort(stream.random_raw(len(original.columns)), kind="stable")
    values = {}
    for at in sorted(shuffled[: 1 + pick(len(original.columns))].tolist()):
        column = original.columns[at]
        value, ranks = int(column.codes[row]), column.rank
        coins = stream.random_raw(column.n_values) & 1 == 1
        if column.missing and value == 0:
            wanted = np.arange(column.n_values) == 0
        elif column.numeric:
            ends = sorted((int(ranks[value]), int(ranks[int(column.codes[other])])))
            wanted = (ranks >= ends[0]) & (ranks <= ends[1])
            wanted[: int(column.missing)] = False
        else:
            wanted = coins
            wanted[: int(column.missing)] = False
            wanted[value] = True
        values[at] = wanted
    held = original.items[original.indptr[row] : original.indptr[row + 1]].tolist()
    size = min(1 + pick(2), len(held))
    chosen = np.argsort(stream.random_raw(max(len(held), 1)), kind="stable")[:size].tolist()
    return TableQuery(values, tuple(sorted(held[at] for at in chosen)))


def true_answer(original: Table, query: TableQuery) -> int:
    """Count the rows that match a query."""
    matches = np.ones(original.n_rows, bool)
    for at, wanted in query.values.items():
        matches &= wanted[original.columns[at].codes]
    for item in query.items:
        holds = np.zeros(original.n_rows, bool)
        holds[np.searchsorted(original.indptr, np.flatnonzero(original.items == item), side="right") - 1] = (
            True
        )
        matches &= holds
    return int(matches.sum())


def true_answers(original: Table, queries: list[TableQuery]) -> list[int]:
    """Count the rows that match each query."""
    return [true_answer(original, query) for query in queries]


class _TableReader:
    """The expectations of a reader of a published table for each row."""

    def __init__(self, original: Table, published: PublishedTable, estimator: Estimator) -> None:
        self.original, self.published = original, published
        self.places, sets = estimator.places, published.sets
        self.labels = sets.vocabulary.ids
        starts, rows, _ = invert(sets.indptr, sets.items, sets.n_items)
        self.rows_of = [rows[start:end] for start, end in pairwise(starts.tolist())]

    def estimate(self, query: TableQuery) -> float:
        """Sum over the published rows the probability that each matches."""
        chance = np.ones(self.published.n_rows)
        for at, wanted in query.values.items():
            column, shown = self.original.columns[at], self.published.columns[at]
            chance *= np.array([_share(column, label, wanted) for label in shown.labels])[shown.codes]
        names = [self.original.vocabulary.labels[item] for item in query.items]
        found = [dict(self._chances(name)) for name in names]
        for item in found:
            chance *= self._spread(item)
        if len(found) == 2:  # items under one label: of the chance that both are there
            first, second = found
            without = np.ones(self.published.n_rows)
            for label in first.keys() & second.keys() - {len(self.rows_of)}:
                together = float(self.places.chances[label])
                without[self.rows_of[label]] = together
            chance *= without
        return float(chance.sum())

    def _chances(self, name: str) -> Iterator[tuple[int, float]]:
        """List the labels that an item may be under, each with the share of its rows with the item."""
        for place in self.places.of.get(name, ()):
            yield int(self.places.label[place]), float(self.places.share[place])

    def _spread(self, chances: dict[int, float]) -> NDArray[np.float64]:
        nowhere = len(self.rows_of)
        spread = np.full(self.published.n_rows, chances.get(nowhere, 0.0))
        for label, share in chances.items():
            if label != nowhere:
                spread[self.rows_of[label]] = share
        return spread


def _share(column: QuasiIdentifier, label: str, wanted: NDArray[np.bool_]) -> float:
    """Compute the share of the values under a label that a query names: integers, lengths, or leaves."""
    interval = column.interval_of(label)
    if interval is None:
        return 0.0
    least, greatest = interval
    if least == greatest or column.parent is not None:
        return float(np.count_nonzero(wanted[least : greatest + 1]) / (greatest + 1 - least))
    first = max(least, int(column.missing))  # of the numbers
    values = first + np.flatnonzero(wanted[first : greatest + 1])
    if not values.size:
        return 0.0
    if first == greatest:  # one number, beside missing values
        return 1.0
    both = int(column.extent[values[-1]] - column.extent[values[0]]) + column.integers
    return both / (int(column.extent[greatest] - column.extent[first]) + column.integers)


def table_errors(case: Case, number: int) -> dict[str, Any]:
    """Measure the errors of random queries over columns and items."""
    queries = random_table_queries(case.original, number, case.seed)
    estimator = case.once(counts_estimator) or estimator_of(case.published, case.recoding, None)
    errors = query_errors(case.original, case.table, estimator, queries, case.progress)
    return {**errors.as_dict(), "estimator": estimator.method}


def query_errors(
    original: Table,
    published: PublishedTable,
    estimator: Estimator,
    queries: list[TableQuery],
    progress: Progress = silent,
    answers: list[int] | None = None,
) -> QueryErrors:
    """Compare true and estimated answers; `answers` has the true ones, if they are known."""
    reader = _TableReader(original, published, estimator)
    actual = true_answers(original, queries) if answers is None else answers
    estimates = []
    for number, query in enumerate(queries):
        if number % _EVERY == 0:
            progress("answering queries", number / len(queries))
        estimates.append(reader.estimate(query))
    return QueryErrors(
        np.array(actual, np.int64), np.array(estimates, np.float64), np.arange(len(queries)), 0
    )


MEASURES = (
    Measure(
        name="table_are",
        title="table ARE",
        meaning="mean relative error of COUNT queries over columns and items",
        compute=lambda case: table_errors(case, len(case.queries)),
        place=6,
        kinds=TABLES,
        needs="queries",
        high=None,
        number=lambda found: found.get("mean"),
        reported=False,
        columns=(
            StudyColumn("table_are_mean", lambda utility: utility.get("table_are", {}).get("mean")),
            StudyColumn("table_are_median", lambda utility: utility.get("table_are", {}).get("median")),
        ),
        compared=(
            Compared(
                "table_are_median",
                "query error, columns and items",
                "Median relative error of random COUNT queries over columns and items; 1: off by as much as "
                "the true count. Less is better.",
                "table_are_median",
                scale="spread",
                head="query error, columns and items",
                section="answers",
                place=5,
                handed_out=True,
            ),
        ),
    ),
)
