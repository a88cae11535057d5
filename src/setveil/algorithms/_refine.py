"""How the cut-based algorithms end: split nodes of the final cut again if asked to."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from setveil.algorithms._cut import Cut
from setveil.guarantees.km import KmAnonymity
from setveil.kernels import walk as kernel
from setveil.kernels.rows import (
    Ids,
    Ints,
    distinct_rows,
    frozen,
    invert,
    item_supports,
    ranked,
    recode_rows,
    take_rows,
)
from setveil.progress import Progress
from setveil.published.recoding import Recoding


def final_recoding(
    cut: Cut,
    guarantee: KmAnonymity,
    split_again: bool,
    details: dict[str, Any],
    progress: Progress,
) -> tuple[Recoding, dict[str, Any]]:
    """Turn a valid cut into a recoding, refined first if `split_again`; `details` gain what that did."""
    nodes = cut.nodes()
    if split_again:
        coarse = len(nodes)
        nodes = refine(cut, nodes, guarantee, progress)
        details = details | {"labels_before_refining": coarse, "labels_after_refining": len(nodes)}
    return Recoding.from_cut(cut.tree, nodes), details


def refine(cut: Cut, nodes: list[int], guarantee: KmAnonymity, progress: Progress) -> list[int]:
    """Replace nodes of a valid cut by their children, greatest gain first, while the cut stays valid.

    A split that is not valid now never becomes valid (other splits only lower supports), so every node is
    tried once and no node of the result can be split alone.

    Returns
    -------
    list of int
        The nodes of the refined cut, ascending.
    """
    tree = cut.tree
    image = np.empty(tree.n_nodes, np.int32)
    for v in nodes:
        image[tree.under(v)] = v
    rows, items, weights = distinct_rows(*cut.leaf_rows)
    starts, holders, _ = invert(rows, items, tree.n_leaves)

    def gain(v: int) -> int:
        return cut.full[v] - sum(cut.full[child] for child in tree.children(v))

    queue = [(-gain(v), v) for v in nodes if tree.children(v)]
    heapify(queue)
    final = set(nodes)
    tried = 0
    while queue:
        _, v = heappop(queue)
        tried += 1
        progress("refining the cut", tried / (tried + len(queue)))
        children = tree.children(v)
        leaves = tree.under(v)
        touched = np.unique(np.concatenate([holders[starts[leaf] : starts[leaf + 1]] for leaf in leaves]))
        trial = image.copy()
        for child in children:
            trial[tree.under(child)] = child
        near = recode_rows(*take_rows(rows, items, touched.astype(np.int64)), frozen(trial, np.int32))
        if all(stays_valid(near, weights[touched], child, guarantee) for child in children):
            image = trial
            final.remove(v)
            final.update(children)
            for child in children:
                if tree.children(child):
                    heappush(queue, (-gain(child), child))
    return sorted(final)


def stays_valid(near: tuple[Ints, Ids], weights: Ints, node: int, guarantee: KmAnonymity) -> bool:
    """Whether every itemset with a node has support 0 or at least k.

    Parameters
    ----------
    near : (indptr, items)
        Rows of nodes, among them every row with the node.
    weights : int64
        How many rows each stands for.
    node : int
    guarantee : KmAnonymity
    """
    indptr, items = near
    holding = np.unique(np.repeat(np.arange(indptr.size - 1), np.diff(indptr))[items == node])
    if holding.size == 0:
        return True
    if weights[holding].sum() < guarantee.k:
        return False
    rest = take_rows(indptr, items, holding)
    labels = np.unique(rest[1])
    others = labels[labels != node]
    rows = ranked(*rest, weights[holding], others, int(labels.max()) + 1)
    size = int(min(guarantee.m - 1, rows.lengths.max(initial=0)))
    if size == 0:
        return True
    n = others.size
    supports = item_supports(*rows[:3], n)
    apart = frozen(np.arange(n), np.int32)
    beyond = frozen(np.arange(1, n + 1), np.int32)
    state, _, _ = kernel.walk(
        *rows[:6], frozen(supports, np.int64), apart, beyond,
        np.ones(n, bool), guarantee.k, 1, size,
        np.zeros(size, np.int64), 0, np.empty(n, np.int64), np.zeros(0, bool), 1 << 62,
    )  # fmt: skip
    return bool(state == kernel.FINISHED)
