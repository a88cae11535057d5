"""The search for classes: cuts by their definition, items suppressed to publish a class, whole searches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import log2
from random import Random

import numpy as np
import pytest

from naive.km import is_km
from setveil.base.progress import silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import frozen
from setveil.methods.algorithms.classes._parameters import Classes
from setveil.methods.algorithms.classes._search import ClassSearch
from setveil.methods.algorithms.classes._splitting import Piece, Splitting
from setveil.methods.algorithms.classes._telling import to_leave_out
from setveil.releases.published.classes import publish
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import enough, examples, transactions

Row = frozenset[str]
K, LEAST = 2, 2


def drawn(rng: Random, n: int, items: str = "abcdefgh") -> list[Row]:
    """Rows of two kinds, which hold items with chances of their own."""
    chances = [[rng.choice((0.02, 0.1, 0.3, 0.6)) for _ in items] for _ in range(2)]
    return [
        frozenset(
            item for item, p in zip(items, chances[rng.random() < 0.4], strict=True) if rng.random() < p
        )
        for _ in range(n)
    ]


# --- cuts


def entropy(holding: int, n: int) -> float:
    """Return the open bits about an item that `holding` of n rows contain."""
    return -sum(x * log2(x / n) for x in (holding, n - holding) if x)


def gain(rows: Sequence[Row], cut: str, least: int) -> float:
    """Return the information of a cut about other items that are in enough rows, by its definition."""
    sides = [[row for row in rows if (cut in row) is holds] for holds in (True, False)]
    total = 0.0
    for item in {x for row in rows for x in row} - {cut}:
        n = sum(item in row for row in rows)
        if n >= 2 * least:
            total += entropy(n, len(rows))
            total -= sum(entropy(sum(item in row for row in side), len(side)) for side in sides)
    return total


def splitting(rows: Sequence[Row], barred: str = "", k: int = K) -> Splitting:
    data = transactions(rows)
    names = data.vocabulary.labels
    held = np.array([name in barred for name in names], bool)
    return Splitting(data, held, np.ones(len(names), bool), k, LEAST)


def test_the_cut_of_greatest_gain_is_taken() -> None:
    rng, cut = Random(21), 0
    for _ in range(examples(200, 40)):
        rows = drawn(rng, rng.randint(10, 60))
        barred = rng.choice(("", "a", "ab"))
        found = splitting(rows, barred)
        names = found.data.vocabulary.labels
        size = rng.randint(4, max(4, len(rows) // 3))
        item, gained = found.best(Piece(frozen(np.arange(len(rows)), np.int64), ()), size)
        able = {}
        for name in set(names) - set(barred):
            sides = [[row for row in rows if (name in row) is holds] for holds in (True, False)]
            filled = sum(map(bool, sides[1]))
            if min(map(len, sides)) >= size and (not filled or filled >= K):
                able[name] = gain(rows, name, LEAST)
        most = max(able.values(), default=0.0)
        if most < 1e-3:  # none, or rounding decides
            assert item < 0 or gained <= 1 << 8
            continue
        assert item >= 0
        assert able[names[item]] == pytest.approx(most, abs=1e-2)
        assert gained / (1 << 16) == pytest.approx(most, abs=1e-2)
        cut += 1
    assert cut >= examples(200, 40) // 2


def test_rows_that_are_cut_lie_in_one_half_each() -> None:
    rows = drawn(Random(22), 80)
    found = splitting(rows)
    root = found.split(10, None, 0)
    pieces = list(root.classes())
    assert len(pieces) > 1
    assert sorted(np.concatenate([piece.rows for piece in pieces]).tolist()) == list(range(80))
    names = found.data.vocabulary.labels
    for piece in pieces:
        assert piece.rows.size >= 10
        for row in piece.rows.tolist():
            assert all((names[item] in rows[row]) is holds for item, holds in piece.cuts)
    assert len(list(found.split(10, 3, 0).classes())) == 3
    assert len(list(found.split(10, None, 1).classes())) == 1  # no cut determines all items


# --- items suppressed so that all classes can be published


def emptied(rows: Sequence[tuple[int, ...]], gone: Sequence[int]) -> int:
    return sum(not set(row) - set(gone) for row in rows)


def test_enough_rows_are_emptied_or_none_is() -> None:
    rng, impossible, changed = Random(23), 0, 0
    for _ in range(examples(2000, 300)):
        labels = range(rng.randint(1, 5))
        rows = [
            tuple(sorted(rng.sample(labels, rng.randint(0, min(3, len(labels))))))
            for _ in range(rng.randint(1, 12))
        ]
        prices = {label: rng.randint(0, 9) for label in labels if rng.random() < 0.8}
        least = rng.randint(1, 5)
        gone = to_leave_out(rows, prices, least)
        before = emptied(rows, [])
        enough_by_all = emptied(rows, list(prices)) >= least
        if not before or before >= least:
            assert gone == []
        elif gone is None:
            assert not enough_by_all
            impossible += 1
        else:
            assert enough_by_all
            assert set(gone) <= set(prices)
            assert emptied(rows, gone) >= least
            cheapest = min(
                sum(prices[x] for x in some)
                for size in range(len(prices) + 1)
                for some in combinations(prices, size)
                if emptied(rows, some) >= least
            )
            assert sum(prices[x] for x in gone) >= cheapest
            changed += 1
    assert impossible
    assert changed


def test_the_cheapest_label_for_a_row_goes_first() -> None:
    rows = [(), (0,), (1,), (1,), (1,), (0, 1)]
    assert to_leave_out(rows, {0: 5, 1: 12}, 4) == [1]  # 4 for a row, 0 costs 5
    assert to_leave_out(rows, {0: 3, 1: 12}, 2) == [0]
    assert to_leave_out(rows, {0: 3}, 4) is None
    assert to_leave_out([(), (0, 1, 2)], {0: 1, 1: 1, 2: 1}, 2) == [0, 1, 2]


# --- whole searches


@pytest.mark.exhaustive
def test_classes_keep_the_promise_whatever_else_they_leave_out() -> None:
    rng, n_tables = Random(24), 0
    tree = Hierarchy.from_paths([[x, "low" if x < "e" else "high", "all"] for x in "abcdefgh"])
    promise = KmAnonymity(3, 2)
    for _ in range(enough(30)):
        rows = drawn(rng, rng.randint(60, 120))
        data = transactions(rows)
        search = ClassSearch(data, tree, promise, Classes(classes=True, class_size=12), silent)
        recoding, details = search.run()
        release = publish(data, recoding, 0, {}, 3)
        shown = [frozenset(row) for row in release.published.rows()]
        for c in range(recoding.number):
            own = [row for row, at in zip(shown, release.classes.tolist(), strict=True) if at == c]
            assert len(own) >= 3
            assert is_km(own, 3, 2)
        assert details["optimality"]["lower_bound"] <= details["optimality"]["loss"]
        tried = [one for one in search.solver.known.values() if one is not None and one.published is not None]
        for one in tried:
            assert one.published is not None
            assert one.published.cost >= one.cost
            assert (one.published.nodes[one.nodes < 0] < 0).all()
        n_tables += len(tried)
    assert n_tables
