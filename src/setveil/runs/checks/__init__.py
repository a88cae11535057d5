"""The check of all that is published of a release: a file per kind that is not checked as rows of items.

A module here has the name of a kind of release, and holds `check`, a class derived from `ReleaseCheck`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError, faces
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees import ITEMS, Guarantee
from setveil.judges.guarantees.km import CODES
from setveil.judges.guarantees.verify import Verdict, verify
from setveil.judges.guarantees.verify.counts import CountsFile, CountsVerdict, check_counts
from setveil.judges.guarantees.verify.km import COVER
from setveil.releases.published.counts import Counts
from setveil.releases.published.listing import others_in, with_others
from setveil.releases.published.recoding import TABLE_LOCAL
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.rows.facts.facts import Facts

Image = Mapping[str, "str | None"]  # the label of each item; None: it is left out


@dataclass(frozen=True)
class ReleaseCheck:
    """All that is published of a release, and how it is checked. The defaults suit rows of items."""

    published: Any
    guarantee: Any  # a Guarantee
    counts: Counts | None
    about: Mapping[str, Any]
    show: int = 10  # how many violations to list
    cover: Hierarchy | None = None  # the hierarchy of the cover reading
    absence: str = ITEMS  # what can be known to be absent
    before: tuple[Facts, Image] | None = None  # the facts that were published, and the label of each
    progress: Progress = silent
    more: Mapping[str, Any] = field(default_factory=dict)  # for the verifier of the model alone

    def of_columns(self) -> ReleaseCheck:
        """Return the check of the guarantee for the columns of items that are published."""
        names = self.published.set_names
        return replace(self, guarantee=self.guarantee.for_columns(names)) if names else self

    def verdict(self) -> Verdict:
        """Check the rows, and the counts next to them."""
        require_facts(self.guarantee, has_facts=self.published.has_facts)
        verdict = self.verify_rows()
        return verdict if self.counts is None else verdict.with_counts(self.of_counts())

    def verify_rows(self) -> Verdict:
        """Check the rows."""
        if self.cover is None:
            return self._verified(self.published)
        from setveil.judges.guarantees.verify.cover import covered_rows

        verdict = self._verified(covered_rows(self.published, self.cover))
        return replace(verdict, reading=COVER)  # type: ignore[type-var]  # of k^m-anonymity alone

    def _verified(self, rows: Any) -> Verdict:
        return verify(rows, self.guarantee, show=self.show, progress=self.progress, **self.more)

    def of_counts(self) -> CountsVerdict:
        """Check the counts next to the rows."""
        k = self.guarantee.smallest_group or 1  # without one, any number may be counted
        secrets = self.guarantee.secrets
        found = check_counts(self.published, self.counts_file, k, secrets=secrets, show=self.show)
        if self.cover is not None and not verify(self.published, self.guarantee, brief=True).holds:
            problem = "the rows satisfy the guarantee in the cover reading only, in which counts undo it"
            first = (problem, *found.first)[: max(self.show, 1)]
            return CountsVerdict(found.lines, found.violations + 1, first)
        return found

    def with_absent(self, absent: int) -> Verdict:
        """Check the rows, and the counts next to them, for someone who also knows what a person lacks."""
        from setveil.judges.guarantees.verify.absence import nothing_absent, require_absence

        require_absence(absent, self.absence, self.guarantee)
        if not self.published.shows_absence:
            raise nothing_absent()
        verdict = self.verify_rows_with_absent(absent)
        return verdict if self.counts is None else verdict.with_counts(self.of_counts())

    def verify_rows_with_absent(self, absent: int) -> Verdict:
        """Check the rows for someone who also knows what a person lacks."""
        from setveil.judges.guarantees.verify.absence import verify_absence

        signs = self.signs(self.published)
        return verify_absence(
            self.published, self.guarantee, signs, absent=absent, absence=self.absence, show=self.show,
            progress=self.progress,
        )  # fmt: skip

    def signs(self, rows: Transactions) -> Any:
        """Find the labels that exclude a row of items for someone who knows an absent item."""
        from setveil.judges.guarantees.verify.absence import signs_of

        lines = self.counts.lines() if self.counts else ()
        return signs_of(rows, self.absence, with_others(self.about), lines)

    @property
    def counts_file(self) -> CountsFile:
        """The counts, as their verifier reads them."""
        assert self.counts is not None  # noqa: S101  (asked only if there are any)
        return counts_file(self.counts, self.about)


def counts_file(counts: Counts, about: Mapping[str, Any]) -> CountsFile:
    """Put together what the verifier of counts reads."""
    return CountsFile(
        counts.lines(), counts.least, counts.suppressed, about["labels"],
        local=about.get("recoding") in ("local", TABLE_LOCAL), domain=about.get("domain"),
        others=others_in(about),
    )  # fmt: skip


def require_facts(guarantee: Guarantee, *, has_facts: bool) -> None:
    """Refuse a guarantee about whole codes where rows hold no facts."""
    if guarantee.of_codes and not has_facts:
        raise RequestError(
            f"{faces('--known codes', 'known=' + repr(CODES))} is about facts, codes with dates or amounts, "
            "and these rows contain items.",
            hint="Omit it, or name dates or amounts of the codes: --when, --amount.",
        )


@cache
def _own_checks() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(__path__))


def check_of(kind: str) -> type[ReleaseCheck]:
    """Find the check of a kind of release, by the name of its file."""
    if kind not in _own_checks():
        return ReleaseCheck
    found: type[ReleaseCheck] = importlib.import_module(f"{__name__}.{kind}").check
    return found
