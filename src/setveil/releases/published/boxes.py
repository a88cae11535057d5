"""The meaning of published boxes: for each part the values below its labels, and the number of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from setveil.base.values.per_column import OF, column_of, item_of, labelled

ANY = "*"  # any value of a part
CODES = "codes"  # the kind of the part that holds the codes
NOTHING = ""  # the value of a part that is of another column
UNLISTED = "\0"  # begins the value that represents the members of a label that are not listed
Part = Mapping[str, tuple[str, ...]]  # the values that a label of a part stands for; others are values
Fact = tuple[str, ...]  # a value of each part


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of facts, each a label of every part, with the meaning of the labels of parts.

    With several columns of codes, the parts of one follow those of the other. A fact or a box has `NOTHING`
    in each part of another column, and its text begins with the name of its column.
    """

    names: tuple[str, ...]  # of the parts
    boxes: tuple[Fact, ...]  # a label of each part
    meaning: tuple[Part, ...]  # of each part
    sign: str  # between the parts of a fact that is written as text
    # how many values each part has, `NOTHING` being one of several columns; (): not known
    sizes: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()  # of the parts: "codes", "when", "amount"
    columns: Mapping[str, slice] = field(default_factory=dict)  # the parts of each column; of one alone: {}

    @property
    def places(self) -> list[slice]:
        """List where the parts of each column stand, the codes first."""
        return list(self.columns.values()) or [slice(0, len(self.names))]

    @property
    def expected(self) -> str:
        """Say how a fact is written."""
        each = [
            ", ".join(names) + (f" behind {name + OF!r}" if name else "")
            for name, names in self.names_of.items()
        ]
        return f"a value of each of {', or of '.join(each)} with {self.sign!r} between them"

    @property
    def names_of(self) -> dict[str, tuple[str, ...]]:
        """Name the parts of each column; of one alone with "" for its name."""
        return {name: self.names[at] for name, at in self.columns.items()} or {"": self.names}

    def places_of(self, fact: Sequence[str]) -> slice:
        """Find where the parts of the column of a fact or a box stand."""
        return next(at for at in self.places if fact[at.start] != NOTHING)

    def within(self, places: slice, parts: Sequence[str]) -> Fact:
        """Make a fact or a box of the parts of its column."""
        found = [NOTHING] * len(self.names)
        found[places] = parts
        return tuple(found)

    def split(self, text: str) -> tuple[slice, list[str]] | None:
        """Take a text apart: where the parts of its column stand, and what it says of them; None: of none."""
        if not self.columns:
            return self.places[0], text.split(self.sign)
        if column_of(text) not in self.columns:
            return None
        return self.columns[column_of(text)], item_of(text).split(self.sign)

    def values(self, at: int, label: str) -> tuple[str, ...]:
        """List the values of a part that a label represents."""
        return self.meaning[at].get(label, (label,))

    def has_others(self, box: Sequence[str]) -> bool:
        """Say whether a box may have unlisted facts, however many: all of them count as one value."""
        return any(
            value.startswith(UNLISTED) for at, label in enumerate(box) for value in self.values(at, label)
        )

    def is_listed(self, fact: Sequence[str]) -> bool:
        """Return whether a fact is one, and does not represent those that are not listed."""
        return not any(value.startswith(UNLISTED) for value in fact)

    def other(self, box: Sequence[str], number: int) -> Fact:
        """Invent a fact of a box that does not list all of its facts."""
        found = []
        for at, label in enumerate(box):
            values = self.values(at, label)
            other = any(value.startswith(UNLISTED) for value in values)
            found.append(f"other {number} of {label}" if other else values[number % len(values)])
        return tuple(found)

    def size(self, box: Sequence[str]) -> int:
        """Count the facts of a box."""
        return prod(len(self.values(at, label)) for at, label in enumerate(box))

    def facts(self, box: Sequence[str]) -> list[Fact]:
        """List the facts of a box."""
        return list(product(*(self.values(at, label) for at, label in enumerate(box))))

    def some(self, box: Sequence[str], number: int) -> list[Fact]:
        """List this many facts of a box, spread evenly over it; all if it has no more."""
        each = [self.values(at, label) for at, label in enumerate(box)]
        size = prod(map(len, each))
        found = []
        for place in (at * size // min(number, size) for at in range(min(number, size))):
            fact = []
            left = place
            for values in reversed(each):
                left, value = divmod(left, len(values))
                fact.append(values[value])
            found.append(tuple(reversed(fact)))
        return found

    def text(self, fact: Sequence[str]) -> str:
        """Write a fact or a box."""
        places = self.places_of(fact)
        text = self.sign.join(fact[places])
        return labelled(self.names[places.start], text) if self.columns else text

    def fact(self, text: str) -> Fact | None:
        """Take the text of a fact apart; None if it is none."""
        found = self.split(text)
        if found is None:
            return None
        places, parts = found
        meaning = self.meaning[places]
        if len(parts) != len(meaning) or not all(parts):
            return None
        if any(label in known for label, known in zip(parts, meaning, strict=True)):
            return None
        return self.within(places, parts)

    @cached_property
    def known(self) -> tuple[dict[str, int], ...]:
        """The values of each part that are named anywhere, with a number for each."""
        found: list[dict[str, int]] = []
        for at, known in enumerate(self.meaning):
            labels = [*([NOTHING] if self.columns else []), *known, *(box[at] for box in self.boxes)]
            each = dict.fromkeys(value for label in labels for value in self.values(at, label))
            found.append({value: number for number, value in enumerate(each)})
        return tuple(found)

    @cached_property
    def _holds(self) -> tuple[NDArray[np.bool_], ...]:
        """Boxes that contain a value of each part: bool (values, boxes)."""
        found = []
        for at, numbers in enumerate(self.known):
            holds = np.zeros((len(numbers), len(self.boxes)), bool)
            for box, labels in enumerate(self.boxes):
                holds[[numbers[value] for value in self.values(at, labels[at])], box] = True
            found.append(holds)
        return tuple(found)

    def count_in(self, at: int, some: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the values of a part that each box has of some, flags of `known`: int64 (boxes,)."""
        found: NDArray[np.int64] = self._holds[at][some].sum(0, dtype=np.int64)
        return found

    def around(self, fact: Fact) -> int:
        """Find the first box that contains a fact; -1: no box does."""
        inside = np.ones(len(self.boxes), bool)
        for holds, numbers, value in zip(self._holds, self.known, fact, strict=True):
            if value not in numbers:
                return -1
            inside &= holds[numbers[value]]
        return int(np.argmax(inside)) if inside.any() else -1
