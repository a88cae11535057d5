"""Single figures of sentences in docs/searches.md that no other benchmark measures.

    python benchmarks/remarks.py [--data FOLDER]

Prints a name and a value on each line: the threats that hghs and mhghs meet on BMS-WebView-2 (k = 5, m = 3);
the NCP of aa with and without --refine, of aa and da on 500,000 baskets of the demo (k = 5, m = 3), of lg
with a cap on inferences (groceries, k = 5), of aa and lg with other hierarchies on instacart (k = 5, m = 2).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from inference import GROCERIES

import setveil as sv
from runs import DATA, data_folder
from setveil.rows.data.sample import grocery_sample
from setveil.rows.hierarchy.build import by_cooccurrence


def of_web(folder: Path) -> Iterator[tuple[str, object]]:
    """Count threats, and refine the cuts of aa."""
    for name in ("BMS-WebView-1", "BMS-WebView-2"):
        rows, tree = sv.read(folder / DATA[name][0]), folder / DATA[name][1]
        for m in (2, 3):
            for way, refine in (("aa", False), ("refined", True)):
                release = sv.anonymize(rows, k=5, m=m, hierarchy=tree, algorithm="aa", refine=refine)
                yield f"{way}-{name[-1]}-m{m}", f"{release.utility['ncp']:.4f}"
    yield "hghs-threats", sv.anonymize(rows, k=5, m=3, hierarchy=tree, algorithm="hghs").details["threats"]
    rounds = sv.anonymize(rows, k=5, m=3, hierarchy=tree, algorithm="mhghs").details["rounds"]
    yield from ((f"mhghs-threats-{one['i']}", one["threats"]) for one in rounds)


def of_demo() -> Iterator[tuple[str, object]]:
    """Compare two walks that end at different cuts."""
    rows, paths = grocery_sample(500_000)
    tree = sv.Hierarchy.from_paths(paths)
    for way in ("aa", "da"):
        ncp = sv.anonymize(rows, k=5, m=3, hierarchy=tree, algorithm=way).utility["ncp"]
        yield f"demo-{way}", f"{ncp:.4f}"


def of_caps(folder: Path) -> Iterator[tuple[str, object]]:
    """Measure the price of a cap on inferences."""
    for rho in ("1/5", "1/10"):
        promise = sv.KmRho(k=5, m=2, rho=rho, sensitive=GROCERIES)
        tree = folder / DATA["groceries"][1]
        used = sv.anonymize(folder / DATA["groceries"][0], promise, hierarchy=tree, algorithm="lg").utility
        yield f"capped-{rho[2:]}-suppressed", used["suppressed_occurrences"]
        yield f"capped-{rho[2:]}", f"{used['ncp']:.3f}"


def of_instacart(folder: Path) -> Iterator[tuple[str, object]]:
    """Compare wide groups and groups by co-occurrence."""
    name, tree = DATA["instacart"]
    rows = sv.read(folder / name, id_column="order_id", item_column="product_id")
    near = {fanout: by_cooccurrence(rows, fanout) for fanout in (2, 5)}
    used = sv.anonymize(rows, k=5, m=2, hierarchy=near[5], algorithm="aa").utility
    yield "instacart-aa", f"{used['ncp']:.4f}"
    yield "instacart-labels", used["published_labels"]
    for way, groups in (("own", folder / tree), *near.items()):
        release = sv.anonymize(rows, sv.KAnonymity(5), hierarchy=groups, algorithm="lg")
        yield f"instacart-lg-{way}", f"{release.utility['ncp']:.3f}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    folder = data_folder(parser.parse_args().data)
    print("name value")
    for figures in (of_web(folder), of_demo(), of_caps(folder), of_instacart(folder)):
        for name, number in figures:
            print(name, number, flush=True)


if __name__ == "__main__":
    main()
