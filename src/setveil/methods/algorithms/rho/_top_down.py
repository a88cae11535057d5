"""The search of TDControl: from the root of the hierarchy down, as long as that loses less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, invert, recode_rows, take_rows
from setveil.methods.algorithms._public_part import PublicPart
from setveil.methods.algorithms._suppressed_items import greatest_counts
from setveil.methods.algorithms.rho._suppression import SuppressionChoice, Weighted, choose_items
from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class PublicCut:
    """A cut of the public tree, what is suppressed in it in which order, and what it costs."""

    cut: frozenset[int]
    order: list[SuppressionChoice]
    cost: int


class TopDown:
    """The search for a cut of the public part and for nodes and sensitive items to suppress.

    From the root on, the inner node whose children in its place make the cheapest cut, with what
    SuppressControl suppresses then, is expanded while that is cheaper. Numbers are the hierarchy's; `tree` is
    the public one, `rows` are distinct. An occurrence under u of n public leaves costs u (0 for a leaf) of n,
    by LM u - 1 of n - 1; a suppressed one all, a sensitive item that is published nothing.

    Differences from [1]: suppression is found again for each cut, ties are settled, and a cut that costs more
    than the best is left: more suppression costs more.

    [1] Cao, Karras, Raïssi, Tan, "rho-uncertainty: inference-proof transaction anonymization", PVLDB 3(1),
    2010, doi:10.14778/1920841.1920971
    """

    def __init__(
        self,
        part: PublicPart,
        hierarchy: Hierarchy,
        guarantee: RhoUncertainty,
        objective: str,
        progress: Progress = silent,
    ) -> None:
        self.part, self.tree, self.progress = part, part.tree, progress
        self.steps = 0
        self._limit = greatest_counts(guarantee.rho, part.data.n_rows)
        data = part.data
        self.rows = distinct_rows(*recode_rows(data.indptr, data.items, part.located))
        self.is_secret = np.zeros(hierarchy.n_nodes, bool)
        self.is_secret[part.located[part.sensitive]] = True

        n = self.tree.n_leaves
        counts = self.tree.leaf_counts
        each = np.where(counts > 1, counts, 0) if objective == "ncp" else counts - 1
        worst = n if objective == "ncp" else max(n - 1, 1)
        on_leaf = np.bincount(part.leaf, part.rows.supports(), n).astype(np.int64)
        before = np.concatenate(([0], np.cumsum(on_leaf[self.tree.leaf_order])))
        below = before[self.tree.high] - before[self.tree.low]
        self._full: list[int] = (below * each).tolist()  # of publishing each node of the public tree
        loss = np.zeros(hierarchy.n_nodes, np.int64)  # of leaving out what is published
        loss[part.node[:-1]] = below * (worst - each)
        loss[part.located[part.sensitive]] = data.supports()[part.sensitive] * worst
        self._loss: list[int] = loss.tolist()

    def run(self) -> PublicCut:
        """Search from the root down."""
        root = frozenset({self.tree.root})
        found = self._scenario(root, _CutRows(self, root).rows, None)
        while (better := self._best_below(found)) is not None:
            found = better
            self.steps += 1
        return found

    def published(self, found: PublicCut) -> tuple[NDArray[np.int32], list[int]]:
        """List the node of each public leaf (-1: none), and the ids of the sensitive items suppressed."""
        gone = {choice.item for choice in found.order}
        nodes = np.empty(self.tree.n_leaves, np.int32)
        for v in found.cut:
            nodes[self.tree.under(v)] = -1 if int(self.part.node[v]) in gone else v
        return nodes, [s for s in self.part.sensitive.tolist() if int(self.part.located[s]) in gone]

    def leaves_of(self, v: int) -> Ids:
        """List the leaves below a node of the public tree, as nodes of the hierarchy."""
        return self.part.node[self.tree.under(v)]

    def _best_below(self, found: PublicCut) -> PublicCut | None:
        """Find the cheapest cut one step below, if it is cheaper."""
        tree, node = self.tree, self.part.node
        inner = [v for v in found.cut if v >= tree.n_leaves]
        least = {v: self._least(found.cut) - self._gain(v) for v in inner}
        at_cut = _CutRows(self, found.cut)
        best: PublicCut | None = None
        best_node = -1
        # Those that may be cheapest first, so that most others need not be looked at to the end.
        for done, v in enumerate(sorted(inner, key=lambda v: (least[v], node[v]))):
            self.progress(f"step {self.steps + 1}", done / len(inner))
            most = found.cost - 1
            if best is not None:
                most = best.cost if node[v] < node[best_node] else best.cost - 1
            if least[v] > most:
                continue
            finer = found.cut - {v} | frozenset(tree.children(v))
            child = self._scenario(finer, at_cut.replacing(v), most)
            if child.cost <= most:
                best, best_node = child, v
        return best

    def _least(self, cut: frozenset[int]) -> int:
        """Cost of a cut without suppression."""
        return sum(self._full[v] for v in cut)

    def _gain(self, v: int) -> int:
        """Find what publishing the children of a node instead of it saves."""
        return self._full[v] - sum(self._full[child] for child in self.tree.children(v))

    def _scenario(self, cut: frozenset[int], rows: Weighted, most: int | None) -> PublicCut:
        """Find what to suppress in a cut; one that costs more than `most` may not be found to its end."""
        least = self._least(cut)
        left = None if most is None else most - least
        order = choose_items(rows, self.is_secret, self._limit, self._loss, left)
        return PublicCut(cut, order, least + sum(self._loss[choice.item] for choice in order))


class _CutRows:
    """The distinct `rows` recoded to a cut, and to the cuts one step below."""

    def __init__(self, search: TopDown, cut: frozenset[int]) -> None:
        self._search = search
        self._image = np.arange(search.is_secret.size, dtype=np.int32)
        for v in cut:
            self._image[search.leaves_of(v)] = search.part.node[v]
        indptr, items, weights = search.rows
        recoded = recode_rows(indptr, items, self._image)
        self.rows = distinct_rows(*recoded, weights)
        n = self._image.size
        self._holders = invert(*recoded, n)[:2]
        self._distinct_holders = invert(*self.rows[:2], n)[:2]

    def replacing(self, v: int) -> Weighted:
        """Recode the rows to the cut with the children of a node instead of it; equal rows may be left."""
        search = self._search
        node = int(search.part.node[v])
        indptr, items, weights = self.rows
        without = np.ones(weights.size, bool)
        without[_of(self._distinct_holders, node)] = False
        others = take_rows(indptr, items, np.flatnonzero(without))
        image = self._image.copy()
        for child in search.tree.children(v):
            image[search.leaves_of(child)] = search.part.node[child]
        rows = _of(self._holders, node).astype(np.int64)
        finer = recode_rows(*take_rows(*search.rows[:2], rows), image)
        return (
            frozen(np.concatenate((others[0], others[0][-1] + finer[0][1:])), np.int64),
            frozen(np.concatenate((others[1], finer[1])), np.int32),
            frozen(np.concatenate((weights[without], search.rows[2][rows])), np.int64),
        )


def _of(lists: tuple[Ints, Ids], node: int) -> Ids:
    starts, tidlists = lists
    return tidlists[starts[node] : starts[node + 1]]
