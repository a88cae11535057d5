"""The proven optimum: the least loss that a cut, with or without suppressed items, can have."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import ceil, isfinite, lcm
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms import AlgorithmInfo, aa
from setveil.algorithms._clauses import Separator
from setveil.algorithms._cut import Cut
from setveil.algorithms._program import Program
from setveil.algorithms._refine import refine
from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError, RequestError, listed
from setveil.guarantees.km import KmAnonymity
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids
from setveil.progress import Progress, silent
from setveil.recoding import Recoding
from setveil.release import Release

info = AlgorithmInfo(
    title="Exact optimum",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Least loss of all cuts, by default with suppressed items, proven by an integer program.",
    reference="setveil, docs/exact.md; the model: VLDB 2008, section 3, doi:10.14778/1453856.1453874",
)

PATIENCE = 300.0  # seconds, where no time limit is given
NEW_AT_ONCE = 5000  # clauses taken from one candidate

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
    seed: int = 0,
    progress: Progress = silent,
) -> Release:
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
    seed : int
        Shuffles the published rows; the recoding does not depend on it.
    progress : Progress
        Hears how far it is; if it requests a stop, the best release so far is returned.

    Returns
    -------
    Release
        Its details hold `optimality`: the loss, the proven lower bound, the gap.

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
    image = search.best
    nodes = search.cut_nodes(image)
    suppressed = [v for v in nodes if v < hierarchy.n_leaves and image[v] < 0]
    names = [hierarchy.labels[v] for v in suppressed]
    recoding = Recoding.from_cut(hierarchy, nodes, suppressed)
    return Release.make(data, recoding, seed, {"optimality": optimality, "suppressed": names})


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
    of leaf l is 1 if l is published as a leaf of the cut would be, but suppressed. An `image` is the same
    thing as an array: for each leaf the node of the cut above it, or -1 if the leaf is suppressed.
    """

    def __init__(
        self,
        data: Transactions,
        tree: Hierarchy,
        guarantee: KmAnonymity,
        parameters: Parameters,
        progress: Progress,
    ) -> None:
        self.data, self.tree, self.guarantee = data, tree, guarantee
        self.parameters, self.progress = parameters, progress
        self.deadline = time.monotonic() + (parameters.time_limit or PATIENCE)
        self.cut = Cut(data, tree)
        self.separator = Separator(self.cut, guarantee.k, guarantee.m)
        self.n_inner = tree.n_nodes - tree.n_leaves
        self.occurrences: list[int] = np.bincount(self.cut.leaf_rows[1], minlength=tree.n_leaves).tolist()
        self.kept = self._leaves_of(parameters.keep, "to keep")
        self._set_costs()
        self.best: Ids = np.zeros(0, np.int32)
        self.best_cost: int | None = None
        self.excluded: set[int] = set()
        self.rounds = 0

    def _leaves_of(self, items: tuple[str, ...], what: str) -> list[int]:
        tree = self.tree
        unknown = [x for x in items if x not in tree or tree.id(x) >= tree.n_leaves]
        if unknown:
            raise RequestError(f"Items {what} that are not in the hierarchy: {listed(unknown)}.")
        return sorted({tree.id(x) for x in items})

    def _set_costs(self) -> None:
        tree, loss = self.tree, self.parameters.loss
        weights = {
            leaf: Fraction(str(self.parameters.weights[tree.labels[leaf]]))
            for leaf in self._leaves_of(tuple(self.parameters.weights), "with a weight")
        }
        scale = lcm(*(w.denominator for w in weights.values()))
        self.weight = [int(weights.get(leaf, 1) * scale) * o for leaf, o in enumerate(self.occurrences)]
        counts = tree.leaf_counts.tolist()
        if loss == "ncp":
            self.worst = tree.n_leaves
            self.per_occurrence = [count if count > 1 else 0 for count in counts]
        else:
            self.worst = max(tree.n_leaves - 1, 1)
            self.per_occurrence = [count - 1 for count in counts]
        total = [*self.weight, *(0 for _ in range(self.n_inner))]
        for v in sorted(range(tree.n_nodes), key=lambda v: -int(tree.depth[v])):
            if tree.parent[v] >= 0:
                total[int(tree.parent[v])] += total[v]
        self.node_weight = total
        self.full = [w * c for w, c in zip(total, self.per_occurrence, strict=True)]

    def cost(self, image: Ids) -> int:
        """Loss of an image times `worst` times the weight of all occurrences: an integer."""
        return sum(
            w * (self.per_occurrence[to] if to >= 0 else self.worst)
            for w, to in zip(self.weight, image[: self.tree.n_leaves].tolist(), strict=True)
        )

    def run(self) -> dict[str, Any]:
        """Search until the best image is proven best, or time is up; the record of the search."""
        self._begin()
        program = self._program()
        self.progress.stoppable = True
        try:
            proven = self._prove(program)
        finally:
            self.progress.stoppable = False
        if program.infeasible:
            self._refuse_limit()
        if self.best_cost is None:
            raise InfeasibleError(
                "No valid release was found within the time limit.", hint="Raise --time-limit or the limits."
            )
        self._polish()
        best = self.best_cost
        lower = best if proven else self._lower(program)
        whole = self.worst * sum(self.weight) or 1
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
            "rounds": self.rounds,
        }

    def _prove(self, program: Program) -> bool:
        """Add clauses until the best solution under them is valid; whether that is the proven optimum."""
        while not self._close_enough(program):
            self.rounds += 1
            relaxed = program.relax(self.deadline)
            if relaxed is None:
                return False
            self.progress(f"proving, round {self.rounds}", self._done(program))
            self._separate(program, self._image(relaxed))
            if program.admit(relaxed):
                continue
            values = program.solve(self.deadline, self._vector(self.best) if self.best.size else None)
            if values is None:
                return False
            image = self._image(values)
            if not self._separate(program, image):
                if self._hidden(image) <= self._most_suppressed():
                    self._take(image)
                    return program.exact
                # The solver's arithmetic let too much through: exclude just that.
                hidden = np.flatnonzero(image[: self.tree.n_leaves] < 0).tolist()
                program.not_all([self.n_inner + int(leaf) for leaf in hidden])
            for repaired in self._repairs(image):
                self._take(repaired)
        return False

    # --- the program

    def _program(self) -> Program:
        tree, n_leaves = self.tree, self.tree.n_leaves
        inner = range(n_leaves, tree.n_nodes)
        # Moving the cut from the children of v up to v costs the difference; above leaves it was 0.
        costs = [self.full[v] - sum(self.full[child] for child in tree.children(v)) for v in inner]
        if self.parameters.suppress:
            costs += [w * self.worst for w in self.weight]
        program = Program(costs, self.progress.stop_requested)
        program.imply((int(tree.parent[v]) - n_leaves, v - n_leaves) for v in inner if v != tree.root)
        for leaf in self.kept:
            program.forbid(up - n_leaves for up in tree.ancestors(leaf))
            if self.parameters.suppress:
                program.forbid([self.n_inner + leaf])
        if self.parameters.max_suppressed is not None:
            program.limit([0] * self.n_inner + self.occurrences, self._most_suppressed())
        return program

    def _most_suppressed(self) -> int:
        share = self.parameters.max_suppressed
        everything = sum(self.occurrences)
        return everything if share is None else int(Fraction(str(share)) * everything)

    def _image(self, values: NDArray[np.float64]) -> Ids:
        """Round values of the variables to an image."""
        tree, n_leaves = self.tree, self.tree.n_leaves
        image = np.arange(tree.n_nodes, dtype=np.int32)
        up = values[: self.n_inner] > 0.5
        if self.parameters.suppress:
            hidden = [leaf for leaf in self.excluded if values[self.n_inner + leaf] > 0.5]
            image[hidden] = -1
        for v in sorted(np.flatnonzero(up).tolist(), key=lambda v: -int(tree.depth[v + n_leaves])):
            image[tree.under(v + n_leaves)] = v + n_leaves
        return image

    def _vector(self, image: Ids) -> NDArray[np.float64]:
        """Write an image as values of the variables."""
        tree, n_leaves = self.tree, self.tree.n_leaves
        values = np.zeros(self.n_inner + (n_leaves if self.parameters.suppress else 0))
        tops = {int(v) for v in image[:n_leaves] if v >= n_leaves}
        for v in range(n_leaves, tree.n_nodes):
            if v in tops or not tops.isdisjoint(tree.ancestors(v)):
                values[v - n_leaves] = 1.0
        if self.parameters.suppress:
            values[self.n_inner :][image[:n_leaves] < 0] = 1.0
        return values

    def _separate(self, program: Program, image: Ids) -> bool:
        """Add clauses that an image breaks; whether it breaks any, so is not valid."""
        before = len(program)
        broken = False
        seen = set()
        for threat in self.separator.threats(image, self.progress):
            broken = True
            if not self.parameters.suppress:  # threats below the same parents mostly prove the same
                parents = frozenset(self.separator.parent[v] for v in threat)
                if parents in seen:
                    continue
                seen.add(parents)
            for above, leaves in self.separator.clauses(threat, self.parameters.suppress):
                for leaf in leaves:
                    if leaf not in self.excluded:  # a leaf below the cut is no longer there to be suppressed
                        self.excluded.add(leaf)
                        program.exclude(
                            [(int(self.tree.parent[leaf]) - self.tree.n_leaves, self.n_inner + leaf)]
                        )
                variables = [v - self.tree.n_leaves for v in above] + [self.n_inner + leaf for leaf in leaves]
                program.add([tuple(variables)])
            if len(program) - before > NEW_AT_ONCE or self._out_of_time():
                break
        return broken

    def _out_of_time(self) -> bool:
        return self.progress.stop_requested() or time.monotonic() > self.deadline

    # --- valid images

    def _begin(self) -> None:
        """Find valid images to begin with, and refuse what no image can satisfy."""
        coarsest = self._coarsest()
        threat = next(self.separator.threats(coarsest, self.progress), None)
        if threat is not None:
            labels = [self.tree.labels[v] for v in threat]
            siblings = "" if self.parameters.suppress else " (what is kept is published beside its siblings)"
            raise InfeasibleError(
                f"The items to keep cannot all be kept{siblings}: {self.guarantee.phrase} forbids to publish "
                f"{listed(labels)} {'together' if len(labels) > 1 else 'at all'}, too few rows hold them.",
                hint="Keep fewer items" + ("." if self.parameters.suppress else ", or allow --suppress."),
            )
        self._take(coarsest)
        for repaired in self._repairs(np.arange(self.tree.n_nodes, dtype=np.int32)):
            self._take(repaired)
        self._polish()

    def _refuse_limit(self) -> None:
        """Refuse a limit of suppression that is too low, and name the least that would do."""
        free = replace(self.parameters, max_suppressed=None, objective="lm", weights={}, time_limit=None)
        least = _LeastSuppressed(self.data, self.tree, self.guarantee, free, self.progress)
        least.run()
        share = Fraction(least.best_cost or 0, max(sum(self.occurrences), 1))
        raise InfeasibleError(
            f"At most {float(self.parameters.max_suppressed or 0):.4%} of the occurrences may be suppressed, "
            "but the items to keep need more.",
            hint=f"--max-suppressed {ceil(share * 10**6) / 10**4}% would do, or keep fewer items.",
        )

    def _coarsest(self) -> Ids:
        """Make the image that publishes least: the items to keep, the rest suppressed or at its highest."""
        tree = self.tree
        image = np.arange(tree.n_nodes, dtype=np.int32)
        if not self.kept:
            image[:] = tree.root
            return image
        if self.parameters.suppress:
            image[: tree.n_leaves][np.array(self.occurrences) > 0] = -1
            image[self.kept] = self.kept
            return image
        open_nodes = {up for leaf in self.kept for up in tree.ancestors(leaf)}
        for v in open_nodes:
            for child in tree.children(v):
                if child not in open_nodes:
                    image[tree.under(child)] = child
        return image

    def _take(self, image: Ids) -> None:
        """Remember a valid image if it is the best so far and within the limits."""
        cost = self.cost(image)
        allowed = self._hidden(image) <= self._most_suppressed()
        if allowed and (self.best_cost is None or cost < self.best_cost):
            self.best, self.best_cost = image, cost

    def _hidden(self, image: Ids) -> int:
        """Count the occurrences that an image suppresses."""
        return sum(o for o, to in zip(self.occurrences, image.tolist(), strict=False) if to < 0)

    def _polish(self) -> None:
        """Split nodes of the best image again while it stays valid: that costs nothing, or gains."""
        if self.best_cost is None:
            return
        published = self.cut.fresh()
        published.drop(np.flatnonzero(self.best[: self.tree.n_leaves] < 0).tolist())
        image = self.best.copy()
        for v in refine(published, self.cut_nodes(self.best), self.guarantee, self.progress):
            image[self.tree.under(v)] = v
        image[: self.tree.n_leaves][self.best[: self.tree.n_leaves] < 0] = -1
        self.best, self.best_cost = image, self.cost(image)

    def _repairs(self, image: Ids) -> Iterator[Ids]:
        """Make valid images out of one that is not: by generalizing further, and by suppressing more."""
        if not self.kept:
            cut = self.cut.fresh()
            cut.generalize(v for v in self.cut_nodes(image) if v >= self.tree.n_leaves)
            cut.image[: self.tree.n_leaves][image[: self.tree.n_leaves] < 0] = -1
            while aa.find_cut(cut, self.guarantee, self.progress)[1]["generalization_steps"]:
                pass  # generalizing brings suppressed items back, and they may be rare in their turn
            yield cut.image
        if self.parameters.suppress:
            yield self._suppressed_further(image)

    def _suppressed_further(self, image: Ids) -> Ids:
        """Suppress nodes until no threat is left: those in most threats for the loss they add, first."""
        tree, image = self.tree, image.copy()
        kept = set(self.kept)
        while threats := list(self.separator.threats(image, self.progress)):
            members: dict[int, set[int]] = {}
            for number, threat in enumerate(threats):
                for v in threat:
                    if v not in kept:
                        members.setdefault(v, set()).add(number)
            price = {v: self.node_weight[v] * (self.worst - self.per_occurrence[v]) or 1 for v in members}
            queue = [(Fraction(price[v], len(ts)), v) for v, ts in members.items()]
            heapify(queue)
            left = set(range(len(threats)))
            while left:
                ratio, v = heappop(queue)
                members[v] &= left
                if not members[v]:
                    continue
                now = Fraction(price[v], len(members[v]))
                if now > ratio:
                    heappush(queue, (now, v))
                    continue
                left -= members[v]
                image[tree.under(v)] = -1
        return image

    def cut_nodes(self, image: Ids) -> list[int]:
        """List the nodes of an image's cut, suppressed leaves included."""
        leaves = image[: self.tree.n_leaves]
        nodes: list[int] = np.unique(np.where(leaves >= 0, leaves, np.arange(leaves.size))).tolist()
        return nodes

    # --- bounds

    def _lower(self, program: Program) -> int:
        """Return the greatest proven lower bound: the solver's less its tolerance, up to the next cost."""
        units = program.bound / program.unit
        least = ceil(units - 1e-6 - 1e-9 * abs(units)) * program.unit
        return min(max(least, 0), self.best_cost or 0)

    def _close_enough(self, program: Program) -> bool:
        if self.best_cost is None:
            return False
        return self.best_cost - self._lower(program) <= Fraction(str(self.parameters.gap)) * self.best_cost

    def _done(self, program: Program) -> float | None:
        return self._lower(program) / self.best_cost if self.best_cost else None


class _LeastSuppressed(_Search):
    """The same search, but for the least number of occurrences suppressed."""

    def _set_costs(self) -> None:
        self.worst = 1
        self.per_occurrence = [0] * self.tree.n_nodes
        self.weight = list(self.occurrences)
        self.node_weight = [0] * self.tree.n_nodes
        self.full = [0] * self.tree.n_nodes
