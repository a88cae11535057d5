"""The table of all pairs: what it counts, and that answers are the same with it as without."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest

from setveil.judges.attacker.attack import attack_risk
from setveil.judges.utility.greatest import most_frequent_pairs
from setveil.kernels.count import cell_offsets
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine import pairs
from strategies import examples, seeded


def drawn(rng: Random) -> list[list[str]]:
    items = [str(x) for x in range(rng.randint(1, 9))]
    return [rng.sample(items, rng.randint(0, len(items))) for _ in range(rng.randint(1, 40))]


def test_each_pair_is_counted() -> None:
    rng, kept = seeded(31), 0
    for _ in range(examples(100, 20)):
        rows = drawn(rng)
        data = Transactions.from_rows(rows)
        labels, order = (
            data.vocabulary.labels,
            np.array(rng.sample(range(data.n_items), data.n_items), np.int64),
        )
        counted = Counter(frozenset(pair) for row in rows for pair in combinations(set(row), 2))
        offsets = cell_offsets(data.n_items, 2)
        table = pairs.pair_table(data)
        again = pairs.reordered(table, order)
        for low, high in combinations(range(data.n_items), 2):
            assert table[low + offsets[1, high]] == counted[frozenset((labels[low], labels[high]))]
            assert again[low + offsets[1, high]] == counted[frozenset(labels[order[x]] for x in (low, high))]
        assert pairs.is_counted(data) == (pairs.pair_table(data) is table)
        kept += pairs.is_counted(data)
    assert 0 < kept < examples(100, 20)


def test_answers_are_the_same_without_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, used = seeded(32), 0
    for _ in range(examples(60, 15)):
        rows = drawn(rng)
        with_table, without = Transactions.from_rows(rows), Transactions.from_rows(rows)
        found = attack_risk(with_table), most_frequent_pairs(with_table, 5)
        used += pairs.is_counted(with_table)
        with monkeypatch.context() as patched:
            patched.setattr(pairs, "MOST_STEPS", -1)
            assert found == (attack_risk(without), most_frequent_pairs(without, 5))
            assert not pairs.is_counted(without)
    assert used
