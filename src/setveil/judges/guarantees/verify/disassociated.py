"""Check that rows in chunks are disassociated, using only data.json; sets of parts are bits of integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.disassociated import RHO, Disassociated
from setveil.judges.guarantees.verify import Verdict
from setveil.releases.published.chunk_files import Chunk, PublishedChunks

_STEPS = 2_000_000  # sets that are looked at for listing failures; whether there are any is always certain
_MOST_CLOSED = 200_000  # sets of known items, where there is no limit to what is known


@dataclass(frozen=True)
class Failure:
    """One way in which a release violates its guarantee."""

    kind: str  # a key of `setveil.judges.guarantees.disassociated._FAILURES`, which says what it means
    clusters: tuple[int, ...]
    chunk: str  # "r0", ..., "s0", ..., "t" of the term chunk; "": the cluster as a whole
    itemset: tuple[str, ...] = ()
    support: int = 0
    need: int | None = None
    betrays: str = ""  # the sensitive item, and in how many of the `support` rows it is
    sensitive_rows: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the failure as JSON types."""
        record: dict[str, Any] = {
            "kind": self.kind,
            "clusters": list(self.clusters),
            "chunk": self.chunk,
            "itemset": list(self.itemset),
            "support": self.support,
        }
        if self.need is not None:
            record["need"] = self.need
        if self.betrays:
            record |= {"betrays": self.betrays, "sensitive_rows": self.sensitive_rows}
        return record


@dataclass(frozen=True)
class Inference:
    """An inference about a sensitive item from the cluster of a person and some of their items."""

    item: str
    clusters: tuple[int, ...]
    chunk: str
    known: tuple[str, ...]
    support: int
    sensitive_rows: int

    @property
    def confidence(self) -> Fraction:
        """The share of the rows with the sensitive item."""
        return Fraction(self.sensitive_rows, self.support)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "item": self.item,
            "cluster": "+".join(map(str, self.clusters)),
            "chunk": self.chunk,
            "itemset": list(self.known),
            "support": self.support,
            "sensitive_rows": self.sensitive_rows,
            "confidence": float(self.confidence),
        }


@dataclass(frozen=True, repr=False)
class DisassociatedVerdict(Verdict):
    """The verdict on rows in chunks: clusters, parts and items that cannot be, rare sets, revealing sets."""

    guarantee: Disassociated
    holds: bool
    violations: int
    first: tuple[Failure, ...]  # cluster by cluster, then shared chunks
    greatest_k: int  # rows of the smallest cluster; 0 without clusters
    clusters: int
    most: Inference | None  # the most revealing; None if nothing sensitive is published
    inferences: tuple[Inference, ...]  # those above rho (1/5 without rho), the greatest first
    certain: int  # pairs of a cluster and an item that all its rows contain
    complete: bool

    def found(self) -> dict[str, Any]:
        """Return sizes, and what can be inferred of sensitive items, as JSON types."""
        record: dict[str, Any] = {
            "greatest_k": self.greatest_k,
            "clusters": self.clusters,
            "certain": self.certain,
            "complete": self.complete,
        }
        if self.guarantee.sensitive:
            record["greatest_confidence"] = None if self.most is None else self.most.as_dict()
            record["inferences"] = len(self.inferences)
            record["inferred"] = [one.as_dict() for one in self.inferences[:_LISTED]]
        return record

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [failure.as_dict() for failure in self.first]


_LISTED = 20  # inferences that a record names


def verify_disassociated(
    published: PublishedChunks,
    guarantee: Disassociated,
    *,
    show: int = 10,
    progress: Progress = silent,
) -> DisassociatedVerdict:
    """Check disassociation of clusters and chunks, whatever tool made them.

    Six conditions that together imply the guarantee. (1) Every cluster has at least k rows; no part is
    empty or has repeats or items of other chunks; every item of a chunk is in some part; there are no more
    parts than rows. (2) In the record chunks and the term chunk of a cluster every item is in one place. (3)
    Every record chunk is k^m-anonymous. (4) A cluster with v > 0 record chunks of altogether |P| + k (min(m,
    v) - 1) parts or more needs no term chunk; every other needs one that is not empty. (5) Every shared chunk
    is of two clusters or more and k^m-anonymous; if an item of it is elsewhere in one of its clusters, each
    of its parts occurs k times. (6) With rho: of the rows that contain at most m items of a chunk no more
    than a share rho contain another, sensitive item of it.
    """
    check = _ClusterCheck(published, guarantee)
    check.run(progress)
    inferences = sorted(
        check.inferences, key=lambda one: (-one.confidence, one.item, one.clusters, len(one.known), one.known)
    )
    return DisassociatedVerdict(
        guarantee,
        not check.violations,
        check.violations,
        tuple(check.first[: max(show, 1)]),
        min(published.sizes.tolist(), default=0),
        published.n_clusters,
        check.most,
        tuple(inferences),
        check.certain,
        check.complete,
    )


