"""Labels of the next release for large data: coarsened until the guarantee holds, then made finer again."""

from __future__ import annotations

import numpy as np

from setveil.base.deadline import Deadline
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ids, Ints
from setveil.methods.histories._next import prepare
from setveil.methods.histories._repair import begun, refined
from setveil.methods.histories._search import LabelSearch
from setveil.methods.histories.found import FoundLabels
from setveil.rows.data.people import SeriesPeople
from setveil.rows.hierarchy.tree import Hierarchy


def next_labels(
    earlier: SeriesPeople,
    people: Ints,
    indptr: Ints,
    items: Ids,
    promise: SeriesAnonymity,
    hierarchy: Hierarchy,
    *,
    start_cut: Ids | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    refine: bool = True,
    bound: bool = False,
) -> FoundLabels:
    """Find labels of the next release that satisfy the guarantee, without proof that none lose less.

    For each set of known items that fits too few people, small sets first, the change is made that loses
    least for each person gained: an item's label is exchanged for a broader one, or suppressed. With
    `refine`, labels are then made finer if the guarantee still holds; with `bound`, the linear relaxation of
    the exact program limits how much less others may lose. The time limit is for these two; labels are always
    found. The rest: see `setveil.methods.histories.exact`.
    """
    listener = silent if progress is None else progress
    deadline = Deadline(time_limit, listener)
    prepared = prepare(earlier, people, indptr, items, promise, hierarchy, start_cut)
    joined = prepared.joined
    forest = joined.forest
    image = np.full(
        forest.n_leaves, -1, np.int32
    )  # satisfies the guarantee, as who would be found even so is held back
    for made in begun(joined, listener, lambda: deadline.is_over):
        finer = refined(joined, made, listener, lambda: deadline.is_over) if refine else made
        image = min(image, finer, key=forest.cost)
    lower = -forest.least()  # nothing is proven
    if bound and forest.n_leaves:
        lower = LabelSearch(joined, deadline).relax()
    return prepared.found(image, lower, deadline.passed)
