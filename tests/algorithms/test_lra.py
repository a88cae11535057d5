"""LRA against its twin: the same order, the same parts, each row published the same way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from naive import exact as best
from naive import lra as twin
from naive import measures
from naive.anonymize import aa, cost
from naive.km import is_km
from releases import released
from setveil.base.errors import HierarchyError, InfeasibleError, RequestError
from setveil.judges.guarantees.verify.km import verify_km
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.methods.algorithms.lra import lra
from setveil.methods.algorithms.lra._gray_order import gray_order
from setveil.releases.published import Release
from setveil.releases.published.recoding import LocalRecoding
from strategies import Case, Parents, Rows, examples, random_case, seeded, transactions

TREE: Parents = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None}
ROWS = ("a1 b1", "a1 b1", "a1 b2", "a1 b2", "a2 b1", "a2", "a2", "b2")
EXAMPLE = Case([frozenset(row.split()) for row in ROWS], TREE, 2, 2)


def run(case: Case, **parameters: Any) -> Release:
    return released(lra, case.data, case.tree, case.guarantee, lra.Parameters(**parameters))


def in_order(release: Release) -> Rows:
    """List the published form of each row of the input."""
    published = [frozenset(row) for row in release.published]
    return [published[to] for to in release.row_map]


def loss(case: Case, release: Release, *, by_lm: bool = False) -> Fraction:
    assert isinstance(release.recoding, LocalRecoding)
    found = (lm if by_lm else ncp)(case.data, release.recoding)
    return Fraction(found).limit_denominator(10**6)


def parted_cases(n: int, seed: int, **sizes: int) -> Iterator[tuple[Case, int]]:
    """Cases with a number of parts that is possible."""
    rng = seeded(seed)
    for _ in range(n):
        case = random_case(rng, **sizes)
        most = max(sum(map(bool, case.rows)) // case.k, 1)
        yield case, rng.choice((1, 2, most, rng.randint(1, most))) if most > 1 else 1


def test_gray_order_of_the_example() -> None:
    bits = twin.bits_of(EXAMPLE.rows)
    assert bits == ["a1", "a2", "b1", "b2"]
    order = gray_order(EXAMPLE.data).tolist()
    assert [row + 1 for row in order] == [8, 5, 6, 7, 1, 2, 3, 4]
    assert [twin.gray_rank(EXAMPLE.rows[i], bits) for i in order] == [1, 4, 7, 7, 12, 12, 14, 14]


@pytest.mark.parametrize(
    ("parts", "expected"), [(1, Fraction(7, 26)), (2, Fraction(5, 13)), (3, Fraction(11, 26))]
)
def test_loss_of_the_example(parts: int, expected: Fraction) -> None:
    assert loss(EXAMPLE, run(EXAMPLE, parts=parts)) == expected
    assert twin.loss(EXAMPLE.rows, TREE, twin.lra(EXAMPLE.rows, TREE, 2, 2, parts)) == expected


def test_four_parts_of_the_example_lose_less_than_any_cut() -> None:
    release = run(EXAMPLE, parts=4)
    assert loss(EXAMPLE, release) == Fraction(3, 13)
    assert best.least_loss(EXAMPLE.rows, TREE, 2, 2, best.Terms("ncp", suppress=False)) == Fraction(7, 26)
    shown = in_order(release)
    assert shown[4] == shown[7] == {"ALL"}
    assert [shown[i] for i in (0, 1, 2, 3, 5, 6)] == [EXAMPLE.rows[i] for i in (0, 1, 2, 3, 5, 6)]
    fits = [i for i, row in enumerate(shown) if all({x, TREE[x], "ALL"} & row for x in ("a2", "b1"))]
    assert fits == [4, 7], "the rows of someone who knows a2 and b1"
    counted = {"parts": 4, "smallest": 2, "largest": 2, "generalization_steps": 1}
    assert release.details == counted | {"suppressed": []}


def test_order_is_the_twins() -> None:
    rng = seeded(300)
    for _ in range(examples(700, 300)):
        case = random_case(rng, most_items=rng.choice((2, 4, 12)))
        assert gray_order(case.data).tolist() == twin.gray_order(case.rows), case


def test_order_of_long_rows_over_many_items_is_the_twins() -> None:
    rng = seeded(301)
    for _ in range(examples(20, 5)):
        items = [str(i) for i in range(rng.randint(60, 300))]
        rows = [frozenset(rng.sample(items, rng.randint(0, 60))) for _ in range(120)]
        rows += [row ^ frozenset(rng.sample(items, 1)) for row in rows]
        assert gray_order(transactions(rows)).tolist() == twin.gray_order(rows)


def test_neighbours_of_all_rows_there_are_differ_in_one_item() -> None:
    items = "abcdefg"
    rows = [frozenset(x for j, x in enumerate(items) if i >> j & 1) for i in range(128)]
    order = gray_order(transactions(rows)).tolist()
    assert [len(rows[i] ^ rows[j]) for i, j in pairwise(order)] == [1] * 126


def test_same_as_the_twin_and_verified() -> None:
    several = 0
    for case, parts in parted_cases(examples(400, 150), 302):
        release = run(case, parts=parts)
        recoded = twin.lra(case.rows, case.parents, case.k, case.m, parts)
        assert in_order(release) == twin.published(case.rows, recoded), (case, parts)
        assert verify_km(release.published, case.guarantee).holds, (case, parts)
        for by_lm in (False, True):
            expected = twin.loss(case.rows, case.parents, recoded, lm=by_lm)
            assert loss(case, release, by_lm=by_lm) == expected
        of_rows = [-1] * len(case.rows)
        for number, (inside, _) in enumerate(recoded):
            for row in inside:
                of_rows[row] = number
        assert release.recoding.part_of_row.tolist() == of_rows
        several += len({image.get(x) for x in case.parents for _, image in recoded} - {None}) > 1
    assert several


def test_one_part_is_aa() -> None:
    for case, _ in parted_cases(examples(200, 40), 303):
        cut = aa(case.rows, case.parents, case.k, case.m)
        assert loss(case, run(case)) == cost(case.rows, case.parents, cut), case


def test_exact_parts_lose_least_of_all_recodings_of_their_rows() -> None:
    for case, parts in parted_cases(examples(60, 12), 304, most_leaves=6, most_rows=25):
        release = run(case, parts=parts, inner="exact")
        published = in_order(release)
        assert is_km(published, case.k, case.m), case
        costs: list[Fraction | float] = []
        for inside in twin.runs(twin.gray_order(case.rows), parts):
            rows = [case.rows[i] for i in inside]
            least = best.least_loss(rows, case.parents, case.k, case.m, best.Terms())
            assert least is not None
            costs.append(least * sum(map(len, rows)))
        whole = max(sum(map(len, case.rows)), 1)
        assert loss(case, release, by_lm=True) == Fraction(sum(costs)) / whole, (case, parts)
        image, items = release.recoding.image, case.data.items
        suppressed = {item for item in items.tolist() if (image[items == item] < 0).all()}
        assert release.details["suppressed"] == [case.data.vocabulary.labels[i] for i in sorted(suppressed)]


@pytest.mark.parametrize("inner", ["aa", "exact"])
def test_threads_change_nothing(inner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for case, parts in parted_cases(examples(30, 6), 305, most_leaves=8):
        several = run(case, parts=parts, inner=inner)
        with monkeypatch.context() as patched:
            patched.setattr("os.cpu_count", lambda: 1)
            alone = run(case, parts=parts, inner=inner)
        assert several.recoding.image.tolist() == alone.recoding.image.tolist()
        assert several.details == alone.details


@pytest.mark.parametrize("inner", ["aa", "exact"])
def test_progress_is_reported_by_the_calling_thread(inner: str) -> None:
    import threading

    heard: list[tuple[str, float | None]] = []

    class Listener:
        stoppable = False

        def __call__(self, phase: str, done: float | None = None) -> None:
            assert threading.current_thread() is threading.main_thread()
            heard.append((phase, done))

        def stop_requested(self) -> bool:
            return False

    parameters = lra.Parameters(parts=4, inner=inner)  # type: ignore[arg-type]
    listener = Listener()
    lra.anonymize(EXAMPLE.data, EXAMPLE.tree, EXAMPLE.guarantee, parameters, listener)
    shares = [done for phase, done in heard if phase == "parts of the rows"]
    assert shares == sorted(shares, key=lambda share: share or 0)
    assert shares[-1] == 1
    assert not listener.stoppable


def test_published_rows_do_not_depend_on_the_order_of_the_input() -> None:
    rng = seeded(308)
    for case, parts in parted_cases(examples(100, 20), 309):
        release, again = run(case, parts=parts), run(case.shuffled(rng), parts=parts)
        assert list(release.published) == list(again.published), (case, parts)


def test_default_number_of_parts() -> None:
    assert twin.default_parts(4, 2) == 1
    for n, k, parts in ((0, 2, 1), (9999, 5, 1), (10_000, 5, 2), (52_000, 5, 10), (52_000, 20_000, 2)):
        assert lra._number_of_parts(None, n, k) == parts == twin.default_parts(n, k)


def test_too_many_parts() -> None:
    with pytest.raises(RequestError, match=r"5 parts are too many: 8 rows(.|\n)*parts=4"):
        run(EXAMPLE, parts=5)
    with pytest.raises(RequestError, match="at least 1"):
        lra.Parameters(parts=0)
    with pytest.raises(RequestError, match='"aa" or "exact"'):
        lra.Parameters(inner="da")  # type: ignore[arg-type]


@pytest.mark.parametrize("parts", [None, 1, 2])
def test_too_few_rows_are_infeasible_whatever_the_parts(parts: int | None) -> None:
    case = Case([frozenset("a"), frozenset(), frozenset("b")], {"a": "*", "b": "*", "*": None}, 3, 2)
    with pytest.raises(InfeasibleError, match="greatest possible k is 2"):
        run(case, parts=parts)


def test_rows_without_items_belong_to_no_part() -> None:
    rows = [frozenset[str](), frozenset({"a1"}), frozenset[str](), frozenset({"a1"})]
    release = run(Case(rows, TREE, 2, math.inf))
    assert in_order(release) == rows
    assert release.recoding.part_of_row.tolist() == [-1, 0, -1, 0]
    nothing = run(Case([frozenset()] * 3, TREE, 2, 2))
    assert nothing.details["parts"] == 0
    assert nothing.recoding.part_of_row.tolist() == [-1] * 3


def test_items_that_the_hierarchy_lacks() -> None:
    with pytest.raises(HierarchyError, match="'x'"):
        run(Case([frozenset({"x"})] * 4, TREE, 2, 2), parts=2)


def test_input_is_left_alone() -> None:
    for case, parts in parted_cases(examples(30, 10), 306):
        before = case.data.indptr.copy(), case.data.items.copy(), case.tree.parent.copy()
        run(case, parts=parts)
        assert np.array_equal(case.data.indptr, before[0])
        assert np.array_equal(case.data.items, before[1])
        assert np.array_equal(case.tree.parent, before[2])


def test_measures_of_one_part_are_those_of_a_cut() -> None:
    for case, _ in parted_cases(examples(100, 20), 307):
        (_, image), *more = twin.lra(case.rows, case.parents, case.k, case.m, 1)
        assert not more
        expected = measures.recode(case.rows, image)
        assert in_order(run(case, parts=1)) == expected
