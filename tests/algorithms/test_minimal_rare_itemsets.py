"""The minimal rare itemsets against a list of all itemsets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from naive import itemsets as naive
from setveil.algorithms.hghs._minimal_rare_itemsets import MinimalRareItemsets
from strategies import examples, seeded
from weighted_rows import Nodes, in_order, random_nodes


def search(nodes: Nodes, k: int, m: int) -> MinimalRareItemsets:
    return MinimalRareItemsets(in_order(nodes.rows, range(len(nodes.spans))), *nodes.intervals(), k, m)


def test_every_minimal_rare_itemset_is_found_once() -> None:
    """However often the search pauses, and whatever order the nodes have."""
    rng = seeded(21)
    total = pauses = 0
    for _ in range(examples(600, 60)):
        nodes = random_nodes(rng, most_leaves=rng.choice((5, 9)), most_rows=60, most_items=5)
        k, m = rng.randint(1, 8), rng.randint(2, 5)
        order = [node for node, support in nodes.supports().items() if support >= k]
        rng.shuffle(order)
        nodes = nodes.renumbered(order)

        found = search(nodes, k, m)
        budget = rng.choice((1, 50, 10**9))
        done = [found.done()]
        while found.search(budget):
            done.append(found.done())
            pauses += 1
        assert all(before <= after for before, after in pairwise(done))

        sizes, ranks = found.sets()
        ends = np.cumsum(sizes)
        each = [ranks[end - size : end].tolist() for end, size in zip(ends, sizes, strict=True)]
        assert all(one == sorted(one) for one in each)
        itemsets = [frozenset(one) for one in each]
        assert len(itemsets) == len(set(itemsets)) == found.found
        assert set(itemsets) == naive.minimal_rare(nodes.rows, nodes.spans, k, m)
        assert found.nodes == ranks.size
        every = naive.supports(nodes.rows, m - 1, nodes.spans).values()
        assert found.frequent == sum(n >= k for n in every)
        total += found.found
    assert total
    assert pauses


def test_no_nodes() -> None:
    found = search(Nodes(random_nodes(seeded(1)).tree, [], []), 2, 3)
    assert not found.search(1)
    assert found.found == 0
    assert found.done() == 1
