"""The preorder walk and the support of an itemset, against lists of all itemsets."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from naive import itemsets as naive
from setveil.kernels.limits import no_limits
from setveil.kernels.rows import frozen
from setveil.kernels.walk import FINISHED, FOUND, PAUSED, support, walk
from strategies import examples, seeded
from weighted_rows import Nodes, in_order, random_nodes

BUDGETS = (0, 1, 7, 100, 10**9)


class Walked:
    """Runs a walk to its end, however often it pauses."""

    def __init__(
        self, nodes: Nodes, live: list[bool], k: int, smallest: int, largest: int, limits: Any = None
    ) -> None:
        n = len(nodes.spans)
        rows = in_order(nodes.rows, range(n))
        supports = frozen([nodes.supports()[x] for x in range(n)], np.int64)
        self.before = (
            *rows[:6],
            supports,
            *nodes.intervals(),
            *(no_limits(len(live)) if limits is None else limits),
            np.array(live, np.bool_),
            k,
            smallest,
            largest,
        )
        self.n, self.largest = n, largest
        self.pauses = 0

    def _run(self, marks: np.ndarray, budget: int) -> list[tuple[int, ...]]:
        path, last = np.zeros(self.largest, np.int64), np.empty(self.n, np.int64)
        length = 0
        out: list[tuple[int, ...]] = []
        while True:
            state, length, found = walk(*self.before, path, length, last, marks, budget)
            if state == FINISHED:
                return out
            if state == PAUSED:
                self.pauses += 1
                continue
            assert state == FOUND
            head = tuple(path[:length].tolist())
            out += [(*head, x) for x in last[:found].tolist()] if found else [head]

    def threats(self, budget: int) -> list[tuple[int, ...]]:
        return self._run(np.zeros(0, np.bool_), budget)

    def marked(self, budget: int) -> list[bool]:
        marks = np.zeros(self.n, np.bool_)
        assert self._run(marks, budget) == []
        return marks.tolist()


def random_walk(rng: Random) -> tuple[Nodes, list[bool], int, int, int]:
    nodes = random_nodes(rng, most_leaves=rng.choice((4, 9)))
    order = nodes.occurring()
    rng.shuffle(order)
    nodes = nodes.renumbered(order)
    live = [rng.random() < rng.choice((0.7, 1)) for _ in order]
    largest = rng.randint(1, 5)
    return nodes, live, rng.randint(1, 6), rng.randint(1, largest), largest


def test_the_walk_finds_all_threats_in_preorder() -> None:
    rng = seeded(11)
    paused = found = 0
    for _ in range(examples(600, 60)):
        nodes, live, k, smallest, largest = random_walk(rng)
        rows = [(frozenset(x for x in row if live[x]), weight) for row, weight in nodes.rows]
        expected = naive.rare_paths(rows, nodes.spans, k, smallest, largest)
        walked = Walked(nodes, live, k, smallest, largest)
        assert walked.threats(rng.choice(BUDGETS)) == expected
        paused += walked.pauses
        found += len(expected)
    assert paused
    assert found


def test_the_walk_holds_so_many_of_each_sort() -> None:
    rng = seeded(14)
    dropped = found = 0
    for _ in range(examples(300, 30)):
        nodes, _, k, smallest, largest = random_walk(rng)
        n = len(nodes.spans)
        sort, most = [rng.randrange(2) for _ in range(n)], [rng.randint(1, 2), rng.randint(1, 3)]
        every = naive.rare_paths(nodes.rows, nodes.spans, k, smallest, largest)
        expected = [
            path for path in every if all([sort[x] for x in path].count(one) <= most[one] for one in (0, 1))
        ]
        limits = frozen(sort, np.int64), frozen(most, np.int64)
        walked = Walked(nodes, [True] * n, k, smallest, largest, limits)
        assert walked.threats(rng.choice(BUDGETS)) == expected
        dropped += len(expected) < len(every)
        found += len(expected)
    assert dropped
    assert found


def test_the_walk_marks_what_lies_in_threats() -> None:
    rng = seeded(12)
    for _ in range(examples(300, 30)):
        nodes, live, k, smallest, largest = random_walk(rng)
        rows = [(frozenset(x for x in row if live[x]), weight) for row, weight in nodes.rows]
        found = naive.supports(rows, largest, nodes.spans).items()
        involved = {x for items, n in found if n < k and len(items) >= smallest for x in items}
        walked = Walked(nodes, live, k, smallest, largest)
        assert walked.marked(rng.choice(BUDGETS)) == [x in involved for x in range(len(live))]


def test_no_rows_hold_no_threats() -> None:
    assert Walked(Nodes(random_nodes(seeded(1)).tree, [], []), [], 5, 1, 3).threats(0) == []


def test_support() -> None:
    """Check sets that occur nowhere too; the walk stops after enough sets."""
    rng = seeded(13)
    for _ in range(examples(400, 40)):
        nodes = random_nodes(rng, most_rows=60)
        n = nodes.tree.n_nodes
        rows = in_order(nodes.rows, range(n))
        for _ in range(5):
            some = rng.sample(range(n), rng.randint(1, min(4, n)))
            each = [row for row in range(len(nodes.rows)) if set(some) <= set(nodes.rows[row][0])]
            holders = np.full(rng.randint(0, 5), -1, np.int64)
            enough = rng.choice((1, 3, 10**9))
            counted = np.array(some, np.int64)
            weight, number = support(rows.starts, rows.tidlists, rows.weights, counted, enough, holders)
            if enough == 10**9:
                assert weight == naive.holding(nodes.rows, frozenset(some))
                assert number == len(each)
            else:
                assert min(weight, enough) == min(naive.holding(nodes.rows, frozenset(some)), enough)
                assert number <= len(each)
            kept = min(number, holders.size)
            assert holders[:kept].tolist() == each[:kept]
            assert (holders[kept:] == -1).all()
