"""The check of rows of facts: of facts or whole codes, of boxes that overlap, and of counts of facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify.boxes import overlapping
from setveil.judges.guarantees.verify.codes import verify_codes
from setveil.judges.guarantees.verify.counts import CountsVerdict
from setveil.judges.guarantees.verify.fact_counts import check_fact_counts
from setveil.runs.checks import ReleaseCheck


@dataclass(frozen=True)
class FactsCheck(ReleaseCheck):
    """Rows of facts, and how they are checked."""

    def of_columns(self) -> ReleaseCheck:
        """Refuse sensitive facts; return the check of the guarantee for the columns that are published."""
        if self.guarantee.secrets:
            raise RequestError(
                f"Of facts nothing is guaranteed about sensitive ones, as {self.guarantee.model} does of "
                "items: one that lies in a broader box would not be seen.",
                hint="Check k^m-anonymity, which facts are released under.",
            )
        return super().of_columns()

    def verify_rows(self) -> Verdict:
        """Check the rows, and that no boxes overlap, which then are no items."""
        verdict = self._of_codes() if self.guarantee.of_codes else super().verify_rows()
        return self._with_overlaps(verdict)

    def of_counts(self) -> CountsVerdict:
        """Check the counts of facts next to the rows."""
        counts: Any = self.counts
        return check_fact_counts(
            self.published, self.published.stands_for, counts.lines(), counts.least, counts.suppressed,
            self.guarantee.k, domain=self.about.get("domain"), show=self.show,
        )  # fmt: skip

    def _of_codes(self) -> Verdict:
        """Check the rows for someone who knows whole codes."""
        published, guarantee = self.published, self.guarantee
        if self.before is None:
            raise RequestError(
                "Published rows do not tell which facts are of one code: that whole codes are hidden is "
                "checked inside.",
                hint="Name the run's folder, whose record says where its facts are; single facts need "
                "nothing.",
            )
        facts, image = self.before
        labels = [image.get(label) for label in facts.vocabulary.labels]
        persons: list[dict[tuple[int, int], set[str]]] = [{} for _ in range(facts.n_rows)]
        row = np.repeat(np.arange(facts.n_rows), facts.row_lengths())
        for person, fact in zip(row.tolist(), facts.items.tolist(), strict=True):
            label = labels[fact]
            if label is not None:
                code = int(facts.column[fact]), int(facts.parts[fact, 0])
                persons[person].setdefault(code, set()).add(label)
        single = replace(self, guarantee=guarantee.for_single_facts, more={})._verified(published)
        if not single.holds:  # of which that of whole codes would follow
            return replace(single, guarantee=guarantee)  # type: ignore[type-var]  # of k^m-anonymity
        known = [[frozenset(shown) for shown in person.values()] for person in persons]
        return verify_codes(published, known, guarantee, show=self.show, progress=self.progress)

    def _with_overlaps(self, verdict: Verdict) -> Verdict:
        """Add the boxes of a column that overlap."""
        published = self.published
        labels = published.vocabulary.labels
        number = 0
        first: list[tuple[str, str]] = []
        for at, column in enumerate(published.columns):
            labels_of = published.labels_of(at)
            boxes = [published.boxes[label] for label in labels_of]
            found, pairs = overlapping(boxes, column.meaning, max(self.show - len(first), 0))
            number += found
            first += [(labels[labels_of[one]], labels[labels_of[other]]) for one, other in pairs]
        return verdict if not number else broken_by_overlaps(verdict, number, first)


def broken_by_overlaps(verdict: Verdict, number: int, first: Iterable[Any]) -> Verdict:
    """Return the verdict that also counts labels which overlap, and lists the first of them."""
    return replace(  # type: ignore[type-var]  # of the models that rows of facts have
        verdict, holds=False, violations=verdict.violations + number, overlaps=tuple(first)
    )


check = FactsCheck
