"""Counts of parts of the rows, added up in any order, are those of all rows in memory."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from setveil.kernels.count import empty_table
from setveil.kernels.rows import distinct_rows, frozen, recode_rows, take_rows
from setveil.rows.engine.counting import WeightedPiece
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.partial import (
    added,
    blocks,
    count_part,
    put_block,
    rare_bits,
    rare_part,
    supports_part,
)
from setveil.rows.engine.rows import MemoryRows
from strategies import examples, random_case, seeded


def test_parts_add_up_to_the_answers_of_all_rows() -> None:
    rng = seeded(4711)
    seen = Counter[str]()
    for _ in range(examples(150, 40)):
        case = random_case(rng, most_rows=20)
        tree, data = case.tree, case.data
        leaves = recode_rows(data.indptr, data.items, tree.locate(data.vocabulary))
        held = MemoryRows(*leaves)
        image = np.arange(tree.n_nodes, dtype=np.int32)
        nodes = np.array(rng.sample(range(tree.n_nodes), rng.randint(1, min(8, tree.n_nodes))), np.int64)
        numbering = Numbering.of(tree, image, nodes)
        size, k = rng.randint(1, 3), rng.randint(1, 4)

        # Equal rows are merged wherever they are, then all are spread over parts.
        merged = distinct_rows(*leaves)
        part_of = np.array([rng.randrange(3) for _ in range(merged[2].size)], np.int64)
        parts: list[WeightedPiece] = []
        for which in range(3):
            mine = np.flatnonzero(part_of == which)
            parts.append((*take_rows(*merged[:2], mine), frozen(merged[2][mine], np.int64)))
        rng.shuffle(parts)

        supports = sum(supports_part(part, numbering) for part in parts)
        assert np.array_equal(supports, held.supports(numbering))

        counted = [count_part([part], numbering, size) for part in parts]
        table = empty_table(nodes.size, size)
        sent: dict[int, list[bytes]] = {}
        for counts in counted:
            for block, cells in blocks(counts.table):
                sent.setdefault(block, []).append(cells)
        for block, some in sent.items():
            put_block(table, block, added(some))
        expected = held.count(numbering, size, lambda done: None)
        assert np.array_equal(table, expected)
        assert sum(counts.rows for counts in counted) == data.n_rows
        assert sum(counts.sets for counts in counted) == expected.sum()
        together = count_part(parts, numbering, size)
        assert np.array_equal(together.table, expected)

        bits = rare_bits(table, k)
        left = Counter[tuple[int, ...]]()
        for part in parts:
            indptr, numbers, weights = rare_part(part, numbering, bits, size, k)
            for (a, b), weight in zip(pairwise(indptr.tolist()), weights.tolist(), strict=True):
                left[tuple(numbers[a:b].tolist())] += weight
        indptr, numbers, weights = held.rare(numbering, table, size, k, lambda done: None)
        found = [tuple(numbers[a:b].tolist()) for a, b in pairwise(indptr.tolist())]
        assert dict(left) == dict(zip(found, weights.tolist(), strict=True))
        seen["rare"] += bool(left)
        seen["merged"] += bool((merged[2] > 1).any())
    assert min(seen.values()) > 5
