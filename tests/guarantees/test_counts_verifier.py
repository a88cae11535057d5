"""The verifier of counts says yes exactly if some original rows would have given the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import worlds as naive
from naive.km import item_order
from setveil.judges.guarantees.verify.counts import CountsFile, CountsVerdict, check_counts
from strategies import examples, transactions

Row = frozenset[str]
Line = tuple[str, str, int]
rngs = st.randoms(use_true_random=False)

GLOBAL = {"A": ("a1", "a2", "a3"), "B": ("b1", "b2")}
# Labels that include one within another, as in a hierarchy; no row shows both.
LOCAL = {"A": ("a1", "a2", "a3"), "AA": ("a1", "a2"), "B": ("b1", "b2")}
ITEMS = ("a1", "a2", "a3", "b1", "b2", "c", "x", "y")


def in_order(lines: Sequence[Line]) -> list[Line]:
    place = {item: i for i, item in enumerate(item_order({item for item, _, _ in lines}))}
    return sorted(lines, key=lambda line: (place[line[0]], line[1]))


def random_rows(rng: Random, *, local: bool) -> list[Row]:
    """Draw published rows; in local recodings of each family of labels at most one."""
    families = [("A", "AA", "a1", "a3"), ("B", "b2"), ("c",)] if local else [("A",), ("B",), ("c",)]
    likely = [rng.random() for _ in families]
    return [
        frozenset(
            rng.choice(family) for family, share in zip(families, likely, strict=True) if rng.random() < share
        )
        for _ in range(rng.choice((1, 2, 3, 4, 5)))
    ]


def random_file(rng: Random, rows: Sequence[Row], *, local: bool) -> CountsFile:
    """Draw counts: those of some rows, with a few changes, or any."""
    members = LOCAL if local else GLOBAL
    least = rng.choice((2, 2, 3))
    unlisted = CountsFile([], least, rng.random() < 0.7, members, local=local, domain=None)
    known = replace(as_known(rows, unlisted), lines=None)
    held = Counter(pair for row in rows for pair in rng.choice(naive.contents(known, row)))
    pairs = [(item, label) for label, items in known.members.items() for item in items]
    pairs += [(item, "") for item in ("x", "y")]
    lines = {pair: n for pair, n in held.items() if n >= least and (pair[1] or unlisted.suppressed)}
    for _ in range(rng.choice((0, 0, 1, 1, 2, 9))):
        pair = rng.choice(pairs)
        if rng.random() < 0.3:
            lines.pop(pair, None)
        else:
            lines[pair] = max(0, lines.get(pair, least) + rng.choice((-2, -1, 1, 1, 2)))
    return replace(unlisted, lines=in_order([(*pair, n) for pair, n in lines.items()]))


def as_known(rows: Sequence[Row], file: CountsFile) -> naive.Release:
    shown = {label for row in rows for label in row}
    return naive.Release(
        rows,
        {label: frozenset(file.members.get(label, (label,))) for label in shown},
        frozenset("xy"),
        {(item, label): n for item, label, n in file.lines},
        file.least,
        file.suppressed,
    )


def may_be(rows: Sequence[Row], file: CountsFile, k: int) -> bool:
    """Return whether counts are valid for rows by definition: they keep the rules, and some world exists.

    Listing suppressed items reveals something about the unlisted ones, even if the file has no line.
    """
    few = 0 < sum(not row for row in rows) < k
    kept = not few if file.suppressed else all(label for _, label, _ in file.lines)
    return (
        kept
        and file.least >= k
        and all(n >= file.least for _, _, n in file.lines)
        and (naive.number(as_known(rows, file)) > 0)
    )


def check(rows: Sequence[Row], file: CountsFile, k: int = 2) -> CountsVerdict:
    return check_counts(transactions(rows), file, k)


@pytest.mark.parametrize("local", [False, True])
@settings(max_examples=examples(400, 40))
@given(rng=rngs, k=st.sampled_from((2, 2, 3)))
def test_yes_exactly_if_a_world_exists(local: bool, rng: Random, k: int) -> None:
    rows = random_rows(rng, local=local)
    file = random_file(rng, rows, local=local)
    assert check(rows, file, k).holds == may_be(rows, file, k), (rows, file)


@settings(max_examples=examples(300, 30))
@given(rng=rngs)
def test_no_if_a_row_shows_labels_that_share_items(rng: Random) -> None:
    """An item that a row shows under one label is not there under another as well."""
    rows = [frozenset(rng.sample(("A", "AA", "a1", "B", "c"), rng.choice((0, 1, 1, 2)))) for _ in range(3)]
    file = random_file(rng, rows, local=True)
    overlaps = any({"A", "AA"} <= row or {"A", "a1"} <= row or {"AA", "a1"} <= row for row in rows)
    found = check(rows, file)
    assert found.holds == (not overlaps and may_be(rows, file, 2))
    assert overlaps == any("which both represent" in words for words in found.first)


@pytest.mark.parametrize(
    ("members", "row", "words"),
    [
        ({"A": ["a", "b"], "B": ["b", "c"]}, "A", "b is published under A and under B"),
        ({"A": ["a", "b"]}, "a", "a is published under A and under a"),
        ({"A": ["a", "a"]}, "A", "a is published under A and under A"),
    ],
)
def test_no_if_an_item_has_two_labels_in_a_global_recoding(
    members: dict[str, list[str]], row: str, words: str
) -> None:
    file = CountsFile([], 9, True, members, local=False, domain=None)
    found = check([frozenset({"A"}), frozenset({row})], file)
    assert not found.holds
    assert words in found.first[0].replace("'", "")


# --- the order of lines


@settings(max_examples=examples(200, 30))
@given(rng=rngs, numbers=st.booleans())
def test_lines_stand_in_item_order_each_item_once(rng: Random, numbers: bool) -> None:
    """Numbers by value if all items are numbers, else by text."""
    items = ["2", "10", "007", "7", "-1"] + ([] if numbers else ["x", "Z", "é"])
    rows = [frozenset(items)] * 3
    drawn = [(item, item, 3) for item in rng.choices(items, k=rng.choice((1, 2, 3)))]
    file = CountsFile(drawn, 4, True, {}, local=False, domain=None)
    wrong = [words for words in check(rows, file).first if "fewer than the least" not in words]
    names = [item for item, _, _ in drawn]
    assert bool(wrong) == (names != item_order(set(names)))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([("a", "A", 3), ("a", "a", 2)], []),
        ([("a", "a", 2), ("a", "A", 3)], ["line 3: 'a' is not in item order"]),
        ([("a", "A", 3), ("a", "A", 3)], ["line 3: 'a' is there for the second time"]),
        ([("b", "A", 3), ("a", "A", 3)], ["line 3: 'a' is not in item order"]),
    ],
)
def test_lines_of_an_item_stand_in_the_order_of_labels(lines: list[Line], words: list[str]) -> None:
    rows = [frozenset("A")] * 3 + [frozenset("a")] * 2
    file = CountsFile(lines, 2, True, {"A": ("a", "b")}, local=True, domain=None)
    assert list(check(rows, file).first[:1]) == words


# --- errors and their places


ROWS = [frozenset(row.split()) for row in ("A c", "A c", "A", "A", "")]
FILE = CountsFile(
    [("a", "A", 3), ("b", "A", 2), ("c", "c", 2)], 2, False, {"A": ("a", "b", "d")}, local=False, domain=None
)


def test_counts_that_may_stand() -> None:
    found = check(ROWS, FILE)
    assert (found.holds, found.lines, found.violations, found.first) == (True, 3, 0, ())
    assert found.as_dict() == {"lines": 3, "holds": True, "violations": 0, "first": []}


def changed(line: int, to: Line | None) -> CountsFile:
    lines = list(FILE.lines)
    lines[line : line + 1] = [] if to is None else [to]
    return replace(FILE, lines=lines)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (changed(0, ("a", "A", 1)), "line 2: 1 row contains 'a', fewer than the least count, 2"),
        (changed(0, ("a", "A", 5)), "line 2: 5 rows contain 'a', but only 4 published rows show 'A'"),
        (changed(1, ("b", "c", 2)), "line 3: 'b' is under 'c', but the release publishes it under 'A'"),
        (changed(1, ("b", "b", 2)), "line 3: 'b' is under 'b', but the release publishes it under 'A'"),
        (changed(1, ("b", "", 2)), "line 3: 'b' is suppressed, but the release publishes it under 'A'"),
        (
            changed(2, None),
            "a line is missing: 2 published rows show 'c', but its items can be in 1 row at most",
        ),
        (changed(2, ("e", "E", 2)), "line 4: 'e' is under 'E', but the release publishes it under no label"),
        (changed(2, ("A", "A", 2)), "is a label of about.json, no item"),
        (
            replace(FILE, lines=[("c", "c", 2), ("x", "", 6)], suppressed=True),
            "line 3: 6 rows contain 'x', but there",
        ),
        (
            replace(FILE, lines=[("x", "", 2)]),
            "line 2: a suppressed item, though about.json says that none is",
        ),
        (
            replace(FILE, suppressed=True),
            "about.json says that suppressed items are listed, though 1 published",
        ),
        (replace(FILE, domain=3), "4 items are published and 0 others are listed as suppressed, but only 3"),
        (
            replace(FILE, members={"A": ("a", "b")}, lines=[("a", "A", 2), ("c", "c", 2)]),
            "line 2: 4 published rows show 'A', but its items can be in 3 rows at most",
        ),
        (
            replace(FILE, members={"A": ("a", "b")}, lines=[("c", "c", 2)]),
            "a line is missing: 4 published rows show 'A', but its items can be in 2 rows at most",
        ),
    ],
)
def test_what_cannot_stand_is_named(file: CountsFile, words: str) -> None:
    found = check(ROWS, file)
    assert not found.holds
    assert any(words in violation for violation in found.first), found.first


def test_counts_below_k_and_of_secrets_are_refused() -> None:
    found = check_counts(transactions(ROWS), FILE, 3, secrets=["b"])
    assert set(found.first) == {
        "the least count is 2, which is less than k = 3",
        "line 2: 'a' must not be counted under 'A', which also represents 'b': that is sensitive, and what "
        "is not the one is the other",
        "line 3: 'b' is sensitive and must not be counted",
    }


def test_only_some_violations_are_listed() -> None:
    lines = [(str(i), "", 1) for i in range(20)]
    found = check_counts(transactions(ROWS), replace(FILE, lines=lines, suppressed=True), 2, show=3)
    assert found.violations > 20
    assert len(found.first) == 3
