"""PCTA, compared with its twin: the same merges in the same order, on any constraints; its guarantees."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import merging_cases
import setveil as sv
from merging_cases import PRIVACY, ROWS, UTILITY, as_bytes, groups, image, random_problem
from naive.coat import TooManySuppressedError, all_itemsets, is_satisfied, publish
from naive.pcta import Step
from naive.pcta import pcta as twin
from releases import released
from setveil.base.errors import HierarchyError, InfeasibleError, RequestError
from setveil.base.progress import listener
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.verify.constraints import verify_constraints
from setveil.judges.guarantees.verify.km import verify_km
from setveil.methods.algorithms import _all_itemsets
from setveil.methods.algorithms._item_groups import ItemGroups
from setveil.methods.algorithms.pcta import pcta
from setveil.releases.published import Release
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import Rows, examples, random_case, seeded, seeds, transactions


def run(
    rows: Rows, guarantee: PrivacyConstraints, tree: Hierarchy | None = None, seed: int = 0, **parameters: Any
) -> Release:
    return merging_cases.run(pcta, rows, guarantee, tree, seed, **parameters)


def rows_of(*rows: str) -> Rows:
    return [frozenset(row) for row in rows]


@contextmanager
def steps() -> Iterator[list[Step]]:
    """List the merged and suppressed items meanwhile."""
    found: list[Step] = []

    def named(groups: ItemGroups, group: int) -> frozenset[str]:
        return frozenset(groups.items.labels[item] for item in groups.members(group))

    merge, suppress = ItemGroups.merge, ItemGroups.suppress

    def merge_and_tell(self: ItemGroups, a: int, b: int) -> int:
        found.append((named(self, a), named(self, b)))
        return merge(self, a, b)

    def suppress_and_tell(self: ItemGroups, group: int) -> None:
        found.append(named(self, group))
        suppress(self, group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ItemGroups, "merge", merge_and_tell)
        patch.setattr(ItemGroups, "suppress", suppress_and_tell)
        yield found


def check_twins(n: int, seed: int) -> Counter[str]:
    rng = seeded(seed)
    seen: Counter[str] = Counter()
    for _ in range(n):
        problem = random_problem(rng)
        if 0 < sum(map(bool, problem.case.rows)) < problem.case.k:
            continue
        try:
            expected, path = twin(*problem.arguments())
        except TooManySuppressedError as error:
            seen["too many suppressed"] += 1
            with pytest.raises(InfeasibleError) as caught:
                problem.run(pcta)
            listed = problem.utility or ()
            number = next((i for i, u in enumerate(listed, 1) if set(u) == error.constraint), None)
            assert ("group of" if number is None else f"constraint {number} broke") in str(caught.value), (
                problem
            )
            continue
        with steps() as taken:
            release = problem.run(pcta)
        assert taken == path, problem
        assert groups(release) == expected, problem
        seen["suppressed"] += None in expected.values()
        seen["merged"] += any(group and len(group) > 1 for group in expected.values())
    return seen


@seeds(4)
def test_steps_are_the_twins(seed: int) -> None:
    seen = check_twins(examples(500, 60), seed)
    assert min(seen["too many suppressed"], seen["suppressed"], seen["merged"]) > 0, seen


@pytest.mark.parametrize("capacity", [1, 2])
def test_steps_are_the_twins_however_few_itemsets_are_kept(
    capacity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_all_itemsets, "CAPACITY", capacity)
    check_twins(examples(300, 40), 10 + capacity)


def test_steps_are_the_twins_where_much_is_suppressed() -> None:
    """Check that suppressed items, which replace others in the next protected set, change its order."""
    rng = seeded(15)
    for _ in range(examples(100, 40)):
        items = "abcdefghijklmn"[: rng.choice((8, 10, 14))]
        rows = [frozenset(rng.sample(items, rng.randint(1, 4))) for _ in range(rng.choice((8, 15)))]
        k, m, left, utility = rng.randint(3, 7), rng.choice((2, 3)), rng.sample(items, len(items)), []
        while left:
            size = rng.choice((1, 1, 2, 3))
            utility.append(tuple(left[:size]))
            left = left[size:]
        order = [item for item in items if any(item in row for row in rows)]
        privacy = all_itemsets(rows, min(m, max(map(len, rows))), order)
        expected, path = twin(rows, order, privacy, [set(u) & set(order) for u in utility], k)
        with steps() as taken:
            release = run(rows, PrivacyConstraints(k, m=m), utility=tuple(utility), max_suppressed_items=1)
        assert taken == path, (rows, k, m, utility)
        assert groups(release) == expected


def test_all_itemsets_are_the_same_as_a_list_of_them() -> None:
    rng = seeded(20)
    for _ in range(examples(40, 4)):
        rows = [frozenset(rng.sample("abcdefghijklmnopqrst", rng.randint(1, 8))) for _ in range(60)]
        k, m = rng.randint(2, 12), rng.choice((1, 2, 3))
        listed = PrivacyConstraints(k, all_itemsets(rows, m, "abcdefghijklmnopqrst"))
        utility = rng.choice((None, ("abcdefg", "hijk", "l")))
        more: dict[str, Any] = {"utility": utility and tuple(map(tuple, utility)), "max_suppressed_items": 1}
        with steps() as one:
            run(rows, PrivacyConstraints(k, m=m), **more)
        with steps() as other:
            run(rows, listed, **more)
        assert one == other


def pair(a: str, b: str) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(a), frozenset(b)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_rare_pair_that_no_three_items_become(k: int) -> None:
    """k - 1 rows hold a and b, and nothing else; neither represents a further item."""
    rows = [frozenset(row) for row in [*["ab"] * (k - 1), *["a", "b", "cde"] * k]]
    listed = PrivacyConstraints(k, all_itemsets(rows, 3, "abcde"))
    both = [run(rows, one, max_suppressed_items=1) for one in (PrivacyConstraints(k, m=3), listed)]
    assert groups(both[0]) == groups(both[1])
    assert groups(both[0]) != {item: frozenset(item) for item in "abcde"}


def test_worked_example() -> None:
    with steps() as taken:
        release = run(ROWS, PrivacyConstraints(5, PRIVACY))
    assert taken == [
        pair("b", "d"), pair("a", "c"), pair("bd", "h"), pair("ac", "e"), pair("f", "g"), pair("ace", "fg"),
    ]  # fmt: skip
    assert image(release) == dict.fromkeys("acefg", "(a,c,e,f,g)") | dict.fromkeys("bdh", "(b,d,h)")


def test_worked_example_with_utility_constraints() -> None:
    guarantee = PrivacyConstraints(5, PRIVACY)
    with steps() as taken:
        release = run(ROWS, guarantee, utility=UTILITY, max_suppressed_items=0.15)
    assert taken == [
        pair("a", "b"), pair("g", "h"), pair("e", "f"), pair("ef", "gh"), frozenset("d"),
    ]  # fmt: skip
    assert image(release) == {"c": "c", "d": None} | dict.fromkeys("ab", "(a,b)") | dict.fromkeys(
        "efgh", "(e,f,g,h)"
    )
    details = release.details
    assert (details["generalizations"], details["suppressions"], details["suppressed"]) == (4, 1, ["d"])
    counts = [(c["satisfied"], c["rows_before"], c["rows_after"]) for c in details["utility_constraints"]]
    assert counts == [(True, 7, 7), (True, 6, 6), (False, 4, 0), (True, 9, 9)]
    with pytest.raises(InfeasibleError) as caught:
        run(ROWS, guarantee, utility=UTILITY, max_suppressed_items=0.12)
    message = str(caught.value)
    for words in (
        "at most 12% of them may (0)",
        "Utility constraint 3 broke this limit: 'd'.",
        "The itemset to protect was then 'd', 'e', 'f', 'g', 'h'.",
        "Allow 12.5%",
    ):
        assert words in message
    assert run(ROWS, guarantee, utility=UTILITY, max_suppressed_items=Fraction(1, 8)).details["suppressed"]


@pytest.mark.parametrize(
    ("utility", "expected"),
    [
        (["ab", "cd"], dict.fromkeys("ab", "(a,b)") | dict.fromkeys("cd", "(c,d)")),
        (["ab", "c", "d"], dict.fromkeys("ab", "(a,b)") | {"c": None, "d": "d"}),
    ],
)
def test_a_merge_may_break_what_was_satisfied(utility: list[str], expected: dict[str, str | None]) -> None:
    rows, privacy = rows_of("ad", "a", "a", "bd", "bc", "c", "d"), [tuple("ac"), tuple("ad")]
    alone = {item: frozenset(item) for item in "abcd"}
    assert is_satisfied(publish(rows, alone), frozenset(map(frozenset, "ac")), 2)  # a and c share no row
    merged = alone | dict.fromkeys("ab", frozenset("ab"))
    assert is_satisfied(publish(rows, merged), frozenset(map(frozenset, ("ab", "d"))), 2)
    assert not is_satisfied(publish(rows, merged), frozenset(map(frozenset, ("ab", "c"))), 2)
    guarantee = PrivacyConstraints(2, privacy)
    release = run(rows, guarantee, utility=tuple(map(tuple, utility)), max_suppressed_items=1)
    assert image(release) == expected
    assert verify_constraints(release.published, guarantee, image=image(release)).holds


@pytest.mark.parametrize(
    ("rows", "privacy", "expected"),
    [
        # All pairs cost the same: the first in the order of the items that has a member in xz.
        (["xz", "x", "y", "z", "w"], "xz", ("w", "x")),
        # The partner may be outside of the constraint, and cheaper than any inside.
        (["ab", "a", "a", "b", "b", "c"], "ab", ("a", "c")),
        # Not the rarest item of the constraint is merged, but b, which is in the same rows as c.
        (["ab", "a", "a", "bc", "bc", "bc", "d", "d", "d"], "ab", ("b", "c")),
    ],
)
def test_ties_and_partners_from_outside(rows: list[str], privacy: str, expected: tuple[str, str]) -> None:
    with steps() as taken:
        run(rows_of(*rows), PrivacyConstraints(2, [tuple(privacy)]))
    assert taken[0] == pair(*expected)


def test_weights_come_from_the_hierarchy() -> None:
    rows = rows_of("a", "b", "b", "b", "c", "c")
    tree = Hierarchy({"a": "X", "b": "X", "c": "Y", "d": "Y", "X": "*", "Y": "*", "*": None})
    guarantee = PrivacyConstraints(2, [("a",)])
    assert image(run(rows, guarantee))["a"] == "(a,c)"  # 3 rows, not 4
    with_weights = run(rows, guarantee, tree)
    assert image(with_weights) == {"a": "(a,b)", "b": "(a,b)", "c": "c", "d": "d"}  # 4 * 2/4, not 3 * 4/4


def test_promises_are_kept() -> None:
    """The verifiers accept; only items of one utility constraint are merged; their counts stay."""
    rng = seeded(30)
    for _ in range(examples(700, 60)):
        problem = random_problem(rng, Fraction(1))
        rows, listed = problem.case.rows, problem.utility or ()
        if 0 < sum(map(bool, rows)) < problem.case.k:
            continue
        release = problem.run(pcta)
        verdict = verify_constraints(release.published, problem.guarantee, image=image(release))
        assert verdict.holds, (problem, verdict)
        if problem.guarantee.m is not None:
            km = sv.KmAnonymity(problem.guarantee.k, problem.guarantee.m)
            assert verify_km(release.published, km).holds, problem
        assert sorted(release.row_map.tolist()) == list(range(len(rows)))
        utility = [set(u) for u in listed] + [set(problem.items).difference(*listed)]
        of = groups(release)
        assert all(group is None or any(group <= u for u in utility) for group in of.values()), problem
        for entry in release.details["utility_constraints"]:
            assert not entry["satisfied"] or entry["rows_before"] == entry["rows_after"], problem
        assert release.details["suppressed"] == [i for i in problem.items if of[i] is None]


def test_without_utility_constraints_nothing_is_suppressed() -> None:
    rng = seeded(31)
    for _ in range(examples(300, 60)):
        problem = dataclasses.replace(random_problem(rng), utility=None, share=Fraction(0))
        if not 0 < sum(map(bool, problem.case.rows)) < problem.case.k:
            assert problem.run(pcta).details["suppressed"] == [], problem


@pytest.mark.parametrize(
    ("rows", "k", "nearest"),
    [(["ab", "", "b", "c"], 4, "greatest possible k is 3"), (["ab"], 2, "At least two non-empty rows")],
)
def test_infeasible_names_the_greatest_feasible_k(rows: list[str], k: int, nearest: str) -> None:
    for guarantee in (PrivacyConstraints(k, m=2), PrivacyConstraints(k, [("a", "b")])):
        with pytest.raises(InfeasibleError, match=nearest):
            run(rows_of(*rows), guarantee)
    with pytest.raises(InfeasibleError, match="first itemset without protection is 'b', 'x'"):
        run(rows_of(*rows), PrivacyConstraints(k, [("x",), ("b", "x"), ("a",)]))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_little_or_nothing_in_the_rows(m: int) -> None:
    guarantee = PrivacyConstraints(3, m=m)
    for rows in ([], rows_of("", ""), rows_of("a", "", "a", "a"), rows_of(*["abc"] * 5)):
        assert Counter(map(frozenset, run(rows, guarantee).published)) == Counter(rows)
    assert image(run(rows_of("a", "b", "c"), guarantee)) == dict.fromkeys("abc", "(a,b,c)")


def test_private_data_are_published_as_they_are() -> None:
    rng = seeded(50)
    for _ in range(examples(60, 15)):
        case = random_case(rng, most_rows=15)
        rows = case.rows * case.k
        assert Counter(map(frozenset, run(rows, PrivacyConstraints(case.k, m=3)).published)) == Counter(rows)


def test_items_in_no_constraint_and_items_that_occur_nowhere() -> None:
    rows = rows_of("xy", "xy", "z", "w")
    tree = Hierarchy(dict.fromkeys("uvwxyz", "*") | {"*": None})
    release = run(rows, PrivacyConstraints(2, [("x", "y"), ("u", "v"), ("gone", "x")]), tree)
    assert image(release) == {item: item for item in "uvwxyz"}
    release = run(rows, PrivacyConstraints(2, [("z", "u")]), tree)
    assert image(release) == {item: item for item in "uvxy"} | dict.fromkeys("wz", "(w,z)")


def test_same_input_same_bytes_whatever_the_order_of_rows() -> None:
    rng = seeded(60)
    for _ in range(examples(60, 10)):
        problem = random_problem(rng, Fraction(1))
        if 0 < sum(map(bool, problem.case.rows)) < problem.case.k:
            continue
        shuffled = dataclasses.replace(problem, case=problem.case.shuffled(rng))
        release = problem.run(pcta, 3)
        assert as_bytes(release) == as_bytes(problem.run(pcta, 3)), problem
        assert as_bytes(release)[:5] == as_bytes(shuffled.run(pcta, 3))[:5], problem


def test_input_is_left_alone() -> None:
    data = transactions(ROWS)
    before = data.indptr.copy(), data.items.copy()
    released(pcta, data, None, PrivacyConstraints(5, m=2))
    assert np.array_equal(data.indptr, before[0])
    assert np.array_equal(data.items, before[1])


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(RequestError, match="0 to 1"):
        pcta.Parameters(max_suppressed_items=1.5)
    with pytest.raises(RequestError, match="constraints 1 and 2"):
        pcta.Parameters(utility=[("a", "b"), ("a",)])
    with pytest.raises(HierarchyError, match="'b'"):
        run(rows_of(*["ab"] * 3), PrivacyConstraints(2, m=1), Hierarchy({"a": "*", "*": None}))


def test_from_python() -> None:
    release = sv.anonymize(
        [sorted(row) for row in ROWS],
        sv.PrivacyConstraints(5, PRIVACY),
        algorithm=sv.PCTA(utility=[tuple("abcdefgh")]),
    )
    assert release.verdict.holds
    assert {label for row in release.published for label in row} == {"(a,c,e,f,…)", "(… 1)"}
    listed = sv.anonymize(
        [sorted(row) for row in ROWS],
        sv.PrivacyConstraints(5, PRIVACY),
        algorithm=sv.PCTA(utility=[tuple("abcdefgh")]),
        list_members=True,
    )
    assert {label for row in listed.published for label in row} == {"(a,c,e,f,g)", "(b,d,h)"}


def test_progress_is_reported() -> None:
    heard: list[str] = []
    hear = listener(lambda *told: heard.append(told[0]))
    rng = seeded(70)
    rows = [frozenset(str(rng.randrange(300)) for _ in range(5)) for _ in range(300)]
    for guarantee in (PrivacyConstraints(3, list(combinations("123", 2))), PrivacyConstraints(3, m=2)):
        released(pcta, transactions(rows), None, guarantee, progress=hear)
    assert set(heard) == {"counting the constraints", "protecting itemsets"}
