"""Proven optima of tables against all that can be tried."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import pytest

from naive import measures, rt_cuts, rt_global, rt_table, rt_verify
from naive.rt_table import MISSING
from setveil.base.errors import InfeasibleError
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.methods.algorithms.rt import forest
from setveil.releases.published.parts import TableCut
from setveil.rows.tables.table import Table
from strategies import many
from tables import fast, hierarchy, random_tables

SHARES = (0, Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), 1)


def images_of(table: Table, made: TableCut) -> tuple[rt_cuts.Images, Mapping[str, str | None]]:
    """Return the label of each value and each item."""
    columns = tuple(
        {column.labels[v]: column.labels[node] for v, node in enumerate(nodes.tolist())}
        for column, nodes in zip(made.columns, made.nodes, strict=True)
    )
    names = made.items.published.labels
    items = {
        item: names[to] if to >= 0 else None
        for item, to in zip(made.items.items.labels, made.items.image.tolist(), strict=True)
    }
    return columns, items


def loss(slow: rt_table.Table, table: Table, made: TableCut, share: Fraction, measure: str) -> Fraction:
    columns, items = images_of(table, made)
    lost = measures.lm if measure == "lm" else measures.ncp
    return share * rt_cuts.loss(slow, columns) + (1 - share) * lost(slow.sets, items)


@pytest.mark.parametrize("model", ["kkm", "mixed"])
@pytest.mark.parametrize("suppress", [True, False])
def test_one_recoding_for_all_rows(model: str, suppress: bool) -> None:
    sizes = {"most_rows": 9, "most_columns": 2, "most_leaves": 4}
    refused = 0
    for rng, slow in random_tables(40, 41, trees=True, **sizes):
        k, m, share = rng.randint(2, 3), rng.choice((1, 2, 3, math.inf)), Fraction(rng.choice(SHARES))
        measure = rng.choice(("lm", "ncp"))
        table = fast(slow)
        guarantee = (KKmAnonymity if model == "kkm" else MixedKmAnonymity)(k, m)
        wanted = forest.Forest(share=share, suppress=suppress, objective=measure)  # type: ignore[arg-type]
        best = rt_global.best(slow, k, m, share, model, measure, suppress=suppress)
        if best is None or 0 < slow.n < k:
            with pytest.raises(InfeasibleError):
                forest.anonymize(table, hierarchy(slow), guarantee, wanted)
            refused += 1
            continue
        made, details = forest.anonymize(table, hierarchy(slow), guarantee, wanted)
        columns, items = images_of(table, made)
        shown = rt_global.published(slow, columns, dict(items))
        assert (rt_verify.is_kkm if model == "kkm" else rt_verify.is_mixed_km)(shown, k, m)
        assert loss(slow, table, made, share, measure) == best.f
        assert details["optimality"]["gap"] < 1e-9  # weights of many digits are beyond the solver's exactness
        assert details["optimality"]["loss"] == pytest.approx(float(best.f))
    assert refused < many(30)


def test_coarsest_labels() -> None:
    refused = limited = 0
    for rng, slow in random_tables(60, 42, trees=True, most_rows=9, most_columns=2, most_leaves=4):
        k, m, model = 2, rng.choice((1, 2)), rng.choice(("kkm", "mixed"))
        if slow.n < k:
            continue
        coarsest = {
            a: {rng.choice(sorted(column.under))} - {MISSING}
            for a, column in enumerate(slow.columns)
            if rng.random() < 0.5
        } | ({-1: {rng.choice(sorted(slow.items))}} if rng.random() < 0.5 else {})
        suppress = rng.random() < 0.7
        names = [*(column.name for column in slow.columns), "items"]
        wanted = forest.Forest(
            coarsest={names[a]: sorted(labels) for a, labels in coarsest.items()},
            suppress=suppress,
            objective="lm",
        )
        guarantee = (KKmAnonymity if model == "kkm" else MixedKmAnonymity)(k, m)
        best = rt_global.best(slow, k, m, Fraction(1, 4), model, suppress=suppress, coarsest=coarsest)
        table = fast(slow)
        if best is None:
            with pytest.raises(InfeasibleError):
                forest.anonymize(table, hierarchy(slow), guarantee, wanted)
            refused += 1
            continue
        made, _ = forest.anonymize(table, hierarchy(slow), guarantee, wanted)
        assert loss(slow, table, made, Fraction(1, 4), "lm") == best.f
        limited += bool(coarsest)
    assert refused > 3
    assert limited > many(10)
