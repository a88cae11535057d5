"""The cost of large data: seconds of each phase, processor seconds and memory, by engine and threads.

    python benchmarks/scale.py [--data FOLDER] [--work FOLDER] [--times 13 39 130] [--threads 1 2]
                               [--runs aa exact aa-parts aa-spark] [--name BMS-WebView-2]

The data are real rows over and over, a tenth of the occurrences drawn again (`scale_data.py`); they stay in
--work. k = 5, m = 2, from Parquet to a verified, written release, each in a process of its own, with compiled
kernels. A run is an algorithm, and an engine unless it is in memory. `-brief` at its end omits risk and
answers of queries, which runs on Spark never compute. --times 2800 makes a set of 10^9 occurrences: for
parts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scale_data import make

from runs import DATA, data_folder, said

PHASES = ("read", "anonymize", "verify", "measure", "answers", "risk", "write")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="Seconds and memory on large data.")
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    options.add_argument("--work", type=Path, default=Path("scale-data"), help="folder for what is made")
    options.add_argument("--name", default="BMS-WebView-2", choices=sorted(DATA))
    options.add_argument("--times", nargs="*", type=int, default=[13, 39, 130])
    options.add_argument("--threads", nargs="*", default=["1", "2"])
    options.add_argument("--runs", nargs="*", default=["aa", "aa-brief", "exact-brief", "aa-parts"])
    arguments = options.parse_args()
    folder = data_folder(arguments.data)
    tree = folder / DATA[arguments.name][1]
    arguments.work.mkdir(exist_ok=True)
    small = made(arguments.name, 1, arguments.work, folder)
    for run in arguments.runs:
        measured(run, small, tree, "2")  # compiles
    print(
        f"{'rows':>11} {'occurrences':>13} {'run':<17} {'threads':>7} {'wall':>7} {'cpu':>7} {'MB':>6} "
        + " ".join(f"{x:>9}" for x in PHASES)
    )
    for times in arguments.times:
        rows = made(arguments.name, times, arguments.work, folder)
        for run in arguments.runs:
            for threads in arguments.threads:
                try:
                    found = measured(run, rows, tree, threads)
                except subprocess.CalledProcessError as error:
                    print(f"{times:>11} {run:<12} {threads:>7} {said(error)}", flush=True)
                    continue
                seconds, peak = found.get("timing", {}), found.get("peak_memory_mb", 0)  # Spark knows neither
                print(
                    f"{found['input']['rows']:>11,} {found['input']['occurrences']:>13,} {run:<17} "
                    f"{threads:>7} {found['wall']:7.1f} "
                    f"{found['cpu']:7.1f} {peak:6.0f} "
                    + " ".join(f"{seconds.get(phase, 0):9.2f}" for phase in PHASES),
                    flush=True,
                )


def made(name: str, times: int, work: Path, data: Path) -> Path:
    """Make a set of rows, unless it is there."""
    place = work / f"{name}-{times}.parquet"
    if not place.exists():
        make(name, times, place.with_suffix(".part"), data)
        place.with_suffix(".part").rename(place)
    return place


def measured(run: str, rows: Path, tree: Path, threads: str) -> dict[str, Any]:
    """Anonymize once: the report, with wall-clock and processor seconds of the process."""
    algorithm, *how = run.split("-")
    more = ["--no-details"] if "brief" in how else []
    for engine in ("parts", "spark"):
        more += ["--engine", engine] if engine in how else []
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(dir=rows.parent) as folder:
        out = Path(folder, "out")
        start, before = time.perf_counter(), os.times()
        subprocess.run(
            [sys.executable, "-m", "setveil", "anonymize", str(rows), "-H", str(tree), "-a", algorithm, "-k5",
             "-m2", "--threads", threads, "--quiet", "-o", str(out), *more],
            check=True, capture_output=True, text=True, env=environment,
        )  # fmt: skip
        wall, after = time.perf_counter() - start, os.times()
        report: dict[str, Any] = json.loads((out / "internal/report.json").read_bytes())
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return report | {"wall": wall, "cpu": cpu}


if __name__ == "__main__":
    main()
