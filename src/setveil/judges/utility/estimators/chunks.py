"""Answers to COUNT queries from rows in chunks: chunks are taken as independent of each other.

In a cluster the parts of a chunk are dealt to its rows, every deal as likely, and an item of the term chunk
is in one row. docs/groups.md has the formulas and an example.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError
from setveil.base.values.numbers import fraction
from setveil.judges.utility.estimates import Answers
from setveil.judges.utility.estimators._chunk_loops import TERM, answer_chunks
from setveil.judges.utility.estimators._own_names import OwnNames
from setveil.kernels.rows import Ints, frozen
from setveil.releases.published.chunk_files import PublishedChunks
from setveil.releases.published.shared import SharedSums

CHUNKS = "chunks"
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class _ItemNumbers:
    """The numbers of items, in place of the places that they have where labels represent several."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = ids

    def only(self, names: Sequence[str]) -> Ints:
        """Find the number of each item; that of no item for names that the release does not have."""
        return np.array([self.ids.get(name, len(self.ids)) for name in names], np.int64)


class ChunkEstimator(OwnNames):
    """Answer queries cluster by cluster, and sum them up; `about` says if sensitive items were suppressed.

    The estimate of items Q is the sum over clusters that show all of them of |P| times, for each chunk with
    some of them, the share of its parts (of the rows of its clusters) with these, and for each item of the
    term chunk 1/|P|. It does not grow with Q.
    """

    lacking = (
        "Items are published under their own names, and groups of them under none: ask for single items, "
        "or count groups in rows that are dealt from the chunks (reconstruct)."
    )

    def __init__(self, shared: SharedSums) -> None:
        self.method = CHUNKS
        self.chunks = cast(PublishedChunks, shared.rows)
        self.n_rows = self.chunks.n_rows
        ids = self.chunks.vocabulary.ids
        self.places = _ItemNumbers(ids)  # type: ignore[assignment]  # all that is asked of it
        promised: Any = shared.about.get("guarantee") or {}
        self.secrets = {ids[x] for x in promised.get("sensitive") or () if x in ids}
        self.rho = fraction(promised.get("rho")) if promised.get("rho") is not None else None

    def __contains__(self, name: object) -> bool:
        """Return whether the release names an item."""
        return name in self.chunks.vocabulary.ids

    def shows(self, name: str) -> bool:
        """Return whether chunks show an item."""
        return name in self.chunks.vocabulary.ids

    @property
    def items(self) -> tuple[str, ...]:
        """All items that the release names."""
        return self.chunks.vocabulary.labels

    def answers(self, queries: Sequence[Iterable[str]]) -> Answers:
        """Answer many queries at once (see `Estimator.answers`)."""
        itemsets = []
        for query in queries:
            names = list(dict.fromkeys(query))
            if not names:
                raise RequestError("A query has no item, expected at least one.")
            itemsets.append(sorted(self.places.only(names).tolist()))
        ends = np.cumsum([0, *map(len, itemsets)])
        return self.answers_at(ends, np.fromiter(chain.from_iterable(itemsets), np.int64, int(ends[-1])))

    def answers_at(self, indptr: Ints, places: Ints) -> Answers:
        """Answer many queries by the numbers of their items."""
        made, number = self.chunks, indptr.size - 1
        answers = Answers(np.zeros(number), np.zeros(number, np.int64), np.zeros(number, np.int64))
        scope = made.scope[1][made.scope[0][:-1]]
        answer_chunks(
            frozen(indptr, np.int64), frozen(places, np.int64), *self._where,
            frozen(made.sizes, np.int64), self._chunk_rows, frozen(scope, np.int64),
            made.n_chunks - made.shared, *self._bounded, answers.estimate, answers.least, answers.greatest,
        )  # fmt: skip
        return answers

    @cached_property
    def _where(self) -> tuple[Ints, Ints, Ints, NDArray[np.float64], Ints, Ints]:
        """Find the clusters of each item, with the chunk, and the share of the rows that contain it.

        `starts`: int64 (items + 2,), boundaries by item, the last item being in no cluster; `cluster`,
        ascending, `chunk` (`TERM`: term chunk) and `share` for each; `held`, (any, 2): where its parts begin
        and end in `parts`, ascending.
        """
        made = self.chunks
        of_chunk, of_item = np.diff(made.scope[0]), np.diff(made.item[0])
        chunk = np.repeat(np.arange(made.n_chunks), of_chunk * of_item)
        pairs = of_chunk * of_item
        within = np.arange(chunk.size) - np.repeat(np.cumsum(pairs) - pairs, pairs)
        item = made.item[1][made.item[0][chunk] + within % np.maximum(of_item[chunk], 1)]
        cluster = made.scope[1][made.scope[0][chunk] + within // np.maximum(of_item[chunk], 1)]
        part = np.repeat(np.arange(made.parts[0].size - 1), np.diff(made.parts[0]))
        keys = np.repeat(np.arange(made.n_chunks), np.diff(made.part))[part] * made.n_items + made.parts[1]
        by_item = np.argsort(keys, kind="stable")
        wanted = chunk * made.n_items + item
        held = np.column_stack([np.searchsorted(keys[by_item], wanted, side) for side in _SIDES])
        share = np.diff(held)[:, 0] / self._chunk_rows[chunk]
        terms = np.repeat(np.arange(made.n_clusters), np.diff(made.terms[0]))
        item = np.concatenate((item, made.terms[1]))
        cluster = np.concatenate((cluster, terms))
        chunk = np.concatenate((chunk, np.full(terms.size, TERM)))
        share = np.concatenate((share, 1 / made.sizes[terms]))
        held = np.concatenate((held, np.zeros((terms.size, 2), np.int64)))
        order = np.lexsort((cluster, item))
        item, cluster = item[order], cluster[order]
        if ((np.diff(item) == 0) & (np.diff(cluster) == 0)).any():
            raise DataError(
                "An item is in more than one chunk of a cluster: nothing says how many rows contain it.",
                hint="Only releases in which each item has one place in every cluster answer queries.",
            )
        starts = np.searchsorted(item, np.arange(made.n_items + 2))
        return (
            frozen(starts, np.int64), frozen(cluster, np.int64), frozen(chunk[order], np.int64),
            frozen(share[order], np.float64), frozen(held[order], np.int64), frozen(part[by_item], np.int64),
        )  # fmt: skip

    @cached_property
    def _chunk_rows(self) -> Ints:
        """Number of rows of the clusters of each chunk: int64 (chunks,)."""
        made = self.chunks
        of = np.repeat(np.arange(made.n_chunks), np.diff(made.scope[0]))
        return frozen(np.bincount(of, made.sizes[made.scope[1]], minlength=made.n_chunks), np.int64)

    @cached_property
    def _bounded(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Find the most rows of each cluster with a sensitive item, and the items that are sensitive.

        If a cluster shows this many of one, it may have been suppressed in others. Without rho, none is.
        """
        sizes, secret = self.chunks.sizes, np.zeros(self.chunks.n_items + 1, np.bool_)
        if self.rho is None:
            return frozen(np.zeros(sizes.size), np.int64), frozen(secret, np.bool_)
        secret[sorted(self.secrets)] = True
        most = [int(Fraction(self.rho) * n) for n in sizes.tolist()]
        return frozen(most, np.int64), frozen(secret, np.bool_)
