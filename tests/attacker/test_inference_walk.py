"""Inference of private items from itemsets, compared with a list of all itemsets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations
from random import Random

import numpy as np

from naive import itemsets as naive
from setveil.judges.attacker._inference_walk import NEVER, SIZE, SUPPORT, Greatest, InferenceSearch
from setveil.judges.attacker.knowledge import Secrets
from setveil.kernels.rows import frozen
from strategies import examples, seeded
from weighted_rows import in_order, random_weighted

MARKS = (0.0, 0.25, 0.5, 0.8)

NAMES = 4
Entry = tuple[Fraction, int, int, tuple[int, ...]]  # -probability, size, -support, itemset


@dataclass(frozen=True)
class Instance:
    """Rows of public items, and for each the shares of its private items, times `whole`."""

    rows: naive.Rows
    n_ids: int
    shares: list[dict[int, int]]
    whole: int

    @property
    def secrets(self) -> Secrets:
        flat = [sorted(of_row.items()) for of_row in self.shares]
        return Secrets(
            frozen([0, *accumulate(map(len, flat))], np.int64),
            frozen([item for of_row in flat for item, _ in of_row], np.int32),
            frozen([share for of_row in flat for _, share in of_row], np.int64),
            self.whole,
        )

    def learned(self, items: naive.Itemset) -> naive.Learned:
        return naive.learned(self.rows, self.shares, self.whole, items)

    def itemsets(self, size: int) -> set[naive.Itemset]:
        return {frozenset(some) for row, _ in self.rows for some in combinations(sorted(row), size)}


def random_instance(rng: Random) -> Instance:
    n_ids, whole = rng.randint(1, 9), rng.choice((1, 1, 12))
    rows = random_weighted(rng, n_ids, rng.choice((6, 40)), rng.randint(1, 6))
    names = range(rng.randint(1, NAMES))
    density = rng.choice((0.1, 0.4))
    shares = [
        {name: rng.randint(1, weight * whole) for name in names if rng.random() < density}
        for _, weight in rows
    ]
    return Instance(rows, n_ids, shares, whole)


def test_the_greatest_probability_and_who_is_above_a_mark() -> None:
    """For any sizes one after the other, however often the search pauses."""
    rng = seeded(51)
    pauses = found = 0
    for _ in range(examples(600, 60)):
        instance = random_instance(rng)
        if not instance.rows:
            continue
        supports = naive.supports(instance.rows, 1)
        order = sorted(range(instance.n_ids), key=lambda item: (supports[frozenset([item])], item))
        ranked = in_order(instance.rows, order)
        marks = frozen(MARKS, np.float64)
        above = np.full((len(instance.rows), len(MARKS)), NEVER, np.int64)
        nobody = instance.learned(frozenset())
        at_first = [nobody.probabilities.get(name, Fraction(0)) for name in range(NAMES)]
        greatest = Greatest(
            np.array([float(probability) for probability in at_first]),
            np.array([[0, nobody.support]] * NAMES, np.int64),
            np.zeros((NAMES, 5), np.int64),
        )
        best: list[Entry] = [(-probability, 0, -nobody.support, ()) for probability in at_first]
        smallest: dict[tuple[int, int], int] = {}
        for m in sorted(rng.sample(range(1, 6), rng.randint(1, 5))):
            search = InferenceSearch(ranked, instance.secrets, m, marks, above, greatest, 10**12)
            at_once = rng.choice((1, 30, 10**9))
            while search.search(at_once):
                pauses += 1
            assert search.finished
            for items in instance.itemsets(m):
                shown = instance.learned(items)
                for name, probability in shown.probabilities.items():
                    best[name] = min(best[name], (-probability, m, -shown.support, tuple(sorted(items))))
                for i, (row, _) in enumerate(instance.rows):
                    for h, mark in enumerate(MARKS):
                        if items <= row and shown.greatest > Fraction(str(mark)):
                            smallest.setdefault((i, h), m)
            for name, (probability, size, support, itemset) in enumerate(best):
                assert greatest.probability[name] == float(-probability)
                assert greatest.record[name, SIZE] == size
                assert greatest.record[name, SUPPORT] == -support
                assert tuple(greatest.itemset[name, :size].tolist()) == itemset
            expected = [
                [smallest.get((i, h), NEVER) for h in range(len(MARKS))] for i in range(len(instance.rows))
            ]
            assert above.tolist() == expected
            found += len(smallest)
    assert pauses
    assert found
