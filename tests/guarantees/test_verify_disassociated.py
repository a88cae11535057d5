"""The verifier of rows in chunks against the definition of its conditions, on releases of whatever kind."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import setveil as sv
from chunk_cases import fast, random_release, random_rows, slow, tampered
from naive import disassociation as naive
from naive.disassociation import Chunk, Chunks
from setveil.judges.guarantees.disassociated import Disassociated, violation_words
from setveil.judges.guarantees.verify.disassociated import DisassociatedVerdict, verify_disassociated
from strategies import examples, seeded

CONDITION = {
    "rows": 1, "part": 1, "item": 1, "parts": 1, "twice": 2, "filled": 4, "scope": 5, "repeated": 5,
    "confidence": 6,
}  # fmt: skip
MANY = 1_000_000


def found(verdict: DisassociatedVerdict) -> set[tuple[int, tuple[int, ...], str]]:
    out = set()
    for failure in verdict.first:
        of_chunk = 5 if failure.chunk.startswith("s") else 3
        number = CONDITION.get(failure.kind, of_chunk)
        out.add((number, failure.clusters, failure.chunk))
    return out


def compare(release: Chunks, guarantee: Disassociated) -> bool:
    verdict = verify_disassociated(fast(release), guarantee, show=MANY)
    expected = naive.failures(release, guarantee.k, guarantee.m, guarantee.rho, guarantee.sensitive)
    assert found(verdict) == expected, (release, guarantee)
    assert verdict.holds == (not expected)
    assert len(verdict.first) == verdict.violations
    for failure in verdict.first:
        assert violation_words(failure.as_dict())
    return verdict.holds


def test_random_releases() -> None:
    rng = seeded(3611)
    outcomes = Counter[tuple[int, bool]]()
    for _ in range(examples(60_000, 8_000) // 20):
        release = random_release(rng)
        rho = rng.choice([None, None, Fraction(1, 2), Fraction(1, 3)])
        sensitive = rng.sample("abcd", rng.randint(1, 2)) if rho else ()
        guarantee = Disassociated(rng.randint(1, 3), rng.choice([1, 2, 3, math.inf]), rho, sensitive)
        outcomes[guarantee.k, compare(release, guarantee)] += 1
    assert min(outcomes[1, True], outcomes[2, True], outcomes[2, False]) > 0


def test_tampered_releases() -> None:
    rng = seeded(3612)
    outcomes = Counter[bool]()
    for _ in range(examples(4_000, 200) // 20):
        rows = random_rows(rng, 30, "abcdefg")
        k, m, rho = rng.randint(1, 3), rng.choice([1, 2, 3, math.inf]), rng.choice([None, Fraction(1, 2)])
        sensitive = ["a"] if rho and any("a" in row for row in rows) else []
        guarantee = Disassociated(k, m, rho if sensitive else None, sensitive)
        if sum(map(bool, rows)) < guarantee.least:
            continue
        release = naive.disassociate(
            rows, k, m, 2 * guarantee.least - 1, rho=guarantee.rho, sensitive=sensitive
        )
        assert compare(release, guarantee)
        for _ in range(10):
            changed = tampered(release, rng)
            for _ in range(rng.randrange(2)):
                changed = tampered(changed, rng)
            outcomes[compare(changed, guarantee)] += 1
    assert min(outcomes[True], outcomes[False]) > 0


def test_what_holds_hides_everybody_in_some_world() -> None:
    """The six conditions suffice: by brute force over all data that tiny releases can come from."""
    rng = seeded(3613)
    checked = shared = 0
    for _ in range(examples(20_000, 4_000) // 20):
        release = random_release(rng, "abc")
        k, m = 2, rng.choice([1, 2, 3])
        if sum(release.sizes) > 6 or sum(map(len, release.terms)) > 3 or naive.failures(release, k, m):
            continue
        parts = sum(len(chunk.rows) for own in release.records for chunk in own)
        if parts + sum(len(chunk.rows) for chunk in release.shared) > 9:
            continue
        checked += 1
        shared += bool(release.shared)
        assert naive.broken(release, k, m) is None, (release, k, m)
    assert checked


def test_rows_without_a_part_would_be_empty() -> None:
    """Chunks that are k^m-anonymous each, and yet two rows with a and b leave the third one empty."""
    chunks = [Chunk([0], [x], [frozenset(x)] * 2) for x in "ab"]
    release = Chunks([3], [chunks], [set()])
    verdict = verify_disassociated(fast(release), Disassociated(2, 2))
    assert not verdict.holds
    assert verdict.listed() == [
        {"kind": "filled", "clusters": [0], "chunk": "", "itemset": [], "support": 4, "need": 5}
    ]
    assert naive.broken(release, 2, 2) == frozenset("ab")
    assert "4 parts and no term chunk, where 5 are needed" in violation_words(verdict.listed()[0])


def test_shared_items_that_are_elsewhere_need_whole_parts_k_times() -> None:
    """As other tools publish them: an item of a shared chunk may be in a record chunk of its "
    "clusters, too."""
    record = Chunk([0], ["a"], [frozenset("a")] * 2)
    for times, holds in ((1, False), (2, True)):
        rows = [frozenset("ab")] * 2 + [frozenset("b")] * times
        shared = Chunk([0, 1], ["a", "b"], rows)
        release = Chunks([2, 2], [[record], []], [{"x"}, {"y"}], [shared])
        verdict = verify_disassociated(fast(release), Disassociated(2, 2))
        assert verdict.holds is holds, verdict.listed()


