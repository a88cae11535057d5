"""Breaches: what a solution lets be learned of sensitive items, and the clauses that forbid it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np

from setveil.base.errors import RequestError, faces
from setveil.kernels.rows import (
    Ids,
    Ints,
    frozen,
    invert,
    item_supports,
    merge_rows,
    places_of,
    ranks_of,
    recode_rows,
    take_rows,
)
from setveil.methods.algorithms._cut import extended_rows
from setveil.methods.algorithms.exact._breach_loops import SUPPORT, TOGETHER, WHO, find_breaches
from setveil.methods.algorithms.exact._clauses import Floats, Separator
from setveil.methods.algorithms.exact._hidings import OCCURRENCES, Sensitive
from setveil.methods.algorithms.exact._program import Row
from setveil.methods.algorithms.exact._variables import Variables

AT_MOST = 20_000  # breaches that one search lists
MOST_STEPS = 50_000_000  # steps that it may take


@dataclass(frozen=True)
class SecretBreach:
    """Known items that give a sensitive one away."""

    nodes: tuple[int, ...]  # the nodes X, ascending
    item: int  # the sensitive item s, by its place in `Sensitive.labels`
    # support, together: the rows that hold X, and those of them that hold s
    support: int
    together: int
    excess: int  # how many of these must lose s while X is published


class Breaches:
    """Finds what solutions reveal of sensitive items (of distinct rows); `n_rows` includes empty rows."""

    def __init__(self, separator: Separator, sensitive: Sensitive, rho: Fraction, n_rows: int) -> None:
        self.separator, self.sensitive, self.rho, self.n_rows = separator, sensitive, rho, n_rows
        self.tree = separator.cut.tree
        self.entry_row = np.repeat(np.arange(sensitive.indptr.size - 1), np.diff(sensitive.indptr))
        # The entries of each item, by row.
        n_items = len(sensitive.labels)
        self.entries_of = places_of(sensitive.item, n_items) if n_items else []
        self._itself = np.full(self.tree.n_nodes, -1, np.int64)
        if sensitive.is_known:
            self._itself[sensitive.leaf] = np.arange(sensitive.leaf.size)

    def excess(self, support: int, together: int) -> int:
        """Count how many rows with a sensitive item must lose it."""
        return together - self.rho.numerator * support // self.rho.denominator

    def of_everybody(self) -> list[SecretBreach]:
        """List what is learned of a sensitive item by who knows nothing."""
        found = []
        for s, holders in enumerate(self.sensitive.holders.tolist()):
            excess = self.excess(self.n_rows, holders)
            if excess > 0:
                found.append(SecretBreach((), s, self.n_rows, holders, excess))
        return found

    def of_candidate(self, candidate: Ids, *, every: bool = False, hidden: bool = True) -> list[SecretBreach]:
        """List what a candidate reveals; `every`: also by more known items than necessary.

        `hidden` False: as if no sensitive item were suppressed that cannot be known.
        """
        tree, n_leaves = self.tree, self.tree.n_leaves
        leaves = candidate[:n_leaves]
        shown = np.zeros(tree.n_nodes)
        shown[leaves[leaves >= 0]] = 1.0
        gone, each = np.zeros(len(self.sensitive.labels)), np.zeros(self.sensitive.item.size)
        if self.sensitive.is_known:
            gone = (candidate[self.sensitive.leaf] < 0).astype(np.float64)
        elif hidden and self.sensitive.n_variables:
            tail = candidate[tree.n_nodes :].astype(np.float64)
            if self.sensitive.hide == OCCURRENCES:
                each = tail
            else:
                gone = tail
        return self._find(shown, gone, each, every)

    def violated(self, variables: Variables, values: Floats) -> list[SecretBreach]:
        """List breaches whose clauses a solution violates: none only if it satisfies all there are."""
        gone, each = np.zeros(len(self.sensitive.labels)), np.zeros(self.sensitive.item.size)
        if self.sensitive.is_known:
            gone = values[variables.of_leaves(self.sensitive.leaf.tolist())]
        elif self.sensitive.n_variables:
            tail = values[variables.hidings :]
            if self.sensitive.hide == OCCURRENCES:
                each = tail
            else:
                gone = tail
        return self._find(variables.shown(values), gone, each, every=False)

    def clause(self, variables: Variables, breach: SecretBreach) -> Row:
        """State what a breach demands: not all of X is published, or enough rows lose s.

        A node is published as itself where the cut lies at it, but not above. Where the cut lies above
        several nodes of X, their common parent counts once.
        """
        n_leaves, d = self.tree.n_leaves, breach.excess
        weight: dict[int, int] = {}
        need = d
        if self.sensitive.is_known or self.sensitive.hide != OCCURRENCES:
            d = need = 1
            if self.sensitive.is_known:
                weight[variables.of_leaves([int(self.sensitive.leaf[breach.item])])[0]] = 1
            elif self.sensitive.n_variables:
                weight[variables.hidings + breach.item] = 1
        else:
            for entry in self.entries(breach).tolist():
                weight[variables.hidings + entry] = 1
        for v in breach.nodes:
            if v < n_leaves:
                if variables.suppress:
                    weight[variables.n_inner + v] = d
            else:
                weight[v - n_leaves] = -d
                need -= d
        for parent in {self.separator.parent[v] for v in breach.nodes}:
            if parent >= 0:
                weight[parent - n_leaves] = weight.get(parent - n_leaves, 0) + d
        members = tuple(sorted(v for v, w in weight.items() if w))
        return members, tuple(weight[v] for v in members), need

    def hereditary(self, variables: Variables, breach: SecretBreach) -> Row | None:
        """State what a breach demands of all cuts at or below X, or at or below more general nodes.

        For each row let the choices be the sets that take one leaf of the row below each node of X. If a
        share of more than rho of the choices of all rows that hold X, but at least one for a row with s, are
        of rows with s, then whatever nodes at or below those of X are published, one of the sets of them
        gives s away: so the cut lies above one of X, or a leaf of a row with X and s is suppressed, or s is
        in such a row. None where that is not so for X itself, which must not be empty.
        """
        nodes = list(breach.nodes)
        if not self._is_inherited(nodes, breach.item):
            return None
        low, high = self.separator.low, self.separator.high
        for i in range(len(nodes)):
            while (up := self.separator.parent[nodes[i]]) >= 0:
                apart = all(high[up] <= low[v] or high[v] <= low[up] for j, v in enumerate(nodes) if j != i)
                trial = [*nodes[:i], up, *nodes[i + 1 :]]
                if not apart or not self._is_inherited(trial, breach.item):
                    break
                nodes = trial
        general = replace(breach, nodes=tuple(nodes))
        entries = self.entries(general)
        members = {v - self.tree.n_leaves for v in {self.separator.parent[v] for v in nodes} if v >= 0}
        if variables.suppress:
            leaves = np.unique(take_rows(*self.separator.rows, np.unique(self.entry_row[entries]))[1])
            at = self.separator.place[leaves]
            below = [bool(any(low[v] <= place < high[v] for v in nodes)) for place in at.tolist()]
            members |= set(variables.of_leaves(leaves[below].tolist()))
        if self.sensitive.is_known:
            members |= set(variables.of_leaves([int(self.sensitive.leaf[breach.item])]))
        elif self.sensitive.n_variables:
            whole = self.sensitive.hide != OCCURRENCES
            members |= {variables.hidings + v for v in ([breach.item] if whole else entries.tolist())}
        return tuple(sorted(members)), (), 1

    def _is_inherited(self, nodes: list[int], item: int) -> bool:
        """Whether some nodes at or below these give an item away, whatever the cut below them is."""
        starts, holders = self.separator.starts, self.separator.holders
        rows = reduce(
            lambda some, v: np.intersect1d(some, holders[starts[v] : starts[v + 1]], assume_unique=True),
            nodes[1:],
            holders[starts[nodes[0]] : starts[nodes[0] + 1]],
        )
        own = self.entries_of[item]
        with_item = np.zeros(self.separator.weights.size, np.int64)
        with_item[self.entry_row[own]] = self.sensitive.count[own]
        together = int(with_item[rows].sum())
        others = self.separator.weights[rows] - with_item[rows]
        some = rows[others > 0].astype(np.int64)
        indptr, leaves = take_rows(*self.separator.rows, some)
        choices = np.ones(some.size, np.int64)
        row = np.repeat(np.arange(some.size), np.diff(indptr))
        at = self.separator.place[leaves]
        for v in nodes:
            inside = (self.separator.low[v] <= at) & (at < self.separator.high[v])
            choices *= np.bincount(row[inside], minlength=some.size)
        without = int(others[others > 0] @ choices)
        return (self.rho.denominator - self.rho.numerator) * together > self.rho.numerator * without

    def entries(self, breach: SecretBreach) -> Ints:
        """List the entries of a breach: those of s in the distinct rows that hold X, ascending."""
        some = self.entries_of[breach.item]
        starts, holders = self.separator.starts, self.separator.holders
        for v in breach.nodes:
            rows = holders[starts[v] : starts[v + 1]]
            at = np.searchsorted(rows, self.entry_row[some])
            at[at == rows.size] = 0
            some = some[rows[at] == self.entry_row[some]] if rows.size else some[:0]
        return some

    def _find(self, shown: Floats, gone: Floats, hidden: Floats, every: bool) -> list[SecretBreach]:
        """List breaches, given how far each node is published."""
        tree, separator = self.tree, self.separator
        wanted = shown > 1e-6
        ends, nodes = extended_rows(tree, *separator.rows, wanted)
        support = item_supports(ends, nodes, separator.weights, tree.n_nodes)
        number = np.flatnonzero(wanted & (support > 0))
        node = number[np.argsort(support[number], kind="stable")]
        rows = recode_rows(ends, nodes, ranks_of(node, tree.n_nodes))
        group, first, _ = merge_rows(*rows)
        indptr, ranks = take_rows(*rows, first)
        weights = np.zeros(first.size, np.int64)
        np.add.at(weights, group, separator.weights)
        entries = self.sensitive.merged(group, first.size, hidden, gone < 1)
        starts, tidlists, positions = invert(indptr, ranks, node.size)
        largest = int(min(separator.m, np.diff(indptr).max(initial=0)))
        if not node.size or not largest:
            return []
        out, stops = np.zeros(AT_MOST * 4, np.int64), np.zeros(AT_MOST, np.int64)
        facts = np.zeros((AT_MOST, 3), np.int64)
        found, steps = find_breaches(
            indptr, ranks, frozen(weights, np.int64), starts, tidlists, positions, support[node],
            1 - shown[node], tree.low[node].astype(np.int64), tree.high[node].astype(np.int64),
            self._itself[node], *entries, gone, self.rho.numerator, self.rho.denominator, separator.k,
            largest, every, out, stops, facts, MOST_STEPS,
        )  # fmt: skip
        if steps > MOST_STEPS and not found:
            raise RequestError(
                "There are too many sets of items that someone may know to check each of them.",
                hint="Bound how many items are known: "
                + faces("--model km-rho with --m 2 or 3.", "setveil.KmRho, with m of 2 or 3."),
            )
        breaches = []
        for i, (start, stop) in enumerate(pairwise([0, *stops[:found].tolist()])):
            s, have, together = (int(facts[i, column]) for column in (WHO, SUPPORT, TOGETHER))
            some = tuple(sorted(node[out[start:stop]].tolist()))
            breaches.append(SecretBreach(some, s, have, together, self.excess(have, together)))
        return breaches
