"""What values of the relaxation round to where sensitive items must not be learned."""

from __future__ import annotations

from collections.abc import Iterable

from setveil.algorithms.exact._breaches import Breach, Breaches
from setveil.algorithms.exact._clauses import Separator
from setveil.algorithms.exact._incumbent import Incumbent
from setveil.algorithms.exact._program import Floats, Program
from setveil.algorithms.exact._rho_candidates import RhoCandidates
from setveil.algorithms.exact._rounding import Rounding
from setveil.algorithms.exact._variables import Variables
from setveil.kernels.rows import Ids


class RhoRounding(Rounding):
    """Answers what branch and cut asks; `breaches` finds what is given away (see `Rounding`)."""

    candidates: RhoCandidates

    def __init__(
        self,
        program: Program,
        variables: Variables,
        separator: Separator,
        candidates: RhoCandidates,
        incumbent: Incumbent,
        breaches: Breaches,
    ) -> None:
        super().__init__(program, variables, separator, candidates, incumbent)
        self.breaches = breaches

    def _add_found(self, candidate: Ids) -> None:
        super()._add_found(candidate)
        self._add_breaches(self.breaches.of_candidate(candidate))

    def _add_violated(self, values: Floats) -> None:
        if self.separator.k > 1:
            super()._add_violated(values)
        self._add_breaches(self.breaches.violated(self.variables, values))

    def _is_valid(self, candidate: Ids) -> bool:
        return self.candidates.is_valid(candidate)

    def _add_breaches(self, found: Iterable[Breach]) -> None:
        variables, pairs = self.variables, []
        for breach in found:
            pairs += variables.name(tuple(v for v in breach.nodes if v < variables.n_leaves))
            self.program.add(*self.breaches.clause(variables, breach))
        self.program.exclude(pairs)
