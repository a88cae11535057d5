"""What values of the relaxation round to where sensitive items must not be learned."""

from __future__ import annotations

from collections.abc import Iterable

from setveil.algorithms.exact._breaches import Breaches, SecretBreach
from setveil.algorithms.exact._clauses import Separator
from setveil.algorithms.exact._incumbent import Incumbent
from setveil.algorithms.exact._program import Floats, Program, Row
from setveil.algorithms.exact._rho_candidates import RhoCandidates
from setveil.algorithms.exact._rounding import Rounding
from setveil.algorithms.exact._variables import Variables
from setveil.kernels.rows import Ids

LIFTED = 200  # breaches of one candidate that are stated of more general nodes, too


class RhoRounding(Rounding):
    """Answers what branch and cut asks; `breaches` finds what is revealed (see `Rounding`)."""

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
        found = self.breaches.of_candidate(candidate)
        self._add_breaches(found)
        self._add_rows(self.breaches.hereditary(self.variables, breach) for breach in found[:LIFTED])

    def _add_violated(self, values: Floats) -> None:
        if self.separator.k > 1:
            super()._add_violated(values)
        self._add_breaches(self.breaches.violated(self.variables, values))

    def _is_valid(self, candidate: Ids) -> bool:
        return self.candidates.is_valid(candidate)

    def _add_breaches(self, found: Iterable[SecretBreach]) -> None:
        self._add_rows(self.breaches.clause(self.variables, breach) for breach in found)

    def _add_rows(self, rows: Iterable[Row | None]) -> None:
        """Add clauses, where there are any."""
        pairs = []
        for row in rows:
            if row is not None:
                pairs += self.variables.name(self.variables.leaves_of(row[0]))
                self.program.add(*row)
        self.program.exclude(pairs)
