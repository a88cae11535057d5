"""How LG finds a node for each occurrence: parts of rows that look the same, split as long as one can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.base.tracing import Trace
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, recode_rows, take_rows
from setveil.methods.algorithms.lg._partition_loops import (
    COPIES_DONE,
    NODES,
    PARTS,
    PARTS_DONE,
    ROWS,
    SPLITS,
    nodes_of_occurrences,
    partition_top_down,
)
from setveil.methods.algorithms.lg._watched import report_part
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

STEPS_AT_ONCE = 20_000_000  # steps between two reports of progress


def find_nodes(
    data: Transactions,
    tree: Hierarchy,
    k: int,
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Ids, Ints, dict[str, Any]]:
    """Find the node of each occurrence, the part of each row (-1: empty), and details: `parts`, `splits`.

    A part is rows, at least k, that look the same as its nodes: they have leaves under each node and nowhere
    else. As long as a node can be expanded, rows with the same children of it go together; fewer than k stay
    behind.

    - Nodes with the same children in all rows of a part, or an only child, are expanded at once.
    - The node that lowers the loss most (NCP of the rows that move) is expanded, of equals the first in item
      order; it is passed over if no set of its children is in k rows.
    - If fewer than k rows stay behind, others join them out of groups of more than k: those that gain least,
      then have the fewest copies in the part, then by item order. If that is not enough, the group of least
      total gain does.
    - Only parts of 2k rows or more are split. Rows that stay behind do not try the same node again.

    Differences from [1]: equal rows are merged and weighted, ties are settled, only rows that move gain.

    [1] He, Naughton, VLDB 2009, doi:10.14778/1687627.1687733
    """
    progress("partitioning")
    place = np.empty(tree.n_leaves, np.int32)
    place[tree.leaf_order] = np.arange(tree.n_leaves)
    leaf = tree.locate(data.vocabulary)
    indptr, items, weights, copies = _distinct(*recode_rows(data.indptr, data.items, leaf))
    rows = recode_rows(indptr, items, place)
    top, starts, children = _expansions(tree)
    cost = np.where(tree.leaf_counts > 1, tree.leaf_counts, 0)
    grown = tree.high, frozen(cost, np.int64), starts, children

    # All rows wait as one part under the root. A part has at least k rows, each with an item or more under
    # each of its nodes: that bounds the numbers of parts and nodes.
    most_parts, most_nodes = copies.size // k + 1, data.n_occurrences // k + 1
    row, number = np.zeros(copies.size, np.int64), np.zeros(copies.size, np.int64)
    row[: weights.size], number[: weights.size] = np.arange(weights.size), weights
    node, alive = np.zeros(most_nodes, np.int64), np.zeros(most_nodes, np.bool_)
    node[0], alive[0] = top, top >= tree.n_leaves
    first_row, first_node = np.zeros(most_parts, np.int64), np.zeros(most_parts, np.int64)
    waiting = row, number, node, alive, first_row, first_node
    part_of_copy = np.zeros(copies.size, np.int64)
    node_ends, nodes = np.zeros(most_parts, np.int64), np.zeros(most_nodes, np.int64)
    done = np.cumsum(weights) - weights, part_of_copy, node_ends, nodes
    state = np.zeros(7, np.int64)
    if weights.size:
        state[[PARTS, ROWS, NODES]] = 1, weights.size, 1
    while state[PARTS] > 0:
        with np.errstate(over="ignore"):  # hashes
            if trace is not None:
                report_part(trace, tree, rows, grown, k, waiting, state)
            at_once = STEPS_AT_ONCE if trace is None else 1
            partition_top_down(rows, grown, k, waiting, done, state, at_once)
        progress("partitioning", state[COPIES_DONE] / copies.size)

    part_of = np.full(data.n_rows, -1, np.int64)
    part_of[copies] = part_of_copy
    out = np.empty(data.n_occurrences, np.int32)
    found = frozen(part_of, np.int64), frozen(node_ends, np.int64), frozen(nodes, np.int64)
    nodes_of_occurrences(data.indptr, data.items, frozen(place[leaf], np.int32), *found, tree.low, out)
    return out, part_of, {"parts": int(state[PARTS_DONE]), "splits": int(state[SPLITS])}


def _distinct(indptr: Ints, items: Ids) -> tuple[Ints, Ids, Ints, Ints]:
    """List the distinct non-empty rows in item order, how many rows each represents, and which, by turns."""
    group, first, _ = merge_rows(indptr, items)
    distinct = take_rows(indptr, items, first)
    keys = distinct[1].astype(">i4").tobytes()
    bounds = (4 * distinct[0]).tolist()
    order = sorted(range(first.size), key=lambda g: keys[bounds[g] : bounds[g + 1]])
    in_order = np.array(order, np.int64)
    rank = np.empty(first.size, np.int64)
    rank[in_order] = np.arange(first.size)
    weights = np.bincount(rank[group], minlength=first.size)
    copies = np.argsort(rank[group], kind="stable")
    if order and bounds[order[0]] == bounds[order[0] + 1]:  # the empty row
        in_order, weights, copies = in_order[1:], weights[1:], copies[weights[0] :]
    return *take_rows(*distinct, in_order), weights, copies


def _expansions(tree: Hierarchy) -> tuple[int, Ints, Ints]:
    """List the node of the root and the children of each node, passing over nodes with an only child."""
    end = list(range(tree.n_nodes))  # below a chain of only children
    for v in np.argsort(-tree.depth, kind="stable").tolist():
        if len(tree.children(v)) == 1:
            end[v] = end[tree.children(v)[0]]
    starts = np.cumsum([0, *(len(tree.children(v)) for v in range(tree.n_nodes))])
    children = [end[c] for v in range(tree.n_nodes) for c in tree.children(v)]
    return end[tree.root], frozen(starts, np.int64), frozen(np.array(children, np.int64), np.int64)
