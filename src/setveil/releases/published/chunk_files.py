"""Read and write rows published in chunks: data.json, and the same as tables, chunks.csv and clusters.csv."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import faces, listed
from setveil.base.wording import count
from setveil.kernels.rows import frozen
from setveil.releases.published.group_files import MOST_ROWS, encoded
from setveil.releases.published.json_files import DATA_FILE, JsonReading, write_pieces
from setveil.rows.data.exposed import Exposed, Refusal
from setveil.rows.data.vocabulary import Vocabulary, item_order

if TYPE_CHECKING:
    import polars as pl

CHUNKS_FILE, CLUSTERS_FILE = "chunks.csv", "clusters.csv"
MODEL = "disassociation"
Ints = NDArray[np.int64]


class Chunk(NamedTuple):
    """One chunk: the bag of what the rows of its clusters have of its items, where that is anything."""

    name: str  # "r0", "r1", ... in its cluster, "s0", "s1", ... where several share it
    clusters: list[int]
    items: list[int]  # labels, as positions in the vocabulary
    parts: list[list[int]]


@dataclass(frozen=True, eq=False)
class PublishedChunks(Exposed):
    """Rows in clusters whose items are published in chunks, without saying which parts belong together.

    Pairs of arrays are boundaries, int64 (n + 1,), and content, int64; all are read-only. Chunks are first
    the record chunks, each of one cluster, by cluster, then those that are shared.
    """

    vocabulary: Vocabulary  # the labels, in item order
    k: int  # as the file says
    m: int | float  # as the file says; perhaps `math.inf`
    sizes: Ints  # int64 (clusters,): rows
    empty_rows: int  # rows without items, which are in no cluster
    scope: tuple[Ints, Ints]  # the clusters of each chunk
    item: tuple[Ints, Ints]  # the items of each chunk
    part: Ints  # where the parts of each chunk begin and end
    shared: int  # how many of the chunks, the last ones, are shared
    parts: tuple[Ints, Ints]  # the items of each part
    terms: tuple[Ints, Ints]  # the items of each cluster's term chunk

    origin: ClassVar[None] = None
    kind: ClassVar[str] = "chunks"
    unfindable: ClassVar[Refusal] = Refusal(
        "Rows in chunks do not show which items are in the same row, so matching rows cannot be counted. "
        "Verification counts what can be inferred about sensitive items instead.",
        faces(
            "setveil verify RELEASE -k K -m M --sensitive ITEMS --unsafe",
            "sv.verify(release, sv.Disassociated(k, m, sensitive=[...], unsafe=True))",
        ),
    )

    def became(self, place: int) -> dict[str, Any]:
        """Return a cluster (-1: none): in how many of its rows items of its chunks are; of a term, "some"."""
        if place < 0:
            return {"items": [], "group": None, "size": self.empty_rows, "shared": []}
        labels = self.vocabulary.labels
        counted: list[list[Any]] = [
            [labels[item], sum(item in part for part in chunk.parts)]
            for chunk in self.chunks()
            if chunk.clusters == [place]
            for item in chunk.items
        ]
        terms = [[labels[item], "some"] for item in self.term_chunk(place)]
        return {"items": [], "group": place, "size": int(self.sizes[place]), "shared": [*counted, *terms]}

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.sizes.size

    @property
    def n_chunks(self) -> int:
        """Number of record chunks and shared chunks."""
        return self.part.size - 1

    @property
    def filled_rows(self) -> int:
        """Number of rows that are in a cluster."""
        return sum(self.sizes.tolist())

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return self.filled_rows + self.empty_rows

    @property
    def n_items(self) -> int:
        """Number of labels."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of occurrences of items in chunks, those in term chunks omitted."""
        return self.parts[1].size

    def supports(self) -> Ints:
        """Count the parts that hold each item: int64 (n_items,)."""
        return np.bincount(self.parts[1], minlength=self.n_items).astype(np.int64)

    def chunks(self) -> Iterator[Chunk]:
        """Go through the chunks."""
        where, ids = self.scope[1].tolist(), self.item[1].tolist()
        ends, flat = self.parts[0].tolist(), self.parts[1].tolist()
        spans = zip(
            pairwise(self.scope[0].tolist()), pairwise(self.item[0].tolist()), pairwise(self.part.tolist()),
            strict=True,
        )  # fmt: skip
        first_shared = self.n_chunks - self.shared
        number, last = 0, -1
        for j, ((c0, c1), (i0, i1), (p0, p1)) in enumerate(spans):
            clusters = where[c0:c1]
            if j == first_shared or (j < first_shared and clusters[0] != last):
                number = 0
            last = clusters[0] if j < first_shared else -1
            name = f"{'r' if j < first_shared else 's'}{number}"
            number += 1
            yield Chunk(name, clusters, ids[i0:i1], [flat[ends[p] : ends[p + 1]] for p in range(p0, p1)])

    def term_chunk(self, cluster: int) -> list[int]:
        """List the items of a cluster's term chunk."""
        return self.terms[1][self.terms[0][cluster] : self.terms[0][cluster + 1]].tolist()  # type: ignore[no-any-return]

    @cached_property
    def in_record(self) -> NDArray[np.bool_]:
        """Return whether each item is in a record or shared chunk of some cluster: bool (n_items,)."""
        found = np.zeros(self.n_items, bool)
        found[self.item[1]] = True
        return found

    def shows(self, other: object) -> bool:
        """Return whether another release is the same, to the order of its parts."""
        if not isinstance(other, PublishedChunks) or self.vocabulary != other.vocabulary:
            return False
        mine, theirs = (
            (one.sizes, *one.scope, *one.item, one.part, *one.parts, *one.terms) for one in (self, other)
        )
        numbers = [(one.k, one.m, one.empty_rows, one.shared) for one in (self, other)]
        same = numbers[0] == numbers[1]
        return same and all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame of clusters, chunk and items of each part, or `long` as chunks.csv."""
        import polars as pl

        labels = self.vocabulary.labels
        clusters: list[list[int]] = []
        names: list[str] = []
        parts: list[int | None] = []
        items: list[Any] = []
        number = 0
        for chunk in self.chunks():
            for part in chunk.parts:
                held = [labels[i] for i in part]
                times = len(held) if long else 1
                clusters += times * [chunk.clusters]
                names += times * [chunk.name]
                parts += times * [number]
                items += held if long else [held]
                number += 1
        for c in range(self.n_clusters):
            held = [labels[i] for i in self.term_chunk(c)]
            times = len(held) if long else int(bool(held))
            clusters += times * [[c]]
            names += times * ["t"]
            parts += times * [None]
            items += held if long else times * [held]
        of_items = pl.String if long else pl.List(pl.String)
        columns = {
            "clusters": pl.Series(clusters, dtype=pl.List(pl.Int64)),
            "chunk": pl.Series(names, dtype=pl.String),
            "part": pl.Series(parts, dtype=pl.Int64),
            "item": pl.Series(items, dtype=of_items),
        }
        frame = pl.DataFrame(columns)
        return frame if long else frame.drop("part").rename({"item": "items"})

    def __repr__(self) -> str:
        return (
            f"PublishedChunks: {count(self.n_rows, 'row')} in {count(self.n_clusters, 'cluster')}, "
            f"{count(self.n_chunks, 'chunk')}, {self.shared:,} of them shared"
        )


def pointers(lengths: Iterable[int]) -> Ints:
    """Sum up lengths: where each piece begins, and where the last one ends."""
    return frozen(np.cumsum([0, *lengths]), np.int64)


# --- writing


def write_chunks(folder: str | Path, chunks: PublishedChunks) -> None:
    """Write data.json, chunks.csv and clusters.csv into a folder, which must exist."""
    write_pieces(folder, chunk_lines(chunks))


def chunk_lines(chunks: PublishedChunks) -> dict[str, Iterable[bytes]]:
    """Return the bytes of the three files, in pieces."""
    sizes = (f"{c},{size}\n" for c, size in enumerate(chunks.sizes.tolist()))
    return {
        DATA_FILE: _json_lines(chunks),
        CHUNKS_FILE: _table_lines(chunks),
        CLUSTERS_FILE: (line.encode() for line in ("cluster,rows\n", *sizes)),
    }


def _json_lines(chunks: PublishedChunks) -> Iterator[bytes]:
    """Write one line for each cluster and each shared chunk."""
    encoded(chunks.vocabulary)  # labels that cannot be written in all three files are refused
    texts = [json.dumps(label, ensure_ascii=False) for label in chunks.vocabulary.labels]

    def items_of(ids: list[int]) -> str:
        return f"[{', '.join([texts[i] for i in ids])}]"

    def body(chunk: Chunk) -> str:
        parts = ", ".join(map(items_of, chunk.parts))
        return f'"items": {items_of(chunk.items)}, "rows": [{parts}]'

    records: list[list[str]] = [[] for _ in range(chunks.n_clusters)]
    shared = []
    for chunk in chunks.chunks():
        if chunk.name[0] == "r":
            records[chunk.clusters[0]].append(f"{{{body(chunk)}}}")
        else:
            shared.append(f'{{"clusters": {chunk.clusters}, {body(chunk)}}}')
    most = "null" if chunks.m == math.inf else str(int(chunks.m))
    yield f'{{"model": "{MODEL}", "k": {chunks.k}, "m": {most}, "empty_rows": {chunks.empty_rows},\n'.encode()
    yield b' "clusters": ['
    for c, size in enumerate(chunks.sizes.tolist()):
        inside, terms = ", ".join(records[c]), items_of(chunks.term_chunk(c))
        line = f'{{"rows": {size}, "record_chunks": [{inside}], "term_chunk": {terms}}}'
        yield f"{',' if c else ''}\n  {line}".encode()
    yield b'],\n "shared_chunks": ['
    yield ",".join(f"\n  {line}" for line in shared).encode()
    yield b"]}\n"


def _table_lines(chunks: PublishedChunks) -> Iterator[bytes]:
    fields = encoded(chunks.vocabulary)
    yield b"clusters,chunk,part,item\n"
    number = 0
    for chunk in chunks.chunks():
        start = f"{'+'.join(map(str, chunk.clusters))},{chunk.name},".encode()
        for part in chunk.parts:
            yield b"".join(b"%s%d,%s\n" % (start, number, fields[i]) for i in part)
            number += 1
    for c in range(chunks.n_clusters):
        yield b"".join(b"%d,t,,%s\n" % (c, fields[i]) for i in chunks.term_chunk(c))


# --- reading


def read_chunks(file: str | Path) -> PublishedChunks:
    """Read a data.json of any tool; DataError for what no release can be, not for violated guarantees."""
    return _ChunksReading(str(file), _FORM).release()


_FORM = "docs/groups.md describes the file of rows in chunks."


class _ChunksReading(JsonReading):
    """Takes a data.json apart."""

    def once(self, where: str, value: object) -> list[str]:
        found = self.labels(where, value)
        if len(set(found)) < len(found):
            twice = [label for at, label in enumerate(found) if label in found[:at]]
            raise self.broken(where, f"it names {listed(twice)} twice.")
        return found

    def chunk(self, where: str, value: object) -> tuple[list[str], list[list[str]]]:
        items = self.once(f"{where}, items", self.entry(where, value, "items"))
        rows = self.all_of(f"{where}, rows", self.entry(where, value, "rows"))
        return items, [self.labels(f"{where}, row {r}", row) for r, row in enumerate(rows)]

    def scope(self, where: str, value: object, n_clusters: int) -> list[int]:
        found = [self.number(where, c) for c in self.all_of(where, value)]
        absent = [c for c in found if c >= n_clusters]
        if absent:
            last = f"the last one is {n_clusters - 1}" if n_clusters else "there is none"
            raise self.broken(where, f"there is no cluster {absent[0]}; {last}.")
        if len(set(found)) < len(found):
            raise self.broken(where, "it names a cluster twice.")
        return sorted(found)

    def release(self) -> PublishedChunks:
        """Put the release together."""
        content = self.content()
        self.model(content, MODEL)
        k, m = (self.entry("at the top", content, name) for name in ("k", "m"))
        k, m = self.number("k", k), math.inf if m is None else self.number("m", m)
        empty = self.number("empty_rows", self.entry("at the top", content, "empty_rows"))
        sizes: list[int] = []
        terms: list[list[str]] = []
        made: list[tuple[list[int], list[str], list[list[str]]]] = []
        clusters = self.all_of("clusters", self.entry("at the top", content, "clusters"))
        for c, cluster in enumerate(clusters):
            where = f"cluster {c}"
            sizes.append(self.number(f"{where}, rows", self.entry(where, cluster, "rows")))
            records = self.all_of(f"{where}, record_chunks", self.entry(where, cluster, "record_chunks"))
            made += [([c], *self.chunk(f"{where}, record chunk {j}", one)) for j, one in enumerate(records)]
            terms.append(self.once(f"{where}, term_chunk", self.entry(where, cluster, "term_chunk")))
        if sum(sizes) + empty > MOST_ROWS:
            raise self.wrong("clusters", sum(sizes), f"at most {MOST_ROWS:,} rows in all")
        shared = self.all_of("shared_chunks", self.entry("at the top", content, "shared_chunks"))
        for j, one in enumerate(shared):
            where = f"shared chunk {j}"
            scope = self.scope(f"{where}, clusters", self.entry(where, one, "clusters"), len(sizes))
            made.append((scope, *self.chunk(where, one)))
        return as_chunks(k, m, sizes, empty, made, len(shared), terms)


def as_chunks(
    k: int,
    m: int | float,
    sizes: list[int],
    empty: int,
    made: list[tuple[list[int], list[str], list[list[str]]]],
    shared: int,
    terms: list[list[str]],
) -> PublishedChunks:
    """Put a release together from lists: of each chunk its clusters, items and parts, shared ones last."""
    named = {label for _, items, parts in made for some in (items, *parts) for label in some}
    vocabulary = Vocabulary(item_order(named.union(*terms)))
    ids = vocabulary.ids

    def flat(pieces: Iterable[Iterable[str]]) -> Ints:
        return frozen(np.array([i for some in pieces for i in sorted(ids[x] for x in some)]), np.int64)

    parts = [part for *_, of in made for part in of]
    return PublishedChunks(
        vocabulary,
        k,
        m,
        frozen(np.array(sizes), np.int64),
        empty,
        (pointers(len(s) for s, *_ in made), frozen(np.array([c for s, *_ in made for c in s]), np.int64)),
        (pointers(len(items) for _, items, _ in made), flat(items for _, items, _ in made)),
        pointers(len(of) for *_, of in made),
        shared,
        (pointers(map(len, parts)), flat(parts)),
        (pointers(map(len, terms)), flat(terms)),
    )  # fmt: skip
