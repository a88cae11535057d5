"""The search for the threats of one size in tables that count all sets of nodes."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np

from setveil.base.progress import Progress
from setveil.base.threads import each
from setveil.kernels.count import (
    MOST_ROWS,
    cell_offsets,
    empty_table,
    fits,
    mark_rare,
    next_rare,
    number_of_sets,
    saturate,
)
from setveil.kernels.rows import frozen
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms._threats import ThreatSearch
from setveil.rows.engine.counting import count_numbers, numbered
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.rows import pieces_of

WORTH = 4  # cells that a table may have for each set of leaves in the rows
LEAST = 1 << 14  # sets that it may have cells for in any case


def table_fits(cut: Cut, size: int) -> bool:
    """Whether to count the sets of `size` nodes in tables: they fit, and the rows have sets enough."""
    lengths = cut.held.lengths
    n = int(np.count_nonzero(cut.and_above(cut.mask())))
    if not fits(n, size) or lengths.sum() > MOST_ROWS:
        return False
    return bool(comb(n, size) <= WORTH * max(number_of_sets(lengths, size), LEAST))


class ThreatTables(ThreatSearch):
    """The threats of one size between nodes of extended rows, in the order in which `ThreatWalk` finds them.

    All sets of nodes of the cut are counted in a table. A set of nodes above them is a threat only if all
    sets below it that occur are: so only the rows that hold threats are extended, cut down to the nodes of
    threats. Sets of fewer nodes must have no support in (0, k). Nodes that the cut generalizes meanwhile are
    passed over. `any_sets`: whether some row holds this many nodes of the cut.
    """

    def __init__(self, cut: Cut, k: int, size: int, progress: Progress, phase: str) -> None:
        super().__init__(cut)
        self.k, self.size = k, size
        tree = cut.tree

        def tick(done: float) -> None:
            progress(phase, done)

        occurrences = cut.occurrences()
        nodes = np.flatnonzero(occurrences)
        nodes = nodes[np.argsort(occurrences[nodes], kind="stable")]
        numbering = Numbering.of(tree, cut.image, nodes)
        alone = size == 1
        table = cut.supports(nodes).astype(np.int32) if alone else cut.held.count(numbering, size, tick)
        offsets = cell_offsets(nodes.size, size)
        self.any_sets = bool(table.any())
        marks, threatened = np.zeros(nodes.size, bool), np.zeros(tree.n_nodes, bool)
        mark_rare(table, offsets, k, marks)
        threatened[nodes[marks]] = True

        # The nodes at or above those of threats: by increasing support, ties in reverse item order.
        wanted = cut.and_above(threatened)
        wanted[tree.root] = False
        some = np.flatnonzero(wanted)
        supports = cut.supports(some)
        self.node = frozen(some[np.argsort(-supports, kind="stable")][::-1], np.int64)
        self.number = np.full(tree.n_nodes, -1, np.int64)
        self.number[self.node] = np.arange(some.size)
        self.low, self.high = tree.low[self.node], tree.high[self.node]
        self.offsets, self.path = cell_offsets(some.size, size), np.zeros(size, np.int64)
        self.begun = False
        if not marks.any():
            self.table = empty_table(some.size, size)
            return
        indptr, numbers, weights = cut.held.rare(numbering, table, size, k, tick)
        image = np.arange(tree.n_nodes, dtype=np.int32)
        above = Numbering.of(tree, image, self.node, leaves=nodes)
        rows = each(lambda piece: numbered(piece, above), pieces_of(indptr, numbers))
        ends = np.cumsum([0, *(len(starts) - 1 for starts, _ in rows)]).tolist()
        weighted = [(*one, weights[a:b]) for one, (a, b) in zip(rows, pairwise(ends), strict=True)]
        self.table = count_numbers(weighted, some.size, size, sum(one.size for _, one in rows))
        saturate(
            table, offsets, frozen(nodes, np.int64), k, self.number, tree.parent.astype(np.int64),
            tree.low.astype(np.int64), tree.high.astype(np.int64), self.offsets, self.table,
        )  # fmt: skip

    def next_threat(self, progress: Progress, phase: str) -> list[int] | None:
        """Go on to the next set of support in (0, k): its nodes, or None when there is none."""
        found = next_rare(
            self.table, self.offsets, self.k, self.cut.live[self.node], self.low, self.high,
            self.path, self.begun,
        )  # fmt: skip
        self.begun = True
        return self.node[self.path].tolist() if found else None

    def is_frequent(self, nodes: frozenset[int]) -> bool:
        """Whether the nodes, none above another, occur together in at least k rows (the root: always)."""
        if self.cut.tree.root in nodes or len(nodes) < self.size:
            return True
        return self.support_of(list(nodes)) >= self.k

    def support_of(self, threat: list[int]) -> int:
        """Count the rows that contain all nodes of a threat, which are fewer than k."""
        numbers = np.sort(self.number[threat])
        return int(self.table[int(self.offsets[np.arange(numbers.size), numbers].sum())])
