"""The data of the studies in studies/: the real sets, and the variants of them in the papers.

    python benchmarks/study_data.py [--data FOLDER] [--unchecked] OUT

Writes to the folder OUT, which `setveil compare STUDY --data OUT` then reads: copies of the data sets and
their hierarchies; the small samples of BMS-WebView-2 and the hierarchies of other degrees of the VLDB 2008
paper (sections 5.1 and 5.2); hierarchies with the leaves in other orders; the privacy and utility policies of
the COAT paper (see policies.py). Data sets that are missing are named with the studies that need them. Those
that only benchmarks read, from FOLDER itself, are checked but not copied.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from pathlib import Path

from policies import MIXTURES, SHARES, SIZES, itemsets_of_varying_size, pairs_of_some_items, utility_policy

import setveil as sv
from runs import data_folder

SAMPLES = ((2000, 40), (5000, 40), (10000, 40), (15000, 40), (10000, 50), (10000, 60))  # rows, items
DEGREES = (2, 3, 4, 8, 10, 20)  # of further hierarchies; the data come with one of degree 5
ORDERS = (("support", 0), *(("random", seed) for seed in range(5)))  # of the leaves, and the order by number
CONSTRAINTS = 1000  # of PP6 to PP9
SUMS = Path(__file__).with_name("data.sha256")
STUDIES, PAGE = Path(__file__).parents[1] / "studies", "docs/research.md"


def sample(rows: Path, n_rows: int, n_items: int, out: Path) -> None:
    """Take the first rows, and of every item its number modulo `n_items` (VLDB 2008, section 5.1.3)."""
    with rows.open() as file:
        lines = [next(file).split() for _ in range(n_rows)]
    taken = [sorted({int(item) % n_items for item in line}) for line in lines]
    out.write_text("".join(" ".join(map(str, row)) + "\n" for row in taken))
    data = sv.read(out)
    sv.write_hierarchy(
        sv.Hierarchy.balanced(data, 4, order="number"), out.with_name(f"{out.stem}_hierarchy.csv")
    )


def write_itemsets(path: Path, itemsets: tuple[tuple[str, ...], ...]) -> None:
    """Write one itemset a line."""
    path.write_text("".join(" ".join(itemset) + "\n" for itemset in itemsets))


def sums() -> dict[str, str]:
    """Read the data sets of the studies, each with its SHA-256."""
    lines = [line.split() for line in SUMS.read_text().splitlines()]
    return {name: expected for expected, name in lines}


def wrong_files(folder: Path) -> dict[str, str]:
    """Describe the data sets that are not those of the documentation by their SHA-256."""
    problems = {}
    for name, expected in sums().items():
        if (folder / name).is_file():
            digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            if digest != expected:
                problems[name] = f"{name} is another file: expected SHA-256 {expected}, found {digest}."
    return problems


def needed() -> dict[str, list[str]]:
    """Name the studies that need each data set; only benchmarks need a data set without studies."""
    studies = {path.name: path.read_text("utf-8") for path in sorted(STUDIES.glob("*.toml"))}
    of_samples = {"bms_webview2.dat": "wv2_"}
    return {
        name: [study for study, text in studies.items() if name in text or of_samples.get(name, name) in text]
        for name in sums()
    }


def main() -> None:
    """Write the folder."""
    options = argparse.ArgumentParser(description="Prepare the data of the studies.")
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    options.add_argument("out", type=Path, metavar="OUT")
    options.add_argument("--seed", type=int, default=0, help="draws the policies")
    options.add_argument("--unchecked", action="store_true", help="use files with other SHA-256, too")
    arguments = options.parse_args()
    source, out = data_folder(arguments.data), arguments.out
    studies, problems = needed(), wrong_files(source)
    missing = {name for name in sums() if not (source / name).is_file()}
    report(source, studies, missing, problems)
    ours = {name for name in studies if studies[name]}
    if ours <= missing or (ours & problems.keys() and not arguments.unchecked):
        sys.exit(1)
    out.mkdir(parents=True, exist_ok=True)
    for name in sums():
        if name in ours - missing:
            shutil.copyfile(source / name, out / name)
    if "bms_webview2.dat" not in missing:
        for n_rows, n_items in SAMPLES:
            sample(out / "bms_webview2.dat", n_rows, n_items, out / f"wv2_{n_rows // 1000}k_{n_items}.dat")
    for name in ("bms_webview1", "bms_webview2"):
        if not missing & {f"{name}.dat", f"{name}_hierarchy.csv"}:
            write_variants(name, out, arguments.seed)


def report(source: Path, studies: dict[str, list[str]], missing: set[str], problems: dict[str, str]) -> None:
    """Print the problems of the folder, and where to read more."""
    lines = list(problems.values())
    lines += [
        f"{name} is missing in {source}. Studies that need it: {', '.join(studies[name])}."
        for name in sums()
        if name in missing and studies[name]
    ]
    if others := [name for name in sums() if name in missing and not studies[name]]:
        lines.append(f"Missing in {source}, but needed by benchmarks only: {', '.join(others)}.")
    if lines:
        print(*lines, f"{PAGE} says where each file comes from, and its form.", sep="\n", file=sys.stderr)


def write_variants(name: str, out: Path, seed: int) -> None:
    """Write hierarchies of other degrees and orders, and policies."""
    data, tree = sv.read(out / f"{name}.dat"), sv.read_hierarchy(out / f"{name}_hierarchy.csv")
    for degree in DEGREES:
        sv.write_hierarchy(
            sv.Hierarchy.balanced(data, degree, order="number"), out / f"{name}_degree{degree}.csv"
        )
    for order, draw in ORDERS:
        ordered = sv.Hierarchy.balanced(data, common=1, order=order, seed=draw)
        sv.write_hierarchy(ordered, out / f"{name}_{order}{draw if order == 'random' else ''}.csv")
    for policy in SHARES:
        write_itemsets(out / f"{name}_{policy}.dat", pairs_of_some_items(data, policy, seed))
    for policy in MIXTURES:
        write_itemsets(
            out / f"{name}_{policy}.dat", itemsets_of_varying_size(data, policy, CONSTRAINTS, seed)
        )
    for policy in SIZES:
        write_itemsets(out / f"{name}_{policy}.dat", utility_policy(tree, policy))


if __name__ == "__main__":
    main()
