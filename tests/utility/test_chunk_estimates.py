"""Answers from rows in chunks, against the sums over clusters by sets, and against all worlds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

import setveil as sv
from chunk_cases import fast, made, random_release, random_rows, slow
from naive import disassociation as naive
from setveil.base.errors import DataError
from setveil.judges.utility.estimates import Answers
from setveil.judges.utility.estimators.chunks import ChunkEstimator
from setveil.releases.published.chunk_files import PublishedChunks
from setveil.releases.published.shared import sums_by_name
from strategies import examples, seeded


def answered(release: PublishedChunks, queries: Iterable[Iterable[str]], **promised: object) -> Answers:
    return ChunkEstimator(sums_by_name(release, {"guarantee": promised})).answers(list(queries))


def some_queries(rng: Random, items: str) -> list[tuple[str, ...]]:
    """Single items, and larger sets; of an item that no cluster has, too."""
    drawn = [tuple(rng.sample(items, rng.randint(1, min(4, len(items))))) for _ in range(20)]
    return [*((x,) for x in items), *drawn, ("nowhere",), ("nowhere", items[0])]


def test_equal_to_the_twin() -> None:
    rng = seeded(3650)
    inside = apart = 0
    for _ in range(examples(600, 60)):
        items = "abcdefghij"[: rng.randint(2, 10)]
        rows = random_rows(rng, 40, items)
        k, limit = rng.randint(1, 3), rng.randint(5, 12)
        if not k <= sum(map(bool, rows)):
            continue
        release = made(rows, sv.Disassociated(k, 2), cluster_size=limit, refine=rng.random() < 0.8)
        twin, queries = slow(release), some_queries(rng, items)
        found = answered(release, queries)
        for query, estimate, least, greatest in zip(
            queries, found.estimate, found.least, found.greatest, strict=True
        ):
            assert estimate == pytest.approx(float(naive.estimate(twin, query)), abs=1e-9)
            low, high = naive.bounds(twin, query)
            whole = [one for one in twin.shared if set(query) <= set(one.items)]
            # The rows of a shared chunk that has all items are known together, not only cluster by cluster.
            assert (least, greatest) == (low, high) or (whole and low <= least <= greatest <= high)
            assert least <= sum(set(query) <= row for row in rows) <= greatest
            inside, apart = inside + bool(whole), apart + (not whole and estimate > 0 and len(query) > 1)
    assert inside > 20
    assert apart > 100


def test_every_world_of_any_release_is_within_the_bounds() -> None:
    rng = seeded(3651)
    worlds = 0
    for _ in range(examples(1500, 150)):
        twin = random_release(rng)
        if sum(twin.sizes) > 5 or naive.failures(twin, 1, 1, None, ()):
            continue
        queries = [some for n in (1, 2, 3) for some in combinations("abcd", n)]
        try:
            found = answered(fast(twin), queries)
        except DataError:
            continue  # an item in two places of a cluster
        for world in naive.worlds(twin):
            worlds += 1
            for query, least, greatest in zip(queries, found.least, found.greatest, strict=True):
                assert least <= sum(set(query) <= row for row in world) <= greatest
    assert worlds > 100


def test_suppressed_sensitive_items_are_within_the_bounds() -> None:
    rng = seeded(3652)
    n_suppressed = 0
    for _ in range(examples(300, 40)):
        rows = [row | {"a"} if rng.random() < 0.5 else row for row in random_rows(rng, 40, "abcdef")]
        k, rho = rng.randint(1, 2), rng.choice([Fraction(1, 2), Fraction(1, 3)])
        if sum(map(bool, rows)) < math.ceil(k / rho) or not any("a" in row for row in rows):
            continue
        release = made(rows, sv.Disassociated(k, 2, rho, ["a"]))
        queries = some_queries(rng, "abcdef")
        found = answered(release, queries, sensitive=["a"], rho=str(rho))
        for query, least, greatest in zip(queries, found.least, found.greatest, strict=True):
            assert least <= sum(set(query) <= row for row in rows) <= greatest
        n_suppressed += found.estimate[0] < sum("a" in row for row in rows)
    assert n_suppressed > 5
