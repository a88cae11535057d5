"""Numbers for nodes of a hierarchy, and which of them each leaf brings into a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen, ranks_of
from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class Numbering:
    """Numbers of some nodes, for rows that are recoded by a cut and extended by the ancestors of its nodes.

    `nodes`: int64 (n,), the node of each number. Leaf v brings ``numbers[starts[v]:starts[v + 1]]`` into a
    row (int32, int64 (n_leaves + 1,)).
    """

    nodes: Ints
    starts: Ints
    numbers: Ids

    @classmethod
    def of(
        cls,
        tree: Hierarchy,
        image: Ids,
        nodes: NDArray[np.integer],
        leaves: NDArray[np.integer] | None = None,
    ) -> Numbering:
        """Give nodes numbers, in their order.

        `image`: int32 (n_leaves or more,), for each leaf the node of the cut above it, -1 if it is
        suppressed. `nodes`: distinct; of the cut's nodes and all above them, only these are counted.
        `leaves`: the content of rows, by default all leaves.
        """
        number = ranks_of(nodes, tree.n_nodes)
        up = (image[: tree.n_leaves] if leaves is None else image[leaves]).astype(np.int64)
        found = np.full((up.size, tree.height + 1), -1, np.int32)
        for level in range(tree.height + 1):
            found[:, level] = np.where(up >= 0, number[up], -1)
            up = np.where(up >= 0, tree.parent[up], -1)
        wanted = found >= 0
        starts = np.concatenate(([0], np.cumsum(wanted.sum(axis=1))))
        return cls(frozen(nodes, np.int64), frozen(starts, np.int64), frozen(found[wanted], np.int32))
