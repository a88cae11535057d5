"""Accuracy of COUNT queries on AA's releases (m = 2), utility loss, and the time of measuring them.

    python benchmarks/are.py [--frequent] [--queries 1000] [--seed 0] [--data FOLDER] [NAME ...]

Without names: BMS-WebView-1 and -2. `ARE`, `sd` and `median` are over queries whose items are drawn from all
items, `ARE gen.` over queries whose items are drawn from those that the release generalizes. UL is weighted
by the hierarchy. `draw` and `answer` are the seconds for the former queries, inside this process, with
kernels compiled.

`--frequent` prints instead, for k = 5: the ARE of random pairs, and of pairs in 0.1% and in 1% of the rows;
which shares of the random pairs one row has, and fewer than five rows have; and which share of random triples
the longest row has.
"""

from __future__ import annotations

import argparse
import time

import setveil as sv
from runs import files, parser
from setveil.base.errors import RequestError
from setveil.judges.utility.are import query_errors
from setveil.judges.utility.queries import frequent_queries, generalized_items, random_queries
from setveil.judges.utility.ul import hierarchy_weights, ul
from setveil.rows.data.transactions import Transactions

KS = (2, 5, 10, 25, 50)
SIZES = (1, 2, 3)
DEFAULT = ["BMS-WebView-1", "BMS-WebView-2"]


def main() -> None:
    """Print the table."""
    options = parser("Accuracy of COUNT queries on AA's releases.")
    options.add_argument("--queries", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--frequent", action="store_true")
    arguments = options.parse_args()
    arguments.names = arguments.names or DEFAULT
    _compile_kernels()
    if arguments.frequent:
        _frequent(arguments)
        return
    print(
        f"{'data':<14} {'k':>3} {'q':>2} {'ARE':>10} {'sd':>10} {'median':>10} {'ARE gen.':>10} "
        f"{'log2 UL':>10} {'draw':>6} {'answer':>6}"
    )
    for name, (rows, tree_file) in files(arguments).items():
        data, tree = sv.read(rows), sv.read_hierarchy(tree_file)
        for k in KS:
            release = sv.anonymize(data, sv.KmAnonymity(k=k, m=2), hierarchy=tree, algorithm="aa")
            members = release.recoding.members()
            loss = ul(data, release.published, release.recoding, hierarchy_weights(release.recoding, tree))
            among = generalized_items(data, release.published, members)
            for size in SIZES:
                start = time.perf_counter()
                queries = random_queries(data, arguments.queries, size, arguments.seed)
                drawn = time.perf_counter()
                errors = query_errors(data, release.published, members, queries)
                answered = time.perf_counter()
                try:
                    some = random_queries(data, arguments.queries, size, arguments.seed, among)
                    generalized = f"{query_errors(data, release.published, members, some).mean:>10.3f}"
                except RequestError:  # too few items are generalized
                    generalized = f"{'none':>10}"
                print(
                    f"{name:<14} {k:>3} {size:>2} {errors.mean:>10.3f} {errors.sd:>10.3f} "
                    f"{errors.median:>10.3f} {generalized} {loss['log2']:>10.2f} {drawn - start:>6.2f} "
                    f"{answered - drawn:>6.2f}",
                    flush=True,
                )


def _frequent(arguments: argparse.Namespace) -> None:
    """Print errors of frequent pairs, and how rare random sets are."""
    print("data random 0.1% 1% single fewer longest")
    for name, (rows, tree_file) in files(arguments).items():
        data, tree = sv.read(rows), sv.read_hierarchy(tree_file)
        release = sv.anonymize(data, sv.KmAnonymity(k=5, m=2), hierarchy=tree, algorithm="aa")
        pairs, triples = (random_queries(data, arguments.queries, q, arguments.seed) for q in (2, 3))
        often = [frequent_queries(data, 2, -(-data.n_rows // one)) for one in (1000, 100)]
        members = release.recoding.members()
        errors = [query_errors(data, release.published, members, queries) for queries in (pairs, *often)]
        longest = set(data[int(data.row_lengths().argmax())])
        shares = (
            (errors[0].actual == 1).mean(), (errors[0].actual < 5).mean(),
            sum(longest.issuperset(triple) for triple in triples) / len(triples),
        )  # fmt: skip
        print(name, *(f"{one.mean:.3f}" for one in errors), *(f"{one:.3f}" for one in shares), flush=True)


def _compile_kernels() -> None:
    data = Transactions.from_rows([["a", "b"], ["b"]])
    query_errors(data, data, {}, random_queries(data, 1))


if __name__ == "__main__":
    main()
