"""Answers under each guarantee, and their cost: rows in chunks, compared with k^m, classes and noise.

    python benchmarks/disassociation.py [--data FOLDER] [--k 5] [--m 2] [--cluster-size 50] [NAME ...]

Prints a line for each data set and guarantee: one recoding for all rows (`plain`, and with `entropy-max`),
classes, disassociation, the same safe with rho = 1/5 for five items, and differential privacy with the
epsilons of `--epsilon`. All answer the same queries, from the published files alone: mean relative errors of
the supports of all items that occur, of `--draws` times 1,000 pairs and 1,000 triples, each of a random row
(mean and standard deviation of the draws), and of the 200 most frequent pairs; then occurrences in chunks,
seconds to make the release, the second time, and to verify it, and the greatest memory of the process so far.
`--promises` chooses some of the guarantees. Noise is drawn again for each draw of queries. `--threads 1,2`
compares the bytes of disassociation for numbers of threads.

Instead, `--orders N` prints, for disassociation, the error that draws of pairs estimate: the mean over every
pair of every row, each row as likely; the standard deviation of a mean of 1,000 drawn ones; and the same
error for N random orders of the items, which decide between equal splits and neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from classes import top_pairs
from numpy.typing import NDArray
from scipy import sparse
from use import NUMBER, from_rows, matrix, supports

import setveil as sv
from runs import DATA, data_folder, parser
from setveil.base.threads import use_threads
from setveil.commands.query import shared_of
from setveil.judges.utility.estimators import estimator_for
from setveil.rows.data.transactions import Transactions
from setveil.runs.memory import peak_memory_mb

SENSITIVE = {"groceries": ("liquor", "brandy", "female sanitary products", "hygiene articles", "cookware")}
PROMISES = ("plain", "entropy-max", "classes", "disassociation", "safe", "noise")
Query = tuple[str, ...]


def read(folder: Path, name: str) -> Transactions:
    """Read a data set."""
    of: dict[str, dict[str, Any]] = {
        "instacart": {"id_column": "order_id", "item_column": "product_id"},
        "groceries": {"format": "basket"},
    }
    return sv.read(folder / DATA[name][0], **of.get(name, {}))


def sensitive_items(name: str, data: Transactions) -> list[str]:
    """Name five items: chosen ones on groceries, otherwise those that follow the most frequent tenth."""
    if name in SENSITIVE:
        return list(SENSITIVE[name])
    order = np.argsort(-data.supports(), kind="stable")
    return [data.vocabulary.labels[i] for i in order[order.size // 10 :][:5]]


def ways(name: str, data: Transactions, tree: Path, arguments: Any) -> dict[str, tuple[Any, Any]]:
    """List promises, with the parameters of the releases that keep them."""
    k, m = arguments.k, arguments.m
    chunks = {
        "algorithm": sv.Disassociation(cluster_size=arguments.cluster_size, refine=not arguments.no_refine)
    }
    safe = (
        sv.Disassociated(k, m, "1/5", sensitive_items(name, data)) if "safe" in arguments.promises else None
    )
    km: dict[str, Any] = {"hierarchy": tree, "time_limit": arguments.time_limit}
    out = {
        "plain": (sv.KmAnonymity(k, m), km),
        "entropy-max": (sv.KmAnonymity(k, m), {**km, "objective": "entropy-max"}),
        "classes": (sv.KmAnonymity(k, m), {**km, "classes": True}),
        "disassociation": (sv.Disassociated(k, m), chunks),
        "safe": (safe, chunks),
    }
    out = {way: made for way, made in out.items() if way in arguments.promises}
    for epsilon in arguments.epsilon if "noise" in arguments.promises else ():
        noisy = sv.DPBlocks(universe=data.vocabulary.labels)  # as if it had been known before
        out[f"noise, {epsilon:g}"] = sv.DifferentialPrivacy(epsilon=epsilon), {"algorithm": noisy}
    return out


def work_of(data: Transactions, draws: int) -> dict[str, list[tuple[Sequence[Query], Any]]]:
    """Draw the queries, with the rows that hold them."""
    columns = sparse.csc_array(matrix(data))
    labels = [x for x, n in zip(data.vocabulary.labels, data.supports(), strict=True) if n]
    drawn: dict[str, list[Sequence[Query]]] = {
        "items": [[(item,) for item in labels]],
        "pairs": [from_rows(data, 2, 2 * at) for at in range(draws)],
        "triples": [from_rows(data, 3, 2 * at + 1) for at in range(draws)],
        "top": [top_pairs(data)],
    }
    return {
        what: [(queries, supports(columns, data, queries)) for queries in every]
        for what, every in drawn.items()
    }


def every_pair(data: Transactions) -> tuple[list[tuple[int, int]], NDArray[np.float64], NDArray[np.float64]]:
    """List all pairs of items that rows hold, their rows, and the chance that `from_rows` draws them."""
    cells, lengths = matrix(data), data.row_lengths()
    long = lengths > 1
    weight = np.where(long, 2 / np.where(long, lengths * (lengths - 1), 1), 0) / np.count_nonzero(long)
    found = []
    for weights in (np.ones(data.n_rows), weight):
        both = sparse.csr_array(sparse.triu(cells.T @ sparse.diags_array(weights) @ cells, k=1))
        both.sort_indices()
        found.append(both.tocoo())
    pairs = list(zip(found[0].row.tolist(), found[0].col.tolist(), strict=True))
    return pairs, found[0].data, found[1].data


def show_orders(name: str, data: Transactions, arguments: Any) -> None:
    """Print the errors of all pairs of one data set, with other orders of its items too."""
    pairs, true, chance = every_pair(data)
    (promise, settings), *_ = ways(name, data, Path(), arguments).values()
    means, sd = [], 0.0
    for order in range(arguments.orders + 1):
        new = np.random.default_rng(order).permutation(data.n_items) if order else np.arange(data.n_items)
        labels = [f"{at:07}x" for at in new.tolist()]  # of items in their own order first
        renamed = dict(zip(data.vocabulary.labels, labels, strict=True))
        release = sv.anonymize(
            Transactions.from_rows([[renamed[x] for x in row] for row in data.rows()]), promise, **settings
        )
        queries = [(labels[i], labels[j]) for i, j in pairs]
        estimate = estimator_for(shared_of(release)).answers(queries).estimate
        errors = np.abs(estimate - true) / true
        means.append(float(chance @ errors))
        if not order:
            sd = float(np.sqrt(chance @ (errors - means[0]) ** 2 / NUMBER))
    others = f"; other orders {min(means[1:]):.3f} to {max(means[1:]):.3f}" if arguments.orders else ""
    print(f"{name:<14} every pair {means[0]:.3f}, {NUMBER:,} drawn ± {sd:.3f}{others}", flush=True)


def show(name: str, data: Transactions, tree: Path, arguments: Any) -> None:
    """Print the lines of one data set."""
    work = work_of(data, arguments.draws)
    for way, (promise, settings) in ways(name, data, tree, arguments).items():
        made: list[Any] = []
        fast = way in {"disassociation", "safe"}
        for threads in [*arguments.threads, None] if fast else [None]:
            use_threads(threads)
            made.append(sv.anonymize(data, promise, **settings))
        release = made[-1]
        seconds = release.report["timing"]["anonymize"]
        start = time.perf_counter()
        holds = sv.verify(release, promise).holds
        verifying = time.perf_counter() - start
        memory = peak_memory_mb()
        noisy = [sv.anonymize(data, promise, **settings) for _ in range(arguments.draws) if "noise" in way]
        estimators = [estimator_for(shared_of(one)) for one in noisy or [release]]
        lines = []
        for every in work.values():
            several = zip(
                cycle(estimators), every if len(every) > 1 else every * len(estimators), strict=False
            )
            errors = [
                float(np.mean(np.abs(estimator.answers(queries).estimate - true) / true))
                for estimator, (queries, true) in several
            ]
            spread = f" ± {np.std(errors, ddof=1):.3f}" if len(errors) > 1 else ""
            lines.append(f"{np.mean(errors):.3f}{spread}".rjust(15 if len(errors) > 1 else 8))
        shown = f"{release.release.exposed().n_occurrences:,} of {data.n_occurrences:,}" if fast else ""
        classes = release.report.get("classes", {}).get("number", "")
        clusters = f"{release.release.exposed().n_clusters:,}" if fast else classes
        same = all(one.release.exposed().shows(release.release.exposed()) for one in made) if fast else True
        print(
            f"{name:<14} {way:<15} {clusters:>7} {shown:>24} {' '.join(lines)} {seconds:8.2f} s "
            f"{verifying:6.2f} s {memory or 0:6.0f} MB {'holds' if holds else 'BROKEN'}"
            f"{'' if same else ' OTHER BYTES'}",
            flush=True,
        )


def main() -> None:
    """Print the lines of each data set."""
    options = parser("What each promise answers, and what it costs.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.add_argument("--cluster-size", type=int, default=50)
    options.add_argument("--no-refine", action="store_true")
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--time-limit", type=float, default=300.0)
    options.add_argument(
        "--epsilon", type=lambda text: list(map(float, text.split(","))), default=[0.5, 1, 2]
    )
    options.add_argument("--promises", type=lambda text: text.split(","), default=PROMISES)
    options.add_argument("--threads", type=lambda text: list(map(int, text.split(","))), default=[1])
    options.add_argument("--orders", type=int)
    arguments = options.parse_args()
    folder = data_folder(arguments.data)
    if arguments.orders is not None:
        arguments.promises = ("disassociation",)
        for name in arguments.names or DATA:
            show_orders(name, read(folder, name), arguments)
        return
    print(
        f"{'data':<14} {'promise':<15} clusters    occurrences in chunks    items "
        "          pairs         triples      top     made  verified"
    )
    for name in arguments.names or DATA:
        show(name, read(folder, name), folder / DATA[name][1], arguments)


if __name__ == "__main__":
    main()
