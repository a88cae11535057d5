"""Releases in chunks as the tests have them: slow and fast forms of the same, random ones, tampered ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from random import Random
from typing import Any

import setveil as sv
from naive.disassociation import Chunk, Chunks
from setveil.judges.guarantees.disassociated import Disassociated
from setveil.methods.algorithms.disassociation import disassociation
from setveil.releases.published import publish
from setveil.releases.published.chunk_files import PublishedChunks, as_chunks
from strategies import transactions

Row = frozenset[str]

# The running example of the paper.
PAPER = [
    frozenset(row.split())
    for row in (
        "itunes flu madonna ikea ruby",
        "madonna flu viagra ruby audi-a4 sony-tv",
        "itunes madonna audi-a4 ikea sony-tv",
        "itunes flu viagra",
        "itunes flu madonna audi-a4 sony-tv",
        "madonna digital-camera panic-disorder playboy",
        "iphone-sdk madonna ikea ruby",
        "iphone-sdk digital-camera madonna playboy",
        "iphone-sdk digital-camera panic-disorder",
        "iphone-sdk digital-camera madonna ikea ruby",
    )
]


def fast(release: Chunks, k: int = 1, m: float = 1) -> PublishedChunks:
    """Put a release into the form that is published."""
    chunks = [chunk for own in release.records for chunk in own] + release.shared
    made = [(sorted(c.clusters), c.items, [list(row) for row in c.rows]) for c in chunks]
    terms = [sorted(terms) for terms in release.terms]
    return as_chunks(k, m, release.sizes, release.empty, made, len(release.shared), terms)


def slow(published: PublishedChunks) -> Chunks:
    """Convert a release to the form of the twin."""
    labels = published.vocabulary.labels
    records: list[list[Chunk]] = [[] for _ in range(published.n_clusters)]
    shared: list[Chunk] = []
    for chunk in published.chunks():
        named = [labels[x] for x in chunk.items]
        one = Chunk(chunk.clusters, named, [frozenset(labels[x] for x in part) for part in chunk.parts])
        (records[chunk.clusters[0]] if len(chunk.clusters) == 1 else shared).append(one)
    terms = [{labels[x] for x in published.term_chunk(c)} for c in range(published.n_clusters)]
    return Chunks(published.sizes.tolist(), records, terms, shared, published.empty_rows)


def content(release: Chunks) -> Any:
    """All of a release but the order of its clusters, chunks and parts."""

    def of(chunk: Chunk) -> Any:
        return frozenset(chunk.items), frozenset(Counter(chunk.rows).items())

    own = [
        (size, frozenset(map(of, records)), frozenset(terms))
        for size, records, terms in zip(release.sizes, release.records, release.terms, strict=True)
    ]
    shared = Counter(
        (of(chunk), frozenset(Counter(own[c] for c in chunk.clusters).items())) for chunk in release.shared
    )
    return release.empty, Counter(own), shared


def made(rows: Iterable[Row], guarantee: Disassociated, seed: int = 0, **parameters: Any) -> PublishedChunks:
    """Publish rows in chunks."""
    data = transactions(list(rows))
    settings = sv.Disassociation(**parameters)
    found, _ = disassociation.anonymize(data, None, guarantee, settings)
    published = publish(data, found, seed).exposed()
    assert isinstance(published, PublishedChunks)
    return published


def random_rows(rng: Random, most_rows: int, items: str) -> list[Row]:
    """Draw rows of items; the first items are frequent."""
    n, chance = rng.randint(1, most_rows), rng.choice([0.6, 0.9, 1.3])
    weights = [chance / (1 + i) ** rng.choice([0.3, 0.8]) for i in range(len(items))]
    return [frozenset(x for x, w in zip(items, weights, strict=True) if rng.random() < w) for _ in range(n)]


def random_release(rng: Random, items: str = "abcd") -> Chunks:
    """Any release: clusters of few rows, chunks of whatever parts."""
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]

    def chunk(clusters: list[int]) -> Chunk:
        size = sum(sizes[c] for c in clusters)
        inside = rng.sample(items, rng.choice([1, 1, 2, 3]))
        most = size + (rng.random() < 0.05)
        parts = [
            frozenset(x for x in inside if rng.random() < 0.8)
            for _ in range(rng.randint(max(1, size - 2), most))
        ]
        parts = [part for part in parts if part or rng.random() < 0.02] or [frozenset(inside)]
        shown = [x for x in inside if any(x in part for part in parts) or rng.random() < 0.03]
        return Chunk(clusters, shown, parts)

    records = [[chunk([c]) for _ in range(rng.choice([0, 1, 1, 2]))] for c in range(len(sizes))]
    terms = [set(rng.sample(items, rng.choice([0, 0, 1, 2]))) for _ in sizes]
    shared = []
    if len(sizes) > 1 and rng.random() < 0.5:
        for _ in range(rng.choice([1, 1, 2])):
            scope = sorted(rng.sample(range(len(sizes)), rng.choice([1, 2, 2, 2])))
            shared.append(chunk(scope))
    if rng.random() < 0.7:  # each item in one place of each cluster
        for c in range(len(sizes)):
            seen: set[str] = {x for one in shared if c in one.clusters for x in one.items}
            kept = []
            for one in records[c]:
                if seen.isdisjoint(one.items):
                    seen.update(one.items)
                    kept.append(one)
            records[c] = kept
            terms[c] -= seen
    return Chunks(sizes, records, terms, shared)


def tampered(release: Chunks, rng: Random) -> Chunks:
    """Change one thing."""
    out = deepcopy(release)
    chunks = [chunk for own in out.records for chunk in own] + out.shared
    what = rng.randrange(9)
    c = rng.randrange(len(out.sizes))
    if what == 0:
        out.sizes[c] = max(1, out.sizes[c] + rng.choice([-2, -1, 1, 2]))
    elif what == 1 and out.terms[c]:
        out.terms[c].discard(rng.choice(sorted(out.terms[c])))
    elif what == 2:
        out.terms[c].add(rng.choice("abcdefgh"))
    elif chunks:
        chunk = rng.choice(chunks)
        at = rng.randrange(len(chunk.rows)) if chunk.rows else -1
        if what == 3 and at >= 0:
            del chunk.rows[at]
        elif what == 4 and at >= 0:
            chunk.rows.append(rng.choice(chunk.rows))
        elif what == 5 and at >= 0:
            chunk.rows[at] = chunk.rows[at] ^ {rng.choice([*chunk.items, "a"])}
        elif what == 6 and len(chunk.items) > 1:
            chunk.items.remove(rng.choice(chunk.items))
        elif what == 7:
            chunk.items.append(rng.choice([x for x in "abcdefgh" if x not in chunk.items] or ["z"]))
        elif what == 8 and len(chunk.clusters) > 1:
            chunk.clusters.remove(rng.choice(chunk.clusters))
    return out
