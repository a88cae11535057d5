"""Check (k, rho)^m-anonymity from published rows, in the loops of `km.py` and `_inference.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from setveil.base.progress import Progress, silent
from setveil.base.values.numbers import as_json
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import PUBLIC, KmRho
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._closed_rules import ClosedRules, too_many
from setveil.judges.guarantees.verify._inference import KnownRows, Learned, Rules, allowed, greatest
from setveil.judges.guarantees.verify.km import MOST_SHOWN, KmVerdict, verify_km
from setveil.rows.data.transactions import Transactions

COUNT_STEPS = 300_000_000  # once a violation is known, or for every m: how long to count sets one by one
CLOSED_STEPS = 30_000_000_000  # how long to look among the closed ones instead
SEARCH_STEPS = 300_000_000  # beyond the m that was asked for: how long to look for the m that breaks
NEVER = 1 << 62


@dataclass(frozen=True)
class TooFew:
    """A set of known items in fewer than k rows."""

    itemset: tuple[str, ...]  # in item order
    support: int

    def as_violation(self) -> dict[str, Any]:
        """Return it as an entry of a list of violations."""
        return {"itemset": list(self.itemset), "support": self.support}


@dataclass(frozen=True, repr=False)
class KmRhoVerdict(Verdict):
    """The verdict on (k, rho)^m-anonymity.

    `violations` are sets of 1 to m known items in fewer than k rows, and pairs of a set of at most m known
    items and a sensitive item that it reveals; `first` is by size, item order, too few rows before what is
    learned, then by sensitive item. If it holds, all but `greatest_m` is exact (for long rows and every m,
    another set may reveal as much and have fewer items).
    """

    guarantee: KmRho
    holds: bool
    violations: int
    first: tuple[TooFew | Learned, ...]
    # the most revealing set of each: the smallest, then greatest support, then first
    confidences: tuple[Learned, ...]
    greatest_confidence: Learned | None  # None if no sensitive item is published
    greatest_k: int | None  # smallest support of 1 to m known items; None if nothing is known of any row
    greatest_m: int | float  # for this k and rho (0: not even 1), `math.inf` if for every m
    complete: bool

    def found(self) -> dict[str, Any]:
        """Return what tells most, the greatest k and m and the least rho that hold, as JSON types."""
        most = self.greatest_confidence
        return {
            "greatest_confidence": None if most is None else most.as_dict(),
            "confidences": [one.as_dict() for one in self.confidences],
            "greatest_k": self.greatest_k,
            "greatest_m": "inf" if self.greatest_m == math.inf else self.greatest_m,
            "least_rho": None if most is None else as_json(most.confidence),
            "complete": self.complete,
        }

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [entry.as_violation() for entry in self.first]


def verify_km_rho(
    published: Transactions, guarantee: KmRho, *, show: int = 10, progress: Progress = silent
) -> KmRhoVerdict:
    """Check (k, rho)^m-anonymity of published labels, sensitive if among the guarantee's, else public.

    For sizes 1, 2, ... the rows with an item are projected onto the items after it, and so on, while a
    sensitive item may be revealed or may become likelier than it was. Every known set is in as many rows as
    the first check found: this ends soon if it holds. For every m, if these are too many sets, the closed
    ones decide (`_closed_rules.py`).
    """
    show = min(show, MOST_SHOWN)
    rows = KnownRows(published, guarantee.sensitive, public_only=guarantee.knows == PUBLIC)
    few = _count_few(rows.known, guarantee, show, progress)
    exact = few.holds or few.complete
    limit = allowed(guarantee.rho, rows.n_rows)
    rules = Rules(rows, limit, show, progress)
    most = min(guarantee.m, rows.longest)
    least = few.greatest_k if exact and few.greatest_k is not None else 1
    undecided = NEVER if few.holds and guarantee.m < rows.longest else COUNT_STEPS
    while rules.size < most and not rules.stopped:
        rules.count(least, undecided, COUNT_STEPS)
    if rules.stopped and few.holds and not rules.violations:
        _decide(rules, ClosedRules(rows, limit, progress), least, guarantee)
    violations, first = few.violations + rules.violations, _merged(rows, few, rules)[:show]
    confidences = tuple(rows.named(s, *found) for s, found in enumerate(rules.best))
    complete = exact and not rules.stopped
    if not violations:  # some greater m may break; all sets of up to few.greatest_m items are in k rows
        rules.steps = 0
        while rules.size < min(few.greatest_m, rows.longest) and not (rules.stopped or rules.violations):
            rules.count(min(guarantee.k, rows.n_rows), SEARCH_STEPS, 0, learn=False)
        complete = rules.violations > 0 or (few.complete and not rules.stopped)
    unbroken = not rules.violations and rules.size >= rows.longest
    return KmRhoVerdict(
        guarantee,
        not violations,
        violations,
        first,
        confidences,
        greatest(confidences),
        few.greatest_k,
        few.greatest_m if unbroken else min(few.greatest_m, rules.safe_size),
        complete,
    )


def _count_few(known: Transactions, guarantee: KmRho, show: int, progress: Progress) -> KmVerdict:
    """Count the known sets in fewer than k rows."""
    if guarantee.k > 1:
        return verify_km(known, KmAnonymity(guarantee.k, guarantee.m), show=show, progress=progress)
    # No set is in fewer than 1 row. The smallest support is certain: as soon as one is below 2, it is 1.
    found = verify_km(known, KmAnonymity(2, guarantee.m), show=0, brief=True, progress=progress)
    return replace(found, holds=True, violations=0, first=(), greatest_m=math.inf, complete=True)


def _decide(rules: Rules, closed: ClosedRules, least: int, guarantee: KmRho) -> None:
    """Let closed sets say what sets of any size tell, where there are too many to count them one by one."""
    closed.walk(least, CLOSED_STEPS, COUNT_STEPS, rules.show)
    if closed.stopped and not closed.violations:
        raise too_many(guarantee.phrase)
    rules.violations, rules.first = closed.violations, closed.first
    for s, (held, closed_best) in enumerate(zip(rules.best, closed.best, strict=True)):
        if closed_best[2] * held[1] > held[2] * closed_best[1]:
            rules.best[s] = closed_best
    if not closed.violations:
        rules.size = rules.safe_size = rules.rows.longest
        rules.stopped = False


def _merged(rows: KnownRows, few: KmVerdict, rules: Rules) -> tuple[TooFew | Learned, ...]:
    """Put what was listed of both kinds into one order."""
    ids = rows.known.vocabulary.ids
    entries: list[tuple[tuple[int, list[int], int], TooFew | Learned]] = []
    for itemset, support in few.first:
        entries.append(((len(itemset), [ids[label] for label in itemset], -1), TooFew(itemset, support)))
    for known, s, support, count in rules.first:
        entries.append(((len(known), list(known), s), rows.named(s, known, support, count)))
    return tuple(entry for _, entry in sorted(entries, key=lambda entry: entry[0]))
