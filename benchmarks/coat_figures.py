"""The experiments of the paper on COAT (KAIS 28(2), 2011, sections 6 and 7): query errors of COAT and of AA.

    python benchmarks/coat_figures.py [--queries 1000] [--seed 0] [--data FOLDER] [TABLE ...]

Tables: k, m, pairs (PP1-PP5), mixtures (PP6-PP9), utility (UP1-UP4), disorders (the case study, on
diabetes_icd9); by default all. ARE is the mean relative error of random COUNT queries of q items, followed by
the median; `less` is AA's ARE divided by COAT's. Every merge is allowed but in the last two tables.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from policies import (
    MIXTURES,
    SHARES,
    SIZES,
    itemsets_of_varying_size,
    pairs_of_some_items,
    utility_policy,
)

import setveil as sv
from runs import files
from setveil.base.errors import InfeasibleError
from setveil.judges.utility.are import query_errors
from setveil.judges.utility.queries import frequent_queries, random_queries
from setveil.methods.constraints.pgen import pgen
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

KS = (2, 5, 10, 25, 50)
WEB = ("BMS-WebView-1", "BMS-WebView-2")
CONSTRAINTS = 1000  # of PP6 to PP9
SUPPRESSED = 0.005  # the paper's s where utility constraints are set
DISORDERS = 20

Errors = dict[int, tuple[float, float]]


class Workload:
    """Data, and the queries for every release of them."""

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        rows, tree = files(argparse.Namespace(names=[name], data=arguments.data))[name]
        self.name = name
        self.data: Transactions = sv.read(rows)
        self.tree: Hierarchy = sv.read_hierarchy(tree)
        number, seed = arguments.queries, arguments.seed
        self.queries = {q: random_queries(self.data, number, q, seed) for q in (1, 2, 3)}
        self._aa: dict[tuple[int, int], Errors] = {}

    def errors(self, release: sv.VerifiedRelease) -> Errors:
        """Mean and median relative error by size of the query."""
        members = release.recoding.members()
        found = {
            q: query_errors(self.data, release.published, members, queries)
            for q, queries in self.queries.items()
        }
        return {q: (e.mean or 0.0, e.median or 0.0) for q, e in found.items()}

    def aa(self, k: int, m: int) -> Errors:
        """Errors of AA's release."""
        if (k, m) not in self._aa:
            release = sv.anonymize(self.data, sv.KmAnonymity(k, m), hierarchy=self.tree, algorithm="aa")
            self._aa[k, m] = self.errors(release)
        return self._aa[k, m]

    def coat(self, guarantee: sv.PrivacyConstraints, **parameters: Any) -> tuple[Errors | None, str]:
        """Errors of COAT's release; what to say of the run."""
        start = time.perf_counter()
        try:
            release = sv.anonymize(self.data, guarantee, hierarchy=self.tree, **parameters)
        except InfeasibleError as error:
            return None, str(error.message)
        gone = release.utility["suppressed_items"]
        return self.errors(release), f"{time.perf_counter() - start:6.1f} s, {gone} items suppressed"


def line(work: Workload, setting: str, aa: Errors, coat: Errors | None, said: str) -> None:
    """Print one line of a table."""
    if coat is None:
        print(f"{work.name:<14} {setting:<8} {said}", flush=True)
        return
    cells = []
    for q in (1, 3):
        less = aa[q][0] / coat[q][0] if coat[q][0] else float("inf")
        cells.append(f"{aa[q][0]:>9.2f} {coat[q][0]:>9.2f} {less:>6.1f} {aa[q][1]:>8.2f} {coat[q][1]:>8.2f}")
    print(f"{work.name:<14} {setting:<8} {' | '.join(cells)} | {said}", flush=True)


def head(title: str) -> None:
    """Print the title and the columns of a table."""
    columns = f"{'AA':>9} {'COAT':>9} {'less':>6} {'median':>8} {'COAT':>8}"
    print(f"\n{title}\n{'':<23} {'q = 1':<45}| q = 3\n{'':<23} {columns} | {columns}")


def table_k(arguments: argparse.Namespace) -> None:
    """Protect all 2-itemsets, k from 2 to 50."""
    head("ARE against k, m = 2")
    for name in WEB:
        work = Workload(name, arguments)
        for k in KS:
            line(
                work,
                f"k = {k}",
                work.aa(k, 2),
                *work.coat(sv.PrivacyConstraints(k, m=2), max_suppressed_items=1),
            )


def table_m(arguments: argparse.Namespace) -> None:
    """Protect all m-itemsets, m from 1 to 3."""
    head("ARE against m, k = 5")
    for name in WEB:
        work = Workload(name, arguments)
        for m in (1, 2, 3):
            line(
                work,
                f"m = {m}",
                work.aa(5, m),
                *work.coat(sv.PrivacyConstraints(5, m=m), max_suppressed_items=1),
            )


