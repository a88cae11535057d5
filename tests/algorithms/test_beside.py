"""The items published with a node, compared with counting every set of nodes."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random

import numpy as np
import pytest

from setveil.kernels.limits import Limits
from setveil.kernels.rows import frozen, invert
from setveil.methods.algorithms._refine import Neighbours


def valid(rows: list[list[int]], weights: list[int], image: list[int], node: int, k: int, m: float) -> bool:
    """Count the sets of at most m nodes, the node among them, one after the other."""
    published = [{image[leaf] for leaf in row if image[leaf] >= 0} for row in rows]
    others = sorted(set().union(*published) - {node})
    for size in range(min(int(min(m, 99)), len(others) + 1)):
        for rest in combinations(others, size):
            total = sum(w for row, w in zip(published, weights, strict=True) if {node, *rest} <= row)
            if 0 < total < k:
                return False
    return True


@pytest.mark.parametrize("m", [1, 2, 3, math.inf])
def test_stays_valid_is_the_twins(m: float) -> None:
    random = Random(7)
    outcomes = set()
    for _ in range(300):
        n, nodes = random.randint(1, 7), 12
        rows = [
            sorted(random.sample(range(n), random.randint(0, min(n, 5))))
            for _ in range(random.randint(1, 12))
        ]
        weights = [random.randint(1, 3) for _ in rows]
        indptr = frozen(np.cumsum([0, *map(len, rows)]), np.int64)
        items = frozen([leaf for row in rows for leaf in row], np.int32)
        k = random.randint(2, 5)
        beside = Neighbours(
            (indptr, items), frozen(weights, np.int64), *invert(indptr, items, n)[:2], k,
            Limits(map(str, range(nodes)), m), m,
        )  # fmt: skip
        for _ in range(3):  # its memory is as it was found
            image = [random.choice([-1, 7, 8, 9, 10, leaf]) for leaf in range(n)] + [-1] * (nodes - n)
            node = random.choice([to for to in image[:n] if to >= 0] or [-1])
            if node < 0:
                continue
            leaves = np.array([leaf for leaf in range(n) if image[leaf] == node], np.int32)
            found = beside.stays_valid(leaves, np.array(image, np.int32))
            assert found == valid(rows, weights, image, node, k, m), (rows, weights, image, node, k)
            outcomes.add(found)
    assert outcomes == {True, False}
