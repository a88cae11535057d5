"""Rows of facts in memory: each a code with the values of its attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.base.values.per_column import PerColumn, item_of, labelled
from setveil.base.wording import count
from setveil.kernels.rows import frozen, take_rows
from setveil.rows.data.draws import occurrence_keys
from setveil.rows.data.exposed import Refusal
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts import CODES_ALONE
from setveil.rows.hierarchy.tree import Hierarchy

MOST_FACTS = 1 << 31  # combinations of the parts
ANY, MISSING = "*", "?"  # any value of an attribute, and a value that is missing
SIGN = "@"  # between the parts of a fact, where no other is asked for
NO_SECRETS = Refusal("--private: nobody looks for private items among facts.", "Omit it.")


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of a code: a period, or a band of an amount."""

    name: str  # of the column that it was read from
    kind: str  # "when" or "amount"
    level: str  # as it was asked for, or the bounds that were found
    tree: Hierarchy  # its leaves are the values that occur, its root is any value
    # all values that there can be (see `setveil.rows.facts.settling`); (): not known
    values: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, str]:
        """Return its published description, as JSON types."""
        return {"name": self.name, "kind": self.kind, "level": self.level}

    def possible_values(self) -> tuple[str, ...]:
        """List all values that there can be; where that is not known, those that occur."""
        return self.values or self.tree.labels[: self.tree.n_leaves]


