"""The losses of suppression methods for rho-uncertainty on real data, and how often they are minimal.

    python benchmarks/rho.py [--instances 150] [--data FOLDER]

Five products of groceries and seven codes of diabetes_icd9 are sensitive, as in benchmarks/inference.py. For
each release, it prints the share of the occurrences that is lost (LM), and the numbers of suppressed items
and occurrences; `any` and `public` are by `partial`, for someone who knows any items, or up to two public
ones. At the end, it counts the small random instances, with a hierarchy for `td-control`, in which a method
loses no more than the proven optimum.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from inference import sensitive_of

import setveil as sv
from runs import files, parser

RHOS = {"groceries": ("0.05", "1/5", "1/2", "0.9"), "diabetes_icd9": ("1/2",)}
METHODS: dict[str, Any] = {
    "suppress-control": sv.SuppressControl(),
    "refined": sv.SuppressControl(refine=True),
    "td-control": sv.TDControl(),
    "any": sv.Partial(),
    "public": sv.Partial(),
}


def run(data: Any, tree: sv.Hierarchy, method: str, rho: str, sensitive: tuple[str, ...]) -> str:
    """Make one release, and return its losses."""
    promise: Any = sv.RhoUncertainty(rho, sensitive)
    if method == "public":
        promise = sv.KmRho(1, 2, rho, sensitive)
    hierarchy = tree if method == "td-control" else None
    lost = sv.anonymize(data, promise, hierarchy=hierarchy, algorithm=METHODS[method]).utility
    return f"{lost['lm']:.6f} {lost['suppressed_items']} {lost['suppressed_occurrences']}"


def instances(number: int) -> Iterator[tuple[list[list[str]], sv.Hierarchy, sv.RhoUncertainty]]:
    """Draw rows of four public and two sensitive items, in a hierarchy of pairs."""
    public, sensitive = ["a", "b", "c", "d"], ["s", "t"]
    tree = sv.Hierarchy.from_paths([[x, f"group {at // 2}", "*"] for at, x in enumerate(public + sensitive)])
    for seed in range(number):
        draw = random.Random(seed)  # noqa: S311
        rows = [[x for x in public + sensitive if draw.random() < 0.4] for _ in range(draw.randint(6, 14))]
        held = [x for x in sensitive if any(x in row for row in rows)]
        yield [row for row in rows if row], tree, sv.RhoUncertainty(draw.choice(("1/3", "1/2", "2/3")), held)


def main() -> None:
    """Print the lines of the data sets, and the counts."""
    options = parser("What the methods for rho-uncertainty lose.")
    options.add_argument("--instances", type=int, default=150)
    options.set_defaults(names=list(RHOS))
    arguments = options.parse_args()
    print("data rho method LM items occurrences")
    for name, (path, tree) in files(arguments).items():
        data, hierarchy, sensitive = sv.read(path), sv.read_hierarchy(tree), sensitive_of(name, path)
        for rho in RHOS[name]:
            for method in METHODS:
                if name == "groceries" or method in {"suppress-control", "td-control"}:
                    print(name, rho, method, run(data, hierarchy, method, rho, sensitive), flush=True)
    least = dict.fromkeys(("suppress-control", "td-control"), 0)
    number = 0
    for rows, pairs, promise in instances(arguments.instances):
        number += 1
        for method in least:
            listed = pairs if method == "td-control" else None
            release = sv.anonymize(rows, promise, hierarchy=listed, algorithm=METHODS[method], bound=True)
            least[method] += release.report["optimality"]["gap"] == 0
    for method, times in least.items():
        print("least", method, times, number)


if __name__ == "__main__":
    main()
