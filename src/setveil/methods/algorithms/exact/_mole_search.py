"""The least loss of coherence without a hierarchy: a hitting set over the minimal moles."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf, lcm
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, RequestError, UnfinishedError, listed, shorten
from setveil.base.progress import Progress
from setveil.kernels.rows import Ids, Ints, frozen, invert
from setveil.methods.algorithms.coherence import mm
from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit
from setveil.methods.algorithms.exact._branch import BranchAndCut
from setveil.methods.algorithms.exact._clauses import TOLERANCE, Floats
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._losses import how_far
from setveil.methods.algorithms.exact._mole_loops import EPSILON, keep_greedily, lift_mole, violated_cliques
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.methods.algorithms.exact._program import Program
from setveil.methods.algorithms.exact._search import PATIENCE

if TYPE_CHECKING:
    from setveil.methods.algorithms.exact._losses import Losses

AT_ONCE = 2000  # moles that enter the program in one step, most violated first
MOST_PAIRS = 1_000_000_000  # of items, to know of each whether it is a mole
LIFTED = 500  # moles, most violated first, that are extended in one step
DRAWS = 20  # greedy releases around a fractional one


@dataclass(frozen=True)
class ItemLosses:
    """What suppressing some items loses (see `Losses`); a candidate is 1 where an item is suppressed."""

    costs: Ints | list[int]
    occurrences: Ints
    before: int  # occurrences that are left out in any case

    def cost(self, candidate: Ids) -> int:
        """Loss of a candidate, in addition to the loss in any case."""
        return sum(self.costs[i] for i in np.flatnonzero(candidate).tolist())

    def suppressed(self, candidate: Ids) -> int:
        """Count the occurrences that a candidate suppresses."""
        return self.before + int(self.occurrences[candidate > 0].sum())


class MoleSearch:
    """The search for the public items whose loss is least and without which no mole is left.

    Leaving an item out changes the support of no other set, so a release is coherent if and only if of every
    minimal mole an item is suppressed: the `certain` ones, which are moles alone, and some of `items`.
    """

    def __init__(self, split: PublicPrivateSplit, parameters: Exact, progress: Progress) -> None:
        self.split, self.parameters, self.progress = split, parameters, progress
        self.deadline = time.monotonic() + (parameters.time_limit or PATIENCE)
        data, labels = split.data, split.data.vocabulary.labels
        self._require_items()
        moles = split.minimal_moles(progress=progress)
        self.certain: list[int] = np.union1d(split.rare, split.betraying).tolist()
        self.items: Ints = np.unique(moles.items).astype(np.int64)
        place = np.full(data.n_items, -1, np.int32)
        place[self.items] = np.arange(self.items.size)
        self.starts, self.members = moles.indptr, frozen(place[moles.items], np.int32)
        self.item_starts, self.moles_of, _ = invert(self.starts, self.members, self.items.size)
        self.sizes = np.diff(self.starts)

        exact = {item: Fraction(str(weight)) for item, weight in parameters.weights.items()}
        scale = lcm(*(weight.denominator for weight in exact.values()))
        counts = np.minimum(split.support, 1) if parameters.objective == "items" else split.support
        each = [int(exact.get(label, 1) * scale) * int(n) for label, n in zip(labels, counts, strict=True)]
        self.costs = [each[i] for i in self.items.tolist()]
        self.whole, self.lost = sum(each), sum(each[i] for i in self.certain)
        occurrences = split.support[self.items]
        losses = ItemLosses(self.costs, occurrences, int(split.support[self.certain].sum()))
        share = Fraction(1 if parameters.max_suppressed is None else parameters.max_suppressed)
        self.limit = int(share * data.n_occurrences)
        self.incumbent = Incumbent(cast("Losses", losses), self.limit, Fraction(str(parameters.gap)))
        kept = set(parameters.keep)
        self.kept = np.array([labels[i] in kept for i in self.items.tolist()], bool)
        self._refuse_kept(kept)
        self.near = self._pairs()
        self.heavy = np.argsort(-np.array(self.costs, np.float64), kind="stable").astype(np.int64)

    def run(self) -> dict[str, Any]:
        """Search until the best release is proven best, or time is up; the record of the search."""
        self.program = program = Program(self.costs, self._out_of_time)
        if self.parameters.max_suppressed is not None:
            occurrences = self.split.support[self.items].tolist()
            program.limit(occurrences, self.limit - int(self.split.support[self.certain].sum()))
        self.progress.stoppable = True
        try:
            self._begin()
            weights = np.array(self.costs, np.float64)
            search = BranchAndCut(program, self, self.incumbent, weights, (), self.progress)
            high = np.where(self.kept, 0, 1).astype(np.uint8)
            if self.items.size:
                search.run(np.zeros_like(high), high)
        finally:
            self.progress.stoppable = False
        return self._record(search.lower if self.items.size else inf)

    def gone(self) -> list[int]:
        """List the items that are suppressed, as ids of the data, in item order."""
        return sorted([*self.certain, *self.items[self.incumbent.candidate > 0].tolist()])

    # --- what branch and cut asks

    def separate(self, values: Floats) -> bool:
        """Add inequalities that values violate; whether there were any."""
        kept = 1 - values
        order = np.argsort(-kept, kind="stable")
        order = order[kept[order] > EPSILON].astype(np.int64)
        found = self._add_cliques(kept, order)
        return self._add_moles(kept, order) or found

    def offer(self, values: Floats) -> None:
        """Look for better releases near values that violate no inequality."""
        rng = np.random.Generator(np.random.PCG64(self.program.solved))
        cost = np.array(self.costs, np.float64)
        for draw in range(DRAWS):
            noise = rng.random(values.size) * draw / DRAWS
            self._offer(np.lexsort((-cost, values + noise)))

    def accept(self, values: Floats) -> bool:
        """Take values that are 0 and 1; False if they are no solution."""
        candidate = np.rint(values).astype(np.int32)
        if self._filled(values).min(initial=inf) < 1 - TOLERANCE:
            return False
        if not self.incumbent.allows(candidate):
            gone = np.flatnonzero(candidate)
            amounts = [0] * values.size
            for i in gone.tolist():
                amounts[i] = 1
            self.program.limit(amounts, gone.size - 1)
            return False
        self.incumbent.offer(candidate)
        return True

    # ---

    def _begin(self) -> None:
        """Take greedy releases: that of MM, and what keeps heavy items first."""
        order, _ = mm.choose_items(self.split, progress=self.progress)
        gone = np.isin(self.items, [item for item, _ in order])
        if not (gone & self.kept).any():
            self._refined(gone)
        cost, many = np.array(self.costs, np.float64), np.diff(self.item_starts)
        for score in (-cost, many, many / np.maximum(cost, 1)):
            self._offer(np.argsort(score, kind="stable"))

    def _offer(self, order: Ints) -> None:
        """Offer what is kept if items are kept in an order, those first that must be."""
        gone = np.ones(self.items.size, bool)
        first = np.flatnonzero(self.kept)
        order = np.concatenate((first, order[~self.kept[order]])).astype(np.int64)
        keep_greedily(order, self.starts, self.members, self.item_starts, self.moles_of, gone)
        self._refined(gone)

    def _refined(self, gone: NDArray[np.bool_]) -> None:
        """Offer a release, with what can be kept also."""
        keep_greedily(self.heavy, self.starts, self.members, self.item_starts, self.moles_of, gone)
        self.incumbent.offer(gone.astype(np.int32))

    def _filled(self, values: Floats) -> Floats:
        """Sum the values over each mole."""
        if not self.members.size:
            return np.zeros(0)
        return np.add.reduceat(values[self.members], self.starts[:-1])

    def _add_cliques(self, kept: Floats, order: Ints) -> bool:
        if self.near is None:
            return False
        out, ends = np.empty(4_000_000, np.int64), np.empty(AT_ONCE, np.int64)
        found = violated_cliques(kept, order, self.near, self.heavy, out, ends)
        before = len(self.program)
        start = 0
        for end in ends[:found].tolist():
            clique = tuple(sorted(out[start:end].tolist()))
            self.program.add(clique, (), len(clique) - 1)
            start = end
        return len(self.program) > before

    def _add_moles(self, kept: Floats, order: Ints) -> bool:
        filled = self._filled(1 - kept)
        violated = np.flatnonzero(filled < 1 - TOLERANCE)
        chosen = violated[np.argsort(filled[violated], kind="stable")[:AT_ONCE]]
        clique, factor = np.empty(self.items.size, np.int64), np.empty(self.items.size, np.int64)
        for number, mole in enumerate(chosen.tolist()):
            members = self.members[self.starts[mole] : self.starts[mole + 1]]
            weight = dict.fromkeys(members.tolist(), 1)
            if self.near is not None and members.size > 2 and number < LIFTED:
                size, _ = lift_mole(members, order, self.near, kept, self.heavy, clique, factor)
                weight |= dict(zip(clique[:size].tolist(), factor[:size].tolist(), strict=True))
            row = tuple(sorted(weight))
            need = 1 + sum(weight.values()) - members.size
            self.program.add(row, tuple(weight[i] for i in row), need)
        return chosen.size > 0

    def _pairs(self) -> NDArray[np.bool_] | None:
        """Decide for each pair of items whether it is a mole; None if there are too many pairs."""
        n = self.items.size
        if n * n > MOST_PAIRS:
            return None
        near = np.zeros((n, n), bool)
        first = self.starts[:-1][self.sizes == 2]
        near[self.members[first], self.members[first + 1]] = True
        near[self.members[first + 1], self.members[first]] = True
        return near

    def _out_of_time(self) -> bool:
        """Whether the search should end."""
        return self.progress.stop_requested() or time.monotonic() > self.deadline

    # --- what cannot be, and the record

    def _require_items(self) -> None:
        ids = self.split.data.vocabulary.ids
        for items, what in (
            (self.parameters.keep, "Items to keep"),
            (self.parameters.weights, "Items with a weight"),
        ):
            unknown = [item for item in items if item not in ids]
            if unknown:
                raise RequestError(f"{what} that are not in the data: {listed(unknown)}.")

    def _refuse_kept(self, kept: set[str]) -> None:
        """Refuse items to keep that no release can keep."""
        labels = self.split.data.vocabulary.labels
        alone = [item for item in self.certain if labels[item] in kept]
        whole = np.flatnonzero(self._filled(np.where(self.kept, 0.0, 1.0)) == 0)
        if not alone and not whole.size:
            return
        if alone:
            mole = self.split.single(alone[0])
            items, support, whom, count = [alone[0]], mole.support, mole.betrayed, mole.count
        else:
            first = int(whole[0])
            items = self.items[self.members[self.starts[first] : self.starts[first + 1]]].tolist()
            support, whom, count = self.split.facts(items)
        named = listed([labels[i] for i in items])
        reason = f"only {support:,} rows contain {'them' if len(items) > 1 else 'it'}"
        if support >= self.split.guarantee.k and whom is not None:
            reason = (
                f"knowing {'them' if len(items) > 1 else 'it'} reveals {shorten(labels[whom], 40)} with "
                f"a confidence of {count:,}/{support:,}"
            )
        raise InfeasibleError(
            f"The items to keep cannot all be kept: {self.split.guarantee.phrase} forbids publishing {named} "
            f"{'together' if len(items) > 1 else 'at all'}: {reason}.",
            hint="Keep fewer items.",
        )

    def _refuse_limit(self) -> None:
        """Refuse a limit of suppression that is too low, and name the least that would do."""
        free = replace(self.parameters, max_suppressed=None, objective=None, weights={}, time_limit=None)
        least = MoleSearch(self.split, free, self.progress)
        share = Fraction(str(least.run()["loss"]))
        n, all_ = least.split.data.n_occurrences, least.split.support.sum()
        needed = ceil(share * int(all_) / max(n, 1) * 10**6)
        raise InfeasibleError(
            f"At most {float(self.parameters.max_suppressed or 0):.4%} of the occurrences may be suppressed, "
            f"but {self.split.guarantee.phrase} needs more.",
            hint=f"--max-suppressed {needed / 10**4}% would do.",
        )

    def _record(self, proven: float) -> dict[str, Any]:
        if self.incumbent.cost is None:
            if proven == inf:
                self._refuse_limit()
            raise UnfinishedError(
                "No valid release was found within the time limit.", hint="Raise --time-limit or the limits."
            )
        best = self.lost + self.incumbent.cost
        lower = self.lost + int(min(proven, self.incumbent.cost))
        return {
            "objective": self.parameters.loss,
            "model": "suppression",
            **how_far(best, lower, self.whole),
            "weighted": bool(self.parameters.weights),
            "limited": bool(self.parameters.keep) or self.parameters.max_suppressed is not None,
            "clauses": len(self.program),
            "rounds": self.program.solved,
        }