@dataclass
class _ClusterCheck:
    published: PublishedChunks
    guarantee: Disassociated
    first: list[Failure] = field(default_factory=list)
    inferences: list[Inference] = field(default_factory=list)
    most: Inference | None = None
    violations: int = 0
    certain: int = 0
    complete: bool = True
    steps: int = 0

    def run(self, progress: Progress) -> None:
        """Check all conditions, cluster by cluster, then those of shared chunks."""
        published, labels = self.published, self.published.vocabulary.labels
        sizes = published.sizes.tolist()
        self.secrets = [published.vocabulary.ids.get(x, -1) for x in self.guarantee.sensitive]
        self.secrets = [x for x in self.secrets if x >= 0]
        self.bound = RHO if self.guarantee.rho is None else self.guarantee.rho
        records: list[list[Chunk]] = [[] for _ in sizes]
        shared: list[Chunk] = []
        for chunk in published.chunks():
            (records[chunk.clusters[0]] if chunk.name[0] == "r" else shared).append(chunk)
        places: list[Counter[int]] = []
        for c, size in enumerate(sizes):
            if c % 256 == 0:
                progress("verifying clusters", c / len(sizes))
            terms = published.term_chunk(c)
            # (1) and (2)
            if size < self.guarantee.k:
                self.fail(Failure("rows", (c,), "", (), size, self.guarantee.k))
            places.append(Counter([*terms, *(x for chunk in records[c] for x in chunk.items)]))
            for item in sorted(x for x, n in places[c].items() if n > 1):
                self.fail(Failure("twice", (c,), "", (labels[item],)))
            for chunk in records[c]:
                self.look_at(chunk, size)
            # (4)
            parts, v = sum(len(chunk.parts) for chunk in records[c]), len(records[c])
            need = size + self.guarantee.k * (int(min(self.guarantee.m, v)) - 1)
            if not terms and (not v or parts < need):
                self.fail(Failure("filled", (c,), "", (), parts, max(need, 1)))
            # (6)
            for item in self.secrets:
                if item in terms and size:
                    self.infer(Inference(labels[item], (c,), "t", (), size, 1))
        for number, chunk in enumerate(shared):
            progress("verifying shared chunks", number / len(shared))
            # (5)
            if len(chunk.clusters) < 2:
                self.fail(Failure("scope", tuple(chunk.clusters), chunk.name, (), len(chunk.clusters)))
            for c in chunk.clusters:
                places[c].update(set(chunk.items))
        for chunk in shared:
            self.look_at(chunk, sum(sizes[c] for c in chunk.clusters))
            if any(places[c][x] > 1 for c in chunk.clusters for x in chunk.items):
                self.require_repeated(chunk)

    def fail(self, failure: Failure) -> None:
        """Note a violation."""
        self.violations += 1
        if len(self.first) < _KEPT:
            self.first.append(failure)

    def infer(self, found: Inference) -> None:
        """Note what is learned of a sensitive item."""
        if self.most is None or found.confidence > self.most.confidence:
            self.most = found
        if found.confidence > self.bound:
            self.inferences.append(found)
            if self.guarantee.rho is not None:
                self.fail(
                    Failure(
                        "confidence", found.clusters, found.chunk, found.known, found.support, None,
                        found.item, found.sensitive_rows,
                    )
                )  # fmt: skip

    def look_at(self, chunk: Chunk, size: int) -> None:
        """Check the parts of one chunk of clusters of altogether `size` rows."""
        labels, where = self.published.vocabulary.labels, (tuple(chunk.clusters), chunk.name)
        inside = set(chunk.items)
        for part in chunk.parts:
            if not part or len(set(part)) < len(part) or not inside.issuperset(part):
                self.fail(Failure("part", *where, tuple(labels[x] for x in part), len(part)))
        if len(chunk.parts) > size:
            self.fail(Failure("parts", *where, (), len(chunk.parts), size))
        bits = dict.fromkeys(chunk.items, 0)
        for number, part in enumerate(chunk.parts):
            for x in part:
                bits[x] = bits.get(x, 0) | 1 << number
        for x in chunk.items:
            if not bits[x]:
                self.fail(Failure("item", *where, (labels[x],)))
            self.certain += len(chunk.clusters) == 1 and 0 < size == bits[x].bit_count()
        distinct = Counter(tuple(sorted(set(part))) for part in chunk.parts if part)
        for itemset, support in self.rare(distinct, bits):
            self.fail(
                Failure("support", *where, tuple(labels[x] for x in itemset), support, self.guarantee.k)
            )
        for item in self.secrets:
            if bits.get(item):
                self.learn(chunk, size, item, distinct, bits)

    def rare(
        self, distinct: Counter[tuple[int, ...]], bits: dict[int, int]
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """List the smallest sets of at most m items of some part that fewer than k parts hold."""
        k, m = self.guarantee.k, self.guarantee.m
        whole = [part for part in sorted(distinct) if _support(part, bits) < k]
        found: set[tuple[int, ...]] = set()
        for part in whole:  # of all other parts, every set is in k parts
            for length in range(1, int(min(m, len(part))) + 1):
                for some in combinations(part, length):
                    self.steps += 1
                    if found and self.steps > _STEPS:
                        self.complete = False
                        return
                    support = _support(some, bits)
                    if support >= k or some in found:
                        continue
                    if any(less in found for n in range(1, length) for less in combinations(some, n)):
                        continue
                    found.add(some)
                    yield some, support

    def require_repeated(self, chunk: Chunk) -> None:
        """Require each part k times, where items are elsewhere, too."""
        labels = self.published.vocabulary.labels
        for part, times in sorted(Counter(tuple(sorted(part)) for part in chunk.parts).items()):
            if times < self.guarantee.k:
                named = tuple(labels[x] for x in part)
                clusters = tuple(chunk.clusters)
                self.fail(Failure("repeated", clusters, chunk.name, named, times, self.guarantee.k))

    def learn(
        self, chunk: Chunk, size: int, item: int, distinct: Counter[tuple[int, ...]], bits: dict[int, int]
    ) -> None:
        """Find what is learned of a sensitive item by knowing at most m others of its chunk."""
        labels = self.published.vocabulary.labels
        if size:
            number = bits[item].bit_count()
            self.infer(Inference(labels[item], tuple(chunk.clusters), chunk.name, (), size, number))
        if len(bits) < 2:
            return
        others = [tuple(x for x in part if x != item) for part in distinct if item in part]
        for known in sorted(self.known(others), key=lambda known: (len(known), known)):
            rows = -1
            for x in known:
                rows &= bits[x]
            self.infer(
                Inference(
                    labels[item], tuple(chunk.clusters), chunk.name, tuple(labels[x] for x in known),
                    rows.bit_count(), (rows & bits[item]).bit_count(),
                )
            )  # fmt: skip

    def known(self, parts: Sequence[tuple[int, ...]]) -> set[tuple[int, ...]]:
        """List sets of at most m items that may be known; if m is no limit, what parts have in common.

        Of the sets that the same parts with the sensitive item contain, the greatest reveals most.
        """
        m, longest = self.guarantee.m, max(map(len, parts), default=0)
        if m < longest:
            return {
                some
                for part in parts
                for n in range(1, int(m) + 1)
                for some in combinations(part, min(n, len(part)))
                if some
            }
        closed: set[frozenset[int]] = set()
        for part in {frozenset(part) for part in parts}:
            closed |= {part & other for other in closed} | {part}
            if len(closed) > _MOST_CLOSED:
                raise RequestError(
                    "There are too many sets of known items to look at what they tell of sensitive ones.",
                    hint="Give a smaller --m.",
                )
        return {tuple(sorted(some)) for some in closed if some}


_KEPT = 1_000_000  # failures, of which `show` are listed


def _support(itemset: Sequence[int], bits: dict[int, int]) -> int:
    parts = -1
    for x in itemset:
        parts &= bits[x]
    return parts.bit_count()
