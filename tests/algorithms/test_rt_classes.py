"""Classes of a table by its quasi-identifiers: clusters, levels, cuts, against their twins."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from class_cases import canonical, cases, members
from naive import rt_classes, rt_cuts, rt_table
from setveil.base.errors import RequestError
from setveil.kernels.rows import Ids
from setveil.methods.algorithms.rt import _clustering, _incognito
from setveil.methods.algorithms.rt._clustering import clusters
from setveil.methods.algorithms.rt._distinct import cut_loss
from setveil.methods.algorithms.rt._extents import Extents
from setveil.methods.algorithms.rt._incognito import incognito
from setveil.methods.algorithms.rt._specialization import bottom_up, classes_of, top_down
from setveil.rows.tables.table import Table
from ward import numbered, ward


def shown(table: Table, nodes: Sequence[Ids]) -> list[dict[str, str]]:
    """The label of each value of each column."""
    return [
        {value: column.labels[node] for value, node in zip(column.labels, cut.tolist(), strict=False)}
        for column, cut in zip(table.columns, nodes, strict=True)
    ]


def test_clusters_of_the_ward() -> None:
    table = ward()
    made = members(table, clusters(canonical(table), 2))
    assert numbered(made) == [[1, 2], [6, 7], [5, 8], [3, 4]]


def test_clusters_are_those_of_the_twin() -> None:
    digits = set()
    for table, k in cases(450, 61, most_rows=16):
        canon = canonical(table)
        wanted = [tuple(sorted(p, key=table.place.__getitem__)) for p in rt_classes.cluster(table, k)]
        assert members(table, clusters(canon, k)) == wanted, (table, k)
        digits.add(Extents(canon).n_digits)
    assert len(digits) > 2


def test_many_equal_rows_make_clusters() -> None:
    column = rt_table.Column("age", ("30",) * 40 + ("31",) * 41 + ("50",) * 2, numeric=True)
    table = rt_table.Table((column,), (frozenset(),) * 83, {"a": "*", "*": None})
    part = clusters(canonical(table), 4)
    wanted = [tuple(sorted(p, key=table.place.__getitem__)) for p in rt_classes.cluster(table, 4)]
    assert members(table, part) == wanted


def test_many_distinct_rows_are_announced(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_clustering, "MANY", 7)
    with caplog.at_level(logging.WARNING, "setveil"):
        clusters(canonical(ward()), 2)
    assert "Clustering 8 distinct combinations" in caplog.text


def test_levels_of_the_ward() -> None:
    table = ward(ranges=False)
    canon = canonical(table)
    nodes, levels = incognito(canon, 2)
    assert levels == (3, 0)
    assert set(shown(canon, nodes)[0].values()) == {"[0,40)", "[40,80)"}
    assert Fraction(cut_loss(canon, nodes), 8 * canon.unit_total) == Fraction(23, 74)


def test_levels_are_those_of_the_twin() -> None:
    for table, k in cases(250, 62, most_rows=14, trees=True):
        canon = canonical(table)
        nodes, levels = incognito(canon, k)
        assert levels == rt_cuts.incognito(table, k), (table, k)
        images = rt_cuts.at_levels(table, levels)
        assert shown(canon, nodes) == list(images)
        lost = Fraction(cut_loss(canon, nodes), table.n * canon.unit_total)
        assert lost == rt_cuts.loss(table, images)


def test_too_many_levels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_incognito, "MOST", 9)
    with pytest.raises(
        RequestError, match=r"have 10 combinations of levels \(levels: age 5, sex 2\)"
    ) as refused:
        incognito(canonical(ward(ranges=False)), 2)
    assert "topdown" in refused.value.hint


@pytest.mark.parametrize("find", [top_down, bottom_up])
def test_cuts_of_the_ward(find: Callable[[Table, int], list[Ids]]) -> None:
    canon = canonical(ward(ranges=False))
    nodes = find(canon, 2)
    ages, sexes = shown(canon, nodes)
    assert set(ages.values()) == {"[30,40)", "[40,80)"}  # the only child below [0,40) stays unchanged
    assert sexes == {"F": "F", "M": "M"}
    assert Fraction(cut_loss(canon, nodes), 8 * canon.unit_total) == Fraction(23, 74)


def test_cuts_are_those_of_the_twin() -> None:
    for table, k in cases(250, 63, most_rows=14, trees=True):
        canon = canonical(table)
        for find, twin in ((top_down, rt_cuts.top_down), (bottom_up, rt_cuts.bottom_up)):
            nodes = find(canon, k)
            images = rt_cuts.images(table, twin(table, k))
            assert shown(canon, nodes) == list(images), (table, k)
            part = classes_of(canon, nodes)
            assert np.bincount(part).min() >= k
            assert rt_classes.same(members(table, part)) == rt_classes.same(rt_cuts.classes(table, images))
