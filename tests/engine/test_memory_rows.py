"""Requests to rows, wherever they are stored, compared with brute force."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from naive.anonymize import up_from
from setveil.base.threads import use_threads
from setveil.kernels.count import cell_offsets
from setveil.kernels.rows import Ids, Ints, distinct_rows, recode_rows
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.rows import MemoryRows
from strategies import Case, examples, random_case, seeded


def leaf_rows(case: Case) -> tuple[Ints, Ids]:
    data = case.data
    return recode_rows(data.indptr, data.items, case.tree.locate(data.vocabulary))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_answers_are_sums_over_all_rows(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(1730)
    use_threads(threads)
    seen = Counter[str]()
    for _ in range(examples(150, 40)):
        case = random_case(rng, most_rows=20)
        tree = case.tree
        monkeypatch.setattr("setveil.rows.engine.rows.AT_ONCE", rng.randint(1, 30))
        merge = distinct_rows if rng.random() < 0.5 else lambda *rows: rows
        held = MemoryRows(*merge(*leaf_rows(case)))
        assert held.lengths.tolist() == np.bincount([len(row) for row in case.rows]).tolist()

        # A cut with some leaves suppressed, and some of its nodes and those above them.
        image = np.arange(tree.n_nodes, dtype=np.int32)
        for v in rng.sample(
            range(tree.n_leaves, tree.n_nodes), rng.randint(0, 2) % (tree.n_nodes - tree.n_leaves + 1)
        ):
            image[tree.under(v)] = v
        for leaf in range(tree.n_leaves):
            if rng.random() < 0.1:
                image[leaf] = -1
        nodes = np.array(rng.sample(range(tree.n_nodes), rng.randint(1, min(8, tree.n_nodes))), np.int64)
        number = {int(v): i for i, v in enumerate(nodes)}
        rows = []
        for row in case.rows:
            to = [int(image[tree.id(item)]) for item in row]
            above = {tree.id(label) for v in to if v >= 0 for label in up_from(case.parents, tree.labels[v])}
            rows.append(sorted(number[v] for v in above if v in number))
        numbering = Numbering.of(tree, image, nodes)
        supports = Counter(x for row in rows for x in row)
        assert held.supports(numbering).tolist() == [supports[x] for x in range(nodes.size)]

        size, k = rng.randint(1, 3), rng.randint(1, 4)
        progress: list[float] = []
        table = held.count(numbering, size, progress.append)
        sets = Counter(some for row in rows for some in combinations(row, size))
        offsets = cell_offsets(nodes.size, size)
        for some in combinations(range(nodes.size), size):
            assert table[sum(int(offsets[j, x]) for j, x in enumerate(some))] == sets[some]
        assert progress == sorted(progress)
        assert not progress or progress[-1] == bool(held.leaves.size)

        left = Counter(
            tuple(sorted({x for some in combinations(row, size) if sets[some] < k for x in some}))
            for row in rows
        )
        indptr, numbers, weights = held.rare(numbering, table, size, k, progress.append)
        found = [tuple(numbers[a:b].tolist()) for a, b in pairwise(indptr.tolist())]
        assert len(set(found)) == len(found)
        assert dict(zip(found, weights.tolist(), strict=True)) == {row: n for row, n in left.items() if row}
        seen["rare"] += bool(found)
        seen["sets"] += bool(sets)
    assert min(seen.values()) > 5
