"""Shares of sensitive values in the rows of a class, from the published table alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.verify._classes import Batch, Ints, TableClasses
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary


class Betrayal(NamedTuple):
    """Rows of a class that have a sensitive value in common too often."""

    known: tuple[tuple[str, str], ...]  # the quasi-identifiers of the class: column and label
    itemset: tuple[str, ...]  # items that these rows show; none: they are all rows of the class
    support: int
    column: str  # the kept column of the value; "" if it is an item
    value: str  # the value that most of them have
    held: int  # how many have it

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "class": dict(self.known),
            "itemset": list(self.itemset),
            "support": self.support,
            "column": self.column,
            "betrays": self.value,
            "sensitive_rows": self.held,
            "probability": self.held / self.support,
        }


class Shares:
    """Look for sensitive values that are in more than a share h of some rows of a class.

    Values are numbered, those of each sensitive column, then the sensitive items. `violations` counts classes
    that betray a value, and in other classes the smallest sets of at most p public items that do. `greatest`
    is the greatest share in a class; None if nothing is sensitive, or without rows.
    """

    def __init__(
        self, published: PublishedTable, classes: TableClasses, guarantee: KKmAnonymity, show: int
    ) -> None:
        self.published, self.classes, self.guarantee, self.show = published, classes, guarantee, show
        named = set(guarantee.sensitive)
        self.violations = 0
        self.complete = True
        self.greatest: Fraction | None = None
        self.values: list[tuple[str, str]] = []  # column, or "", and value
        self._columns: list[tuple[NDArray[np.int32], int]] = []  # codes, and the number of the first value
        self._found: list[tuple[tuple[int, int], tuple[int, ...], Betrayal]] = []
        self._noted: Counter[int] = Counter()  # by size: batches come in the order of the classes
        for column in published.kept:
            if column.name in named:
                self._columns.append((column.codes, len(self.values)))
                self.values += [(column.name, label) for label in column.labels]
        labels = published.sets.vocabulary.labels
        self._value_of_item = np.full(len(labels), -1, np.int64)
        for item in (i for i, label in enumerate(labels) if label in named):
            self._value_of_item[item] = len(self.values)
            self.values.append(("", labels[item]))

    def look_at(self, batch: Batch) -> None:
        """Look at the rows of some classes."""
        if not self.guarantee.sensitive or not batch.rows.size:
            return
        held = self._held(batch)
        of_row = self.classes.of_row[batch.rows]
        which, value, most = self._most_common(of_row[held[0]], held[1])
        sizes = self.classes.sizes[which]
        if which.size:
            shares = (Fraction(*each) for each in zip(most.tolist(), sizes.tolist(), strict=True))
            self.greatest = max(self.greatest or Fraction(0), *shares)
        self.greatest = self.greatest or Fraction(0)
        bad = self._betrayed(most, sizes)
        for entry in zip(*(x[bad].tolist() for x in (which, sizes, value, most)), strict=True):
            self._note(entry[0], (), *entry[1:])
        if self.guarantee.p and self.values and batch.items.size:
            safe = np.ones(self.classes.sizes.size, np.bool_)
            safe[which[bad]] = False
            public = (self._value_of_item[batch.item] < 0) & safe[batch.of_class]
            public = self._beside_one(batch, held, public)
            if self.guarantee.p > 1:
                self._beside_several(batch, held, public, safe[of_row])

    def _most_common(self, of: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
        """Find the value that comes most often with each number of those that any comes with."""
        n = max(len(self.values), 1)
        keys, counts = np.unique(of * n + value, return_counts=True)
        of, value = np.divmod(keys, n)
        best = np.lexsort((value, -counts, of))
        best = best[np.flatnonzero(np.diff(of[best], prepend=-1))]
        return of[best], value[best], counts[best]

    def _betrayed(self, held: Ints, rows: Ints) -> NDArray[np.bool_]:
        """Return whether a value in this many of these rows is in too many, for several."""
        h = self.guarantee.h or Fraction(1)
        different, inverse = np.unique(rows, return_inverse=True)
        most = np.array([n * h.numerator // h.denominator for n in different.tolist()], np.int64)
        bad: NDArray[np.bool_] = held > most[inverse]
        return bad

    def _held(self, batch: Batch) -> tuple[Ints, Ints]:
        """List the sensitive values of the rows of a batch: places of rows, and numbers of values."""
        n = batch.rows.size
        rows = [np.zeros(0, np.int64)]
        values = [np.zeros(0, np.int64)]
        for codes, start in self._columns:
            rows.append(np.arange(n))
            values.append(codes[batch.rows].astype(np.int64) + start)
        value = self._value_of_item[batch.item[batch.items]] if batch.items.size else np.zeros(0, np.int64)
        rows.append(np.repeat(np.arange(n), np.diff(batch.indptr))[value >= 0])
        values.append(value[value >= 0])
        return np.concatenate(rows), np.concatenate(values)

    def _note(self, which: int, items: tuple[int, ...], support: int, value: int, held: int) -> None:
        self.violations += 1
        self._noted[len(items)] += 1
        if self._noted[len(items)] > self.show:
            return
        labels = self.published.sets.vocabulary.labels
        column, text = self.values[value]
        named = self.classes.named(self.published, which)
        entry = Betrayal(named, tuple(labels[x] for x in items), support, column, text, held)
        self._found.append(((len(items), which), items, entry))

    def _beside_one(
        self, batch: Batch, held: tuple[Ints, Ints], public: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Look at the public ids one by one; return which of them betray nothing."""
        row, value = held
        lengths = np.diff(batch.indptr)[row]
        begins = np.cumsum(lengths) - lengths
        beside = batch.items[np.arange(lengths.sum()) + np.repeat(batch.indptr[row] - begins, lengths)]
        kept = public[beside]
        one, value, most = self._most_common(beside[kept], np.repeat(value, lengths)[kept])
        supports = np.bincount(batch.items, minlength=public.size)[one]
        bad = self._betrayed(most, supports)
        for entry in zip(*(x[bad].tolist() for x in (one, supports, value, most)), strict=True):
            self._note(int(batch.of_class[entry[0]]), (int(batch.item[entry[0]]),), *entry[1:])
        public[one[bad]] = False
        return public

    def _beside_several(
        self, batch: Batch, held: tuple[Ints, Ints], public: NDArray[np.bool_], wanted: NDArray[np.bool_]
    ) -> None:
        """Look at sets of public ids in the wanted rows, as the verifier of coherence would at made-up rows.

        No class betrays a value, so neither do all rows together. A smallest set that does is within a class,
        and no id of it does alone.
        """
        from setveil.judges.guarantees.verify.coherence import verify_coherence

        shown = np.repeat(np.arange(batch.rows.size), np.diff(batch.indptr))
        kept = public[batch.items] & wanted[shown]
        sensitive = wanted[held[0]]
        row = np.concatenate((shown[kept], held[0][sensitive]))
        code = np.concatenate((batch.items[kept], batch.item.size + held[1][sensitive]))
        order = np.lexsort((code, row))
        rows = np.flatnonzero(wanted)
        place = np.cumsum(wanted) - 1
        indptr = np.concatenate(([0], np.cumsum(np.bincount(place[row], minlength=rows.size))))
        private = [f"{i} " for i in range(len(self.values))]
        made_up = Transactions(
            indptr.astype(np.int64), code[order].astype(np.int32),
            Vocabulary((*map(str, range(batch.item.size)), *private)),
        )  # fmt: skip
        within = Coherence(self.guarantee.h or 1, 1, self.guarantee.p, private)
        verdict = verify_coherence(made_up, within, show=self.show)
        self.violations += verdict.violations - len(verdict.first)  # the others are noted
        self.complete &= verdict.complete
        for itemset, support, betrayed, share in verdict.first:
            ids = [int(label) for label in itemset]
            items = tuple(batch.item[ids].tolist())
            self._note(int(batch.of_class[ids[0]]), items, support, int(betrayed or 0), int(share * support))

    def first(self) -> list[Betrayal]:
        """List the first violations: smaller sets of items first, then by class, then in item order."""
        return [entry for _, _, entry in sorted(self._found, key=lambda entry: entry[:2])][: self.show]
