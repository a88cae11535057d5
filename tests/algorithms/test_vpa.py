"""VPA against its twin: the same cut, not only as good a one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings

from naive import anonymize as naive
from naive import vpa as twin
from naive.km import is_km
from releases import released
from setveil.base.errors import HierarchyError
from setveil.judges.guarantees.km import KmAnonymity
from setveil.methods.algorithms import aa, vpa
from setveil.releases.published import Release
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import Case, Parents, cases, examples, random_case, random_cases, seeded

TREE: Parents = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None}


def case_of(rows: str, parents: Parents = TREE, k: int = 2, m: int = 2) -> Case:
    """Rows are separated by commas, their items by blanks."""
    return Case([frozenset(row.split()) for row in rows.split(",")], parents, k, m)


def run(case: Case) -> Release:
    return released(vpa, case.data, case.tree, case.guarantee)


def problem_of(case: Case) -> tuple[Transactions, Hierarchy, KmAnonymity]:
    return case.data, case.tree, case.guarantee


def cut_of(release: Release) -> frozenset[str]:
    return frozenset(release.recoding.published.labels)


def test_nothing_within_the_parts_and_pairs_across_them() -> None:
    """The example of docs/searches.md: no part sees the pairs across A and B."""
    case = case_of("a1 b1,a1 b1,a1 b2,a1 b2,a2 b1,a2,a2,b2")
    assert twin.within(case.rows, case.parents, 2, 2) == {"a1", "a2", "b1", "b2"}
    release = run(case)
    assert cut_of(release) == {"A", "b1", "b2"}
    assert release.details == {"parts": 2, "steps_within_parts": 0, "steps_across_parts": 1}


def test_all_within_one_part() -> None:
    case = case_of("a1 b1 b2,a2 b1,a2 b1 b2,a1 a2 b2")
    assert twin.within(case.rows, case.parents, 2, 2) == {"A", "b1", "b2"}
    release = run(case)
    assert cut_of(release) == {"A", "b1", "b2"}
    assert release.details == {"parts": 2, "steps_within_parts": 1, "steps_across_parts": 0}


def test_a_part_in_too_few_rows_is_lifted_by_the_second_phase() -> None:
    case = case_of("a1 b1,b1,b1 b2,b2,b1 b2")
    assert twin.within(case.rows, case.parents, 2, 2) == {"A", "b1", "b2"}
    assert cut_of(run(case)) == {"ALL"}


def test_a_leaf_below_the_root_is_a_part() -> None:
    case = case_of("x a1,x a2,x,a1 a2", TREE | {"x": "ALL"})
    release = run(case)
    assert release.details["parts"] == 2
    assert cut_of(release) == twin.vpa(case.rows, case.parents, 2, 2)


def test_only_children_are_published_rather_than_their_parents() -> None:
    parents: Parents = {"a": "A", "A": "X", "X": "*", "b": "B", "c": "B", "B": "*", "*": None}
    case = case_of("a b,a c,b", parents)
    assert cut_of(run(case)) == {"a", "B"}
    chain: Parents = {"a": "A", "A": "X", "X": None}
    assert cut_of(run(case_of("a,a", chain))) == {"a"}


def check(case: Case) -> Release:
    release = run(case)
    assert cut_of(release) == twin.vpa(case.rows, case.parents, case.k, case.m), case
    published = [frozenset(row) for row in release.published]
    assert is_km(published, case.k, case.m), case
    expected = naive.recode(case.rows, twin.merged(case.parents), cut_of(release))
    assert Counter(published) == Counter(expected)
    return release


def test_cut_is_the_twins() -> None:
    both = 0
    for case in random_cases(examples(700), 200):
        details = check(case).details
        both += details["steps_within_parts"] > 0 and details["steps_across_parts"] > 0
    assert both, "no case needed both phases"


def test_cut_is_the_twins_on_long_and_on_few_rows() -> None:
    for case in random_cases(examples(100), 201, most_rows=40, most_items=9):
        check(case)
    for case in random_cases(examples(700), 202, most_rows=12):
        check(case)


@given(case=cases(most_rows=20))
@settings(deadline=None, max_examples=examples(60, 15))
def test_cut_is_the_twins_by_hypothesis(case: Case) -> None:
    check(case)


def test_cut_does_not_depend_on_the_order_of_rows() -> None:
    rng = seeded(203)
    for _ in range(examples(60, 15)):
        case = random_case(rng)
        assert cut_of(run(case.shuffled(rng))) == cut_of(run(case))


LESS = case_of(
    "e h j,e,e h j,a j,a e h j",
    {
        "h": "K", "k": "K", "a": "C", "c": "C", "e": "J", "j": "J",
        "K": "KC", "C": "KC", "KC": "*", "J": "*", "*": None,
    },
    m=4,
)  # fmt: skip
MORE = case_of(
    "1 c,0 2 c x,c,10 X a x,0 2 c x,x,0 X c x,0 10 x,9,10 c,c,a,10 2 c,10",
    {
        "1": "A", "9": "A", "A": "B", "c": "B", "10": "D", "X": "D", "x": "D", "0": "E", "a": "E", "E": "F",
        "2": "F", "D": "G", "F": "G", "B": "*", "G": "*", "*": None,
    },
    m=3,
)  # fmt: skip


@pytest.mark.parametrize(
    ("case", "by_vpa", "by_aa"),
    [(LESS, Fraction(10, 39), Fraction(6, 13)), (MORE, Fraction(1, 3), Fraction(9, 32))],
    ids=["less", "more"],
)
def test_it_may_lose_less_than_aa_and_more(case: Case, by_vpa: Fraction, by_aa: Fraction) -> None:
    """The order of the repairs differs; neither beats the other always."""
    assert naive.cost(case.rows, case.parents, cut_of(run(case))) == by_vpa
    assert naive.cost(case.rows, case.parents, cut_of(released(aa, *problem_of(case)))) == by_aa


def test_items_that_the_hierarchy_lacks() -> None:
    with pytest.raises(HierarchyError, match="'x'"):
        run(case_of("a1 x,a2 x"))
