"""The cover reading against its definition, and how the readings of local recodings relate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

import pytest

import setveil as sv
from naive import cover as naive
from naive.anonymize import all_cuts, leaves, recode, up_from
from naive.km import greatest_k, is_km
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.cover import covered_rows
from setveil.judges.guarantees.verify.km import KmVerdict, verify_km
from setveil.releases.published.counts import Counts
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.check import check
from strategies import ALPHABETS, Parents, Rows, examples, random_tree, seeded, transactions

TREE: Parents = {"a1": "A", "a2": "A", "b": "ALL", "A": "ALL", "ALL": None}


def verify(rows: Rows, tree: Parents, k: int, m: int | float) -> KmVerdict:
    return verify_km(covered_rows(transactions(rows), Hierarchy(tree)), KmAnonymity(k, m))


def rows_of(text: str) -> Rows:
    """Rows are separated by commas, their labels by blanks."""
    return [frozenset(row.split()) for row in text.split(",")]


def random_local(rng: Random, *, distinct: bool = False) -> tuple[Rows, Parents]:
    """Draw rows whose every occurrence is published as any node above it, or suppressed."""
    tree = random_tree(rng, rng.sample(rng.choice(ALPHABETS), rng.randint(1, 7)))
    items = leaves(tree)

    def row() -> frozenset[str]:
        some = rng.sample(items, rng.randint(0, min(4, len(items))))
        shown = (rng.choice([*up_from(tree, item), item, None]) for item in some)
        return frozenset(label for label in shown if label is not None)

    several = [row() for _ in range(rng.randint(1, 5))]
    n = rng.randint(0, 14)
    return [row() if distinct or rng.random() < 0.1 else rng.choice(several) for _ in range(n)], tree


def random_releases(n: int, seed: int) -> Iterator[tuple[Rows, Parents, int, int | float]]:
    rng = seeded(seed)
    for _ in range(n):
        rows, tree = random_local(rng, distinct=rng.random() < 0.2)
        yield rows, tree, rng.randint(2, 4), rng.choice((1, 2, 2, 3, math.inf))


def test_labels_that_stand_alone_may_be_covered_by_others() -> None:
    """Every leaf is covered by three rows; the labels have support 1, 2 and 2."""
    rows = rows_of("A,a1,a1,a2,a2")
    assert list(covered_rows(transactions(rows), Hierarchy(TREE))) == [
        ("a1", "a2"), ("a1",), ("a1",), ("a2",), ("a2",),
    ]  # fmt: skip
    verdict = verify(rows, TREE, 3, 1)
    assert verdict.holds
    assert verdict.greatest_k == 3
    assert not is_km(rows, 3, 1)


def test_a_leaf_that_only_the_broad_label_covers() -> None:
    rows = rows_of("A,a1,a1")
    assert list(covered_rows(transactions(rows), Hierarchy(TREE))) == [("a1", "a2"), ("a1",), ("a1",)]
    verdict = verify(rows, TREE, 2, 1)
    assert not verdict.holds
    assert verdict.first == ((("a2",), 1),), "who knows a2 is left with one row"


def test_labels_that_no_row_shows_do_not_count() -> None:
    data = transactions(rows_of("A,A,a1"))
    none = sv.Transactions(data.indptr[:3], data.items[:2], data.vocabulary)
    assert list(covered_rows(none, Hierarchy(TREE))) == [("a1",), ("a1",)]


def test_verdict_is_the_definitions() -> None:
    broken = 0
    for rows, tree, k, m in random_releases(examples(1500, 300), 400):
        verdict = verify(rows, tree, k, m)
        least = naive.least_cover(rows, tree, m)
        assert verdict.holds == naive.is_at_least(least, k), (rows, tree, k, m)
        assert verdict.greatest_k == least
        for itemset, support in verdict.first:
            found = [row for row in rows if all(naive.covers(tree, row, leaf) for leaf in itemset)]
            assert 0 < len(found) == support < k
        broken += not verdict.holds
    assert broken


def test_label_implies_cover() -> None:
    """Fact 1; and the opposite is not true."""
    only_cover = 0
    for rows, tree, k, m in random_releases(examples(1500, 300), 401):
        by_label, by_cover = is_km(rows, k, m), verify(rows, tree, k, m).holds
        assert by_cover or not by_label, (rows, tree, k, m)
        only_cover += by_cover > by_label
    assert only_cover


def test_cover_is_any_level() -> None:
    """Fact 2: nothing is gained by knowing a broader label of an item, or a narrower one."""
    for rows, tree, _, m in random_releases(examples(1000, 250), 402):
        size = min(m, 3)
        assert naive.least_cover(rows, tree, size) == naive.least_of_any_level(rows, tree, size)


def test_of_one_cut_all_readings_agree() -> None:
    """Check fact 4, with suppressed items."""
    rng = seeded(403)
    for _ in range(examples(500, 120)):
        _, tree = random_local(rng)
        items = leaves(tree)
        cut = rng.choice(all_cuts(tree))
        out = set(rng.sample(sorted(cut), rng.randint(0, len(cut) - 1)))
        rows = [frozenset(rng.sample(items, rng.randint(0, len(items)))) for _ in range(rng.randint(0, 9))]
        rows = [row - out for row in recode(rows, tree, cut)]
        m = rng.choice((1, 2, 3))
        assert greatest_k(rows, m) == naive.least_cover(rows, tree, m)
        assert greatest_k(rows, m) == naive.least_of_any_level(rows, tree, m)


def test_parts_that_keep_the_promise_keep_it_together() -> None:
    """Fact 5."""
    together = 0
    rng = seeded(404)
    for _ in range(examples(2000, 500)):
        first, tree = random_local(rng)
        second = [frozenset(rng.sample(sorted(tree), min(2, len(tree)))) for _ in range(2)] * 3
        k, m = rng.randint(2, 3), rng.choice((1, 2, math.inf))
        if is_km(first, k, m) and is_km(second, k, m):
            assert is_km([*first, *second], k, m)
            assert verify([*first, *second], tree, k, m).holds
            together += 1
    assert together


def test_suppression_changes_nothing_of_it() -> None:
    """Check fact 6: rows with suppressed items are rows like others."""
    rng = seeded(405)
    for rows, tree, k, m in random_releases(examples(400, 100), 406):
        less = [frozenset(label for label in row if rng.random() < 0.7) for row in rows]
        assert verify(less, tree, k, m).holds == naive.is_at_least(naive.least_cover(less, tree, m), k)
        if is_km(less, k, m):
            assert verify(less, tree, k, m).holds


def test_chains_of_only_children() -> None:
    chain: Parents = {"a": "A", "A": "B", "B": "*", "b": "*", "*": None}
    rows = rows_of("a,A,B b,B b")
    assert naive.least_cover(rows, chain, 2) == 2
    assert verify(rows, chain, 2, 2).greatest_k == 2


# The function


def test_function_and_counterexamples() -> None:
    theirs = [["A"], ["a1"], ["a1"]]
    verdict = sv.verify(theirs, sv.KmAnonymity(2, 1), reading="cover", hierarchy=Hierarchy(TREE))
    assert repr(verdict).startswith("No: k^m-anonymity (k=2, m=1) in the cover reading does not hold, 1 set")
    assert verdict.as_dict()["reading"] == "cover"
    assert "reading" not in sv.verify(theirs, sv.KmAnonymity(2, 1)).as_dict()


def test_what_is_refused() -> None:
    rows, promise, tree = [["A"], ["A"]], sv.KmAnonymity(2, 1), Hierarchy(TREE)
    with pytest.raises(sv.DataError, match="1 label of the release is not in the hierarchy: 'Z'"):
        sv.verify([["Z"]], promise, reading="cover", hierarchy=tree)
    with pytest.raises(sv.RequestError, match="needs the hierarchy"):
        sv.verify(rows, promise, reading="cover")
    with pytest.raises(sv.RequestError, match="of use in the cover reading only"):
        sv.verify(rows, promise, hierarchy=tree)
    with pytest.raises(sv.RequestError, match="must be label or cover, got 'any'"):
        sv.verify(rows, promise, reading="any", hierarchy=tree)
    with pytest.raises(sv.RequestError, match="does not apply to k-anonymity"):
        sv.verify(rows, sv.TransactionalKAnonymity(2), reading="cover", hierarchy=tree)


def test_releases_of_setveil_keep_the_promise_in_both_readings() -> None:
    rng = seeded(407)
    for _ in range(examples(20, 5)):
        _, tree = random_local(rng, distinct=True)
        items = leaves(tree)
        data = [sorted({rng.choice(items) for _ in range(3)}) for _ in range(12)]
        promise, hierarchy = sv.KmAnonymity(2, 2), Hierarchy(tree)
        release = sv.anonymize(data, promise, hierarchy=hierarchy, algorithm=sv.LRA(parts=3), details=False)
        assert sv.verify(release, promise).holds
        assert sv.verify(release, promise, reading="cover", hierarchy=hierarchy).holds


def test_counts_beside_rows_need_the_label_reading() -> None:
    """Check that counts reveal the label of the row of A, so that only two rows fit the other item."""
    rows = transactions(rows_of("A,a1,a1,a2,a2"))
    counts = Counts.from_lines([], 3, suppressed=True)
    about = {"labels": {"A": ["a1", "a2"]}, "recoding": "local"}
    promise = KmAnonymity(3, 1)
    verdict = check(rows, promise, counts, about, cover=Hierarchy(TREE))
    assert not verdict.violations
    assert not verdict.holds
    assert verdict.counts is not None
    assert "cover reading only" in verdict.counts.first[0]
    assert check(rows, promise, None, {}, cover=Hierarchy(TREE)).holds
    both = transactions(rows_of("A,A,A,a1,a1,a1"))
    counts = Counts.from_lines([("a1", "A", 3), ("a1", "a1", 3)], 3, suppressed=True)
    assert check(both, promise, counts, about, cover=Hierarchy(TREE)).holds
