"""Answers to COUNT queries from rows in classes and the counts of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, cast

import numpy as np

from setveil.base.errors import RequestError
from setveil.judges.utility.estimates import MAXIMUM_ENTROPY, UNIFORM, Answers, Estimator
from setveil.kernels.rows import Ints
from setveil.releases.published.class_counts import ClassCounts
from setveil.releases.published.class_estimates import ClassTable
from setveil.releases.published.class_rows import ClassRows
from setveil.releases.published.shared import SharedSums

_AT_ONCE = 1 << 22  # different items times classes that are looked at together


class _Numbers:
    """The numbers of items, in place of the places that they have where there are no classes."""

    def __init__(self, table: ClassTable) -> None:
        self.table = table

    def only(self, names: Sequence[str]) -> Ints:
        """Find the number of each item."""
        return np.array([self.table.number_of(name) for name in names], np.int64)


class ClassEstimator(Estimator):
    """Answer queries class by class, and sum them up (see `setveil.releases.published.class_estimates`).

    For one `class_`, queries may name labels as well. `unlisted`: rows of an unlisted item in all classes
    together.
    """

    in_classes: ClassVar[bool] = True
    by_label: ClassVar[bool] = False
    answers_groups: ClassVar[bool] = False

    def __init__(self, shared: SharedSums, *, unlisted: int = 0, class_: int | None = None) -> None:
        if unlisted < 0:
            raise RequestError(f"An item without a count is in 0 rows or more, got {unlisted}.")
        rows = cast(ClassRows, shared.rows)
        if class_ is not None and not 0 <= class_ < rows.sizes.size:
            raise RequestError(
                f"There is no class {class_}: --class is a number from 0 to {rows.sizes.size - 1}."
            )
        counts = cast("ClassCounts | None", shared.counts)
        self.method = UNIFORM if counts is None else MAXIMUM_ENTROPY
        self.others = bool(shared.others)
        self.table = ClassTable(rows, shared.members, counts, unlisted, shared.uncounted, shared.others)
        self.class_ = class_
        self.n_rows = rows.n_rows if class_ is None else int(rows.sizes[class_])
        self._label_ids = {label: i for i, label in enumerate(rows.vocabulary.labels)}
        self.places = _Numbers(self.table)  # type: ignore[assignment]  # all that is asked of it

    def __contains__(self, name: object) -> bool:
        """Return whether the release names an item, or the requested class has such a label."""
        return name in self.table.ids or (self.class_ is not None and name in self._label_ids)

    def shows(self, name: str) -> bool:
        """Return whether rows show a name, as an item or a label."""
        return name in self._label_ids

    @property
    def items(self) -> tuple[str, ...]:
        """All items that the release names."""
        return self.table.items

    @property
    def listed(self) -> tuple[str, ...]:
        """The names of items and labels that the release lists."""
        return (*self.table.items, *self._label_ids)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that represent others, if one class is requested."""
        if self.class_ is None:
            return ()
        return tuple(label for label in self._label_ids if label not in self.table.ids)

    def kinds(self, items: Iterable[str]) -> list[tuple[object, ...]]:
        """Tell which items compare: in classes none does."""
        return [(item,) for item in items]

    def of_items(self, items: Sequence[str]) -> np.ndarray:
        """Estimate the rows of each of some items: float64 (items,)."""
        numbers = self.places.only(items)
        return self.answers_at(np.arange(numbers.size + 1), numbers).estimate

    def answers(self, queries: Sequence[Iterable[str]]) -> Answers:
        """Answer many queries at once (see `Estimator.answers`)."""
        numbers: list[int] = []
        ends = [0]
        for query in queries:
            names = list(dict.fromkeys(query))
            if not names:
                raise RequestError("A query has no item, expected at least one.")
            numbers += [self._number(name) for name in names]
            ends.append(len(numbers))
        return self.answers_at(np.array(ends, np.int64), np.array(numbers, np.int64))

    def _number(self, name: str) -> int:
        if self.class_ is not None and name not in self.table.ids and name in self._label_ids:
            return len(self.table.items) + 1 + self._label_ids[name]
        return self.table.number_of(name)

    def answers_at(self, indptr: Ints, places: Ints) -> Answers:
        """Answer many queries by the numbers of their items."""
        step = max(1, _AT_ONCE // self.table.n_classes // max(1, int(np.diff(indptr).max(initial=1))))
        parts = []
        for first in range(0, max(indptr.size - 1, 1), step):
            some = indptr[first : first + step + 1]
            parts.append(
                self.table.answers_at(some - some[0], places[some[0] : some[-1]], class_=self.class_)
            )
        return Answers(*(np.concatenate(part) for part in zip(*parts, strict=True)))
