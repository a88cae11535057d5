"""What the items of a run are published as, and what another choice would guarantee and lose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.judges.guarantees import Guarantee, model_named
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict, verify
from setveil.judges.utility.entropy import entropy
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.kernels.rows import frozen, recode_rows
from setveil.releases.published.recoding import Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.past.facts import FactBoxes

LISTED = 50_000  # violations that one check lists; further checks find what these leave
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RunTerms:
    """What a run was made from, and for."""

    data: Transactions
    items: Vocabulary  # all items, as in the run's recoding
    tree: Hierarchy | None  # decides the order of labels
    guarantee: Guarantee  # what the run guarantees
    objective: str  # {"lm", "ncp", "entropy"}: the measure of the loss that it keeps low
    progress: Progress
    boxes: FactBoxes | None = None  # what facts may be published as; there is no tree then

    @cached_property
    def place(self) -> Positions:
        """Position in `items` of each item of the data."""
        ids = self.items.ids
        return np.array([ids[label] for label in self.data.vocabulary.labels], np.int64)

    @cached_property
    def supports(self) -> Positions:
        """Rows with each item."""
        out = np.zeros(len(self.items), np.int64)
        out[self.place] = self.data.supports()
        return out

    def entries(self, items: Positions) -> int:
        """Count the occurrences of items."""
        return int(self.supports[items].sum())

    def names(self, items: Positions) -> list[str]:
        """List the labels of items."""
        return [self.items.labels[item] for item in items.tolist()]

    def rows_with(self, items: Positions) -> NDArray[np.bool_]:
        """Mark the rows that hold any of some items."""
        wanted = np.zeros(len(self.items), np.bool_)
        wanted[items] = True
        before = np.concatenate(([0], np.cumsum(wanted[self.place][self.data.items])))
        marked: NDArray[np.bool_] = np.diff(before[self.data.indptr]) > 0
        return marked


@dataclass(frozen=True, eq=False)
class Naming:
    """A label, or none, for every item."""

    terms: RunTerms  # the rows, and what is guaranteed of them
    labels: tuple[str, ...]
    # int64 (items,): position in `labels` of what each item is published as, -1: it is left out
    image: Positions

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Position of each label."""
        return {label: i for i, label in enumerate(self.labels)}

    def members(self, label: str) -> Positions:
        """Find the items of a label, as positions; none if there is no such label."""
        return np.flatnonzero(self.image == self.position.get(label, len(self.labels)))

    def label_of(self, item: int) -> str | None:
        """Name what an item is published as."""
        to = int(self.image[item])
        return None if to < 0 else self.labels[to]

    def own_names(self) -> set[str]:
        """Find the items that occur and are published as themselves."""
        return {
            self.terms.items.labels[item]
            for item in np.flatnonzero((self.image >= 0) & (self.terms.supports > 0)).tolist()
            if self.labels[self.image[item]] == self.terms.items.labels[item]
        }

    def changed(self, parts: Mapping[str, Positions] | Mapping[None, Positions]) -> Naming:
        """Publish some items under other labels, new ones or those that are there; None: leave them out."""
        image = self.image.copy()
        labels = list(self.labels)
        for label, items in parts.items():
            to = -1 if label is None else self.position.get(label, -1)
            if label is not None and to < 0:
                to = len(labels)
                labels.append(label)
            image[items] = to
        return replace(self, labels=tuple(labels), image=image)

    def unused(self, label: str) -> str:
        """Make a label that nothing has yet, by parentheses around it."""
        while (
            label in self.position
            or label in self.terms.items.ids
            or (self.terms.tree and label in self.terms.tree)
        ):
            label = f"({label})"
        return label

    @cached_property
    def recoding(self) -> Recoding:
        """The recoding: labels that represent an item, in the order of the hierarchy, or of their items."""
        used, first = np.unique(self.image, return_index=True)
        smallest = {int(to): int(item) for to, item in zip(used, first, strict=True) if to >= 0}
        tree = self.terms.tree

        def rank(to: int) -> tuple[bool, int]:
            label = self.labels[to]
            return (False, tree.id(label)) if tree and label in tree else (True, smallest[to])

        order = sorted(smallest, key=rank)
        position = np.full(len(self.labels) + 1, -1, np.int32)
        position[order] = np.arange(len(order))
        published = Vocabulary(self.labels[to] for to in order)
        image = frozen(position[self.image], np.int32)
        if self.terms.boxes is not None:
            return self.terms.boxes.recoding(self.terms.items, published, image)
        return Recoding(self.terms.items, published, image, len(self.terms.items))

    @cached_property
    def rows(self) -> Transactions:
        """The rows as they would be published."""
        data, image = self.terms.data, self.recoding.image[self.terms.place]
        rows = recode_rows(data.indptr, data.items, frozen(image, np.int32))
        return Transactions(*rows, self.recoding.published)

    @cached_property
    def row_of(self) -> Positions:
        """The row of each occurrence of a label in these rows."""
        return np.repeat(np.arange(self.rows.n_rows), self.rows.row_lengths())

    @cached_property
    def verdict(self) -> Verdict:
        """What the verifier finds in them."""
        known: dict[str, Any] = {"brief": True} if self.terms.guarantee.model == KmAnonymity.model else {}
        if "image" in model_named(self.terms.guarantee.model).knows:
            known["image"] = {item: self.label_of(i) for i, item in enumerate(self.terms.items.labels)}
            for itemset in getattr(self.terms.guarantee, "itemsets", None) or ():
                for item in itemset:
                    known["image"].setdefault(item, None)
        return verify(self.rows, self.terms.guarantee, show=LISTED, progress=self.terms.progress, **known)

    @cached_property
    def violations(self) -> set[frozenset[str]]:
        """Sets of labels that the verifier lists."""
        return {frozenset(entry[-2]) for entry in self.verdict.first}

    def loss(self) -> float:
        """Measure the loss by the measure that the run kept low."""
        data, objective = self.terms.data, self.terms.objective
        if objective == "entropy":
            return entropy(data, self.recoding)["share"]
        return lm(data, self.recoding) if objective == "lm" else ncp(data, self.recoding)
