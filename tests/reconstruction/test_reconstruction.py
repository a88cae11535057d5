"""Rows drawn from a release: consistent with all that is published, and each deal as likely as the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import needs_compiled
from naive import reconstruct as naive
from real_data import DATA, load
from setveil.base.errors import DataError, GuaranteeError
from setveil.judges.reconstruction._loops import below
from setveil.judges.reconstruction.reconstruct import puzzle_of, reconstruct, require_consistent
from setveil.releases.published.counts import Counts
from setveil.releases.published.shared import Shared, read_shared, shared_by
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from strategies import Case, examples, random_case, seeded

Members = dict[str, list[str]]


def shared(rows: list[set[str]] | list[str], members: Members, lines: list[naive.Line], least: int) -> Shared:
    """Make the published files of rows (texts: labels with blanks between them), as a recipient has them."""
    data = Transactions.from_rows([sorted(row.split() if isinstance(row, str) else row) for row in rows])
    counts = Counts.from_lines(lines, least, suppressed=True)
    return Shared(data, {x: tuple(y) for x, y in members.items()}, counts, {}, Layout("basket"))


def released(case: Case, how: str) -> sv.VerifiedRelease | None:
    """Release rows in one of several ways; None if that cannot be."""
    promise: Any = sv.KmAnonymity(case.k, case.m)
    more: dict[str, Any] = {"hierarchy": case.tree, "algorithm": how}
    if how == "lg":
        promise = sv.TransactionalKAnonymity(case.k)
    elif how == "lra":
        most = sum(map(bool, case.rows)) // case.k
        more |= {"inner": "exact", "parts": max(1, min(3, most))}
    elif how == "coat":
        promise, more = sv.PrivacyConstraints(case.k, m=2), {"algorithm": "coat"}
    try:
        return sv.anonymize(case.data, promise, details=False, **more)
    except sv.InfeasibleError:
        return None


def drawn(found: Shared, seed: int, mixing: int = 10) -> list[naive.Row]:
    puzzle = puzzle_of(found)
    rows = reconstruct(puzzle, seed, mixing)
    require_consistent(puzzle, rows)
    return [frozenset(row) for row in rows]


def twin(found: Shared, seed: int, mixing: int = 10) -> list[naive.Row]:
    rows = [frozenset(row) for row in found.rows]
    assert found.counts is not None
    members = puzzle_of(found).shared.members  # with as many other items as rows need
    return naive.reconstruct(rows, members, found.counts.lines(), found.counts.least, seed, mixing)


@pytest.mark.parametrize("how", ["aa", "exact", "coat", "lg", "lra"])
def test_every_draw_is_consistent_and_that_of_the_twin(how: str) -> None:
    """Of real runs; consistency is computed here from the twin's rows, which are the same ones."""
    rng = seeded(7)
    done = hidden = lacking = 0
    for number in range(examples(60, 12)):
        case = random_case(rng)
        release = released(case, how)
        if (
            release is None
            or release.counts is None
            or not (release.published.n_items or release.counts.items)
        ):
            continue
        done += 1
        about = {"recoding": release.recoding.kind}
        found = shared_by(release.release, about, Layout("basket"))
        mixing = number % 4
        rows = drawn(found, number, mixing)
        assert rows == twin(found, number, mixing)
        published = [frozenset(row) for row in release.published]
        assert len(rows) == len(published)
        lines = release.counts.lines()
        hidden += any(not label for _, label, _ in lines)
        if how in {"lg", "lra"}:
            below_: Counter[tuple[str, str]] = Counter()
            for row, shown in zip(rows, published, strict=True):
                assert {label for label in shown if row & set(found.under(label))} == shown
                for item in row:
                    under = [label for label in shown if item in found.under(label)]
                    assert len(under) == 1 or (not under and how == "lra")
                    below_[item, under[0] if under else ""] += 1
            for pair, n in below_.items():
                assert n < release.counts.least or (*pair, n) in lines
            for item, label, n in lines:
                assert below_[item, label] == n
            continue
        drawn_as = puzzle_of(
            found
        ).shared.members  # other items, of labels that do not list all, have names too
        image = dict(release.release.image()) | {x: to for to, items in drawn_as.items() for x in items}
        assert naive.recoded(rows, dict.fromkeys(x for row in rows for x in row) | dict(image)) == published
        supports = naive.supports(rows)
        listed = {item: n for item, _, n in lines}
        lacking += any(item not in listed for item in supports)
        assert {item: supports[item] for item in listed} == listed
        assert all(n < release.counts.least for item, n in supports.items() if item not in listed)
        original = naive.supports(case.rows)
        assert {item: original[item] for item in listed} == listed
    assert done >= 5
    if how in {"aa", "exact"}:
        assert lacking  # otherwise this does not determine how unlisted items are dealt
    if how == "exact":
        assert hidden


