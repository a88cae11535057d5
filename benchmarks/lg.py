"""LG on real data: loss, seconds per phase and peak memory of whole runs; how they grow with the rows.

    python benchmarks/lg.py [--repeat 3] [--data FOLDER] [NAME ...]

Every run is a process of its own, with compiled kernels; seconds are the median over the repeats. msnbc comes
without a hierarchy: each five consecutive nodes are grouped.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from runs import files, parser, setveil

KS = (5, 25, 50)
SHARES = (8, 4, 2)
PHASES = ("read", "anonymize", "verify")


def run(rows: Path, tree: Path, k: int) -> dict[str, Any]:
    """Anonymize once; the report, with the wall clock of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        out, seconds = setveil(
            "anonymize", str(rows), "--hierarchy", str(tree), "--k", str(k), "--algorithm", "lg",
            "--out", str(Path(folder, "out")), "--json",
        )  # fmt: skip
    report: dict[str, Any] = json.loads(out)
    return report | {"wall": seconds}


def line(name: str, rows: Path, tree: Path, k: int, repeat: int) -> None:
    """Print one line of the table."""
    runs = [run(rows, tree, k) for _ in range(repeat)]
    first = runs[0]
    seconds = [statistics.median(r["timing"][phase] for r in runs) for phase in PHASES]
    whole = statistics.median(r["wall"] for r in runs)
    memory = max(r["peak_memory_mb"] or 0 for r in runs)
    print(
        f"{name:<14} {first['input']['rows']:>7} {k:>3} {first['utility']['ncp']:>9.6f} "
        f"{first['algorithm']['parts']:>6} {seconds[0]:>6.2f} {seconds[1]:>6.2f} {seconds[2]:>6.2f} "
        f"{whole:>6.2f} {memory:>5}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    options = parser("LG on real data.")
    options.add_argument("--repeat", type=int, default=3)
    arguments = options.parse_args()
    msnbc = not arguments.names or "msnbc" in arguments.names
    only = arguments.names == ["msnbc"]
    arguments.names = [name for name in arguments.names if name != "msnbc"]
    data = files(arguments)
    print(
        f"{'data':<14} {'rows':>7} {'k':>3} {'NCP':>9} {'parts':>6} {'read':>6} {'anon.':>6} {'verify':>6} "
        f"{'whole':>6} {'MB':>5}"
    )
    first = next(iter(data.values()))
    run(*first, 50)  # compiles missing kernels
    for name, (rows, tree) in {} if only else data.items():
        for k in KS:
            line(name, rows, tree, k, arguments.repeat)
    whole = first[0].parent / "msnbc.dat"
    if not msnbc or not whole.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "msnbc.csv")
        setveil("hierarchy", "build", str(whole), "--by", "balanced", "--out", str(tree))
        for k in KS:
            line("msnbc", whole, tree, k, arguments.repeat)
        lines = whole.read_text("ascii").splitlines(keepends=True)
        for share in SHARES:
            part = Path(folder, f"msnbc-{share}.dat")
            part.write_text("".join(lines[::share]), "ascii")
            line(f"msnbc 1/{share}", part, tree, KS[0], arguments.repeat)


if __name__ == "__main__":
    main()
