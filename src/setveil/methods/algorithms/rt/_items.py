"""The items of classes: each class anonymized by itself, by an algorithm for sets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, shorten
from setveil.base.progress import Progress
from setveil.base.wording import count
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows
from setveil.methods import algorithms
from setveil.methods.algorithms.rt._item_optimum import ItemOptima, ItemOptimum
from setveil.releases.published.recoding import LocalGroups, LocalRecoding, Recoding
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table

EXACT = "exact"
SETTINGS: dict[str, dict[str, Any]] = {"lra": {"parts": 1}}  # one recoding for each class


@dataclass(frozen=True, eq=False)
class RecodedClass:
    """What the items of one class became."""

    # int64 (occurrences,): number of the label of each occurrence in the class's rows, one row after another;
    # -1: suppressed
    image: Ints
    # ncp, lm: sums over the occurrences: of the members of its label (0 if it is the only one, |I| if
    # suppressed), and of those less one (|I| - 1, or 1 if that is 0, if suppressed)
    ncp: int
    lm: int
    least: int  # with exact items, proven: no recoding of the class has a lesser `lm`
    hidden: bool  # whether too few rows hold items, so that all are suppressed


class ClassItems:
    """Anonymizes the items of classes, each class once; the guarantee must hold within each.

    The table's rows are in canonical order; losses are measured on the whole hierarchy; `algorithm` is for
    sets: it gives k^m-anonymity, or protects all itemsets of m items.
    """

    def __init__(
        self,
        table: Table,
        hierarchy: Hierarchy,
        guarantee: KKmAnonymity,
        algorithm: str,
        suppress: bool,
        progress: Progress,
    ) -> None:
        self.table, self.hierarchy, self.guarantee = table, hierarchy, guarantee
        self.suppress, self.progress = suppress, progress
        self.whole = hierarchy.n_leaves * max(table.n_occurrences, 1)
        leaves = recode_rows(table.indptr, table.items, hierarchy.locate(table.vocabulary))
        k, m = guarantee.k, guarantee.m
        self._optima = ItemOptima(hierarchy, *leaves, k, m, suppress=suppress) if algorithm == EXACT else None
        self._module = None if self._optima else algorithms.load(algorithm)
        self._settings = SETTINGS.get(algorithm, {})
        self._done: dict[tuple[int, int], RecodedClass] = {}
        self._labels: dict[str, int] = {}
        self._members: list[NDArray[np.int32]] = []
        self._grouped = False  # whether labels list the members of groups

    def of(self, rows: Ints) -> RecodedClass:
        """Anonymize the items of a class (see `of_all`)."""
        return self.of_all([rows])[0]

    def loss(self, rows: Ints) -> int:
        """Compute what a class's items lose by NCP; divided by `whole` it is the class's share of T."""
        return self.of(rows).ncp

    def of_all(self, classes: Sequence[Ints]) -> list[RecodedClass]:
        """Anonymize the items of disjoint or nested classes (as of mergers), in several threads."""
        new = [rows for rows in classes if _key(rows) not in self._done]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            several = threads.map if self._optima and len(new) > 1 else map
            solved = several(self._solved, new)
            for number, (rows, found) in enumerate(zip(new, solved, strict=True)):
                self.progress("anonymizing the items of classes", number / len(new))
                self._done[_key(rows)] = self._numbered(rows, found)
        return [self._done[_key(rows)] for rows in classes]

    def recoding(self, classes: Sequence[Ints], order: Ints) -> LocalRecoding:
        """Put the recodings of all classes together; `order`: the row of the original table for each row."""
        lengths = self.table.row_lengths()
        original = np.empty(order.size, np.int64)
        original[order] = lengths
        starts = (np.cumsum(original) - original)[order]  # of each row's occurrences, in the original
        image = np.empty(self.table.n_occurrences, np.int64)
        for rows, found in zip(classes, self.of_all(classes), strict=True):
            image[_runs(starts[rows], lengths[rows])] = found.image
        return self._published(image)

    def _published(self, image: Ints) -> LocalRecoding:
        texts, members = list(self._labels), self._members
        used = np.unique(image[image >= 0]).tolist()
        used.sort(key=lambda i: (members[i].size > 1, members[i][0], members[i].size))
        position = np.full(len(texts) + 1, -1, np.int64)
        position[used] = np.arange(len(used))
        inside = [members[i] for i in used]
        kind = LocalGroups if self._grouped else LocalRecoding
        return kind(
            Vocabulary(self.hierarchy.labels[: self.hierarchy.n_leaves]),
            Vocabulary(texts[i] for i in used),
            frozen(np.cumsum([0, *(part.size for part in inside)]), np.int64),
            frozen(np.concatenate([np.zeros(0, np.int32), *inside]), np.int32),
            frozen(position[image], np.int32),
            self.hierarchy.n_leaves,
        )

    def _solved(self, rows: Ints) -> Recoding | LocalRecoding | ItemOptimum | None:
        """Anonymize the items of a class; None: all are suppressed, or there are none."""
        filled = self._filled(rows)
        if filled < self.guarantee.k:
            if filled and not self.suppress:
                raise self._refusal(rows, filled)
            return None
        if self._optima:
            return self._optima.solve(rows)
        inside = self.table.rows_at(rows)
        module: Any = self._module
        k, m = self.guarantee.k, self.guarantee.m
        promise: KmAnonymity | PrivacyConstraints
        if KmAnonymity.model in module.info.guarantees:
            promise = KmAnonymity(k, m)
        else:  # all itemsets of m items; none has more than the longest row
            promise = PrivacyConstraints(k, m=int(min(m, inside.row_lengths().max())))
        settings = module.Parameters(**self._settings)
        found: Recoding | LocalRecoding = module.anonymize(
            inside, self.hierarchy, promise, settings, self.progress
        )[0]
        return found

    def _numbered(self, rows: Ints, found: Recoding | LocalRecoding | ItemOptimum | None) -> RecodedClass:
        """Give the labels of a class their numbers, and compute what it loses."""
        inside = self.table.rows_at(rows)
        least = None
        if found is None:
            image = np.full(inside.n_occurrences, -1, np.int64)
        elif isinstance(found, ItemOptimum):
            least = found.lower
            of_leaf = np.full(self.hierarchy.n_leaves, -1, np.int64)
            for leaf, node in zip(found.leaves.tolist(), found.nodes.tolist(), strict=True):
                if node >= 0:
                    label = self.hierarchy.labels[node]
                    of_leaf[leaf] = self._number(label, partial(self.hierarchy.under, node))
            image = of_leaf[self.hierarchy.locate(self.table.vocabulary)[inside.items]]
        else:
            self._grouped |= found.labels_from == "members"
            labels: Ids = found.images(inside)
            number = np.full(len(found.published) + 1, -1, np.int64)
            for p in np.unique(labels[labels >= 0]).tolist():
                number[p] = self._number(found.published.labels[p], partial(found.represented, p))
            image = number[labels]
        n = self.hierarchy.n_leaves
        sizes = np.array([members.size for members in self._members] + [0])[image]
        ncp = np.where(image < 0, n, np.where(sizes > 1, sizes, 0))
        lm = np.where(image < 0, max(n - 1, 1), sizes - 1)
        hidden = 0 < self._filled(rows) < self.guarantee.k
        cost = int(lm.sum())
        return RecodedClass(image, int(ncp.sum()), cost, cost if least is None else least, hidden)

    def _filled(self, rows: Ints) -> int:
        return int((self.table.row_lengths()[rows] > 0).sum())

    def _number(self, label: str, members: Callable[[], NDArray[np.integer]]) -> int:
        """Give a label its number; it means the same in all classes, as groups are named by their items."""
        number = self._labels.setdefault(label, len(self._members))
        if number == len(self._members):
            self._members.append(frozen(np.sort(members()), np.int32))
        return number

    def _refusal(self, rows: Ints, filled: int) -> InfeasibleError:
        inside = self.table.rows_at(rows)
        intervals = inside.intervals(np.zeros(rows.size, np.int64), 1)
        shown = ", ".join(
            f"{column.name} = {shorten(column.label_of(int(least[0]), int(greatest[0])))}"
            for column, (least, greatest) in zip(inside.columns, intervals, strict=True)
        )
        return InfeasibleError(
            f"The class of {count(rows.size, 'row')} with {shown} has {count(filled, 'row')} with items, and "
            f"fewer than k = {self.guarantee.k} rows hide nobody.",
            hint="Allow suppression of the items of such classes, or merge classes.",
        )


def _key(rows: Ints) -> tuple[int, int]:
    return int(rows[0]), rows.size


def _runs(starts: Ints, lengths: Ints) -> NDArray[np.int64]:
    """List the places of runs, one run after another."""
    ends: NDArray[np.int64] = np.cumsum(lengths)
    places: NDArray[np.int64] = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
    return places
