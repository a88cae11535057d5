"""OA, DA, AA and refinement against their twins: same cut, not only as good a one."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from naive import anonymize as naive
from naive.km import is_km
from releases import released
from setveil.base.errors import RequestError
from setveil.base.progress import silent
from setveil.base.threads import use_threads
from setveil.methods import algorithms
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms._refine import refine
from setveil.releases.published import Release
from strategies import Case, Rows, cases, examples, many, random_case, random_cases, seeded, seeds

ALGORITHMS = ("oa", "da", "aa")
TWINS = {"oa": naive.oa, "da": naive.da, "aa": naive.aa}

# SPEC §2: figures 1-6 of the paper.
PAPER = Case(
    [frozenset(row.split()) for row in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")],
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None},
    k=2,
    m=2,
)


def run(name: str, case: Case, seed: int = 0, **parameters: Any) -> Release:
    module = algorithms.load(name)
    return released(module, case.data, case.tree, case.guarantee, module.Parameters(**parameters), seed)


def cut_of(release: Release) -> frozenset[str]:
    return frozenset(release.recoding.published.labels)


def rows_of(release: Release) -> Rows:
    return [frozenset(row) for row in release.published]


def as_bytes(release: Release) -> tuple[object, ...]:
    published = release.published
    return published.indptr.tobytes(), published.items.tobytes(), published.vocabulary.labels


@pytest.mark.parametrize("name", ALGORITHMS)
def test_worked_example(name: str) -> None:
    release = run(name, PAPER)
    assert cut_of(release) == {"A", "b1", "b2"}
    published = Counter(frozenset(row.split()) for row in ("A b1 b2", "A b1", "A b1 b2", "A b2"))
    assert Counter(rows_of(release)) == published
    assert naive.cost(PAPER.rows, PAPER.parents, cut_of(release)) == pytest.approx(2.5 / 11, abs=1e-15)


@pytest.mark.parametrize(
    ("k", "m", "cut"), [(2, 1, {"a1", "a2", "b1", "b2"}), (4, 1, {"A", "B"}), (4, 2, {"A", "B"})]
)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_worked_example_with_other_parameters(name: str, k: int, m: int, cut: set[str]) -> None:
    assert cut_of(run(name, Case(PAPER.rows, PAPER.parents, k, m))) == cut


def test_only_what_was_generalized_is_committed() -> None:
    """SPEC §2: a threat {B, a2} solved by a2 -> A leaves B, and so b1 and b2, as they were."""
    rows = ["a1 b1", "a1 b1", "a1 b2", "a1 b2", "a2 b1", "b1", "b2", "a2"]
    case = Case([frozenset(row.split()) for row in rows], PAPER.parents, 2, 2)
    assert cut_of(run("da", case)) == cut_of(run("aa", case)) == {"A", "b1", "b2"}


def check_twins(name: str, n: int, seed: int, **sizes: int) -> None:
    for case in random_cases(n, seed, **sizes):
        expected = TWINS[name](case.rows, case.parents, case.k, case.m)
        assert cut_of(run(name, case)) == expected, case


@seeds(3)
@pytest.mark.parametrize("name", ["da", "aa"])
def test_greedy_cut_is_the_twins(name: str, seed: int) -> None:
    check_twins(name, examples(700), seed)


@pytest.mark.parametrize("name", ["da", "aa"])
def test_greedy_cut_is_the_twins_on_few_rows(name: str) -> None:
    check_twins(name, examples(1500), 10, most_rows=12)


@pytest.mark.parametrize("name", ["da", "aa"])
def test_greedy_cut_is_the_twins_on_long_rows(name: str) -> None:
    check_twins(name, examples(150), 11, most_rows=40, most_items=9)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_cut_is_the_twins_whatever_is_counted_in_tables(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By tables for some sizes and walks for others, over pieces of a few rows."""
    rng = seeded(12)
    ways = Counter[bool]()

    def fits(cut: object, size: int) -> bool:
        ways[chosen := rng.random() < 0.5] += 1
        return chosen

    monkeypatch.setattr("setveil.methods.algorithms._threat_tables.table_fits", fits)
    monkeypatch.setattr("setveil.rows.engine.rows.AT_ONCE", 5)
    use_threads(threads)
    check_twins("aa", examples(300), 13)
    assert min(ways.values()) > many(50)


@seeds(2, 20)
def test_oa_is_the_best_of_all_cuts(seed: int) -> None:
    check_twins("oa", examples(300), seed)


@pytest.mark.parametrize("name", ALGORITHMS)
@given(case=cases(most_rows=20))
@settings(deadline=None, max_examples=examples(100, 15))
def test_cut_is_the_twins_by_hypothesis(name: str, case: Case) -> None:
    assert cut_of(run(name, case)) == TWINS[name](case.rows, case.parents, case.k, case.m)


def test_oa_prefers_more_labels_among_equally_cheap_cuts() -> None:
    """The one threat is {a, c}; A costs 12 * 2/5 and B 8 * 3/5, and {a, b, B} comes first in node order."""
    rows = ["ac", "bc", "bc", "ad", "ad", "e", "e", "e", *["b"] * 7]
    parents = {"a": "A", "b": "A", "c": "B", "d": "B", "e": "B", "A": "*", "B": "*", "*": None}
    case = Case([frozenset(row) for row in rows], parents, 2, 2)
    costs = [naive.cost(case.rows, parents, frozenset(cut)) for cut in ("Acde", "abB")]
    assert costs[0] == costs[1]
    assert cut_of(run("oa", case)) == TWINS["oa"](case.rows, parents, 2, 2) == set("Acde")


