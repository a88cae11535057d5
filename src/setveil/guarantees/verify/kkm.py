"""Is it (k,k^m)-anonymous? Answered from the published table alone.

The verifier shares no code with any algorithm: it tells classes apart by their labels, and counts itemsets by
the loops of the verifier of k^m-anonymity, shares by those of the verifier of coherence. The tests check it
against a few lines of plain Python that look at every subset of every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from setveil.guarantees.kkm import KKmAnonymity
from setveil.guarantees.verify import Verdict
from setveil.guarantees.verify._classes import (
    Overlap,
    RareItemsets,
    TableClasses,
    batches,
    fewest,
    own_columns,
)
from setveil.guarantees.verify._shares import Betrayal, Shares
from setveil.guarantees.verify.km import MOST_SHOWN
from setveil.progress import Progress, silent
from setveil.published.table_files import PublishedTable


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
    """What the verifier found.

    Attributes
    ----------
    holds : bool
        Whether it holds. Always certain.
    violations : int
        Classes of fewer than k rows; sets of at most m items, each within one class, that some of its rows,
        but fewer than k, show; and smallest sets of at most p items (or none) within a class whose rows have
        a sensitive value in common too often.
    first : tuple of RareRows or Betrayal
        The first violations: small classes, in the order of their first rows; then itemsets, smaller ones
        first, then by class, then in item order; then sensitive values, by the same order.
    greatest_k : int or None
        The least number of rows of a class, or of rows of one that show a set of at most m items: the
        greatest k for which the promise holds at this m (1: for no k of at least 2). None without rows.
    greatest_share : Fraction or None
        The greatest share of the rows of a class that have the same sensitive value; None if nothing is
        sensitive, or there are no rows.
    complete : bool
        False if counting stopped early: then there may be more `violations`, and `greatest_k` may be smaller.
        `holds` is certain nevertheless.
    """

    guarantee: KKmAnonymity
    holds: bool
    violations: int
    first: tuple[RareRows | Betrayal, ...]
    greatest_k: int | None
    greatest_share: Fraction | None
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
    """Check (k,k^m)-anonymity from a published table.

    Parameters
    ----------
    published : PublishedTable
        Columns and sets of published labels; each label is taken as one item, whatever it represents.
    guarantee : KKmAnonymity
        k and m; perhaps what is sensitive, with h and p.
    brief : bool
        Count violations for a shorter time.

    Notes
    -----
    The classes are taken some at a time. Items of different classes never meet in a row: so one call of the
    loops of k^m-anonymity, on rows of made-up items, one for each class and item, checks all of these. For m
    at least the longest row, the supports of whole rows decide.
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
