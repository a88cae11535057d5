"""The border-based algorithm against explicit counting of all moles and nuggets, decision by decision."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from coherence_cases import (
    PAPER,
    PAPER_GUARANTEE,
    PRIVATE,
    as_bytes,
    is_feasible,
    order_of,
    random_problem,
    rows_of,
)
from naive import coherence as naive
from naive import km as naive_km
from releases import released
from setveil.base.errors import InfeasibleError, RequestError
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.verify.coherence import verify_coherence
from setveil.kernels import itemset_counts
from setveil.kernels.itemset_counts import ItemsetFamily
from setveil.methods.algorithms.coherence import _minimal_moles as mole_kernel
from setveil.methods.algorithms.coherence import _moles, border
from setveil.methods.algorithms.coherence._borders import Borders
from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit
from setveil.releases.published import Release
from setveil.releases.published.recoding import Recoding
from strategies import COMPILED, Rows, examples, many, random_rows, seeded, seeds, transactions


def run(rows: naive_km.Rows, guarantee: Coherence, seed: int = 0, **parameters: Any) -> Release:
    return released(border, transactions(rows), None, guarantee, border.Parameters(**parameters), seed)


@seeds(3)
def test_every_decision_is_the_twins(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(seed)
    scored = infeasible = 0
    for _ in range(examples(600, 150)):
        rows, private, h, k, p = random_problem(rng)
        k_nugget, p_nugget = rng.choice([None, 1, 2, 3, 4, 6]), rng.choice([1, 2, 3, math.inf])
        case = rows, private, h, k, p, k_nugget, p_nugget
        budget = rng.choice([1, 10**8])
        monkeypatch.setattr(itemset_counts, "STEPS_AT_ONCE", budget)
        monkeypatch.setattr(mole_kernel, "STEPS_AT_ONCE", budget)
        guarantee = Coherence(h, k, p, private)
        if not is_feasible(rows, private, h, k):
            with pytest.raises(InfeasibleError):
                run(rows, guarantee)
            infeasible += 1
            continue
        printed = rng.choice([False, True])
        release = run(rows, guarantee, k_nugget=k_nugget, p_nugget=p_nugget, as_printed=printed)
        least = k if k_nugget is None else k_nugget
        expected = naive.border(rows, private, Fraction(h), k, p, least, p_nugget, printed=printed)
        assert order_of(release) == expected, (case, printed)
        dropped = {item for item, _ in expected}
        assert set(release.details["suppressed"]) == dropped
        assert Counter(map(frozenset, release.published)) == Counter(naive.without(rows, dropped)), case
        assert verify_coherence(release.published, guarantee).holds, case
        if dropped and rows:
            left = naive.nuggets(naive.without(rows, dropped), k if k_nugget is None else k_nugget, p_nugget)
            assert release.details["kept_nuggets"] == len(left), case
        scored += sum(score[0].isdigit() for _, score in expected)
    assert scored > many(30)
    assert infeasible


def test_minimal_moles_are_the_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(5)
    found = 0
    for _ in range(examples(500, 200)):
        rows, private, h, k, p = random_problem(rng)
        if is_feasible(rows, private, h, k):
            monkeypatch.setattr(mole_kernel, "STEPS_AT_ONCE", rng.choice([1, 10**8]))
            data = transactions(rows)
            expected = naive.described(rows, private, Fraction(h), k, p, data.vocabulary.labels)
            assert _moles.list_moles(data, Coherence(h, k, p, private)) == expected, (rows, private, h, k, p)
            found += len(expected)
    assert found > many(300)


def test_worked_example() -> None:
    """SPEC §6: c, d, then a (8 moles, 2 nuggets), b (by now 4 and 2)."""
    release = run(PAPER, PAPER_GUARANTEE, k_nugget=4)
    assert order_of(release) == [
        ("c", "support below k"), ("d", "support below k"), ("a", "4"), ("b", "2")
    ]  # fmt: skip
    assert release.details["suppressed"] == ["a", "b", "c", "d"]
    assert isinstance(release.recoding, Recoding)
    assert release.recoding.published.labels == ("e", "f", "g", "s1", "s2", "s3")
    assert release.recoding.image.tolist() == [-1, -1, -1, -1, 0, 1, 2, 3, 4, 5]


def test_of_infinite_scores_that_of_most_moles_goes_first() -> None:
    """No item is in 4 rows, so none is in a nugget; c is in the moles ac, bc and cd, a in ac and ab."""
    rows = [frozenset(row) for row in ("c", "bcd", "abd", "ad", "ac")]
    assert order_of(run(rows, Coherence(0.9, 2, 2), k_nugget=4)) == [("c", "inf"), ("a", "inf")]


def test_worked_example_moles() -> None:
    """Check SPEC §6: ae, af, ag, be, bfg without c and d; L = {abef, abfg, befg}; ag, abg, afg contain ag."""
    data = transactions(PAPER)
    found = _moles.list_moles(data, PAPER_GUARANTEE)
    assert [("".join(items), support, whom) for items, support, whom, _ in found] == [
        ("c", 1, None), ("d", 1, None), ("ae", 1, None), ("af", 2, None), ("ag", 3, "s2"), ("be", 2, None),
        ("bfg", 2, None),
    ]  # fmt: skip
    assert found[4][3] == Fraction(2, 3)
    rest = naive.without(PAPER, "cd")
    public = {frozenset(row - set(PRIVATE)) for row in rest}
    maximal = {"".join(sorted(row)) for row in public if not any(row < other for other in public)}
    assert maximal == {"abef", "abfg", "befg"}
    moles = naive.moles(rest, PRIVATE, Fraction(1, 2), 3, 3)
    assert {"".join(sorted(items)) for items in moles if {"a", "g"} <= items} == {"ag", "abg", "afg"}

    borders = Borders(PublicPrivateSplit(data, PAPER_GUARANTEE), 4, math.inf)
    borders.count()
    ids = data.vocabulary.ids
    scores = {x: borders.score(ids[x]) for x in "abefg"}
    assert scores == {"a": 4, "e": 3, "b": Fraction(7, 3), "f": 2, "g": Fraction(5, 3)}
    with_ag = borders.occurring.holding(ids["a"])
    safe = dict(
        zip(borders.safe.holding(ids["a"])[1].tolist(), borders.safe.holding(ids["a"])[2], strict=True)
    )
    both = dict(zip(with_ag[1].tolist(), with_ag[2].tolist(), strict=True))
    assert both[ids["g"]] - safe.get(ids["g"], 0) == 3
    borders.suppress(ids["a"])
    assert borders.best() == ids["b"]
    assert borders.score(ids["b"]) == 2  # be, bef, beg, bfg; b, bg
    borders.suppress(ids["b"])
    assert borders.best() is None


def test_items_below_k_nugget_go_first_but_only_from_moles() -> None:
    """Y and z are in 3 rows, which is fewer than k' = 4: y is in the mole xy, z in none."""
    rows = rows_of("xy", "x", "x", "x", "x", "yw", "yw", "z", "z", "z", "w", "w")
    release = run(rows, Coherence("0.5", 2, 2), k_nugget=4)
    assert order_of(release) == [("y", "inf")]
    assert order_of(release) == naive.border(rows, (), Fraction(1, 2), 2, 2, 4, math.inf)


