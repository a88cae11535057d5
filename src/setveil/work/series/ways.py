"""The ways to publish again: whose rows go out, and under which labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, faces
from setveil.base.progress import Progress, silent
from setveil.base.wording import count
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.judges.guarantees.verify.series import newly_exposed
from setveil.judges.utility.lm import lm
from setveil.kernels.rows import frozen, take_rows
from setveil.methods import algorithms
from setveil.releases.published.mapping import recoding_of_image
from setveil.rows.data.people import Appearance, SeriesPeople
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.series.ledger import Ledger
from setveil.work.series.people import People
from setveil.work.series.state import State, published_state, rows_in_numbers, state_of

if TYPE_CHECKING:
    from setveil.methods.histories.found import FoundLabels
    from setveil.releases.published.recoding import Recoding

NEEDED, FOUND, RETURNERS, NONE = "needed", "found", "returners", "none"
HOLD_BACK = (NEEDED, FOUND, RETURNERS, NONE)
SEARCHES = ("exact", "greedy")

Image = dict[str, str | None]
Own = tuple[Image, dict[str, Any]]  # labels, and how good they are


@dataclass(frozen=True, eq=False)
class Way:
    """A release that could be published next."""

    name: str
    people: list[str]  # whose rows go out
    data: Transactions  # what they have, in that order
    image: Image  # the label of each item
    held: list[str]  # who is held back
    lm: float
    left_out: int  # occurrences of items that are left out
    names_kept: int  # items that are published as themselves
    proven: bool
    gap: float
    seconds: float


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the search for labels."""

    algorithm: str = SEARCHES[0]
    time_limit: float | None = None
    refine: bool = True  # greedy: make labels finer again where the guarantee still holds
    bound: bool = False  # greedy: find how much less others may lose


