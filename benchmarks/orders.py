"""The effect of the order of the items in a balanced hierarchy: the NCP of aa on four data sets.

    python benchmarks/orders.py [--data FOLDER]

Prints the table of docs/hierarchies.md: k = 5, m = 2 and 3, fan-out 5, random orders of the seeds 0 to 4.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from statistics import median

import setveil as sv
from runs import data_folder

SETS = (
    ("BMS-WebView-1", "bms_webview1.dat"), ("BMS-WebView-2", "bms_webview2.dat"),
    ("groceries", "groceries.csv"), ("diagnoses", "diabetes_icd9.dat"),
)  # fmt: skip
SEEDS = range(5)


def loss(data: sv.Transactions, m: int, order: str, seed: int = 0) -> float:
    """Return the NCP of aa with a hierarchy by an order."""
    tree = sv.Hierarchy.balanced(data, common=5, order=order, seed=seed)
    return float(sv.anonymize(data, k=5, m=m, hierarchy=tree, algorithm="aa").utility["ncp"])


def main() -> None:
    """Print a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    folder = data_folder(parser.parse_args().data)
    print("| NCP of `aa`, k = 5 | number | support | appearance | random: median (range) |")
    print("|---|--:|--:|--:|--:|")
    for m, (name, file) in product((2, 3), SETS):
        data = sv.read(folder / file)
        drawn = [loss(data, m, "random", seed) for seed in SEEDS]
        fixed = " | ".join(f"{loss(data, m, order):.4f}" for order in ("number", "support", "appearance"))
        ends = f"{median(drawn):.4f} ({min(drawn):.4f}-{max(drawn):.4f})"
        print(f"| {name}, m = {m} | {fixed} | {ends} |", flush=True)


if __name__ == "__main__":
    main()
