"""Attacks on releases of half of the rows, with the other half as control.

    python benchmarks/attack.py [--attacks 20000] [--k 5] [--m 2] [--data FOLDER] [NAME ...]

Each release is made by `aa`. A line for each attack and number of known items: attempts, successes, the share
of successes in the control, the share that the guarantee allows, and the verdict.
"""

from __future__ import annotations

import setveil as sv
from runs import files, parser


def main() -> None:
    """Print the table."""
    options = parser("Attacks with a control group.")
    options.add_argument("--attacks", type=int, default=20_000)
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.set_defaults(names=["groceries", "BMS-WebView-1", "BMS-WebView-2", "diabetes_icd9"])
    arguments = options.parse_args()
    print("data attack known attempts successes control allowed leak")
    for name, (path, tree) in files(arguments).items():
        data = sv.read(path, format="basket" if name == "groceries" else None)
        found = sv.attack(
            data, split=0.5, k=arguments.k, m=arguments.m, hierarchy=sv.read_hierarchy(tree), algorithm="aa",
            attacks=arguments.attacks,
        )  # fmt: skip
        for one in found["attacks"]:
            train, control = one["train"], one["control"]
            allowed = "-" if one["allowed"] is None else f"{one['allowed']:.2f}"
            print(
                name, one["kind"].replace(" ", "-"), one["m"] or "row", train["attempts"], train["successes"],
                f"{control['rate'] or 0:.4f}", allowed, one["leak"], flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
