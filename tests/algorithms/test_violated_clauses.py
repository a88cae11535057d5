"""The threats whose clauses a fractional solution may violate, against a list of all itemsets of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from naive import itemsets as naive
from setveil.kernels.limits import no_limits
from setveil.kernels.rows import frozen
from setveil.methods.algorithms.exact._clause_loops import general_forms
from setveil.methods.algorithms.exact._violated_clauses import cheapest_choices, no_bits, violated_clauses
from strategies import examples, seeded
from weighted_rows import Nodes, in_order, random_nodes

EIGHTHS = [i / 8 for i in range(9)]  # sums of these are exact


@dataclass(frozen=True)
class Fractional:
    """A fractional solution: the value of each node of a hierarchy, and how far each leaf is suppressed."""

    nodes: Nodes
    up: list[float]
    hidden: list[float]

    def least_hidden(self, node: int) -> float:
        low, high = self.nodes.spans[node]
        return min(self.hidden[leaf] for leaf in map(int, self.nodes.tree.leaf_order[low:high]))

    def cost(self, items: naive.Itemset) -> float:
        """Return the least value of the clause of a set of nodes."""
        parents = {int(self.nodes.tree.parent[node]) for node in items}
        return sum(self.up[v] for v in parents) + sum(map(self.least_hidden, items))

    def search(self, k: int, largest: int, limit: float, most_sets: int, budget: int) -> list[naive.Itemset]:
        """List the sets that the kernel finds."""
        tree = self.nodes.tree
        supports = self.nodes.supports()
        order = sorted(supports, key=lambda node: (supports[node], node))
        rows = in_order(self.nodes.renumbered(order).rows, range(len(order)))
        every = in_order(self.nodes.rows, range(tree.n_nodes))
        low, high, parent = (array.astype(np.int64) for array in (tree.low, tree.high, tree.parent))
        node = np.array(order, np.int64)
        above = np.array([self.up[parent[v]] for v in order], np.float64)
        least = np.array([self.least_hidden(v) for v in order], np.float64)
        out, ends = np.zeros(most_sets * 8, np.int64), np.zeros(most_sets, np.int64)
        found = violated_clauses(
            *rows[:6], frozen([supports[v] for v in order], np.int64), node, above, least,
            *no_limits(node.size), low[node], high[node], parent, tree.root, k, largest, limit, low, high,
            every.starts, every.tidlists, every.weights, *no_bits(tree.n_nodes), out, ends, budget,
        )  # fmt: skip
        begins = [0, *ends[:found].tolist()]
        return [frozenset(out[begins[i] : begins[i + 1]].tolist()) for i in range(found)]


def random_solution(rng: Random) -> Fractional:
    nodes = random_nodes(rng, most_leaves=rng.choice((5, 8)), most_rows=50, most_items=4)
    values = rng.choice((EIGHTHS[:2], EIGHTHS[:4], EIGHTHS))
    n = nodes.tree.n_nodes
    return Fractional(nodes, [rng.choice(values) for _ in range(n)], [rng.choice(values) for _ in range(n)])


def test_every_threat_with_a_cheap_clause_is_listed_once() -> None:
    rng = seeded(31)
    total = 0
    for _ in range(examples(500, 50)):
        solution = random_solution(rng)
        k, largest, limit = rng.randint(2, 7), rng.randint(1, 4), rng.choice((0.25, 0.5, 1))
        nodes = solution.nodes
        tree = nodes.tree
        general = naive.most_general(nodes.rows, nodes.spans, tree.parent.tolist(), tree.root, k, largest)
        expected = {items for items in general if solution.cost(items) < limit}
        found = solution.search(k, largest, limit, 1000, 10**9)
        assert len(found) == len(set(found))
        assert set(found) == expected
        total += len(found)

        # Where room or steps do not suffice, the first ones are listed.
        most = rng.randint(1, 5)
        assert solution.search(k, largest, limit, most, 10**9) == found[:most]
        early = solution.search(k, largest, limit, 1000, rng.choice((0, 10, 100)))
        assert early == found[: len(early)]
    assert total


def test_the_cheapest_choice_in_each_row() -> None:
    rng = seeded(32)
    total = 0
    for _ in range(examples(300, 30)):
        solution = random_solution(rng)
        nodes = solution.nodes
        tree = nodes.tree
        leaf_rows = [(frozenset(v for v in row if v < tree.n_leaves), w) for row, w in nodes.rows]
        every = in_order(nodes.rows, range(tree.n_nodes))
        leaves = in_order(leaf_rows, range(tree.n_nodes))
        assert leaves.weights.tolist() == [weight for _, weight in nodes.rows]
        place = np.empty(tree.n_leaves, np.int64)
        place[tree.leaf_order] = np.arange(tree.n_leaves)
        hidden = np.array(solution.hidden[: tree.n_leaves])
        found = naive.supports(nodes.rows, 3, nodes.spans)
        k = max(found.values(), default=0) + 1
        for items in rng.sample(sorted(found, key=sorted), min(5, len(found))):
            some = sorted(items)
            out = np.zeros((k, len(some)), np.int64)
            n = cheapest_choices(
                np.array(some, np.int64), k, every.starts, every.tidlists, every.weights, *leaves[:2], place,
                tree.low.astype(np.int64), tree.high.astype(np.int64), hidden, out,
            )  # fmt: skip
            expected = []
            for (row, _), (held, _) in zip(nodes.rows, leaf_rows, strict=True):
                if items <= row:
                    below = [
                        [leaf for leaf in sorted(held) if tree.low[v] <= place[leaf] < tree.high[v]]
                        for v in some
                    ]
                    expected.append([min(each, key=lambda leaf: hidden[leaf]) for each in below])
            assert out[:n].tolist() == expected
            total += n
    assert total


def held_by(nodes: Nodes, some: list[int]) -> int:
    """Weight of the rows that hold all of some nodes."""
    return sum(weight for row, weight in nodes.rows if set(some) <= set(row))


def forms_by_hand(nodes: Nodes, threat: list[int], k: int) -> set[tuple[int, ...]]:
    """Return the forms of a threat in which nodes, one after the other, go up while it stays rare."""
    tree, out = nodes.tree, set()
    for first in range(len(threat)):
        some = list(threat)
        for i in (*range(first, len(some)), *range(first)):
            while True:
                up = int(tree.parent[some[i]])
                others = some[:i] + some[i + 1 :]
                if up == tree.root or any(up == v or up in tree.ancestors(v) for v in others):
                    break
                if held_by(nodes, [*others, up]) >= k:
                    break
                some[i] = up
        for v in some.copy():
            rest = [u for u in some if u != v]
            if rest and held_by(nodes, rest) < k:
                some = rest
        out.add(tuple(sorted(some)))
    return out


def test_a_threat_is_generalized_as_far_as_it_stays_rare() -> None:
    rng, several = Random(5), 0
    for _ in range(examples(1000, 200)):
        nodes = random_nodes(rng, most_leaves=8, most_rows=30, most_items=4)
        tree, k = nodes.tree, rng.randint(2, 5)
        every = in_order(nodes.rows, range(tree.n_nodes))
        row = [v for v in rng.choice(nodes.rows)[0] if v != tree.root]
        threat = rng.sample(row, min(len(row), rng.randint(1, 3)))
        apart = all(u not in tree.ancestors(v) for u in threat for v in threat)
        if not threat or not apart or not 0 < held_by(nodes, threat) < k:
            continue
        size = len(threat)
        forms, sizes = np.zeros((2, size, size), np.int64), np.zeros((2, size), np.int64)
        low, high, parent = (frozen(array, np.int64) for array in (tree.low, tree.high, tree.parent))
        general_forms(
            frozen(np.array([threat, threat[::-1]]), np.int64), parent, low, high, tree.root, every.starts,
            every.tidlists, every.weights, k, np.zeros(0, np.int64), forms, sizes,
        )  # fmt: skip
        for some, number, wanted in zip(forms.tolist(), sizes.tolist(), (threat, threat[::-1]), strict=True):
            found = {tuple(sorted(form[:n])) for form, n in zip(some, number, strict=True)}
            assert found == forms_by_hand(nodes, wanted, k)
        several += size > 1
    assert several >= 10
