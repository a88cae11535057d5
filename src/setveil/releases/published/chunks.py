"""Rows in clusters, whose items are published in chunks, apart from each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import frozen, take_rows
from setveil.releases.published import KindInfo, Made, MadeRelease
from setveil.releases.published.about import about_file, published_file
from setveil.releases.published.as_written import require_written
from setveil.releases.published.chunk_files import (
    CHUNKS_FILE,
    CLUSTERS_FILE,
    MODEL,
    PublishedChunks,
    chunk_lines,
    pointers,
    read_chunks,
    write_chunks,
)
from setveil.releases.published.json_files import DATA_FILE, data_file, holds_model
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Original
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary

Ints = NDArray[np.int64]
Scoped = tuple[tuple[int, ...], tuple[int, ...]]  # clusters and items of a chunk


@dataclass(frozen=True, eq=False)
class RowChunks(Made):
    """The cluster of each row, and the chunks in which items are published.

    An item that occurs in a cluster is in at most one of its chunks, or else in its term chunk.
    """

    release: ClassVar[str] = "chunks"

    k: int  # what is guaranteed, which data.json repeats
    m: int | float
    cluster: Ints  # int64 (n_rows,): cluster of each row, from 0, no number left out; -1: rows without items
    chunks: tuple[Scoped, ...]  # of one cluster: record chunks; of several: shared chunks; items by their ids
    left_out: Ints  # int64: occurrences of the data that are not published
    sensitive: tuple[str, ...] = ()  # the items of which a cluster shows a share rho at most
    rho: Fraction | None = None


@dataclass(frozen=True, eq=False)
class ChunkClusters:
    """The cluster of each row, and the guarantee about sensitive items."""

    items: Vocabulary  # of the data
    cluster: Ints  # int64 (n_rows,), read-only, as numbered in the release; -1: no item. Internal
    sensitive: tuple[str, ...] = ()
    rho: Fraction | None = None  # None: no guarantee about sensitive items

    kind: ClassVar[str] = "disassociated"


def _shared_sums(
    chunks: PublishedChunks, _counts: Any, about: Mapping[str, Any], _layout: Layout | None
) -> Any:
    """Take chunks: items under their own names."""
    from setveil.releases.published.shared import sums_by_name

    return sums_by_name(chunks, about)


info = KindInfo(
    title="rows in chunks",
    recodings=(ChunkClusters.kind,),
    shown=PublishedChunks,
    means="clusters_file",
    asks=(
        "queries", "queries_file", "query_size", "query_support", "top", "hierarchy", "rules", "confidence",
        "rule_length",
    ),
    format="chunks",
    written="rows in chunks are always published as data.json and two csv files",
    mapped_to="cluster",
    unsplit="every item is published under its own name, and only which items go together is hidden",
    short="chunks",
    rare_on_request=True,
    shared_sums=_shared_sums,
    drawn=lambda chunks, *_: chunks,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ChunksRelease(MadeRelease):
    """Rows in chunks (see `setveil.releases.published.Release`)."""

    published: PublishedChunks
    recoding: ChunkClusters
    details: dict[str, Any] = field(default_factory=dict)

    info: ClassVar[KindInfo] = info

    @property
    def row_map(self) -> Ints:
        """The cluster of each input row, -1 for those without items: int64 (n_rows,)."""
        return self.recoding.cluster

    def exposed(self) -> PublishedChunks:
        """Return the chunks."""
        return self.published

    def measurable(self) -> dict[str, Any]:
        """Return the chunks."""
        return {
            "kind": self.recoding.kind,
            "published": self.published,
            "chunks": self.published,
            "about": self.promised(),
        }

    def image(self) -> Mapping[str, str | None]:
        """Return the items themselves."""
        return {item: item for item in self.recoding.items.labels}

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the names of the files next to data.json."""
        return {info.means: CLUSTERS_FILE, "chunks_file": CHUNKS_FILE}

    def promised(self) -> dict[str, Any]:
        """Return the part of the guarantee in about.json that answers depend on."""
        rho = None if self.recoding.rho is None else str(self.recoding.rho)
        return {"guarantee": {"sensitive": list(self.recoding.sensitive), "rho": rho}}

    def recorded(self, _data: Original) -> dict[str, Any]:
        """Say how the clusters are, and where occurrences and items are published."""
        shown = self.published
        sizes = np.sort(shown.sizes)
        of_part = np.diff(shown.parts[0])
        first_shared = shown.part[shown.n_chunks - shown.shared]
        in_shared = int(of_part[first_shared:].sum())
        placed = np.zeros((2, shown.n_items), bool)  # in a record chunk, in a shared one, of some cluster
        ends = shown.item[0][shown.n_chunks - shown.shared]
        placed[0, shown.item[1][:ends]] = True
        placed[1, shown.item[1][ends:]] = True
        record = {
            "clusters": shown.n_clusters,
            "smallest": int(sizes.min(initial=shown.n_rows)),
            "median": float(np.median(sizes)) if sizes.size else 0.0,
            "largest": int(sizes.max(initial=0)),
            "sizes": [
                {"least": low, "most": high, "clusters": int(((sizes >= low) & (sizes <= high)).sum())}
                for low, high in _spans(sizes)
            ],
            "record_chunks": shown.n_chunks - shown.shared,
            "shared_chunks": shown.shared,
            "record_occurrences": shown.n_occurrences - in_shared,
            "shared_occurrences": in_shared,
            "term_entries": int(shown.terms[1].size),
            "record_items": int(placed[0].sum()),
            "shared_items": int((placed[1] & ~placed[0]).sum()),
            "term_items": int((~placed.any(0)).sum()),
            "left_out": int(self.details.get("left_out", 0)),
        }
        return {"chunks": record}

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Refuse a format: there is only one."""
        if wanted is not None:
            raise RequestError(
                f"Rows in chunks are published as data.json and two csv files, not as {wanted}.",
                hint="Omit the format.",
            )
        return own

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write the three files, whatever the layout."""
        write_chunks(folder, self.published)
        return DATA_FILE, {"format": info.format}


