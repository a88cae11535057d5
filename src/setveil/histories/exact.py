"""The labels of the next release with the least loss, proven, while those of earlier releases stay."""

from __future__ import annotations

from setveil.data.people import SeriesPeople
from setveil.deadline import Deadline
from setveil.guarantees.series import SeriesAnonymity
from setveil.hierarchy.tree import Hierarchy
from setveil.histories._next import prepare
from setveil.histories._search import LabelSearch
from setveil.histories.found import FoundLabels
from setveil.kernels.rows import Ids, Ints
from setveil.progress import Progress, silent


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
