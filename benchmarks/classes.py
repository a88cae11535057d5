"""Answers from rows in classes, compared with releases with one recoding for all rows.

    python benchmarks/classes.py [--data FOLDER] [--k 5] [--m 2] [--time-limit 300] [--sizes 150] [NAME ...]

For each data set and way to make a release: mean relative errors of the supports of all items that occur, of
1,000 pairs and 1,000 triples, each of a random row, and of the 200 most frequent pairs, from the published
files alone; milliseconds per pair; seconds to make the release and to verify it. `below k`: sets of at most m
labels in fewer than k rows of any class, counted by separate code. All ways answer the same queries.

Instead, `--commands` runs whole commands, and prints their seconds, their processor seconds, and their peak
memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from use import from_rows, matrix, supports

import setveil as sv
from runs import DATA, anonymize, data_folder, parser
from setveil.commands.query import shared_of
from setveil.judges.utility.estimators import estimator_for
from setveil.releases.published.class_rows import ClassRows
from setveil.rows.data.transactions import Transactions

TOP = 200
Query = tuple[str, ...]
WAYS: dict[str, dict[str, Any]] = {
    "plain, lm": {"algorithm": "exact", "objective": "lm"},
    "plain, entropy-max": {"algorithm": "exact", "objective": "entropy-max"},
    "classes": {"classes": True},
}


def top_pairs(data: Transactions) -> list[Query]:
    """List the most frequent pairs, those first in item order where several are as frequent."""
    cells = matrix(data)
    both = sparse.triu(cells.T @ cells, k=1).tocoo()
    order = np.lexsort((both.col, both.row, -both.data))[:TOP]
    labels = data.vocabulary.labels
    return [(labels[both.row[i]], labels[both.col[i]]) for i in order]


def below(release: Any, k: int, m: int) -> int:
    """Count the sets of at most m labels in fewer than k rows of a class, or of all rows."""
    rows = release.published
    bounds = rows.bounds.tolist() if isinstance(rows, ClassRows) else [0, rows.n_rows]
    listed = rows.rows()
    found = 0
    for first, last in pairwise(bounds):
        counted: Counter[Query] = Counter()
        for row in listed[first:last]:
            for size in range(1, min(m, len(row)) + 1):
                counted.update(combinations(row, size))
        found += sum(n < k for n in counted.values())
    return found


def show(name: str, data: Transactions, tree: Path, arguments: argparse.Namespace) -> None:
    """Print the lines of one data set."""
    columns = sparse.csc_array(matrix(data))
    labels = [x for x, n in zip(data.vocabulary.labels, data.supports(), strict=True) if n]
    work: dict[str, Sequence[Query]] = {
        "items": [(item,) for item in labels],
        "pairs": from_rows(data, 2, 0),
        "triples": from_rows(data, 3, 1),
        "top": top_pairs(data),
    }
    true = {what: supports(columns, data, queries) for what, queries in work.items()}
    ways = dict(WAYS) if not arguments.only_classes else {"classes": WAYS["classes"]}
    ways |= {f"classes of {size}": {"classes": True, "class_size": size} for size in arguments.sizes}
    promise = sv.KmAnonymity(arguments.k, arguments.m)
    for way, settings in ways.items():
        start = time.perf_counter()
        release = sv.anonymize(data, promise, hierarchy=tree, time_limit=arguments.time_limit, **settings)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        holds = sv.verify(release, promise).holds
        verifying = time.perf_counter() - start
        estimator = estimator_for(shared_of(release))
        errors = {
            what: float(np.mean(np.abs(estimator.answers(queries).estimate - true[what]) / true[what]))
            for what, queries in work.items()
        }
        start = time.perf_counter()
        for query in work["pairs"][:100]:
            estimator.estimate(query)
        each = 10 * (time.perf_counter() - start)
        classes = release.report.get("classes", {}).get("number", 1)
        bad = below(release.release, arguments.k, arguments.m)
        print(
            f"{name:<14} {way:<20} {classes:>4} "
            + " ".join(f"{errors[what]:>7.3f}" for what in work)
            + f" {each:>6.2f} {seconds:>7.1f} {verifying:>7.2f} {bad:>7} {'yes' if holds else 'NO'}",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    options = parser("What rows in classes answer.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.add_argument("--time-limit", type=float, default=300.0)
    options.add_argument("--sizes", nargs="*", type=int, default=[])
    options.add_argument("--only-classes", action="store_true")
    options.add_argument("--commands", action="store_true")
    arguments = options.parse_args()
    folder = data_folder(arguments.data)
    for name in arguments.names or DATA:
        file, tree = DATA[name]
        if arguments.commands:
            for title, more in (("plain", ("--objective", "entropy-max")), ("classes", ("--classes",))):
                start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                report = anonymize(
                    folder / file, folder / tree, arguments.k, str(arguments.m), *more,
                    "--time-limit", str(arguments.time_limit),
                )  # fmt: skip
                seconds, memory = time.perf_counter() - start, report["peak_memory_mb"]
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                times = f"{seconds:>7.1f} s {used:>7.1f} s of the processor"
                print(f"{name:<14} {title:<8} {times} {memory:>7.0f} MB", flush=True)
            continue
        if name == next(iter(arguments.names or DATA)):
            heads = ("items", "pairs", "triples", "top")
            print(
                f"{'':<35} {'n':>4} " + " ".join(f"{head:>7}" for head in heads)
                + f" {'ms':>6} {'s':>7} {'verify':>7} {'below k':>7} holds"
            )  # fmt: skip
        data = sv.read(folder / file, format="basket" if file == "groceries.csv" else None)
        show(name, data, folder / tree, arguments)


if __name__ == "__main__":
    main()
