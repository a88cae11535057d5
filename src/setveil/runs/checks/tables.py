"""The check of tables: of the rows, of facts that overlap, of absent items, and of counts of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._classes import Overlap, TableClasses
from setveil.judges.guarantees.verify.counts import CountsVerdict
from setveil.judges.guarantees.verify.table_counts import check_table_counts
from setveil.runs.checks import ReleaseCheck


@dataclass(frozen=True)
class TablesCheck(ReleaseCheck):
    """A table, and how it is checked."""

    def verdict(self) -> Verdict:
        """Check the rows and the counts next to them, or that facts do not overlap, which are not counted."""
        if self.published.sets.has_facts:
            return self._with_overlaps(self.verify_rows())
        return super().verdict()

    def of_counts(self) -> CountsVerdict:
        """Check the counts of items next to the rows."""
        return check_table_counts(self.published, self.counts_file, self.guarantee, show=self.show)

    def verify_rows_with_absent(self, absent: int) -> Verdict:
        """Check the rows for someone who also knows what a person lacks."""
        from setveil.judges.guarantees.verify.table_absence import verify_table_absence

        signs = self.signs(self.published.sets)
        return verify_table_absence(
            self.published, self.guarantee, signs, absent=absent, absence=self.absence, show=self.show,
            progress=self.progress,
        )  # fmt: skip

    def _with_overlaps(self, verdict: Verdict) -> Verdict:
        """Add the facts that overlap.

        Under (k,k^m)-anonymity each class is looked at by itself, as someone does who knows the class; else
        all rows together.
        """
        from setveil.judges.guarantees.verify.boxes import overlapping
        from setveil.runs.checks.facts import broken_by_overlaps

        published, sets = self.published, self.published.sets
        by_class = self.guarantee.model == KKmAnonymity.model
        classes = TableClasses.of(published)
        of_row = classes.of_row if by_class else np.zeros(published.n_rows, np.int64)
        n = max(sets.n_items, 1)
        pairs = np.unique(np.repeat(of_row, sets.row_lengths()) * n + sets.items)
        number = 0
        first: list[Overlap] = []
        names = sets.vocabulary.labels
        for some in np.split(pairs, np.flatnonzero(np.diff(pairs // n)) + 1) if pairs.size else []:
            labels = some % n
            for at, column in enumerate(sets.columns):
                mine = labels[sets.column[labels] == at].tolist()
                boxes = [sets.boxes[label] for label in mine]
                found, two = overlapping(boxes, column.meaning, max(self.show - len(first), 0))
                number += found
                known = classes.named(published, int(some[0] // n)) if found and by_class else ()
                first += [Overlap(known, (names[mine[one]], names[mine[other]])) for one, other in two]
        return verdict if not number else broken_by_overlaps(verdict, number, first)


check = TablesCheck
