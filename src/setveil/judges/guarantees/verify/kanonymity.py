"""Check that every published row occurs k times, by counting the bytes of rows in a dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.kanonymity import TransactionalKAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.rows.data.transactions import Transactions

CHUNK = 200_000  # rows counted between two reports of progress


@dataclass(frozen=True, repr=False)
class KAnonymityVerdict(Verdict):
    """The verdict on k-anonymity."""

    guarantee: TransactionalKAnonymity
    holds: bool
    violations: int  # distinct rows that occur fewer than k times
    first: tuple[tuple[tuple[str, ...], int], ...]  # (row, count): rows of fewer items first, then item order
    # how often the rarest row occurs (1: for no k of at least 2); None without rows: every k holds
    greatest_k: int | None

    def found(self) -> dict[str, Any]:
        """Return the greatest k."""
        return {"greatest_k": self.greatest_k}

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [{"itemset": list(row), "support": count} for row, count in self.first]


def verify_kanonymity(
    published: Transactions,
    guarantee: TransactionalKAnonymity,
    *,
    show: int = 10,
    progress: Progress = silent,
) -> KAnonymityVerdict:
    """Check transactional k-anonymity of published labels; rows without items count like any other."""
    items = np.ascontiguousarray(published.items, ">i4").tobytes()  # big-endian: bytes sort like the rows
    bounds = (4 * published.indptr).tolist()
    counts: dict[bytes, int] = {}
    n = published.n_rows
    for begin in range(0, n, CHUNK):
        progress("verifying rows", begin / n)
        for row in range(begin, min(begin + CHUNK, n)):
            key = items[bounds[row] : bounds[row + 1]]
            counts[key] = counts.get(key, 0) + 1

    rare = [key for key, count in counts.items() if count < guarantee.k]
    labels = published.vocabulary.labels
    first = tuple(
        (tuple(labels[item] for item in np.frombuffer(key, ">i4")), counts[key])
        for key in nsmallest(show, rare, key=lambda key: (len(key), key))
    )
    return KAnonymityVerdict(guarantee, not rare, len(rare), first, min(counts.values(), default=None))
