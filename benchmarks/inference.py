"""The cost of protecting sensitive items: the proven optimum of (k,rho)^m-anonymity on real data.

    python benchmarks/inference.py [--time-limit 300] [--data FOLDER] [NAME ...]

NAME is of groceries, BMS-WebView-1, diabetes_icd9, instacart; k = 5. Sensitive are five products of groceries
that say something of a person; HIV (042, V08), psychoses (295, 296), alcohol and drug use (303, 304, 305) in
diabetes_icd9; of the other two the 10 items that benchmarks/cahd.py draws with seed 0: of items in at most
one row of 20, in instacart of the 300 most frequent of these.

`units` is the loss in units of 1/W of an occurrence, W = number of public leaves - 1; `hidden` the suppressed
sensitive occurrences; `greatest` the greatest confidence left; `price` how much more is lost, in units, than
by the k^m-anonymous optimum of the public part. Every run is a process of its own, with compiled kernels;
seconds are of the algorithm.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cahd import sensitive_items

from runs import anonymize, anonymize_to, compile_for, files, parser, said
from setveil.rows.data.io.rows import read

K = 5
GROCERIES = ("liquor", "brandy", "female sanitary products", "hygiene articles", "cookware")
CODES = ("042", "V08", "295", "296", "303", "304", "305")


class Setting(NamedTuple):
    """The guarantee, and the items that may be hidden for it."""

    m: int
    rho: str
    knows: str = "public"
    hide: str = "occurrences"


RUNS = {
    "groceries": [
        *(
            Setting(2, rho, knows, hide)
            for rho in ("1/2", "1/5", "1/10")
            for knows, hide in (("public", "occurrences"), ("public", "items"), ("any", "items"))
        ),
        Setting(3, "1/5"),
    ],
    "BMS-WebView-1": [Setting(2, "1/2")],
    "diabetes_icd9": [*(Setting(2, rho) for rho in ("1/2", "1/5", "1/10", "1/20")), Setting(3, "1/10")],
    "instacart": [Setting(2, "1/2")],
}


def sensitive_of(name: str, rows: Path) -> tuple[str, ...]:
    """List the sensitive items of a data set."""
    if name == "groceries":
        return GROCERIES
    if name == "diabetes_icd9":
        with rows.with_name("diabetes_icd9_items.csv").open(newline="", encoding="utf-8") as lines:
            ids = {line["name"]: line["id"] for line in csv.DictReader(lines)}
        return tuple(ids[code] for code in CODES if code in ids)
    return sensitive_items(name, read(rows), 10, seed=0)


def fields(path: Path) -> Iterator[list[str]]:
    """Read the fields of every line of a file of rows."""
    with path.open(newline="", encoding="utf-8") as lines:
        yield from csv.reader(lines, delimiter=" " if path.suffix == ".dat" else ",")


def is_long(path: Path) -> bool:
    """Return whether a file has one line per occurrence, as only the data set instacart has."""
    return next(fields(path), []) == ["order_id", "product_id"]


def public_part(rows: Path, tree: Path, sensitive: Collection[str], folder: Path) -> tuple[Path, Path, int]:
    """Write rows and hierarchy without the sensitive items; the files, and the number of public leaves."""
    out, left = folder / rows.name, folder / tree.name
    with out.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, delimiter=" " if rows.suffix == ".dat" else ",", lineterminator="\n")
        if is_long(rows):
            lines.writerows(line for line in fields(rows) if line[1] not in sensitive)
        else:
            public = ([item for item in line if item not in sensitive] for line in fields(rows))
            lines.writerows(line for line in public if line)
    with tree.open(encoding="utf-8") as hierarchy:
        leaves = [line for line in hierarchy if line.split(";")[0] not in sensitive]
    left.write_text("".join(leaves), encoding="utf-8")
    return out, left, len(leaves)


def occurrences(path: Path, items: Collection[str], *, long: bool) -> int:
    """Count the occurrences of some items in a file of rows."""
    found = Counter(field for line in fields(path) for field in (line[1:] if long else line))
    return sum(found[item] for item in items)


def units(report: dict[str, Any], worst: int) -> int:
    """Turn the loss of a report into units."""
    loss: float = report["optimality"]["loss"]
    every: int = report["input"]["occurrences"]
    return round(loss * worst * every)


def main() -> None:
    """Print the table."""
    options = parser("What it costs that nothing sensitive is learned.")
    options.add_argument("--time-limit", type=float, default=300.0)
    arguments = options.parse_args()
    arguments.names = arguments.names or list(RUNS)
    limit = ("--time-limit", str(arguments.time_limit))
    data = files(arguments)
    compile_for("--algorithm", "exact", "--k", "2", "--m", "2")
    compile_for("--algorithm", "exact", "--k", "2", "--m", "2", "--rho", "1/4", "--sensitive", "4")
    print(
        f"{'data':<14} {'m':>2} {'rho':>5} {'knows':<6} {'hide':<11} {'loss':>9} {'units':>12} {'gap':>7} "
        f"{'hidden':>6} {'greatest':>8} {'price':>7} {'seconds':>7} {'clauses':>7} {'rounds':>6}"
    )
    for name, (rows, tree) in data.items():
        if name not in RUNS:
            continue
        sensitive = sensitive_of(name, rows)
        long = is_long(rows)
        before = occurrences(rows, sensitive, long=long)
        base: dict[int, int] = {}
        with tempfile.TemporaryDirectory() as kept:
            folder = Path(kept)
            listed = folder / "sensitive.txt"
            listed.write_text("".join(f"{item}\n" for item in sensitive), encoding="utf-8")
            public, left, leaves = public_part(rows, tree, sensitive, folder)
            for m in sorted({setting.m for setting in RUNS[name]}):
                run = anonymize(public, left, K, str(m), "--algorithm", "exact", *limit)
                base[m] = units(run, leaves - 1)
                found = run["optimality"]
                print(
                    f"{name:<14} {m:>2} {'-':>5} {'-':<6} {'-':<11} {found['loss']:>9.6f} {base[m]:>12,} "
                    f"{found['gap']:>7.2%} {'-':>6} {'-':>8} {'-':>7} {run['timing']['anonymize']:>7.2f} "
                    f"{found['clauses']:>7} {found['rounds']:>6}",
                    flush=True,
                )
            for n, setting in enumerate(RUNS[name]):
                m, rho, knows, hide = setting
                line = f"{name:<14} {m:>2} {rho:>5} {knows:<6} {hide:<11} "
                out = folder / str(n)
                try:
                    run = anonymize_to(
                        out, rows, "--hierarchy", str(tree), "--algorithm", "exact", "--k", str(K),
                        "--m", str(m), "--rho", rho, "--sensitive", str(listed), "--knows", knows,
                        "--hide", hide, *limit,
                    )  # fmt: skip
                except subprocess.CalledProcessError as error:
                    print(f"{line}{said(error)}", flush=True)
                    continue
                (published,) = (out / "published").glob("data.*")
                hidden = before - occurrences(published, sensitive, long=long)
                found, lost = run["optimality"], units(run, leaves - 1)
                greatest = run["guarantee"]["greatest_confidence"]
                price = f"{lost / base[m] - 1:>7.2%}" if base[m] else f"{'-':>7}"
                print(
                    f"{line}{found['loss']:>9.6f} {lost:>12,} {found['gap']:>7.2%} {hidden:>6} "
                    f"{greatest['confidence'] if greatest else 0:>8.4f} {price} "
                    f"{run['timing']['anonymize']:>7.2f} {found['clauses']:>7} {found['rounds']:>6}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
