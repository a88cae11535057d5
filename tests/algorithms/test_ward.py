"""Results of the slow twins of tables for eight patients, computed by hand or by other means."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain

import pytest

from naive import rt_classes, rt_cuts, rt_global, rt_items, rt_measures, rt_merge, rt_search, rt_verify
from naive.rt_merge import TooTightError
from naive.rt_table import MISSING, Column, Parts, Table, built_ranges, flat, relational_loss, width_for
from ward import AGES, CODES, ITEMS, numbered, parts, ward

WARD, TREES = ward(), ward(ranges=False)
HALF = Fraction(1, 2)
CLUSTERS = rt_classes.cluster(WARD, 2)


def loss_by_aa(some: Parts) -> Fraction:
    return rt_items.total(WARD, rt_items.recode(WARD, some, 2, 2, rt_items.by_aa))


def test_the_canonical_order_begins_with_missing_values() -> None:
    table = Table(
        (Column("age", ("10", "9", "", "9"), numeric=True),),
        tuple(map(frozenset, ("b", "c", "a", "ab"))),
        flat("abc"),
    )
    assert table.canonical == [2, 3, 1, 0]


def test_categories_stand_in_the_order_of_their_hierarchy() -> None:
    tree = {"a": "X", "c": "X", "b": "Y", "X": "*", "Y": "*", "*": None}
    table = Table((Column("city", ("c", "b", "", "a"), tree),), (frozenset(),) * 4, flat("x"))
    assert table.canonical == [2, 3, 0, 1]


def test_built_ranges() -> None:
    column = TREES.columns[0]
    assert column.paths["34"] == ["34", "[30,40)", "[20,40)", "[0,40)", "*"]
    assert column.paths["45"] == ["45", "[40,50)", "[40,60)", "[40,80)", "*"]
    assert width_for(AGES) == 5
    assert width_for(["0", "1.6"]) == Fraction(1, 10)
    assert built_ranges(["0.25", "0.75"], HALF) == {"0.25": "[0,0.5)", "[0,0.5)": "*"} | {
        "0.75": "[0.5,1)",
        "[0.5,1)": "*",
        "*": None,
    }


def test_losses_of_labels() -> None:
    age = Column("age", ("1", "2.5", "", "5"), numeric=True)
    assert [age.loss(some) for some in (["1", "2.5"], ["1", ""], [""], ["5"])] == [Fraction(3, 8), 1, 0, 0]
    assert [age.label(some) for some in (["1", "2.5"], ["1", ""], [""], ["5"])] == ["[1,2.5]", "*", "", "5"]
    city = Column("city", ("a", "b", ""), {"a": "X", "c": "X", "b": "Y", "X": "*", "Y": "*", "*": None})
    assert [city.loss(some) for some in (["b"], [""], ["a", "c"], ["a", ""])] == [0, 0, Fraction(2, 4), 1]
    assert [city.label(some) for some in (["b"], [""], ["a", "c"], ["a", ""])] == ["b", MISSING, "X", "*"]


@pytest.mark.parametrize(
    ("least", "classes", "labels", "r"),
    [
        (
            2,
            [[1, 2], [3, 4], [5, 8], [6, 7]],
            [("[34,36]", "F"), ("[41,45]", "M"), ("[47,71]", "F"), ("[62,64]", "M")],
            Fraction(4, 37),
        ),
        (4, [[1, 2, 3, 4], [5, 6, 7, 8]], [("[34,45]", "*"), ("[47,71]", "*")], Fraction(109, 148)),
    ],
)
def test_mondrian(least: int, classes: list[list[int]], labels: list[tuple[str, str]], r: Fraction) -> None:
    found = rt_classes.mondrian(WARD, least)
    assert numbered(found) == classes
    assert [WARD.labels(part) for part in found] == labels
    assert relational_loss(WARD, found) == r


def test_cluster() -> None:
    assert numbered(CLUSTERS) == [[1, 2], [6, 7], [5, 8], [3, 4]]
    assert relational_loss(WARD, CLUSTERS) == Fraction(4, 37)


def test_incognito() -> None:
    levels = rt_cuts.incognito(TREES, 2)
    assert levels == (3, 0)
    age, sex = rt_cuts.at_levels(TREES, levels)
    assert (set(age.values()), sex) == ({"[0,40)", "[40,80)"}, {"F": "F", "M": "M"})
    assert rt_cuts.loss(TREES, (age, sex)) == Fraction(23, 74)


@pytest.mark.parametrize("algorithm", [rt_cuts.top_down, rt_cuts.bottom_up, rt_cuts.best])
def test_subtrees(algorithm: object) -> None:
    assert callable(algorithm)
    cuts = algorithm(TREES, 2)
    assert list(cuts) == [{"[30,40)", "[40,80)"}, {"F", "M"}]
    assert rt_cuts.loss(TREES, rt_cuts.images(TREES, cuts)) == Fraction(23, 74)


@pytest.mark.parametrize(
    ("by", "delta", "clusters", "r", "t"),
    [
        ("r", "0.3", [[1, 2, 5, 8], [3, 4], [6, 7]], Fraction(10, 37), 1),
        ("r", "0.6", [[1, 2, 5, 8], [3, 4, 6, 7]], Fraction(15, 37), Fraction(9, 13)),
        ("t", "0.6", [[1, 2, 6, 7], [3, 4], [5, 8]], Fraction(81, 148), Fraction(19, 26)),
        ("rt", "0.6", [[1, 2, 5, 8], [3, 4, 6, 7]], Fraction(15, 37), Fraction(9, 13)),
        ("rt", "1", [[1, 2, 3, 4, 5, 6, 7, 8]], 1, HALF),
    ],
)
def test_mergers(by: str, delta: str, clusters: list[list[int]], r: Fraction, t: Fraction) -> None:
    found = rt_merge.merged(WARD, CLUSTERS, by, Fraction(delta))
    assert numbered(found) == clusters
    assert (relational_loss(WARD, found), loss_by_aa(found)) == (r, t)


def test_a_bound_below_the_start_is_refused() -> None:
    with pytest.raises(TooTightError) as refused:
        rt_merge.merged(WARD, CLUSTERS, "r", Fraction("0.1"))
    assert refused.value.args == (Fraction(4, 37),)


def test_partners() -> None:
    clusters = WARD.in_order(CLUSTERS)
    first = clusters[0]
    order = {by: numbered(rt_merge.partners(WARD, clusters, first, by)) for by in ("r", "t", "rt")}
    assert order == {
        "r": [[5, 8], [3, 4], [6, 7]],
        "t": [[6, 7], [5, 8], [3, 4]],
        "rt": [[5, 8], [6, 7], [3, 4]],
    }
    by_r = rt_merge.partners(WARD, clusters, first, "r")
    distances = [rt_merge.item_distance(WARD, first, d) for d in by_r]
    assert distances == [Fraction(3, 4), Fraction(5, 6), Fraction(3, 5)]


def test_items_are_bounded() -> None:
    assert loss_by_aa(CLUSTERS) == 1
    found = rt_merge.bound_items(WARD, CLUSTERS, "r", Fraction("0.7"), 2, 2, rt_items.by_aa)
    assert numbered(found) == [[1, 2], [3, 4, 6, 7], [5, 8]]
    assert loss_by_aa(found) == Fraction(9, 13)


def test_the_best_items_of_each_class() -> None:
    two, four = rt_classes.mondrian(WARD, 2), rt_classes.mondrian(WARD, 4)
    by_aa = rt_items.published(WARD, rt_items.recode(WARD, two, 2, 2, rt_items.by_aa))
    assert [items for _, items in by_aa] == [{"ALL"}] * 8
    best = rt_items.recode(WARD, two, 2, 2, rt_items.exact)
    assert [set(items) for _, items in rt_items.published(WARD, best)] == [
        {"I21"},
        {"I21"},
        {"Lung"},
        {"Lung"},
        {"ALL"},
        {"Heart"},
        {"Heart"},
        {"ALL"},
    ]
    assert (rt_items.total(WARD, best), rt_items.total(WARD, best, "lm")) == (
        Fraction(8, 13),
        Fraction(7, 13),
    )
    assert rt_items.total(WARD, rt_items.recode(WARD, four, 2, 2, rt_items.exact), "lm") == Fraction(5, 13)


def valuer(share: Fraction) -> rt_search.Valuer:
    return rt_search.Valuer(WARD, 2, 2, share, rt_items.exact)


def test_sweep() -> None:
    points = rt_search.sweep(valuer(HALF))
    assert [(point.least, len(point.parts), point.f) for point in points] == [
        (2, 4, Fraction(311, 962)),
        (8, 1, Fraction(2, 3)),
    ]
    best = rt_search.best_of(points)
    assert best is not None
    assert best.least == 2


@pytest.mark.parametrize(
    ("share", "classes", "f"),
    [
        (HALF, [[1, 2], [3, 4], [5, 8], [6, 7]], Fraction(311, 962)),
        (Fraction(1, 10), [[1, 2, 3, 4, 5, 6, 7, 8]], Fraction(2, 5)),
    ],
)
def test_splits_by_gain(share: Fraction, classes: list[list[int]], f: Fraction) -> None:
    found = rt_search.by_gain(valuer(share))
    assert (numbered(found), valuer(share).f(found)) == (classes, f)


def test_the_best_global_recoding() -> None:
    plain = rt_global.best(TREES, 2, 2, HALF, suppress=False)
    assert plain is not None
    assert plain.f == Fraction(97, 148)
    found = rt_global.best(TREES, 2, 2, HALF)
    assert found is not None
    assert found.f == Fraction(71, 156)
    assert list(found.cuts) == [{"*"}, {"F", "M"}]
    assert found.items == {"I21": "Heart", "I50": "Heart", "J18": None, "J44": "J44"}


@pytest.mark.parametrize(
    ("suppress", "measure", "f"),
    [
        (False, "ncp", HALF),
        (False, "lm", Fraction(5, 12)),  # age *, sex kept, {Heart, Lung}: R 1/2, T 1/3
        (True, "lm", Fraction(2081, 5772)),
    ],
)
def test_the_best_mixed_recoding(suppress: bool, measure: str, f: Fraction) -> None:
    found = rt_global.best(TREES, 2, 2, HALF, "mixed", measure, suppress=suppress)
    assert found is not None
    assert found.f == f


def test_what_an_attacker_finds() -> None:
    raw = list(zip(zip(*(column.values for column in WARD.columns), strict=True), CODES, strict=True))
    assert rt_verify.exposed(raw, 2) == [8, 8, 8]
    one = rt_items.recode(WARD, parts(range(1, 9)), 2, 2, rt_items.exact)
    shown = rt_items.published(WARD, one)
    assert rt_verify.is_kkm(shown, 2, 2)
    assert rt_verify.is_mixed_km(shown, 2, 2)
    assert rt_verify.exposed(shown, 2)[0] == 0


def test_mixed_facts_protect_less_and_more() -> None:
    """Two facts in all leave the third open; as many facts as columns and items close it."""
    cube = [((age, sex), frozenset(items)) for age in "12" for sex in "FM" for items in ("", "a")]
    assert rt_verify.is_mixed_km(cube, 2, 2)
    assert not rt_verify.is_kkm(cube, 2, 1)
    assert rt_verify.greatest_mixed_k(cube, 2) == 2
    assert rt_verify.greatest_k(cube, 1) == 1
    assert rt_verify.counterexamples(cube, 2, 1) == {
        ((age, sex), frozenset("a"), 1) for age in "12" for sex in "FM"
    }


def test_classes_are_no_more_than_their_sizes() -> None:
    assert rt_measures.discernibility(CLUSTERS) == 16
    assert rt_measures.average_size(WARD, CLUSTERS, 2) == 1
    assert sorted(chain(*CLUSTERS)) == list(range(8))
    assert set(chain(*CODES)) < set(ITEMS)
    assert rt_verify.is_kkm([], 2, math.inf)
