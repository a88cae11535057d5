"""Counting all sets of a size, against counting them one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from math import comb
from random import Random

import numpy as np
import pytest

from setveil.base.sorting import SHORT
from setveil.kernels.count import (
    MOST_CELLS,
    cell_offsets,
    count_into,
    empty_table,
    fits,
    keep_rare,
    mark_rare,
    next_rare,
    number_rows,
    work_by_greatest,
)
from setveil.kernels.rows import Ids, Ints, frozen
from strategies import examples, seeded

SIZES = pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
Rows = list[list[int]]


def held(rows: Rows) -> tuple[Ints, Ids]:
    return (
        frozen(np.cumsum([0, *map(len, rows)]), np.int64),
        frozen([x for row in rows for x in row], np.int32),
    )


def draw_rows(rng: Random, n: int) -> Rows:
    most = rng.randint(0, n)
    return [sorted(rng.sample(range(n), rng.randint(0, most))) for _ in range(rng.randint(0, 12))]


def counted(rows: Rows, weights: list[int], size: int) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        for some in combinations(row, size):
            found[some] += weight
    return found


def cell(some: tuple[int, ...]) -> int:
    return sum(comb(x, j) for j, x in enumerate(some, 1))


@SIZES
def test_every_set_has_a_cell_of_its_own(size: int) -> None:
    n = 8
    offsets = cell_offsets(n, size)
    cells = [sum(int(offsets[j, x]) for j, x in enumerate(some)) for some in combinations(range(n), size)]
    assert sorted(cells) == list(range(comb(n, size))) == list(range(empty_table(n, size).size))
    assert cells == [cell(some) for some in combinations(range(n), size)]


def test_tables_larger_than_the_limit_do_not_fit() -> None:
    n = next(n for n in range(10, 10**6) if comb(n, 2) > MOST_CELLS)
    assert fits(n - 1, 2)
    assert not fits(n, 2)


@SIZES
def test_counts(size: int) -> None:
    rng = seeded(1700 + size)
    for _ in range(examples(60, 20)):
        n = rng.randint(0, 9)
        rows = draw_rows(rng, n)
        weights = [1] * len(rows) if rng.random() < 0.5 else [rng.randint(1, 5) for _ in rows]
        frozen_weights = frozen(weights if set(weights) - {1} else [], np.int64)
        offsets, table, work = cell_offsets(n, size), empty_table(n, size), np.zeros(n, np.int64)
        some = sorted(rng.randint(0, n) for _ in range(rng.randint(0, 3)))
        for low, high in pairwise([0, *some, n]):
            count_into(*held(rows), frozen_weights, offsets, low, high, table)
        work_by_greatest(*held(rows), offsets, work)
        expected = counted(rows, weights, size)
        assert table.tolist() == [expected[found] for found in sorted(combinations(range(n), size), key=cell)]
        ways = counted(rows, [1] * len(rows), size)
        assert work.tolist() == [sum(ways[x] for x in ways if x[-1] == v) for v in range(n)]


@SIZES
def test_rare_sets(size: int) -> None:
    rng = seeded(1710 + size)
    for _ in range(examples(60, 20)):
        n, k = rng.randint(0, 9), rng.randint(1, 4)
        rows = draw_rows(rng, n)
        supports = counted(rows, [1] * len(rows), size)
        offsets, table = cell_offsets(n, size), empty_table(n, size)
        count_into(*held(rows), frozen([], np.int64), offsets, 0, n, table)
        rare = {found for found, have in supports.items() if have < k}

        marks = np.zeros(n, bool)
        mark_rare(table, offsets, k, marks)
        assert set(np.flatnonzero(marks).tolist()) == {x for found in rare for x in found}

        indptr, numbers = held(rows)
        out_ptr, out = np.zeros(indptr.size, np.int64), np.empty(numbers.size, np.int32)
        places = np.empty(len(rows), np.int64)
        left = keep_rare(indptr, numbers, offsets, table, k, out_ptr, out, places)
        kept = [out[a:b].tolist() for a, b in pairwise(out_ptr[: left + 1].tolist())]
        expected = [
            sorted({x for found in combinations(row, size) if found in rare for x in found}) for row in rows
        ]
        assert kept == [row for row in expected if row]
        assert places[:left].tolist() == [place for place, row in enumerate(expected) if row]

        # One after the other, greatest numbers first; some die on the way.
        live = np.array([rng.random() < 0.8 for _ in range(n)], bool)
        low = np.array([rng.randint(0, 3) for _ in range(n)], np.int32)
        high = low + np.array([rng.randint(1, 3) for _ in range(n)], np.int32)

        def apart(some: tuple[int, ...], low: Ids = low, high: Ids = high) -> bool:
            return not any(
                (low[x] <= low[y] and high[y] <= high[x]) or (low[y] <= low[x] and high[x] <= high[y])
                for x, y in combinations(some, 2)
            )

        path, found_now = np.zeros(size, np.int64), []
        left_over = sorted((found[::-1] for found in rare if apart(found)), reverse=True)
        begun = False
        while next_rare(table, offsets, k, live, frozen(low, np.int32), frozen(high, np.int32), path, begun):
            begun = True
            found_now.append(tuple(path.tolist()))
            first = next(some for some in left_over if live[list(some)].all())
            assert found_now[-1] == first
            left_over = [some for some in left_over if some < first]
            if rng.random() < 0.3:
                live[rng.choice(first)] = False
        assert not any(live[list(some)].all() for some in left_over)


def test_numbered_rows_ascend_without_repeats() -> None:
    rng = seeded(1720)
    for longest in (4, SHORT + 20):
        for _ in range(20):
            n, ids = rng.randint(1, 3 * longest), rng.randint(1, longest)
            of = [rng.sample(range(n), rng.randint(0, min(3, n))) for _ in range(ids)]
            rows = [[rng.randrange(ids) for _ in range(rng.randint(0, longest))] for _ in range(5)]
            starts, numbers = held(of)
            indptr, items = held(rows)
            out_ptr = np.zeros(indptr.size, np.int64)
            out = np.empty(sum(len(of[x]) for row in rows for x in row), np.int32)
            end = number_rows(indptr, items, starts, numbers, n, out_ptr, out)
            found = [out[a:b].tolist() for a, b in pairwise(out_ptr.tolist())]
            assert found == [sorted({y for x in row for y in of[x]}) for row in rows]
            assert end == out_ptr[-1]
