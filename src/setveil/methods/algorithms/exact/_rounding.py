"""What values of the relaxation round to: valid recodings, or threats, whose clauses enter the program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from math import inf

from setveil.kernels.rows import Ids
from setveil.methods.algorithms.exact._candidates import Candidates
from setveil.methods.algorithms.exact._clauses import Clause, Floats, Separator
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._program import Program
from setveil.methods.algorithms.exact._variables import Variables

NEW_AT_ONCE = 5000  # clauses taken from one candidate
AT_A_TIME = 100  # threats that are looked at together
THRESHOLDS = 0.5, 0.3, 0.7  # above which a value is rounded to 1


class Rounding:
    """Answers what branch and cut asks about values of the relaxation; looks for better candidates, too."""

    def __init__(
        self,
        program: Program,
        variables: Variables,
        separator: Separator,
        candidates: Candidates,
        incumbent: Incumbent,
        *,
        repairs: bool = True,
    ) -> None:
        self.program, self.variables, self.separator = program, variables, separator
        self.candidates, self.incumbent = candidates, incumbent
        self._due: float = (
            1 if repairs else inf
        )  # relaxations after which to look for a better candidate again

    def separate(self, values: Floats) -> bool:
        """Add clauses that values violate: of the threats of what they round to, or else all; False: none."""
        self._add_found(self.variables.candidate(values))
        if self.program.violates(values):
            return True
        if self.program.solved >= self._due:
            self._due = 2 * self.program.solved
            self._repair(values, 0.5)
        self._add_violated(values)
        return self.program.violates(values)

    def offer(self, values: Floats) -> None:
        """Look for better candidates near values that violate no clause."""
        for threshold in THRESHOLDS:
            if not self.program.must_end():
                self._repair(values, threshold)

    def accept(self, values: Floats) -> bool:
        """Take values that are 0 and 1; False if they are no solution."""
        candidate = self.variables.candidate(values)
        if not self._is_valid(candidate):
            return False
        if not self.incumbent.allows(candidate):
            # The solver's arithmetic let too much through: exclude just that.
            self.program.limit(
                *self.variables.too_much(self.incumbent.losses, candidate, self.incumbent.most)
            )
            return False
        self.incumbent.offer(candidate)
        return True

    def _repair(self, values: Floats, threshold: float) -> None:
        """Offer valid candidates made of what the values round to."""
        for candidate in self.candidates.repaired(self.variables.candidate(values, threshold)):
            self.incumbent.offer(candidate)

    def _is_valid(self, candidate: Ids) -> bool:
        return next(self.candidates.threats(candidate), None) is None

    def _add_violated(self, values: Floats) -> None:
        """Add clauses that values violate."""
        up, suppressed = self.variables.generalized(values), self.variables.suppressed(values)
        self.program.exclude(self._add(self.separator.violated(up, suppressed)))

    def _add_found(self, candidate: Ids) -> None:
        """Add clauses of a candidate's threats."""
        most = len(self.program) + NEW_AT_ONCE
        pairs: list[tuple[int, int]] = []
        threats = self.candidates.threats(candidate)
        if not self.variables.suppress:  # threats below the same parents mostly prove the same
            threats = _firsts(threats, self.separator.parents)
        for clauses in self._stated(threats):
            pairs += self._add(clauses)
            if len(self.program) > most:
                break
        self.program.exclude(pairs)

    def _stated(self, threats: Iterator[list[int]]) -> Iterator[list[Clause]]:
        """State what each threat proves, some at a time, until the search must end."""
        while (some := list(islice(threats, AT_A_TIME))) and not self.program.must_end():
            yield from self.separator.clauses(some, self.variables.suppress)

    def _add(self, clauses: Iterable[Clause]) -> list[tuple[int, int]]:
        """Add clauses; the pairs of variables that must then be excluded."""
        pairs = []
        for clause in clauses:
            pairs += self.variables.name(clause[1])
            self.program.add(self.variables.of_clause(clause))
        return pairs


def _firsts(threats: Iterable[list[int]], key: Callable[[list[int]], Hashable]) -> Iterator[list[int]]:
    """List the first threat of each key."""
    seen = set()
    for threat in threats:
        if (found := key(threat)) not in seen:
            seen.add(found)
            yield threat
