"""Answers to COUNT queries from noisy blocks: items of different blocks as independent of each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np

from setveil.base.errors import RequestError
from setveil.judges.utility.estimates import Answers, ItemsetEstimate
from setveil.judges.utility.estimators._own_names import OwnNames
from setveil.releases.published.block_files import PublishedBlocks
from setveil.releases.published.shared import SharedSums

NOISY = "noisy"


@dataclass(frozen=True)
class NoisyAnswer(ItemsetEstimate):
    """The estimated number of rows with some items; no bound holds for noise."""

    def __str__(self) -> str:
        return f"{', '.join(self.itemset)}: about {self.estimate:,.4g}, with noise"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {"itemset": list(self.itemset), "estimate": self.estimate}


class BlockEstimator(OwnNames):
    """Answer queries by the noisy number of rows, n, and the noisy cells.

    The estimate of items Q is n times, for each block with some of them, the share of n in its cells that
    contain these, 0 if noise makes that negative.
    """

    lacking = "Items in no block are not published; in estimates they count as in no row."

    def __init__(self, shared: SharedSums) -> None:
        self.method = NOISY
        self.blocks = cast(PublishedBlocks, shared.rows)
        self.n_rows = self.blocks.n_rows
        self._cells = [np.array(cells, np.int64) for _, cells in self.blocks.cells_of()]
        self._place = {x: (b, i) for b, block in enumerate(self.blocks.blocks) for i, x in enumerate(block)}

    def __contains__(self, name: object) -> bool:
        """Return whether an item is published."""
        return name in self._place

    def shows(self, name: str) -> bool:
        """Return whether an item is published."""
        return name in self._place

    @property
    def items(self) -> tuple[str, ...]:
        """All items that are published."""
        return tuple(self._place)

    def answers(self, queries: Sequence[Iterable[str]]) -> Answers:
        """Answer many queries at once; the bounds say nothing."""
        estimate = np.array([self._one(tuple(dict.fromkeys(query))) for query in queries], np.float64)
        return Answers(estimate, np.zeros(estimate.size, np.int64), np.full(estimate.size, self.n_rows))

    def answer_all(self, queries: Iterable[Iterable[str]]) -> list[ItemsetEstimate]:
        """Answer queries, without bounds."""
        itemsets = [tuple(query) for query in queries]
        found = self.answers(itemsets).estimate.tolist()
        return [NoisyAnswer(query, one, 0, self.n_rows) for query, one in zip(itemsets, found, strict=True)]

    def _one(self, items: Sequence[str]) -> float:
        if not items:
            raise RequestError("A query has no item, expected at least one.")
        if not self.n_rows or any(x not in self._place for x in items):
            return 0.0
        bits_of: dict[int, int] = {}
        for x in items:
            b, i = self._place[x]
            bits_of[b] = bits_of.get(b, 0) | 1 << i
        return self.n_rows * prod(self._share(b, bits) for b, bits in bits_of.items())

    def _share(self, b: int, bits: int) -> float:
        cells = self._cells[b]
        inside = np.arange(cells.size) & bits == bits
        return max(0, int(cells[inside].sum())) / self.n_rows