def test_repeats_in_parts_are_found() -> None:
    from setveil.releases.published.chunk_files import as_chunks

    release = as_chunks(1, 2, [2], 0, [([0], ["a"], [["a", "a"], ["a"]])], 0, [[]])
    verdict = verify_disassociated(release, Disassociated(1, 2))
    assert [one["kind"] for one in verdict.listed()] == ["part"]


def test_greatest_confidence() -> None:
    chunk = Chunk([0], ["a", "s"], [frozenset("as")] * 3 + [frozenset("a")] + [frozenset("s")])
    release = Chunks([6], [[chunk]], [{"t"}])
    plain = verify_disassociated(fast(release), Disassociated(1, 2, sensitive=["s"], unsafe=True))
    assert plain.holds
    assert plain.most is not None
    assert (plain.most.known, plain.most.confidence) == (("a",), Fraction(3, 4))
    assert [one.confidence for one in plain.inferences] == [Fraction(3, 4), Fraction(2, 3)]
    safe = verify_disassociated(fast(release), Disassociated(1, 2, rho="2/3", sensitive=["s"]))
    assert [one.itemset for one in safe.first] == [("a",)]
    bounded = verify_disassociated(fast(release), Disassociated(1, 2, rho="3/4", sensitive=["s"]))
    assert bounded.holds, "a chance of exactly rho is allowed"


def test_any_number_of_known_items_is_checked_by_what_parts_have_in_common() -> None:
    rng = seeded(3614)
    for _ in range(examples(400, 40)):
        rows = [frozenset("s") | row for row in random_rows(rng, 8, "abcde")]
        rows += [row for row in random_rows(rng, 8, "abcde") if row]
        release = Chunks([len(rows)], [[Chunk([0], sorted(set().union(*rows)), rows)]], [{"t"}])
        guarantee = Disassociated(1, math.inf, sensitive=["s"], unsafe=True)
        most = verify_disassociated(fast(release), guarantee).most
        expected = max(
            Fraction(release.records[0][0].support([*known, "s"]), release.records[0][0].support(known) or 1)
            if known else Fraction(release.records[0][0].support("s"), len(rows))
            for row in rows if "s" in row for known in _subsets(sorted(row - {"s"}))
        )  # fmt: skip
        assert most is not None
        assert most.confidence == expected


def _subsets(items: list[str]) -> list[list[str]]:
    out: list[list[str]] = [[]]
    for x in items:
        out += [[*some, x] for some in out]
    return out


def test_nothing_of_other_kinds_is_taken(tmp_path: Any) -> None:
    release = sv.anonymize([["a"], ["a"]], sv.Disassociated(2, 2), algorithm="disassociation")
    release.write(tmp_path / "run")
    assert sv.verify(tmp_path / "run", k=2, m=2).phrase == "disassociation (k=2, m=2)"
    assert sv.verify(tmp_path / "run" / "published" / "data.json", k=2, m=2).holds
    assert slow(sv.read_published(tmp_path / "run")).sizes == [2]  # type: ignore[arg-type]
    with pytest.raises(sv.DataError, match="is about rows in chunks"):
        sv.verify([["a"], ["a"]], sv.Disassociated(2, 2))
    with pytest.raises(sv.DataError, match="is about"):
        sv.verify(release, sv.KmAnonymity(2, 2))
