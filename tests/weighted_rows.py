"""Small random rows of numbers, or of nodes of a random hierarchy, as kernels and their twins take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from random import Random

import numpy as np

from naive.itemsets import Rows, Spans
from setveil.kernels.rows import Ids, Ints, Ranked, frozen, ranked
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import random_rows, random_tree


def arrays(rows: Rows) -> tuple[Ints, Ids, Ints]:
    """Convert rows to arrays: where each begins, its numbers in order, and the equal rows it represents."""
    return (
        frozen([0, *accumulate(len(row) for row, _ in rows)], np.int64),
        frozen([x for row, _ in rows for x in sorted(row)], np.int32),
        frozen([weight for _, weight in rows], np.int64),
    )


def in_order(rows: Rows, order: Collection[int]) -> Ranked:
    """Rows of numbers as rows of ranks."""
    return ranked(*arrays(rows), np.array([*order], np.int64), max(order, default=-1) + 1)


def random_weighted(rng: Random, n_ids: int, most_rows: int, most_items: int) -> Rows:
    """Draw distinct rows, all nonempty."""
    items = [str(i) for i in range(n_ids)]
    counted = Counter(random_rows(rng, items, rng.randint(1, most_rows), most_items))
    return [(frozenset(map(int, row)), weight) for row, weight in counted.items() if row]


@dataclass(frozen=True)
class Nodes:
    """Rows that hold with each leaf of a hierarchy all its ancestors but the root.

    `spans` are the leaves below each node, as positions.
    """

    tree: Hierarchy
    rows: Rows
    spans: Spans

    def renumbered(self, order: list[int]) -> Nodes:
        """Keep some nodes, numbered by their places in `order`."""
        rank = {node: i for i, node in enumerate(order)}
        counted: Counter[frozenset[int]] = Counter()
        for row, weight in self.rows:
            counted[frozenset(rank[node] for node in row if node in rank)] += weight
        return Nodes(self.tree, [*counted.items()], [self.spans[node] for node in order])

    def intervals(self) -> tuple[Ids, Ids]:
        """`spans` as two arrays."""
        return frozen([low for low, _ in self.spans], np.int32), frozen(
            [high for _, high in self.spans], np.int32
        )

    def occurring(self) -> list[int]:
        return sorted({node for row, _ in self.rows for node in row})

    def supports(self) -> Counter[int]:
        out: Counter[int] = Counter()
        for row, weight in self.rows:
            for node in row:
                out[node] += weight
        return out


def random_nodes(rng: Random, most_leaves: int = 9, most_rows: int = 40, most_items: int = 4) -> Nodes:
    leaves = [str(i) for i in range(rng.randint(1, most_leaves))]
    tree = Hierarchy(random_tree(rng, leaves))
    counted: Counter[frozenset[int]] = Counter()
    for row in random_rows(rng, leaves, rng.randint(1, most_rows), most_items):
        places = [tree.labels.index(leaf) for leaf in row]
        counted[frozenset(v for leaf in places for v in (leaf, *tree.ancestors(leaf)) if v != tree.root)] += 1
    spans = [*zip(tree.low.tolist(), tree.high.tolist(), strict=True)]
    return Nodes(tree, [*counted.items()], spans)
