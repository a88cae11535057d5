"""The time of small runs: whole commands, and their phases, with compiled kernels.

    python benchmarks/startup.py [--runs N] [--data FOLDER]

Prints a line for each case: medians of several runs, in seconds. `all` is the wall clock of the process,
`cpu` its user and system time; `start` is the time outside all phases: Python, imports and the end. The first
run of a case, in which kernels and bytecode may be compiled, does not count.
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
from statistics import median

from runs import DATA, data_folder

PHASES = ("read", "hierarchy", "anonymize", "verify", "measure", "answers", "risk", "write")


def run(arguments: list[str]) -> dict[str, float]:
    """Run the command once; its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        # A bytecode cache is what users have.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        start, before = time.perf_counter(), os.times()
        subprocess.run(
            [sys.executable, "-m", "setveil", "anonymize", *arguments, "--out", str(out), "--quiet"],
            check=True, stdout=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        wall, after = time.perf_counter() - start, os.times()
        timing = json.loads((out / "internal" / "report.json").read_text(encoding="utf-8"))["timing"]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    found = {"all": wall, "cpu": cpu, **{phase: timing.get(phase, 0.0) for phase in PHASES}}
    return found | {"start": wall - sum(found[phase] for phase in PHASES)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=7, help="of each case (default 7)")
    parser.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    args = parser.parse_args()
    folder = data_folder(args.data)
    with tempfile.TemporaryDirectory() as place:
        three = Path(place, "three.dat")
        three.write_text("1 2\n2 3\n1 3\n")
        cases = {"three rows": [str(three), "--format", "fimi", "--k", "2", "--m", "1"]}
        for name in ("BMS-WebView-1", "BMS-WebView-2"):
            rows, tree = (str(folder / file) for file in DATA[name])
            cases[name] = [rows, "--hierarchy", tree, "--algorithm", "aa", "--k", "5", "--m", "3"]
        columns = ("all", "cpu", "start", *PHASES)
        print(f"{'':14}" + "".join(f"{column:>10}" for column in columns))
        for name, arguments in cases.items():
            run(arguments)
            found = [run(arguments) for _ in range(args.runs)]
            print(f"{name:14}" + "".join(f"{median(one[c] for one in found):>10.3f}" for c in columns))


if __name__ == "__main__":
    main()
