"""The attacker's view of the real data: seconds, unique rows, and whether they were counted or sampled.

    python benchmarks/risk.py [--effort STEPS] [--private-share 0.05] [--data FOLDER] [NAME ...]

For each data set and m: rows that are found by their m most revealing items (uniquely, among fewer than 5,
among fewer than 10), and the same for m random items; "~" marks estimates. Each m is measured by itself, so
its seconds include all that it needs, in this process and with compiled kernels. A share of the items in at
most a fifth of the rows can be made private; then the greatest probability of inferring one is also shown.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import setveil as sv
from runs import DATA, data_folder
from setveil.rows.data.transactions import Transactions

FILES = {name: rows for name, (rows, _) in DATA.items()} | {"retail": "retail.dat", "msnbc": "msnbc.dat"}
COLUMNS: dict[str, dict[str, Any]] = {"instacart": {"id_column": "order_id", "item_column": "product_id"}}
SIZES = (1, 2, 3, 4)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="Attack risk of the real data.")
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FILES)}; by default all")
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    options.add_argument("--effort", type=int, default=None)
    options.add_argument("--private-share", type=float, default=0.0)
    arguments = options.parse_args()
    unknown = sorted(set(arguments.names) - set(FILES))
    if unknown:
        options.error(f"There is no data set {', '.join(unknown)}; there are {', '.join(FILES)}.")
    folder = data_folder(arguments.data)
    sv.risk(Transactions.from_rows([["a", "b", "c"], ["b"]]), private=["c"])  # compiles
    print(
        f"{'data':<14} {'m':>2} {'seconds':>8} {'alone':>9} {'< 5':>9} {'< 10':>9} "
        f"{'alone*':>10} {'< 5*':>10} {'< 10*':>10} {'greatest':>9} {'peak MB':>8}    (*: picked at random)"
    )
    for name in arguments.names or FILES:
        data = sv.read(folder / FILES[name], **COLUMNS.get(name, {}))
        private = _some_items(data, arguments.private_share)
        for m in SIZES:
            start = time.perf_counter()
            found = sv.risk(data, m=m, private=private, effort=arguments.effort)
            seconds = time.perf_counter() - start
            best, drawn = found["risk"]
            inference = found.get("inference", [None])[0]
            print(
                f"{name:<14} {m:>2} {seconds:>8.2f} {_cells(best, 9, 0)} {_cells(drawn, 10, 1)} "
                f"{'' if inference is None else _greatest(inference):>9} "
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:>8}",
                flush=True,
            )


def _some_items(data: Transactions, share: float) -> list[str]:
    supports = data.supports()
    possible = np.flatnonzero((supports > 0) & (supports * 5 <= data.n_rows))
    keys = np.random.PCG64(0).random_raw(possible.size)
    drawn = possible[np.argsort(keys, kind="stable")[: round(share * possible.size)]]
    return [data.vocabulary.labels[item] for item in np.sort(drawn).tolist()]


def _cells(entry: dict[str, Any], width: int, digits: int) -> str:
    mark = "" if entry["exact"] else "~"
    return " ".join(f"{f'{mark}{number:,.{digits}f}':>{width}}" for number in entry["rows_below"].values())


def _greatest(entry: dict[str, Any]) -> str:
    return f"{'' if entry['exact'] else '>= '}{entry['probability']:.3f}"


if __name__ == "__main__":
    main()
