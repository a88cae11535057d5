"""The benefit of new groups below familiar ones: loss, suppressed items and errors of queries.

    python benchmarks/regroup.py [--k 5] [--m 2] [--objective lm] [--time-limit 600] [NAME ...]

The groups below the root (departments, chapters) stay. `ARE` is the average relative error of random COUNT
queries, from rows and counts, `rows` the same from the rows alone; `labels` is the number of labels.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from runs import anonymize_to, compile_kernels, files, parser, setveil


def main() -> None:
    """Print the table."""
    options = parser("New groups below those that people know.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", default="2")
    options.add_argument("--objective", default="lm", choices=("lm", "entropy"))
    options.add_argument("--time-limit", default="600")
    arguments = options.parse_args()
    data = files(arguments)
    compile_kernels()
    promise = ["--k", str(arguments.k), "--m", arguments.m, "--objective", arguments.objective]
    heads = ("data", "hierarchy", "LM", "entropy", "suppressed", "labels", "ARE", "rows", "seconds")
    print("{:<14} {:<10} {:>7} {:>8} {:>10} {:>6} {:>7} {:>7} {:>8}".format(*heads))
    for name, (rows, tree) in data.items():
        with tempfile.TemporaryDirectory() as folder:
            show(name, "given", anonymize_to(Path(folder, "a"), rows, "--hierarchy", str(tree), *promise))
            new = Path(folder, "new.csv")
            wanted = ["--regroup", str(tree), "--within", "1", "--time-limit", arguments.time_limit]
            _, seconds = setveil("hierarchy", "build", str(rows), *wanted, *promise, "--out", str(new))
            run = anonymize_to(Path(folder, "b"), rows, "--hierarchy", str(new), *promise)
            show(name, "regrouped", run, seconds)


def show(name: str, hierarchy: str, run: dict[str, Any], seconds: float = 0) -> None:
    """Print a line."""
    utility, errors = run["utility"], run["answers"]["are"]
    print(
        f"{name:<14} {hierarchy:<10} {utility['lm']:>7.4f} {utility['entropy']['share']:>8.4f} "
        f"{utility['suppressed_items']:>10,} {utility['published_labels']:>6,} {errors['mean']:>7.3f} "
        f"{errors['from_rows']['mean']:>7.2f} {seconds:>8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
