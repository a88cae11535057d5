"""The check of rows in published classes: every class by itself, and lines and totals of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.base.errors import RequestError
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify.class_counts import ClassCountsFile, check_class_counts
from setveil.judges.guarantees.verify.classes import classes_of, verify_classes
from setveil.releases.published.listing import others_in
from setveil.runs.checks import ReleaseCheck


@dataclass(frozen=True)
class ClassesCheck(ReleaseCheck):
    """Rows in classes, and how they are checked."""

    def verdict(self) -> Verdict:
        """Check every class, and the counts of all."""
        if self.cover is not None:
            raise RequestError(
                "The cover reading is that of releases which know no classes; here each class keeps the "
                "guarantee.",
                hint="Omit --reading and --hierarchy.",
            )
        classes = classes_of(self.published, self.published.sizes.tolist())
        verdict = verify_classes(classes, self.guarantee, show=self.show, progress=self.progress)
        counts: Any = self.counts
        if counts is None:
            return verdict
        about = self.about
        file = ClassCountsFile(
            counts.lines(), counts.least, counts.untold, about["labels"], about.get("domain"),
            others_in(about),
        )  # fmt: skip
        secrets = self.guarantee.secrets
        return verdict.with_counts(
            check_class_counts(classes, file, self.guarantee.k, secrets=secrets, show=self.show)
        )


check = ClassesCheck
