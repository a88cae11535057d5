"""The least supports of rows, and all supports counted, against lists of all itemsets."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from naive import itemsets as naive
from setveil.base.threads import use_threads
from setveil.judges.attacker import _sharded_search
from setveil.judges.attacker._least_supports import LeastSupportSearch, least_steps
from setveil.judges.attacker._revealing_pairs import revealed_rows
from setveil.judges.attacker._sharded_search import least_supports
from setveil.kernels.rows import Ranked, frozen
from strategies import examples, seeded
from weighted_rows import in_order, random_weighted


def rarest_first(rows: naive.Rows, n_ids: int) -> Ranked:
    supports = [naive.holding(rows, frozenset([item])) for item in range(n_ids)]
    return in_order(rows, sorted(range(n_ids), key=lambda item: (supports[item], item)))


def random_instance(rng: Random) -> tuple[naive.Rows, Ranked, int, list[int | None]]:
    n_ids = rng.randint(1, 12)
    rows = random_weighted(rng, n_ids, rng.choice((5, 60)), rng.randint(1, 7))
    m = rng.randint(1, 5)
    return rows, rarest_first(rows, n_ids), m, naive.least(rows, m)


def bounds(rng: Random, rows: naive.Rows, least: list[int | None]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the least supports, some of them reached."""
    n = sum(weight for _, weight in rows)
    pairs = [
        (rng.choice((0, weight, support or weight)), rng.choice((n, (support or n) + rng.randint(0, 2))))
        for (_, weight), support in zip(rows, least, strict=True)
    ]
    return np.array([low for low, _ in pairs], np.int64), np.array([high for _, high in pairs], np.int64)


def finish(search: LeastSupportSearch, at_once: int) -> int:
    pauses = 0
    while search.search(at_once):
        pauses += 1
    return pauses


def test_the_least_support_of_each_row() -> None:
    rng = seeded(41)
    pauses = 0
    for _ in range(examples(600, 60)):
        rows, ranked, m, least = random_instance(rng)
        floor, best = bounds(rng, rows, least)
        search = LeastSupportSearch(ranked, m, floor, best, 10**12)
        pauses += finish(search, rng.choice((1, 30, 10**9)))
        assert search.finished
        assert [b for b, one in zip(best.tolist(), least, strict=True) if one is not None] == [
            one for one in least if one is not None
        ]
    assert pauses


def test_all_supports_are_counted() -> None:
    rng = seeded(42)
    for _ in range(examples(500, 50)):
        rows, ranked, m, least = random_instance(rng)
        floor, best = bounds(rng, rows, least)
        limits = sorted({rng.randint(1, 9) for _ in range(3)})
        search = LeastSupportSearch(ranked, m, floor, best, 10**12, frozen(limits, np.int64))
        finish(search, rng.choice((1, 30, 10**9)))
        assert search.steps >= least_steps(ranked, m)
        assert all(one in (None, b) for b, one in zip(best.tolist(), least, strict=True))
        for length, tally in naive.tallies(rows, m, limits).items():
            assert search.below[:, length].tolist() == tally.below
            assert search.inverse[length] == pytest.approx(float(tally.inverse), rel=1e-12)


def test_a_search_that_gives_up_leaves_bounds() -> None:
    rng = seeded(43)
    gave_up = 0
    for _ in range(examples(300, 30)):
        rows, ranked, m, least = random_instance(rng)
        floor, best = bounds(rng, rows, least)
        at_first = best.copy()
        search = LeastSupportSearch(ranked, m, floor, best, rng.randint(1, 40))
        finish(search, rng.choice((1, 10**9)))
        assert search.finished or search.steps >= search.effort
        assert (best <= at_first).all()
        assert all(one is None or b >= one for b, one in zip(best.tolist(), least, strict=True))
        gave_up += not search.finished
    assert gave_up


def test_shards_find_the_same_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sharded_search, "WORTH", 1)
    rng = seeded(45)
    seen = set()
    for _ in range(examples(400, 60)):
        rows, ranked, m, least = random_instance(rng)
        floor, first = bounds(rng, rows, least)
        limits = (
            frozen(sorted({rng.randint(1, 9) for _ in range(3)}), np.int64) if rng.random() < 0.5 else None
        )
        effort = rng.choice((10**12, rng.randint(1, 15)))
        monkeypatch.setattr(_sharded_search, "SHARDS", rng.choice((1, 2, 32)))
        monkeypatch.setattr(_sharded_search, "TOGETHER", rng.choice((1, 2, 8)))
        answers = []
        for threads in (1, 2, 7):
            use_threads(threads)
            best = first.copy()
            answers.append((least_supports(ranked, m, floor, best, effort, lambda share: None, limits), best))
        found, best = answers[0]
        for other, theirs in answers[1:]:
            assert (found.finished, found.steps) == (other.finished, other.steps)
            assert found.below.tolist() == other.below.tolist()
            assert found.inverse.tolist() == other.inverse.tolist()
            assert best.tolist() == theirs.tolist()
        seen.add((found.finished, limits is None))
        assert found.finished or found.steps >= effort // 8 or not found.steps
        assert found.finished or effort < 10**12
        assert (best <= first).all()
        assert all(one is None or b >= one for b, one in zip(best.tolist(), least, strict=True))
        if not found.finished:
            continue
        assert all(one in (None, b) for b, one in zip(best.tolist(), least, strict=True))
        if limits is not None:
            for length, tally in naive.tallies(rows, m, limits.tolist()).items():
                assert found.below[:, length].tolist() == tally.below
                assert found.inverse[length] == pytest.approx(float(tally.inverse), rel=1e-12)
    assert len(seen) == 4


def test_a_search_that_is_hopeless_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take several times the effort; nearly all that would end are begun."""
    monkeypatch.setattr(_sharded_search, "WORTH", 1)
    monkeypatch.setattr(_sharded_search, "SHARDS", 1)
    rng = seeded(46)
    begun = []
    for _ in range(300):  # fewer say little of shares
        rows, ranked, m, least = random_instance(rng)
        floor, first = bounds(rng, rows, least)
        whole = least_supports(ranked, m, floor, first.copy(), 10**12, lambda share: None).steps
        effort = rng.choice((1, max(whole // 20, 1), whole + 1))
        found = least_supports(ranked, m, floor, first.copy(), effort, lambda share: None)
        begun.append((whole <= effort, bool(found.steps or found.finished)))
    assert begun.count((True, False)) < len(begun) / 20  # a few items reveal little about the others
    assert begun.count((False, False)) > len(begun) / 10


def test_rows_that_an_item_reveals() -> None:
    """Check rows revealed by an item alone, or by two items."""
    rng = seeded(44)
    for _ in range(examples(400, 40)):
        rows, ranked, m, _ = random_instance(rng)
        m, below, n = min(m, 2), rng.randint(1, 6), ranked.order.size
        ranks = {item: rank for rank, item in enumerate(ranked.order.tolist())}
        supports = naive.supports(rows, 2)
        single = frozen([supports[frozenset([item])] for item in ranked.order.tolist()], np.int64)
        out, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
        bounds = sorted([0, rng.randint(0, n), n])
        for first, last in pairwise(bounds):
            revealed_rows(*ranked[:5], single, below, m, first, last, count, out)
        minimal = [
            items
            for items, support in supports.items()
            if support < below and len(items) <= m and all(supports[x] >= below for x in naive.parts(items))
        ]
        for item, rank in ranks.items():
            with_it = [some for some in minimal if item in some]
            held = sum(weight for row, weight in rows if any(some <= row for some in with_it))
            assert out[rank] == held
        assert not count.any()