@dataclass(frozen=True, eq=False)
class Next:
    """The next release, together with the earlier releases."""

    state: State  # with the people and items of the new rows
    people: list[str]
    data: Transactions
    tree: Hierarchy
    promise: SeriesAnonymity
    how: SearchSettings = field(default_factory=SearchSettings)
    start: Mapping[str, str | None] | None = None  # labels to begin with (--labels-of)
    progress: Progress = silent

    def numbers(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Write the new rows in numbers."""
        return rows_in_numbers(self.people, self.data, self.state.number, self.state.item)

    def series(self, labels: NDArray[np.int32]) -> SeriesPeople:
        """Append the new rows, under some labels, to the series."""
        releases = (*self.state.series.releases, Appearance(*self.numbers(), labels))
        return replace(self.state.series, releases=releases)

    def returning(self) -> set[str]:
        """Say who was in an earlier release."""
        return {code for part in self.state.parts for code in part.people} & set(self.people)


def next_of(
    ledger: Ledger,
    new: People,
    tree: Hierarchy,
    how: SearchSettings,
    start: Mapping[str, str | None] | None = None,
    progress: Progress = silent,
) -> Next:
    """Put new rows next to what was published, which is read again."""
    state = published_state(ledger)
    named = list(zip(state.names, state.parts, strict=True))
    state = state_of(named, new.codes, new.data.vocabulary.labels)
    return Next(state, new.codes, new.data, tree, ledger.promise, how, start, progress)


def searched(problem: Next, name: str, *, hold: bool = True) -> Way:
    """Find labels with the earlier ones as they are; withhold only who must be."""
    from setveil.methods.histories import exact, greedy

    search: Callable[..., FoundLabels] = exact.next_labels
    if problem.how.algorithm == "greedy":
        search = partial(greedy.next_labels, refine=problem.how.refine, bound=problem.how.bound)
    start = None
    if problem.start is not None:
        start = np.array(
            [node_of(problem.tree, problem.start.get(item, item)) for item in problem.state.items], np.int32
        )
    found = search(
        problem.state.series, *problem.numbers(), problem.promise, problem.tree, start_cut=start,
        time_limit=problem.how.time_limit, progress=problem.progress,
    )  # fmt: skip
    held = [problem.state.people[p] for p in found.held.tolist()]
    if held and not hold:
        raise InfeasibleError(
            f"Whatever the labels are, {count(len(held), 'person', 'people')} would be exposed: "
            "too few others were in the same releases.",
            hint="Withhold them (--hold-back needed), or publish a register.",
        )
    return of_labels(name, problem, found)


def of_labels(name: str, problem: Next, found: FoundLabels) -> Way:
    """Say what labels that were found are, and what they cost."""
    held = [problem.state.people[p] for p in found.held.tolist()]
    image = {
        item: None if found.labels[at] < 0 else problem.tree.labels[int(found.labels[at])]
        for at, item in enumerate(problem.state.items)
        if item in problem.tree
    }
    return _way(name, problem, image, held, found.proven, found.gap, found.seconds)


def alone(problem: Next, hold: str, *, own: Own | None = None) -> Way:
    """Find the best labels of the new rows by themselves, and withhold whom they would let be found.

    `hold`: "found" withholds the smallest set of people for these labels, "returners" everyone who was in
    an earlier release, before labels are looked for. `own`: the best labels of all rows, where known.
    """
    from setveil.methods.histories.hold_back import smallest

    start = time.perf_counter()
    back = problem.returning() if hold == RETURNERS else set()
    some = without(problem, back)
    image, optimality = own if own is not None and not back else own_labels(some)
    held = sorted(back)
    if hold == FOUND:
        nodes = np.array([node_of(problem.tree, image.get(item)) for item in problem.state.items], np.int32)
        gone = smallest(problem.series(nodes), problem.promise)
        held = [problem.state.people[p] for p in gone.tolist()]
        if len(held) >= len(problem.returning()):
            return alone(problem, RETURNERS)
    gap = float(optimality["gap"])
    seconds = round(time.perf_counter() - start, 4)
    way = _way(hold, problem, image, held, gap == 0, gap, seconds)
    _require_nobody_exposed(problem, way)
    return way


def _require_nobody_exposed(problem: Next, way: Way) -> None:
    """Refuse a way that leaves people below k: too few of those who stay are in the same releases."""
    nodes = np.array([node_of(problem.tree, way.image.get(item)) for item in problem.state.items], np.int32)
    series = without(problem, way.held).series(nodes)
    exposed = int(newly_exposed(series, problem.promise, progress=problem.progress).size)
    if exposed:
        held, found = (count(number, "person", "people") for number in (len(way.held), exposed))
        raise InfeasibleError(
            f"With {held} withheld, {found} of the {len(way.people):,} others would be below "
            f"k = {problem.promise.k}: too few were in the same releases.",
            hint=faces("--hold-back needed", 'hold_back="needed"') + " withholds everyone who would be.",
        )


def own_labels(problem: Next) -> Own:
    """Find the best labels of rows by themselves."""
    how = problem.how
    greedy = how.algorithm == "greedy"
    module = algorithms.load("aa" if greedy else "exact")
    parameters = module.Parameters(refine=how.refine) if greedy else module.Parameters()
    if not greedy and how.time_limit is not None:
        parameters = replace(parameters, time_limit=how.time_limit)
    guarantee = KmAnonymity(problem.promise.k, problem.promise.m)
    if not problem.data.n_occurrences:
        return dict.fromkeys(problem.data.vocabulary.labels), {"gap": 0}
    recoding, details = module.anonymize(problem.data, problem.tree, guarantee, parameters, problem.progress)
    image: Image = dict.fromkeys(recoding.items.labels)
    image |= {item: label for label, items in recoding.members().items() for item in items}
    return image, details.get("optimality") or {"gap": _gap(problem, recoding, guarantee)}


def _gap(problem: Next, recoding: Recoding, guarantee: KmAnonymity) -> float:
    """Find which share of the loss of greedy labels may not be needed; all of it where nobody asks."""
    if not problem.how.bound:
        return 1.0
    exact = algorithms.load("exact")
    terms = exact.Parameters(objective="lm", suppress=True, time_limit=problem.how.time_limit)
    least = exact.bound(problem.data, problem.tree, guarantee, terms, problem.progress)["lower_bound"]
    loss = lm(problem.data, recoding)
    return max(loss - least, 0.0) / loss if loss else 0.0


def without(problem: Next, back: Sequence[str] | set[str]) -> Next:
    """Suppress people in the new rows."""
    out = set(back)
    kept = np.array([at for at, code in enumerate(problem.people) if code not in out], np.int64)
    indptr, items = take_rows(problem.data.indptr, problem.data.items, kept)
    data = Transactions(
        frozen(indptr, np.int64), frozen(items, np.int32), problem.data.vocabulary, problem.data.origin,
        personal=problem.data.personal,
    )  # fmt: skip
    return replace(problem, people=[problem.people[at] for at in kept.tolist()], data=data)


def node_of(tree: Hierarchy, label: str | None) -> int:
    """Return the node of a label, -1 for none."""
    return -1 if label is None or label not in tree else tree.id(label)


def _way(
    name: str, problem: Next, image: Image, held: Sequence[str], proven: bool, gap: float, seconds: float
) -> Way:
    """Say what a way costs."""
    kept = without(problem, held)
    if not kept.people:
        raise InfeasibleError(
            f"All {count(len(held), 'person', 'people')} would have to be withheld: nobody is left.",
            hint="A register, or a smaller k, may do.",
        )
    whole = over_leaves(image, problem.tree)
    supports = dict(zip(kept.data.vocabulary.labels, kept.data.supports().tolist(), strict=True))
    loss = lm(kept.data, recoding_of_image(whole, problem.tree)) if kept.data.n_occurrences else 0.0
    return Way(
        name, kept.people, kept.data, whole, sorted(held), loss,
        sum(n for item, n in supports.items() if whole[item] is None),
        sum(n > 0 and whole[item] == item for item, n in supports.items()),
        proven, gap, seconds,
    )  # fmt: skip


def over_leaves(image: Mapping[str, str | None], tree: Hierarchy) -> Image:
    """Say what every leaf of the hierarchy would be, those included that nobody in the series has."""
    labels = set(image.values()) - {None}
    whole: Image = {}
    for leaf in tree.labels[: tree.n_leaves]:
        if leaf in image:
            whole[leaf] = image[leaf]
        else:
            above = (tree.labels[v] for v in tree.ancestors(tree.id(leaf)))
            whole[leaf] = next((label for label in above if label in labels), leaf)
    return whole