@st.composite
def puzzles(draw: st.DrawFn) -> tuple[list[set[str]], Members, list[naive.Line], int]:
    """Rows of items, put under labels; all items of at least `least` rows are listed."""
    rng = draw(st.randoms(use_true_random=False))
    least = rng.randint(2, 6)
    leaves = rng.choice((list("abcdefghij"), [str(i) for i in range(1, 11)]))
    groups = [f"L{i}" for i in range(rng.randint(1, 4))]
    image: dict[str, str | None] = {x: rng.choice([*groups, None, x]) for x in leaves}
    share = {x: rng.choice((0.03, 0.1, 0.3, 0.7, 0.95, 1)) for x in leaves}
    rows = [frozenset(x for x in leaves if rng.random() < share[x]) for _ in range(rng.randint(1, 40))]
    published = [set(row) for row in naive.recoded(rows, image)]
    members = {label: [x for x in leaves if image[x] == label] for label in groups if label in image.values()}
    for inside in members.values():
        rng.shuffle(inside)
    lines = [(x, image[x] or "", n) for x, n in naive.supports(rows).items() if n >= least]
    return published, members, lines, least


@given(puzzles(), st.integers(0, 1 << 40), st.sampled_from([0, 1, 10]))
def test_made_up_releases_are_drawn_as_the_twin_draws_them(
    made: tuple[list[set[str]], Members, list[naive.Line], int], seed: int, mixing: int
) -> None:
    found = shared(*made)
    rows = drawn(found, seed, mixing)
    assert rows == twin(found, seed, mixing)
    supports = naive.supports(rows)
    assert {item: supports[item] for item, _, _ in made[2]} == {item: n for item, _, n in made[2]}


WORKED = ["a1 b1", "a1 b1", "a1 a2 b2", "a2 b1", "a1 b2 z", "a1 a2", "a3 b1", "b2 z"]
WORKED_TREE = {"A": ["a1", "a2", "a3"]}
WORKED_LINES = [("a1", "A", 5), ("a2", "A", 3), ("b1", "b1", 4), ("b2", "b2", 3), ("z", "", 2)]


def test_the_worked_example() -> None:
    """Check 35,280 worlds, the contents of A times those of z: every draw is one of them, and many occur."""
    image: dict[str, str | None] = {"a1": "A", "a2": "A", "a3": "A", "b1": "b1", "b2": "b2", "z": None}
    published = naive.recoded([frozenset(row.split()) for row in WORKED], image)
    found = shared([set(row) for row in published], WORKED_TREE, WORKED_LINES, 2)
    worlds = set()
    pairs = []
    for seed in range(200):
        rows = drawn(found, seed)
        assert naive.recoded(rows, image) == published
        assert naive.supports(rows) == {"a1": 5, "a2": 3, "b1": 4, "b2": 3, "z": 2}
        worlds.add(tuple(map(tuple, map(sorted, rows))))
        pairs.append([sum({"a1", x} <= row for row in rows) for x in ("a2", "b1", "z")])
    assert len(worlds) > 190
    # a1 and a2 are both in just one row whatever is dealt; the others are 20/7 and 5/4 on average.
    assert {both for both, _, _ in pairs} == {1}
    means = np.mean(pairs, axis=0)
    assert abs(means[1] - 20 / 7) < 0.2
    assert abs(means[2] - 5 / 4) < 0.2


def chi_square(found: Counter[Any], cases: list[Any]) -> float:
    """Return the distance from equal chances, in standard deviations of a chi-square sum."""
    assert set(found) <= set(cases)
    expected = sum(found.values()) / len(cases)
    free = len(cases) - 1
    total = sum((found[case] - expected) ** 2 for case in cases) / expected
    return (total - free) / float(np.sqrt(2 * free))


# Common items and rare ones (fewer than a quarter of the rows), items in all rows, one item a row.
DEALS = [([2, 2, 1], 3), ([3, 2, 2], 4), ([2, 8], 9), ([1, 1, 3], 5), ([3, 1, 2], 3), ([1, 7], 8)]


