"""Counts published with a table: their implications, by all originals that give them, and their verifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import table_worlds as naive
from naive.km import item_order
from naive.table_worlds import Recoded
from naive.tables_verify import Line
from naive.worlds import Release, Tally, items_of
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.judges.guarantees.verify.counts import CountsFile
from setveil.judges.guarantees.verify.table_counts import check_table_counts
from strategies import examples
from table_cases import published

Row = frozenset[str]
rngs = st.randoms(use_true_random=False)
MEMBERS = {"A": frozenset("ab"), "B": frozenset("cd"), **{x: frozenset(x) for x in "abcd"}}
K = 2


# --- the theorem


def random_image(rng: Random) -> dict[str, str]:
    """Draw what each item becomes in a part: itself, its group, or suppressed."""
    image: dict[str, str] = {}
    for group in "AB":
        whole = rng.choice((group, group, "")) if rng.random() < 0.35 else None
        for item in sorted(MEMBERS[group]):
            image[item] = rng.choice((item, item, "")) if whole is None else whole
    return image


def keeps(rows: Sequence[Recoded], images: naive.Images, m: int) -> bool:
    """Return whether each part, by itself, is (k,k^m)-anonymous."""
    support = Counter(
        (row.part, some)
        for row in rows
        for size in range(m + 1)
        for some in combinations(sorted(naive.shown(row, images)), size)
    )
    return all(n >= K for n in support.values())


def random_release(rng: Random, m: int, *, never_empty: bool) -> tuple[list[Recoded], naive.Images]:
    """Draw parts; some of them show the same quasi-identifiers."""
    while True:
        known = [rng.choice("XXY") for _ in range(rng.choice((2, 2, 3)))]
        images = [random_image(rng) for _ in known]
        rows = []
        for part in range(len(known)):
            base = [frozenset(rng.sample("abcd", rng.choice((0, 1, 1, 2, 3)))) for _ in range(2)]
            rows += [
                Recoded(known[part], part, rng.choice((*base, *base, frozenset(rng.choice("abcd")))))
                for _ in range(rng.choice((2, 2, 3)))
            ]
        if len(rows) <= 7 and keeps(rows, images, m) and not (never_empty and not all(r.items for r in rows)):
            return rows, images


def check_exchange(
    rows: Sequence[Recoded],
    images: naive.Images,
    m: int,
    *,
    listed: bool,
    knows_parts: bool,
    never_empty: bool,
) -> None:
    """Check that a row's class and m items fit at least k rows of the class equally well.

    If suppressed items are not counted, rows published empty were more likely to contain them even before:
    then k rows fit.
    """
    lines = naive.lines(rows, images, K, suppressed=listed)
    held = naive.holding(
        rows, images, MEMBERS, lines, K,
        lists_suppressed=listed, knows_parts=knows_parts, none_empty=never_empty,
    )  # fmt: skip
    for row in rows:
        for size in range(1, m + 1):
            for some in map(frozenset, combinations(sorted(row.items), size)):
                pairs = naive.pairs_of(some, images[row.part])
                ways = [naive.by_pairs(one, pairs) for one in held]
                mine = ways[rows.index(row)]
                inside = [i for i, other in enumerate(rows) if other.known == row.known]
                fits = [any(n and some <= items_of(c) for c, n in held[i].items()) for i in inside]
                assert mine
                assert sum(fits) >= K
                alike = sum(ways[i] == mine for i in inside)
                assert alike >= K or (never_empty and not listed and not any(label for _, label in pairs))


@pytest.mark.parametrize("never_empty", [False, True])
def test_rows_of_a_part_are_exchangeable_even_for_who_knows_the_parts(never_empty: bool) -> None:
    rng = Random(1)
    for _ in range(examples(100, 15)):
        m = rng.choice((1, 2))
        rows, images = random_release(rng, m, never_empty=never_empty)
        listed = not naive.few_empty(rows, images, K, parts=True)
        for knows_parts in (False, True):
            check_exchange(rows, images, m, listed=listed, knows_parts=knows_parts, never_empty=never_empty)


@pytest.mark.parametrize("never_empty", [False, True])
def test_rows_of_a_class_are_for_who_does_not(never_empty: bool) -> None:
    """Parts of the same quasi-identifiers are one class, whatever items became in each."""
    rng = Random(2)
    for _ in range(examples(100, 15)):
        m = rng.choice((1, 2))
        rows, images = random_release(rng, m, never_empty=never_empty)
        listed = not naive.few_empty(rows, images, K)
        check_exchange(rows, images, m, listed=listed, knows_parts=False, never_empty=never_empty)


def recoded(*parts: tuple[str, Mapping[str, str], str]) -> tuple[list[Recoded], naive.Images]:
    rows = [
        Recoded(known, part, frozenset(items))
        for part, (known, _, text) in enumerate(parts)
        for items in text.split(",")
    ]
    return rows, [dict(image) for _, image, _ in parts]


def candidates(
    rows: Sequence[Recoded], images: naive.Images, item: str, known: str, *, knows_parts: bool
) -> list[int]:
    """List the rows of a class that can have held an item, if none was empty; left-out items are counted."""
    lines = naive.lines(rows, images, K, suppressed=True)
    held = naive.holding(
        rows, images, MEMBERS, lines, K, lists_suppressed=True, knows_parts=knows_parts, none_empty=True
    )
    return [
        i for i, row in enumerate(rows)
        if row.known == known and any(n and item in items_of(c) for c, n in held[i].items())
    ]  # fmt: skip


OUT = dict.fromkeys("abcd", "")


def test_few_empty_rows_of_a_class_betray_suppressed_items() -> None:
    """In the whole table three rows are empty, enough; in class X one is: it alone can have held c."""
    rows, images = recoded(
        ("Y", {"a": "", "b": "b", "c": "B", "d": "B"}, "a,a"),
        ("X", {"a": "A", "b": "A", "c": "", "d": "d"}, "a,c,a"),
    )
    assert not sum(not naive.shown(row, images) for row in rows) < K
    assert naive.few_empty(rows, images, K)
    assert candidates(rows, images, "c", "X", knows_parts=False) == [3]


def test_few_empty_rows_of_a_part_betray_them_to_who_knows_the_parts() -> None:
    """Four rows of the class are empty, one of the second part: it held c, which fewer than two rows did."""
    rows, images = recoded(("Y", OUT, "a,a,b"), ("Y", {**OUT, "a": "a", "b": "b", "d": "d"}, "d,d,c"))
    assert not naive.few_empty(rows, images, K)
    assert naive.few_empty(rows, images, K, parts=True)
    assert candidates(rows, images, "c", "Y", knows_parts=True) == [5]
    assert candidates(rows, images, "c", "Y", knows_parts=False) == [0, 1, 2, 3, 4, 5]


# --- the verifier

LOCAL = {"A": ("a1", "a2", "a3"), "AA": ("a1", "a2"), "B": ("b1", "b2")}
FAMILIES = (("A", "AA", "a1", "a3"), ("B", "b2"), ("c",))


def random_lines(rng: Random) -> list[Line]:
    """Draw published rows of two classes, which show of each family at most one label."""
    likely = [rng.random() for _ in FAMILIES]
    return [
        Line((rng.choice("12"), "F"), frozenset(
            rng.choice(family) for family, share in zip(FAMILIES, likely, strict=True) if rng.random() < share
        ))
        for _ in range(rng.choice((1, 2, 3, 4, 5)))
    ]  # fmt: skip


def possible(
    lines: Sequence[Line], file: CountsFile
) -> tuple[Release, list[list[frozenset[tuple[str, str]]]]]:
    shown = {label for line in lines for label in line.items}
    members = {label: frozenset(file.members.get(label, (label,))) for label in shown}
    suppressed = frozenset({"x", "a1", "b2"})
    totals = {(item, label): n for item, label, n in file.lines}
    release = Release([], members, suppressed, totals, file.least, file.suppressed)
    return release, [naive.contents(line.items, suppressed, members, none_empty=False) for line in lines]


def random_file(rng: Random, lines: Sequence[Line]) -> CountsFile:
    """Draw counts: those of some rows, with a few changes."""
    empty_file = CountsFile([], rng.choice((2, 2, 3)), rng.random() < 0.7, LOCAL, local=True, domain=None)
    held = Counter(pair for some in possible(lines, empty_file)[1] for pair in rng.choice(some))
    least = empty_file.least
    counted = {pair: n for pair, n in held.items() if n >= least and (pair[1] or empty_file.suppressed)}
    pairs = [(item, label) for label, items in LOCAL.items() for item in items]
    pairs += [("a1", "a1"), ("a3", "a3"), ("c", "c"), ("x", ""), ("a1", ""), ("b2", "")]
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        pair = rng.choice(pairs)
        counted[pair] = max(0, counted.get(pair, least) + rng.choice((-2, -1, 1, 1, 2)))
    place = {item: i for i, item in enumerate(item_order({item for item, _ in counted}))}
    ordered = sorted(((*pair, n) for pair, n in counted.items()), key=lambda line: (place[line[0]], line[1]))
    return replace(empty_file, lines=ordered)


def may_be(lines: Sequence[Line], file: CountsFile, *, few: bool) -> bool:
    """Return whether counts are valid by definition: they keep the rules, and some world exists."""
    if file.least < K or any(n < file.least for _, _, n in file.lines):
        return False
    if few if file.suppressed else any(not label for _, label, _ in file.lines):
        return False
    release, rows = possible(lines, file)
    tally = Tally(release)
    for some in rows:
        tally = tally.with_row(some)
    return tally.number() > 0


@settings(max_examples=examples(500, 40))
@given(rng=rngs)
def test_yes_exactly_if_a_world_exists(rng: Random) -> None:
    lines = random_lines(rng)
    file = random_file(rng, lines)
    empty = Counter(line.known for line in lines if not line.items)
    found = check_table_counts(published(lines), file, KKmAnonymity(K, 1))
    assert found.holds == may_be(lines, file, few=any(n < K for n in empty.values())), (lines, file, found)


@settings(max_examples=examples(300, 30))
@given(rng=rngs, m=st.integers(1, 4))
def test_empty_rows_that_few_facts_leave(rng: Random, m: int) -> None:
    """Check that m - 1 quasi-identifiers can be known with one item, if m facts are known in all."""
    lines = [
        Line((rng.choice("12"), rng.choice("FM")), frozenset("a") if rng.random() < 0.3 else frozenset())
        for _ in range(rng.randint(0, 9))
    ]
    empty = [frozenset(enumerate(line.known)) for line in lines if not line.items]
    few = any(
        0 < sum(set(some) <= row for row in empty) < K
        for row in empty
        for size in range(min(m, 3))
        for some in combinations(sorted(row), size)
    )
    file = CountsFile([], K, True, {}, local=False, domain=None)
    found = check_table_counts(published(lines), file, MixedKmAnonymity(K, m))
    assert any("are empty, fewer than" in words for words in found.first) == few


def test_which_rows_are_few() -> None:
    lines = [Line(("1", "F"), frozenset("a"))] * 2 + [Line((age, "F"), frozenset()) for age in "122"]
    file = CountsFile([("a", "a", 2), ("x", "", 3)], 2, True, {}, local=True, domain=None)
    found = check_table_counts(published(lines), file, KKmAnonymity(2, 1))
    assert found.violations == 1
    assert found.first[0].startswith(
        "line 3: about.json says that suppressed items are listed, though 1 published rows of age = 1, sex = "
        "F are empty, fewer than k = 2"
    )
    assert check_table_counts(published(lines[:2] + lines[3:]), file, KKmAnonymity(2, 1)).holds
    mixed = check_table_counts(published(lines), file, MixedKmAnonymity(2, 2))
    assert "1 published rows of age = 1 are empty" in mixed.first[0]
    assert check_table_counts(published(lines), file, MixedKmAnonymity(2, 1)).holds


def test_what_is_sensitive_is_not_counted_nor_what_shares_its_label() -> None:
    lines = [Line(("1", "F"), frozenset({"A", "c"}))] * 4
    counted = [("a1", "A", 3), ("a2", "A", 2), ("c", "c", 4)]
    file = CountsFile(counted, 2, True, {"A": ["a1", "a2"]}, local=True, domain=None)
    assert check_table_counts(published(lines), file, KKmAnonymity(2, 1)).holds
    found = check_table_counts(published(lines), file, KKmAnonymity(2, 1, ("a2",), 0.5))
    assert [words.split(":")[0] for words in found.first] == ["line 2", "line 3"]
    assert "must not be counted under 'A'" in found.first[0]
    kept = replace(file, lines=[("c", "c", 4)])
    assert check_table_counts(published(lines), kept, KKmAnonymity(2, 1, ("a2",), 0.5)).violations == 1
    unlisted = replace(kept, least=5)
    assert not check_table_counts(published(lines), unlisted, KKmAnonymity(2, 1)).holds
