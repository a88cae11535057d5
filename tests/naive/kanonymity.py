"""Transactional k-anonymity by counting rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from naive.km import Rows


def is_k_anonymous(rows: Rows, k: int) -> bool:
    return all(rows.count(row) >= k for row in rows)


def violations(rows: Rows, k: int, order: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Distinct rows that occur fewer than k times: shorter ones first, then in item order."""
    found = [
        (tuple(sorted(row, key=order.index)), count) for row, count in Counter(rows).items() if count < k
    ]
    return sorted(found, key=lambda entry: (len(entry[0]), [order.index(label) for label in entry[0]]))


def greatest_k(rows: Rows) -> int | None:
    """Greatest k for which k-anonymity holds; None if it holds for all."""
    return min((rows.count(row) for row in rows), default=None)


def is_feasible(rows: Rows, k: int) -> bool:
    """Return whether publishing one label for everything is k-anonymous: nothing hides rows better."""
    return is_k_anonymous([frozenset({"*"} if row else ()) for row in rows], k)
