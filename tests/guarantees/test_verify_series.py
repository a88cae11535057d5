"""Several releases about the same people, verified by definition."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from naive import series as naive
from series_cases import KNOWN, PRESENCE, Series, random_series, series
from setveil.judges.guarantees.series import Known, Presence, SeriesAnonymity
from setveil.judges.guarantees.verify.series import least_candidates, newly_exposed, verify_series
from setveil.rows.data.people import Appearance, SeriesPeople
from strategies import examples

WAYS = [(known, presence) for known in KNOWN for presence in PRESENCE]


def expect_like_naive(case: Series, k: int, m: int, known: Known, presence: Presence) -> bool:
    promise = SeriesAnonymity(k, m, known, presence)
    codes = case.codes()
    verdict = verify_series(codes, promise, show=9)
    slow = naive.candidates(case.releases, case.labels, m, known, presence)
    assert least_candidates(codes, promise).tolist() == [slow[p] for p in case.people]
    below = [p for p in case.people if slow[p] < k]
    assert verdict.holds == (not below)
    assert (verdict.exposed, verdict.unique) == (len(below), sum(slow[p] == 1 for p in case.people))
    assert verdict.people == len(case.people)
    assert verdict.returning == sum(sum(p in r for r in case.releases) > 1 for p in case.people)
    for t, exposed in enumerate(verdict.each):
        alone = naive.candidates([case.releases[t]], [case.labels[t]], m, known, presence)
        assert exposed == sum(n < k for n in alone.values())
    exactly = naive.exposed_exactly(case.releases, case.labels, k, m, known, presence)
    assert verdict.exactly == len(exactly)
    assert {case.people[one.person] for one in verdict.first} == set(below)
    for one in verdict.first:
        assert 1 <= len(one.facts) <= m
        tokens: set[naive.Token] = set()
        for fact in one.facts:
            for t in fact.releases:
                here = case.releases[t][case.people[one.person]]
                if fact.item is None:
                    assert presence == "known"
                    tokens.add((t, naive.HERE))
                else:
                    item = frozenset({case.items[fact.item]})
                    assert item <= here
                    tokens |= naive.tokens_of(item, case.labels[t], t, presence)
        rows = naive.joined(case.releases, case.labels, presence)
        assert one.candidates == sum(tokens <= row for row in rows.values()) < k
    if len(case.releases) > 1:
        new = naive.newly_exposed(case.releases, case.labels, k, m, known, presence)
        assert {case.people[p] for p in newly_exposed(codes, promise)} == new
    return verdict.holds


def test_tiny_series_are_judged_as_by_definition() -> None:
    rng = Random(33)
    held = 0
    for _ in range(examples(2000, 400)):
        case = random_series(rng)
        known, presence = rng.choice(WAYS)
        held += expect_like_naive(case, rng.randint(2, 4), rng.randint(1, 4), known, presence)
    assert held


@pytest.mark.parametrize(("known", "presence"), WAYS)
def test_every_promise_is_judged_as_by_definition(known: Known, presence: Presence) -> None:
    rng = Random(known + presence)
    for _ in range(examples(80, 20)):
        expect_like_naive(random_series(rng), rng.randint(2, 3), rng.randint(1, 3), known, presence)


PLAIN: dict[str, str | None] = {}


def ward(second: dict[str, str | None], **more: str) -> Series:
    """Make the example of docs/series.md."""
    people = {
        "ann": "ac|a", "bob": "ac|c", "cid": "b|b", "dee": "b|bd", "eva": "b|-", "fay": "-|a", "gus": "-|d",
    }  # fmt: skip
    return series([dict(PLAIN), second], **(people | more))


def exposed(
    case: Series, m: int = 1, known: Known = "histories", presence: Presence = "implied"
) -> list[str]:
    least = least_candidates(case.codes(), SeriesAnonymity(2, m, known, presence))
    return [p for p, n in zip(case.people, least.tolist(), strict=True) if n < 2]


def test_a_release_that_is_safe_alone_exposes_by_what_came_before() -> None:
    best_alone = ward({"c": "C", "d": "C"})
    verdict = verify_series(best_alone.codes(), SeriesAnonymity(2, 1))
    assert verdict.each == (0, 0)
    assert exposed(best_alone) == ["ann", "bob"]  # each alone has an item in both
    assert exposed(best_alone, known="facts") == []
    assert exposed(ward({"a": "A", "b": "A", "c": "C", "d": "C"})) != []  # no broader label helps
    assert exposed(ward({"a": None, "c": None})) == []
    (first,) = verify_series(best_alone.codes(), SeriesAnonymity(2, 1), show=1).first
    (fact,) = first.facts
    assert (best_alone.people[first.person], best_alone.items[fact.item or 0]) == ("ann", "a")
    assert (fact.releases, first.candidates) == ((0, 1), 1)


def test_a_register_keeps_the_promise_that_a_new_period_breaks() -> None:
    so_far = {"ann": "ac|ac", "bob": "ac|ac", "dee": "b|bd", "eva": "b|b"}
    assert exposed(ward({}, **so_far)) == []
    assert exposed(ward({}, **so_far), known="facts") == []


def test_who_comes_back_alone_is_found_though_her_row_shows_nothing() -> None:
    everything_out: dict[str, str | None] = {"a": None, "b": None}
    case = series([dict(PLAIN), everything_out], p="a|a", q="a|-", r="b|-", s="b|-")
    assert exposed(case) == ["p"]
    assert exposed(case, presence="known") == ["p"]
    assert exposed(case, presence="ignored") == []


def test_presence_known_is_one_of_the_known_items() -> None:
    case = series([dict(PLAIN), dict(PLAIN)], p="a|", q="a|-", r="a|-", s="b|", t="b|-", u="b|-")
    assert exposed(case) == []
    assert exposed(case, m=2) == []
    assert exposed(case, presence="known") == []  # two are in both
    assert exposed(case, m=2, presence="known") == ["p", "s"]  # in both, and had a in the first


def test_what_is_implied_by_what() -> None:
    rng = Random(2)
    for _ in range(examples(150, 40)):
        case = random_series(rng)
        codes, k, m = case.codes(), rng.randint(2, 3), rng.randint(1, 2)

        def least(known: Known, presence: Presence, m: int = m, of: SeriesPeople = codes) -> np.ndarray:
            return least_candidates(of, SeriesAnonymity(2, m, known, presence))

        for known in KNOWN:
            assert (least(known, "known") <= least(known, "implied")).all()
            assert (least(known, "implied") <= least(known, "ignored")).all()
        often = [
            sum(i in r.get(p, ()) for r in case.releases) for p in case.people for i in case.items
        ]  # in how many releases a person has an item
        widest = max(often, default=0)
        for presence in PRESENCE:
            assert (least("histories", presence) <= least("facts", presence)).all()
            if presence != "known" and widest:
                assert (least("facts", presence, m * widest) <= least("histories", presence)).all()
            # Every part of a series satisfies the guarantee of the whole.
            if verify_series(codes, SeriesAnonymity(k, m, "histories", presence)).holds:
                for t in range(len(codes.releases)):
                    part = replace(codes, releases=codes.releases[:t] + codes.releases[t + 1 :])
                    assert verify_series(part, SeriesAnonymity(k, m, "histories", presence)).holds


def test_a_label_moved_up_with_its_siblings_or_suppressed_exposes_nobody() -> None:
    rng = Random(3)
    for _ in range(examples(150, 40)):
        case = random_series(rng)
        t = rng.randrange(len(case.labels))
        shown = sorted({x for x in case.labels[t].values() if x})
        merged = rng.sample(shown, min(len(shown), 2))
        to = rng.choice(["one", None])
        labels = [dict(x) for x in case.labels]
        labels[t] = {i: to if x in merged else x for i, x in labels[t].items()}
        promise = SeriesAnonymity(2, rng.randint(1, 2), rng.choice(KNOWN), rng.choice(PRESENCE))
        before = least_candidates(case.codes(), promise)
        assert (least_candidates(Series(case.releases, labels).codes(), promise) >= before).all()


def test_counts_of_items_find_somebody_in_a_register() -> None:
    # One of three rows that may contain c in release 2 does. If rows 1 and 2 are known to contain the two
    # occurrences of a still, c is in the third.
    releases = [
        {"1": frozenset("a"), "2": frozenset("a"), "3": frozenset("d"), "4": frozenset("d")},
        {"1": frozenset("a"), "2": frozenset("a"), "3": frozenset("cd"), "4": frozenset("d")},
    ]
    plain: dict[str, str | None] = {i: i for i in "acd"}
    case = Series(releases, [plain, plain | {"a": "L", "c": "L"}])
    assert verify_series(case.codes(), SeriesAnonymity(2, 1)).holds
    worlds = [
        world
        for world in naive.worlds(case.releases, case.labels)
        if all(sum(i in row for row in world[1].values()) == n for i, n in {"a": 2, "c": 1, "d": 2}.items())
    ]
    held = {p for world in worlds for p in world[1] if "c" in world[1][p]}
    assert held == {"1", "2", "3"}
    staying = [world for world in worlds if all(world[0][p] <= world[1][p] for p in world[0])]
    assert {p for world in staying for p in world[1] if "c" in world[1][p]} == {"3"}


def test_of_people_without_items_nothing_can_be_known() -> None:
    nobody = SeriesPeople((), (), 0)
    assert verify_series(nobody, SeriesAnonymity(2, 2)).holds
    empty = Appearance(np.arange(1), np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert verify_series(SeriesPeople((empty, empty), (), 1), SeriesAnonymity(2, 2)).holds
    alone = verify_series(SeriesPeople((empty, empty), (), 1), SeriesAnonymity(2, 2, presence="known"))
    assert (alone.exposed, alone.unique, alone.first[0].facts[0].item) == (1, 1, None)


def test_who_is_not_checked_hides_others_all_the_same() -> None:
    rng = Random(5)
    for _ in range(examples(200, 40)):
        case = random_series(rng)
        known, presence = rng.choice(WAYS)
        k, m = rng.randint(2, 3), rng.randint(1, 3)
        promise = SeriesAnonymity(k, m, known, presence)
        n = len(case.people)
        gone = np.array(sorted(rng.sample(range(n), rng.randint(0, n))), np.int64)
        codes = replace(case.codes(), unchecked=gone)
        slow = naive.candidates(case.releases, case.labels, m, known, presence)
        checked = [p for at, p in enumerate(case.people) if at not in gone.tolist()]
        verdict = verify_series(codes, promise)
        assert verdict.exposed == sum(slow[p] < k for p in checked)
        exactly = naive.exposed_exactly(case.releases, case.labels, k, m, known, presence)
        assert verdict.exactly == len(exactly & set(checked))