def _spans(sizes: Any) -> list[tuple[int, int]]:
    """Cut the range of sizes into some of about equal numbers of clusters."""
    if not sizes.size:
        return []
    cuts = sorted({int(sizes[int(at)]) for at in np.linspace(0, sizes.size - 1, 6)})
    lows = [cuts[0], *(cut + 1 for cut in cuts[1:-1])]
    return list(zip(lows, cuts[1:] or cuts, strict=False))


def publish(
    data: Transactions, made: RowChunks, seed: int, details: dict[str, Any] | None = None
) -> ChunksRelease:
    """Publish clusters, chunks and their parts, sorted by published content and then shuffled."""
    n_clusters = int(made.cluster.max(initial=-1)) + 1
    sizes = np.bincount(made.cluster[made.cluster >= 0], minlength=n_clusters).astype(np.int64)
    row, item = _occurrences(data, made.left_out)
    chunk = _chunk_of(made, made.cluster[row], item, data.n_items)

    # Labels are numbered again: only those that are published.
    used = np.bincount(item, minlength=data.n_items) > 0
    image = np.cumsum(used) - 1
    item = image[item]
    vocabulary = Vocabulary(x for x, u in zip(data.vocabulary.labels, used, strict=True) if u)
    term_keys = np.unique((made.cluster[row] * len(vocabulary) + item)[chunk < 0])
    term_ptr = np.searchsorted(term_keys, np.arange(n_clusters + 1) * len(vocabulary))
    term_items = term_keys % max(len(vocabulary), 1)

    parts, of_chunk = _parts_of(chunk, row, item, data.n_rows)
    kind = merge_rows_by_content(*parts)[0] if of_chunk.size else of_chunk

    # Shuffled by random keys: numpy promises the same raw stream for ever, but not the permutations.
    n_chunks = len(made.chunks)
    random = np.random.PCG64(seed).random_raw(n_clusters + n_chunks + of_chunk.size)
    of_clusters, of_chunks, of_parts = np.split(random, (n_clusters, n_clusters + n_chunks))
    by_content = np.lexsort((kind, of_chunk))
    ends = np.searchsorted(of_chunk[by_content], np.arange(n_chunks + 1)).tolist()
    contents = [
        (tuple(sorted(image[list(items)].tolist())), kind[by_content[a:b]].astype(">i8").tobytes())
        for (_, items), a, b in zip(made.chunks, ends, ends[1:], strict=False)
    ]
    clusters = _sorted_clusters(made.chunks, contents, sizes, term_ptr, term_items)
    clusters = clusters[np.argsort(of_clusters, kind="stable")]
    number = np.empty(n_clusters, np.int64)
    number[clusters] = np.arange(n_clusters)
    scopes = [tuple(sorted(number[list(scope)].tolist())) for scope, _ in made.chunks]
    order = _chunk_order(scopes, contents, of_chunks, n_clusters)
    place = np.empty(n_chunks, np.int64)
    place[order] = np.arange(n_chunks)
    of_part = by_content[np.lexsort((of_parts, place[of_chunk][by_content]))]
    taken = take_rows(*parts, frozen(of_part, np.int64))
    terms = [term_items[term_ptr[c] : term_ptr[c + 1]] for c in clusters.tolist()]
    items = [contents[j][0] for j in order]
    published = PublishedChunks(
        vocabulary,
        made.k,
        made.m,
        frozen(sizes[clusters], np.int64),
        int((made.cluster < 0).sum()),
        (pointers(len(scopes[j]) for j in order), _flat([scopes[j] for j in order])),
        (pointers(map(len, items)), _flat(items)),
        pointers(ends[j + 1] - ends[j] for j in order),
        sum(len(scope) > 1 for scope in scopes),
        (frozen(taken[0], np.int64), frozen(taken[1], np.int64)),
        (pointers(map(len, terms)), _flat(terms)),
    )
    cluster = np.where(made.cluster >= 0, number[made.cluster] if n_clusters else -1, -1)
    internal = ChunkClusters(data.vocabulary, frozen(cluster, np.int64), made.sensitive, made.rho)
    return ChunksRelease(published, internal, details or {})


