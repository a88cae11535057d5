"""The search for the proven optimum: valid recodings to begin with, then branch and cut."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Any
from weakref import WeakMethod

import numpy as np

from setveil.base.errors import InfeasibleError, RequestError, UnfinishedError, listed
from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids
from setveil.methods.algorithms._cut import Cut, leaf_occurrences
from setveil.methods.algorithms._witness_rows import witness_rows
from setveil.methods.algorithms.exact._candidates import Candidates, contracted
from setveil.methods.algorithms.exact._clauses import Separator
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._losses import Losses, how_far
from setveil.methods.algorithms.exact._single_items import least_loss, may_be_published
from setveil.methods.algorithms.exact._variables import Variables
from setveil.rows.data.sums import is_in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.methods.algorithms.exact._parameters import Exact
    from setveil.methods.algorithms.exact._program import Program
    from setveil.methods.algorithms.exact._rare_leaves import RareLeaves
    from setveil.methods.algorithms.exact._rounding import Rounding
    from setveil.rows.engine.parts import RowsOnDisk

PATIENCE = 300.0  # seconds, where no time limit is given
FIRST = {"entropy-max": ("lm",), "entropy": ("lm", "entropy-max")}  # objectives whose optima are good starts
EACH = 0.5  # share of what is left of the time that the search for one of them may take
GREEDY = 5  # items that an attacker knows, at most, in the greedy search that comes first


class Search:
    """The search for the least loss.

    `losses`, over the contracted hierarchy, replace what the parameters say. `barred` leaves are not
    published as themselves: where the cut does not lie above them they are suppressed, whether or not others
    may be. `low_root`: the root is never published. `everything`: the occurrences of all rows, where the data
    are some of them. `first`: objectives whose optima are looked for first, as good starts.
    """

    def __init__(
        self,
        data: Transactions | RowsOnDisk,
        hierarchy: Hierarchy,
        guarantee: KmAnonymity,
        parameters: Exact,
        progress: Progress,
        losses: Losses | None = None,
        barred: Collection[str] = (),
        *,
        low_root: bool = False,
        everything: int | None = None,
    ) -> None:
        self.data, self.hierarchy, self.guarantee = data, hierarchy, guarantee
        self.parameters, self.progress = parameters, progress
        self.deadline = time.monotonic() + (parameters.time_limit or PATIENCE)
        hierarchy.locate(data.vocabulary)
        _require_leaves(parameters.keep, hierarchy, "Items to keep")
        _require_leaves(parameters.weights, hierarchy, "Items with a weight")
        absent = bool(guarantee.absent)
        if absent:
            from setveil.methods.algorithms.exact._absence import require_more_items

            require_more_items(hierarchy, data.n_rows - data.filled_rows, guarantee)
        self.tree = tree = contracted(
            hierarchy, {*data.vocabulary.labels, *parameters.keep}, barred, telling=absent
        )
        self.first = FIRST.get(parameters.loss, ()) if losses is None else ()
        merges = losses is None and _merges(hierarchy, parameters)
        self._separable = losses is None and not absent and not parameters.certificate
        if losses is None:
            losses = Losses.of(parameters.loss, hierarchy, tree, data, parameters.weights, everything)
        self.of_all, self.untried = everything, 0
        # Witness rows do not show which rows lack an item.
        if absent and is_in_memory(data):
            self.rows = data
        else:
            self.rows = witness_rows(data, guarantee.k, guarantee.m, progress)
        self.of_leaf = leaf_occurrences(data, tree)
        self.merged: RareLeaves | None = None
        if merges:
            from setveil.methods.algorithms.exact._rare_leaves import RareLeaves

            self.merged = RareLeaves(tree, self.rows, guarantee.k)
            self.rows, self.of_leaf = self.merged.rows(self.rows), self.merged.summed(self.of_leaf)
            losses, barred = self.merged.losses(losses), {*barred, *self.merged.members}
            self.tree = tree = self.merged.tree
        self.losses = losses
        self.kept = sorted({tree.id(x) for x in parameters.keep})
        self.barred = sorted(tree.id(x) for x in barred if x in tree)
        self.cut = cut = Cut(self.rows, tree, self.of_leaf)
        self.separator = Separator(cut, guarantee.k, guarantee.m, absent=absent)
        self.candidates = Candidates(
            cut, self.separator, guarantee, losses, self.kept, self.barred, parameters.suppress, progress
        )
        if self.merged is not None:  # below these a leaf would be suppressed
            self.candidates.whole = {int(tree.parent[leaf]) for leaf in self.barred}
        self.everything = sum(losses.occurrences)
        share = Fraction(1 if parameters.max_suppressed is None else parameters.max_suppressed)
        self.most = int(share * self.everything)  # occurrences that may be suppressed
        gap = max(Fraction(str(parameters.gap)), losses.rounded)
        self.incumbent = Incumbent(losses, self.most, gap)
        self.variables = Variables(tree, parameters.suppress, self.barred, low_root=low_root)

    @cached_property
    def program(self) -> Program:
        """What is demanded of the variables, and the solver."""
        return self._program(self.variables)

    def draft(self) -> bool:
        """Find a good candidate and prove nothing of it; whether there is one within the limits.

        The greedy search is about as good as the best of all starts, and takes less than half of the time.
        """
        self._offer_coarsest()
        if not (self.parameters.suppress and not self.kept and self._greedy()):
            self._begin()
            self._look_around()
        self._polish()
        return self.incumbent.cost is not None

    def run(self, start: Ids | None = None) -> dict[str, Any]:
        """Search until the best candidate is proven best, or time is up; the record of the search.

        `start`: the candidate of a draft to begin with, in place of those that are looked for at first.
        """
        if self._solve_single_items(start):
            return self._record(self.incumbent.cost or 0, inf, 0, 0)
        if start is None:
            self._begin()
        else:
            self.incumbent.offer(start)
        if self.incumbent.cost == 0:  # nothing loses less, and no solver has to be loaded to see it
            return self._record(0, 0, 0, 0)
        variables, program = self.variables, self.program
        self.progress.stoppable = True
        try:
            if start is None:
                self._look_around()
            for objective in self.first:
                self._approach(objective, program, variables)
            program.price(variables.costs(self.losses))
            lower = self._minimize(program, variables, self.candidates, self.incumbent)
        finally:
            self.progress.stoppable = False
        if self.incumbent.cost is None:
            if lower == inf:
                self._refuse_limit()
            raise UnfinishedError(
                "No valid release was found within the time limit.", hint="Raise --time-limit or the limits."
            )
        if self.incumbent.candidate is not start:  # which was polished
            self._polish()
        return self._record(self.incumbent.cost, lower, len(program), program.solved)

    def take(self, image: Mapping[str, str | None]) -> None:
        """Take the release of an earlier run as the best: the label of each item, None: it is suppressed."""
        tree, candidate = self.tree, np.arange(self.tree.n_nodes, dtype=np.int32)
        for leaf in range(tree.n_leaves):
            label = image[tree.labels[leaf]]
            candidate[leaf] = -1 if label is None else tree.id(label)
        self.incumbent.put(candidate)

    def allow_as_much_again(self) -> None:
        """Let what follows take as long as the search might."""
        self.deadline = time.monotonic() + (self.parameters.time_limit or PATIENCE)

    def go_on(self, seconds: float, progress: Progress) -> None:
        """Let what follows take some seconds, and tell another listener: a draft is to be proven."""
        self.deadline = time.monotonic() + seconds
        self.progress = self.candidates.progress = progress

    def published(self) -> tuple[list[int], list[int]]:
        """List the nodes of the best candidate's cut in the whole hierarchy, and those suppressed."""
        hierarchy, best = self.hierarchy, self.incumbent.candidate
        nodes = [hierarchy.id(x) for v in self.candidates.cut_nodes(best) for x in self._stood_for(v)]
        missing = np.ones(hierarchy.n_leaves, bool)
        for v in nodes:
            missing[hierarchy.under(v)] = False
        nodes = sorted([*nodes, *np.flatnonzero(missing).tolist()])
        suppressed = self.candidates.suppressed_leaves(best)
        return nodes, sorted(hierarchy.id(x) for leaf in suppressed for x in self._stood_for(leaf))

    def _stood_for(self, node: int) -> list[str]:
        """List what a node of the tree that is searched is in the hierarchy: itself, or several leaves."""
        label = self.tree.labels[node]
        return [label] if self.merged is None else self.merged.of(label)

    def _minimize(
        self, program: Program, variables: Variables, candidates: Candidates, incumbent: Incumbent
    ) -> float:
        """Search until the best candidate is proven best, or time is up; the proven lower bound."""
        from setveil.methods.algorithms.exact._branch import BranchAndCut
        from setveil.methods.algorithms.exact._rounding import Rounding

        rounding = Rounding(program, variables, self.separator, candidates, incumbent)
        sizes = variables.sizes(incumbent.losses)
        search = BranchAndCut(
            program, rounding, incumbent, sizes, variables.stages, self.progress, untried=self.untried
        )
        search.run(*variables.bounds(self.kept))
        return search.lower

    def _approach(self, objective: str, program: Program, variables: Variables) -> None:
        """Take the optimum by another objective as a candidate, and the clauses that its search finds."""
        losses = Losses.of(
            objective, self.hierarchy, self.tree, self.data, self.parameters.weights, self.of_all
        )
        incumbent = Incumbent(losses, self.most, self.incumbent.gap)
        if self.incumbent.cost is not None:
            incumbent.offer(self.incumbent.candidate)
        candidates = Candidates(
            self.cut,
            self.separator,
            self.guarantee,
            losses,
            self.kept,
            self.barred,
            self.parameters.suppress,
            self.progress,
        )
        program.price(variables.costs(losses))
        end, now = self.deadline, time.monotonic()
        self.deadline = now + (end - now) * EACH
        self._minimize(program, variables, candidates, incumbent)
        self.deadline = end
        if incumbent.cost is not None:
            self.incumbent.offer(candidates.refined(incumbent.candidate))

    def _program(self, variables: Variables) -> Program:
        from setveil.methods.algorithms.exact._program import Program

        # Strongly, the search would be in a cycle with the solver, and its memory held until that is found.
        out_of_time = WeakMethod(self._out_of_time)
        program = Program(variables.costs(self.losses), lambda: (ends := out_of_time()) is None or ends())
        program.imply(variables.implications())
        for leaf in self.barred:  # suppressed, or below the cut, as a leaf in too few rows is
            program.exclude(variables.name((leaf,)))
            program.add(variables.of_clause(((int(self.tree.parent[leaf]),), (leaf,))))
        if self.parameters.max_suppressed is not None:
            program.limit(variables.amounts(self.losses), self.most)
        return program

    def rounding(self) -> Rounding:
        """Make what finds clauses, and nothing else."""
        from setveil.methods.algorithms.exact._rounding import Rounding

        best = self.incumbent
        return Rounding(self.program, self.variables, self.separator, self.candidates, best, repairs=False)

    def _out_of_time(self) -> bool:
        """Whether the search should end."""
        stopped = self.progress.stoppable and self.progress.stop_requested()
        return stopped or time.monotonic() > self.deadline

    def _record(self, best: int, proven: float, clauses: int, rounds: int) -> dict[str, Any]:
        lower = int(min(proven, best))
        if best - lower <= self.losses.rounded * best:
            lower = best
        return {
            "objective": self.parameters.loss,
            "model": "cut with suppression" if self.parameters.suppress else "cut",
            **how_far(best, lower, self.losses.whole),
            "weighted": bool(self.parameters.weights),
            "limited": bool(self.kept) or self.parameters.max_suppressed is not None,
            "clauses": clauses,
            "rounds": rounds,
        }

    def _solve_single_items(self, start: Ids | None) -> bool:
        """Take the optimum (or `start` if as good) where threats are single nodes; False: search for it."""
        tree, separator = self.tree, self.separator
        if not self._separable or min(self.guarantee.m, separator.longest) > 1:
            return False
        self._offer_coarsest()  # or the items to keep are refused
        may = may_be_published(tree, separator.supports(), self.guarantee.k, self.kept, self.barred)
        free = np.full(tree.n_leaves, self.parameters.suppress)
        free[self.kept], free[self.barred] = False, True
        candidate = self.candidates.of_cut(*least_loss(tree, self.losses, may, free))
        if not self.incumbent.allows(candidate):
            return False
        if start is not None and self.losses.cost(start) == self.losses.cost(candidate):
            candidate = start
        self.incumbent.put(candidate)
        return True

    # --- candidates before the program is solved

    def _begin(self) -> None:
        """Find valid candidates to begin with, and refuse what no candidate can satisfy."""
        self._offer_coarsest()
        finest = self.candidates.finest()
        if not self.kept:
            self.incumbent.offer(self.candidates.generalized_further(finest))
        elif self.parameters.suppress:
            self.incumbent.offer(self.candidates.suppressed_further(finest))
        self._polish()

    def _offer_coarsest(self) -> None:
        """Begin with what publishes least; refuse items to keep that even so cannot all be kept."""
        coarsest = self.candidates.coarsest()
        threat = next(self.candidates.threats(coarsest), None)
        if threat is not None:
            self._require_absent_kept(threat)
            labels = [self.tree.labels[v] for v in threat]
            siblings = (
                "" if self.parameters.suppress else " (kept items are published next to their siblings)"
            )
            raise InfeasibleError(
                f"The items to keep cannot all be kept{siblings}: {self.guarantee.phrase} forbids publishing "
                f"{listed(labels)} {'together' if len(labels) > 1 else 'at all'}: too few rows contain "
                f"{'them' if len(labels) > 1 else 'it'}.",
                hint="Keep fewer items" + ("." if self.parameters.suppress else ", or allow --suppress."),
            )
        self.incumbent.offer(coarsest)

    def _require_absent_kept(self, threat: list[int]) -> None:
        """Raise an error if an item to keep reveals too much by its absence."""
        from setveil.methods.algorithms.exact._absence import LackedLeaf

        if not isinstance(threat, LackedLeaf):
            return
        *known, absent = (self.tree.labels[v] for v in threat)
        rows = f"rows contain {listed(known)} without it" if known else "rows lack it"
        raise InfeasibleError(
            f"The items to keep cannot all be kept: {self.guarantee.phrase} forbids publishing {absent!r} as "
            f"itself{' with the items to keep' if known else ''}: too few {rows}.",
            hint="Keep fewer items, or omit the guarantee about absent items.",
        )

    def _look_around(self) -> None:
        """Look for good candidates with what is quick."""
        if self.parameters.suppress and not self.kept:
            self._greedy()
            self._descend()

    def _greedy(self) -> bool:
        """Take what mHgHs finds against attackers who know few items, made valid for all; whether it is."""
        from setveil.methods.algorithms.hghs._suppression import CutSpace, in_rounds

        space = CutSpace(self.rows, self.tree, self.of_leaf)
        last = int(min(self.guarantee.rounds, self.guarantee.size_limit(self.rows), GREEDY))
        found = None
        try:
            for _, scenario in in_rounds(space, self.guarantee, last, self.progress):
                found = scenario
                if self._out_of_time():
                    return False
        except RequestError:  # too many threats for its memory
            return False
        if found is None:
            return False
        candidate = self.candidates.of_cut(found.cut(), found.suppressed())
        candidate = self.candidates.brought_back(self.candidates.suppressed_further(candidate))
        self.incumbent.offer(candidate)
        return self.incumbent.allows(candidate)

    def _descend(self) -> None:
        """Suppress threats between nodes at depth 1, 2, ... until that loses more again.

        Not at the greatest depth: between single items there may be very many threats.
        """
        costs = [inf]
        for depth in range(1, self.tree.height):
            candidate = self.candidates.suppressed_further(self.candidates.at_depth(depth))
            candidate = self.candidates.brought_back(candidate)
            self.incumbent.offer(candidate)
            costs.append(self.losses.cost(candidate))
            if costs[-1] > costs[-2] or self._out_of_time():
                return

    def _polish(self) -> None:
        """Split nodes of the best candidate again while it stays valid, unless barred leaves lie below."""
        if self.incumbent.cost is not None:
            refined = self.candidates.refined(self.incumbent.candidate)
            if self.losses.cost(refined) <= self.incumbent.cost:
                self.incumbent.put(refined)

    def _refuse_limit(self) -> None:
        """Refuse a limit of suppression that is too low, and name the least that would do."""
        free = replace(self.parameters, max_suppressed=None, objective="lm", weights={}, time_limit=None)
        counted = Losses.of_suppression(self.tree, self.data)
        least = Search(self.data, self.hierarchy, self.guarantee, free, self.progress, counted)
        least.run()
        share = Fraction(least.incumbent.cost or 0, max(self.everything, 1))
        raise InfeasibleError(
            f"At most {float(self.parameters.max_suppressed or 0):.4%} of the occurrences may be suppressed, "
            "but the items to keep need more.",
            hint=f"--max-suppressed {ceil(share * 10**6) / 10**4}% would do, or keep fewer items.",
        )


def _merges(hierarchy: Hierarchy, parameters: Exact) -> bool:
    """Whether leaves that cannot be published are merged before the search: with several columns of facts.

    That is always sound, but may find another release of equal loss, and these have the largest programs.
    """
    several = hierarchy.n_columns > 1
    free = parameters.suppress and not parameters.keep and parameters.max_suppressed is None
    return several and free and not parameters.certificate and parameters.loss not in FIRST


def _require_leaves(items: Iterable[str], hierarchy: Hierarchy, what: str) -> None:
    unknown = [x for x in items if not (x in hierarchy and hierarchy.id(x) < hierarchy.n_leaves)]
    if unknown:
        raise RequestError(f"{what} that are not in the hierarchy: {listed(unknown)}.")
