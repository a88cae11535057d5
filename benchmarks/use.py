"""The accuracy of counts of items, pairs and triples from releases, with published counts and without.

    python benchmarks/use.py [--data FOLDER] [--k 5] [--m 2] [--time-limit 300] [NAME ...]

For each data set and way to make a release, and for each estimator (`uniform`: from the rows alone, each
label spread evenly; `prop`: by the counts, items of a label independent; `ME`: maximum entropy, setveil's
answers):

- `items`: mean and median relative error of the supports of all items that occur,
- `pairs`, `triples`: of 10,000 random ones, each of a random row,
- `distinct`: of 1,000 of all pairs that occur in a row,
- `any`: mean absolute error, in rows, of 1,000 random pairs of items, most of them in no row,
- `top`: the number of the 100 most frequent pairs that are among the 100 greatest estimates,
- `ms`: milliseconds per query of a pair, after loading.

retail has no hierarchy; its items are grouped by co-occurrence.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import setveil as sv
from runs import data_folder, parser
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.queries import random_queries
from setveil.releases.published.rows import RowsRelease
from setveil.releases.published.shared import Shared, shared_by
from setveil.rows.data.transactions import Transactions

NUMBER, DRAWS, TOP = 1000, 10, 100
Query = tuple[str, ...]
Answer = Callable[[Sequence[Query]], NDArray[np.float64]]

ESTIMATORS = ("uniform", "prop", "ME")

SETS = {
    "groceries": ("groceries.csv", "groceries_hierarchy.csv"),
    "BMS-WebView-1": ("bms_webview1.dat", "bms_webview1_hierarchy.csv"),
    "BMS-WebView-2": ("bms_webview2.dat", "bms_webview2_hierarchy.csv"),
    "diabetes_icd9": ("diabetes_icd9.dat", "diabetes_icd9_hierarchy.csv"),
    "instacart": ("instacart_long.csv", "instacart_hierarchy.csv"),
    "retail": ("retail.dat", None),
}
WAYS: dict[str, dict[str, Any]] = {
    "lm": {"algorithm": "exact", "objective": "lm"},
    "ncp": {"algorithm": "exact", "objective": "ncp"},
    "entropy": {"algorithm": "exact", "objective": "entropy"},
    "entropy-max": {"algorithm": "exact", "objective": "entropy-max"},
    "cut only": {"algorithm": "exact", "suppress": False},
    "mhghs": {"algorithm": "mhghs"},
}


def matrix(data: Transactions) -> sparse.csr_array:
    """Put rows into a matrix of ones."""
    ones = np.ones(data.n_occurrences)
    return sparse.csr_array((ones, data.items, data.indptr), shape=(data.n_rows, data.n_items))


def from_rows(data: Transactions, size: int, seed: int) -> list[Query]:
    """Draw itemsets, each from a random row of those that are long enough."""
    random = np.random.default_rng(seed)
    rows = np.flatnonzero(data.row_lengths() >= size)
    out = []
    for row in random.choice(rows, NUMBER):
        inside = data.items[data.indptr[row] : data.indptr[row + 1]]
        out.append(tuple(data.vocabulary.labels[i] for i in random.choice(inside, size, replace=False)))
    return out


def of_any_items(data: Transactions, seed: int) -> list[Query]:
    """Draw pairs of items, whether some row holds them or not."""
    random = np.random.default_rng(seed)
    labels = [label for label, n in zip(data.vocabulary.labels, data.supports(), strict=True) if n]
    return [tuple(random.choice(labels, 2, replace=False).tolist()) for _ in range(NUMBER)]


def supports(columns: sparse.csc_array, data: Transactions, queries: Sequence[Query]) -> NDArray[np.float64]:
    """Count the rows that hold all items of each query."""
    ids, held = data.vocabulary.ids, {}
    out = np.empty(len(queries))
    for j, query in enumerate(queries):
        for i in map(ids.__getitem__, query):
            if i not in held:
                held[i] = np.sort(columns.indices[columns.indptr[i] : columns.indptr[i + 1]])
        first, *others = (held[ids[item]] for item in query)
        for rows in others:
            first = np.intersect1d(first, rows, assume_unique=True)
        out[j] = first.size
    return out


def proportional(shared: Shared) -> Answer:
    """Estimate with items of a label independent of each other: each in its share of the label's rows."""
    shown, n = shared.supports(), shared.rows.n_rows
    under = {item: label for label in shown for item in shared.under(label)}
    listed = shared.counts.by_label if shared.counts else {}
    counted = {item: rows for part in listed.values() for item, rows in part.items()}
    lacking = {
        label: max(0, rows - sum(listed.get(label, {}).values()))
        / max(1, len(shared.under(label)) - len(listed.get(label, {})))
        for label, rows in shown.items()
    }
    columns, ids = sparse.csc_array(matrix(shared.rows)), shared.rows.vocabulary.ids
    rows_of = [np.sort(columns.indices[columns.indptr[i] : columns.indptr[i + 1]]) for i in range(len(ids))]

    def estimate(query: Sequence[str]) -> float:
        rows, share = np.arange(n), 1.0
        for item in query:
            label = under.get(item)
            if label is None:
                share *= counted.get(item, 0) / n
            else:
                share *= min(counted.get(item, lacking[label]), shown[label]) / shown[label]
                rows = np.intersect1d(rows, rows_of[ids[label]], assume_unique=True)
        return rows.size * share

    return lambda queries: np.array([estimate(query) for query in queries])