def test_scores_follow_the_nuggets_where_no_mole_holds_two_items() -> None:
    """At p = 1 dropping an item changes no count of moles, but those of nuggets."""
    rng = seeded(9)
    dropped = 0
    for _ in range(examples(200, 50)):
        items = [str(i) for i in range(10)]
        rows = random_rows(rng, items, 30, 5)
        private = rng.sample(items, 2)
        if not is_feasible(rows, private, "1/3", 1):
            continue
        k_nugget = rng.randint(1, 5)
        expected = naive.border(rows, private, Fraction(1, 3), 1, 1, k_nugget, math.inf)
        if all(any(x in row for row in rows) for x in private):
            release = run(rows, Coherence("1/3", 1, 1, private), k_nugget=k_nugget)
            assert order_of(release) == expected, (rows, private)
            dropped += len(expected)
    assert dropped > many(50)


def wide_rows(seed: int) -> Rows:
    """Draw 60 rows of nearly all of 44 items and few of 5 others, each twice."""
    rng = seeded(seed)
    often, seldom = [f"i{j:02}" for j in range(44)], [f"r{j}" for j in range(5)]
    return [
        frozenset(
            x for items, share in ((often, 0.98), (seldom, 0.12)) for x in items if rng.random() < share
        )
        for _ in range(60)
    ] * 2


def test_counts_beyond_64_bits() -> None:
    """Rows of nearly 80 items; more than 2^63 nuggets and moles. Counted twice, in different ways."""
    n = 80
    items = [f"i{j:03}" for j in range(n)]
    rows = [*[frozenset(items[1:])] * 4, *[frozenset(items[:-1])] * 4, frozenset(items), frozenset(items[:2])]
    data = transactions(rows)
    borders = Borders(PublicPrivateSplit(data, Coherence("0.5", 2, math.inf)), 5, math.inf)
    borders.count()
    # Rows: 5 hold items 1..79, 5 hold 0..78 and one of these is all. Moles: both 0 and 79, whatever else.
    assert borders.all_moles == 2**78
    assert borders.moles.tolist() == [2**78, *[2**77] * 78, 2**78]
    # Nuggets (5 rows or more): without 0, or without 79; both counted once.
    assert borders.all_nuggets == 2 * (2**79 - 1) - (2**78 - 1)
    inner = 2 * 2**78 - 2**77
    assert borders.nuggets.tolist() == [2**78, *[inner] * 78, 2**78]
    assert borders.all_nuggets > 10**12
    release = run(rows, Coherence("0.5", 2, math.inf), k_nugget=5)
    assert order_of(release) == [("i000", "1")]
    assert release.details["kept_nuggets"] == 2**79 - 1