def table_pairs(arguments: argparse.Namespace) -> None:
    """Protect the 2-itemsets of some items."""
    head("ARE against the share of items that is protected (PP1-PP5), k = 5; AA with m = 2")
    for name in WEB:
        work = Workload(name, arguments)
        for policy in SHARES:
            itemsets = pairs_of_some_items(work.data, policy, arguments.seed)
            line(
                work,
                policy,
                work.aa(5, 2),
                *work.coat(sv.PrivacyConstraints(5, itemsets), max_suppressed_items=1),
            )


def table_mixtures(arguments: argparse.Namespace) -> None:
    """Itemsets of one to four items."""
    head(f"ARE against the sizes of {CONSTRAINTS} protected itemsets (PP6-PP9), k = 5; AA with m = 4")
    for name in WEB:
        work = Workload(name, arguments)
        for policy in MIXTURES:
            itemsets = itemsets_of_varying_size(work.data, policy, CONSTRAINTS, arguments.seed)
            line(
                work,
                policy,
                work.aa(5, 4),
                *work.coat(sv.PrivacyConstraints(5, itemsets), max_suppressed_items=1),
            )


def table_utility(arguments: argparse.Namespace) -> None:
    """All 2-itemsets within utility constraints."""
    head(f"ARE against the size of utility constraints (UP1-UP4), k = 5, m = 2, {SUPPRESSED:.1%} suppressed")
    for name in WEB:
        work = Workload(name, arguments)
        for policy in SIZES:
            groups = utility_policy(work.tree, policy)
            guarantee = sv.PrivacyConstraints(5, m=2)
            line(
                work, policy, work.aa(5, 2),
                *work.coat(guarantee, utility=groups, max_suppressed_items=SUPPRESSED),
            )  # fmt: skip


def table_disorders(arguments: argparse.Namespace) -> None:
    """Repeat the case study: Pgen and a utility constraint for each of 20 disorders."""
    work = Workload("diabetes_icd9", arguments)
    data, tree = work.data, work.tree
    disorders = _disorders(work)
    print(
        f"\nCase study: diabetes_icd9, {len(disorders)} disorders of {sum(map(len, disorders))} codes, Pgen"
    )
    frequent = frequent_queries(data, 2, data.n_rows // 100)
    tenth = frequent_queries(data, 1, data.n_rows // 10)  # W1: no pair of codes is this frequent
    print(
        f"{'k':>3} {'itemsets':>9} {'met':>4} {'gone':>5} {'W1':>9} {'frequent':>9} "
        f"{'random':>9} {'median':>9} {'s':>6}"
    )
    for k in KS:
        itemsets = pgen(data, k)
        start = time.perf_counter()
        try:
            release = sv.anonymize(
                data, sv.PrivacyConstraints(k, itemsets), hierarchy=tree, utility=disorders,
                max_suppressed_items=1,
            )  # fmt: skip
        except InfeasibleError as error:
            print(f"{k:>3} {len(itemsets):>9} {error.message}", flush=True)
            continue
        seconds = time.perf_counter() - start
        met = sum(entry["satisfied"] for entry in release.details["utility_constraints"][: len(disorders)])
        members = release.recoding.members()
        w1, often, some = (
            query_errors(data, release.published, members, asked)
            for asked in (tenth, frequent, work.queries[2])
        )
        print(
            f"{k:>3} {len(itemsets):>9} {met:>4} {release.utility['suppressed_items']:>5} {w1.mean:>9.4f} "
            f"{often.mean:>9.4f} {some.mean:>9.3f} {some.median:>9.3f} {seconds:>6.1f}",
            flush=True,
        )


def _disorders(work: Workload) -> tuple[tuple[str, ...], ...]:
    """Take disjoint nodes of the hierarchy with 2 to 12 codes that occur, those in most rows first."""
    data, tree = work.data, work.tree
    supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    found = []
    for v in range(tree.n_leaves, tree.n_nodes):
        codes = tuple(tree.labels[leaf] for leaf in tree.leaves(v) if supports.get(tree.labels[leaf]))
        if 2 <= len(codes) <= 12:
            found.append((-sum(supports[code] for code in codes), codes))
    chosen: list[tuple[str, ...]] = []
    for _, codes in sorted(found):
        if len(chosen) < DISORDERS and not any(set(codes) & set(others) for others in chosen):
            chosen.append(codes)
    return tuple(chosen)


TABLES: dict[str, Callable[[argparse.Namespace], None]] = {
    "k": table_k,
    "m": table_m,
    "pairs": table_pairs,
    "mixtures": table_mixtures,
    "utility": table_utility,
    "disorders": table_disorders,
}


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description="Query errors of COAT and of AA.")
    options.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; by default all")
    options.add_argument("--queries", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    arguments = options.parse_args()
    for name in arguments.tables or TABLES:
        TABLES[name](arguments)


if __name__ == "__main__":
    main()
