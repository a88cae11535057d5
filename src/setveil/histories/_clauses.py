"""Clauses that what fits too few people proves of all labels that keep the promise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from setveil.histories._joined import Joined
from setveil.histories._lifting_loops import lift
from setveil.histories._repair import walk_arguments
from setveil.histories._walk import Failing, Walk

Clause = tuple[
    tuple[int, ...], tuple[int, ...]
]  # the cut is at or above one of these, or one of these is left out


def clauses_of(walk: Walk, failing: Failing) -> set[Clause]:
    """Find what failing sets demand, in most general forms."""
    joined: Joined = walk.joined
    width = joined.promise.m * joined.tokens.shape[1] + 1
    most = failing.size * max(joined.promise.m * joined.free.size, 1)
    is_free = np.zeros(joined.tokens.shape[1], np.uint8)
    is_free[joined.free] = 1
    nodes = np.zeros(most * joined.promise.m * joined.free.size, np.int64)
    leaves = np.zeros_like(nodes)
    ends = np.zeros(most + 1, np.int64)
    some, left, right, keep, raised = (np.zeros(width, np.int64) for _ in range(5))
    forms = lift(
        *walk_arguments(walk, failing, is_free), joined.forest.parent, joined.promise.k, *joined.counting,
        some, left, right, keep, raised, nodes, leaves, ends,
    )  # fmt: skip
    up = joined.forest.parent[nodes[: ends[forms]]].tolist()
    gone, stops = leaves[: ends[forms]].tolist(), ends[: forms + 1].tolist()
    out: set[Clause] = set()
    for start, stop in pairwise(stops):
        above = {v for v in up[start:stop] if v >= 0}
        out.add((tuple(sorted(above)), tuple(sorted(set(gone[start:stop])))))
    return out
