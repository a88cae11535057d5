"""Clauses that threats of a forest prove."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, product

import numpy as np
from numpy.typing import NDArray

from setveil.kernels import walk as kernel
from setveil.kernels.rows import Ints, distinct_rows, frozen, invert, item_supports, ranked, recode_rows
from setveil.methods.algorithms._cut import extended_rows
from setveil.methods.algorithms.exact._clauses import AT_MOST, CHOICES, TOLERANCE, Clause, Floats, least_below
from setveil.methods.algorithms.exact._violated_clauses import cheapest_choices, violated_clauses
from setveil.methods.algorithms.rt._forest_loops import generalize_threat
from setveil.methods.algorithms.rt._forest_threats import Rows, Threats

DENSE = 32  # nodes that are in at least one of so many rows have a bit for each row: no more than their list
MOST_STEPS = 100_000_000  # steps that one search for violated clauses takes


class ForestSeparator:
    """Finds clauses that a candidate breaks (see `setveil.methods.algorithms.exact._clauses.Separator`)."""

    def __init__(self, threats: Threats, suppress: bool) -> None:
        forest = threats.forest
        self.forest, self.knowledge, self.tree = forest, threats.knowledge, forest.tree
        tree = self.tree
        self.rows: Rows = distinct_rows(*forest.cut.leaf_rows)
        nodes = extended_rows(tree, *self.rows[:2], np.ones(tree.n_nodes, bool))
        itself = np.arange(tree.n_nodes, dtype=np.int32)
        self.starts, self.holders, _ = invert(*recode_rows(*nodes, itself), tree.n_nodes)
        self.weights = self.rows[2]
        self.rare = self.starts, self.holders, self.weights, *self._bits(), self.knowledge.k
        self.suppress = suppress
        self.low, self.high = frozen(tree.low, np.int64), frozen(tree.high, np.int64)
        self.up = frozen(tree.parent, np.int64)
        self.parent: list[int] = tree.parent.tolist()
        self.place = np.empty(tree.n_leaves, np.int64)
        self.place[tree.leaf_order] = np.arange(tree.n_leaves)
        q, longest = forest.n_known, int(np.diff(self.rows[0]).max(initial=0))
        most_items = int(min(self.knowledge.m, max(longest - q, 0)))
        self.largest = int(min(self.knowledge.m, longest)) if self.knowledge.mixed else q + most_items
        each = self.knowledge.each
        known = each[0] if each and self.knowledge.mixed else self.largest
        self.sort = threats.sort
        self.most = frozen([known, *(each[1:] or (most_items,))], np.int64)

    def _bits(self) -> tuple[Ints, NDArray[np.uint64]]:
        """Mark the rows of each node that is in many: which line of marks is its, and the lines."""
        n = self.weights.size
        words = -(-n // 64)
        many = np.flatnonzero(np.diff(self.starts) * DENSE >= max(n, 1))
        dense = np.full(self.tree.n_nodes, -1, np.int64)
        dense[many] = np.arange(many.size)
        bits = np.zeros((many.size, words * 64), bool)
        for line, v in enumerate(many.tolist()):
            bits[line, self.holders[self.starts[v] : self.starts[v + 1]]] = True
        packed = np.packbits(bits, axis=1, bitorder="little").view("<u8")
        return frozen(dense, np.int64), frozen(packed.astype(np.uint64), np.uint64)

    def parents(self, threat: list[int]) -> frozenset[int]:
        """Return the parents of a threat's nodes."""
        return frozenset(self.parent[v] for v in threat)

    def general_form(self, threat: list[int], first: int = 0) -> tuple[int, ...]:
        """Generalize a threat while it stays a threat, beginning with one of its nodes."""
        some = generalize_threat(
            np.array(threat, np.int64), first, self.up, self.low, self.high, self.tree.root, *self.rare,
        )  # fmt: skip
        return tuple(sorted(some.tolist()))

    def clauses(self, threats: Sequence[list[int]], with_leaves: bool) -> Iterator[list[Clause]]:
        """State the clauses of threats (lemma: `exact._clauses`), with leaves of items in rows with S."""
        for threat in threats:
            choices = self._leaf_choices(threat) if with_leaves else [()]
            found: list[Clause] = []
            for general in {self.general_form(threat, first) for first in range(len(threat))}:
                above = tuple(sorted({self.parent[v] for v in general}))
                some = {tuple(x for x in choice if self._is_under(x, general)) for choice in choices}
                found += ((above, tuple(sorted(leaves))) for leaves in some)
            yield found

    def _is_under(self, leaf: int, nodes: tuple[int, ...]) -> bool:
        return any(self.low[v] <= self.place[leaf] < self.high[v] for v in nodes)

    def _leaf_choices(self, threat: list[int]) -> list[tuple[int, ...]]:
        """List combinations of leaves, one below each of a threat's nodes of items, that its rows hold."""
        n_leaves = self.tree.n_leaves
        of_items = [v for v in threat if self.forest.is_item[v]]
        if all(v < n_leaves for v in of_items):
            return [tuple(of_items)]
        holders = np.zeros(self.knowledge.k, np.int64)
        nodes = np.array(threat, np.int64)
        k = self.knowledge.k
        _, found = kernel.support(self.starts, self.holders, self.weights, nodes, k, holders)
        indptr, items, _ = self.rows
        out: set[tuple[int, ...]] = set()
        for row in holders[:found].tolist():
            leaves = items[indptr[row] : indptr[row + 1]].tolist()
            below = [[x for x in leaves if self._is_under(x, (v,))] for v in of_items]
            out.update(islice(product(*below), CHOICES))
        return sorted(out)

    def violated(self, up: Floats, suppressed: Floats | None) -> Iterator[Clause]:
        """List clauses that a fractional solution violates, as `Separator.violated` does."""
        tree, forest, k = self.tree, self.forest, self.knowledge.k
        hidden = np.zeros(tree.n_leaves) if suppressed is None else suppressed
        occurring = np.diff(self.starts) > 0
        below = least_below(tree, np.where(occurring[: tree.n_leaves], hidden, np.inf))
        above = np.where(tree.parent >= 0, up[tree.parent], 1.0)
        wanted = occurring & (below + above < 1) & ~(forest.is_root & ~forest.is_item)
        wanted[tree.root] = False
        ends, nodes = extended_rows(tree, *self.rows[:2], wanted)
        support = item_supports(ends, nodes, self.weights, tree.n_nodes)
        number = np.flatnonzero(wanted)
        node = number[np.argsort(support[number], kind="stable")]
        rows = ranked(ends, nodes, self.weights, node, tree.n_nodes)
        out, stops = np.zeros(AT_MOST * 8, np.int64), np.zeros(AT_MOST, np.int64)
        found = violated_clauses(
            *rows[:6], support[node], node, above[node], below[node],
            self.sort[node], self.most, self.low[node], self.high[node], self.up, tree.root, k, self.largest,
            1 - TOLERANCE, self.low, self.high, *self.rare[:5], out, stops, MOST_STEPS,
        )  # fmt: skip
        choices = np.zeros((k, max(self.largest, 1)), np.int64)
        for start, stop in pairwise([0, *stops[:found].tolist()]):
            some = out[start:stop]
            parents = tuple(sorted({self.parent[v] for v in some.tolist()}))
            if suppressed is None:
                yield parents, ()
                continue
            room = 1 - TOLERANCE - sum(up[v] for v in parents)
            n = cheapest_choices(
                some, k, self.starts, self.holders, self.weights, *self.rows[:2], self.place, self.low,
                self.high, hidden, choices,
            )  # fmt: skip
            of_items = forest.is_item[some]
            for leaves in sorted({tuple(choice[of_items].tolist()) for choice in choices[:n, : some.size]}):
                if sum(hidden[leaf] for leaf in leaves) < room:
                    yield parents, tuple(sorted(leaves))
