"""Cuts with suppressed nodes: the minimal threats over all cuts, and the greedy search of HgHs."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.tracing import MOST, Trace, most
from setveil.base.values.per_column import ABOVE
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.limits import Limits
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, item_supports, ranked, recode_rows
from setveil.methods.algorithms._cut import extended_rows, leaf_occurrences
from setveil.methods.algorithms._witness_rows import witness_rows
from setveil.methods.algorithms.hghs import _suppressed_nodes as kernel
from setveil.methods.algorithms.hghs._minimal_rare_itemsets import MinimalRareItemsets
from setveil.releases.published.recoding import Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.hierarchy.tree import Hierarchy

MOST_MEMORY = 4_000_000_000  # bytes that threats may take
STEPS_AT_ONCE = 10_000_000  # of the search for threats between two signs of life, a fraction of a second
THREATS_AT_ONCE = 2_000_000  # threats looked at between two signs of life


class CutSpace:
    """The cuts of a hierarchy over data, and what each node costs if it is kept or suppressed.

    An inner node with a single child is omitted (not `used`): its child represents both, the root's is `top`.
    cost: int64 (2, n_nodes), of a node that is kept, that is suppressed: LM times occurrences times (number
    of leaves - 1). order: int64 (n_nodes,), by decreasing cost of suppression, then in item order.
    """

    def __init__(self, rows: Transactions, tree: Hierarchy, of_leaf: Ints) -> None:
        """Take rows enough to tell what is rare, and the occurrences of each leaf in all rows."""
        self.tree = tree
        self.leaf_rows = recode_rows(rows.indptr, rows.items, tree.locate(rows.vocabulary))
        before = np.concatenate(([0], np.cumsum(of_leaf[tree.leaf_order])))
        under = before[tree.high] - before[tree.low]
        self.cost = np.stack((under * tree.lost, under * tree.most_lost))
        self.order = np.argsort(self.cost[0] - self.cost[1], kind="stable")
        self.used = np.array([len(tree.children(v)) != 1 for v in range(tree.n_nodes)])
        self.top = self._bottom(tree.root)

    @classmethod
    def of(
        cls,
        data: Transactions | RowsOnDisk,
        tree: Hierarchy,
        guarantee: KmAnonymity,
        progress: Progress = silent,
    ) -> CutSpace:
        """Take the rows that tell what is rare to those who know m items."""
        rows = witness_rows(data, guarantee.k, guarantee.m, progress)
        return cls(rows, tree, leaf_occurrences(data, tree))

    def leaves(self) -> list[int]:
        """List the leaves: the lowest cut."""
        return list(range(self.tree.n_leaves))

    def rows(self, cut: list[int]) -> tuple[Ints, Ids, Ints]:
        """Recode the data under a cut: distinct rows of nodes, and how many rows each represents."""
        image = np.full(self.tree.n_nodes, -1, np.int32)
        for v in cut:
            image[self.tree.under(v)] = v
        return distinct_rows(*recode_rows(*self.leaf_rows, image))

    def longest_row(self, cut: list[int]) -> int:
        """Return how many nodes of a cut the longest row has."""
        return int(np.diff(self.rows(cut)[0]).max(initial=0))

    def _bottom(self, node: int) -> int:
        while not self.used[node]:
            (node,) = self.tree.children(node)
        return node

    def children(self, node: int) -> list[int]:
        """Children of a node, in tree order."""
        return [self._bottom(child) for child in self.tree.children(node)]

    def at_or_above(self, cut: list[int]) -> NDArray[np.bool_]:
        """Tell which nodes that are not omitted lie in a cut or above it: bool (n_nodes,)."""
        out: NDArray[np.bool_] = np.zeros(self.tree.n_nodes, bool)
        for v in cut:
            while v >= 0 and not out[v]:
                out[v] = True
                v = int(self.tree.parent[v])  # noqa: PLW2901
        out &= self.used
        return out


@dataclass(frozen=True)
class ThreatList:
    """Threats one behind the other: how many nodes each has (int16), and these (int32), in no order."""

    sizes: NDArray[np.int16]
    nodes: NDArray[np.int32]

    def __len__(self) -> int:
        return self.sizes.size


def find_threats(
    space: CutSpace,
    floor: list[int],
    guarantee: KmAnonymity,
    progress: Progress,
    phase: str = "",
    hint: str = "",
) -> ThreatList:
    """Find the minimal threats over all cuts at or above a cut."""
    tree, k = space.tree, guarantee.k
    indptr, items, weights = space.rows(floor)
    m = int(min(guarantee.m, np.diff(indptr).max(initial=0)))
    wanted = space.at_or_above(floor)
    wanted[space.top] = False  # holds every row with items, and stands alone
    ends, extended = extended_rows(tree, indptr, items, wanted)
    support = item_supports(ends, extended, weights, tree.n_nodes)
    rare = np.flatnonzero((support > 0) & (support < k)).astype(np.int32)
    single = ThreatList(np.ones(rare.size, np.int16), rare)
    if m < 2:
        return single

    frequent = np.flatnonzero(support >= k)
    # Ranks: the rarest first, so that few rows are looked at behind most of them.
    node = frequent[np.argsort(support[frequent], kind="stable")].astype(np.int32)
    rows = ranked(ends, extended, weights, node, tree.n_nodes)
    search = MinimalRareItemsets(
        rows, frozen(tree.low[node], np.int32), frozen(tree.high[node], np.int32), k, m,
        Limits(tree.labels, guarantee.m).of(node),
    )  # fmt: skip
    most = memory_limit()
    while search.search(STEPS_AT_ONCE):
        progress(f"{phase}finding threats of up to {m} nodes", search.done())
        # What was found is copied, and indexed by nodes.
        if search.bytes + 8 * (search.nodes + search.found) > most:
            raise _too_many(search, guarantee, most, hint)
    sizes, ranks = search.sets()
    nodes = np.empty(rare.size + ranks.size, np.int32)
    nodes[: rare.size] = rare
    np.take(node, ranks, out=nodes[rare.size :], mode="clip")  # "raise" would make a copy first
    return ThreatList(np.concatenate((single.sizes, sizes)), nodes)


def memory_limit() -> int:
    """Return how many bytes threats may take: 4 GB, or half of the machine's memory if that is less."""
    try:
        return min(MOST_MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    except (AttributeError, OSError, ValueError):  # not known on this system
        return MOST_MEMORY


def _too_many(search: MinimalRareItemsets, guarantee: KmAnonymity, most: int, hint: str) -> RequestError:
    size = f"{most / 1e9:.1f} GB" if most >= 100_000_000 else f"{most:,} bytes"
    return RequestError(
        f"The threats of all cuts do not fit in memory for {guarantee.phrase}: {search.found:,} threats and "
        f"{search.frequent:,} frequent sets of nodes had been found when the limit of {size} was reached.",
        hint=hint,
    )


class Scenario:
    """A cut with the suppressed nodes that the inner loop of HgHs gives it.

    Nodes are numbered by `CutSpace.order`, in which the inner loop decides whether to keep them. `threats`:
    minimal threats over all cuts; `total`: cost of the cut, LM and suppression together; `steps`: nodes
    replaced by their children, from the root on.
    """

    def __init__(
        self,
        space: CutSpace,
        threats: ThreatList,
        floor: list[int],
        progress: Progress = silent,
        phase: str = "",
    ) -> None:
        n = space.tree.n_nodes
        self.space, self.node, self.threats = space, space.order, len(threats)
        self.place = np.empty(n, np.int64)
        self.place[self.node] = np.arange(n)
        self.cost = frozen(space.cost[:, self.node], np.int64)

        sizes = frozen(threats.sizes, np.int16)
        nodes = frozen(self.place.astype(np.int32)[threats.nodes], np.int32)
        self._index = _index(sizes, nodes, n, progress, phase)
        last = self._index[2]
        self._open = sizes - np.int16(1)
        self._firing = np.bincount(last[sizes == 1], minlength=n)

        below = space.at_or_above(floor)
        below[floor] = False
        inner = {int(self.place[v]): self.place[space.children(v)] for v in np.flatnonzero(below).tolist()}
        counts = np.zeros(n + 1, np.int64)
        for v, children in inner.items():
            counts[v + 1] = children.size
        nodes_of = [inner[v] for v in sorted(inner)]
        self._children = (
            frozen(np.cumsum(counts), np.int64),
            frozen(np.concatenate([np.zeros(0, np.int64), *nodes_of]), np.int64),
        )
        self._kept, self._in_cut = np.zeros(n, bool), np.zeros(n, bool)
        self._waiting, self._turned = np.zeros(n, bool), np.empty(n, np.int64)
        self.steps = -1
        self.total = 0
        self._replace(-1, self.place[[space.top]])

    @property
    def _state(self) -> tuple[Any, ...]:
        return (
            self._index, self._open, self._firing, self._kept, self._in_cut, self._waiting, self.cost,
            self._turned,
        )  # fmt: skip

    def _replace(self, v: int, children: Ints) -> None:
        self.steps += 1
        self.total += int(kernel.replace_node(v, frozen(children, np.int64), *self._state)[0])

    def split(self, v: int) -> None:
        """Replace a node of the cut by its children."""
        starts, nodes = self._children
        place = int(self.place[v])
        self._replace(place, nodes[starts[place] : starts[place + 1]])

    def best_split(self, progress: Progress, phase: str) -> int | None:
        """Find the node whose replacement lowers the cost most, of equals the first; None if none does."""
        starts, _ = self._children
        inner = np.flatnonzero(self._in_cut & (starts[1:] > starts[:-1]) & (self.cost[1] > 0))
        candidates = frozen(inner[np.argsort(self.node[inner])], np.int64)
        best = np.array([0, -1], np.int64)
        at = 0
        while at < candidates.size:
            at = int(
                kernel.best_replacement(candidates, at, self._children, *self._state, best, THREATS_AT_ONCE)
            )
            progress(phase)
        return int(self.node[best[1]]) if best[0] < 0 else None

    def splits(self) -> Iterator[tuple[int, Scenario]]:
        """Try each split of a node of the cut, in item order: the node, and the scenario after it."""
        starts, _ = self._children
        for v in sorted(self.node[self._in_cut & (starts[1:] > starts[:-1])].tolist()):
            after = copy.copy(self)
            after._open, after._firing = self._open.copy(), self._firing.copy()
            after._kept, after._in_cut = self._kept.copy(), self._in_cut.copy()
            after.split(v)
            yield v, after

    def report(self, trace: Trace, threats: ThreatList, phase: str, chosen: int | None) -> None:
        """Write a step: the cut, its threats, what each split of a node would cost, and the chosen node."""
        labels, unit = self.space.tree.labels, max(self.space.tree.n_leaves - 1, 1)
        inside = np.zeros(len(labels), bool)
        inside[self.cut()] = True
        ends = np.cumsum(threats.sizes, dtype=np.int64)
        starts = ends - threats.sizes
        whole = np.flatnonzero(np.logical_and.reduceat(inside[threats.nodes], starts)) if ends.size else ends
        trace.step(
            **({"phase": phase.rstrip(": ")} if phase else {}),
            cut=[labels[v] for v in self.cut()],
            suppressed=[labels[v] for v in self.suppressed()],
            cost=self.total / unit,
            violated=[[labels[v] for v in sorted(threats.nodes[starts[t] : ends[t]])] for t in whole[:MOST]],
            **most(
                {
                    "split": labels[v],
                    "cost": after.total / unit,
                    "suppressed": [labels[u] for u in after.suppressed()],
                }
                for v, after in self.splits()
            ),
            chosen=None if chosen is None else labels[chosen],
        )

    def cut(self) -> list[int]:
        """Nodes of the cut, in item order."""
        return sorted(self.node[self._in_cut].tolist())

    def suppressed(self) -> list[int]:
        """Nodes of the cut that are suppressed, in item order."""
        return sorted(self.node[self._in_cut & ~self._kept].tolist())

    def lm(self) -> float:
        """Return the loss as a share of the greatest: LM."""
        return float(Fraction(self.total, int(self.space.cost[1, self.space.top]) or 1))


def _index(
    sizes: NDArray[np.int16], nodes: Ids, n: int, progress: Progress, phase: str
) -> tuple[Ints, Ids, Ids]:
    """List for each node the threats in which it is not the last; tell the last node of each threat."""
    last = np.empty(sizes.size, np.int32)
    starts = np.zeros(n + 1, np.int64)
    ends = range(THREATS_AT_ONCE, sizes.size + THREATS_AT_ONCE, THREATS_AT_ONCE)
    at = 0
    for end in ends:
        at = kernel.find_last_nodes(sizes, nodes, end - THREATS_AT_ONCE, end, at, last, starts)
        progress(f"{phase}indexing the threats", end / ends.stop / 2)
    starts = np.cumsum(starts)
    index = np.empty(starts[-1], np.int32)
    fill = starts[:-1].copy()
    at = 0
    for end in ends:
        at = kernel.list_threats(sizes, nodes, end - THREATS_AT_ONCE, end, at, last, fill, index)
        progress(f"{phase}indexing the threats", 0.5 + end / ends.stop / 2)
    return frozen(starts, np.int64), frozen(index, np.int32), frozen(last, np.int32)


def search(
    space: CutSpace,
    floor: list[int],
    guarantee: KmAnonymity,
    progress: Progress,
    phase: str,
    hint: str,
    trace: Trace | None = None,
) -> Scenario:
    """Run HgHs on the hierarchy down to a cut; `hint` says what to do if the threats do not fit in memory."""
    threats = find_threats(space, floor, guarantee, progress, phase, hint)  # section 4.1
    scenario = Scenario(space, threats, floor, progress, phase)  # section 3.1: from {root} ...
    if space.tree.labels[space.tree.root] == ABOVE:  # of several columns: from their roots
        scenario.split(space.top)
    while (v := scenario.best_split(progress, f"{phase}searching the cuts")) is not None:
        if trace is not None:
            scenario.report(trace, threats, phase, v)
        scenario.split(v)  # ... to the most promising child, while it costs less
    if trace is not None:
        scenario.report(trace, threats, phase, None)
    return scenario


def in_rounds(
    space: CutSpace, guarantee: KmAnonymity, last: int, progress: Progress, trace: Trace | None = None
) -> Iterator[tuple[int, Scenario]]:
    """Run HgHs for k^1-, k^2-, ... k^last-anonymity, each above the cut of the round before: mHgHs.

    If each column has its m, round i is for at most i items of each column. A round that works on the same
    hierarchy as the one before, and for which no row is long enough, is not run again.
    """
    floor: list[int] = []
    cut = space.leaves()
    for i in range(1, last + 1):
        if cut != floor or i <= space.longest_row(cut):
            floor = cut
            hint = f"Use a smaller m: up to {i - 1} they fit."
            within = guarantee.up_to(i)
            found = search(space, floor, within, progress, f"round {i} of {last}: ", hint, trace)
            cut = found.cut()
        yield i, found


def final_recoding(scenario: Scenario, details: dict[str, Any]) -> tuple[Recoding, dict[str, Any]]:
    """Turn a cut with suppressed nodes into a recoding; `details` gain the labels of these."""
    tree, suppressed = scenario.space.tree, scenario.suppressed()
    names = [tree.labels[v] for v in suppressed]
    recoding = Recoding.from_cut(tree, scenario.cut(), suppressed)
    return recoding, {**details, "suppressed": names}
