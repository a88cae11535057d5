"""The distance of MM and border from the proven optimum of coherence, and the benefit of generalization.

    python benchmarks/coherence_optimum.py [--time-limit 300] [--p 2 3 4] [--data FOLDER] [NAME ...]

h = 0.8, k = 10, and the private items of benchmarks/coherence.py, which are published as they are. `kept` is
the share of all item occurrences that are published, `lm` the loss as a share of the greatest possible loss.
It is the share of suppressed occurrences, unless items are generalized. MM and border only suppress; retail
has no hierarchy. Every run is a process of its own, with compiled kernels; seconds are of the algorithm.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from coherence import DATA, private_items

from runs import anonymize_to, compile_for, data_folder, said
from setveil.rows.data.io.rows import read

H, K = "0.8", 10


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="MM and border against the optimum, on real data.")
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DATA)}; by default all")
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    options.add_argument("--p", nargs="*", default=("2", "3", "4"))
    options.add_argument("--share", type=float, default=0.05, help="share of the items that are private")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--time-limit", type=float, default=300.0)
    arguments = options.parse_args()
    folder = data_folder(arguments.data)
    limit = ("--time-limit", str(arguments.time_limit))
    promise = ("--h", H, "--k", "2", "--p", "2", "--private", "4")
    for algorithm in ("mm", "border", "exact"):
        compile_for("--algorithm", algorithm, *promise, tree=False)
    compile_for("--algorithm", "exact", *promise)
    print(
        f"{'data':<14} {'p':>3} {'algorithm':<17} {'kept':>10} {'of':>10} {'kept':>7} {'lm':>9} "
        f"{'seconds':>7} {'gap':>7} {'clauses':>7} {'rounds':>6}"
    )
    for name in arguments.names or DATA:
        rows = folder / DATA[name]
        tree = folder / f"{rows.stem}_hierarchy.csv"
        ways = {
            "mm": ("--algorithm", "mm"),
            "border": ("--algorithm", "border"),
            "exact": ("--algorithm", "exact", *limit),
        }
        if tree.exists():
            ways["exact, hierarchy"] = (*ways["exact"], "--hierarchy", str(tree))
        data = read(rows)
        private = private_items(data, arguments.share, arguments.seed)
        every = data.n_occurrences
        for p in arguments.p:
            for way, tree_options in ways.items():
                line = f"{name:<14} {p:>3} {way:<17} "
                with tempfile.TemporaryDirectory() as out:
                    listed = Path(out, "private.txt")
                    listed.write_text("".join(f"{item}\n" for item in private), encoding="utf-8")
                    try:
                        run = anonymize_to(
                            Path(out, "out"), rows, "--h", H, "--k", str(K), "--p", p,
                            "--private", str(listed), *tree_options,
                        )  # fmt: skip
                    except subprocess.CalledProcessError as error:
                        print(f"{line}{said(error)}", flush=True)
                        continue
                gone: int = run["utility"]["suppressed_occurrences"]
                found = run.get("optimality")
                lost = found["loss"] if found else gone / every
                proven = (
                    f"{found['gap']:>7.2%} {found['clauses']:>7} {found['rounds']:>6}"
                    if found
                    else f"{'-':>7} {'-':>7} {'-':>6}"
                )
                print(
                    f"{line}{every - gone:>10,} {every:>10,} {1 - gone / every:>7.2%} {lost:>9.6f} "
                    f"{run['timing']['anonymize']:>7.2f} {proven}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
