"""A proof of a bound in integers, which a small program checks without a solver (see docs/exact.md).

After a search the relaxation is minimized once more. The dual values of its clauses, rounded to integers, are
multipliers; what they prove is the least of the loss and of what clauses add where they are broken, over all
recodings of the tree, computed by one pass up the tree. Where it is too little the variables are branched on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.kernels.rows import Ints
from setveil.methods.algorithms.exact._clauses import TOLERANCE, Floats
from setveil.methods.algorithms.exact._losses import upwards
from setveil.methods.algorithms.exact._program import Bounds

if TYPE_CHECKING:
    from setveil.methods.algorithms.exact._search import Search

SCALE = 1 << 20  # units in which multipliers are rounded: so many are the unit of the loss
TRIED = 8  # variables that are tried before one is branched on

Fixed = Mapping[int, int]  # the variables that a branch holds at 0 or 1


class Multipliers:
    """Weights of clauses, and of the limit of suppression: integers of at least 0."""

    def __init__(self, clauses: Sequence[tuple[tuple[int, ...], float]], limit: float, scale: float) -> None:
        whole = [(members, int(weight * scale)) for members, weight in clauses]
        self.clauses = [(members, weight) for members, weight in whole if weight > 0]
        self.limit = max(int(limit * scale), 0)


class Prover:
    """Proves that no release loses less than `loss`, or how much less, from the clauses of a search on."""

    def __init__(self, search: Search, loss: int) -> None:
        self.search, self.loss = search, loss
        self.tree, self.losses, self.variables = search.tree, search.losses, search.variables
        self.program, self.kept = search.program, set(search.kept)
        self.limited = search.parameters.max_suppressed is not None
        tree = self.tree
        self._upwards = upwards(tree)
        self._children = [tree.children(v) for v in range(tree.n_nodes)]
        self.rounding = search.rounding()
        # Proven to be enough: losses in bits are rounded.
        self.enough: Fraction | int = loss - self.losses.rounded * loss
        self.branches: list[dict[str, Any]] = []
        self.proofs: list[Multipliers] = []

    def run(self) -> int:
        """Branch until the loss is proven least, or time is up; the proven bound."""
        low, high = self.variables.bounds(self.search.kept)
        nothing = self._keep(Multipliers([], 0.0, SCALE))
        waiting: list[tuple[int | float, int, int, dict[int, int], Bounds, Bounds]] = []
        heappush(waiting, (self.least(self.proofs[nothing], {}), 0, nothing, {}, low, high))
        self.branches.append({})
        proven: int | float = inf  # by the branches that are done
        while waiting:
            known, at, proof, fixed, low, high = heappop(waiting)
            if known >= self.enough:
                self.branches[at], proven = {"bound": proof}, min(proven, known)
                continue
            self.program.restrict(low, high)
            found = self._settle(fixed, known, proof)
            if found is None:  # time is up
                for bound, place, by in [(known, at, proof), *(entry[:3] for entry in waiting)]:
                    self.branches[place], proven = {"bound": by}, min(proven, bound)
                break
            known, proof, values = found
            if known == inf:
                self.branches[at] = {"none": proof}
                continue
            if known >= self.enough or values is None:
                self.branches[at], proven = {"bound": proof}, min(proven, known)
                continue
            chosen = self._choose(values, fixed, low, high)
            if chosen is None:  # one release is left, and nothing has been lost by rounding
                self.branches[at], proven = {"bound": proof}, min(proven, known)
                continue
            self.branches[at] = {"on": self._named(chosen)}
            for value, way in enumerate(("zero", "one")):
                down, up = low.copy(), high.copy()
                (up if value == 0 else down)[chosen] = value
                place = self.branches[at][way] = len(self.branches)
                self.branches.append({})
                branch = {**fixed, chosen: value}
                entry = (max(known, self.least(self.proofs[proof], branch)), place, proof, branch, down, up)
                heappush(waiting, entry)
        return self.loss if proven == inf else int(min(proven, self.loss))

    def least(self, multipliers: Multipliers, fixed: Fixed, scale: int = SCALE) -> int | float:
        """Find the loss that multipliers prove in a branch; inf: no release; scale 0 decides only that."""
        tree, n, losses = self.tree, self.tree.n_leaves, self.losses
        inner, suppress = self.variables.n_inner, self.variables.suppress
        each = [0] * tree.n_nodes
        constant = -multipliers.limit * self.search.most
        for members, weight in multipliers.clauses:
            constant += weight
            for v in members:
                each[v + n if v < inner else v - inner] -= weight
        low: list[int | float] = [0] * tree.n_nodes
        closed = [False] * tree.n_nodes
        for v in self._upwards:
            now = fixed.get(v - n if v >= n else inner + v)
            if v < n:
                may = suppress and v not in self.kept and now != 0
                out = scale * losses.hidden[v] + multipliers.limit * losses.occurrences[v] + each[v]
                low[v] = min(inf if now == 1 else 0, out if may else inf)
                closed[v] = v in self.kept or now == 1
                each[v] = 0
                continue
            some = self._children[v]
            closed[v] = now == 0 or any(closed[x] for x in some)
            each[v] += sum(each[x] for x in some)
            finer = inf if now == 1 else sum(low[x] for x in some)
            low[v] = min(finer, inf if closed[v] else scale * losses.full[v] + each[v])
        total = constant + low[tree.root]
        if total == inf or scale == 0:
            return inf if total > 0 else 0
        unit = self.program.unit
        return -(-int(total) // (scale * unit)) * unit

    def _settle(
        self, fixed: Fixed, known: int | float, proof: int
    ) -> tuple[int | float, int, Floats | None] | None:
        """Minimize in a branch under all clauses: bound (inf: no release) and proof; None: time is up."""
        program = self.program
        while True:
            relaxed = program.relax()
            if relaxed is None:
                return None
            if relaxed.bound == inf:
                for sign in (1.0, -1.0):
                    ray = Multipliers(*program.ray(sign), SCALE)
                    if self.least(ray, fixed, 0) == inf:
                        return inf, self._keep(ray), None
                return known, proof, np.zeros(program.n)
            values = relaxed.values
            done = relaxed.bound >= self.enough
            if not done and (program.admit(values) or self._separate(values)):
                continue
            multipliers = Multipliers(*program.multipliers(), SCALE)
            bound = self.least(multipliers, fixed)
            if bound > known:
                known, proof = bound, self._keep(multipliers)
            if known >= self.enough:
                return known, proof, values
            if (np.abs(values - np.rint(values)) > TOLERANCE).any():
                if done and (program.admit(values) or self._separate(values)):
                    continue
                return known, proof, values
            found = self._loss(values)
            if found is not None and found <= known:  # it ended early: there is a better release
                return known, proof, None
            return known, proof, values

    def _separate(self, values: Floats) -> bool:
        """Find clauses that values violate, and put those into the model; whether there were any."""
        return self.rounding.separate(values) and self.program.admit(values)

    def _loss(self, values: Floats) -> int | None:
        """Compute the loss of the release that whole values represent; None: they represent none."""
        candidate = self.variables.candidate(values)
        if next(self.search.candidates.threats(candidate), None) is not None:
            return None
        if not self.rounding.incumbent.allows(candidate):
            return None
        loss: int = self.losses.cost(candidate)
        return loss

    def _choose(self, values: Floats, fixed: Fixed, low: Bounds, high: Bounds) -> int | None:
        """Choose what to branch on: of the most fractional inner nodes, or else leaves, what raises most."""
        free: Ints = np.flatnonzero(low < high)
        part = np.abs(values[free] - np.rint(values[free]))
        inner = self.variables.n_inner
        for some in (free[(part > TOLERANCE) & (free < inner)], free[part > TOLERANCE]):
            if not some.size:
                continue
            weight = self.variables.sizes(self.losses)[some] * np.abs(values[some] - np.rint(values[some]))
            likely: list[int] = some[np.argsort(-weight, kind="stable")[:TRIED]].tolist()
            if len(likely) == 1:
                return likely[0]
            return max(likely, key=lambda v: self._gain(v, low, high))
        return int(free[0]) if free.size else None

    def _gain(self, v: int, low: Bounds, high: Bounds) -> float:
        """Estimate what branching on a variable proves: the lesser of both ways counts most."""
        both = []
        for value in (0, 1):
            down, up = low.copy(), high.copy()
            (up if value == 0 else down)[v] = value
            both.append(min(self.program.trial(down, up), float(self.loss)))
        return min(both) + 1e-3 * max(both)

    def _keep(self, multipliers: Multipliers) -> int:
        self.proofs.append(multipliers)
        return len(self.proofs) - 1

    def _named(self, variable: int) -> list[str]:
        n, inner, labels = self.tree.n_leaves, self.variables.n_inner, self.tree.labels
        return ["up", labels[variable + n]] if variable < inner else ["out", labels[variable - inner]]

    def written(self) -> dict[str, Any]:
        """Return clauses, multipliers and branches as the certificate has them: only what is used."""
        numbers: dict[tuple[int, ...], int] = {}
        used = sorted({next(iter(end.values())) for end in self.branches if "on" not in end})
        place = {number: at for at, number in enumerate(used)}
        multipliers = []
        for number in used:
            proof = self.proofs[number]
            clauses = [[numbers.setdefault(members, len(numbers)), p] for members, p in proof.clauses]
            multipliers.append({"clauses": clauses, **({"limit": proof.limit} if proof.limit else {})})
        return {
            "clauses": [self._witness(members) for members in numbers],
            "multipliers": multipliers,
            "tree": [
                end if "on" in end else {kind: place[number] for kind, number in end.items()}
                for end in self.branches
            ],
        }

    def _witness(self, members: tuple[int, ...]) -> dict[str, list[str]]:
        """Say which threat a clause follows from, and which leaves of a row hold it."""
        separator, labels = self.search.separator, self.tree.labels
        n, inner = self.tree.n_leaves, self.variables.n_inner
        clause = tuple(v + n for v in members if v < inner), tuple(v - inner for v in members if v >= inner)
        nodes, leaves = separator.threat_of(clause)
        return {"nodes": [labels[v] for v in nodes], "leaves": [labels[leaf] for leaf in leaves]}


def certificate(search: Search) -> dict[str, Any]:
    """Prove how little a release can lose, and write that down (see docs/exact.md)."""
    search.allow_as_much_again()
    search.progress("proving the bound in integers")
    loss = search.losses.cost(search.incumbent.candidate)
    prover = Prover(search, loss)
    bound = prover.run()
    parameters, promise = search.parameters, search.guarantee
    return {
        "setveil-certificate": 1,
        "k": promise.k,
        "m": "inf" if promise.m == inf else int(promise.m),
        "objective": parameters.loss,
        "suppress": parameters.suppress,
        "keep": list(parameters.keep),
        "weights": {item: str(Fraction(str(weight))) for item, weight in parameters.weights.items()},
        "max_suppressed": None if parameters.max_suppressed is None else search.most,
        "loss": loss,
        "bound": bound,
        "scale": SCALE,
        **prover.written(),
    }
