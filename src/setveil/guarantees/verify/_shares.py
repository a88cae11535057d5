"""How much the rows of a class have in common: shares of sensitive values, from the published table alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.guarantees.coherence import Coherence
from setveil.guarantees.kkm import KKmAnonymity
from setveil.guarantees.verify._classes import Batch, Classes, Ints
from setveil.guarantees.verify.coherence import verify_coherence
from setveil.published.table_files import PublishedTable


class Betrayal(NamedTuple):
    """Rows of a class that have a sensitive value in common too often.

    Attributes
    ----------
    known : tuple of (str, str)
        The quasi-identifiers of the class: column and label.
    itemset : tuple of str
        Items that these rows show; none: they are all rows of the class.
    support : int
        Number of these rows.
    column : str
        The kept column of the value; "" if it is an item.
    value : str
        The value that most of them have.
    held : int
        How many have it.
    """

    known: tuple[tuple[str, str], ...]
    itemset: tuple[str, ...]
    support: int
    column: str
    value: str
    held: int

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
    """Looks for sensitive values that are in more than a share h of some rows of a class.

    Values are numbered: those of each sensitive column, then the sensitive items.

    Attributes
    ----------
    violations : int
        Classes whose rows have a value in common too often, and of the other classes the sets of at most p
        items that are not sensitive whose rows do, while those of no part of the set do.
    greatest : Fraction or None
        The greatest share of the rows of a class; None if nothing is sensitive, or there are no rows.
    complete : bool
        Whether all violations were counted.
    """

    def __init__(
        self, published: PublishedTable, classes: Classes, guarantee: KKmAnonymity, show: int
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
        which, worst, most = self._most_common(batch, held)
        safe = np.ones(self.classes.sizes.size, np.bool_)
        for one, value, common in zip(which.tolist(), worst.tolist(), most.tolist(), strict=True):
            rows = int(self.classes.sizes[one])
            self.greatest = max(self.greatest or Fraction(0), Fraction(common, rows))
            if self.guarantee.betrays(common, rows):
                safe[one] = False
                self.violations += 1
                self._note(one, (), rows, value, common)
        self.greatest = self.greatest or Fraction(0)
        wanted = safe[self.classes.of_row[batch.rows]]
        if self.guarantee.p and self.values and wanted.any():
            self._beside_items(batch, held, wanted)

    def _most_common(self, batch: Batch, held: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """Find the value of most rows of each class that has any: class, value, rows."""
        row, value = held
        n = max(len(self.values), 1)
        keys, counts = np.unique(self.classes.of_row[batch.rows[row]] * n + value, return_counts=True)
        which, value = np.divmod(keys, n)
        best = np.lexsort((value, -counts, which))
        best = best[np.flatnonzero(np.diff(which[best], prepend=-1))]
        return which[best], value[best], counts[best]

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
        self._noted[len(items)] += 1
        if self._noted[len(items)] > self.show:
            return
        labels = self.published.sets.vocabulary.labels
        column, text = self.values[value]
        named = self.classes.named(self.published, which)
        entry = Betrayal(named, tuple(labels[x] for x in items), support, column, text, held)
        self._found.append(((len(items), which), items, entry))

    def _beside_items(self, batch: Batch, held: tuple[Ints, Ints], wanted: NDArray[np.bool_]) -> None:
        """Look at sets of items within the classes that are safe without any: coherence of made-up rows.

        No class alone betrays a value, so all rows together do not either, and a smallest set that does is
        one within a class.
        """
        public = (self._value_of_item[batch.item] < 0) if batch.item.size else np.zeros(0, np.bool_)
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
        self.violations += verdict.violations
        self.complete &= verdict.complete
        for itemset, support, betrayed, share in verdict.first:
            ids = [int(label) for label in itemset]
            items = tuple(batch.item[ids].tolist())
            self._note(int(batch.of_class[ids[0]]), items, support, int(betrayed or 0), int(share * support))

    def first(self) -> list[Betrayal]:
        """List the first violations: smaller sets of items first, then by class, then in item order."""
        return [entry for _, _, entry in sorted(self._found, key=lambda entry: entry[:2])][: self.show]
