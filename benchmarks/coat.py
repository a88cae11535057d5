"""COAT and Pgen on real data: seconds and peak memory of processes of their own, kernels compiled.

    python benchmarks/coat.py [--repeat 3] [--data FOLDER]

All m-itemsets are protected, every merge is allowed and none needs suppression; "pgen" protects the maximal
infrequent itemsets. Weights come from the hierarchy where one is named. Seconds are medians over the repeats,
of the algorithm alone; memory is that of the whole process, about 170 MB of it Python and its libraries.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from runs import files, parser

# Data, with the hierarchy's weights or without, privacy, k.
RUNS = (
    *(
        ("BMS-WebView-1", weighed, m, k)
        for weighed in (False, True)
        for m in ("1", "2", "3")
        for k in (5, 50)
    ),
    *(
        ("BMS-WebView-2", weighed, m, k)
        for weighed in (False, True)
        for m in ("1", "2", "3")
        for k in (5, 50)
    ),
    ("BMS-WebView-1", False, "pgen", 5),
    ("BMS-WebView-2", False, "pgen", 5),
    ("diabetes_icd9", True, "pgen", 5),
    ("groceries", False, "2", 5),
    ("retail", False, "only pgen", 5),
)

CHILD = """
import json, resource, sys, time
import setveil as sv
from setveil.methods.algorithms.coat import coat
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.methods.constraints.pgen import pgen
rows, tree, privacy, k = json.loads(sys.argv[1])
def protect(data, tree):
    start = time.perf_counter()
    itemsets = pgen(data, k) if "pgen" in privacy else None
    middle = time.perf_counter()
    if privacy == "only pgen":
        return {"pgen": middle - start, "constraints": len(itemsets)}
    guarantee = PrivacyConstraints(k, m=int(privacy)) if itemsets is None else PrivacyConstraints(k, itemsets)
    recoding, details = coat.anonymize(data, tree, guarantee)
    end = time.perf_counter()
    out = {"coat": end - middle, "labels": len(recoding.published),
           "merges": details["generalizations"]}
    return out if itemsets is None else out | {"pgen": middle - start, "constraints": len(itemsets)}
protect(sv.Transactions.from_rows([["a", "b"]] * k + [["a", "c"], ["b"], ["c"]]), None)  # compiles
found = protect(sv.read(rows), sv.read_hierarchy(tree) if tree else None)
print(json.dumps(found | {"mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
"""


def run(rows: Path, tree: Path | None, privacy: str, k: int) -> dict[str, Any]:
    """Protect once, in a process of its own."""
    task = json.dumps([str(rows), str(tree) if tree else None, privacy, k])
    done = subprocess.run([sys.executable, "-c", CHILD, task], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table."""
    options = parser("COAT and Pgen on real data.")
    options.add_argument("--repeat", type=int, default=3)
    arguments = options.parse_args()
    chosen = arguments.names
    arguments.names = []
    data = files(arguments)
    data["retail"] = (data["BMS-WebView-1"][0].with_name("retail.dat"), Path())
    print(
        f"{'data':<14} {'weights':<9} {'privacy':<9} {'k':>3} {'P':>7} {'pgen':>6} {'coat':>7} {'merges':>6}"
        f" {'labels':>6} {'MB':>5}"
    )
    for name, weighed, privacy, k in RUNS:
        if chosen and name not in chosen:
            continue
        rows, tree = data[name]
        runs = [run(rows, tree if weighed else None, privacy, k) for _ in range(arguments.repeat)]
        seconds = {
            key: f"{statistics.median(one[key] for one in runs):.2f}"
            for key in ("pgen", "coat")
            if key in runs[0]
        }
        first = runs[0]
        print(
            f"{name:<14} {'tree' if weighed else '1':<9} {privacy:<9} {k:>3} "
            f"{first.get('constraints', ''):>7} {seconds.get('pgen', ''):>6} "
            f"{seconds.get('coat', ''):>7} {first.get('merges', ''):>6} "
            f"{first.get('labels', ''):>6} {max(one['mb'] for one in runs):>5}",
            flush=True,
        )


if __name__ == "__main__":
    main()
