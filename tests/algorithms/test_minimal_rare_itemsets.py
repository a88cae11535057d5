"""The minimal rare itemsets against a list of all itemsets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from naive import itemsets as naive
from setveil.kernels.rows import frozen
from setveil.methods.algorithms.hghs._minimal_rare_itemsets import MinimalRareItemsets
from strategies import examples, seeded
from weighted_rows import Nodes, in_order, random_nodes


def search(nodes: Nodes, k: int, m: int, limits: Any = None) -> MinimalRareItemsets:
    rows = in_order(nodes.rows, range(len(nodes.spans)))
    return MinimalRareItemsets(rows, *nodes.intervals(), k, m, limits)


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


def test_sets_hold_so_many_of_each_sort() -> None:
    rng = seeded(22)
    dropped = 0
    for _ in range(examples(200, 20)):
        nodes = random_nodes(rng, most_leaves=rng.choice((5, 9)), most_rows=60, most_items=5)
        k, m = rng.randint(1, 8), rng.randint(2, 5)
        nodes = nodes.renumbered([node for node, support in nodes.supports().items() if support >= k])
        n = len(nodes.spans)
        sort, most = [rng.randrange(2) for _ in range(n)], [rng.randint(1, 2), rng.randint(1, 3)]
        found = search(nodes, k, m, (frozen(sort, np.int64), frozen(most, np.int64)))
        while found.search(rng.choice((1, 10**9))):
            pass
        sizes, ranks = found.sets()
        itemsets = {
            frozenset(ranks[end - size : end].tolist())
            for end, size in zip(np.cumsum(sizes), sizes, strict=True)
        }
        every = naive.minimal_rare(nodes.rows, nodes.spans, k, m)
        assert itemsets == {
            some for some in every if all([sort[x] for x in some].count(one) <= most[one] for one in (0, 1))
        }
        dropped += len(itemsets) < len(every)
    assert dropped


def test_no_nodes() -> None:
    found = search(Nodes(random_nodes(seeded(1)).tree, [], []), 2, 3)
    assert not found.search(1)
    assert found.found == 0
    assert found.done() == 1
