"""The loss when the labels of one half of the rows are applied to the other, unchanged and coarsened.

    python benchmarks/apply.py [--k 5] [--m 2] [--data FOLDER] [NAME ...]

The rows are drawn into halves (seeded); `exact` releases the first. `broken` counts the sets of labels that
violate the guarantee in the second half under the labels of the first. `labels` counts the labels of the
first half, then those after the repair and the unchanged ones among them. `concerned` is the share of the
occurrences whose label the repair changed. Then follow LM of the first half, of the second as repaired and as
released by itself, and whether all three are proven.
"""

from __future__ import annotations

import numpy as np

import setveil as sv
from runs import files, parser


def main() -> None:
    """Print the table."""
    options = parser("The labels of one half on the other half.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    options.set_defaults(names=["groceries", "BMS-WebView-1", "BMS-WebView-2", "diabetes_icd9"])
    arguments = options.parse_args()
    promise = sv.KmAnonymity(arguments.k, arguments.m)
    print("data rows labels broken labels as-before concerned LM LM LM proven")
    for name, (path, tree) in files(arguments).items():
        hierarchy, rows = sv.read_hierarchy(tree), list(sv.read(path).rows())
        order = np.random.default_rng(0).permutation(len(rows))
        first, second = (
            sv.Transactions.from_rows([rows[at] for at in np.sort(half).tolist()])
            for half in (order[: len(rows) // 2], order[len(rows) // 2 :])
        )
        earlier = sv.anonymize(first, promise, hierarchy=hierarchy)
        broken = sv.verify(earlier.recoding.recoded(second), promise).violations
        repaired = sv.apply(earlier, second, hierarchy=hierarchy, repair=True, people="other")
        alone = sv.anonymize(second, promise, hierarchy=hierarchy)
        before, after = ({label for row in one.published for label in row} for one in (earlier, repaired))
        changed = sum(one["occurrences"] for one in repaired.report["applied"]["changes"])
        three = earlier, repaired, alone
        proven = all(one.report["optimality"]["proven"] for one in three if "optimality" in one.report)
        print(
            name, second.n_rows, len(before), broken, len(after), len(before & after),
            f"{changed / second.n_occurrences:.4f}", *(f"{one.utility['lm']:.4f}" for one in three), proven,
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
