"""What every search for the labels of the next release begins and ends with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ids, Ints
from setveil.methods.histories._forest import LabelForest, grow
from setveil.methods.histories._joined import Joined, join
from setveil.methods.histories.found import FoundLabels
from setveil.methods.histories.hold_back import smallest, without
from setveil.rows.data.people import Appearance, SeriesPeople
from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class NextRelease:
    """The next release without those who have to be withheld, joined to the earlier ones."""

    joined: Joined
    held: Ints
    hierarchy: Hierarchy
    items: tuple[str, ...]

    def found(self, image: Ids, lower: int, seconds: float) -> FoundLabels:
        """Say what an image is as labels; `lower`: proven least loss beyond that of the finest one."""
        forest = self.joined.forest
        cost, least = forest.cost(image), forest.least() + lower
        labels, cut = labels_of(forest, image, self.hierarchy, self.items, 0)
        return FoundLabels(
            labels,
            cut,
            cost / forest.whole(),
            min(least, cost) / forest.whole(),
            least >= cost,
            seconds,
            self.held,
            int(forest.occurrences[image < 0].sum()),
        )


def prepare(
    earlier: SeriesPeople,
    people: Ints,
    indptr: Ints,
    items: Ids,
    promise: SeriesAnonymity,
    hierarchy: Hierarchy,
    start_cut: Ids | None,
) -> NextRelease:
    """Hold back who has to be, and join the rest of the next release to the earlier ones."""
    n_items = len(earlier.items)
    last = Appearance(people, indptr, items, np.full(n_items, -1, np.int32))
    before, n_people = earlier.releases, max(earlier.n_people, int(people.max(initial=-1)) + 1)
    held = smallest(SeriesPeople((*before, last), earlier.items, n_people), promise)
    last = without(last, np.isin(people, held))
    forest = grow(hierarchy, earlier.items, [np.bincount(last.items, minlength=n_items)], start=start_cut)
    new = len(before)
    return NextRelease(
        join((*before, last), n_people, n_items, promise, forest, [new], new), held, hierarchy, earlier.items
    )


def labels_of(
    forest: LabelForest, image: Ids, hierarchy: Hierarchy, items: tuple[str, ...], tree: int
) -> tuple[Ids, list[int]]:
    """Say what each item of the series is published as in a release, and which nodes are."""
    leaf = forest.leaf[tree]
    shown = np.where(image >= 0, forest.node[image], -1)
    labels = (
        np.where(leaf >= 0, shown[leaf], -1).astype(np.int32)
        if shown.size
        else np.full(leaf.size, -1, np.int32)
    )
    cut = sorted({v for v in labels.tolist() if v >= 0})
    published = set(cut)
    for i in np.flatnonzero(leaf < 0).tolist():
        if items[i] in hierarchy:  # nobody has it: what it would be
            node = hierarchy.id(items[i])
            chain = [node, *hierarchy.ancestors(node)]
            labels[i] = next((v for v in chain if v in published), node)
    return labels, cut
