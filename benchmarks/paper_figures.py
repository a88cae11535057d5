"""Figures of the papers that need no study: count-trees, seconds by the number of rows, utility loss.

    python benchmarks/paper_figures.py [--data FOLDER] [TABLE ...]

`nodes` counts the nodes of the count-trees that the algorithms of VLDB 2008 build, on its samples (figures 8
to 10); AA's is that of its last pass. `rows` measures COAT and AA on random rows of BMS-WebView-1 (COAT,
figure 14a), and mHgHs, AA, LG and MM on tenths of BMS-WebView-2 (PAKDD 2010, section 5.2). Seconds are of the
algorithm, in one process: the shortest of three runs. `coat` compares COAT and AA on BMS-WebView-2 (figures
9b and 10) with the items in several orders: the utility loss as a logarithm to base 2, without weights and
with those of the hierarchy, the items of the largest label, and the mean relative error of 1,000 queries of
one item.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from study_data import ORDERS, SAMPLES, sample

import setveil as sv
from runs import data_folder
from setveil.judges.utility.are import query_errors
from setveil.judges.utility.queries import random_queries
from setveil.judges.utility.ul import hierarchy_weights, ul

SIZES = (1_000, 5_000, 10_000, 25_000, 50_000)
RUNS = 3


def nodes(folder: Path) -> None:
    """Count the nodes of count-trees on the samples of VLDB 2008, k = 100."""
    print("table rows items m oa da aa")
    settings = [*((*size, 3) for size in SAMPLES), *((10_000, 40, m) for m in (1, 2, 4))]
    with tempfile.TemporaryDirectory() as out:
        for n_rows, n_items, m in settings:
            path = Path(out, "rows.dat")
            sample(folder / "bms_webview2.dat", n_rows, n_items, path)
            tree = sv.read_hierarchy(Path(out, "rows_hierarchy.csv"))
            found = []
            for by in (sv.OA(count_tree=True), sv.DA(count_tree=True), sv.AA(count_tree=True)):
                release = sv.anonymize(sv.read(path), k=100, m=m, hierarchy=tree, algorithm=by, details=False)
                of = release.details["count_tree_nodes"]
                found.append(of[-1] if isinstance(of, list) else of)
            print("nodes", n_rows, n_items, m, *found, flush=True)


def rows(folder: Path) -> None:
    """Measure seconds on more and more rows, k = 5."""
    print("table data rows algorithm seconds")
    constraints = sv.PrivacyConstraints(5, m=2)
    km: dict[str, Any] = {"k": 5, "m": 2}
    coat = {"guarantee": constraints, "max_suppressed_items": 1}
    seconds(folder, "bms_webview1", SIZES, {"coat": coat, "aa": {**km, "algorithm": "aa"}})
    coherence = sv.Coherence(h=0.99, k=5, p=2)
    ours: dict[str, dict[str, Any]] = {name: {**km, "algorithm": name} for name in ("mhghs", "aa")}
    ours["lg"] = {"guarantee": sv.TransactionalKAnonymity(5)}
    ours["mm"] = {"guarantee": coherence, "algorithm": "mm"}
    whole = 77_512
    seconds(folder, "bms_webview2", [whole * part // 10 for part in (2, 4, 6, 8, 10)], ours)


def seconds(folder: Path, name: str, sizes: Any, ways: dict[str, dict[str, Any]]) -> None:
    """Print the seconds of algorithms on random rows."""
    data, tree = sv.read(folder / f"{name}.dat"), sv.read_hierarchy(folder / f"{name}_hierarchy.csv")
    order = np.argsort(np.random.PCG64(0).random_raw(data.n_rows), kind="stable")
    for n_rows in (min(sizes), *sizes):  # the first of all compiles
        drawn = data.drawn(np.sort(order[:n_rows]))
        for way, given in ways.items():
            kept: dict[str, Any] = {} if way == "mm" else {"hierarchy": tree}
            took = [
                sv.anonymize(drawn, **given, **kept, details=False).report["timing"]["anonymize"]
                for _ in range(RUNS)
            ]
            print("rows", name, n_rows, way, f"{min(took):.3f}", flush=True)


def coat(folder: Path) -> None:
    """Compare COAT and AA on BMS-WebView-2: utility loss, largest labels and errors."""
    print("table order algorithm k m ul ul_weighted largest labels suppressed are")
    data = sv.read(folder / "bms_webview2.dat")
    queries = random_queries(data, 1000, 1, 0)
    trees = {"number": sv.read_hierarchy(folder / "bms_webview2_hierarchy.csv")}
    for order, seed in ORDERS:
        name = f"{order}{seed}" if order == "random" else order
        trees[name] = sv.Hierarchy.balanced(data, 5, common=1, order=order, seed=seed)
    settings = [*((k, 2) for k in (2, 5, 10, 25, 50)), (5, 1), (5, 3)]
    for (name, tree), (k, m), way in product(trees.items(), settings, ("aa", "coat")):
        guarantee = sv.KmAnonymity(k, m) if way == "aa" else sv.PrivacyConstraints(k, m=m)
        more: dict[str, Any] = {} if way == "aa" else {"max_suppressed_items": 0.005}
        release = sv.anonymize(data, guarantee, hierarchy=tree, algorithm=way, details=False, **more)
        made, found = release.recoding, release.utility
        losses = [
            ul(data, release.published, made, by)["log2"] for by in (None, hierarchy_weights(made, tree))
        ]
        errors = query_errors(data, release.published, made.members(), queries)
        print(
            "coat", name, way, k, m, *(f"{one:.1f}" for one in losses), made.member_counts.max(),
            found["published_labels"], found["suppressed_items"], f"{errors.mean:.2f}", flush=True,
        )  # fmt: skip


TABLES = {"nodes": nodes, "rows": rows, "coat": coat}


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description="Figures of the papers that need no study.")
    options.add_argument("tables", nargs="*", default=list(TABLES), help=f"of {', '.join(TABLES)}")
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    arguments = options.parse_args()
    for name in arguments.tables:
        TABLES[name](data_folder(arguments.data))


if __name__ == "__main__":
    main()
