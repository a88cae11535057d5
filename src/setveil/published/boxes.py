"""What published boxes stand for: of each part the values below its labels, and how many facts that makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

ANY = "*"  # any value of a part
Part = Mapping[str, tuple[str, ...]]  # the values that a label of a part stands for; others are values
Fact = tuple[str, ...]  # a value of each part


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of facts, each a label of every part, with what the labels of parts stand for.

    Nothing here knows what the parts are: codes, periods, bands, or the column that a code is of.
    """

    names: tuple[str, ...]  # of the parts
    boxes: tuple[Fact, ...]  # a label of each part
    meaning: tuple[Part, ...]  # of each part
    sign: str  # between the parts of a fact that is written as text
    sizes: tuple[int, ...] = ()  # how many values each part has; (): not known
    kinds: tuple[str, ...] = ()  # of the parts: "codes", "when", "amount"

    def values(self, at: int, label: str) -> tuple[str, ...]:
        """List the values of a part that a label stands for."""
        return self.meaning[at].get(label, (label,))

    def size(self, box: Sequence[str]) -> int:
        """Count the facts of a box."""
        return prod(len(self.values(at, label)) for at, label in enumerate(box))

    def facts(self, box: Sequence[str]) -> list[Fact]:
        """List the facts of a box."""
        return list(product(*(self.values(at, label) for at, label in enumerate(box))))

    def some(self, box: Sequence[str], number: int) -> list[Fact]:
        """List so many facts of a box, spread evenly over it; all if it has no more."""
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
        return self.sign.join(fact)

    def fact(self, text: str) -> Fact | None:
        """Take the text of a fact apart; None if it is none."""
        parts = tuple(text.split(self.sign))
        if len(parts) != len(self.names) or not all(parts):
            return None
        if any(label in known for label, known in zip(parts, self.meaning, strict=True)):
            return None
        return parts

    @cached_property
    def known(self) -> tuple[dict[str, int], ...]:
        """The values of each part that are named anywhere, with a number for each."""
        found: list[dict[str, int]] = []
        for at, known in enumerate(self.meaning):
            labels = [*known, *(box[at] for box in self.boxes)]
            each = dict.fromkeys(value for label in labels for value in self.values(at, label))
            found.append({value: number for number, value in enumerate(each)})
        return tuple(found)

    @cached_property
    def _holds(self) -> tuple[NDArray[np.bool_], ...]:
        """Which boxes hold a value of each part: bool (values, boxes)."""
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
        """Find the box that holds a fact, the first if several do; -1: none does."""
        inside = np.ones(len(self.boxes), bool)
        for holds, numbers, value in zip(self._holds, self.known, fact, strict=True):
            if value not in numbers:
                return -1
            inside &= holds[numbers[value]]
        return int(np.argmax(inside)) if inside.any() else -1
