"""Published rows in published classes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import frozen
from setveil.rows.data.exposed import Refusal
from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True, eq=False)
class ClassRows(Transactions):
    """Published rows in classes, class after class, so that their order shows the class of each."""

    # int64 (classes,), read-only: rows of each, at least 1
    sizes: NDArray[np.int64] = field(default_factory=lambda: frozen(np.zeros(0), np.int64))

    kind: ClassVar[str] = "classes"
    shows_absence: ClassVar[bool] = False
    final: ClassVar[Refusal] = Refusal(
        "Published rows in classes cannot be anonymized again: a label may represent other items in each.",
        "Anonymize the rows that they were made of.",
    )

    @classmethod
    def of(cls, rows: Transactions, sizes: NDArray[np.integer]) -> ClassRows:
        """Say where classes begin and end in rows that stand class after class."""
        return cls(rows.indptr, rows.items, rows.vocabulary, rows.origin, frozen(sizes, np.int64))

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Bounds of the classes: int64 (classes + 1,)."""
        return np.concatenate(([0], np.cumsum(self.sizes)))

    @property
    def class_of_row(self) -> NDArray[np.int64]:
        """The class of each row: int64 (n_rows,)."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def empty_rows(self) -> NDArray[np.int64]:
        """Count the rows of each class that show nothing: int64 (classes,)."""
        return np.bincount(self.class_of_row[self.row_lengths() == 0], minlength=self.sizes.size)

    def rows_of(self, number: int) -> Transactions:
        """Take the rows of one class, in the vocabulary of all."""
        begin, end = self.bounds[number : number + 2].tolist()
        first, last = int(self.indptr[begin]), int(self.indptr[end])
        indptr = frozen(self.indptr[begin : end + 1] - first, np.int64)
        return Transactions(indptr, frozen(self.items[first:last], np.int32), self.vocabulary)

    def became(self, place: int) -> dict[str, Any]:
        """Return the items and the class of a row."""
        class_ = int(np.searchsorted(self.bounds, place, side="right")) - 1
        return {**super().became(place), "class": class_}

    def marked(self, secrets: Collection[str] = ()) -> Transactions:
        """Separate labels by class, as someone who knows a person's class does, but for `secrets`."""
        n = max(self.n_items, 1)
        keys = np.repeat(self.class_of_row, self.row_lengths()) * n + self.items
        used, items = np.unique(keys, return_inverse=True)
        labels = self.vocabulary.labels
        names = [
            labels[key % n] if labels[key % n] in secrets else f"{labels[key % n]} [class {key // n}]"
            for key in used.tolist()
        ]
        return Transactions.from_codes(self.indptr, items.ravel(), names)

    def views(self, secrets: Collection[str] = ()) -> dict[str, Transactions]:
        """Return what an attacker sees who does not know the class of a person, and one who does."""
        return {"class not known": self, "class known": self.marked(secrets)}

    def shows(self, other: Self) -> bool:
        """Return whether other rows show the same items in the same classes, in the same order."""
        return super().shows(other) and np.array_equal(self.sizes, other.sizes)

    def supports_by_class(self) -> NDArray[np.int64]:
        """Count the rows of each class that show each label: int64 (classes, labels)."""
        classes = np.repeat(self.class_of_row, self.row_lengths())
        cells = np.bincount(classes * self.n_items + self.items, minlength=self.sizes.size * self.n_items)
        return cells.reshape(self.sizes.size, self.n_items)
