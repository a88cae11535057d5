"""Groups of codes: estimates against subsets listed one by one, bounds against the original rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations, product
from math import prod
from pathlib import Path
from random import Random

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from releases import estimator_of, random_release
from setveil.judges.utility._group_estimates import answer_groups
from setveil.judges.utility.estimates import Estimator
from setveil.releases.published.counts import Counts
from setveil.releases.published.shared import Shared
from setveil.rows.data.layout import Layout
from setveil.rows.data.spelling import codes_below
from setveil.rows.data.transactions import Transactions

ROWS = ["E1 N18.3", "E1 N18.3", "E1", "E1", "I50.0"]
MEMBERS = {"E1": ("E11.0", "E11.9", "E12.0")}
LINES = [("E11.0", "E1", 2), ("E11.9", "E1", 2), ("E12.0", "E1", 2), ("N18.3", "N18.3", 2)]


def example(*, counts: bool = True) -> Estimator:
    listed = Counts.from_lines(LINES, 2, suppressed=True) if counts else None
    rows = Transactions.from_rows(row.split() for row in ROWS)
    return Estimator(Shared(rows, MEMBERS, listed, {}, Layout("basket")))


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("E11", ("E11.0", "E11.9")),
        ("e11", ("E11.0", "E11.9")),
        ("E1", ()),  # too short
        ("E12.0", ()),  # an item is not a group of itself
        ("250", ("250.1",)),  # a number begins those with a dot after it
        ("tea", ()),
        ("teabag", ()),
    ],
)
def test_a_shorter_code_is_the_group_of_longer_ones(name: str, codes: tuple[str, ...]) -> None:
    assert codes_below(name, ["E11.0", "E11.9", "E12.0", "250.1", "2501", "teabags"]) == codes


def test_worked_example() -> None:
    """Without counts the seven non-empty sets of E11.0, E11.9 and E12.0 are equally likely: 6 have E11."""
    found = example(counts=False).answer_named([["E11"], ["E11", "N18"], ["E11", "E12"]])
    assert [one.estimate for one in found[:2]] == pytest.approx([4 * 6 / 7, 2 * 6 / 7])
    assert [(one.least, one.greatest) for one in found] == [(0, 4), (0, 2), (0, 4)]
    # E12 has the item E12.0 alone; both groups: 7 sets less the 3 of E11 alone and {E12.0}.
    assert found[2].estimate == pytest.approx(4 * 3 / 7)
    assert found[1].groups == {"E11": ("E11.0", "E11.9"), "N18": ("N18.3",)}
    one = example().answer_named([["E11"]])[0]
    assert (one.least, one.greatest) == (2, 4)


def listed_one_by_one(estimator: Estimator, rows: Transactions, parts: Sequence[Sequence[int]]) -> float:
    """The estimate, by all sets of items below the labels of each row."""
    at = estimator.places
    none = at.sizes.size - 1
    total = 0.0
    for row in range(rows.n_rows):
        labels = rows.items[rows.indptr[row] : rows.indptr[row + 1]].tolist()
        worlds = []
        for label in [*labels, none]:
            places = [p for p in range(at.label.size - 1) if at.label[p] == label and at.is_item[p]]
            whole = [p for p in range(at.label.size - 1) if at.label[p] == label and not at.is_item[p]]
            chance = at.chances[label] if label != none else 1.0
            odds = [min(at.share[p] * chance, 1) for p in places]
            sets = [
                (
                    {*(places[i] for i in chosen), *whole},
                    prod(odds[i] if i in chosen else 1 - odds[i] for i in range(len(places))),
                )
                for size in range(len(places) + 1)
                for chosen in combinations(range(len(places)), size)
            ]
            if label != none:
                sets = [(one, weight) for one, weight in sets if one & {*places}]
            whole_weight = sum(weight for _, weight in sets)
            worlds.append([(one, weight / whole_weight) for one, weight in sets if weight])
        for world in product(*worlds):
            present = set().union(*(one for one, _ in world))
            if all(present & {*part} for part in parts):
                total += prod(weight for _, weight in world)
    return total


@pytest.mark.parametrize("seed", range(60))
def test_random_releases(seed: int) -> None:
    rng = Random(seed)
    items: list[str] = []
    while not items:
        world, release = random_release(rng, 6, 6)
        estimator = estimator_of(release)
        items = list(estimator.items)
    rows = estimator._rows
    assert isinstance(rows, Transactions)
    for _ in range(4):
        parts = [rng.sample(items, rng.randint(1, min(3, len(items)))) for _ in range(rng.randint(1, 3))]
        places = [[place for item in part for place in estimator.places.standing(item)] for part in parts]
        estimate, least, greatest = answer_groups(estimator.places, rows, places)
        true = sum(all({*part} & row.keys() for part in parts) for row in world)
        assert least <= true <= greatest
        assert least <= estimate <= greatest
        if (estimator.places.chances > 0).all():
            expected = listed_one_by_one(estimator, rows, places)
            assert estimate == pytest.approx(min(max(expected, least), greatest), abs=1e-6)


def test_groups_are_queried_with_any_separator(tmp_path: Path) -> None:
    rows = 6 * [["E11.0", "N18.3"], ["E11.9"], ["N18.4"], ["I50.0", "E11.0"]]
    sv.anonymize(rows, k=3, m=2).write(tmp_path / "run")
    queries = ["E11, N18", "E11 and N18", "E11; N18", "E11 + N18", "E11 & N18", "e11|n18"]
    done = setveil("query", tmp_path / "run", *queries, "--json").ok()
    found = json.loads(done.out)
    assert [one["estimate"] for one in found] == [6.0] * 6
    assert [one["groups"]["E11"] for one in found[:5]] == [["E11.0", "E11.9"]] * 5
    done = setveil("query", tmp_path / "run", "E11").ok()
    assert "Exactly 18 rows contain E11" in done.out
    assert "E11: one of 2 listed codes, E11.0, E11.9." in done.out
    assert sv.query(tmp_path / "run", [["E11", "I50.0"]])[0].least == 6
    done = setveil("query", tmp_path / "run", "E13 and N18")
    assert done.code == 4


def test_an_item_or_label_of_the_name_comes_first(tmp_path: Path) -> None:
    rows = 6 * [["E11"], ["E11.9"]]
    found = sv.query(sv.anonymize(rows, k=3, m=1), [["E11"]])[0]
    assert (found.least, found.greatest, found.groups) == (6, 6, {})


def test_suppressed_items_are_no_groups_of_others_in_measures() -> None:
    estimator = example()
    assert estimator.answer(["E11"]).groups == {}


def test_a_label_that_means_different_items_in_parts_is_answered_as_a_group() -> None:
    """Check random tables in parts: E11 is a label of some classes, and rows show its codes elsewhere."""
    codes = ["E11.2", "E11.9", "N18.3", "N18.4", "I50.0"]
    tree = sv.Hierarchy.from_paths([[code, code[:3], "*"] for code in codes])
    n_answers = 0
    for seed in range(40):
        rng = Random(seed)
        rows = [rng.sample(codes, rng.randint(1, 3)) for _ in range(24)]
        ages = [rng.choice((30, 40, 50)) for _ in rows]
        table = sv.read_table(pl.DataFrame({"age": ages, "codes": rows}), qi=["age"], set="codes")
        release = sv.anonymize(table, sv.KKmAnonymity(2, 2), hierarchy=tree)
        for query in (["E11"], ["E11", "N18"]):
            try:
                (found,) = sv.query(release, [query])
            except sv.DataError:
                continue
            true = sum(all(any(code.startswith(group) for code in row) for group in query) for row in rows)
            assert found.least <= true <= found.greatest, (seed, query)
            assert found.least <= found.estimate <= found.greatest
            n_answers += 1
    assert n_answers >= 60
