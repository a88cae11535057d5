"""The proven optimum on real data, and the distance of AA from it.

    python benchmarks/exact.py [--time-limit 1200] [--k 5] [--m 2 3] [--data FOLDER] [NAME ...]

Every run is a process of its own, with compiled kernels. `gap` is the unproven part, `AA` the NCP of AA's
release and its excess over the optimum.
"""

from __future__ import annotations

from runs import anonymize, compile_kernels, files, parser

MS = {"diabetes_icd9": ("2", "3"), "instacart": ("2",)}  # of the others 2, 3 and 5


def main() -> None:
    """Print the table."""
    options = parser("The proven optimum on real data.")
    options.add_argument("--time-limit", type=float, default=1200.0)
    options.add_argument("--k", type=int, nargs="+", default=(5,))
    options.add_argument("--m", nargs="+", help="by default depends on the data")
    arguments = options.parse_args()
    data = files(arguments)
    compile_kernels()
    print(
        f"{'data':<14} {'k':>3} {'m':>2} {'model':<8} {'loss':>9} {'gap':>7} {'seconds':>7} {'clauses':>7} "
        f"{'rounds':>6} {'gone':>5} {'MB':>5} {'rows':>7} {'items':>6} {'AA':>9} {'excess':>7}"
    )
    for name, (rows, tree) in data.items():
        for m in arguments.m or MS.get(name, ("2", "3", "5")):
            for k in arguments.k:
                aa = anonymize(rows, tree, k, m, "--algorithm", "aa")["utility"]["ncp"]
                for model, option in (("cut", "--no-suppress"), ("suppress", "--suppress")):
                    run = anonymize(rows, tree, k, m, option, "--time-limit", str(arguments.time_limit))
                    found = run["optimality"]
                    excess = f"{aa / found['loss'] - 1:>7.1%}" if found["loss"] else f"{'':>7}"
                    beside = f"{aa:>9.6f} {excess}" if model == "cut" else ""
                    print(
                        f"{name:<14} {k:>3} {m:>2} {model:<8} {found['loss']:>9.6f} {found['gap']:>7.2%} "
                        f"{run['timing']['anonymize']:>7.2f} {found['clauses']:>7} {found['rounds']:>6} "
                        f"{run['utility']['suppressed_items']:>5} {run['peak_memory_mb'] or 0:>5} "
                        f"{run['input']['rows']:>7} {run['input']['items']:>6} {beside}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
