"""The cost of a guarantee that an item known to be absent singles nobody out either.

    python benchmarks/absent.py [--k 5] [--limit 120] [--readings] [NAME ...]

Each data set is released by `exact` twice for each m: for known items (`plain`), and for known items and an
item that the person is known not to have (`absent`). `gap` is the distance to the least loss (LM) if the time
limit ended the search. `below` counts the rows of the plain release that an attacker with such knowledge
finds among fewer than k. `labels` counts the labels of both releases, `pairs` the violations in each if
labels are read as absent. The seconds are those of both searches, one after the other, in one process.

Instead, `--readings` prints figures of the plain release of m = 2: the rows found among fewer than k by an
attacker who knows up to m items and one absent item, or up to m labels and one absent label; then, for each
m, the pairs with fewer than k rows, and the fewest rows.
"""

from __future__ import annotations

import time
from typing import Any

import setveil as sv
from runs import files, parser


def main() -> None:
    """Print the table."""
    options = parser("The price of a promise about absent items.")
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--limit", type=float, default=120, help="seconds of one search")
    options.add_argument("--readings", action="store_true")
    options.set_defaults(names=["groceries", "BMS-WebView-1", "BMS-WebView-2", "diabetes_icd9"])
    arguments = options.parse_args()
    if arguments.readings:
        print("data reading m=1 m=2 rows pairs fewest pairs fewest")
        for name, (path, tree) in files(arguments).items():
            release = sv.anonymize(sv.read(path), k=arguments.k, m=2, hierarchy=sv.read_hierarchy(tree))
            for reading in ("items", "labels"):
                risk = sv.risk(release, m=[1, 2], absent=1, absence=reading, thresholds=[arguments.k])
                below = [one["rows_below"][str(arguments.k)] for one in risk["absence"]["entries"]]
                verdicts: list[Any] = [
                    sv.verify(release, sv.KmAnonymity(arguments.k, m), absent=1, absence=reading)
                    for m in (1, 2)
                ]
                pairs = [number for one in verdicts for number in (one.violations, one.greatest_k)]
                print(name, reading, *below, release.published.n_rows, *pairs, flush=True)
        return
    print(
        f"{'data':<14} {'m':>2} {'plain':>7} {'absent':>7} {'gap':>6} {'below':>6} {'labels':>9} "
        f"{'pairs':>13} {'seconds':>13}"
    )
    for name, (path, tree) in files(arguments).items():
        data, hierarchy = sv.read(path), sv.read_hierarchy(tree)
        for m in (1, 2):
            found = []
            for absent in (0, 1):
                begun = time.perf_counter()
                release = sv.anonymize(
                    data, sv.KmAnonymity(arguments.k, m, absent), hierarchy=hierarchy,
                    time_limit=arguments.limit,
                )  # fmt: skip
                found.append((release, time.perf_counter() - begun))
            (plain, first), (promised, second) = found
            best = promised.report["optimality"]
            gap = "proven" if best["proven"] else f"{best['gap']:.2%}"
            risk = sv.risk(plain, m=m, absent=1, thresholds=[arguments.k])["absence"]["entries"][-1]
            labels = [one.utility["published_labels"] for one in (plain, promised)]
            pairs = [
                sv.verify(one, sv.KmAnonymity(arguments.k, m), absent=1, absence="labels").violations
                for one in (plain, promised)
            ]
            print(
                f"{name:<14} {m:>2} {plain.report['optimality']['loss']:>7.4f} {best['loss']:>7.4f} {gap:>6} "
                f"{risk['rows_below'][str(arguments.k)]:>6,} {labels[0]:>4} {labels[1]:>4} {pairs[0]:>6} "
                f"{pairs[1]:>6} {first:>6.1f} {second:>6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
