"""Disassociation: the example of the paper, the slow twin, and what does not depend on how rows come."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import setveil as sv
from chunk_cases import PAPER, content, fast, made, random_rows, slow
from cli_helpers import needs_compiled
from naive import disassociation as naive
from real_data import DATA
from setveil.base.errors import DataError, InfeasibleError, RequestError
from setveil.base.threads import use_threads
from setveil.judges.guarantees.verify import verify
from setveil.methods.algorithms.disassociation import _clusters
from setveil.releases.published.chunk_files import PublishedChunks
from strategies import examples, seeded

RHOS = [None, Fraction(1, 2), Fraction(2, 5), Fraction(1, 3)]


def shown(release: naive.Chunks) -> list[Any]:
    return sorted(
        (tuple(sorted(chunk.clusters)), tuple(sorted(chunk.items)), len(chunk.rows))
        for chunk in [*(chunk for own in release.records for chunk in own), *release.shared]
    )


@pytest.mark.parametrize("refining", [True, False])
def test_the_example_of_the_paper(refining: bool) -> None:
    release = slow(made(PAPER, sv.Disassociated(3, 2), cluster_size=5, refine=refining))
    by_terms = {frozenset(terms): c for c, terms in enumerate(release.terms)}
    p = by_terms[frozenset({"ikea", "panic-disorder", "playboy", "ruby"})]
    left: tuple[set[str], set[str]] = ({"iphone-sdk", "madonna", "viagra"}, {"viagra"})
    if not refining:
        left = left[0] | {"flu", "ikea", "itunes", "ruby"}, left[1] | {"flu", "ikea", "itunes", "ruby"}
    q, r = (by_terms[frozenset(terms)] for terms in left)
    assert [release.sizes[c] for c in (p, q, r)] == [4, 3, 3]
    expected: list[Any] = [
        ((p,), ("digital-camera", "iphone-sdk"), 4),
        ((p,), ("madonna",), 3),
        ((r,), ("audi-a4", "madonna", "sony-tv"), 3),
    ]
    if refining:
        both = tuple(sorted((q, r)))
        expected += [(both, ("flu", "itunes"), 5), (both, ("ikea",), 3), (both, ("ruby",), 3)]
    assert shown(release) == sorted(expected)
    assert content(naive.disassociate(PAPER, 3, 2, 5, refining=refining)) == content(release)


def test_equal_to_the_twin() -> None:
    rng = seeded(3601)
    joined = safe = unfilled = 0
    for _ in range(examples(1000, 60)):
        rows = random_rows(rng, 60, "abcdefghijklmn"[: rng.randint(2, 14)])
        k, m = rng.randint(1, 4), rng.choice([1, 2, 2, 3, math.inf])
        rho = rng.choice(RHOS)
        items = sorted({x for row in rows for x in row})
        sensitive = rng.sample(items, min(len(items), rng.randint(1, 2))) if rho else []
        rho = rho if sensitive else None
        guarantee = sv.Disassociated(k, m, rho=rho, sensitive=sensitive)
        filled = sum(map(bool, rows))
        if 0 < filled < guarantee.least or not items:
            continue
        limit = rng.choice([None, 2 * guarantee.least - 1, 3 * guarantee.least])
        refining = rng.random() < 0.8
        fast_one = made(rows, guarantee, seed=rng.randrange(9), cluster_size=limit, refine=refining)
        twin = naive.disassociate(rows, k, m, limit, refining=refining, rho=rho, sensitive=sensitive)
        assert content(slow(fast_one)) == content(twin), (rows, guarantee, limit)
        assert verify(fast_one, guarantee).holds, (rows, guarantee, limit)
        joined, safe = joined + bool(twin.shared), safe + bool(sensitive)
        unfilled += any(not terms for terms in twin.terms)
    assert min(joined, safe, unfilled) > 0


def test_every_world_of_tiny_releases_hides_everybody() -> None:
    """By the definition of the guarantee, not by the conditions that suffice for it."""
    rng = seeded(3602)
    tried = joined = 0
    for _ in range(examples(300, 30)):
        rows = [row for row in random_rows(rng, 6, "abcd") if row]
        k, m = 2, rng.choice([1, 2, 3])
        if len(rows) < k:
            continue
        release = naive.disassociate(rows, k, m, 3)
        if sum(release.sizes) > 6 or sum(map(len, release.terms)) > 4:
            continue
        assert naive.broken(release, k, m) is None, (rows, k, m)
        tried, joined = tried + 1, joined + bool(release.shared)
    assert tried


def test_sizes_add_up_and_what_is_shown_was_there() -> None:
    rng = seeded(3603)
    for _ in range(examples(200, 20)):
        rows = random_rows(rng, 50, "abcdefgh")
        if sum(map(bool, rows)) < 3:
            continue
        release = slow(made(rows, sv.Disassociated(3, 2), cluster_size=7))
        assert sum(release.sizes) + release.empty == len(rows)
        before = Counter(x for row in rows for x in row)
        chunks = [*(chunk for own in release.records for chunk in own), *release.shared]
        after = Counter(x for chunk in chunks for row in chunk.rows for x in row)
        terms = set().union(*release.terms)
        for x, n in before.items():
            assert after[x] <= n
            assert x in terms or after[x] == n


def test_not_the_order_of_rows_nor_the_threads_but_the_seed_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_clusters, "OF_A_PIECE", 7)  # so that several threads have work
    rng = seeded(3604)
    moved = 0
    for _ in range(examples(60, 6)):
        rows = random_rows(rng, 300, "abcdefghij")
        if sum(map(bool, rows)) < 4:
            continue
        guarantee = sv.Disassociated(2, 2)
        release = made(rows, guarantee, 7, cluster_size=5)
        rng.shuffle(rows)
        use_threads(1)
        again = made(rows, guarantee, 7, cluster_size=5)
        use_threads(3)
        assert release.shows(again)
        assert release.shows(made(rows, guarantee, 7, cluster_size=5))
        other = made(rows, guarantee, 8, cluster_size=5)
        assert content(slow(other)) == content(slow(release))
        moved += not release.shows(other)
    assert moved


def test_map_of_rows() -> None:
    rows = [*PAPER, frozenset[str](), *PAPER]
    data = sv.Transactions.from_rows(rows)
    release = sv.anonymize(data, sv.Disassociated(3, 2), algorithm="disassociation", cluster_size=8)
    published = slow(release.release.exposed())
    assert (release.row_map[10], published.empty) == (-1, 1)
    for c, size in enumerate(published.sizes):
        inside = [row for row, at in zip(rows, release.row_map.tolist(), strict=True) if at == c]
        assert len(inside) == size
        for chunk in published.records[c]:
            assert Counter(naive.projected(inside, chunk.items)) == Counter(chunk.rows)


def test_a_sensitive_item_is_alone_and_capped() -> None:
    rows = [frozenset("as")] * 12 + [frozenset("ab")] * 8 + [frozenset("s")] * 5
    guarantee = sv.Disassociated(2, 2, rho="1/5", sensitive=["s"])
    release = slow(made(rows, guarantee))
    for size, records in zip(release.sizes, release.records, strict=True):
        for chunk in records:
            assert "s" not in chunk.items or (chunk.items == ["s"] and len(chunk.rows) <= size / 5)
    assert not any("s" in chunk.items for chunk in release.shared)
    plain = sv.Disassociated(2, 2, sensitive=["s"], unsafe=True)
    verdict: Any = verify(made(rows, plain), plain)
    assert verdict.holds
    assert verdict.inferences
    assert verdict.most.confidence == 1


@pytest.mark.parametrize(
    ("guarantee", "parameters", "error", "text"),
    [
        (sv.Disassociated(11, 2), {}, InfeasibleError, "greatest possible k is 10"),
        (
            sv.Disassociated(3, 2, rho="1/5", sensitive=["flu"]), {}, InfeasibleError,
            "k / rho = 15 of them.*greatest possible k is 2",
        ),
        (
            sv.Disassociated(1, 2, rho="1/20", sensitive=["flu"]), {}, InfeasibleError,
            "No k is possible with rho = 0.05",
        ),
        (sv.Disassociated(3, 2), {"cluster_size": 4}, RequestError, r"less than 5.*Give 5 or more"),
        (sv.Disassociated(3, 2, sensitive=["flu", "gout"]), {}, DataError, "not in the data: 'gout'"),
    ],
)  # fmt: skip
def test_refused(guarantee: Any, parameters: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        sv.anonymize([*PAPER, ()], guarantee, algorithm="disassociation", **parameters)
    import re

    assert re.search(text, f"{caught.value}", re.DOTALL)


def test_promises_that_contradict_themselves() -> None:
    for arguments, text in (
        ({"rho": "1/5"}, "none is named"),
        ({"unsafe": True}, "none is named"),
        ({"rho": "1/5", "sensitive": ["a"], "unsafe": True}, "leaves that open"),
        ({"rho": 2, "sensitive": ["a"]}, "above 0 and at most 1"),
    ):
        with pytest.raises(RequestError, match=text):
            sv.Disassociated(2, 2, **arguments)


@pytest.mark.parametrize("rows", [[], [[]], [[], []], [["a"]], [["a"], []]])
def test_few_rows(rows: list[list[str]]) -> None:
    release = sv.anonymize(rows, sv.Disassociated(1, 2), algorithm="disassociation")
    assert isinstance(release.published, PublishedChunks)
    assert release.published.n_rows == len(rows)
    assert release.verdict.holds


@needs_compiled
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
def test_groceries() -> None:
    data = sv.read(DATA / "groceries.csv")
    release = made(map(frozenset, data.rows()), sv.Disassociated(5, 2), cluster_size=50)
    assert (release.n_clusters, release.n_occurrences) == (449, 34_091)


def test_the_forms_of_the_tests_are_the_same() -> None:
    rng = seeded(1)
    release = naive.disassociate(random_rows(rng, 40, "abcdef"), 2, 2, 4)
    assert content(slow(fast(release, 2, 2))) == content(release)
