"""AA on real data: loss, seconds per phase and peak memory of whole runs.

    python benchmarks/aa.py [--repeat 3] [--data FOLDER] [NAME ...]

Every run is a process of its own (kernels compiled beforehand by one run that is not counted); seconds are
the median over the repeats. The data sets are not part of the project: they are looked for in --data, in the
folder named by SETVEIL_DATA, or in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DATA = {
    "BMS-WebView-1": ("bms_webview1.dat", "bms_webview1_hierarchy.csv"),
    "BMS-WebView-2": ("bms_webview2.dat", "bms_webview2_hierarchy.csv"),
    "groceries": ("groceries.csv", "groceries_hierarchy.csv"),
    "diabetes_icd9": ("diabetes_icd9.dat", "diabetes_icd9_hierarchy.csv"),
    "instacart": ("instacart_long.csv", "instacart_hierarchy.csv"),
}
KS = (2, 5, 25, 50)
MS = ("1", "2", "3")


def setveil(*arguments: str) -> tuple[str, float]:
    """Run the command line; its standard output and the seconds it took."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "setveil", *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout, time.perf_counter() - start


def anonymize(rows: Path, tree: Path, k: int, m: str, *more: str) -> dict[str, Any]:
    """One run; its report, with the wall clock of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        out, seconds = setveil(
            "anonymize", str(rows), "--hierarchy", str(tree), "--k", str(k), "--m", m,
            "--out", str(Path(folder, "out")), "--json", *more,
        )  # fmt: skip
    report: dict[str, Any] = json.loads(out)
    return report | {"wall": seconds}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DATA)}; by default all")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--data", type=Path, default=None)
    arguments = parser.parse_args()
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = arguments.data or Path(os.environ.get("SETVEIL_DATA", beside))
    if not folder.is_dir():
        sys.exit(f"There is no data folder {folder}; name one with --data or SETVEIL_DATA.")
    names = arguments.names or list(DATA)

    with tempfile.TemporaryDirectory() as scratch:
        setveil("demo", "--out", str(Path(scratch, "demo")))  # compiles what is not compiled yet
    print(f"{'data':<14} {'k':>3} {'m':>2} {'NCP':>9} {'refined':>9} {'labels':>6}"
          f" {'read':>6} {'anon.':>6} {'verify':>6} {'whole':>6} {'MB':>5}")  # fmt: skip
    for name in names:
        rows, tree = (folder / file for file in DATA[name])
        for m in MS:
            for k in KS:
                runs = [anonymize(rows, tree, k, m) for _ in range(arguments.repeat)]
                refined = anonymize(rows, tree, k, m, "--refine")
                utility = runs[0]["utility"]
                seconds = {
                    phase: statistics.median(run["timing"][phase] for run in runs)
                    for phase in ("read", "anonymize", "verify")
                }
                whole = statistics.median(run["wall"] for run in runs)
                memory = max(run["peak_memory_mb"] or 0 for run in runs)
                print(
                    f"{name:<14} {k:>3} {m:>2} {utility['ncp']:>9.6f} {refined['utility']['ncp']:>9.6f} "
                    f"{utility['published_labels']:>6} {seconds['read']:>6.2f} {seconds['anonymize']:>6.2f} "
                    f"{seconds['verify']:>6.2f} {whole:>6.2f} {memory:>5}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