def _flat(pieces: Any) -> Ints:
    return frozen(np.array([int(x) for piece in pieces for x in piece]), np.int64)


def _chunk_of(made: RowChunks, cluster: Ints, item: Ints, n_items: int) -> Ints:
    """Find the chunk of each occurrence, by its cluster and its item; -1: the term chunk."""
    keys = [
        np.add.outer(np.array(scope, np.int64) * n_items, np.array(items, np.int64)).ravel()
        for scope, items in made.chunks
    ]
    if not keys:
        return np.full(item.size, -1, np.int64)
    flat = np.concatenate(keys)
    of_key = np.repeat(np.arange(len(keys)), [one.size for one in keys])
    order = np.argsort(flat, kind="stable")
    flat, of_key = flat[order], of_key[order]
    wanted = cluster * n_items + item
    at = np.minimum(np.searchsorted(flat, wanted), flat.size - 1)
    return np.where(flat[at] == wanted, of_key[at], -1)


def _occurrences(data: Transactions, left_out: Ints) -> tuple[Ints, Ints]:
    """Return rows and items of the published occurrences."""
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())
    shown = np.ones(row.size, bool)
    shown[left_out] = False
    return row[shown], data.items[shown].astype(np.int64)


def _parts_of(
    chunk: Ints, row: Ints, item: Ints, n_rows: int
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int32]], Ints]:
    """Cut rows into parts, one for each chunk that a row has items in, and return the chunk of each part."""
    inside = np.flatnonzero(chunk >= 0)
    inside = inside[np.argsort(chunk[inside] * n_rows + row[inside], kind="stable")]
    new = np.flatnonzero(np.diff(chunk[inside] * n_rows + row[inside], prepend=-1))
    parts = frozen(np.append(new, inside.size), np.int64), frozen(item[inside], np.int32)
    return parts, chunk[inside][new]


def _chunk_order(
    scopes: list[tuple[int, ...]], contents: list[Any], keys: NDArray[np.uint64], n_clusters: int
) -> list[int]:
    """Order chunks by random keys: record chunks cluster by cluster, then those that are shared."""
    by_chunk = sorted(range(len(scopes)), key=lambda j: (scopes[j], contents[j]))
    shuffled = [by_chunk[j] for j in np.argsort(keys, kind="stable").tolist()]
    return sorted(shuffled, key=lambda j: scopes[j] if len(scopes[j]) == 1 else (n_clusters,))


def _sorted_clusters(
    chunks: tuple[Scoped, ...], contents: list[Any], sizes: Ints, term_ptr: Ints, term_items: Ints
) -> Ints:
    """Sort clusters by their published content: rows, terms, record chunks, shared chunks."""
    own: list[list[Any]] = [[] for _ in sizes]
    others: list[list[Any]] = [[] for _ in sizes]
    for (scope, _), content in zip(chunks, contents, strict=True):
        for c in scope:
            (own if len(scope) == 1 else others)[c].append(content)

    def key(c: int) -> tuple[Any, ...]:
        terms = term_items[term_ptr[c] : term_ptr[c + 1]].tolist()
        return int(sizes[c]), terms, sorted(own[c]), sorted(others[c])

    return np.array(sorted(range(sizes.size), key=key), np.int64)


def holds(path: Path) -> bool:
    """Return whether a file says that it holds rows in chunks, or a folder such a data.json."""
    return holds_model(path, info.format, MODEL)


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> PublishedChunks:
    """Read rows in chunks from a run's folder, its `published`, or a data.json, also of another tool."""
    file = data_file(path, info, "disassociation")
    chunks = read_chunks(file)
    about = about_file(file)
    if about:
        require_written(file.parent, chunk_lines(chunks))
    if "rows" in about and (about["rows"], about["empty_rows"]) != (chunks.n_rows, chunks.empty_rows):
        raise DataError(
            f"{file} contains {chunks.n_rows:,} rows, {chunks.empty_rows:,} of them without items, but "
            f"its about.json says {about['rows']:,} rows, {about['empty_rows']:,} of them "
            "without items.",
            hint="The two files must come from the same release, complete.",
        )
    return chunks


def measurable(path: str, exposed: PublishedChunks, _original: Transactions, _tree: object) -> dict[str, Any]:
    """Return all that is published of a release that was read."""
    about = about_file(published_file(Path(path))) if path != "-" else {}
    return {"kind": ChunkClusters.kind, "published": exposed, "chunks": exposed, "about": about}