def test_oa_refuses_too_many_cuts() -> None:
    with pytest.raises(RequestError, match=r"has 5 .*at most 4 are allowed"):
        run("oa", PAPER, most_cuts=4)
    assert cut_of(run("oa", PAPER, most_cuts=5)) == {"A", "b1", "b2"}
    assert len(naive.all_cuts(PAPER.parents)) == 5


@pytest.mark.parametrize("name", ["da", "aa"])
def test_refined_release_is_the_twins(name: str) -> None:
    refined = 0
    for case in random_cases(examples(400), 30):
        plain, finer = run(name, case), run(name, case, refine=True)
        problem = case.rows, case.parents
        assert cut_of(finer) == naive.refine(*problem, cut_of(plain), case.k, case.m), case
        assert finer.details["labels_before_refining"] == len(cut_of(plain))
        assert finer.details["labels_after_refining"] == len(cut_of(finer))
        refined += cut_of(finer) != cut_of(plain)
    assert refined, "no case had anything to refine"


def test_an_optimal_cut_leaves_nothing_to_refine() -> None:
    for case in random_cases(examples(150), 33):
        release = run("oa", case)
        assert naive.splits(case.rows, case.parents, cut_of(release), case.k, case.m) == [], case
        assert as_bytes(run("oa", case, refine=True)) == as_bytes(release), case


def test_refinement_of_any_valid_cut() -> None:
    """From cuts far coarser than an algorithm's the order of the splits decides the result."""
    rng = seeded(31)
    for case in random_cases(examples(500), 32):
        problem = case.rows, case.parents
        cuts = naive.all_cuts(case.parents)
        some = [frozenset({naive.root(case.parents)}), *rng.sample(cuts, min(len(cuts), 25))]
        coarse = max(
            (cut for cut in some if naive.is_valid(*problem, cut, case.k, case.m)),
            key=lambda cut: sum(
                node in case.parents.values() for node in cut
            ),  # inner nodes: a choice of splits
        )
        nodes = sorted(map(case.tree.id, coarse))
        fine = frozenset(
            case.tree.labels[v] for v in refine(Cut(case.data, case.tree), nodes, case.guarantee, silent)
        )
        assert fine == naive.refine(*problem, coarse, case.k, case.m), (case, coarse)
        assert naive.is_valid(*problem, fine, case.k, case.m), (case, coarse)
        assert naive.cost(*problem, fine) <= naive.cost(*problem, coarse), (case, coarse)
        assert naive.splits(*problem, fine, case.k, case.m) == [], "a node can still be split alone"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_recoding_depends_neither_on_row_order_nor_on_seed(name: str) -> None:
    rng = seeded(40)
    moved = 0
    for case in random_cases(examples(150, 25), 41):
        release = run(name, case, seed=3)
        again = run(name, case.shuffled(rng), seed=3)
        assert again.recoding.image.tolist() == release.recoding.image.tolist(), case
        assert again.recoding.published == release.recoding.published, case
        assert as_bytes(again) == as_bytes(release), "the order of published rows tells of the input's"
        other = run(name, case, seed=4)
        assert cut_of(other) == cut_of(release), case
        assert Counter(rows_of(other)) == Counter(rows_of(release)), case
        moved += as_bytes(other) != as_bytes(release)
    assert moved, "no seed ever changed the order"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_published_rows_are_the_recoded_input_rows(name: str) -> None:
    for case in random_cases(examples(150, 25), 42):
        release = run(name, case, seed=case.k)
        published = rows_of(release)
        expected = naive.recode(case.rows, case.parents, cut_of(release))
        assert sorted(release.row_map.tolist()) == list(range(len(case.rows)))
        assert [published[to] for to in release.row_map] == expected, case
        assert is_km(published, case.k, case.m), case
        assert published.count(frozenset()) == case.rows.count(frozenset())
        assert set(release.published.vocabulary.labels) == {label for row in expected for label in row}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_private_data_come_back_unchanged(name: str) -> None:
    rng = seeded(43)
    for _ in range(examples(100, 20)):
        case = random_case(rng, most_rows=15)
        private = Case(case.rows * case.k, case.parents, case.k, math.inf)
        release = run(name, private)
        assert Counter(rows_of(release)) == Counter(private.rows)
        assert cut_of(release) == set(case.tree.labels[: case.tree.n_leaves])


def test_published_order_is_shuffled() -> None:
    """Check different seeds: sorted rows would reveal nothing about the input's order, but be equal."""
    case = Case(
        [frozenset({str(i % 40)}) for i in range(400)], {str(i): "*" for i in range(40)} | {"*": None}, 2, 1
    )
    orders = {tuple(run("aa", case, seed=seed).published.items.tolist()) for seed in range(5)}
    assert len(orders) == 5
    assert tuple(np.sort(case.data.items).tolist()) not in orders