@dataclass(frozen=True, eq=False)
class SetColumn:
    """A column of codes, and what belongs to each of them."""

    name: str
    codes: tuple[str, ...]  # those that occur, in item order
    attributes: tuple[Attribute, ...] = ()
    m: int | None = None  # how many of its facts somebody may know, if that was said of it

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the parts of a fact: the codes, then the attributes."""
        return (self.name, *(one.name for one in self.attributes))

    @property
    def number(self) -> int:
        """How many facts there are, whether or not they occur."""
        return prod([len(self.codes), *(one.tree.n_leaves for one in self.attributes)])

    def texts(self, parts: NDArray[np.int32], sign: str) -> list[str]:
        """Write facts, given the position of the code and the leaf of each attribute of each."""
        names = [self.codes, *(one.tree.labels for one in self.attributes)]
        return [
            sign.join(labels[at] for labels, at in zip(names, row, strict=True)) for row in parts.tolist()
        ]


@dataclass(frozen=True, eq=False)
class Facts(Transactions):
    """Rows whose items are facts: a code and a value of each attribute (see docs/facts.md).

    Made by `setveil.read_facts`. The label of a fact is its parts with a sign between them, such as
    ``I50@2024-01@[0,5)``. Where there are several columns of codes the name of the column stands before it,
    ``drug=C07@2024-01``, so that equal codes of two columns are two facts.

    Attributes
    ----------
    columns : tuple of SetColumn
        The columns of codes.
    column : int32 (n_items,), read-only
        The column of each fact: its place in `columns`.
    parts : int32 (n_items, most parts of a column), read-only
        The code of each fact, as a place in the codes of its column, then the leaf of each attribute's tree;
        -1 behind the last part, where other columns have more.
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

    columns: tuple[SetColumn, ...] = ()
    column: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    parts: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), np.int32))
    sign: str = SIGN
    notes: tuple[str, ...] = ()  # what was noticed while reading, to be told
    most: int | None = None  # the facts that a row may have, where others were left out before anything else
    left_out: int = 0  # occurrences of these
    settled_by: int = 0  # the k of `setveil.rows.facts.settling.settled`; 0: not settled

    kind: ClassVar[str] = "facts"
    has_facts: ClassVar[bool] = True
    shows_absence: ClassVar[bool] = False
    secretless: ClassVar[Refusal] = NO_SECRETS

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of codes."""
        return tuple(one.name for one in self.columns)

    def views(self, _secrets: Collection[str] = ()) -> dict[str, Transactions]:
        """Return the facts, and the codes alone: what dates and amounts add to an attacker's knowledge."""
        if not any(one.attributes for one in self.columns):
            return {"facts": self}
        return {"facts": self, CODES_ALONE: self.codes_alone()}

    @classmethod
    def from_parts(
        cls,
        columns: Sequence[SetColumn],
        occurrences: Sequence[tuple[NDArray[np.int64], NDArray[np.int32]]],
        n_rows: int,
        sign: str = SIGN,
    ) -> Facts:
        """Make rows of facts from the parts of each occurrence.

        Parameters
        ----------
        columns : sequence of SetColumn
            At least one.
        occurrences : sequence of (int64 (n,), int32 (n, parts))
            Of each column the row of each occurrence, and its parts: the place of the code, then the leaf of
            each attribute.
        """
        several, width = len(columns) > 1, max(len(one.part_names) for one in columns)
        labels: list[str] = []
        rows, places, owners, facts = [], [], [], []
        for at, (column, (row, parts)) in enumerate(zip(columns, occurrences, strict=True)):
            _require_countable(column)
            _require_no_sign(column, sign)
            sizes = [len(column.codes), *(one.tree.n_leaves for one in column.attributes)]
            distinct, place = _distinct(parts, sizes)
            texts = column.texts(distinct, sign)
            rows.append(row)
            places.append(place + len(labels))
            labels += [labelled(column.name, text) for text in texts] if several else texts
            owners += [at] * len(texts)
            facts.append(np.pad(distinct, ((0, 0), (0, width - distinct.shape[1])), constant_values=-1))
        row, place = np.concatenate(rows), np.concatenate(places)
        order = np.argsort(row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
        made = Transactions.from_codes(indptr, place[order], labels)
        ids = {label: at for at, label in enumerate(labels)}
        kept = [ids[label] for label in made.vocabulary.labels]
        return cls(
            made.indptr, made.items, made.vocabulary, None, tuple(columns),
            frozen(np.array(owners, np.int32)[kept], np.int32), frozen(np.concatenate(facts)[kept], np.int32),
            sign,
        )  # fmt: skip

    @property
    def m(self) -> int | None:
        """How many facts someone may know, if that was said of the columns: of several, of each."""
        said = {one.name: one.m for one in self.columns if one.m is not None}
        if not said:
            return None
        return PerColumn(said) if len(self.columns) > 1 else next(iter(said.values()))

    @property
    def only(self) -> SetColumn:
        """The column of codes, where there is one."""
        if len(self.columns) != 1:
            names = listed([one.name for one in self.columns])
            raise RequestError(f"This is known of one column of codes, and the facts have {names}.")
        return self.columns[0]

    @property
    def name(self) -> str:
        """What the codes are called, where there is one column of them."""
        return self.only.name

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that occur, in item order, where there is one column of them."""
        return self.only.codes

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What belongs to a code, in the order of the parts of a fact, where there is one column of codes."""
        return self.only.attributes

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the parts of a fact, the codes first, where there is one column of codes."""
        return self.only.part_names

    def items_of(self, column: int) -> NDArray[np.int64]:
        """List the facts of a column, as items, ascending."""
        return np.flatnonzero(self.column == column)

    def parts_of(self, column: int) -> NDArray[np.int32]:
        """Return the code and the leaves of each fact of a column (see `items_of`): int32 (facts, parts)."""
        return self.parts[self.items_of(column), : len(self.columns[column].part_names)]

    def text(self, item: int) -> str:
        """Write a fact without the name of its column."""
        label = self.vocabulary.labels[item]
        return item_of(label) if len(self.columns) > 1 else label

    def of_column(self, column: int) -> Facts:
        """Return the rows with the facts of one column alone, the others empty."""
        return self._made_of([column], np.arange(self.n_rows))

    def codes_alone(self) -> Transactions:
        """Return the rows with their codes alone, which begin with their column if there are several."""
        several = len(self.columns) > 1
        first = np.cumsum([0, *(len(one.codes) for one in self.columns)])
        labels = [labelled(one.name, x) if several else x for one in self.columns for x in one.codes]
        of_item = self.parts[:, 0] + first[self.column] if self.n_items else np.zeros(0, np.int64)
        made = Transactions.from_codes(self.indptr, of_item[self.items], labels)
        return replace(made, origin=self.origin, personal=self.personal)

    def rows_at(self, drawn: NDArray[np.int64]) -> Facts:
        """Take some rows, with the facts that occur in them."""
        return self._made_of(range(len(self.columns)), drawn)

    def drawn(self, rows: NDArray[np.int64]) -> Facts:
        """Return some of the rows."""
        return self.rows_at(rows)

    @property
    def facts(self) -> Facts:
        """The rows themselves."""
        return self

    def with_facts(self, facts: Facts) -> Facts:
        """Return other facts in place of these."""
        return facts

    def _made_of(self, columns: Iterable[int], drawn: NDArray[np.int64]) -> Facts:
        indptr, items = take_rows(self.indptr, self.items, drawn)
        row = np.repeat(np.arange(drawn.size), np.diff(indptr))
        return self._of(row, items, drawn.size, columns)

    def at_most(self, number: int, seed: int) -> Facts:
        """Keep this many facts of each row, drawn by a seed.

        Facts of several columns are drawn alike. The draw depends on the facts of the row alone: rows with
        the same facts keep the same ones, and no row decides the facts of another.
        """
        row = np.repeat(np.arange(self.n_rows), self.row_lengths())
        order = np.lexsort((occurrence_keys(self, seed, "facts"), row))
        kept = np.sort(order[np.arange(order.size) - self.indptr[row] < number])
        made = self._of(row[kept], self.items[kept], self.n_rows, range(len(self.columns)))
        return replace(made, most=number, left_out=self.n_occurrences - kept.size)

    def _of(
        self, row: NDArray[np.int64], items: NDArray[np.int32], n_rows: int, columns: Iterable[int]
    ) -> Facts:
        """Make rows of some occurrences, given the row and the fact of each."""
        chosen = list(columns)
        occurrences = []
        for at in chosen:
            mine = self.column[items] == at
            occurrences.append((row[mine], self.parts[items[mine], : len(self.columns[at].part_names)]))
        return self.with_parts([self.columns[at] for at in chosen], occurrences, n_rows)

    def with_parts(
        self,
        columns: Sequence[SetColumn],
        occurrences: Sequence[tuple[NDArray[np.int64], NDArray[np.int32]]],
        n_rows: int,
    ) -> Facts:
        """Make other rows of facts (see `from_parts`) that were read as these."""
        made = Facts.from_parts(columns, occurrences, n_rows, self.sign)
        return replace(
            self, indptr=made.indptr, items=made.items, vocabulary=made.vocabulary, columns=made.columns,
            column=made.column, parts=made.parts,
        )  # fmt: skip

    def __repr__(self) -> str:
        counted = count(self.n_rows, "row"), count(self.n_items, "fact")
        parts = "; ".join(", ".join(one.part_names) for one in self.columns)
        return f"Facts: {', '.join(counted)}, {count(self.n_occurrences, 'occurrence')}; {parts}"


def _require_countable(column: SetColumn) -> None:
    if column.number > MOST_FACTS:
        sizes = [len(column.codes), *(one.tree.n_leaves for one in column.attributes)]
        raise DataError(
            f"{' x '.join(f'{n:,}' for n in sizes)} combinations of codes and attributes are more than 2^31 "
            "facts, which cannot be counted.",
            hint="Publish longer periods, or fewer bands.",
        )


def _require_no_sign(column: SetColumn, sign: str) -> None:
    for label in column.codes:
        if sign in label:
            raise DataError(
                f"The code {shorten(label)} of column {shorten(column.name)} contains {sign!r}, which stands "
                "between the parts of a fact.",
                hint=f"Choose another sign: --fact-sign {'|' if sign != '|' else '@'!r}.",
            )


def _distinct(parts: NDArray[np.int32], sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """List the different lines of an array of parts, and the place of each line in that list."""
    key = np.zeros(len(parts), np.int64)
    for at, size in enumerate(sizes):
        key = key * size + parts[:, at]
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return parts[first], place.reshape(-1).astype(np.int64)