def most_frequent(data: Transactions) -> set[frozenset[str]]:
    """Find the 100 most frequent pairs, those first in item order where several are as frequent."""
    cells = matrix(data)
    both = sparse.triu(cells.T @ cells, k=1).tocoo()
    order = np.lexsort((both.col, both.row, -both.data))[:TOP]
    labels = data.vocabulary.labels
    return {frozenset((labels[both.row[i]], labels[both.col[i]])) for i in order}


def greatest(
    shared: Shared, weight: Callable[[str, str], float], within: Callable[[str], float]
) -> set[frozenset[str]]:
    """Find the 100 pairs of greatest estimates that are products: support of the labels times both weights.

    Parameters
    ----------
    shared : Shared
        The release.
    weight : callable
        Weight of an item under its label.
    within : callable
        The factor of the estimate of two items under one label.
    """
    labels = shared.rows.vocabulary.labels
    cells = matrix(shared.rows)
    both = sparse.triu(cells.T @ cells, k=0).tocoo()
    best = {}
    for label in labels:
        weighed = [(weight(label, item), item) for item in shared.under(label)]
        best[label] = sorted(weighed, key=lambda x: -x[0])[:TOP]
    found: list[tuple[float, str, str]] = []
    least = 0.0
    for i, j, rows in sorted(zip(both.row, both.col, both.data, strict=True), key=lambda cell: -cell[2]):
        first, second = labels[i], labels[j]
        factor = rows * (within(first) if i == j else 1.0)
        if factor <= least:
            continue
        for a, (weight_a, item_a) in enumerate(best[first]):
            for b, (weight_b, item_b) in enumerate(best[second][: TOP // (a + 1) + 1]):
                if (i == j and b <= a) or factor * weight_a * weight_b <= least:
                    continue
                found.append((factor * weight_a * weight_b, item_a, item_b))
        if len(found) > 50 * TOP:
            found = sorted(found, key=lambda x: -x[0])[:TOP]
            least = found[-1][0]
    return {frozenset(x[1:]) for x in sorted(found, key=lambda x: -x[0])[:TOP]}


def top_uniform(shared: Shared) -> set[frozenset[str]]:
    """Find the pairs of greatest estimates from rows alone."""
    size = {label: len(shared.under(label)) for label in shared.rows.vocabulary.labels}
    scale = {label: 0.5 / -np.expm1(-s * np.log(2)) for label, s in size.items()}
    return greatest(shared, lambda label, _: scale[label], lambda label: 0.5 / scale[label])


def top_by_counts(shared: Shared, estimator: Estimator, *, entropy: bool) -> set[frozenset[str]]:
    """Find the pairs of greatest estimates from the counts."""
    shown = shared.supports()

    def weight(label: str, item: str) -> float:
        return estimator.estimate([item]) / shown[label]

    def within(label: str) -> float:
        items = sorted(shared.under(label), key=lambda item: -estimator.estimate([item]))[:2]
        alone = [estimator.estimate([item]) for item in items]
        if not entropy or len(items) < 2 or not all(alone):
            return 1.0
        return estimator.estimate(items) * shown[label] / (alone[0] * alone[1])

    return greatest(shared, weight, within)


def line(name: str, errors: dict[str, str]) -> None:
    """Print a line of the table."""
    print(f"{name:<40} " + " ".join(f"{text:>15}" for text in errors.values()), flush=True)


def relative(estimates: NDArray[np.float64], true: NDArray[np.float64]) -> str:
    """Write mean and median relative error."""
    errors = np.abs(estimates - true) / true
    return f"{errors.mean():.3g} / {np.median(errors):.2g}"


def show(name: str, data: Transactions, tree: Path | None, arguments: argparse.Namespace) -> None:
    """Print the lines of one data set."""
    columns = sparse.csc_array(matrix(data))
    labels = [x for x, n in zip(data.vocabulary.labels, data.supports(), strict=True) if n]
    work: dict[str, Sequence[Query]] = {
        "items": [(item,) for item in labels],
        "pairs": [query for at in range(DRAWS) for query in from_rows(data, 2, 2 * at)],
        "triples": [query for at in range(DRAWS) for query in from_rows(data, 3, 2 * at + 1)],
        "distinct": random_queries(data, NUMBER, 2),
    }
    any_pairs = of_any_items(data, 2)
    true = {what: supports(columns, data, queries) for what, queries in work.items()}
    true_any = supports(columns, data, any_pairs)
    frequent = most_frequent(data)
    for way in arguments.ways:
        start = time.perf_counter()
        settings = dict(WAYS[way])
        if settings["algorithm"] == "exact":
            settings["time_limit"] = arguments.time_limit
        promise = sv.KmAnonymity(k=arguments.k, m=arguments.m)
        release = sv.anonymize(data, promise, hierarchy=tree, **settings)
        seconds = time.perf_counter() - start
        made = release.release
        if not isinstance(made, RowsRelease):
            raise TypeError(f"{way} publishes groups, which have no counts.")
        shared, utility = shared_by(made, {}, release.layout), release.utility
        gap = (release.report.get("optimality") or {}).get("gap")
        suppressed = utility["suppressed_occurrences"] / data.n_occurrences
        print(
            f"{name}, {way}: {utility['published_labels']} labels, {suppressed:.1%} left out, {seconds:.1f} s"
            + ("" if gap is None else ", proven" if not gap else f", gap {gap:.1%}"),
            flush=True,
        )
        estimator = Estimator(shared)
        begin = time.perf_counter()
        for query in work["pairs"][:NUMBER]:
            estimator.estimate(query)
        each = 1000 * (time.perf_counter() - begin) / NUMBER
        for title in arguments.estimators:
            top, answer = answering(title, shared, estimator)
            errors = {what: relative(answer(queries), true[what]) for what, queries in work.items()}
            errors["any"] = f"{np.abs(answer(any_pairs) - true_any).mean():.2g}"
            errors["top"] = f"{len(top & frequent)}"
            errors["ms"] = f"{each:.2g}" if title == "ME" else ""
            line(f"  {title}", errors)
        items = relative(of(Estimator(shared, unlisted=1))(work["items"]), true["items"])
        line("  ME, unlisted 1", {"items": items})


def answering(title: str, shared: Shared, estimator: Estimator) -> tuple[set[frozenset[str]], Answer]:
    """Make an estimator, and find its greatest pairs."""
    if title == "uniform":
        return top_uniform(shared), of(Estimator(replace(shared, counts=None)))
    if title == "prop":
        return top_by_counts(shared, estimator, entropy=False), proportional(shared)
    return top_by_counts(shared, estimator, entropy=True), of(estimator)


def of(estimator: Estimator) -> Answer:
    """Answer queries by an estimator."""
    return lambda queries: estimator.answers(queries).estimate


def main() -> None:
    """Print the table."""
    options = parser("How well releases answer counts.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.add_argument("--time-limit", type=float, default=300.0)
    options.add_argument("--estimators", nargs="*", default=list(ESTIMATORS), choices=ESTIMATORS)
    options.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    arguments = options.parse_args()
    folder = data_folder(arguments.data)
    line("", {what: what for what in ("items", "pairs", "triples", "distinct", "any", "top", "ms")})
    for name in arguments.names or SETS:
        file, tree = SETS[name]
        data = sv.read(folder / file, format="basket" if file == "groceries.csv" else None)
        show(name, data, folder / tree if tree else None, arguments)


if __name__ == "__main__":
    main()
