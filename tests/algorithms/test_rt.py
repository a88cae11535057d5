"""Classes by sweep and by gain against their slow twin and the ward."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from naive import rt_classes, rt_search, rt_table, rt_verify
from naive.anonymize import Tree, up_from
from naive.rt_items import exact
from naive.rt_search import Valuer
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import silent
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.kernels.rows import Ints, recode_rows
from setveil.methods.algorithms.rt import rt
from setveil.methods.algorithms.rt._classes import ClassFinder
from setveil.methods.algorithms.rt._item_optimum import ItemOptima
from setveil.methods.algorithms.rt._mondrian import mondrian
from setveil.methods.algorithms.rt._splits import Splits
from setveil.releases.published.parts import Parts
from setveil.releases.published.recoding import recode
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table
from strategies import examples, seeded
from tables import fast, hierarchy, random_table
from ward import numbered, ward

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
WARD = ward()


def in_canonical_order(table: Table) -> Table:
    return table.rows_at(table.canonical_order())


def everything(table: Table) -> list[Ints]:
    return [np.arange(table.n_rows)] if table.n_rows else []


def same(parts: Iterable[Ints], order: Ints, slow: Iterable[Iterable[int]]) -> bool:
    return [sorted(order[part].tolist()) for part in parts] == [sorted(part) for part in slow]


def classes_of(table: Table, tree: Hierarchy, k: int, m: float, share: Fraction) -> ClassFinder:
    """Classes of a table in canonical order."""
    rows = recode_rows(table.indptr, table.items, tree.locate(table.vocabulary))
    return ClassFinder(table, ItemOptima(tree, *rows, k, m), k, 0, everything(table), share, silent)


def run(slow: rt_table.Table, k: int, m: float, **parameters: object) -> tuple[Parts, list[dict[str, Any]]]:
    terms = rt.RT(**parameters)  # type: ignore[arg-type]
    made, details = rt.anonymize(fast(slow), hierarchy(slow), KKmAnonymity(k, m), terms)
    return made, details["frontier"]


def chosen(frontier: list[dict[str, Any]]) -> dict[str, Any]:
    (entry,) = [entry for entry in frontier if entry["chosen"]]
    return entry


def shown(slow: rt_table.Table, made: Parts) -> list[rt_verify.Row]:
    """Labels and items of each row that is published."""
    table = fast(slow)
    sets = [frozenset(row) for row in recode(table, made.items)]
    labels = [[names[i] for i in codes] for codes, names in made.column_labels(table)]
    return list(zip(zip(*labels, strict=True), sets, strict=True))


# --- the ward


@pytest.mark.parametrize(
    ("least", "classes", "r"),
    [
        (2, [[1, 2], [3, 4], [5, 8], [6, 7]], Fraction(4, 37)),
        (4, [[1, 2, 3, 4], [5, 6, 7, 8]], Fraction(109, 148)),
    ],
)
def test_mondrian_of_the_ward(least: int, classes: list[list[int]], r: Fraction) -> None:
    table = fast(WARD)
    order = table.canonical_order()
    parts = mondrian(Splits(in_canonical_order(table), least))
    assert numbered(order[part].tolist() for part in parts) == classes
    made, frontier = run(WARD, 2, 2, least=least)
    assert table.relational_loss(made.part) == r
    assert [(entry["least"], entry["relational_loss"]) for entry in frontier] == [(least, float(r))]


def test_items_of_the_ward() -> None:
    made, frontier = run(WARD, 2, 2, least=2, share=HALF)
    items = [set(row) for row in recode(fast(WARD), made.items)]
    assert items == [{"I21"}, {"I21"}, {"Lung"}, {"Lung"}, {"ALL"}, {"Heart"}, {"Heart"}, {"ALL"}]
    (entry,) = frontier
    assert entry["transaction_loss"] == float(Fraction(7, 13))
    assert entry["suppressed_share"] == float(Fraction(3, 13))
    assert run(WARD, 2, 2, least=4)[1][0]["transaction_loss"] == float(Fraction(5, 13))


def test_searches_of_the_ward() -> None:
    made, frontier = run(WARD, 2, 2, share=HALF)
    assert [entry["f"] for entry in frontier] == [
        float(Fraction(311, 962)),
        float(Fraction(2, 3)),
        float(Fraction(311, 962)),
    ]
    assert made.part.tolist() == [0, 0, 1, 1, 2, 3, 3, 2]
    _, frontier = run(WARD, 2, 2, share=TENTH, search="rt")
    assert [(entry["classes"], entry["f"]) for entry in frontier] == [(1, 0.4)]


def test_limits_of_the_ward() -> None:
    assert [chosen(run(WARD, 2, 2, max_item_loss=t)[1])["classes"] for t in (1, HALF, 0.35)] == [3, 3, 1]
    assert chosen(run(WARD, 2, 2, share=0, delta=0.5)[1])["classes"] == 4
    with pytest.raises(InfeasibleError, match=r"R is at most 0\.1: the least is 0\.108108") as refused:
        run(WARD, 2, 2, delta=0.1)
    assert "delta=0.108109" in str(refused.value)
    with pytest.raises(InfeasibleError, match="with the other limit"):
        run(WARD, 2, 2, delta=0.5, max_item_loss=0.4)
    with pytest.raises(RequestError, match="least can be 2 to 8"):
        run(WARD, 2, 2, least=9)
    with pytest.raises(RequestError, match="nothing to search"):
        rt.RT(least=4, search="sweep")
    with pytest.raises(RequestError, match="delta must be a share, 0 to 1"):
        rt.RT(delta=2)


# --- against the twin


def random_terms(rng: Random) -> tuple[int, int, Fraction]:
    share = rng.choice((Fraction(0), TENTH, Fraction(1, 4), HALF, Fraction(9, 10), Fraction(1)))
    return rng.randint(2, 3), rng.randint(1, 3), share


def test_mondrian() -> None:
    rng = seeded(1)
    for _ in range(examples(500, 50)):
        slow = random_table(rng, most_rows=24)
        table = fast(slow)
        order, least = table.canonical_order(), rng.randint(1, 5)
        k = rng.choice((0, rng.randint(2, 4)))
        parts = mondrian(Splits(in_canonical_order(table), least, k))
        assert same(parts, order, rt_classes.mondrian(slow, least, k or None))


def test_searches() -> None:
    rng = seeded(2)
    for _ in range(examples(200, 15)):
        slow = random_table(rng, most_rows=14)
        if not slow.n:
            continue
        k, m, share = random_terms(rng)
        valuer = Valuer(slow, k, m, share, exact)
        table = fast(slow)
        order = table.canonical_order()
        fast_classes = classes_of(in_canonical_order(table), hierarchy(slow), k, m, share)
        points = rt_search.sweep(valuer)
        assert fast_classes.sizes() == [point.least for point in points]
        for point in points:
            found = fast_classes.of_size(point.least)
            assert found is not None
            assert same(found.parts, order, point.parts)
            assert (found.relational, found.transactional, found.total) == (point.r, point.t, point.f)
        by_gain = fast_classes.by_gain()
        assert by_gain is not None
        parts = rt_search.by_gain(valuer)
        assert same(by_gain.parts, order, parts)
        assert by_gain.total == valuer.f(parts)


def test_releases() -> None:
    rng = seeded(3)
    for _ in range(examples(150, 15)):
        slow = random_table(rng, most_rows=14)
        k, m, share = random_terms(rng)
        if 0 < slow.n < k:
            with pytest.raises(InfeasibleError):
                run(slow, k, m)
            continue
        suppress = rng.random() < 0.5
        if not suppress and 0 < sum(map(bool, slow.sets)) < k:
            with pytest.raises(InfeasibleError):
                run(slow, k, m, suppress=False)
            continue
        made, frontier = run(slow, k, m, share=share, suppress=suppress)
        entry = chosen(frontier)
        assert rt_verify.is_kkm(shown(slow, made), k, m)
        assert float(fast(slow).relational_loss(made.part)) == entry["relational_loss"]
        hidden = int((made.items.image < 0).sum())
        assert entry["suppressed_share"] == hidden / max(made.items.image.size, 1)
        assert suppress or not hidden
        assert entry["f"] == min(point["f"] for point in frontier)


def test_the_order_of_the_rows_changes_nothing() -> None:
    rng = seeded(4)
    for _ in range(examples(60, 6)):
        slow = random_table(rng, most_rows=20)
        if slow.n < 2:
            continue
        share = rng.choice((TENTH, HALF))
        order = rng.sample(range(slow.n), slow.n)
        columns = tuple(
            rt_table.Column(
                c.name, tuple(c.values[row] for row in order), c.tree, numeric=c.numeric, weight=c.weight
            )
            for c in slow.columns
        )
        other = rt_table.Table(columns, tuple(slow.sets[row] for row in order), slow.items)
        made, frontier = run(slow, 2, 2, share=share)
        again, same_frontier = run(other, 2, 2, share=share)
        assert frontier == same_frontier
        assert sorted(map(_sortable, shown(slow, made))) == sorted(map(_sortable, shown(other, again)))


def test_coarsest_labels() -> None:
    """Check that the largest parts, recoded by the twin, are within the limits."""
    rng, limited = seeded(5), 0
    for _ in range(examples(250, 25)):
        slow = random_table(rng, most_rows=24)
        k, m, share = random_terms(rng)
        trees = {c.name: c for c in slow.columns if c.whole}
        some = rng.sample(sorted(trees), rng.randint(0, len(trees)))
        coarsest = {name: rng.sample(sorted(trees[name].under), 1) for name in some}
        coarsest["items"] = rng.sample(sorted(slow.items), rng.randint(0, 2))
        if slow.n < k:
            continue
        barred = {c.name: above(c.whole or {}, coarsest.get(c.name, ())) for c in slow.columns}
        cells = cells_of(slow, barred)
        if any(len(cell) < k for cell in cells):
            with pytest.raises(InfeasibleError, match="within the coarsest labels allowed"):
                run(slow, k, m, coarsest=coarsest)
            continue
        made, frontier = run(slow, k, m, share=share, coarsest=coarsest)
        assert frontier[-2]["classes"] == len(cells)  # the last size of the sweep
        rows = shown(slow, made)
        assert rt_verify.is_kkm(rows, k, m)
        for labels, items in rows:
            assert not items & above(slow.items, coarsest["items"])
            for column, label in zip(slow.columns, labels, strict=True):
                assert label not in barred[column.name]
        limited += len(cells) > 1
    assert limited


def above(tree: Tree, labels: Iterable[str]) -> set[str]:
    return {up for label in labels for up in up_from(tree, label)[1:]}


def cells_of(slow: rt_table.Table, barred: dict[str, set[str]]) -> list[list[int]]:
    """Rows by the highest labels that are not barred."""
    found: dict[tuple[str, ...], list[int]] = {}
    for row in range(slow.n):
        tops = tuple(
            [label for label in c.paths[c.values[row]] if label not in barred[c.name]][-1]
            for c in slow.columns
            if barred[c.name]
        )
        found.setdefault(tops, []).append(row)
    return list(found.values())


def test_limits_that_cannot_be() -> None:
    with pytest.raises(RequestError, match="do not exist: 'height'"):
        run(WARD, 2, 2, coarsest={"height": ["tall"]})
    with pytest.raises(RequestError, match="need a hierarchy"):
        run(WARD, 2, 2, coarsest={"age": ["34"]})
    with pytest.raises(RequestError, match="not in the hierarchy of 'sex': 'X'"):
        run(WARD, 2, 2, coarsest={"sex": ["X"]})
    with pytest.raises(InfeasibleError, match="without suppression of items"):
        run(WARD, 2, 2, coarsest={"items": ["I21", "J18"]}, suppress=False)
    with pytest.raises(InfeasibleError, match="only 4 rows, fewer than k = 5, can show sex = F"):
        run(WARD, 5, 2, coarsest={"sex": ["F"]})


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(6)
    for _ in range(examples(20, 3)):
        slow = random_table(rng, most_rows=30)
        if slow.n < 2:
            continue
        found = []
        for threads in (1, 4):
            monkeypatch.setattr("os.cpu_count", lambda threads=threads: threads)
            made, frontier = run(slow, 2, 2, share=HALF)
            found.append((made.part.tolist(), made.items.image.tolist(), frontier))
        assert found[0] == found[1]


def _sortable(row: rt_verify.Row) -> tuple[tuple[str, ...], list[str]]:
    return row[0], sorted(row[1])
