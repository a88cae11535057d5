"""The labels of the next release with the least loss, proven, while those of earlier releases stay."""

from __future__ import annotations

from setveil.base.deadline import Deadline
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ids, Ints
from setveil.methods.histories._next import prepare
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
) -> FoundLabels:
    """Find the labels of the next release that lose least (LM) of all cuts with items suppressed.

    The items and numbers of people of `earlier` are those of the new release, too: people, indptr and items,
    as in `Appearance`. The labels may be coarser than start_cut: int32 (items of the series,), nodes of the
    hierarchy or -1, but not finer. After `time_limit` seconds the best labels so far are returned. Anyone who
    has to be withheld whatever the labels are is not in the release that the result is about.
    """
    deadline = Deadline(time_limit, silent if progress is None else progress)
    prepared = prepare(earlier, people, indptr, items, promise, hierarchy, start_cut)
    search = LabelSearch(prepared.joined, deadline)
    if search.forest.n_leaves:
        search.run()
    return prepared.found(search.incumbent.candidate, search.lower, deadline.passed)
