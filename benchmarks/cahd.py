"""CAHD on real data: reconstruction error (KL), seconds, memory; the benefit of band order and exchanges.

    python benchmarks/cahd.py [--tables p m r alpha order time] [--repeat 3] [--data FOLDER] [NAME ...]

NAME is of BMS-WebView-1, BMS-WebView-2, instacart, msnbc. Sensitive items are drawn at random among those
that occur in at most one row of 20; in instacart, where most items are in a handful of rows, among the 300
most frequent of these; of msnbc they are the 3 rarest. KL is the mean over 1,000 random group-by queries,
"frequent" that over queries whose items are drawn by their supports: without exchanges, then with them. Each
figure is the mean over the draws of sensitive items (--repeat); seconds are the least.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.judges.utility.kl import group_by_errors, random_group_bys
from setveil.kernels.content import content_order
from setveil.kernels.rows import Ints, frozen, recode_rows
from setveil.methods.algorithms.cahd import cahd
from setveil.methods.algorithms.cahd._band_order import band_order
from setveil.methods.algorithms.cahd._exchange import exchange_rows
from setveil.methods.algorithms.cahd._groups import find_groups
from setveil.releases.published.group_files import PublishedGroups
from setveil.releases.published.groups import RowGroups, publish, split
from setveil.rows.data.io.rows import read
from setveil.rows.data.transactions import Transactions

DATA = {
    "BMS-WebView-1": "bms_webview1.dat",
    "BMS-WebView-2": "bms_webview2.dat",
    "instacart": "instacart_long.csv",
    "msnbc": "msnbc.dat",
}
TABLES = ("p", "m", "r", "alpha", "order", "time")
P, M, R = 10, 10, 4


def sensitive_items(name: str, data: Transactions, m: int, seed: int) -> tuple[str, ...]:
    """Draw sensitive items."""
    supports = data.supports()
    fit = np.flatnonzero(supports * 20 <= data.n_rows)
    if name == "instacart":
        fit = fit[np.argsort(-supports[fit], kind="stable")][:300]
    if name == "msnbc":  # 17 items: the rarest
        fit = np.argsort(supports, kind="stable")[:m]
    draws = np.random.PCG64(seed).random_raw(fit.size)
    return tuple(data.vocabulary.labels[i] for i in fit[np.argsort(draws, kind="stable")[:m]])


class Case:
    """Data with some of their items sensitive."""

    def __init__(self, name: str, data: Transactions, m: int, seed: int) -> None:
        self.data = data
        self.sensitive = sensitive_items(name, data, m, seed)
        self.rows, self.hidden, self.labels = split(data, self.sensitive)
        self.order = band_order(*self.rows, data.n_items)

    def groups(
        self, p: int = P, *, alpha: int = 3, rounds: int = 3, order: Ints | None = None
    ) -> PublishedGroups:
        """Form groups, by default in band order."""
        order = self.order if order is None else order
        group = find_groups(self.rows, self.hidden, len(self.labels), order, p, alpha)
        group, _ = exchange_rows(self.rows, self.hidden, order, group, p, rounds)
        return publish(self.data, RowGroups(self.sensitive, group), seed=0).exposed()

    def losses(self, groups: PublishedGroups, r: int = R) -> list[float]:
        """KL of queries over items drawn alike, and over items drawn by their supports."""
        return [
            group_by_errors(self.data, groups, random_group_bys(groups, r, 1000, frequent=frequent)).mean
            or 0.0
            for frequent in (False, True)
        ]

    def orders(self) -> dict[str, Ints]:
        """List the band order, and orders to compare it with."""
        n_items = self.data.n_items
        supports = np.bincount(self.rows[1], minlength=n_items)
        rank = np.empty(n_items, np.int32)
        rank[np.argsort(-supports, kind="stable")] = np.arange(n_items, dtype=np.int32)
        draws = np.random.PCG64(0).random_raw(self.data.n_rows)
        return {
            "band": self.order,
            "input": frozen(np.arange(self.data.n_rows), np.int64),
            "random": frozen(np.argsort(draws, kind="stable"), np.int64),
            "by item": content_order(*self.rows),
            "by frequent": content_order(*recode_rows(*self.rows, rank)),
        }


def overlap(groups: PublishedGroups) -> float:
    """Mean Jaccard overlap of two rows of a group, over the groups with sensitive items but the largest."""
    rows = [frozenset(row) for row in groups.qid]
    ends = np.cumsum(np.concatenate(([0], groups.sizes))).tolist()
    means = []
    for g in np.flatnonzero(np.diff(groups.indptr)).tolist():
        if g == int(np.argmax(groups.sizes)) and groups.n_groups > 1:
            continue
        pairs = list(combinations(rows[ends[g] : ends[g + 1]], 2))
        means.append(sum(len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs) / len(pairs))
    return sum(means) / len(means) if means else 0.0


def mean(values: Iterable[Sequence[float]]) -> list[float]:
    """Average column by column."""
    return [sum(column) / len(column) for column in zip(*values, strict=True)]


def show(name: str, what: str, value: object, figures: Sequence[float]) -> None:
    """Print a line: the data, the varied parameter, and the figures."""
    print(f"{name:<14} {what:>6} {value!s:>12} " + " ".join(f"{x:>10.5f}" for x in figures), flush=True)


def both(case: Case, r: int = R, **settings: Any) -> list[float]:
    """Losses without and with exchanges: KL, frequent, KL, frequent."""
    return [x for rounds in (0, 3) for x in case.losses(case.groups(rounds=rounds, **settings), r)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="CAHD on real data.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DATA)}; by default all")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    arguments = parser.parse_args()
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = arguments.data or Path(os.environ.get("SETVEIL_DATA", shared))
    if not folder.is_dir():
        sys.exit(f"There is no data folder {folder}; name one with --data or SETVEIL_DATA.")
    print(
        f"{'data':<14} {'':>6} {'':>12} {'paper KL':>10} {'frequent':>10} {'exch. KL':>10} {'frequent':>10}"
    )
    for name in arguments.names or DATA:
        data = read(folder / DATA[name])
        seeds = range(arguments.repeat)
        most = 3 if name == "msnbc" else M
        cases = [Case(name, data, most, seed) for seed in seeds]
        if "p" in arguments.tables:
            for p in (4, 8, 12, 16, 20):
                show(name, "p", p, mean(both(case, p=p) for case in cases))
        if "m" in arguments.tables and name != "msnbc":
            for m in (5, 10, 20):
                show(name, "m", m, mean(both(Case(name, data, m, seed)) for seed in seeds))
        if "r" in arguments.tables:
            for r in range(2, 9):
                show(name, "r", r, mean(both(case, r) for case in cases))
        if "alpha" in arguments.tables:
            for alpha in range(1, 6):
                show(name, "alpha", alpha, mean(both(case, alpha=alpha) for case in cases))
        if "order" in arguments.tables:
            for kind in cases[0].orders():
                show(name, "order", kind, mean(both(case, order=case.orders()[kind]) for case in cases))
            for rounds in (0, 3):
                jaccard = mean([overlap(case.groups(rounds=rounds))] for case in cases)
                show(name, "rounds", rounds, [*jaccard])
        if "time" in arguments.tables:
            for rounds in (0, 3):
                seconds = []
                for case in cases:
                    start = time.perf_counter()
                    promise = PrivacyDegree(P, case.sensitive)
                    cahd.anonymize(data, None, promise, cahd.Parameters(rounds=rounds))
                    seconds.append([time.perf_counter() - start])
                show(name, "sec.", f"rounds {rounds}", [min(s for (s,) in seconds)])
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            show(name, "peak", "MB so far", [peak])


if __name__ == "__main__":
    main()
