"""k^m-anonymity by counting every subset of every row."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

Rows = Sequence[frozenset[str]]


def item_order(labels: Iterable[str]) -> list[str]:
    """SPEC §1: numeric if every label is an integer (equal numbers by text), else by code point."""
    labels = list(labels)
    if all(re.fullmatch(r"[+-]?[0-9]+", label, re.ASCII) for label in labels):
        return sorted(labels, key=lambda label: (int(label), label))
    return sorted(labels)


def supports(rows: Rows, m: float = math.inf) -> Counter[frozenset[str]]:
    """Support of every itemset of at most m items that occurs."""
    out: Counter[frozenset[str]] = Counter()
    for row in rows:
        for size in range(1, int(min(m, len(row))) + 1):
            out.update(frozenset(c) for c in combinations(row, size))
    return out


def violations(rows: Rows, k: int, m: float, order: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Itemsets of at most m items with support in (0, k): smaller ones first, then in item order."""
    rank = {label: i for i, label in enumerate(order)}
    found = [
        (tuple(sorted(itemset, key=rank.__getitem__)), support)
        for itemset, support in supports(rows, m).items()
        if support < k
    ]
    return sorted(found, key=lambda entry: (len(entry[0]), [rank[label] for label in entry[0]]))


def is_km(rows: Rows, k: int, m: float) -> bool:
    return all(support >= k for support in supports(rows, m).values())


def greatest_k(rows: Rows, m: float) -> int | None:
    """Greatest k for which k^m-anonymity holds; None if it holds for all."""
    return min(supports(rows, m).values(), default=None)


def greatest_m(rows: Rows, k: int) -> float:
    """Greatest m for which k^m-anonymity holds; inf if it holds for all."""
    sizes = [len(itemset) for itemset, support in supports(rows).items() if support < k]
    return min(sizes) - 1 if sizes else math.inf
