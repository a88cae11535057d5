"""Answers to COUNT queries from rows in chunks: chunks are taken as independent of each other.

In a cluster the parts of a chunk are dealt to its rows, every deal as likely, and an item of the term chunk
is in one row. docs/disassociation.md has the formulas and an example.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from setveil.errors import DataError, RequestError
from setveil.kernels.rows import Ints
from setveil.published.chunk_files import PublishedChunks
from setveil.published.shared import Told
from setveil.utility.estimates import Answers
from setveil.utility.own_names import OwnNames
from setveil.values.numbers import fraction

CHUNKS = "chunks"
_TERM = -1  # instead of a chunk


class _Numbers:
    """The numbers of items, in place of the places that they have where labels stand for several."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = ids

    def only(self, names: Sequence[str]) -> Ints:
        """Find the number of each item; that of no item for names that the release does not have."""
        return np.array([self.ids.get(name, len(self.ids)) for name in names], np.int64)


class ChunkEstimator(OwnNames):
    """Answers queries cluster by cluster, and sums them up.

    The estimate of items Q is the sum over clusters that show all of them of |P| times, for each chunk with
    some of them, the share of its parts (of the rows of its clusters) that hold these, and for each item of
    the term chunk 1/|P|. It does not grow with Q.

    Parameters
    ----------
    shared : Told
        Rows in chunks; of about.json what was left out of sensitive items.
    """

    def __init__(self, shared: Told) -> None:
        self.method = CHUNKS
        self.chunks = cast(PublishedChunks, shared.rows)
        self.n_rows = self.chunks.n_rows
        ids = self.chunks.vocabulary.ids
        self.places = _Numbers(ids)  # type: ignore[assignment]  # all that is asked of it
        promised: Any = shared.about.get("guarantee") or {}
        self.secrets = {ids[x] for x in promised.get("sensitive") or () if x in ids}
        self.rho = fraction(promised.get("rho")) if promised.get("rho") is not None else None
        self._supports_known: dict[tuple[int, tuple[int, ...]], int] = {}
        self._bits: dict[int, dict[int, int]] = {}

    def __contains__(self, name: object) -> bool:
        """Whether the release names an item."""
        return name in self.chunks.vocabulary.ids

    def shows(self, name: str) -> bool:
        """Whether chunks show an item."""
        return name in self.chunks.vocabulary.ids

    @property
    def items(self) -> tuple[str, ...]:
        """All items that the release names."""
        return self.chunks.vocabulary.labels

    def answers(self, queries: Sequence[Iterable[str]]) -> Answers:
        """Answer many queries at once (see `Estimator.answers`)."""
        asked = []
        for query in queries:
            names = list(dict.fromkeys(query))
            if not names:
                raise RequestError("A query has no item, expected at least one.")
            asked.append(sorted(self.places.only(names).tolist()))
        return self._answered(asked)

    def answers_at(self, indptr: Ints, places: Ints) -> Answers:
        """Answer many queries by the numbers of their items."""
        ends, flat = indptr.tolist(), places.tolist()
        return self._answered([flat[a:b] for a, b in pairwise(ends)])

    def _answered(self, queries: Sequence[Sequence[int]]) -> Answers:
        found = [self._one(query) for query in queries]
        estimate = np.array([one[0] for one in found], np.float64)
        least, greatest = (np.array([one[at] for one in found], np.int64) for at in (1, 2))
        return Answers(estimate, least, greatest)

    @cached_property
    def _where(self) -> tuple[Ints, Ints, Ints, NDArray[np.float64]]:
        """Of each item the clusters that show it, with the chunk, and the share of the rows that hold it.

        Returns
        -------
        starts : int64 (items + 2,)
            Where the clusters of each item begin; those of one more item, that no cluster shows, end there.
        cluster, chunk : int64
            Clusters ascending; `_TERM` for the term chunk.
        share : float64
        """
        made = self.chunks
        of_chunk, of_item = np.diff(made.scope[0]), np.diff(made.item[0])
        chunk = np.repeat(np.arange(made.n_chunks), of_chunk * of_item)
        pairs = of_chunk * of_item
        within = np.arange(chunk.size) - np.repeat(np.cumsum(pairs) - pairs, pairs)
        item = made.item[1][made.item[0][chunk] + within % np.maximum(of_item[chunk], 1)]
        cluster = made.scope[1][made.scope[0][chunk] + within // np.maximum(of_item[chunk], 1)]
        of_part = np.repeat(np.repeat(np.arange(made.n_chunks), np.diff(made.part)), np.diff(made.parts[0]))
        keys, rows = np.unique(of_part * made.n_items + made.parts[1], return_counts=True)
        wanted = chunk * made.n_items + item
        at = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
        held = np.where(keys[at] == wanted, rows[at], 0) if keys.size else np.zeros(0, np.int64)
        share = held / self._chunk_rows[chunk] if chunk.size else np.zeros(0)
        terms = np.repeat(np.arange(made.n_clusters), np.diff(made.terms[0]))
        item = np.concatenate((item, made.terms[1]))
        cluster = np.concatenate((cluster, terms))
        chunk = np.concatenate((chunk, np.full(terms.size, _TERM)))
        share = np.concatenate((share, 1 / made.sizes[terms]))
        order = np.lexsort((cluster, item))
        item, cluster = item[order], cluster[order]
        if ((np.diff(item) == 0) & (np.diff(cluster) == 0)).any():
            raise DataError(
                "An item is in more than one chunk of a cluster: nothing says how many rows hold it.",
                hint="Only releases in which each item has one place in every cluster answer queries.",
            )
        starts = np.searchsorted(item, np.arange(made.n_items + 2))
        return starts, cluster, chunk[order], share[order]

    @cached_property
    def _chunk_rows(self) -> Ints:
        """Number of rows of the clusters of each chunk: int64 (chunks,)."""
        made = self.chunks
        of = np.repeat(np.arange(made.n_chunks), np.diff(made.scope[0]))
        return np.bincount(of, made.sizes[made.scope[1]], minlength=made.n_chunks).astype(np.int64)

    def support(self, chunk: int, items: tuple[int, ...]) -> int:
        """Count the parts of a chunk that hold some of its items, given ascending."""
        known = self._supports_known.get((chunk, items))
        if known is None:
            bits = self._bits.get(chunk)
            if bits is None:
                made, bits = self.chunks, {}
                ends, first = made.parts[0], int(made.part[chunk])
                for p in range(first, int(made.part[chunk + 1])):
                    for x in made.parts[1][ends[p] : ends[p + 1]].tolist():
                        bits[x] = bits.get(x, 0) | 1 << (p - first)
                self._bits[chunk] = bits
            held = -1
            for x in items:
                held &= bits.get(x, 0)
            known = self._supports_known[chunk, items] = held.bit_count()
        return known

    def _one(self, items: Sequence[int]) -> tuple[float, int, int]:
        """Estimate, and bound, the rows that hold some items, given ascending."""
        starts, cluster, chunk, share = self._where
        spans = [slice(int(starts[x]), int(starts[x + 1])) for x in items]
        common = cluster[spans[0]]
        for span in spans[1:]:
            common = common[np.isin(common, cluster[span], assume_unique=True)]
        if not common.size:
            return 0.0, 0, 0
        at = np.array([span.start + np.searchsorted(cluster[span], common) for span in spans])
        sizes = self.chunks.sizes[common]
        places, shares = chunk[at], share[at]
        estimates = sizes * shares.prod(0)
        least = greatest = 0
        for c, (n, column) in enumerate(zip(sizes.tolist(), places.T.tolist(), strict=True)):
            groups: dict[int, list[int]] = {}
            for x, j in zip(items, column, strict=True):
                groups.setdefault(j, []).append(x)
            terms = len(groups.pop(_TERM, ()))
            held = {j: self.support(j, tuple(inside)) for j, inside in groups.items()}
            if len(groups) + terms < len(items):
                chances = [held[j] / int(self._chunk_rows[j]) for j in groups]
                estimates[c] = n * prod(chances) / n**terms
            shared = any(j >= self._first_shared for j in groups)
            if len(groups) == 1 and not terms and shared:
                continue  # counted once for all clusters of the chunk, below
            used = len(groups) + terms
            greatest += min(n, *self._at_most(n, groups, held)) if groups else n
            if not shared:
                least += max(0, sum(held.values()) + terms - (used - 1) * n)
        whole = {j for j in set(places[0].tolist()) if j >= self._first_shared}
        for j in whole:
            columns = np.flatnonzero((places == j).all(0))
            if columns.size:
                rows = self.support(j, tuple(items))
                if columns.size == int(np.diff(self.chunks.scope[0])[j]):
                    least, greatest = least + rows, greatest + rows
                else:
                    greatest += min(rows, int(sizes[columns].sum()))
        return float(estimates.sum()), least, greatest

    @cached_property
    def _first_shared(self) -> int:
        return self.chunks.n_chunks - self.chunks.shared

    def _at_most(self, n: int, groups: Mapping[int, list[int]], held: Mapping[int, int]) -> list[int]:
        """Bound the rows of a cluster by each chunk; a sensitive item may have been left out of any."""
        if self.rho is None:
            return list(held.values())
        full = int(Fraction(self.rho) * n)
        return [
            n if self.secrets.intersection(groups[j]) and rows >= full else rows for j, rows in held.items()
        ]
