"""MM against listing all minimal moles."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from coherence_cases import PAPER, PAPER_GUARANTEE, as_bytes, is_feasible, order_of, random_problem, rows_of
from naive import coherence as naive
from naive.km import Rows
from releases import released
from setveil.base.errors import InfeasibleError, RequestError
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.verify.coherence import verify_coherence
from setveil.methods.algorithms.coherence import _minimal_moles as mole_kernel
from setveil.methods.algorithms.coherence import mm
from setveil.releases.published import Release
from strategies import examples, many, seeded, seeds, transactions


def run(rows: Rows, guarantee: Coherence, seed: int = 0, **parameters: Any) -> Release:
    return released(mm, transactions(rows), None, guarantee, mm.Parameters(**parameters), seed)


@seeds(3)
def test_every_decision_is_the_twins(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(20 + seed)
    scored = 0
    for _ in range(examples(600, 150)):
        rows, private, h, k, p = random_problem(rng)
        case = rows, private, h, k, p
        monkeypatch.setattr(mole_kernel, "STEPS_AT_ONCE", rng.choice([1, 10**8]))
        guarantee = Coherence(h, k, p, private)
        if not is_feasible(rows, private, h, k):
            with pytest.raises(InfeasibleError):
                run(rows, guarantee)
            continue
        equal = rng.choice([False, True])
        release = run(rows, guarantee, equal_weights=equal)
        expected = naive.mm(rows, private, Fraction(h), k, p, equal=equal)
        assert order_of(release) == expected, (case, equal)
        dropped = {item for item, _ in expected}
        assert set(release.details["suppressed"]) == dropped
        assert Counter(map(frozenset, release.published)) == Counter(naive.without(rows, dropped)), case
        assert verify_coherence(release.published, guarantee).holds, case
        moles = naive.minimal(naive.moles(rows, private, Fraction(h), k, p))
        assert release.details["minimal_moles"] == {
            str(size): n for size, n in sorted(Counter(map(len, moles)).items())
        }
        scored += sum(score[0].isdigit() for _, score in expected)
    assert scored > many(30)


def test_worked_example() -> None:
    """SPEC §6: c, d, then a, b. a is in 3 minimal moles (ae, af, ag) and 4 rows, f and g in 2 and 5."""
    release = run(PAPER, PAPER_GUARANTEE)
    assert [item for item, _ in order_of(release)] == ["c", "d", "a", "b"]
    assert order_of(release) == naive.mm(PAPER, PAPER_GUARANTEE.private, Fraction(1, 2), 3, 3)
    assert release.details["minimal_moles"] == {"1": 2, "2": 4, "3": 1}


def test_single_items_that_are_moles_are_gone() -> None:
    """A release must not keep a rare item, nor one that betrays alone."""
    rows = rows_of("as", "as", "a", "b", "b", "b", "c", "", "", "")
    guarantee = Coherence("0.5", 2, 1, ["s"])
    release = run(rows, guarantee)
    assert order_of(release) == [("a", "betrays alone"), ("c", "support below k")]
    assert verify_coherence(release.published, guarantee).holds
    assert release.published.vocabulary.labels == ("b", "s")


def test_larger_moles_are_looked_for_where_one_size_has_none() -> None:
    """Three items, every pair in 3 rows, all three in 1: no mole of 1 or 2 items, one of 3."""
    rows = rows_of("abc", "ab", "ab", "ac", "ac", "bc", "bc")
    guarantee = Coherence("0.5", 2, 3)
    release = run(rows, guarantee)
    assert release.details["minimal_moles"] == {"3": 1}
    assert order_of(release) == [("a", "1/5")]
    assert verify_coherence(release.published, guarantee).holds
    assert not verify_coherence(transactions(rows), guarantee).holds
    assert order_of(run(rows, Coherence("0.5", 2, 2))) == []


def test_same_seed_same_bytes_other_seed_other_order() -> None:
    rng = seeded(28)
    moved = 0
    for _ in range(examples(60, 20)):
        rows, private, h, k, p = random_problem(rng)
        if not is_feasible(rows, private, h, k):
            continue
        guarantee = Coherence(h, k, p, private)
        release, other = run(rows, guarantee, 7), run(rows, guarantee, 8)
        assert as_bytes(run(rows, guarantee, 7)) == as_bytes(release)
        assert as_bytes(run(rng.sample(rows, len(rows)), guarantee, 7)) == as_bytes(release)
        assert other.details == release.details
        moved += list(other.published) != list(release.published)
    assert moved


@pytest.mark.parametrize("p", [1, 2, math.inf])
@pytest.mark.parametrize(
    ("rows", "k"), [([], 2), (["", ""], 2), (["a"], 1), (["abc"], 1), (["a"] * 4, 4), (["abc"] * 5, 5)]
)
def test_private_data_are_published_as_they_are(rows: list[str], k: int, p: float) -> None:
    data = transactions(rows_of(*rows))
    before = data.indptr.copy(), data.items.copy()
    release = released(mm, data, None, Coherence("0.5", k, p))
    assert Counter(map(frozenset, release.published)) == Counter(rows_of(*rows))
    assert release.details == {"suppressed": [], "order": [], "minimal_moles": {}}
    assert (before[0] == data.indptr).all()
    assert (before[1] == data.items).all()


def test_unknown_private_item_is_refused() -> None:
    with pytest.raises(RequestError, match="do not occur in the data: 'x'"):
        run(rows_of("as", "a", "a"), Coherence("0.5", 2, 2, ["s", "x"]))
