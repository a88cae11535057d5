"""All 60 configurations of SECRETA, and setveil's additions to them, on patients of diabetes_rt.

    python benchmarks/secreta.py [--rows 5000] [--deltas 0.3 0.7] [--k 5] [--m 2] [--more] [--data FOLDER]
    python benchmarks/secreta.py --study OUT [--rows 5000] [--jobs N] [--data FOLDER]

Four ways to make classes, three bounding methods, five algorithms for the items of each class. R is the
average NCP of the columns, T that of the item occurrences. The bound is the first delta that the classes
allow. Seconds are of the algorithm alone, in one process, kernels compiled. `--more` adds mondrian and exact
classes, exact items, hghs, and classes that are not merged. `--study` writes the rows drawn to OUT/data, runs
studies/tables.toml over them (a process for each run, what is published verified), writes its report to
OUT/study, and prints what it measured.
"""

from __future__ import annotations

import argparse
import shutil
import time
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import setveil as sv
from runs import data_folder
from setveil.base.errors import InfeasibleError
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.methods.algorithms.rt.bounding import Bounding, anonymize
from setveil.rows.tables.table import Table

RELATIONAL = ("incognito", "cluster", "topdown", "bottomup")
ITEMS = ("coat", "pcta", "aa", "lra", "vpa")
MERGE = ("r", "t", "rt")
STUDY = Path(__file__).parent.parent / "studies" / "tables.toml"
COLUMNS = ("age", "gender", "race", "admission", "days")


def patients(folder: Path, rows: int) -> Table:
    """Read the table, and draw some of its rows."""
    table = sv.read_table(
        folder / "diabetes_rt.csv",
        qi=COLUMNS,
        set="diagnoses",
        hierarchies={name: folder / f"diabetes_rt_{name}.csv" for name in COLUMNS[:-1]},
    )
    drawn = np.argsort(np.random.PCG64(0).random_raw(table.n_rows), kind="stable")[:rows]
    return table.rows_at(np.sort(drawn))


def parameters(relational: Any, items_by: Any, merge: Any, delta: str) -> Bounding:
    """Name the settings of one run."""
    return Bounding(relational, items_by, merge, Fraction(delta))


def run_study(folder: Path, rows: int, out: Path, jobs: int | None) -> None:
    """Draw rows, run the study of tables over them, and print a line for each of its runs."""
    place = out / "data"
    place.mkdir(parents=True, exist_ok=True)
    lines = (folder / "diabetes_rt.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    drawn = np.argsort(np.random.PCG64(0).random_raw(len(lines) - 1), kind="stable")[:rows]
    sample = [lines[0], *(lines[row + 1] for row in np.sort(drawn).tolist())]
    (place / "patients.csv").write_text("".join(sample), encoding="utf-8")
    trees = {name: f"diabetes_rt_{name}.csv" for name in (*COLUMNS[:-1], "diagnoses")}
    for name in trees.values():
        shutil.copyfile(folder / name, place / name)
    said = [
        f'[columns.{name}]\nrole = "{"set" if name == "diagnoses" else "qi"}"\n'
        + (f'hierarchy = "{trees[name]}"\n' if name in trees else "")
        for name in (*COLUMNS, "diagnoses")
    ]
    (place / "patients.toml").write_text("\n".join(said), encoding="utf-8")
    found = sv.compare(STUDY, out / "study", data=place, jobs=jobs)
    print("| method | classes | R | T | suppressed | table ARE | f | seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in found:
        if row["status"] != "done":
            print(f"| {row['method']} | {row['status']}: {row['error']} | | | | | | |")
            continue
        print(
            f"| {row['method']} | {row['classes']:,} | {row['relational_loss']:.3f} "
            f"| {row['transaction_loss']:.3f} | {row['left_out']:.1%} | {row['table_are_mean']:.2f} "
            f"| {row['f']:.3f} | {row['seconds_anonymize']:.1f} |"
        )


def main() -> None:
    """Run all configurations and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--deltas", nargs="+", default=["0.3", "0.7"])
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=2)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--study", type=Path, metavar="OUT", default=None)
    parser.add_argument("--jobs", type=int, default=None)
    arguments = parser.parse_args()
    folder = data_folder(arguments.data)
    if arguments.study is not None:
        run_study(folder, arguments.rows, arguments.study, arguments.jobs)
        return
    tree = sv.read_hierarchy(folder / "diabetes_rt_diagnoses.csv")
    table = patients(folder, arguments.rows)
    guarantee = KKmAnonymity(arguments.k, arguments.m)
    more = arguments.more
    relational = (*RELATIONAL, "mondrian", "exact") if more else RELATIONAL
    items = (*ITEMS, "hghs", "exact") if more else ITEMS
    merges = ("none", *MERGE) if more else MERGE
    few = table.rows_at(np.arange(60))
    for by, items_by in product(relational, items):  # compiles
        anonymize(few, tree, guarantee, parameters(by, items_by, "rt", "1"))
    print("| delta | classes by | items by | merged by | classes | R | T | suppressed | seconds |")
    print("|--:|---|---|---|--:|--:|--:|--:|--:|")
    for one in product(relational, items, merges):
        for delta in arguments.deltas:
            begin = time.perf_counter()
            try:
                made, details = anonymize(table, tree, guarantee, parameters(*one, delta))
            except InfeasibleError:
                continue
            seconds = time.perf_counter() - begin
            print(
                f"| {delta} | {' | '.join(one)} | {details['parts']:,} | {details['relational_loss']:.4f} "
                f"| {details['item_loss']:.4f} | {np.mean(made.items.image < 0):.1%} | {seconds:.1f} |",
                flush=True,
            )
            break


if __name__ == "__main__":
    main()
