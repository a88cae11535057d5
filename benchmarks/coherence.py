"""MM and border on real data: suppression, nuggets kept, seconds, memory.

    python benchmarks/coherence.py [--data FOLDER] [--share 0.05] [--seed 0] [NAME ...]

The private items are drawn (seeded) among those in at most a fifth of the rows, so that every h here can be
reached. Every run is a process of its own with compiled kernels. Seconds are CPU seconds of the algorithm
alone, without reading, writing and verifying; the release is verified nevertheless.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions

DATA = {
    "BMS-WebView-1": "bms_webview1.dat",
    "BMS-WebView-2": "bms_webview2.dat",
    "groceries": "groceries.csv",
    "diabetes_icd9": "diabetes_icd9.dat",
    "retail": "retail.dat",
}
HS, KS, PS = ("0.2", "0.4", "0.8"), (5, 10, 50), ("2", "3", "4", "6")


def private_items(data: Transactions, share: float, seed: int) -> list[str]:
    """Draw a share of the items, among those in at most a fifth of the rows."""
    supports = data.supports().tolist()
    pool = [x for x, n in zip(data.vocabulary.labels, supports, strict=True) if 5 * n <= data.n_rows]
    return random.Random(seed).sample(pool, round(share * data.n_items))  # noqa: S311


def one(
    path: str, algorithm: str, h: str, k: int, p: str, k_nugget: int, p_nugget: str, share: float, seed: int
) -> dict[str, Any]:
    """Run one algorithm once, in this process."""
    from setveil.judges.guarantees.coherence import Coherence
    from setveil.judges.guarantees.verify.coherence import verify_coherence
    from setveil.judges.utility.itemsets import surviving_itemsets
    from setveil.methods import algorithms
    from setveil.releases.published import publish
    from setveil.rows.data.io.rows import read

    data = read(path)
    supports = data.supports().tolist()
    private = private_items(data, share, seed)
    guarantee = Coherence(h, k, math.inf if p == "inf" else int(p), private)
    module = algorithms.load(algorithm)
    # The kernels are loaded from their cache by a run that does not count.
    small = Coherence(h, 2, 3, private[:1])
    tiny = type(data).from_rows(
        [["a", "b", private[0]], ["a", "b", "c"], ["b", "c"], ["a", "c"], ["a"], ["b"]]
    )
    if float(h) > 1 / 6:
        module.anonymize(tiny, None, small)
    nuggets = {"k_nugget": k_nugget, "p_nugget": math.inf if p_nugget == "inf" else int(p_nugget)}
    longest = None if p_nugget == "inf" else int(p_nugget)
    parameters = module.Parameters(**({} if algorithm == "mm" else nuggets))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    recoding, details = module.anonymize(data, None, guarantee, parameters)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    suppressed = set(details["suppressed"])
    release = publish(data, recoding, seed=0)
    start = time.process_time()
    holds = verify_coherence(release.published, guarantee).holds
    verify = time.process_time() - start
    # Lengths are counted separately up to three items: counting nuggets of any length costs as much as a run,
    # and border counts those of the original anyway.
    few = min(3, longest or 3)
    found = surviving_itemsets(data, release.published, k_nugget, max_length=few, private=private)
    published = release.published
    kept = surviving_itemsets(published, published, k_nugget, max_length=longest)["frequent"]
    return {
        "holds": holds and found["supports_unchanged"],
        "items": len(suppressed),
        "public": data.n_items - len(private),
        "occurrences": sum(
            n for x, n in zip(data.vocabulary.labels, supports, strict=True) if x in suppressed
        )
        / data.n_occurrences,
        "nuggets": details.get("counted_nuggets"),
        "kept": kept,
        "triples": [found["frequent"], found["kept"]],
        "rules": found["rules"],
        "rules_kept": found["rules_kept"],
        "seconds": seconds,
        "cpu": cpu,
        "verify": verify,
        "mb": memory // 1024,
        "before": before // 1024,
    }


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="MM against border on real data.")
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DATA)}; by default all")
    options.add_argument("--data", type=Path, default=None)
    options.add_argument("--share", type=float, default=0.05, help="share of the items that are private")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--h", nargs="*", default=HS)
    options.add_argument("--k", nargs="*", type=int, default=KS)
    options.add_argument("--p", nargs="*", default=PS)
    options.add_argument("--k-nugget", type=int, help="by default k")
    options.add_argument("--p-nugget", default="inf")
    options.add_argument("--time-limit", type=float, default=600)
    options.add_argument("--one", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.one:
        print(json.dumps(one(**json.loads(arguments.one))))
        return
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = arguments.data or Path(os.environ.get("SETVEIL_DATA", shared))
    print(
        f"{'data':<14} {'h':>3} {'k':>2} {'p':>3} {'algorithm':<9} {'holds':<5} {'items':>12}"
        f" {'occurr.':>7} {'nuggets kept':>22} {'up to 3 items':>15} {'their rules':>15}"
        f" {'cpu s':>6} {'verify':>6} {'MB':>5}"
    )
    for name in arguments.names or DATA:
        for k in arguments.k:
            for p in arguments.p:
                for h in arguments.h:
                    nuggets = None
                    for algorithm in ("border", "mm"):
                        task = {
                            "path": str(folder / DATA[name]), "algorithm": algorithm, "h": h, "k": k, "p": p,
                            "k_nugget": arguments.k_nugget or k, "p_nugget": arguments.p_nugget,
                            "share": arguments.share, "seed": arguments.seed,
                        }  # fmt: skip
                        line = f"{name:<14} {h:>3} {k:>2} {p:>3} {algorithm:<9} "
                        try:
                            done = subprocess.run(
                                [sys.executable, __file__, "--one", json.dumps(task)],
                                check=True, capture_output=True, text=True, timeout=arguments.time_limit,
                            )  # fmt: skip
                        except subprocess.TimeoutExpired:
                            print(f"{line}stopped after {arguments.time_limit:g} s", flush=True)
                            continue
                        except subprocess.CalledProcessError as error:
                            print(f"{line}{error.stderr.strip().splitlines()[-1]}", flush=True)
                            continue
                        r = json.loads(done.stdout)
                        few, kept = r["triples"]
                        nuggets = r["nuggets"] or nuggets
                        share = f"{r['kept'] / max(nuggets, 1):>8.2%}" if nuggets is not None else "?"
                        print(
                            f"{line}{r['holds']!s:<5}"
                            f" {r['items']:>5} of {r['public']:>5} {r['occurrences']:>6.1%}"
                            f" {r['kept']:>10.5g} ({share:>8})"
                            f" {kept:>6} ({kept / max(few, 1):>5.1%})"
                            f" {r['rules_kept']:>6.4g} of {r['rules']:<6.4g}"
                            f" {r['cpu']:>6.2f} {r['verify']:>6.2f} {r['mb']:>5}",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
