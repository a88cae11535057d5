"""What rows in chunks answer, and what they cost.

    python benchmarks/disassociation.py [--data FOLDER] [--k 5] [--m 2] [--cluster-size 50] [NAME ...]

For each data set: clusters, occurrences in chunks, the share of the items of at least k rows that no chunk
shows; mean relative errors of the supports of all items that occur, of 1,000 pairs and 1,000 triples, each of
a random row, and of the 200 most frequent pairs, by what is published alone (the same queries as
`benchmarks/classes.py`); seconds to make the release, the second time, and to verify it, and the greatest
memory of the process so far. `--rho 1/5 --sensitive ITEMS` makes the safe form; `--threads 1,2` compares the
bytes.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from classes import top_pairs
from scipy import sparse
from use import from_rows, matrix, supports

import setveil as sv
from runs import DATA, data_folder, parser
from setveil.commands.query import shared_of
from setveil.data.transactions import Transactions
from setveil.runs.memory import peak_memory_mb
from setveil.threads import use_threads
from setveil.utility import Case
from setveil.utility.disassociation import lost_terms
from setveil.utility.estimators import estimator_for


def read(folder: Path, name: str) -> Transactions:
    """Read a data set."""
    of: dict[str, dict[str, Any]] = {
        "instacart": {"id_column": "order_id", "item_column": "product_id"},
        "groceries": {"format": "basket"},
    }
    return sv.read(folder / DATA[name][0], **of.get(name, {}))


def show(name: str, data: Transactions, promise: Any, arguments: Any) -> None:
    """Print the line of one data set."""
    algorithm = sv.Disassociation(cluster_size=arguments.cluster_size, refine=not arguments.no_refine)
    made: list[Any] = []
    for threads in [*arguments.threads, None]:
        use_threads(threads)
        made.append(sv.anonymize(data, promise, algorithm=algorithm, details=False))
    release = made[-1]
    seconds = release.report["timing"]["anonymize"]
    same = all(one.release.exposed().shows(release.release.exposed()) for one in made)
    start = time.perf_counter()
    holds = sv.verify(release, promise).holds
    verifying = time.perf_counter() - start
    memory = peak_memory_mb()
    shown = release.release.exposed()
    columns = sparse.csc_array(matrix(data))
    labels = [x for x, n in zip(data.vocabulary.labels, data.supports(), strict=True) if n]
    work: dict[str, Any] = {
        "items": [(item,) for item in labels],
        "pairs": from_rows(data, 2, 0),
        "triples": from_rows(data, 3, 1),
        "top": top_pairs(data),
    }
    estimator = estimator_for(shared_of(release)[0])
    errors = {}
    for what, queries in work.items():
        true = supports(columns, data, queries)
        errors[what] = float(np.mean(np.abs(estimator.answers(queries).estimate - true) / true))
    lost = lost_terms(Case(data, "disassociated", shown, chunks=shown))
    print(
        f"{name:<14} {shown.n_clusters:>6,} {shown.n_occurrences:>9,} of {data.n_occurrences:>9,} "
        + f"{lost:6.3f} "
        + " ".join(f"{errors[what]:8.4f}" for what in work)
        + f" {seconds:8.2f} s {verifying:6.2f} s {memory or 0:7.0f} MB {'holds' if holds else 'BROKEN'}"
        + f" {'same bytes' if same else 'OTHER BYTES'}",
        flush=True,
    )


def main() -> None:
    """Print one line for each data set."""
    options = parser("What rows in chunks answer, and what they cost.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.add_argument("--cluster-size", type=int, default=50)
    options.add_argument("--no-refine", action="store_true")
    options.add_argument("--rho")
    options.add_argument("--sensitive", type=lambda text: text.split(","), default=())
    options.add_argument("--threads", type=lambda text: list(map(int, text.split(","))), default=[1])
    arguments = options.parse_args()
    promise = sv.Disassociated(arguments.k, arguments.m, arguments.rho, arguments.sensitive)
    print("data           clusters  occurrences shown      tlost    items    pairs  triples      top")
    folder = data_folder(arguments.data)
    for name in arguments.names or DATA:
        show(name, read(folder, name), promise, arguments)


if __name__ == "__main__":
    main()
