"""The loss of classes of a real table, by their size and split by gain, and the time for it.

    python benchmarks/table_classes.py [--k 5] [--m 2] [--forest] [--data FOLDER]

The table is diabetes_rt: 71,518 patients, five quasi-identifiers, up to three diagnoses each. R is the loss
of the quasi-identifiers, T that of the items (LM), f = share * R + (1 - share) * T. `unproven` is the part of
T that could not be proven to be necessary, `MB` the greatest memory of the process so far.

Instead, `--forest` prints the loss of one recoding for the whole table, for each guarantee and share.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import setveil as sv
from runs import data_folder
from setveil.commands.read_table import read_table
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.methods.algorithms.rt.rt import RT, anonymize
from setveil.rows.tables.table import Table
from setveil.runs.memory import peak_memory_mb

SHARES = Fraction(1, 2), Fraction(1, 4)
COLUMNS = ("age", "gender", "race", "admission", "days")


def patients(folder: Path) -> Table:
    """Read the table."""
    named = (*COLUMNS[:4], "diagnoses")
    return read_table(
        folder / "diabetes_rt.csv",
        qi=COLUMNS,
        set="diagnoses",
        hierarchies={name: folder / f"diabetes_rt_{name}.csv" for name in named},
    )


def forest(table: Table, k: int, m: int) -> None:
    """Print the loss of one recoding for the whole table: the columns alone, then columns and items."""
    promises = {"kkm": sv.KKmAnonymity(k, m), "mixed-km": sv.MixedKmAnonymity(k, m)}
    runs = [(name, suppress, share) for name, (suppress, share) in product(
        promises, ((True, SHARES[1]), (True, SHARES[0]), (False, SHARES[0])))]  # fmt: skip
    print("promise items share f R T gone gap seconds")
    for name, suppress, share in (("kkm", False, Fraction(1)), *runs):
        start = time.perf_counter()
        by = sv.Forest(share=share, suppress=suppress, time_limit=3600)
        release = sv.anonymize(table, promises[name], algorithm=by)
        lost, proof = release.utility, release.details["optimality"]
        print(
            f"{name} {'suppressed' if suppress else 'cut'} {share} {proof['loss']:.4f} "
            f"{lost['relational_loss']:.4f} {lost['transaction_loss']:.4f} {lost['left_out']:.1%} "
            f"{proof['gap']:.2%} {time.perf_counter() - start:.0f}",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="What classes of a real table lose.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.add_argument("--forest", action="store_true", help="one recoding for the whole table")
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    arguments = options.parse_args()
    if arguments.forest:
        forest(patients(data_folder(arguments.data)), arguments.k, arguments.m)
        return
    table, guarantee = patients(data_folder(arguments.data)), KKmAnonymity(arguments.k, arguments.m)
    anonymize(table.rows_at(np.arange(500)), table.tree, guarantee)  # compiles

    def line(name: str, parameters: RT) -> None:
        clock, cpu = time.perf_counter(), time.process_time()
        found: dict[str, Any] = anonymize(table, table.tree, guarantee, parameters)[1]
        clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
        (entry,) = [entry for entry in found["frontier"] if entry["chosen"]]
        r, t = entry["relational_loss"], entry["transaction_loss"]
        half, quarter = (float(share) * r + float(1 - share) * t for share in SHARES)
        print(
            f"{name:<12} {entry['classes']:>7} {entry['smallest']:>8} {r:>8.4f} {t:>8.4f} {half:>8.4f} "
            f"{quarter:>8.4f} {entry['suppressed_share']:>7.1%} {found['optimality']['gap']:>8.2%} "
            f"{clock:>7.1f} {cpu:>7.1f} {peak_memory_mb() or 0:>6}",
            flush=True,
        )

    print(
        f"{'least':<12} {'classes':>7} {'smallest':>8} {'R':>8} {'T':>8} {'f 1/2':>8} {'f 1/4':>8} "
        f"{'gone':>7} {'unproven':>8} {'seconds':>7} {'CPU':>7} {'MB':>6}"
    )
    least = arguments.k
    while 2 * least <= table.n_rows:
        line(f"{least:,}", RT(least=least))
        least *= 4
    line(f"{table.n_rows:,}", RT(least=table.n_rows))
    line("the sweep", RT(search="sweep"))
    for share in SHARES:
        line(f"by gain, {share}", RT(search="rt", share=share))


if __name__ == "__main__":
    main()
