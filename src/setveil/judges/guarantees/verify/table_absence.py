"""Check (k,k^m)-anonymity with known absent items, using only the published table, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.verify._classes import TableClasses, fewest
from setveil.judges.guarantees.verify.absence import OfAbsence, Sign, verify_absence
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary


class Narrowed(NamedTuple):
    """Too few rows of a class: all of it, or those that fit some items and absent ones."""

    known: tuple[tuple[str, str], ...]  # the quasi-identifiers of the class: column and label
    itemset: tuple[str, ...]
    absent: tuple[str, ...]
    support: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "class": dict(self.known),
            "itemset": list(self.itemset),
            "absent": list(self.absent),
            "support": self.support,
        }


@dataclass(frozen=True, repr=False)
class TableAbsenceVerdict(OfAbsence):
    """The verdict on a table, as `setveil.judges.guarantees.verify.absence.AbsenceVerdict` for each class."""

    guarantee: KKmAnonymity
    absent: int
    absence: str
    holds: bool
    violations: int  # small classes, and pairs of items and absent ones, not both none, that few rows fit
    first: tuple[Narrowed, ...]  # some of these, by class
    greatest_k: int | None

    @property
    def phrase(self) -> str:
        """Name of what was asked, with its parameters."""
        k, m = self.guarantee.k, self.guarantee.m
        return f"(k,k^m)-anonymity (k={k}, m={m}, a={self.absent}, absent {self.absence})"

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [entry.as_dict() for entry in self.first]


def verify_table_absence(
    published: PublishedTable,
    guarantee: KKmAnonymity,
    signs: Sequence[Sign],
    *,
    absent: int,
    absence: str,
    show: int = 10,
    progress: Progress = silent,
) -> TableAbsenceVerdict:
    """Check (k,k^m)-anonymity with absent items; in a class, a sign has only its labels that occur there."""
    classes = TableClasses.of(published)
    violations, first, least = 0, [], None
    for which, rows in enumerate(rows_of_classes(published.sets, classes)):
        progress("verifying classes with absent items", which / classes.sizes.size)
        size, known = rows.n_rows, classes.named(published, which)
        if size < guarantee.k:
            violations += 1
            first.append(Narrowed(known, (), (), size))
        found = verify_absence(
            rows, guarantee.of_items, signs_within(signs, rows), absent=absent, absence=absence, show=show
        )
        violations += found.violations
        first += [Narrowed(known, *entry) for entry in found.first[: max(show - len(first), 0)]]
        least = fewest(*(n for n in (size, least, found.greatest_k) if n is not None))
    return TableAbsenceVerdict(
        guarantee, absent, absence, not violations, violations, tuple(first[:show]), least
    )


def rows_of_classes(sets: Transactions, classes: TableClasses) -> list[Transactions]:
    """Take the items of the rows of each class, with a separate vocabulary."""
    order = np.argsort(classes.of_row, kind="stable")
    lengths = sets.row_lengths()
    found, end = [], 0
    for size in classes.sizes.tolist():
        rows = order[end : end + size]
        end += size
        indptr = np.concatenate(([0], np.cumsum(lengths[rows])))
        at = np.arange(indptr[-1]) + np.repeat(sets.indptr[rows] - indptr[:-1], lengths[rows])
        used, items = np.unique(sets.items[at], return_inverse=True)
        labels = Vocabulary([sets.vocabulary.labels[x] for x in used.tolist()])
        found.append(Transactions(_frozen(indptr, np.int64), _frozen(items, np.int32), labels))
    return found


def signs_within(signs: Sequence[Sign], rows: Transactions) -> list[Sign]:
    """Take of what excludes rows that which some of these show; what excludes the same rows counts once."""
    found: dict[tuple[str, ...], str] = {}
    for item, labels in signs:
        shown = tuple(label for label in labels if label in rows.vocabulary.ids)
        if shown:
            found.setdefault(shown, item)
    return [(item, labels) for labels, item in found.items()]


def _frozen(values: Any, dtype: Any) -> Any:
    made = values.astype(dtype)
    made.flags.writeable = False
    return made
