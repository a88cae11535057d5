"""Families of itemsets, counted and not listed, compared with lists of them."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from setveil.kernels import itemset_counts
from setveil.kernels.itemset_counts import ItemsetFamily
from setveil.kernels.rows import distinct_rows, frozen
from strategies import examples, seeded


@pytest.mark.parametrize("small", [1, 1 << 36])
def test_families_are_counted_as_listed(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without forbidden sets, in one limb and in many, also after items are dropped."""
    monkeypatch.setattr(itemset_counts, "SMALL", small)
    rng = seeded(6)
    for _ in range(examples(250, 80)):
        n = rng.randint(1, 11)
        density = rng.choice([0.2, 0.5, 0.8, 0.9])
        rows = [
            frozenset(i for i in range(n) if rng.random() < density)
            for _ in range(rng.choice([0, 1, 5, 20, 40]))
        ]
        threshold, largest = rng.choice([1, 1, 2, 4]), rng.choice([1, 2, 3, 4, math.inf])
        forbidden = {
            tuple(sorted(rng.sample(range(n), min(n, rng.choice([1, 2, 2, 3, 3, 4])))))
            for _ in range(rng.choice([0, 0, 1, 4, 8]))
        }
        monkeypatch.setattr(itemset_counts, "STEPS_AT_ONCE", rng.choice([1, 30, 10**8]))
        listed = Counter(
            c for row in rows for size in range(1, int(min(largest, len(row))) + 1)
            for c in combinations(sorted(row), size)
        )  # fmt: skip
        sets = [
            set(c) for c, times in listed.items()
            if times >= threshold and not any(set(f) <= set(c) for f in forbidden)
        ]  # fmt: skip
        indptr = frozen(np.cumsum([0, *map(len, rows)]), np.int64)
        items = frozen(np.array([x for row in rows for x in sorted(row)], np.int32), np.int32)
        family = ItemsetFamily(*distinct_rows(indptr, items), n, threshold, largest, sorted(forbidden))
        total, counts = family.counts()
        assert total == len(sets)
        assert counts.tolist() == [sum(v in c for c in sets) for v in range(n)]
        for v in rng.sample(range(n), n):
            total, others, both = family.holding(v)
            with_v = [c for c in sets if v in c]
            assert total == len(with_v)
            found = dict(zip(others.tolist(), both.tolist(), strict=True))
            assert {y: t for y, t in found.items() if t} == {
                y: t for y in range(n) if y != v and (t := sum(y in c for c in with_v))
            }
            assert set(family.beside(v).tolist()) >= {y for c in with_v for y in c if y != v and largest > 1}
            family.drop(v)
            sets = [c for c in sets if v not in c]
