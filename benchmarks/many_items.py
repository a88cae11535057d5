"""The proven optimum for many items, most of them rare: CPU seconds of whole runs.

    python benchmarks/many_items.py [--items 1000 10000 100000 1000000]

Rows of three items each, six for every ten items, are drawn uniformly or by Zipf's law, with a fixed seed.
Each run is a process of its own, with compiled kernels: k = 2, m = 1, the usual hierarchy, all measures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RUN = [sys.executable, "-m", "setveil", "anonymize", "--format", "basket", "--k", "2", "--m", "1", "--quiet"]


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="The proven optimum with many items.")
    options.add_argument("--items", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    arguments = options.parse_args()
    print(f"{'items':>9} {'drawn':<8} {'occur':>9} {'rare':>6} {'proven':<6} {'search':>7} {'CPU':>6}")
    with tempfile.TemporaryDirectory() as folder:
        _one(Path(folder), 100, "uniform")  # compiles missing kernels
        for items in arguments.items:
            for drawn in ("uniform", "zipf"):
                print(_one(Path(folder), items, drawn), flush=True)


def _one(folder: Path, items: int, drawn: str) -> str:
    rows, out = folder / "rows.csv", folder / "out"
    supports = _write(rows, items, drawn)
    before = os.times()
    command = [*RUN, str(rows), "--out", str(out), "--force"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    seconds = sum(after[2:4]) - sum(before[2:4])
    record = json.loads((out / "internal" / "report.json").read_text())
    rare, search = (supports == 1).sum() / supports.size, record["timing"]["anonymize"]
    proven = "yes" if record["optimality"]["proven"] else "no"
    return (
        f"{items:>9,} {drawn:<8} {supports.size:>9,} {rare:>6.0%} {proven:<6} {search:>7.1f} {seconds:>6.1f}"
    )


def _write(path: Path, items: int, drawn: str) -> np.ndarray:
    """Write the rows, and return the supports of the items that occur."""
    chances = None if drawn == "uniform" else 1 / np.arange(1, items + 1)
    if chances is not None:
        chances /= chances.sum()
    table = np.random.default_rng(1).choice(items, (items * 6 // 10, 3), p=chances)
    rows = [set(row) for row in table.tolist()]
    path.write_text("".join(",".join(f"i{item}" for item in sorted(row)) + "\n" for row in rows))
    return np.unique([item for row in rows for item in row], return_counts=True)[1]


if __name__ == "__main__":
    main()
