"""Sweep and splits by gain against slow twins, on random small tables."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

from naive import rt_classes, rt_items, rt_search, rt_verify
from naive.anonymize import Tree, up_from
from naive.km import Rows
from naive.rt_items import Image, NoRecodingError
from naive.rt_table import MISSING
from setveil.base.errors import InfeasibleError
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.methods.algorithms.rt import rt
from setveil.releases.published.tables import publish
from setveil.rows.tables.table import TextColumn
from strategies import many
from tables import fast, hierarchy, losses, partition, random_tables, shown_by

SHARES = (0, Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), 0.9, 1)
SEARCHES: tuple[Literal["sweep", "rt"] | None, ...] = ("sweep", "rt", None)


def without_suppression(rows: Rows, tree: Tree, k: int, m: float) -> rt_items.Image:
    found = rt_items.best(rows, tree, k, m, suppress=False)
    if found is None:
        raise NoRecodingError
    return found


@pytest.mark.parametrize("suppress", [True, False])
def test_rt(suppress: bool) -> None:
    taken = 0
    for rng, drawn in random_tables(60, 51, most_rows=16, most_leaves=4):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
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
    assert taken > many(20)


def test_limits_of_losses() -> None:
    refused = 0
    for rng, drawn in random_tables(40, 52, most_rows=16, most_leaves=4):
        slow = drawn.with_cells(rng.choice((1, 3)))  # 1: numbers as they are
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


def test_coarsest_labels() -> None:
    refused = limited = 0
    for rng, slow in random_tables(60, 57, most_rows=14, most_leaves=4, most_columns=2):
        k, m, suppress = 2, rng.choice((1, 2)), rng.random() < 0.7
        if slow.n < k:
            continue
        coarsest = {
            a: {rng.choice(sorted(column.under))} - {MISSING}
            for a, column in enumerate(slow.columns)
            if column.tree is not None and rng.random() < 0.5
        }
        of_items = {rng.choice(sorted(slow.items))} if rng.random() < 0.5 else set[str]()
        barred = {node for label in of_items for node in up_from(slow.items, label)[1:]}
        named = {slow.columns[a].name: sorted(labels) for a, labels in coarsest.items()}
        wanted = rt.RT(share=Fraction(1, 2), coarsest=named | {"items": sorted(of_items)}, suppress=suppress)
        start = rt_classes.cells(slow, coarsest)

        def best(
            rows: Rows, tree: Tree, k: int, m: float, barred: set[str] = barred, hide: bool = suppress
        ) -> Image:
            found = rt_items.best(rows, tree, k, m, suppress=hide, barred=barred)
            if found is None:
                raise NoRecodingError
            return found

        filled = None if suppress else k
        valuer = rt_search.Valuer(slow, k, m, Fraction(1, 2), limited_to(barred, suppress), filled, start)
        try:
            if min(map(len, start)) < k or (filled and 0 < sum(map(bool, slow.sets)) < k):
                raise NoRecodingError
            points = tried(valuer)
        except NoRecodingError:
            with pytest.raises(InfeasibleError):
                rt.anonymize(fast(slow), hierarchy(slow), KKmAnonymity(k, m), wanted)
            refused += 1
            continue
        made, _ = rt.anonymize(fast(slow), hierarchy(slow), KKmAnonymity(k, m), wanted)
        r, t = losses(slow, fast(slow), made, k, m)
        assert (r + t) / 2 == min(point.f for point in points)
        limited += bool(coarsest or of_items)
    assert refused > many(3)
    assert limited > many(10)


def limited_to(barred: set[str], suppress: bool) -> rt_items.ItemAlgorithm:
    def best(rows: Rows, tree: Tree, k: int, m: float) -> Image:
        found = rt_items.best(rows, tree, k, m, suppress=suppress, barred=barred)
        if found is None:
            raise NoRecodingError
        return found

    return best


def tried(valuer: rt_search.Valuer) -> list[rt_search.Point]:
    """The partitions whose items can be published."""
    points = []
    for least, parts in rt_search.sizes(valuer):
        with contextlib.suppress(NoRecodingError):
            points.append(rt_search.point(valuer, least, parts))
    with contextlib.suppress(NoRecodingError):
        points.append(rt_search.point(valuer, valuer.k, rt_search.by_gain(valuer)))
    if not points:
        raise NoRecodingError
    return points


def test_sensitive_values_are_not_too_frequent() -> None:
    made = refused = 0
    for rng, slow in random_tables(60, 58, most_rows=14, most_leaves=4, most_columns=2):
        k, m, p, h = 2, 1, rng.choice((0, 1, 2)), rng.choice(("1/2", "2/3", "0.8"))
        if slow.n < k:
            continue
        codes = np.array([rng.randrange(3) for _ in range(slow.n)], np.int32)
        kept = TextColumn("outcome", codes, ("", "x", "y"))
        table = replace(fast(slow), kept=(kept,))
        named = ["outcome"]
        if table.vocabulary.labels and rng.random() < 0.5:
            named = [rng.choice(table.vocabulary.labels), *rng.sample(named, rng.randint(0, 1))]
        guarantee = KKmAnonymity(k, m, sensitive=named, h=h, p=p)
        try:
            guarantee.require_feasible(table)
            found, _ = rt.anonymize(table, hierarchy(slow), guarantee, rt.RT(share=Fraction(1, 2)))
        except InfeasibleError:
            refused += 1
            continue
        release = publish(table, found, seed=1)
        shown, (column,) = shown_by(release.table), release.table.kept
        values = [column.labels[code] for code in column.codes]
        items = frozenset(named) - {"outcome"}
        known = [(labels, more - items) for labels, more in shown]
        greatest = rt_verify.sensitive_items(shown, items, p)
        if "outcome" in named:
            greatest = max(greatest, rt_verify.greatest_share(known, values, p))
        assert rt_verify.is_kkm(shown, k, m)
        assert guarantee.h is not None
        assert greatest <= guarantee.h
        made += 1
    assert made > many(10)
    assert refused > many(5)
