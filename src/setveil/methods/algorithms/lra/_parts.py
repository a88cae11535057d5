"""Parts of the rows, each anonymized by itself, several at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids, Ints, frozen, take_rows
from setveil.methods.algorithms import aa
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms._in_threads import in_threads
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.methods.algorithms.exact._search import Search
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy

Images = tuple[Ids, int]  # the node of each leaf, -1: suppressed; and what the details count


def cut_evenly(order: Ints, n_parts: int) -> list[Ints]:
    """Cut rows into runs of neighbours; the first ones have one row more where sizes differ."""
    return [frozen(part, np.int64) for part in np.array_split(order, n_parts)]


def anonymize_parts(
    data: Transactions,
    tree: Hierarchy,
    guarantee: KmAnonymity,
    parts: Sequence[Ints],
    inner: str,
    progress: Progress,
    *,
    threads: int | None = None,
) -> tuple[Ids, Ints, dict[str, Any]]:
    """Anonymize the rows of each part by themselves: rows with items, each in one part, at least k in each.

    The number of threads (parts at a time) does not change the result. Returns the node of each occurrence,
    -1 where it is suppressed, the part of each row, -1 for rows without items, and details.
    """
    solve, counted = _INNER[inner]
    part_of_row = np.full(data.n_rows, -1, np.int64)
    for number, rows in enumerate(parts):
        part_of_row[rows] = number
    part_of_occurrence = np.repeat(part_of_row, data.row_lengths())
    by_part = np.argsort(part_of_occurrence, kind="stable")
    bounds = np.searchsorted(part_of_occurrence[by_part], np.arange(len(parts) + 1))
    leaves = tree.locate(data.vocabulary)[data.items]
    nodes = np.full(data.n_occurrences, -1, np.int32)
    total = 0

    def work(number: int, listener: Progress) -> int:
        image, count = solve(_rows_of(data, parts[number]), tree, guarantee, listener)
        inside = by_part[bounds[number] : bounds[number + 1]]
        nodes[inside] = image[leaves[inside]]
        return count

    if len(parts) == 1 and parts[0].size:
        total = work(0, progress)
    elif parts[0].size:
        total = sum(in_threads(work, len(parts), threads or os.cpu_count() or 1, progress))
    sizes = [rows.size for rows in parts if rows.size]
    details = {
        "parts": len(sizes),
        "smallest": min(sizes, default=0),
        "largest": max(sizes, default=0),
        counted: total,
        "suppressed": _suppressed_items(data, nodes),
    }
    return frozen(nodes, np.int32), frozen(part_of_row, np.int64), details


def _suppressed_items(data: Transactions, nodes: Ids) -> list[str]:
    """List the items that are suppressed in all rows, in item order."""
    lost = np.bincount(data.items[nodes < 0], minlength=data.n_items)
    return [
        data.vocabulary.labels[i] for i in np.flatnonzero((lost > 0) & (lost == data.supports())).tolist()
    ]


def _rows_of(data: Transactions, rows: Ints) -> Transactions:
    """Take rows, with the items that occur in them."""
    indptr, items = take_rows(data.indptr, data.items, rows)
    used, inside = np.unique(items, return_inverse=True)
    labels = data.vocabulary.labels
    return Transactions(indptr, frozen(inside, np.int32), Vocabulary(labels[i] for i in used.tolist()))


def _by_aa(rows: Transactions, tree: Hierarchy, guarantee: KmAnonymity, progress: Progress) -> Images:
    cut, details = aa.find_cut(Cut(rows, tree), guarantee, progress)
    return cut.image, details["generalization_steps"]


def _by_exact(rows: Transactions, tree: Hierarchy, guarantee: KmAnonymity, progress: Progress) -> Images:
    search = Search(rows, tree, guarantee, Exact(), progress)
    proven = search.run()["proven"]
    image = np.full(tree.n_leaves, -1, np.int32)
    nodes, suppressed = search.published()
    for v in nodes:
        image[tree.under(v)] = v
    image[suppressed] = -1
    return image, int(proven)


_INNER = {"aa": (_by_aa, "generalization_steps"), "exact": (_by_exact, "proven")}
