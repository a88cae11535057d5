"""The labels of several releases, none of which is out yet, chosen together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from setveil.base.deadline import Deadline
from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ints
from setveil.methods.histories._forest import grow
from setveil.methods.histories._joined import join
from setveil.methods.histories._next import labels_of
from setveil.methods.histories._search import LabelSearch
from setveil.methods.histories.found import FoundLabels, Plan
from setveil.methods.histories.hold_back import smallest, without
from setveil.rows.data.people import SeriesPeople
from setveil.rows.hierarchy.tree import Hierarchy


def plan(
    periods: SeriesPeople,
    promise: SeriesAnonymity,
    hierarchy: Hierarchy,
    *,
    weights: Sequence[int] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Find the labels of all releases that lose least together (LM over the weighted occurrences of all).

    The labels in `periods` do not count. `weights` is how much an occurrence of each release counts (1).
    After `time_limit` seconds the best labels so far are returned. Anyone who would be found even if nothing
    but the rows were shown is withheld from the later releases.
    """
    n = len(periods.releases)
    if weights is not None and (len(weights) != n or min(weights, default=1) < 1):
        raise RequestError(
            f"The weights are {list(weights)}, expected one of at least 1 for each of {n} releases."
        )
    deadline = Deadline(time_limit, silent if progress is None else progress)
    n_items = len(periods.items)
    releases, held = list(periods.releases), []
    nothing = np.full(n_items, -1, np.int32)
    for t, release in enumerate(releases):
        before = [*(replace(one, labels=nothing) for one in releases[: t + 1])]
        gone = smallest(SeriesPeople(tuple(before), periods.items, periods.n_people), promise)
        held.append(gone)
        releases[t] = without(release, np.isin(release.people, gone))
    occurrences: list[Ints] = [np.bincount(one.items, minlength=n_items) for one in releases]
    forest = grow(hierarchy, periods.items, occurrences, weights)
    search = LabelSearch(join(releases, periods.n_people, n_items, promise, forest, range(n), -1), deadline)
    if forest.n_leaves:
        search.run()
    image = search.incumbent.candidate
    cost, least = forest.cost(image), forest.least() + search.lower
    found = []
    for t in range(n):
        labels, cut = labels_of(forest, image, hierarchy, periods.items, t)
        own = forest.tree[: forest.n_leaves] == t
        amounts = forest.occurrences[own]
        lost = np.where(image[own] >= 0, forest.each[image[own]], forest.worst)
        lm = int((amounts * lost).sum()) / max(int(amounts.sum()) * forest.worst, 1)
        out = int(amounts[image[own] < 0].sum())
        found.append(FoundLabels(labels, cut, lm, 0.0, least >= cost, deadline.passed, held[t], out))
    return Plan(
        tuple(found), cost / forest.whole(), min(least, cost) / forest.whole(), least >= cost, deadline.passed
    )
