"""The boxes of facts that lose least where a known code includes all about it (docs/facts.md#whole-codes)."""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.base.deadline import Deadline
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ints, frozen
from setveil.methods.algorithms._content_order import in_content_order
from setveil.methods.algorithms.exact._losses import how_far, upwards
from setveil.methods.histories._forest import LabelForest, depth_first
from setveil.methods.histories._joined import ABSENT, Joined
from setveil.methods.histories._search import LabelSearch
from setveil.releases.published.recoding import BoxRecoding, Recoding
from setveil.rows.facts.facts import Facts
from setveil.rows.hierarchy.boxes import BoxTree


def anonymize(
    data: Facts,
    tree: BoxTree,
    guarantee: KmAnonymity,
    *,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> tuple[BoxRecoding, dict[str, Any]]:
    """Find the cut of a tree of boxes, with facts suppressed, that loses least (LM).

    Parameters
    ----------
    guarantee : KmAnonymity
        With ``known="codes"`` and a number m.
    time_limit : float, optional
        Seconds after which the best boxes so far are returned.

    Returns
    -------
    recoding : BoxRecoding
    details : dict
        The `optimality`, and the facts that are `suppressed`.
    """
    joined = join(data, tree, guarantee)
    search = LabelSearch(joined, Deadline(time_limit, progress))
    search.run()
    forest, image = joined.forest, search.incumbent.candidate
    cut = {int(forest.node[v]) for v in np.unique(image[image >= 0]).tolist()}
    gone = [int(forest.node[leaf]) for leaf in np.flatnonzero(image < 0).tolist()]
    recoding: Any = Recoding.from_cut(tree, cut | set(gone), gone)  # of a tree of boxes
    optimality = {
        "objective": "lm",
        "model": "cut with suppression",
        **how_far(forest.cost(image), forest.least() + search.lower, forest.whole()),
        "weighted": False,
        "limited": False,
        "clauses": len(search.program),
        "rounds": search.program.solved,
    }
    return recoding, {"optimality": optimality, "suppressed": [tree.labels[v] for v in gone]}


def join(data: Facts, tree: BoxTree, guarantee: KmAnonymity) -> Joined:
    """Make a row for each person, of a unit for each code: the leaves of its facts, ABSENT behind them."""
    leaf = np.array([tree.id(label) for label in data.vocabulary.labels], np.int64)
    rows, _ = in_content_order(data)
    row = np.repeat(np.arange(rows.n_rows), rows.row_lengths())
    facts = rows.items.astype(np.int64)
    most = max((len(one.codes) for one in data.columns), default=1)
    code = data.column[facts].astype(np.int64) * most + data.parts[facts, 0]
    order = np.lexsort((leaf[facts], code, row))
    row, code, leaves = row[order], code[order], leaf[facts][order]
    begins = np.concatenate(([True], (row[1:] != row[:-1]) | (code[1:] != code[:-1]))) if row.size else row
    first = np.flatnonzero(begins)
    at = np.cumsum(begins) - 1
    slot = np.arange(row.size) - first[at]
    histories = np.full((first.size, int(slot.max(initial=0)) + 1), ABSENT, np.int32)
    histories[at, slot] = leaves
    tokens, unit = np.unique(histories, axis=0, return_inverse=True)
    unit, owner = unit.reshape(-1), row[first]
    sorted_ = np.lexsort((unit, owner))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=rows.n_rows))))
    supports = np.zeros(tree.n_leaves, np.int64)
    supports[leaf] = data.supports()
    forest = forest_of(tree, supports)
    each = np.ones(rows.n_rows, np.int64)
    return Joined(
        promise=SeriesAnonymity(guarantee.k, int(guarantee.m), "histories", "ignored"),
        forest=forest,
        new=-1,
        tokens=frozen(tokens, np.int32),
        free=np.arange(tokens.shape[1]),
        indptr=frozen(indptr, np.int64),
        units=frozen(unit[sorted_], np.int32),
        masks=frozen(np.zeros_like(each), np.int64),
        weights=frozen(each, np.int64),
        row=frozen(np.arange(rows.n_rows), np.int64),
        n_tokens=forest.n_nodes,
    )


def forest_of(tree: BoxTree, supports: Ints) -> LabelForest:
    """Take a tree of boxes as a forest; `supports`: rows with each leaf."""
    several = len(tree.spaces) > 1
    inner = [v for v in upwards(tree) if v >= tree.n_leaves and not (several and v == tree.root)]
    nodes = np.array([*range(tree.n_leaves), *inner], np.int64)
    place = np.full(tree.n_nodes + 1, -1, np.int64)  # the last: above a root
    place[nodes] = np.arange(nodes.size)
    parent = place[tree.parent[nodes]]
    low, high, order = depth_first(parent, tree.n_leaves)
    return LabelForest(
        parent=frozen(parent, np.int64),
        n_leaves=tree.n_leaves,
        low=frozen(low, np.int64),
        high=frozen(high, np.int64),
        order=frozen(order, np.int64),
        node=frozen(nodes, np.int32),
        tree=frozen(np.zeros(nodes.size), np.int64),
        barred=np.zeros(tree.n_leaves, bool),
        amounts=frozen(supports, np.int64),
        each=frozen(tree.lost[nodes], np.int64),
        worst=int(tree.most_lost),
        leaf=(),
        occurrences=frozen(supports, np.int64),
    )
