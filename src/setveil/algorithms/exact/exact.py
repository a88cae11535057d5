"""The proven optimum: the least loss that a cut, with or without suppressed items, can have."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, inf, isfinite
from numbers import Real
from typing import Any

import numpy as np

from setveil.algorithms import AlgorithmInfo
from setveil.algorithms.exact._branch import BranchAndCut
from setveil.algorithms.exact._clauses import Clause
from setveil.algorithms.exact._images import Images, Losses, contracted
from setveil.algorithms.exact._program import Floats, Program
from setveil.algorithms.hghs._suppression import Problem, in_rounds
from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError, RequestError, listed
from setveil.guarantees.km import KmAnonymity
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids
from setveil.progress import Progress, silent
from setveil.published.recoding import Recoding

info = AlgorithmInfo(
    title="Exact optimum",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Least loss of all cuts, by default with suppressed items, proven by an integer program.",
    reference="setveil, docs/exact.md; the model: VLDB 2008, section 3, doi:10.14778/1453856.1453874",
)

PATIENCE = 300.0  # seconds, where no time limit is given
NEW_AT_ONCE = 5000  # clauses taken from one candidate
THRESHOLDS = 0.5, 0.3, 0.7  # above which a value is rounded to 1
GREEDY = 5  # items that an attacker knows, at most, in the greedy search that comes first

Number = int | float | Fraction


@dataclass(frozen=True)
class Parameters:
    """Parameters of the exact algorithm.

    Attributes
    ----------
    objective : {"ncp", "lm"} or None
        Loss to minimize; None: LM with suppression, NCP without.
    suppress : bool
        Allow items to be suppressed, all their occurrences, beside generalization.
    max_suppressed : number between 0 and 1, or None
        Greatest share of the item occurrences that may be suppressed.
    keep : tuple of str
        Items that must be published as themselves.
    weights : mapping of str to number
        Importance of items, at least 0, that multiplies their loss; 1 where not given.
    gap : number
        Stop when the loss is proven to be at most this share above the least possible, 0 (proven least) or
        more.
    time_limit : float or None
        Seconds after which the best release so far is returned with its proven gap; None: 300.
    """

    objective: str | None = None
    suppress: bool = True
    max_suppressed: Number | None = None
    keep: tuple[str, ...] = ()
    weights: Mapping[str, Number] = field(default_factory=dict)
    gap: Number = 0
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.objective not in (None, "ncp", "lm"):
            raise RequestError(f"The objective must be ncp or lm, got {self.objective!r}.")
        if self.max_suppressed is not None:
            _require("The share that may be suppressed", self.max_suppressed, "0 to 1", lambda x: 0 <= x <= 1)
            if not self.suppress:
                raise RequestError("A limit for suppression makes no sense where nothing may be suppressed.")
        _require("The gap", self.gap, "at least 0", lambda x: x >= 0)
        if self.time_limit is not None:
            _require("The time limit", self.time_limit, "a positive number of seconds", lambda x: x > 0)
        for item, weight in self.weights.items():
            _require(f"The weight of {item!r}", weight, "at least 0", lambda x: x >= 0)
        object.__setattr__(self, "keep", tuple(self.keep))

    @property
    def loss(self) -> str:
        """Name of the loss that is minimized."""
        return self.objective or ("lm" if self.suppress else "ncp")


def _require(what: str, value: Any, allowed: str, is_allowed: Callable[[Any], bool]) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or not is_allowed(value):
        raise RequestError(f"{what} must be {allowed}, got {value!r}.")


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: Parameters = Parameters(),
    progress: Progress = silent,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous with the least possible loss.

    Parameters
    ----------
    data : Transactions
        The rows.
    hierarchy : Hierarchy
        Every item must be one of its leaves.
    guarantee : KmAnonymity
        k and m.
    parameters : Parameters
        What to minimize, what is allowed, when to stop.
    progress : Progress
        Hears how far it is; if it requests a stop, the best release so far is returned.

    Returns
    -------
    recoding : Recoding
        From the cut.
    details : dict
        `optimality`: the loss, the proven lower bound, the gap; `suppressed`: the labels that are.

    Raises
    ------
    InfeasibleError
        If there are non-empty rows, but fewer than k; if items to keep cannot be kept; if less than the least
        necessary may be suppressed.
    HierarchyError
        If items are missing from the hierarchy.
    RequestError
        If an item to keep or to weigh does not exist.
    """
    guarantee.require_feasible(data)
    search = _Search(data, hierarchy, guarantee, parameters, progress)
    optimality = search.run()
    nodes, suppressed = search.published(hierarchy)
    names = [hierarchy.labels[v] for v in suppressed]
    recoding = Recoding.from_cut(hierarchy, nodes, suppressed)
    return recoding, {"optimality": optimality, "suppressed": names}


