"""Check (k,k^m)-anonymity using only the published table, by loops of other verifiers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._classes import (
    Overlap,
    RareItemsets,
    TableClasses,
    batches,
    fewest,
    own_columns,
)
from setveil.judges.guarantees.verify._shares import Betrayal, Shares
from setveil.judges.guarantees.verify.km import MOST_SHOWN
from setveil.releases.published.table_files import PublishedTable


class RareRows(NamedTuple):
    """Too few rows: of a class, or of those in it that show some items."""

    known: tuple[tuple[str, str], ...]  # the quasi-identifiers of the class: column and label
    itemset: tuple[str, ...]  # the items; none: the class itself is too small
    support: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {"class": dict(self.known), "itemset": list(self.itemset), "support": self.support}


@dataclass(frozen=True, repr=False)
class KKmVerdict(Verdict):
    """The verdict on (k,k^m)-anonymity.

    `violations` are classes of fewer than k rows; sets of at most m items that 1 to k - 1 rows of a class
    show; and smallest sets of at most p items (or none) in a class whose rows share a sensitive value too
    often. `first` is in this order: classes by their first rows, sets by size, class and item order.
    """

    guarantee: KKmAnonymity
    holds: bool
    violations: int
    first: tuple[RareRows | Betrayal, ...]
    # fewest rows of a class, or in one with a set of at most m items; None without rows
    greatest_k: int | None
    greatest_share: Fraction | None  # of the rows of a class with the same sensitive value; None without any
    complete: bool
    overlaps: tuple[Overlap, ...] = ()  # published facts of a class of which one fact lies in both

    def found(self) -> dict[str, Any]:
        """Return the greatest k, the greatest share, and whether counting was complete, as JSON types."""
        share = None if self.greatest_share is None else float(self.greatest_share)
        return {
            "greatest_k": self.greatest_k,
            **({"greatest_share": share} if self.guarantee.sensitive else {}),
            "complete": self.complete,
            **({"overlap": True} if self.overlaps else {}),
        }

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [*(one.as_dict() for one in self.overlaps), *(one.as_dict() for one in self.first)]


def verify_kkm(
    published: PublishedTable,
    guarantee: KKmAnonymity,
    *,
    show: int = 10,
    brief: bool = False,
    progress: Progress = silent,
) -> KKmVerdict:
    """Check (k,k^m)-anonymity of published labels, for a shorter time if `brief`.

    Items of different classes never meet in a row: so one call of the loops of k^m-anonymity, on one made-up
    item per class and item, checks several classes. For m at least the longest row, whole rows decide.
    """
    show = min(show, MOST_SHOWN)
    classes = TableClasses.of(published)
    small = np.flatnonzero(classes.sizes < min(guarantee.k, published.n_rows + 1))
    first: list[RareRows | Betrayal] = [
        RareRows(classes.named(published, which), (), int(classes.sizes[which]))
        for which in small[:show].tolist()
    ]
    labels = published.sets.vocabulary.labels
    column, most = own_columns(published, guarantee.m)
    rare = RareItemsets(guarantee.k, guarantee.m, show, broken=bool(small.size), brief=brief, most=most)
    shares = Shares(published, classes, guarantee, show)
    itemsets: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = []  # class last but for the items
    done = 0
    for batch in batches(published, classes):
        progress("verifying classes", done / published.n_rows)
        of = None if column is None else column[batch.item]
        rare.look_at(batch.indptr, batch.items, batch.item.size, of)
        itemsets += [
            (tuple(batch.item[list(ids)].tolist()), support, (len(ids), int(batch.of_class[ids[0]])))
            for ids, support in rare.found
        ]
        shares.look_at(batch)
        done += batch.rows.size
    itemsets.sort(key=lambda entry: (entry[2], entry[0]))
    first += [
        RareRows(classes.named(published, where[1]), tuple(labels[x] for x in items), support)
        for items, support, where in itemsets[: show - len(first)]
    ]
    betrayals = shares.first()
    first += betrayals[: show - len(first)]
    violations = small.size + rare.violations + shares.violations
    return KKmVerdict(
        guarantee,
        not violations,
        violations,
        tuple(first),
        fewest(*classes.sizes.tolist(), rare.smallest),
        shares.greatest,
        rare.complete and shares.complete,
    )
