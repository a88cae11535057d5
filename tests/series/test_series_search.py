"""Labels of the next release, and people who are withheld: compared with all cuts and all sets of people."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from naive import series_search as naive
from series_search_cases import PROMISES, Case, Recoding, random_case, random_recoding
from setveil.base.errors import RequestError
from setveil.judges.guarantees.series import Known, Presence, SeriesAnonymity
from setveil.methods.histories import exact, greedy, together
from setveil.methods.histories.exposed import exposed
from setveil.methods.histories.found import FoundLabels
from setveil.methods.histories.hold_back import smallest
from setveil.rows.data.people import Appearance, SeriesPeople
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples, seeds

each_promise = pytest.mark.parametrize("promise", PROMISES, ids="-".join)


def next_labels(search: ModuleType, case: Case, **options: Any) -> FoundLabels:
    *earlier, last = case.series.releases
    before = SeriesPeople(tuple(earlier), case.items, case.n_people)
    tree = Hierarchy(case.parents)
    found: FoundLabels = search.next_labels(
        before, last.people, last.indptr, last.items, case.promise, tree, **options
    )
    return found


def recoding(case: Case, found: FoundLabels) -> dict[str, str | None]:
    labels = Hierarchy(case.parents).labels
    return {
        item: None if to < 0 else labels[to]
        for item, to in zip(case.items, found.labels.tolist(), strict=True)
    }


def stays(release: dict[int, frozenset[str]], found: FoundLabels) -> dict[int, frozenset[str]]:
    held = set(found.held.tolist())
    return {person: items for person, items in release.items() if person not in held}


def is_close(lm: float, least: Fraction | None) -> bool:
    return least is not None and abs(lm - least) < 1e-12


@each_promise
def test_the_fewest_people_are_held_back(promise: tuple[Known, Presence]) -> None:
    rng = Random(f"held {promise}")
    some = 0
    for _ in range(examples(200, 20)):
        case = random_case(rng, promise, rng.randint(1, 3))
        held = set(smallest(case.series, case.promise).tolist())
        best = naive.who_stays(case.releases, case.recodings, *case.terms)
        assert held == set(case.releases[-1]) - best
        some += 0 < len(held) < len(case.releases[-1])
    assert some


@each_promise
@seeds(2)
def test_the_next_release_loses_least_of_all_cuts(promise: tuple[Known, Presence], seed: int) -> None:
    rng = Random(f"next {promise} {seed}")
    some = 0
    for _ in range(examples(90, 20)):
        case = random_case(rng, promise, rng.randint(1, 3))
        found, fast = next_labels(exact, case), next_labels(greedy, case, bound=True)
        release = stays(case.releases[-1], found)
        least = naive.least_next(case.releases[:-1], case.recodings[:-1], release, case.parents, *case.terms)
        assert found.proven
        assert is_close(found.lm, least)
        assert found.bound == found.lm
        some += 0 < found.lm < 1
        # Neither exposes anyone, and the greedy one knows its distance from the optimum.
        for one in (found, fast):
            after = [*case.recodings[:-1], recoding(case, one)]
            assert not naive.exposed([*case.releases[:-1], release], after, *case.terms, forgiven=True)
        assert fast.bound - 1e-12 <= found.lm <= fast.lm + 1e-12
        assert fast.held.tolist() == found.held.tolist()
    assert some


@each_promise
@seeds(2)
def test_labels_are_nowhere_finer_than_those_to_start_with(
    promise: tuple[Known, Presence], seed: int
) -> None:
    rng = Random(f"start {promise} {seed}")
    for _ in range(examples(60, 20)):
        case = random_case(rng, promise, rng.randint(1, 3))
        tree = Hierarchy(case.parents)
        start = random_recoding(rng, case.parents, list(case.items))
        shown = [-1 if (to := start[item]) is None else tree.id(to) for item in case.items]
        found = next_labels(exact, case, start_cut=np.array(shown, np.int32))
        fast = next_labels(greedy, case, start_cut=np.array(shown, np.int32))
        release = stays(case.releases[-1], found)
        least = naive.least_next(
            case.releases[:-1], case.recodings[:-1], release, case.parents, *case.terms, start=start
        )
        assert is_close(found.lm, least)
        for one in (found, fast):
            assert naive.coarser(recoding(case, one), start, case.parents, naive.items_of(release))
        assert fast.lm >= found.lm - 1e-12


@each_promise
@seeds(2)
def test_releases_planned_together_lose_least_of_all_cuts(promise: tuple[Known, Presence], seed: int) -> None:
    rng = Random(f"planned {promise} {seed}")
    some = 0
    for _ in range(examples(45, 10)):
        case = random_case(rng, promise, 2, 6)
        weights = [rng.randint(1, 3) for _ in case.releases]
        plan = together.plan(case.series, case.promise, Hierarchy(case.parents), weights=weights)
        releases = [stays(*one) for one in zip(case.releases, plan.releases, strict=True)]
        assert plan.proven
        assert is_close(plan.lm, naive.least_planned(releases, case.parents, *case.terms, weights))
        after = [recoding(case, found) for found in plan.releases]
        assert not naive.exposed(releases, after, *case.terms)
        for release, to, found in zip(releases, after, plan.releases, strict=True):
            lost, worst = naive.loss(release, to, case.parents)
            assert is_close(found.lm, Fraction(lost, max(worst * sum(map(len, release.values())), 1)))
        some += 0 < plan.lm < 1
    assert some


@each_promise
def test_more_people_are_found_as_counted_one_by_one_and_not_by_greedy_labels(
    promise: tuple[Known, Presence],
) -> None:
    rng = Random(f"more {promise}")
    for _ in range(examples(24, 6)):
        case = random_case(rng, promise, rng.randint(2, 3), most_people=40)
        case = replace(case, k=rng.randint(2, 6))
        found = naive.exposed(case.releases, case.recodings, *case.terms)
        assert exposed(case.series, case.promise).tolist() == sorted(found)
        held = set(smallest(case.series, case.promise).tolist())
        release = {person: items for person, items in case.releases[-1].items() if person not in held}
        fine = [*case.releases[:-1], release]
        assert not naive.exposed(fine, case.recodings, *case.terms, forgiven=True)
        fast = next_labels(greedy, case)
        after = [*case.recodings[:-1], recoding(case, fast)]
        release = stays(case.releases[-1], fast)
        assert not naive.exposed([*case.releases[:-1], release], after, *case.terms, forgiven=True)


def example() -> Case:
    """Make seven people; only Ann has a in both releases."""
    first = {0: "ac", 1: "ac", 2: "bc", 3: "b", 4: "b"}
    second = {0: "a", 1: "c", 2: "b", 3: "bd", 5: "a", 6: "d"}
    parents: Recoding = {"a": "A", "b": "A", "c": "C", "d": "C", "A": "ALL", "C": "ALL", "ALL": None}
    itself: Recoding = dict(zip("abcd", "abcd", strict=True))
    releases = [{p: frozenset(items) for p, items in rows.items()} for rows in (first, second)]
    return Case(releases, [itself, itself], parents, 7, 2, 1, "histories", "implied")


def test_a_history_costs_more_than_facts() -> None:
    case = example()
    by_histories = next_labels(exact, case)
    assert by_histories.lm == 3 / 7
    assert recoding(case, by_histories) == {"a": None, "b": "b", "c": None, "d": "d"}
    assert by_histories.left_out == 3
    by_facts = next_labels(
        exact, Case(case.releases, case.recodings, case.parents, 7, 2, 1, "facts", "implied")
    )
    assert by_facts.lm == 1 / 7


def test_a_register_costs_nothing_here() -> None:
    case = example()
    everybody = dict(case.releases[0])
    for person, items in case.releases[1].items():
        everybody[person] = everybody.get(person, frozenset()) | items
    for known in ("histories", "facts"):
        register = Case(
            [case.releases[0], everybody], case.recodings, case.parents, 7, 2, 1, known, "implied"
        )
        assert next_labels(exact, register).lm == 0


def test_who_comes_again_alone_must_be_held_back() -> None:
    first = {0: frozenset("a"), 1: frozenset("a"), 2: frozenset("b"), 3: frozenset("b")}
    second = {0: frozenset("a"), 4: frozenset("a"), 5: frozenset("a")}
    parents: Recoding = {"a": "ALL", "b": "ALL", "ALL": None}
    itself: Recoding = {"a": "a", "b": "b"}
    case = Case([first, second], [itself, itself], parents, 6, 2, 1, "histories", "implied")
    found = next_labels(exact, case)
    assert found.held.tolist() == [0]
    assert found.lm == 0
    ignored = Case([first, second], [itself, itself], parents, 6, 2, 1, "histories", "ignored")
    found = next_labels(exact, ignored)
    assert found.held.size == 0
    assert found.lm == 1


def test_what_was_found_before_is_not_looked_at_again() -> None:
    # Someone who knows a finds person 0 in the first release alone; later releases cannot change that.
    first = {0: frozenset("ab"), 1: frozenset("b"), 2: frozenset("b")}
    second = {0: frozenset("ab"), 1: frozenset("b"), 3: frozenset("a"), 2: frozenset("b")}
    parents: Recoding = {"a": "ALL", "b": "ALL", "ALL": None}
    itself: Recoding = {"a": "a", "b": "b"}
    case = Case([first, second], [itself, itself], parents, 4, 2, 1, "histories", "implied")
    found = next_labels(exact, case)
    assert found.held.size == 0
    assert found.lm == 0


def test_an_item_that_nobody_has_gets_the_label_that_it_would_have() -> None:
    release = dict.fromkeys(range(4), frozenset("a"))
    parents: Recoding = {"a": "A", "b": "A", "c": "C", "d": "C", "A": "ALL", "C": "ALL", "ALL": None}
    case = Case([release], [dict.fromkeys("abcd")], parents, 4, 2, 1, "histories", "implied")
    found = next_labels(exact, case)
    assert recoding(case, found) == {"a": "a", "b": "b", "c": "c", "d": "d"}
    assert found.cut == [0]


@pytest.mark.parametrize("search", [exact, greedy])
def test_a_release_of_nobody_loses_nothing(search: ModuleType) -> None:
    nobody = SeriesPeople((), ("a", "b"), 0)
    tree = Hierarchy({"a": "ALL", "b": "ALL", "ALL": None})
    none = np.zeros(0, np.int64)
    found = search.next_labels(
        nobody, none, np.zeros(1, np.int64), none.astype(np.int32), SeriesAnonymity(2, 1), tree
    )
    assert (found.lm, found.proven, found.held.size) == (0, True, 0)


def test_stopped_at_once_it_has_valid_labels_and_says_that_nothing_is_proven() -> None:
    rng = Random("stopped")
    for _ in range(20):
        case = random_case(rng, ("histories", "implied"), 2)
        found = next_labels(exact, case, time_limit=0)
        release = stays(case.releases[-1], found)
        after = [*case.recodings[:-1], recoding(case, found)]
        assert not naive.exposed([*case.releases[:-1], release], after, *case.terms, forgiven=True)
        assert found.bound <= found.lm


def test_a_weight_for_each_release_is_required() -> None:
    case = example()
    with pytest.raises(RequestError, match="expected one of at least 1 for each of 2 releases"):
        together.plan(case.series, case.promise, Hierarchy(case.parents), weights=[1])


def test_series_of_very_many_releases_are_refused() -> None:
    one = Appearance(np.arange(2), np.zeros(3, np.int64), np.zeros(0, np.int32), np.full(1, -1, np.int32))
    with pytest.raises(RequestError, match="41 releases"):
        smallest(SeriesPeople((one,) * 41, ("a",), 2), SeriesAnonymity(2, 1))
