"""The size of the count-tree that the algorithms of VLDB 2008 would build, which these do not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from setveil.kernels.rows import item_supports
from setveil.methods.algorithms._cut import Cut, extended_rows

Path = tuple[int, ...]


def count_tree_nodes(cut: Cut, size: int, *, only_whole: bool = False) -> int:
    """Count nodes of the count-tree of a cut's extended rows, on paths of up to, or exactly, `size` (m)."""
    tree = cut.tree
    wanted = cut.live.copy()
    wanted[tree.root] = False
    indptr, items, weights = cut.rows()
    ends, nodes = extended_rows(tree, indptr, items, wanted)
    rank = np.empty(tree.n_nodes, np.int64)
    rank[np.argsort(-item_supports(ends, nodes, weights, tree.n_nodes), kind="stable")] = range(tree.n_nodes)
    bounds = ends.tolist()
    rows = {tuple(sorted(nodes[a:b].tolist(), key=rank.__getitem__)) for a, b in pairwise(bounds)}
    related = [{v, *tree.ancestors(v)} for v in range(tree.n_nodes)]
    return _count(rows, size, related, only_whole)


def _count(rows: Iterable[Path], size: int, related: list[set[int]], only_whole: bool) -> int:
    behind: dict[int, set[Path]] = {}
    for row in rows:
        for at, v in enumerate(row):
            rest = tuple(u for u in row[at + 1 :] if u not in related[v] and v not in related[u])
            behind.setdefault(v, set()).add(rest)
    if size <= 1:
        return len(behind) if size else 0
    below = [_count(rest, size - 1, related, only_whole) for rest in behind.values()]
    return sum(below) + sum(number > 0 or not only_whole for number in below)
