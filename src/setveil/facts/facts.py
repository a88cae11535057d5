"""Rows of facts in memory: each a code with the values of its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.errors import DataError, shorten
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import frozen, take_rows
from setveil.wording import count

MOST_FACTS = 1 << 31  # combinations of the parts
ANY, MISSING = "*", "?"  # any value of an attribute, and a value that is missing
SIGN = "@"  # between the parts of a fact, where no other is asked for


@dataclass(frozen=True, eq=False)
class Attribute:
    """What is known of a code besides itself: a period, or a band of an amount."""

    name: str  # of the column that it was read from
    kind: str  # "when" or "amount"
    level: str  # as it was asked for, or the bounds that were found
    tree: Hierarchy  # its leaves are the values that occur, its root is any value

    def as_dict(self) -> dict[str, str]:
        """Return what is told of it, as JSON types."""
        return {"name": self.name, "kind": self.kind, "level": self.level}


@dataclass(frozen=True, eq=False)
class Facts(Transactions):
    """Rows whose items are facts: a code and a value of each attribute (see docs/facts.md).

    Made by `setveil.read_facts`. The label of a fact is its parts with a sign between them, such as
    ``I50@2024-01@[0,5)``.

    Attributes
    ----------
    name : str
        What the codes are called.
    codes : tuple of str
        The codes that occur, in item order.
    attributes : tuple of Attribute
        What belongs to a code, in the order of the parts of a fact.
    parts : int32 (n_items, 1 + attributes), read-only
        The code of each fact, and the leaf of each attribute's tree.
    sign : str
        What stands between the parts of a label.

    Examples
    --------
    >>> import polars as pl
    >>> import setveil as sv
    >>> days = ["2024-01-03", "2024-02-01", ""]
    >>> log = pl.DataFrame({"who": [1, 1, 2], "code": ["I50", "I50", "J18"], "on": days})
    >>> facts = sv.read_facts(log, id="who", sets="code", when={"on": "month"})
    >>> facts.rows()
    [('I50@2024-01', 'I50@2024-02'), ('J18@?',)]
    """

    name: str = ""
    codes: tuple[str, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    parts: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), np.int32))
    sign: str = SIGN
    notes: tuple[str, ...] = ()  # what was noticed while reading, to be told

    @classmethod
    def from_parts(
        cls,
        indptr: NDArray[np.int64],
        parts: NDArray[np.int32],
        name: str,
        codes: Sequence[str],
        attributes: Sequence[Attribute],
        sign: str = SIGN,
    ) -> Facts:
        """Make rows of facts from the parts of each occurrence.

        Parameters
        ----------
        indptr : int64 (n_rows + 1,)
            Row r holds the occurrences ``indptr[r]:indptr[r + 1]``.
        parts : int32 (occurrences, 1 + attributes)
            Of each the position of its code in `codes`, and the leaf of each attribute.
        codes : sequence of str
            In item order.
        """
        if prod([len(codes), *(one.tree.n_leaves for one in attributes)]) > MOST_FACTS:
            several = " x ".join(f"{n:,}" for n in [len(codes), *(one.tree.n_leaves for one in attributes)])
            raise DataError(
                f"{several} combinations of codes and attributes are more than 2^31 facts, which cannot "
                "be counted.",
                hint="Publish longer periods, or fewer bands.",
            )
        for label in codes:
            if sign in label:
                raise DataError(
                    f"The code {shorten(label)} of column {shorten(name)} holds {sign!r}, which stands "
                    "between the parts of a fact.",
                    hint=f"Choose another sign: --fact-sign {'|' if sign != '|' else '@'!r}.",
                )
        trees = [one.tree for one in attributes]
        distinct, place = _distinct(parts, [len(codes), *(tree.n_leaves for tree in trees)])
        labels = [
            sign.join(
                [codes[row[0]], *(tree.labels[leaf] for tree, leaf in zip(trees, row[1:], strict=True))]
            )
            for row in distinct.tolist()
        ]
        rows = Transactions.from_codes(indptr, place, labels)
        ids = {label: at for at, label in enumerate(labels)}
        order = [ids[label] for label in rows.vocabulary.labels]
        return cls(
            rows.indptr, rows.items, rows.vocabulary, None, name, tuple(codes), tuple(attributes),
            frozen(distinct[order], np.int32), sign,
        )  # fmt: skip

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the parts of a fact: the codes, then the attributes."""
        return (self.name, *(one.name for one in self.attributes))

    def codes_alone(self) -> Transactions:
        """Return the rows with their codes alone, without what belongs to them."""
        made = Transactions.from_codes(self.indptr, self.parts[self.items, 0], self.codes)
        return replace(made, origin=self.origin)

    def rows_at(self, drawn: NDArray[np.int64]) -> Facts:
        """Take some rows, with the facts that occur in them."""
        indptr, items = take_rows(self.indptr, self.items, drawn)
        made = Facts.from_parts(indptr, self.parts[items], self.name, self.codes, self.attributes, self.sign)
        return replace(made, origin=self.origin, notes=self.notes)

    def __repr__(self) -> str:
        counted = count(self.n_rows, "row"), count(self.n_items, "fact")
        parts = ", ".join(self.part_names)
        return f"Facts: {', '.join(counted)}, {count(self.n_occurrences, 'occurrence')}; {parts}"


def _distinct(parts: NDArray[np.int32], sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """List the different lines of an array of parts, and the place of each line in that list."""
    key = np.zeros(len(parts), np.int64)
    for at, size in enumerate(sizes):
        key = key * size + parts[:, at]
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return parts[first], place.reshape(-1).astype(np.int64)
