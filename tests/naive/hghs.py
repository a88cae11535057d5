"""HgHs and mHgHs from SPEC §4: every node set is counted, every child cut is evaluated from the start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from naive.anonymize import Cut, Tree, antichains, children, extend, leaves, ranks, recode, root, up_from
from naive.km import Rows

Threats = frozenset[frozenset[str]]


@dataclass(frozen=True)
class Found:
    """The result of a search; its cost is the sum of LM over the occurrences."""

    cut: Cut
    suppressed: Cut
    cost: Fraction
    threats: Threats


def merged(tree: Tree) -> dict[str, str | None]:
    """Merge every inner node that has one child with that child, whose label is kept."""
    out = dict(tree)
    while lone := [node for node in out if len(children(out, node)) == 1]:
        node = lone[0]
        (child,) = children(out, node)
        out[child] = out.pop(node)
    return out


def pruned(tree: Tree, cut: Cut) -> dict[str, str | None]:
    """Remove the nodes below a cut."""
    return {node: up for node, up in tree.items() if not cut & set(up_from(tree, node)[1:])}


def supports(rows: Rows, tree: Tree, m: float) -> Counter[frozenset[str]]:
    """Support of every set of at most m nodes, none above another, that occurs."""
    out: Counter[frozenset[str]] = Counter()
    for row, times in Counter(rows).items():
        for nodes in antichains(tree, sorted(extend(tree, row)), m):
            out[frozenset(nodes)] += times
    return out


def minimal_threats(rows: Rows, tree: Tree, k: int, m: float) -> Threats:
    """Find the threats over all cuts that have no other threat as a subset."""
    threats = {nodes for nodes, support in supports(rows, tree, m).items() if support < k}
    return frozenset(s for s in threats if not any(t < s for t in threats))


@dataclass(frozen=True)
class Prices:
    """Return the occurrences of each node, the cost of keeping one of them, and the order of the nodes."""

    occurrences: Mapping[str, int]
    generalized: Mapping[str, Fraction]
    rank: Mapping[str, int]

    def suppression(self, node: str) -> Fraction:
        return self.occurrences[node] * (1 - self.generalized[node])

    def cost(self, cut: Cut, suppressed: Cut) -> Fraction:
        each = {x: Fraction(1) if x in suppressed else self.generalized[x] for x in cut}
        return sum((self.occurrences[x] * each[x] for x in cut), Fraction(0))


def prices(rows: Rows, tree: Tree) -> Prices:
    items = leaves(tree)
    under = {node: [leaf for leaf in items if node in up_from(tree, leaf)] for node in tree}
    times = Counter(item for row in rows for item in row)
    return Prices(
        {node: sum(times[leaf] for leaf in under[node]) for node in tree},
        {node: Fraction(len(under[node]) - 1, max(len(items) - 1, 1)) for node in tree},
        ranks(tree),
    )


def suppress(cut: Cut, threats: Threats, paid: Prices) -> Cut:
    """Run the inner loop: return the suppressed nodes of a cut."""
    relevant = [threat for threat in threats if threat <= cut]
    kept: set[str] = set()
    for x in sorted(cut, key=lambda x: (-paid.suppression(x), paid.rank[x])):
        if not any(threat <= kept | {x} for threat in relevant):
            kept.add(x)
    return cut - kept


def outer(
    rows: Rows,
    tree: Tree,
    paid: Prices,
    k: int,
    m: float,
    visited: Callable[[Cut, Cut, Fraction], None] = lambda cut, suppressed, cost: None,
) -> Found:
    """Run the outer loop on a hierarchy whose leaves the rows hold."""
    threats = minimal_threats(rows, tree, k, m)
    cut = frozenset({root(tree)})
    suppressed = suppress(cut, threats, paid)
    cost = paid.cost(cut, suppressed)
    while True:
        visited(cut, suppressed, cost)
        options = []
        for node in cut:
            if children(tree, node):
                child = cut - {node} | frozenset(children(tree, node))
                hidden = suppress(child, threats, paid)
                options.append((paid.cost(child, hidden), paid.rank[node], child, hidden))
        if not options or min(option[0] for option in options) >= cost:
            return Found(cut, suppressed, cost, threats)
        cost, _, cut, suppressed = min(options, key=lambda option: option[:2])


def hghs(rows: Rows, tree: Tree, k: int, m: float) -> Found:
    return outer(rows, merged(tree), prices(rows, tree), k, m)


def mhghs(rows: Rows, tree: Tree, k: int, m: float) -> list[Found]:
    """Run all rounds; as many as the longest row has items if m is greater."""
    paid = prices(rows, tree)
    left = merged(tree)
    cut = frozenset(leaves(tree))
    out = []
    for i in range(1, max(int(min(m, max(map(len, rows), default=0))), 1) + 1):
        left = pruned(left, cut)
        out.append(outer(recode(rows, tree, cut), left, paid, k, i))
        cut = out[-1].cut
    return out
