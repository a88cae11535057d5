"""Time the verification of a large table: python benchmarks/verify_tables.py [--rows N] [--m M].

A table of five quasi-identifiers and ten of a thousand codes in each row: once (k,k^m)-anonymous, k copies of
every row in its class, and once with single codes exchanged in some rows, which violates the guarantee.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np

from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.judges.guarantees.verify import verify
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.tables.table import TextColumn

CODES, PER_ROW, VALUES = 1000, 10, (6, 2, 8, 5, 4)


def table(n_rows: int, k: int, seed: int, *, broken: bool) -> PublishedTable:
    """Make a table of blocks of k equal rows, in random order; `broken`: 1 row in 1,000 differs."""
    rng = np.random.default_rng(seed)
    blocks = -(-n_rows // k)
    each = CODES // PER_ROW  # ten codes, one of each hundred
    codes = rng.integers(0, each, (blocks, PER_ROW)) + np.arange(PER_ROW) * each
    items = np.repeat(codes, k, axis=0)[:n_rows].astype(np.int32)
    values = [np.repeat(rng.integers(0, n, blocks), k)[:n_rows] for n in VALUES]
    order = rng.permutation(n_rows)
    items = items[order]
    if broken:
        some = rng.choice(n_rows, max(n_rows // 1000, 1), replace=False)
        items[some, 0] = np.where(items[some, 0] > 0, items[some, 0] - 1, 0)
    labels = item_order([f"c{i:04}" for i in range(CODES)])
    sets = Transactions(np.arange(n_rows + 1, dtype=np.int64) * PER_ROW, items.ravel(), Vocabulary(labels))
    columns = tuple(
        TextColumn(f"q{i}", column[order].astype(np.int32), tuple(map(str, range(n))))
        for i, (column, n) in enumerate(zip(values, VALUES, strict=True))
    )
    outcome = TextColumn("outcome", rng.integers(0, 20, n_rows).astype(np.int32), tuple(map(str, range(20))))
    return PublishedTable(columns, sets, (outcome,))


def main() -> None:
    """Verify and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--m", type=int, default=2)
    arguments = options.parse_args()
    warm = table(1000, arguments.k, 0, broken=True)
    promises: list[Guarantee] = [
        KKmAnonymity(arguments.k, arguments.m),
        KKmAnonymity(arguments.k, arguments.m, ("outcome",), "90%", 1),
        MixedKmAnonymity(arguments.k, arguments.m),
    ]
    for promise in promises:
        verify(warm, promise)
    for broken in (False, True):
        published = table(arguments.rows, arguments.k, 1, broken=broken)
        for promise in promises:
            start = time.perf_counter()
            verdict = verify(published, promise)
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(json.dumps({
                "rows": arguments.rows, "broken": broken, "promise": promise.phrase, "holds": verdict.holds,
                "violations": verdict.violations, **verdict.found(), "seconds": round(seconds, 1),
                "peak_mib": round(peak),
            }))  # fmt: skip


if __name__ == "__main__":
    main()
