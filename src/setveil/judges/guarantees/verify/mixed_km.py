"""Check mixed k^m-anonymity using only the published table, by the loops of the verifier of k^m-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.mixed_km import QI, MixedKmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._classes import Ints, Overlap, RareItemsets, own_columns
from setveil.judges.guarantees.verify.km import MOST_SHOWN
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.vocabulary import item_order


class RareFacts(NamedTuple):
    """Facts that too few rows show."""

    known: tuple[tuple[str, str], ...]  # quasi-identifiers among them: column and label
    itemset: tuple[str, ...]  # items among them
    support: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {"class": dict(self.known), "itemset": list(self.itemset), "support": self.support}


@dataclass(frozen=True, repr=False)
class MixedKmVerdict(Verdict):
    """The verdict on mixed k^m-anonymity."""

    guarantee: MixedKmAnonymity
    holds: bool
    violations: int  # sets of at most m facts that 1 to k - 1 rows show
    # smaller sets first, then quasi-identifiers, by column and label, before items
    first: tuple[RareFacts, ...]
    greatest_k: int | None  # for this m (1: for no k of at least 2); None without rows
    complete: bool
    overlaps: tuple[Overlap, ...] = ()  # published facts of which one fact lies in both

    def found(self) -> dict[str, Any]:
        """Return the greatest k, and whether counting was complete, as JSON types."""
        overlap = {"overlap": True} if self.overlaps else {}
        return {"greatest_k": self.greatest_k, "complete": self.complete, **overlap}

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [*(one.as_dict() for one in self.overlaps), *(one.as_dict() for one in self.first)]


def verify_mixed_km(
    published: PublishedTable,
    guarantee: MixedKmAnonymity,
    *,
    show: int = 10,
    brief: bool = False,
    progress: Progress = silent,
) -> MixedKmVerdict:
    """Check mixed k^m-anonymity of a table, for a shorter time if `brief`; an empty field is a fact, too."""
    indptr, facts, names = rows_of_facts(published)
    show = min(show, MOST_SHOWN)
    column, most = own_columns(published, guarantee.m)
    if column is not None:  # quasi-identifiers come first
        of_known = np.full(len(names) - column.size, list(guarantee.m.each).index(QI))
        column = np.concatenate([of_known, column])
    rare = RareItemsets(guarantee.k, guarantee.m, show, brief=brief, progress=progress, most=most)
    rare.look_at(indptr, facts, len(names), column)
    first = [
        RareFacts(
            tuple((column, label) for column, label in (names[x] for x in ids) if column is not None),
            tuple(label for column, label in (names[x] for x in ids) if column is None),
            support,
        )
        for ids, support in rare.found[:show]
    ]
    return MixedKmVerdict(
        guarantee, not rare.violations, rare.violations, tuple(first), rare.smallest, rare.complete
    )


def rows_of_facts(published: PublishedTable) -> tuple[Ints, Ints, list[tuple[str | None, str]]]:
    """List the facts of each row, its labels in all columns, then its items, and name them."""
    sets, n_columns = published.sets, len(published.columns)
    names: list[tuple[str | None, str]] = []
    lengths = np.diff(sets.indptr) + n_columns
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    facts = np.empty(indptr[-1], np.int64)
    for number, column in enumerate(published.columns):
        order = item_order(set(column.labels))
        place = {label: len(names) + i for i, label in enumerate(order)}
        names += [(column.name, label) for label in order]
        code = np.array([place[label] for label in column.labels], np.int64)
        if code.size:
            facts[indptr[:-1] + number] = code[column.codes]
    into = np.arange(sets.items.size) + n_columns * np.repeat(
        np.arange(1, published.n_rows + 1), np.diff(sets.indptr)
    )
    facts[into] = sets.items.astype(np.int64) + len(names)
    names += [(None, label) for label in sets.vocabulary.labels]
    return indptr, facts, names
