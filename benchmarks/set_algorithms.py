"""The algorithms for rows of items side by side on real data: losses, suppression, seconds, memory.

    python benchmarks/set_algorithms.py [--k 5] [--m 2] [--only METHOD] [--data FOLDER] [NAME ...]

Every run is a process of its own, with compiled kernels. To compare another algorithm, add a line to METHODS.
"""

from __future__ import annotations

import sys

from runs import anonymize, compile_kernels, files, parser

METHODS: dict[str, tuple[str, ...]] = {  # options of the command line in addition to rows, hierarchy, k and m
    "exact": ("--algorithm", "exact"),
    "exact, no suppression": ("--algorithm", "exact", "--no-suppress"),
    "aa": ("--algorithm", "aa"),
    "vpa": ("--algorithm", "vpa"),
    "lra": ("--algorithm", "lra"),
    "lra, 2 parts": ("--algorithm", "lra", "--parts", "2"),
    "lra, 100 parts": ("--algorithm", "lra", "--parts", "100"),
    "lra, exact": ("--algorithm", "lra", "--inner", "exact"),
    "lra, exact, 2 parts": ("--algorithm", "lra", "--inner", "exact", "--parts", "2"),
    "lra, exact, 100 parts": ("--algorithm", "lra", "--inner", "exact", "--parts", "100"),
    "coat": ("--algorithm", "coat", "--privacy", "all"),  # the hierarchy only weighs what is merged
    "pcta": ("--algorithm", "pcta", "--privacy", "all"),
}
USUAL = ("BMS-WebView-1", "BMS-WebView-2", "groceries")


def main() -> None:
    """Print the table."""
    options = parser("Algorithms for rows of items on real data.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", default="2")
    options.add_argument("--only", action="append", metavar="METHOD", help="by default all of METHODS")
    arguments = options.parse_args()
    methods = arguments.only or list(METHODS)
    if unknown := sorted(set(methods) - set(METHODS)):
        sys.exit(f"There is no method {', '.join(unknown)}; there are {', '.join(METHODS)}.")
    arguments.names = arguments.names or list(USUAL)
    data = files(arguments)
    compile_kernels()
    print(f"k = {arguments.k}, m = {arguments.m}")
    print(
        f"{'data':<14} {'method':<22} {'parts':>5} {'NCP':>9} {'LM':>9} {'left out':>8} {'labels':>6} "
        f"{'anon.':>6} {'verify':>6} {'whole':>6} {'MB':>5}"
    )
    for name, (rows, tree) in data.items():
        for method in methods:
            run = anonymize(rows, tree, arguments.k, arguments.m, *METHODS[method])
            utility, timing = run["utility"], run["timing"]
            suppressed = utility["suppressed_occurrences"] / run["input"]["occurrences"]
            parts = run["algorithm"].get("parts", "") if method.startswith("lra") else ""
            print(
                f"{name:<14} {method:<22} {parts:>5} {utility['ncp']:>9.6f} {utility['lm']:>9.6f} "
                f"{suppressed:>8.2%} {utility['published_labels']:>6} {timing['anonymize']:>6.2f} "
                f"{timing['verify']:>6.2f} {run['wall']:>6.1f} {run['peak_memory_mb'] or 0:>5}",
                flush=True,
            )


if __name__ == "__main__":
    main()
