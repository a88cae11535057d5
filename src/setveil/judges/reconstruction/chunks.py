"""Draw rows from what is published in chunks: parts are dealt to rows, so that none is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, GuaranteeError
from setveil.base.wording import count
from setveil.kernels.rows import frozen
from setveil.releases.published.chunk_files import PublishedChunks
from setveil.releases.published.json_files import DATA_FILE
from setveil.rows.data.transactions import Transactions

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ChunkPuzzle:
    """All that chunks say of the rows behind them."""

    chunks: PublishedChunks

    @classmethod
    def of(cls, chunks: PublishedChunks) -> ChunkPuzzle:
        """Take chunks from which rows can be drawn, and refuse others."""
        require_dealable(chunks)
        return cls(chunks)

    @property
    def items(self) -> tuple[str, ...]:
        """Every item that may be in a draw."""
        return self.chunks.vocabulary.labels

    @property
    def listed(self) -> str:
        """Say what lists the rows of items."""
        return f"{count(self.chunks.n_chunks, 'chunk')} of {DATA_FILE}"

    def draw(self, seed: int, _mix: int, progress: Callable[[float], None]) -> Transactions:
        """Draw rows, and check them against the chunks."""
        progress(0)
        rows = deal_parts(self.chunks, seed)
        require_parts_dealt(self.chunks, rows)
        return rows


def require_dealable(chunks: PublishedChunks) -> None:
    """Refuse chunks that no rows can come from, or whose items are in several places."""
    sizes = chunks.sizes.tolist()
    seen: list[set[int]] = [set(chunks.term_chunk(c)) for c in range(len(sizes))]
    parts_of = [0] * len(sizes)
    for chunk in chunks.chunks():
        room = sum(sizes[c] for c in chunk.clusters)
        if len(chunk.parts) > room or not all(chunk.parts):
            raise DataError(
                f"{DATA_FILE}: a chunk of {room:,} rows has {len(chunk.parts):,} parts, or one that is empty."
            )
        for c in chunk.clusters:
            if not seen[c].isdisjoint(chunk.items):
                raise DataError(f"{DATA_FILE}: an item is in more than one chunk of cluster {c}.")
            seen[c].update(chunk.items)
        if len(chunk.clusters) == 1:
            parts_of[chunk.clusters[0]] += len(chunk.parts)
    for c, size in enumerate(sizes):
        if parts_of[c] < size and not chunks.term_chunk(c):
            raise DataError(
                f"{DATA_FILE}: cluster {c} has no term chunk, and fewer parts than rows, although "
                "none is empty."
            )


def deal_parts(chunks: PublishedChunks, seed: int) -> Transactions:
    """Deal parts to random rows of their clusters, every choice being as likely, cluster by cluster.

    Parts of shared chunks go to any rows, others and terms to rows that are still empty first. A row that
    stays empty gets a random item of its term chunk. Rows in no cluster come last.
    """
    random = np.random.PCG64(seed)
    starts = np.concatenate(([0], np.cumsum(chunks.sizes)))
    filled = np.zeros(int(starts[-1]), bool)
    rows: list[Ints] = []
    items: list[Ints] = []

    def deal(order: Ints, parts: list[list[int]]) -> None:
        """Give each row of an order one part."""
        rows.append(np.repeat(order, [len(part) for part in parts]))
        items.append(np.array([x for part in parts for x in part], np.int64))
        filled[order] = True

    def shuffled(where: Ints, *, empty_first: bool) -> Ints:
        keys = random.random_raw(where.size)
        return where[np.lexsort((keys, filled[where]) if empty_first else (keys,))]

    everything = list(chunks.chunks())
    for chunk in everything[chunks.n_chunks - chunks.shared :]:
        scope = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in chunk.clusters])
        deal(shuffled(scope, empty_first=False)[: len(chunk.parts)], chunk.parts)
    for chunk in everything[: chunks.n_chunks - chunks.shared]:
        c = chunk.clusters[0]
        where = shuffled(np.arange(starts[c], starts[c + 1]), empty_first=True)
        deal(where[: len(chunk.parts)], chunk.parts)
    for c in range(chunks.n_clusters):
        terms = chunks.term_chunk(c)
        for x in terms:
            deal(shuffled(np.arange(starts[c], starts[c + 1]), empty_first=True)[:1], [[x]])
        bare = starts[c] + np.flatnonzero(~filled[starts[c] : starts[c + 1]])
        if bare.size:
            drawn = random.random_raw(bare.size)
            deal(bare, [[terms[int(one) % len(terms)]] for one in drawn.tolist()])

    row, item = np.concatenate([starts[:0], *rows]), np.concatenate([starts[:0], *items])
    order = np.lexsort((item, row))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=chunks.n_rows))))
    return Transactions.from_codes(indptr, frozen(item[order], np.int32), chunks.vocabulary.labels)


def require_parts_dealt(chunks: PublishedChunks, drawn: Transactions) -> None:
    """Check rows against the chunks, by other means than those they were drawn by."""
    labels = chunks.vocabulary.labels
    rows = [set(row) for row in drawn.rows()]
    starts = [0, *np.cumsum(chunks.sizes).tolist()]
    same = len(rows) == chunks.n_rows and all(rows[: starts[-1]]) and not any(rows[starts[-1] :])
    allowed_terms: list[set[str]] = [
        {labels[x] for x in chunks.term_chunk(c)} for c in range(chunks.n_clusters)
    ]
    for c, terms in enumerate(allowed_terms):
        held = set().union(*rows[starts[c] : starts[c + 1]]) if same else set()
        same = same and terms <= held
    for chunk in chunks.chunks():
        inside = {labels[x] for x in chunk.items}
        scope = [row for c in chunk.clusters for row in rows[starts[c] : starts[c + 1]]]
        found = Counter(frozenset(row & inside) for row in scope if row & inside)
        same = same and found == Counter(frozenset(labels[x] for x in part) for part in chunk.parts)
        for c in chunk.clusters:
            allowed_terms[c] |= inside
    for c, allowed in enumerate(allowed_terms):
        same = same and all(row <= allowed for row in rows[starts[c] : starts[c + 1]])
    if not same:
        raise GuaranteeError(
            "The rows that were drawn contradict the release. Nothing was written.",
            hint="This is a defect of setveil; please report it.",
        )
