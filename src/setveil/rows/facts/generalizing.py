"""How facts are to be generalized: which of their parts is dropped first, and what a box loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from setveil.base.errors import RequestError, did_you_mean, listed
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.boxes import Space
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.rows.facts.facts import Facts

LINES = "lines"  # the name of what the search for a line in each branch found
ORDERS = FIRST, LAST = "first", "last"
LOSSES = VOLUME, PARTS = "volume", "parts"


@dataclass(frozen=True)
class Generalizing:
    """How facts are to be generalized.

    `order`: when attributes are dropped: "first", before codes become broader, "last", after them, or at a
    depth of the codes' tree; None: all are tried. `loss`: "volume", by the facts that a box represents, or
    "parts", by each of its parts. `weights`: of parts, in the loss by parts; default 1. `lines`: another
    depth is tried in each branch of the codes' tree, while there is time.
    """

    order: str | int | None = None
    loss: str = VOLUME
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    lines: bool = False

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise RequestError(f"--fact-loss must be {' or '.join(LOSSES)}, got {self.loss!r}.")
        wrong = [f"{name}={weight}" for name, weight in self.weights.items() if weight <= 0]
        if wrong:
            raise RequestError(f"--weight must be above 0, got {wrong[0]}.")
        if self.weights and self.loss != PARTS:
            raise RequestError(
                "Weights of parts are those of the loss by parts.",
                hint="Add --fact-loss parts, or omit --weight.",
            )

    def spaces(self, data: Facts, codes: Sequence[Hierarchy]) -> list[Space]:
        """Put together the trees of all parts, of each column of codes."""
        names = list(dict.fromkeys(name for column in data.columns for name in column.part_names))
        unknown = [name for name in self.weights if name not in names]
        if unknown:
            raise RequestError(
                f"--weight {unknown[0]}: facts have no part of this name; they have {listed(names)}.",
                hint=did_you_mean(unknown[0], names),
            )
        several = len(data.columns) > 1
        found = []
        for at, (column, tree) in enumerate(zip(data.columns, codes, strict=True)):
            leaves = data.parts_of(at).copy()
            used, place = np.unique(leaves[:, 0], return_inverse=True)  # of a sample not all codes
            located = tree.locate(Vocabulary(column.codes[code] for code in used.tolist()))
            leaves[:, 0] = located[place.reshape(-1)]
            trees = (tree, *(one.tree for one in column.attributes))
            weights = {name: self.weights.get(name, Fraction(1)) for name in column.part_names}
            of_parts = weights if self.loss == PARTS else None
            name = column.name if several else ""
            found.append(Space(trees, column.part_names, leaves, data.sign, of_parts, name))
        return found

    def depths(self, data: Facts, codes: Sequence[Hierarchy]) -> list[int]:
        """List the depths of the codes' trees at which attributes are dropped."""
        if not any(column.attributes for column in data.columns):
            return [0]
        height = max(tree.height for tree in codes)
        if self.order in (None, ""):
            return list(range(height + 1))
        if self.order in ORDERS:
            return [0 if self.order == LAST else height]
        number = int(self.order) if isinstance(self.order, int) or str(self.order).isdigit() else -1
        if not 0 <= number <= height:
            raise RequestError(
                f"--fact-order must be first, last, or a depth of the hierarchy of codes from 0 to "
                f"{height}, got {self.order!r}.",
                hint="first: periods and bands are dropped before codes become broader; last: after them.",
            )
        return [number]


def order_name(depth: int, height: int) -> str:
    """Name a plain order: ``last``, ``first``, or the depth at which attributes are dropped."""
    return LAST if depth == 0 else FIRST if depth == height else str(depth)


USUAL = Generalizing()