def bound(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: Parameters,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Find the least possible loss without making a release: the `optimality` of `anonymize`."""
    return _Search(data, hierarchy, guarantee, parameters, progress).run()


class _Search:
    """Cuts and suppressed leaves as 0/1 variables, clauses found as needed.

    Variable ``v - n_leaves`` of inner node v is 1 if the cut lies at v or above; variable ``n_inner + l``
    of leaf l is 1 if l is published as a leaf of the cut would be, but suppressed.
    """

    def __init__(
        self,
        data: Transactions,
        hierarchy: Hierarchy,
        guarantee: KmAnonymity,
        parameters: Parameters,
        progress: Progress,
        losses: Losses | None = None,
    ) -> None:
        self.data, self.hierarchy, self.guarantee = data, hierarchy, guarantee
        self.parameters, self.progress = parameters, progress
        self.deadline = time.monotonic() + (parameters.time_limit or PATIENCE)
        hierarchy.locate(data.vocabulary)
        unknown = [x for x in parameters.keep if not _is_leaf(x, hierarchy)]
        if unknown:
            raise RequestError(f"Items to keep that are not in the hierarchy: {listed(unknown)}.")
        unknown = [x for x in parameters.weights if not _is_leaf(x, hierarchy)]
        if unknown:
            raise RequestError(f"Items with a weight that are not in the hierarchy: {listed(unknown)}.")
        self.tree = tree = contracted(hierarchy, {*data.vocabulary.labels, *parameters.keep})
        if losses is None:
            losses = Losses.of(parameters.loss, hierarchy, tree, data, parameters.weights)
        self.kept = sorted({tree.id(x) for x in parameters.keep})
        self.images = Images(data, tree, guarantee, losses, self.kept, parameters.suppress, progress)
        self.n_inner = tree.n_nodes - tree.n_leaves
        self.best: Ids = np.zeros(0, np.int32)
        self.best_cost: int | None = None
        self.excluded: set[int] = set()

    def run(self) -> dict[str, Any]:
        """Search until the best image is proven best, or time is up; the record of the search."""
        self._begin()
        program = self._program()
        low, high = np.zeros(program.n, bool), np.ones(program.n, bool)
        for leaf in self.kept:
            high[[up - self.tree.n_leaves for up in self.tree.ancestors(leaf)]] = False
            high[self.n_inner + leaf :][:1] = False
        search = BranchAndCut(program, _Problem(self, program), self._sizes(), self.n_inner)
        self.progress.stoppable = True
        try:
            if self.parameters.suppress and not self.kept:
                self._greedy()
                self._descend()
            search.run(low, high)
        finally:
            self.progress.stoppable = False
        if search.lower == inf and self.best_cost is None:
            self._refuse_limit()
        if self.best_cost is None:
            raise InfeasibleError(
                "No valid release was found within the time limit.", hint="Raise --time-limit or the limits."
            )
        self._polish()
        best = self.best_cost
        lower = int(min(search.lower, best))
        whole = self.images.losses.whole or 1
        return {
            "objective": self.parameters.loss,
            "model": "cut with suppression" if self.parameters.suppress else "cut",
            "loss": float(Fraction(best, whole)),
            "lower_bound": float(Fraction(lower, whole)),
            "gap": float(Fraction(best - lower, best)) if best else 0.0,
            "proven": lower == best,
            "weighted": bool(self.parameters.weights),
            "limited": bool(self.kept) or self.parameters.max_suppressed is not None,
            "clauses": len(program),
            "rounds": program.solved,
        }

    def published(self, hierarchy: Hierarchy) -> tuple[list[int], list[int]]:
        """List the nodes of the best image's cut in the whole hierarchy, and those suppressed."""
        tree, image = self.tree, self.best
        nodes = [hierarchy.id(tree.labels[v]) for v in self.images.cut_nodes(image)]
        missing = np.ones(hierarchy.n_leaves, bool)
        for v in nodes:
            missing[hierarchy.under(v)] = False
        nodes = sorted([*nodes, *np.flatnonzero(missing).tolist()])
        hidden = np.flatnonzero(image[: tree.n_leaves] < 0).tolist()
        return nodes, sorted(hierarchy.id(tree.labels[leaf]) for leaf in hidden)

    # --- the program

    def _program(self) -> Program:
        tree, n_leaves, losses = self.tree, self.tree.n_leaves, self.images.losses
        inner = range(n_leaves, tree.n_nodes)
        # Moving the cut from the children of v up to v costs the difference; above leaves it was 0.
        costs = [losses.full[v] - sum(losses.full[child] for child in tree.children(v)) for v in inner]
        if self.parameters.suppress:
            costs += [w * losses.worst for w in losses.weight[:n_leaves]]
        program = Program(costs, self.out_of_time)
        program.imply((int(tree.parent[v]) - n_leaves, v - n_leaves) for v in inner if v != tree.root)
        if self.parameters.max_suppressed is not None:
            program.limit([0] * self.n_inner + self.images.occurrences, self._most_suppressed())
        return program

    def _sizes(self) -> Floats:
        """Weigh the variables for the choice of what to branch on: what lies below their nodes."""
        losses, n_leaves = self.images.losses, self.tree.n_leaves
        below = losses.weight[n_leaves:] + (losses.weight[:n_leaves] if self.parameters.suppress else [])
        return np.array(below, np.float64)

    def _most_suppressed(self) -> int:
        share = self.parameters.max_suppressed
        everything = sum(self.images.occurrences)
        return everything if share is None else int(Fraction(str(share)) * everything)

    def image_of(self, values: Floats, threshold: float = 0.5) -> Ids:
        """Round values of the variables to an image."""
        tree, n_leaves = self.tree, self.tree.n_leaves
        image = np.arange(tree.n_nodes, dtype=np.int32)
        up = values[: self.n_inner] > threshold
        if self.parameters.suppress:
            hidden = [leaf for leaf in self.excluded if values[self.n_inner + leaf] > threshold]
            image[hidden] = -1
        for v in sorted(np.flatnonzero(up).tolist(), key=lambda v: -int(tree.depth[v + n_leaves])):
            image[tree.under(v + n_leaves)] = v + n_leaves
        return image

    def out_of_time(self) -> bool:
        """Whether the search should end."""
        return self.progress.stop_requested() or time.monotonic() > self.deadline

    # --- valid images

    def _begin(self) -> None:
        """Find valid images to begin with, and refuse what no image can satisfy."""
        coarsest = self.images.coarsest()
        threat = next(self.images.separator.threats(coarsest, self.progress), None)
        if threat is not None:
            labels = [self.tree.labels[v] for v in threat]
            siblings = "" if self.parameters.suppress else " (what is kept is published beside its siblings)"
            raise InfeasibleError(
                f"The items to keep cannot all be kept{siblings}: {self.guarantee.phrase} forbids to publish "
                f"{listed(labels)} {'together' if len(labels) > 1 else 'at all'}, too few rows hold them.",
                hint="Keep fewer items" + ("." if self.parameters.suppress else ", or allow --suppress."),
            )
        self.take(coarsest)
        finest = np.arange(self.tree.n_nodes, dtype=np.int32)
        if not self.kept:
            self.take(self.images.generalized_further(finest))
        elif self.parameters.suppress:
            self.take(self.images.suppressed_further(finest))
        self._polish()

    def take(self, image: Ids) -> None:
        """Remember a valid image if it is the best so far and within the limits."""
        cost = self.images.cost(image)
        allowed = self.images.hidden(image) <= self._most_suppressed()
        if allowed and (self.best_cost is None or cost < self.best_cost):
            self.best, self.best_cost = image, cost

    def _greedy(self) -> None:
        """Take what mHgHs finds against attackers who know few items, made valid for all."""
        problem = Problem(self.data, self.tree)
        last = min(self.guarantee.size_limit(self.data), GREEDY)
        found = None
        try:
            for _, scenario in in_rounds(problem, self.guarantee, last, self.progress):
                found = scenario
                if self.out_of_time():
                    return
        except RequestError:  # too many threats for its memory
            return
        if found is not None:
            image = np.arange(self.tree.n_nodes, dtype=np.int32)
            for v in found.cut():
                image[self.tree.under(v)] = v
            for v in found.suppressed():
                image[self.tree.under(v)] = -1
            self.take(self.images.brought_back(self.images.suppressed_further(image)))

    def _descend(self) -> None:
        """Suppress what is a threat between the nodes at depth 1, 2, ... until that loses more again.

        Not at the greatest depth: between single items there may be very many threats.
        """
        costs = [inf]
        for depth in range(1, self.tree.height):
            image = self.images.suppressed_further(self.images.at_depth(depth))
            image = self.images.brought_back(image)
            self.take(image)
            costs.append(self.images.cost(image))
            if costs[-1] > costs[-2] or self.out_of_time():
                return

    def _polish(self) -> None:
        """Split nodes of the best image again while it stays valid: that costs nothing, or gains."""
        if self.best_cost is not None:
            self.best = self.images.refined(self.best)
            self.best_cost = self.images.cost(self.best)

    def _refuse_limit(self) -> None:
        """Refuse a limit of suppression that is too low, and name the least that would do."""
        free = replace(self.parameters, max_suppressed=None, objective="lm", weights={}, time_limit=None)
        counted = Losses.suppressed(self.tree, self.data)
        least = _Search(self.data, self.hierarchy, self.guarantee, free, self.progress, counted)
        least.run()
        share = Fraction(least.best_cost or 0, max(sum(self.images.occurrences), 1))
        raise InfeasibleError(
            f"At most {float(self.parameters.max_suppressed or 0):.4%} of the occurrences may be suppressed, "
            "but the items to keep need more.",
            hint=f"--max-suppressed {ceil(share * 10**6) / 10**4}% would do, or keep fewer items.",
        )


def _is_leaf(item: str, hierarchy: Hierarchy) -> bool:
    return item in hierarchy and hierarchy.id(item) < hierarchy.n_leaves


class _Problem:
    """The search as branch and cut sees it."""

    def __init__(self, search: _Search, program: Program) -> None:
        self.search, self.program = search, program
        self.due = 1  # relaxations after which to look for a better image again

    def best(self) -> int | None:
        return self.search.best_cost

    def enough(self, lower: float) -> bool:
        search, best = self.search, self.search.best_cost
        if best is None:
            return lower == inf
        lower = min(lower, best)
        search.progress(f"proving, round {self.program.solved}", float(lower / best) if best else None)
        return bool(best - lower <= Fraction(str(search.parameters.gap)) * best)

    def separate(self, values: Floats) -> bool:
        """Add clauses: of the threats of the rounded values, or else all that are violated."""
        if self._threats(self.search.image_of(values), values):
            return True
        if self.program.solved >= self.due:
            self.due = 2 * self.program.solved
            self._repair(values, 0.5)
        return self._fractional(values)

    def _threats(self, image: Ids, values: Floats) -> bool:
        search, separator = self.search, self.search.images.separator
        before, seen = len(self.program), set()
        for threat in separator.threats(image, search.progress):
            if not search.parameters.suppress:  # threats below the same parents mostly prove the same
                parents = frozenset(separator.parent[v] for v in threat)
                if parents in seen:
                    continue
                seen.add(parents)
            self._add(separator.clauses(threat, search.parameters.suppress))
            if len(self.program) - before > NEW_AT_ONCE or search.out_of_time():
                break
        return self.program.violates(values)

    def _fractional(self, values: Floats) -> bool:
        search, tree = self.search, self.search.tree
        up = np.concatenate((np.zeros(tree.n_leaves), values[: search.n_inner]))
        self._add(search.images.separator.violated(up, self._hidden(values)))
        return self.program.violates(values)

    def _hidden(self, values: Floats) -> Floats | None:
        search = self.search
        if not search.parameters.suppress:
            return None
        named = np.zeros(search.tree.n_leaves)
        some = sorted(search.excluded)
        named[some] = values[search.n_inner :][some]
        return named

    def _add(self, clauses: Iterable[Clause]) -> None:
        search, program = self.search, self.program
        n_inner, n_leaves = search.n_inner, search.tree.n_leaves
        pairs = []
        for above, leaves in clauses:
            for leaf in leaves:
                if leaf not in search.excluded:  # a leaf below the cut is no longer there to be suppressed
                    search.excluded.add(leaf)
                    pairs.append((int(search.tree.parent[leaf]) - n_leaves, n_inner + leaf))
            program.add(tuple([v - n_leaves for v in above] + [n_inner + leaf for leaf in leaves]))
        program.exclude(pairs)

    def offer(self, values: Floats) -> None:
        for threshold in THRESHOLDS:
            if not self.search.out_of_time():
                self._repair(values, threshold)

    def _repair(self, values: Floats, threshold: float) -> None:
        """Make valid images out of what the values round to."""
        search, images = self.search, self.search.images
        image = search.image_of(values, threshold)
        if search.parameters.suppress:
            search.take(images.brought_back(images.suppressed_further(image)))
        if not search.kept:
            search.take(images.generalized_further(image))

    def accept(self, values: Floats) -> bool:
        search = self.search
        image = search.image_of(values)
        if next(search.images.separator.threats(image, search.progress), None) is not None:
            return False
        if search.images.hidden(image) > search._most_suppressed():
            # The solver's arithmetic let too much through: exclude just that.
            hidden = np.flatnonzero(image[: search.tree.n_leaves] < 0).tolist()
            self.program.not_all([search.n_inner + leaf for leaf in hidden])
            return False
        search.take(image)
        return True