def dealt(supports: list[int], n_rows: int, mixing: int, number: int) -> Counter[naive.Deal]:
    """Count the deals of `number` seeds."""
    items = [f"a{i}" for i in range(len(supports))]
    lines = [(item, "A", s) for item, s in zip(items, supports, strict=True)]
    puzzle = puzzle_of(shared(n_rows * ["A"], {"A": items}, lines, 1))
    times: Counter[naive.Deal] = Counter()
    for seed in range(number):
        rows = reconstruct(puzzle, seed, mixing).rows()
        times[tuple(frozenset(r for r, row in enumerate(rows) if item in row) for item in items)] += 1
    return times


@pytest.mark.parametrize(("supports", "n_rows"), DEALS)
def test_each_deal_is_as_likely_as_the_others(supports: list[int], n_rows: int) -> None:
    deals = naive.all_deals(supports, n_rows)
    assert chi_square(dealt(supports, n_rows, 10, examples(30, 10) * len(deals)), deals) < 4


@needs_compiled
def test_without_mixing_deals_are_not_equally_likely() -> None:
    """Else the test above could not fail."""
    deals = naive.all_deals([4, 2, 1], 5)
    assert chi_square(dealt([4, 2, 1], 5, 0, 30 * len(deals)), deals) > 5
    assert chi_square(dealt([4, 2, 1], 5, 10, 30 * len(deals)), deals) < 4


@pytest.mark.parametrize(("supports", "n_rows"), [*DEALS, ([2, 2, 2], 3), ([2, 2, 2, 1], 4)])
def test_steps_of_mixing_are_symmetric_and_lead_everywhere(supports: list[int], n_rows: int) -> None:
    deals = naive.all_deals(supports, n_rows)
    chances: dict[tuple[naive.Deal, naive.Deal], float] = {}
    for deal in deals:
        for after, chance in naive.steps(deal, n_rows):
            chances[deal, after] = chances.get((deal, after), 0) + chance
    for (deal, after), chance in chances.items():
        assert chances[after, deal] == pytest.approx(chance)
    reached = {deals[0]}
    edge = [deals[0]]
    while edge:
        near = [after for after, _ in naive.steps(edge.pop(), n_rows) if after not in reached]
        reached |= set(near)
        edge += near
    assert reached == set(deals)


def test_suppressed_items_go_to_any_rows() -> None:
    puzzle = puzzle_of(shared(["a", "a", "", ""], {}, [("a", "a", 2), ("x", "", 2), ("y", "", 3)], 2))
    times: Counter[Any] = Counter()
    cases = [
        (frozenset(x), frozenset(y))
        for x, y in product(
            [{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}], [{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}]
        )
    ]
    for seed in range(examples(1500, 600)):
        rows = reconstruct(puzzle, seed).rows()
        assert [row for row in rows if "a" in row] == rows[:2]
        times[tuple(frozenset(r for r, row in enumerate(rows) if i in row) for i in "xy")] += 1
    assert chi_square(times, cases) < 4


def test_items_suppressed_in_some_rows_go_to_rows_without_a_label_of_theirs() -> None:
    """Check a local recoding: a is under A in two rows, and suppressed in two of the other four."""
    rows = ["A", "A", "c", "", "", "c"]
    lines = [("a", "A", 2), ("a", "", 2), ("c", "c", 2)]
    found = shared(rows, {"A": ["a", "b"]}, lines, 2)
    with pytest.raises(DataError, match="listed as suppressed, but a label that rows show represents it"):
        puzzle_of(found)
    local = replace(found, about={"recoding": "local"})
    seen: Counter[frozenset[int]] = Counter()
    for seed in range(200):
        holding = [number for number, row in enumerate(drawn(local, seed)) if "a" in row]
        assert {0, 1} < set(holding)
        seen[frozenset(holding) - {0, 1}] += 1
    assert set(seen) == {frozenset(pair) for pair in combinations([2, 3, 4, 5], 2)}
    more = shared(rows, {"A": ["a", "b"]}, [("a", "A", 2), ("a", "", 5), ("c", "c", 2)], 2)
    with pytest.raises(
        DataError, match="'a' is listed as suppressed in 5 rows, but only 4 rows show no label"
    ):
        puzzle_of(replace(more, about={"recoding": "local"}))


