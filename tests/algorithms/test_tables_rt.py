"""Sweep and splits by gain against slow twins, on random small tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import pytest

from naive import rt_classes, rt_items, rt_search
from naive.anonymize import Tree
from naive.km import Rows
from setveil.algorithms.rt import rt
from setveil.errors import InfeasibleError
from setveil.guarantees.kkm import KKmAnonymity
from tables import fast, hierarchy, losses, partition, random_tables

SHARES = (0, Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), 0.9, 1)
SEARCHES: tuple[Literal["sweep", "rt"] | None, ...] = ("sweep", "rt", None)


class NoRecodingError(Exception):
    """The items of a part cannot be published without suppression."""


def without_suppression(rows: Rows, tree: Tree, k: int, m: float) -> rt_items.Image:
    found = rt_items.best(rows, tree, k, m, suppress=False)
    if found is None:
        raise NoRecodingError
    return found


@pytest.mark.parametrize("suppress", [True, False])
def test_rt(suppress: bool) -> None:
    taken = 0
    for rng, slow in random_tables(60, 51, most_rows=16, most_leaves=4):
        k, m, share = rng.randint(2, 3), rng.choice((1, 2, 2, 3, math.inf)), Fraction(str(rng.choice(SHARES)))
        search = rng.choice(SEARCHES)
        table = fast(slow)
        wanted = rt.RT(share=share, search=search, suppress=suppress)
        filled = sum(map(bool, slow.sets))
        if 0 < slow.n < k or (not suppress and 0 < filled < k):
            with pytest.raises(InfeasibleError):
                rt.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
            continue
        made, details = rt.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
        r, t = losses(slow, table, made, k, m)
        algorithm = rt_items.exact if suppress else without_suppression
        valuer = rt_search.Valuer(slow, k, m, share, algorithm, None if suppress else k)
        points = [] if search == "rt" else rt_search.sweep(valuer)
        if search != "sweep":
            points.append(rt_search.point(valuer, k, rt_search.by_gain(valuer)))
        found = [(entry["classes"], entry["f"]) for entry in details["frontier"]]
        assert [n for n, _ in found] == [len(point.parts) for point in points]
        assert [f for _, f in found] == pytest.approx([float(point.f) for point in points])
        best = min(points, key=lambda point: point.f)
        assert (share * r + (1 - share) * t) == best.f
        assert partition(made) in [rt_classes.same(point.parts) for point in points if point.f == best.f]
        assert details["optimality"]["proven"]
        taken += 1
    assert taken > 20


def test_limits_of_losses() -> None:
    refused = 0
    for rng, slow in random_tables(40, 52, most_rows=16, most_leaves=4):
        k, m = 2, rng.choice((1, 2))
        delta, most = (rng.choice((None, 0, Fraction(1, 5), 0.5, 1)) for _ in range(2))
        if slow.n < k:
            continue
        table, valuer = fast(slow), rt_search.Valuer(slow, k, m, Fraction(1, 4), rt_items.exact)
        points = [*rt_search.sweep(valuer), rt_search.point(valuer, k, rt_search.by_gain(valuer))]
        allowed = [
            point
            for point in points
            if (delta is None or point.r <= Fraction(str(delta)))
            and (most is None or point.t <= Fraction(str(most)))
        ]
        wanted = rt.RT(delta=delta, max_item_loss=most)
        if not allowed:
            with pytest.raises(InfeasibleError):
                rt.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)
            refused += 1
            continue
        r, t = losses(slow, table, rt.anonymize(table, hierarchy(slow), KKmAnonymity(k, m), wanted)[0], k, m)
        assert r / 4 + 3 * t / 4 == min(point.f for point in allowed)
    assert refused
