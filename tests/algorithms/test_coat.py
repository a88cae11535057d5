"""COAT, compared with its twin: the same groups and suppressed items, on any constraints; its guarantees."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import merging_cases
from merging_cases import PRIVACY, ROWS, UTILITY, Problem, as_bytes, groups, image, random_problem
from naive import coat as naive
from releases import released
from setveil.base.errors import HierarchyError, InfeasibleError, RequestError
from setveil.base.progress import listener
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.verify.constraints import verify_constraints
from setveil.kernels.item_groups import compare_losses
from setveil.methods.algorithms import _all_itemsets
from setveil.methods.algorithms.coat import coat
from setveil.releases.published import Release
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import Rows, examples, random_case, seeded, seeds, transactions


def test_weights_change_what_is_merged() -> None:
    """By shares of leaves b goes with a; if their group weighs as much as all items, with the rarer c."""
    rows = [frozenset(row) for row in ("ab", "a", "a", "bc", "c")]
    tree = Hierarchy.from_paths([["a", "ab", "*"], ["b", "ab", "*"], ["c", "*", "*"]])
    guarantee = PrivacyConstraints(3, (("b",),))
    plain = run(rows, guarantee, tree)
    assert groups(plain)["b"] == frozenset("ab")
    assert "utility_loss" not in plain.details
    weighed = run(rows, guarantee, tree, label_weights={"ab": 1})
    assert groups(weighed)["b"] == frozenset("bc")
    loss = 3 * 1 * Fraction(3, 5) + 1 * Fraction(1, 3) * Fraction(3, 5)  # (b,c) of all items' group, and a
    assert weighed.details["utility_loss"]["log2_labels"] == pytest.approx(math.log2(loss / 7))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"d": 1}, "no node of the hierarchy has this label"),
        ({"b": "3/4"}, "A group must weigh at least as much as its parts"),
        ({"ab": 0}, "must be above 0 and at most 1"),
        ({"ab": 1.5}, "must be above 0 and at most 1"),
        ({"ab": f"{2**61 - 1}/{2**61}"}, "too many digits"),
    ],
)
def test_weights_that_are_refused(weights: dict[str, Any], message: str) -> None:
    tree = Hierarchy.from_paths([["a", "ab", "*"], ["b", "ab", "*"], ["c", "*", "*"]])
    with pytest.raises(RequestError, match=message):
        run([frozenset("abc")] * 4, PrivacyConstraints(2, m=1), tree, label_weights=weights)


def test_weights_need_a_hierarchy() -> None:
    with pytest.raises(RequestError, match="need a hierarchy"):
        run([frozenset("ab")] * 4, PrivacyConstraints(2, m=1), label_weights={"a": 1})


def run(
    rows: Rows, guarantee: PrivacyConstraints, tree: Hierarchy | None = None, seed: int = 0, **parameters: Any
) -> Release:
    return merging_cases.run(coat, rows, guarantee, tree, seed, **parameters)


def check_loss(problem: Problem, release: Release, image: Any) -> None:
    """Compare the loss by the user's weights and penalties with the twin's."""
    if not (problem.weights or problem.penalties):
        assert "utility_loss" not in release.details
        return
    found = release.details["utility_loss"]
    if problem.case.rows:
        labels, gone = problem.expected_loss(image)
        assert found["suppressed"] == pytest.approx(float(gone))
        assert found["log2_labels"] == (pytest.approx(math.log2(labels)) if labels else None)
        assert found["log2"] == (pytest.approx(math.log2(labels + gone)) if labels + gone else None)


def check_twins(n: int, seed: int) -> Counter[str]:
    rng = seeded(seed)
    seen: Counter[str] = Counter()
    for _ in range(n):
        problem = random_problem(rng)
        if 0 < sum(map(bool, problem.case.rows)) < problem.case.k:
            continue
        try:
            expected = naive.coat(*problem.arguments())
        except naive.TooManySuppressedError as error:
            seen["too many suppressed"] += 1
            with pytest.raises(InfeasibleError) as caught:
                problem.run(coat)
            listed = problem.utility or ()
            number = next((i for i, u in enumerate(listed, 1) if set(u) == error.constraint), None)
            assert ("group of" if number is None else f"constraint {number} broke") in str(caught.value), (
                problem
            )
            continue
        release = problem.run(coat)
        assert groups(release) == expected, problem
        check_loss(problem, release, expected)
        seen["weighted"] += bool(problem.weights)
        seen["penalties"] += bool(problem.penalties) and None in expected.values()
        seen["suppressed"] += None in expected.values()
        seen["merged"] += any(group and len(group) > 1 for group in expected.values())
    return seen


@seeds(3)
def test_groups_are_the_twins(seed: int) -> None:
    seen = check_twins(examples(500, 60), seed)
    assert min(seen["too many suppressed"], seen["suppressed"], seen["merged"]) > 0, seen


@pytest.mark.parametrize("capacity", [1, 2])
def test_groups_are_the_twins_however_few_itemsets_are_kept(
    capacity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_all_itemsets, "CAPACITY", capacity)
    check_twins(examples(300, 40), 10 + capacity)


def test_all_itemsets_are_the_same_as_a_list_of_them() -> None:
    rng = seeded(20)
    for _ in range(examples(40, 4)):
        rows = [frozenset(rng.sample("abcdefghijklmnopqrst", rng.randint(1, 8))) for _ in range(60)]
        k, m = rng.randint(2, 12), rng.choice((2, 3))
        listed = PrivacyConstraints(k, naive.all_itemsets(rows, m, "abcdefghijklmnopqrst"))
        utility = rng.choice((None, ("abcdefg", "hijk", "l")))
        more: dict[str, Any] = {"utility": utility and tuple(map(tuple, utility)), "max_suppressed_items": 1}
        assert groups(run(rows, PrivacyConstraints(k, m=m), **more)) == groups(run(rows, listed, **more))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_rare_pair_that_no_three_items_become(k: int) -> None:
    """k - 1 rows hold a and b, and nothing else; neither represents a further item."""
    rows = [frozenset(row) for row in [*["ab"] * (k - 1), *["a", "b", "cde"] * k]]
    listed = PrivacyConstraints(k, naive.all_itemsets(rows, 3, "abcde"))
    both = [run(rows, one, max_suppressed_items=1) for one in (PrivacyConstraints(k, m=3), listed)]
    assert groups(both[0]) == groups(both[1])
    assert groups(both[0]) != {item: frozenset(item) for item in "abcde"}


def test_worked_example() -> None:
    release = run(ROWS, PrivacyConstraints(5, PRIVACY), utility=UTILITY, max_suppressed_items=0.15)
    assert image(release) == {
        "a": "(a,b)", "b": "(a,b)", "c": "c", "d": None, "e": "e", "f": "f", "g": "(g,h)", "h": "(g,h)",
    }  # fmt: skip
    figure = [
        "(a,b) c e f (g,h)", "(a,b) c e f (g,h)", "c e f (g,h)", "(a,b) c e f", "e f (g,h)",
        "e f (g,h)", "(a,b) e", "(a,b) c f", "(a,b) c", "(a,b) (g,h)",
    ]  # fmt: skip
    assert Counter(map(frozenset, release.published)) == Counter(frozenset(row.split()) for row in figure)
    published = [frozenset(row) for row in release.published]
    assert [published[to] for to in release.row_map] == [frozenset(row.split()) for row in figure]
    details = release.details
    assert (details["generalizations"], details["suppressions"], details["suppressed"]) == (2, 1, ["d"])
    counts = [(c["satisfied"], c["rows_before"], c["rows_after"]) for c in details["utility_constraints"]]
    assert counts == [(True, 7, 7), (True, 6, 6), (False, 4, 0), (True, 9, 9)]


def test_promises_are_kept() -> None:
    """The verifier accepts; only items of one utility constraint are merged; Corollary 3.12 holds."""
    rng = seeded(30)
    for _ in range(examples(700, 60)):
        problem = random_problem(rng, Fraction(1))
        rows, listed = problem.case.rows, problem.utility or ()
        if 0 < sum(map(bool, rows)) < problem.case.k:
            continue
        release = problem.run(coat)
        verdict = verify_constraints(release.published, problem.guarantee, image=image(release))
        assert verdict.holds, (problem, verdict)
        assert release.published.n_rows == len(rows)
        assert sorted(release.row_map.tolist()) == list(range(len(rows)))
        utility = [set(u) for u in listed] + [set(problem.items).difference(*listed)]
        of = groups(release)
        assert all(group is None or any(group <= u for u in utility) for group in of.values()), problem
        published = [{i for i, to in image(release).items() if to in row} for row in release.published]
        for entry in release.details["utility_constraints"]:
            number = entry["constraint"]
            u = utility[-1 if number == "rest" else number - 1]
            assert entry["items"] == len(u)
            assert entry["rows_before"] == sum(bool(u & row) for row in rows), problem
            assert entry["rows_after"] == sum(bool(u & row) for row in published), problem
            lost = [i for i in u if of[i] is None]
            assert entry["satisfied"] == (not lost), problem
            assert lost or entry["rows_before"] == entry["rows_after"], problem
        assert release.details["suppressed"] == [i for i in problem.items if of[i] is None]


def test_utility_loss_is_compared_exactly() -> None:
    rng = seeded(40)
    for _ in range(examples(20_000, 4_000)):
        a, b = (rng.choice((1, 2, 3, rng.randint(1, 70), rng.randint(1, 4000))) for _ in range(2))
        c = rng.randint(1, 1 << rng.choice((3, 20, 45)))
        d = rng.randint(1, 1 << rng.choice((3, 20, 45)))
        if rng.random() < 0.3 and abs(a - b) < 40 and max(a, b) < 20:  # equal, or nearly
            c, d = (2**b - 1) * (c % 97 + 1), (2**a - 1) * (c % 97 + 1) + rng.choice((0, 0, 1))
        left, right = (2**a - 1) * c, (2**b - 1) * d
        assert compare_losses(*map(np.int64, (a, c, b, d))) == (left > right) - (left < right), (a, c, b, d)


@pytest.mark.parametrize(
    ("rows", "privacy", "utility", "expected"),
    [
        # x is frequent and may not be merged, y is frequent and may: steps 5-10 of the paper wait for ever.
        (["x", "xy", "xz", *"yyyzzz"], ["xy"], ["x", "yz"], {"x": "x", "y": "(y,z)", "z": "(y,z)"}),
        # Neither may be merged: the least supported goes, the first of equals.
        (["x", "x", "xy", "y", "y"], ["xy"], ["x", "y"], {"x": None, "y": "y"}),
        # A rare item on its own (m = 1) is merged if that is allowed, not suppressed.
        (["x", "y", "y"], ["x"], ["xy"], {"x": "(x,y)", "y": "(x,y)"}),
        (["x", "y", "y"], ["x"], ["x", "y"], {"x": None, "y": "y"}),
    ],
)
def test_the_printed_algorithm_would_stall_or_suppress(
    rows: list[str], privacy: list[str], utility: list[str], expected: dict[str, str | None]
) -> None:
    release = run(
        [frozenset(row) for row in rows],
        PrivacyConstraints(2, [tuple(p) for p in privacy]),
        utility=tuple(map(tuple, utility)),
        max_suppressed_items=1,
    )
    assert image(release) == expected


def test_weights_come_from_the_hierarchy() -> None:
    rows = [frozenset(row) for row in ["a", "b", "b", "b", "c", "c"]]
    tree = Hierarchy({"a": "X", "b": "X", "c": "Y", "d": "Y", "X": "*", "Y": "*", "*": None})
    guarantee = PrivacyConstraints(2, [("a",)])
    assert image(run(rows, guarantee))["a"] == "(a,c)"  # 3 rows, not 4
    with_weights = run(rows, guarantee, tree)
    assert image(with_weights) == {"a": "(a,b)", "b": "(a,b)", "c": "c", "d": "d"}  # 4 * 2/4, not 3 * 4/4


def test_items_in_no_constraint_and_items_that_occur_nowhere() -> None:
    rows = [frozenset(row) for row in ["xy", "xy", "z", "w"]]
    tree = Hierarchy(dict.fromkeys("uvwxyz", "*") | {"*": None})
    release = run(rows, PrivacyConstraints(2, [("x", "y"), ("u", "v"), ("gone", "x")]), tree)
    assert image(release) == {item: item for item in "uvwxyz"}
    release = run(rows, PrivacyConstraints(2, [("z", "u")]), tree)
    assert image(release) == {item: item for item in "uvxy"} | dict.fromkeys("wz", "(w,z)")
    assert run(rows, PrivacyConstraints(2, ())).details["generalizations"] == 0


def test_unreachable_suppression_threshold_names_the_constraint() -> None:
    guarantee = PrivacyConstraints(5, PRIVACY)
    with pytest.raises(InfeasibleError) as caught:
        run(ROWS, guarantee, utility=UTILITY, max_suppressed_items=0.12)
    message = str(caught.value)
    assert "at most 12% of them may (0)" in message
    assert "Utility constraint 3 broke this limit: 'd'. " in message
    assert "The itemset to protect was then 'd', 'e', 'f', 'g', 'h'." in message
    assert "Allow 12.5%" in message
    assert run(ROWS, guarantee, utility=UTILITY, max_suppressed_items=0.125).details["suppressed"] == ["d"]
    assert run(ROWS, guarantee, utility=UTILITY, max_suppressed_items=Fraction(1, 8)).details[
        "suppressed"
    ] == ["d"]


@pytest.mark.parametrize("share", [-0.1, 1.01, float("nan"), float("inf"), "115%", "much", True, None])
def test_share_outside_0_to_1(share: Any) -> None:
    with pytest.raises(RequestError, match="0 to 1"):
        coat.Parameters(max_suppressed_items=share)


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        ([("a", "b"), ("c", "a")], r"'a' is in the utility constraints 1 and 2"),
        ([()], "expected at least one item"),
        ([("a", "")], "expected at least one item"),
        (["ab"], "is the text 'ab'"),
        ("ab", "list of lists of items, got the text"),
    ],
)
def test_utility_constraints_are_a_partition(utility: Any, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        coat.Parameters(utility=utility)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, [("a",)]), "k must be"),
        ((True, [("a",)]), "k must be"),
        ((2,), "either itemsets or a size"),
        ((2, [("a",)], 2), "either itemsets or a size"),
        ((2, None, 0), "m must be"),
        ((2, [()]), "Itemset 1"),
        ((2, ["ab"]), "Itemset 1 is the text 'ab'"),
        ((2, [("a", 3)]), "Itemset 1"),
        ((2, "ab"), "are the text"),
    ],
)
def test_guarantee_refuses_what_makes_no_sense(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        PrivacyConstraints(*arguments)


def test_guarantee_in_words() -> None:
    guarantee = PrivacyConstraints(np.int64(5), [["b", "a", "b"]])  # type: ignore[arg-type]
    assert guarantee.itemsets == (("b", "a"),)
    assert guarantee.phrase == "protection of 1 itemset (k=5)"
    assert guarantee.as_dict() == {"model": "constraints", "k": 5, "itemsets": 1}
    assert PrivacyConstraints(5, m=3).as_dict() == {"model": "constraints", "k": 5, "m": 3}


BOTH = [PrivacyConstraints(3, m=2), PrivacyConstraints(3, [("a", "b"), ("c",)])]


@pytest.mark.parametrize("guarantee", BOTH)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_rows_without_items(guarantee: PrivacyConstraints, n: int) -> None:
    assert list(run([frozenset()] * n, guarantee).published) == [()] * n


@pytest.mark.parametrize("m", [1, 2, 3])
def test_one_item_and_fewer_items_than_m(m: int) -> None:
    rows = [frozenset(row) for row in ["a", "", "a", "a"]]
    assert Counter(map(frozenset, run(rows, PrivacyConstraints(3, m=m)).published)) == Counter(rows)


@pytest.mark.parametrize("m", [1, 3, 5])
def test_equal_rows_are_private_already(m: int) -> None:
    assert list(run([frozenset("abc")] * 5, PrivacyConstraints(5, m=m)).published) == [("a", "b", "c")] * 5


def test_private_data_are_published_as_they_are() -> None:
    rng = seeded(50)
    for _ in range(examples(60, 15)):
        case = random_case(rng, most_rows=15)
        rows = case.rows * case.k
        assert Counter(map(frozenset, run(rows, PrivacyConstraints(case.k, m=3)).published)) == Counter(rows)


@pytest.mark.parametrize(
    ("rows", "k", "nearest"),
    [
        (["ab", "", "b", "c"], 4, "greatest possible k is 3"),
        (["ab", "b"], 3, "greatest possible k is 2"),
        (["ab"], 2, "At least two non-empty rows"),
    ],
)
def test_infeasible_names_the_greatest_feasible_k(rows: Sequence[str], k: int, nearest: str) -> None:
    data = [frozenset(row) for row in rows]
    for guarantee in (PrivacyConstraints(k, m=1), PrivacyConstraints(k, [("a",)])):
        with pytest.raises(InfeasibleError, match=nearest):
            run(data, guarantee)
    assert run(data, PrivacyConstraints(k, [("nowhere",)])).published.n_rows == len(rows)


def test_same_seed_same_bytes_other_seed_other_order() -> None:
    rng = seeded(60)
    moved = 0
    for _ in range(examples(60, 10)):
        problem = random_problem(rng, Fraction(1))
        if 0 < sum(map(bool, problem.case.rows)) < problem.case.k:
            continue
        release, other = problem.run(coat, 3), problem.run(coat, 4)
        shuffled = dataclasses.replace(problem, case=problem.case.shuffled(rng))
        assert as_bytes(release)[:5] == as_bytes(shuffled.run(coat, 3))[:5], problem
        assert as_bytes(release) == as_bytes(problem.run(coat, 3)), problem
        assert image(release) == image(other)
        moved += list(release.published) != list(other.published)
    assert moved


def test_input_is_left_alone() -> None:
    data = transactions(ROWS)
    before = data.indptr.copy(), data.items.copy()
    released(coat, data, None, PrivacyConstraints(5, m=2), coat.Parameters())
    assert np.array_equal(data.indptr, before[0])
    assert np.array_equal(data.items, before[1])
    assert not data.items.flags.writeable


def test_items_missing_from_the_hierarchy() -> None:
    with pytest.raises(HierarchyError, match="'b'"):
        run([frozenset("ab")] * 3, PrivacyConstraints(2, m=1), Hierarchy({"a": "*", "*": None}))


def test_labels_outside_the_rows_are_no_items() -> None:
    """A vocabulary may hold labels that no row holds: they take part in nothing."""
    data = transactions([frozenset("ab"), frozenset("b"), frozenset("c")])
    wide = Transactions(
        data.indptr, np.array([1, 3, 3, 4], np.int32), type(data.vocabulary)(["0", "a", "aa", "b", "c"])
    )
    wide.items.flags.writeable = False
    release = released(coat, wide, None, PrivacyConstraints(2, m=2))
    assert image(release) == {"0": "0", "aa": "aa"} | image(
        run([frozenset("ab"), frozenset("b"), frozenset("c")], PrivacyConstraints(2, m=2))
    )


def test_progress_is_reported() -> None:
    heard: list[str] = []
    hear = listener(lambda *told: heard.append(told[0]))
    rng = seeded(70)
    rows = [frozenset(str(rng.randrange(300)) for _ in range(5)) for _ in range(300)]
    for guarantee in (PrivacyConstraints(3, list(combinations("123", 2))), PrivacyConstraints(3, m=2)):
        released(coat, transactions(rows), None, guarantee, progress=hear)
    assert set(heard) == {"counting the constraints", "protecting itemsets"}
