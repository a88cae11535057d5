"""Is it rho-uncertain? Answered from the published rows alone.

The verifier shares no code with any algorithm: it walks the closed sets of the rows of each sensitive item
(`_closed_rules.py`, which proves that these are enough), and the tests check it against a few lines of plain
Python that look at every subset of every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.data.transactions import Transactions
from setveil.guarantees.rho_uncertainty import RhoUncertainty
from setveil.guarantees.verify import Verdict
from setveil.guarantees.verify._closed_rules import ClosedRules, too_many
from setveil.guarantees.verify._inference import KnownRows, Learned, allowed, greatest
from setveil.progress import Progress, silent
from setveil.values.numbers import as_json

SEARCH_STEPS = 30_000_000_000  # how long to look for a violation
COUNT_STEPS = 1_000_000_000  # once one is known: how long to go on counting the others


@dataclass(frozen=True, repr=False)
class RhoUncertaintyVerdict(Verdict):
    """What the verifier found.

    Attributes
    ----------
    holds : bool
        Whether it holds. Always certain.
    violations : int
        Pairs of a sensitive item and a set that reveals it and is closed: all other items that the rows
        with this item and the set have in common are in it. Each represents all sets that these rows hold.
    first : tuple of Learned
        The first of what is left of these (of the first thousand or so) where items are suppressed, in item
        order, as long as the sensitive item is revealed: smaller sets first, then item order, then the
        sensitive items in item order. Several closed sets may leave the same.
    confidences : tuple of Learned
        For each sensitive item that some row holds, in item order, what tells most of it: of equal
        confidences that of greatest support, without the items that can be suppressed.
    greatest_confidence : Learned or None
        The greatest of these; None where no sensitive item is published.
    complete : bool
        False if counting stopped early: then there may be more `violations` and greater `confidences`. Where
        it holds, all is exact.
    """

    guarantee: RhoUncertainty
    holds: bool
    violations: int
    first: tuple[Learned, ...]
    confidences: tuple[Learned, ...]
    greatest_confidence: Learned | None
    complete: bool

    def found(self) -> dict[str, Any]:
        """Return what tells most, and the least rho that holds, as JSON types."""
        most = self.greatest_confidence
        return {
            "greatest_confidence": None if most is None else most.as_dict(),
            "confidences": [one.as_dict() for one in self.confidences],
            "least_rho": None if most is None else as_json(most.confidence),
            "complete": self.complete,
        }

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [entry.as_violation() for entry in self.first]


def verify_rho_uncertainty(
    published: Transactions, guarantee: RhoUncertainty, *, show: int = 10, progress: Progress = silent
) -> RhoUncertaintyVerdict:
    """Check rho-uncertainty from published rows.

    Parameters
    ----------
    published : Transactions
        Rows of published labels; those among the guarantee's sensitive items are sensitive. Each label is
        taken as one item, whatever it represents.
    guarantee : RhoUncertainty
        rho, and the sensitive items (one that no row holds is revealed by nothing).
    """
    rows = KnownRows(published, guarantee.sensitive, public_only=False)
    rules = ClosedRules(rows, allowed(guarantee.rho, rows.n_rows), progress)
    rules.walk(1, SEARCH_STEPS, COUNT_STEPS, show)
    if rules.stopped and not rules.violations:
        raise too_many(guarantee.phrase)
    confidences = tuple(rows.named(s, *found) for s, found in enumerate(rules.best))
    return RhoUncertaintyVerdict(
        guarantee,
        not rules.violations,
        rules.violations,
        tuple(rows.named(s, known, support, count) for known, s, support, count in rules.first),
        confidences,
        greatest(confidences),
        not rules.stopped,
    )