def test_unlisted_items_get_what_is_lacking_and_no_more() -> None:
    """Seven rows, two listed of three: four are lacking, at most two for each of four unlisted items."""
    found = shared(7 * ["A"], {"A": list("abcde")}, [("a", "A", 3)], 3)
    seen: Counter[int] = Counter()
    for seed in range(200):
        supports = naive.supports(drawn(found, seed))
        assert supports.pop("a") == 3
        assert sum(supports.values()) == 4
        seen.update(supports.values())
    assert set(seen) == {1, 2}
    # A label without listed items.
    supports = naive.supports(drawn(shared(4 * ["A"], {"A": ["a", "b"]}, [], 3), 0))
    assert supports == {"a": 2, "b": 2}
    # More than enough listed: unlisted items are suppressed.
    supports = naive.supports(drawn(shared(3 * ["A"], {"A": list("abc")}, [("a", "A", 3)], 3), 0))
    assert supports == {"a": 3}


@pytest.mark.parametrize("least", [0, 1])
def test_every_item_that_occurs_may_be_listed(least: int) -> None:
    """Then the others are in no row; an item that is named twice under its label is still one."""
    members = {"A": list("abac")}
    for seed in range(5):
        rows = drawn(shared(4 * ["A"], members, [("a", "A", 3), ("b", "A", 1)], least), seed)
        assert naive.supports(rows) == {"a": 3, "b": 1}
    with pytest.raises(DataError, match="4 rows show 'A'"):
        puzzle_of(shared(4 * ["A"], members, [("a", "A", 3)], least))


def test_items_in_all_rows_and_one_item_a_row() -> None:
    everywhere = shared(3 * ["A"], {"A": ["a", "b"]}, [("a", "A", 3), ("b", "A", 3)], 2)
    assert drawn(everywhere, 1) == 3 * [frozenset("ab")]
    exact = shared(6 * ["A"], {"A": ["a", "b"]}, [("a", "A", 2), ("b", "A", 4)], 2)
    assert {len(row) for seed in range(20) for row in drawn(exact, seed)} == {1}
    for nothing in (["", ""], []):
        with pytest.raises(DataError, match="shows no item, and its counts list none"):
            puzzle_of(shared(nothing, {}, [], 2))


def test_the_same_seed_gives_the_same_rows_and_the_first_ones_for_ever() -> None:
    found = shared(12 * ["A B"], {"A": list("abc"), "B": list("xyz")}, LINES, 2)
    rows = drawn(found, 0)
    assert rows == drawn(found, 0)
    assert rows != drawn(found, 1)
    assert ["".join(sorted(row)) for row in rows] == FIRST


LINES = [("a", "A", 9), ("b", "A", 6), ("c", "A", 3), ("x", "B", 2), ("y", "B", 4), ("z", "B", 6)]
FIRST = ["bz", "bcy", "az", "cx", "abz", "ax", "abz", "aby", "ay", "aby", "az", "acz"]


def test_random_numbers_are_even_for_any_bound() -> None:
    state = np.array([12345], np.uint64)
    with np.errstate(over="ignore"):
        for n in (1, 2, 3, 7, 10):
            times = Counter(below(state, n) for _ in range(2000))
            assert chi_square(times, list(range(n))) < 4 if n > 1 else times == {0: 2000}
        most = [below(state, (1 << 32) - 1) for _ in range(400)]
        assert max(most) > 0.98 * (1 << 32)
        assert min(most) < 0.02 * (1 << 32)
        # Three quarters of 2^32: without rejection the numbers that are 0 of 3 would come twice as often.
        times = Counter(below(state, 3 << 30) % 3 for _ in range(3000))
        assert chi_square(times, [0, 1, 2]) < 4


BAD = {
    "twice": ([("a", "A", 3), ("a", "A", 3)], "line 3: the item 'a' is listed under 'A' a second time"),
    "nowhere": ([("q", "Q", 3)], "line 2: the item 'q' is listed under 'Q', which no row shows"),
    "not below": ([("c", "A", 3)], "line 2: the item 'c' is listed under 'A', which does not represent it"),
    "hidden": ([("a", "", 3)], "line 2: the item 'a' is listed as suppressed, but a label"),
    "too many": ([("a", "A", 5)], "line 2: 'a' is in 5 rows, expected at least 3 and at most the 4 rows"),
    "too few": ([("a", "A", 2)], "line 2: 'a' is in 2 rows, expected at least 3"),
    "everywhere": ([("x", "", 6)], "line 2: 'x' is in 6 rows, expected at least 3 and at most the 5 rows"),
    "lacking": ([], "4 rows show 'A', but by counts.csv its items are in 0, and 1 more items of it"),
}


