"""Threats of a cut with suppressed items, and the clauses that they prove.

The lemma of clauses (docs/exact_proof.md#clauses): let S be nodes, none above another, that some rows contain
but fewer than k, and L one leaf below each, such that some row has all of L. Then every valid release is cut
above a node of S or suppresses a leaf of L: else it shows the nodes that L is published as together, in at
most as many rows as S. A more general S, while still in fewer than k rows, gives a stronger clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, product

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.kernels import walk as kernel
from setveil.kernels.limits import Limits
from setveil.kernels.rows import (
    Ids,
    Ints,
    distinct_rows,
    frozen,
    invert,
    item_supports,
    ranked,
    recode_rows,
)
from setveil.methods.algorithms._cut import Cut, extended_rows
from setveil.methods.algorithms._refine import Neighbours
from setveil.methods.algorithms._threats import ThreatWalk
from setveil.rows.hierarchy.tree import Hierarchy

AT_MOST = 10_000  # threats that one search for violated clauses lists
MOST_STEPS = 300_000_000  # steps that it takes
TOLERANCE = 1e-6  # a clause that lacks less is satisfied
LIMITS = 0.25, 0.5, 0.75, 1 - TOLERANCE  # violated clauses with less than these are looked for in turn
ENOUGH = 500  # until there are so many: those with least say most, and there may be far too many in all
CHOICES = 20  # leaf combinations of one row that one threat contributes at a time

Floats = NDArray[np.float64]
Clause = tuple[tuple[int, ...], tuple[int, ...]]


def least_below(tree: Hierarchy, values: Floats) -> Floats:
    """Find the least value of a leaf below each node: float64 (n_nodes,)."""
    bounds = np.stack([tree.low, tree.high], axis=1).ravel()
    return np.minimum.reduceat(np.append(values[tree.leaf_order], np.inf), bounds)[::2]


class Separator:
    """Finds clauses that a cut with suppressed leaves breaks, with `absent` also those of absent items."""

    def __init__(self, cut: Cut, k: int, m: float, *, absent: bool = False) -> None:
        tree = cut.tree
        self.cut, self.k, self.m = cut, k, m
        rows, items, self.weights = distinct_rows(*cut.leaf_rows)
        self.rows = rows, items
        nodes = extended_rows(tree, rows, items, np.ones(tree.n_nodes, bool))
        itself = np.arange(tree.n_nodes, dtype=np.int32)
        self.starts, self.holders, _ = invert(*recode_rows(*nodes, itself), tree.n_nodes)
        self.limits = Limits(tree.labels, m)
        self.beside = Neighbours(self.rows, self.weights, self.starts, self.holders, k, self.limits, m)
        up, low, high = (frozen(of_node, np.int64) for of_node in (tree.parent, tree.low, tree.high))
        self._facts = up, low, high, tree.root, self.starts, self.holders, self.weights, k
        self.nowhere = np.zeros(0, np.int64)
        self.absence: AbsenceThreats | None = None
        if absent:
            from setveil.methods.algorithms.exact._absence import AbsenceThreats

            self.absence = AbsenceThreats(cut, self.rows, self.weights, self.starts, self.holders, k, m)
        self.longest = int(np.diff(rows).max(initial=0))
        self.low: list[int] = tree.low.tolist()
        self.high: list[int] = tree.high.tolist()
        self.parent: list[int] = tree.parent.tolist()
        self.place = np.empty(tree.n_leaves, np.int64)
        self.place[tree.leaf_order] = np.arange(tree.n_leaves)
        self.position: list[int] = self.place.tolist()
        self._threats: dict[Clause, tuple[int, ...]] = {}  # one that proves each clause

    def threats(self, candidate: Ids, progress: Progress) -> Iterator[list[int]]:
        """List the smallest threats of a candidate's nodes, those with an absent leaf only without others."""
        tree = self.cut.tree
        rows = distinct_rows(*recode_rows(*self.rows, frozen(candidate, np.int32)), self.weights)
        published = np.zeros(tree.n_nodes, bool)
        leaves = candidate[: tree.n_leaves]
        published[leaves[leaves >= 0]] = True
        support = item_supports(*rows, tree.n_nodes)
        support[tree.root] = 0
        alone = np.flatnonzero((support > 0) & (support < self.k))
        if alone.size:
            yield from ([v] for v in alone[np.argsort(-support[alone], kind="stable")].tolist())
            return
        longest = int(np.diff(rows[0]).max(initial=0))
        for size in range(2, int(min(self.m, longest)) + 1):
            walk = ThreatWalk(self.cut, rows, self.k, size, size, published, self.limits)
            found = False
            while (threat := walk.next_threat(progress, f"looking for threats of {size} items")) is not None:
                found = True
                yield threat
            if found:
                return
        if self.absence is not None:
            yield from self.absence.threats(rows, published, progress)

    def supports(self) -> Ints:
        """Count the rows of the data with each node: int64 (n_nodes,)."""
        tree = self.cut.tree
        nodes = extended_rows(tree, *self.rows, np.ones(tree.n_nodes, bool))
        return item_supports(*nodes, self.weights, tree.n_nodes)

    def parents(self, threat: list[int]) -> frozenset[int]:
        """Return the parents of a threat's nodes."""
        return frozenset(self.parent[v] for v in threat)

    def stays_valid(self, leaf: int, candidate: Ids) -> bool:
        """Whether no set of nodes with a leaf, which a candidate publishes as itself, is a threat."""
        return self.beside.stays_valid(np.array([leaf], np.int32), candidate)

    def clauses(self, threats: Sequence[list[int]], with_leaves: bool) -> Iterator[list[Clause]]:
        """State the clauses of threats of one size between published nodes, in most general form."""
        if self.absence is not None:
            from setveil.methods.algorithms.exact._absence import LackedLeaf

            lacking = [threat for threat in threats if isinstance(threat, LackedLeaf)]
            for one in lacking:
                yield list(self.absence.clauses(one, with_leaves))
            if lacking:
                return
        for threat, forms in zip(threats, self._generalizations(threats), strict=True):
            choices = self._leaf_choices(threat) if with_leaves else [()]
            found = []
            for general in forms:
                above = tuple(sorted({self.parent[v] for v in general}))
                for choice in choices:
                    leaves = choice
                    if len(general) < len(threat):  # else each node of the threat has one of these above it
                        leaves = tuple(leaf for leaf in choice if any(self._covers(v, leaf) for v in general))
                    clause = above, tuple(sorted(leaves))
                    self._threats.setdefault(clause, general)
                    found.append(clause)
            yield found

    def violated(self, up: Floats, suppressed: Floats | None) -> list[Clause]:
        """List clauses that a fractional solution violates: none only if it satisfies all, or steps run out.

        The most violated come first, others only if these are few; of each threat minimal and most general
        forms, and for each row the worst choice of leaves. `up`, `suppressed` (or None): variables of nodes
        and of leaves.
        """
        from setveil.methods.algorithms.exact._violated_clauses import (
            cheapest_choices,
            no_bits,
            violated_clauses,
        )

        tree = self.cut.tree
        with_leaves = suppressed is not None
        suppressed = np.zeros(tree.n_leaves) if suppressed is None else suppressed
        occurring = np.diff(self.starts) > 0
        below = least_below(tree, np.where(occurring[: tree.n_leaves], suppressed, np.inf))
        above = np.where(tree.parent >= 0, up[tree.parent], 1.0)
        wanted = occurring & (below + above < 1)
        ends, nodes = extended_rows(tree, *self.rows, wanted)
        support = item_supports(ends, nodes, self.weights, tree.n_nodes)
        number = np.flatnonzero(wanted)
        node = number[np.argsort(support[number], kind="stable")]
        rows = ranked(ends, nodes, self.weights, node, tree.n_nodes)
        largest = int(min(self.m, self.longest))
        out, stops = np.zeros(AT_MOST * 4, np.int64), np.zeros(AT_MOST, np.int64)
        low, high = tree.low.astype(np.int64), tree.high.astype(np.int64)
        parent = tree.parent.astype(np.int64)
        choices = np.zeros((self.k, max(largest, 1)), np.int64)
        values, gone = up.tolist(), suppressed.tolist()
        clauses: list[Clause] = []
        for limit in LIMITS:
            clauses.clear()
            found = violated_clauses(
                *rows[:6], support[node], node, above[node], below[node], *self.limits.of(node),
                low[node], high[node], parent, tree.root, self.k, largest, limit, low, high, self.starts,
                self.holders, self.weights, *no_bits(tree.n_nodes), out, stops, MOST_STEPS,
            )  # fmt: skip
            for start, stop in pairwise([0, *stops[:found].tolist()]):
                some = out[start:stop]
                threat = tuple(some.tolist())
                parents = tuple(sorted({self.parent[v] for v in threat}))
                if not with_leaves:
                    clauses.append((parents, ()))
                    self._threats.setdefault(clauses[-1], threat)
                    continue
                room = 1 - TOLERANCE - sum(values[v] for v in parents)
                n = cheapest_choices(
                    some, self.k, self.starts, self.holders, self.weights, *self.rows, self.place, low, high,
                    suppressed, choices,
                )  # fmt: skip
                more: list[Clause] = [
                    (parents, tuple(sorted(leaves)))
                    for leaves in sorted(set(map(tuple, choices[:n, : some.size].tolist())))
                    if sum(gone[leaf] for leaf in leaves) < room
                ]
                self._threats.update(dict.fromkeys(more, threat))
                clauses += more
            if len(clauses) >= ENOUGH:
                break
        return clauses

    def threat_of(self, clause: Clause) -> tuple[list[int], list[int]]:
        """Find a threat that proves a clause which was stated here, and a leaf of one row below each node."""
        nodes = sorted(self._threats[clause])
        leaves = clause[1] or self._leaf_choices(nodes)[0]
        return nodes, [next(leaf for leaf in leaves if self._covers(v, leaf)) for v in nodes]

    def _covers(self, v: int, leaf: int) -> bool:
        return self.low[v] <= self.position[leaf] < self.high[v]

    def _generalizations(self, threats: Sequence[list[int]]) -> Iterator[set[tuple[int, ...]]]:
        """Generalize one node after the other while the set stays rare, beginning with each in turn."""
        from setveil.methods.algorithms.exact._clause_loops import general_forms

        nodes = np.array(threats, np.int64)
        n, size = nodes.shape
        forms, sizes = np.zeros((n, size, size), np.int64), np.zeros((n, size), np.int64)
        general_forms(frozen(nodes, np.int64), *self._facts, self.nowhere, forms, sizes)
        for some, number in zip(forms.tolist(), sizes.tolist(), strict=True):
            yield {tuple(sorted(form[:n])) for form, n in zip(some, number, strict=True)}

    def _leaf_choices(self, threat: list[int]) -> list[tuple[int, ...]]:
        """List combinations of leaves, one below each node of a threat, that some row holds."""
        n_leaves = self.cut.tree.n_leaves
        if max(threat) < n_leaves:
            return [tuple(threat)]
        holders = np.zeros(self.k, np.int64)
        nodes = np.array(threat, np.int64)
        _, found = kernel.support(self.starts, self.holders, self.weights, nodes, self.k, holders)
        rows, items = self.rows
        position, bounds = self.position, [(self.low[v], self.high[v]) for v in threat]
        out: set[tuple[int, ...]] = set()
        for row in holders[:found].tolist():
            leaves = items[rows[row] : rows[row + 1]].tolist()
            below = [[leaf for leaf in leaves if low <= position[leaf] < high] for low, high in bounds]
            out.update(islice(product(*below), CHOICES))
        return sorted(out)
