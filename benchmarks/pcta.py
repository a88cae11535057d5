"""PCTA and COAT on real data: their losses, and processor seconds of the algorithms, compiled.

    python benchmarks/pcta.py [--k 5] [--m 2] [--data FOLDER] [NAME ...]

Both protect all m-itemsets; every merge is allowed, and nothing is suppressed. By default the data sets are
BMS-WebView-1, BMS-WebView-2 and groceries. Weights are 1, or those of the hierarchy. NCP and LM count |I| as
the hierarchy has it, so that they can be compared with those of algorithms that need one: `exact` is the cut
of least LM, with suppression. UL is without weights. Every run is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from runs import files, parser

NAMES = ("BMS-WebView-1", "BMS-WebView-2", "groceries")

CHILD = """
import importlib, json, sys, time
import setveil as sv
rows, tree, name, weighed, k, m = json.loads(sys.argv[1])
guarantee = sv.KmAnonymity(k, m) if name == "exact" else sv.PrivacyConstraints(k, m=m)
from setveil.methods import algorithms
module = algorithms.load(name)
tiny = sv.Transactions.from_rows([["a", "b"]] * k + [["a", "c"], ["b"], ["c"]])
module.anonymize(tiny, sv.Hierarchy({"a": "*", "b": "*", "c": "*", "*": None}), guarantee)  # compiles
data, hierarchy = sv.read(rows), sv.read_hierarchy(tree)
start = time.process_time()
recoding, details = module.anonymize(data, hierarchy if weighed else None, guarantee)
seconds = time.process_time() - start
from setveil.releases.published import publish
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.judges.utility.ul import ul
assert recoding.domain == hierarchy.n_leaves  # no hierarchy has items that the data have not
release = publish(data, recoding, 0, details)
print(json.dumps({
    "seconds": seconds, "labels": len(recoding.published),
    "ncp": ncp(data, recoding), "lm": lm(data, recoding),
    "ul": ul(data, release.published, recoding)["log2"], "gone": len(details.get("suppressed", ())),
}))
"""


def run(rows: Path, tree: Path, algorithm: str, weighed: bool, k: int, m: int) -> dict[str, Any]:
    """Anonymize once, in a process of its own."""
    task = json.dumps([str(rows), str(tree), algorithm, weighed, k, m])
    done = subprocess.run([sys.executable, "-c", CHILD, task], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table."""
    options = parser("PCTA and COAT on real data.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    arguments = options.parse_args()
    arguments.names = arguments.names or list(NAMES)
    print(
        f"{'data':<14} {'algorithm':<9} {'weights':<7} {'NCP':>8} {'LM':>8} {'UL log2':>9} {'labels':>6} "
        f"{'gone':>5} {'seconds':>7}"
    )
    for name, (rows, tree) in files(arguments).items():
        runs = [(algorithm, weighed) for weighed in (False, True) for algorithm in ("coat", "pcta")]
        for algorithm, weighed in (*runs, ("exact", True)):
            one = run(rows, tree, algorithm, weighed, arguments.k, arguments.m)
            print(
                f"{name:<14} {algorithm:<9} {'tree' if weighed else '1':<7} {one['ncp']:>8.5f} "
                f"{one['lm']:>8.5f} {one['ul']:>9.1f} {one['labels']:>6} {one['gone']:>5} "
                f"{one['seconds']:>7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