@pytest.mark.parametrize(("lines", "message"), BAD.values(), ids=BAD)
def test_what_contradicts_the_rows_is_refused(lines: list[naive.Line], message: str) -> None:
    members = {"A": ["a", "b"]} if message[0] != "4" else {"A": ["a"]}
    with pytest.raises(DataError, match=message):
        puzzle_of(shared(["A", "A", "A", "A", "b2"], members, lines, 3))


def test_counts_are_needed() -> None:
    found = shared(["a"], {}, [], 2)
    with pytest.raises(DataError, match="no counts of items: nothing tells which item"):
        puzzle_of(Shared(found.rows, {}, None, {}, found.layout))


def test_two_labels_of_an_item_in_a_row_are_refused() -> None:
    members = {"A": ["a", "b"], "ALL": ["a", "b", "c"]}
    lines = [("a", "A", 2), ("a", "ALL", 2)]
    apart = shared(["A", "A", "ALL", "ALL"], members, lines, 2)
    assert [row & {"a"} for row in drawn(apart, 0)] == 4 * [{"a"}]
    with pytest.raises(DataError, match="Row 1 of the release shows 'A' and 'ALL'"):
        puzzle_of(shared(["A", "A ALL", "ALL"], members, lines, 2))


@pytest.mark.parametrize(
    "rows",
    [
        ["b", "a x", "b x"],  # too few rows
        ["a x", "b x", "b", ""],  # a label is shown by another row
        ["a x", "", "b", "b"],  # x is in too few rows
        ["a x", "b x", "x", "b"],  # x is in too many rows
        ["a x", "a x", "", "b"],  # b is in too few rows
        ["a x", "b x", "b", "b"],  # ... in too many, and one of them shows no A
        ["a x q", "b x", "", "b"],  # q was not heard of
        ["a b x", "a b x", "", "c"],  # two rows hold a, which is not listed
    ],
)
def test_rows_that_contradict_the_release_are_found(rows: list[str]) -> None:
    found = shared(["A", "A", "", "A"], {"A": ["a", "b", "c"]}, [("b", "A", 2), ("x", "", 2)], 2)
    puzzle = puzzle_of(found)
    for good in (["a x", "b x", "", "b"], ["b x", "a b", "x", "c"]):
        require_consistent(puzzle, Transactions.from_rows([row.split() for row in good]))
    with pytest.raises(GuaranteeError, match="contradict the release"):
        require_consistent(puzzle, Transactions.from_rows([row.split() for row in rows]))


def test_a_folder_gives_what_the_release_in_memory_gives(tmp_path: Path) -> None:
    rng: Random = seeded(11)
    for number in range(10):
        case = random_case(rng)
        release = released(case, "aa")
        if release is None or release.counts is None or not release.published.n_items:
            continue
        release.write(tmp_path / str(number))
        read = read_shared(tmp_path / str(number), sv.read)
        made = shared_by(release.release, {}, read.layout)
        assert drawn(read, 3) == drawn(made, 3)


def test_the_order_of_labels_and_items_does_not_matter() -> None:
    """A file has its labels in item order, a release in memory has nodes last."""
    members = {"9": list("abc"), "10": list("xyz")}
    found = shared(12 * ["10 9"], members, LINES_BY_NUMBER, 2)
    other = Transactions(found.rows.indptr, 1 - found.rows.items[::-1], Vocabulary(["10", "9"]))
    assert list(found.rows) != list(other)
    turned = {"10": ("z", "x", "y"), "9": ("b", "a", "c")}
    assert drawn(found, 0) == drawn(Shared(other, turned, found.counts, {}, found.layout), 0)


LINES_BY_NUMBER = [(item, {"A": "9", "B": "10"}[label], n) for item, label, n in LINES]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
@needs_compiled
def test_supports_are_exact_on_real_data() -> None:
    """Check all requirements of a draw on 60,000 rows, with less mixing."""
    data, tree = load("bms_webview1")
    release = sv.anonymize(data, sv.KmAnonymity(5, 2), hierarchy=tree, algorithm="mhghs", details=False)
    found = shared_by(release.release, {}, Layout("basket"))
    puzzle = puzzle_of(found)
    original = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    for mixing in (0, 1):
        rows = reconstruct(puzzle, 0, mixing)
        require_consistent(puzzle, rows)
        supports = dict(zip(rows.vocabulary.labels, rows.supports().tolist(), strict=True))
        assert len(puzzle.counts.items) > 400
        assert all(supports[item] == original[item] for item in puzzle.counts.items)