@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED, reason="takes long without compilation")
def test_dense_rows_are_not_enumerated() -> None:
    """About 10^13 nuggets and occurring sets; the latter are counted in another way, too."""
    rows = wide_rows(1)
    guarantee = Coherence("0.8", 6, math.inf, ["r0"])
    release = run(rows, guarantee, k_nugget=12)
    assert release.details["counted_nuggets"] > 10**12
    assert release.details["counted_moles"] > 10**12
    assert release.details["suppressed"]
    assert verify_coherence(release.published, guarantee).holds
    data = transactions(rows)
    family = ItemsetFamily(data.indptr, data.items, np.ones(data.n_rows, np.int64), data.n_items, 2, math.inf)
    total, counts = family.counts()
    masks = [sum(1 << int(x) for x in row) for row in np.split(data.items, data.indptr[1:-1])][:60]
    assert total == union_of_subsets(masks) - 1
    for x in (7, 46):
        assert counts[x] == total + 1 - union_of_subsets([mask & ~(1 << x) for mask in masks])


def union_of_subsets(masks: list[int]) -> int:
    """Count the sets that lie in one of the given ones, by splitting on an item at a time."""
    masks = [
        mask for mask in set(masks) if not any(mask != other and mask & other == mask for other in masks)
    ]
    if len(masks) == 1:
        return int(2 ** masks[0].bit_count())
    union = common = masks[0]
    for mask in masks:
        union, common = union | mask, common & mask
    free = common.bit_count()
    lack = [bit for bit in range(union.bit_length()) if union >> bit & 1 and not common >> bit & 1]
    rarest = min(lack, key=lambda bit: sum(mask >> bit & 1 for mask in masks))
    rest = [mask & ~common & ~(1 << rarest) for mask in masks]
    inside = [mask & ~common & ~(1 << rarest) for mask in masks if mask >> rarest & 1]
    return int(2**free * (union_of_subsets(rest) + union_of_subsets(inside)))


def test_same_seed_same_bytes_other_seed_other_order() -> None:
    rng = seeded(8)
    moved = 0
    for _ in range(examples(60, 20)):
        rows, private, h, k, p = random_problem(rng)
        if not is_feasible(rows, private, h, k):
            continue
        guarantee = Coherence(h, k, p, private)
        release = run(rows, guarantee, 7)
        assert as_bytes(run(rows, guarantee, 7)) == as_bytes(release)
        assert as_bytes(run(rng.sample(rows, len(rows)), guarantee, 7)) == as_bytes(release)
        other = run(rows, guarantee, 8)
        assert other.details == release.details
        assert Counter(other.published) == Counter(release.published)
        moved += list(other.published) != list(release.published)
        published = list(map(frozenset, release.published))
        gone = set(release.details["suppressed"])
        assert [published[to] for to in release.row_map] == naive.without(rows, gone)
    assert moved


def test_input_is_left_alone() -> None:
    data = transactions(PAPER)
    before = data.indptr.copy(), data.items.copy(), data.vocabulary.labels
    released(border, data, None, PAPER_GUARANTEE)
    assert np.array_equal(before[0], data.indptr)
    assert np.array_equal(before[1], data.items)
    assert data.vocabulary.labels == before[2]
    assert [frozenset(row) for row in data] == PAPER


@pytest.mark.parametrize("p", [1, 2, math.inf])
@pytest.mark.parametrize(
    ("rows", "k"), [([], 2), (["", ""], 2), (["a"], 1), (["abc"], 1), (["a"] * 4, 4), (["abc"] * 5, 5)]
)
def test_private_data_are_published_as_they_are(rows: list[str], k: int, p: float) -> None:
    release = run(rows_of(*rows), Coherence("0.5", k, p))
    assert Counter(map(frozenset, release.published)) == Counter(rows_of(*rows))
    assert release.details["suppressed"] == []


def test_one_row_too_few_for_its_items() -> None:
    release = run(rows_of("ab", "", ""), Coherence("0.5", 2, 2))
    assert list(release.published) == [()] * 3
    assert order_of(release) == [("a", "support below k"), ("b", "support below k")]


def test_unknown_private_item_is_refused() -> None:
    with pytest.raises(RequestError, match=r"1 private items do not occur in the data: 'x'"):
        run(rows_of("as", "a", "a"), Coherence("0.5", 2, 2, ["s", "x"]))


def test_infeasible_names_item_and_least_h() -> None:
    with pytest.raises(InfeasibleError, match=r"'s' is in 2 of 3 rows(.|\n)*least possible h is 2/3"):
        run(rows_of("as", "as", "b"), Coherence("0.5", 2, 2, ["s"]))
    assert order_of(run(rows_of("as", "as", "b"), Coherence("2/3", 2, 2, ["s"])))


@pytest.mark.parametrize(
    "parameters", [{"k_nugget": 0}, {"k_nugget": 1.5}, {"p_nugget": 0}, {"p_nugget": 2.5}]
)
def test_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="nugget must be an integer of at least 1"):
        border.Parameters(**parameters)
