"""Check rho-uncertainty using only the published rows, by closed sets (see `_closed_rules.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.base.progress import Progress, silent
from setveil.base.values.numbers import as_json
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._closed_rules import ClosedRules, too_many
from setveil.judges.guarantees.verify._inference import KnownRows, Learned, allowed, greatest
from setveil.rows.data.transactions import Transactions

SEARCH_STEPS = 30_000_000_000  # how long to look for a violation
COUNT_STEPS = 1_000_000_000  # once one is known: how long to go on counting the others


@dataclass(frozen=True, repr=False)
class RhoUncertaintyVerdict(Verdict):
    """The verdict on rho-uncertainty.

    `violations` are pairs of a sensitive item and a revealing set that is closed: it has all other items that
    its rows with this item have in common, and represents all sets of these rows. `first` has minimal sets of
    the first thousand or so, by size, item order and sensitive item; several closed sets may have the same.
    If it holds, all is exact.
    """

    guarantee: RhoUncertainty
    holds: bool
    violations: int
    first: tuple[Learned, ...]
    confidences: tuple[Learned, ...]  # the most revealing set of each, then of greatest support, least items
    greatest_confidence: Learned | None  # None if no sensitive item is published
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
    """Check rho-uncertainty of rows; a sensitive item that no row contains is revealed by nothing."""
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
