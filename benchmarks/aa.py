"""AA on real data: loss, seconds per phase and peak memory of whole runs.

    python benchmarks/aa.py [--repeat 3] [--data FOLDER] [NAME ...]

Every run is a process of its own, with compiled kernels; seconds are the median over the repeats.
"""

from __future__ import annotations

import statistics

from runs import anonymize, compile_kernels, files, parser

KS = (2, 5, 25, 50)
MS = ("1", "2", "3")
AA = ("--algorithm", "aa")


def main() -> None:
    """Print the table."""
    options = parser("AA on real data.")
    options.add_argument("--repeat", type=int, default=3)
    arguments = options.parse_args()
    data = files(arguments)
    compile_kernels()
    print(
        f"{'data':<14} {'k':>3} {'m':>2} {'NCP':>9} {'refined':>9} {'labels':>6}"
        f" {'read':>6} {'anon.':>6} {'verify':>6} {'whole':>6} {'MB':>5}"
    )
    for name, (rows, tree) in data.items():
        for m in MS:
            for k in KS:
                runs = [anonymize(rows, tree, k, m, *AA) for _ in range(arguments.repeat)]
                refined = anonymize(rows, tree, k, m, *AA, "--refine")
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
