"""How facts are to be generalized: which of their parts is dropped first, and what a box loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from setveil.data.vocabulary import Vocabulary
from setveil.errors import RequestError, did_you_mean, listed
from setveil.facts.facts import Facts
from setveil.hierarchy.boxes import Space
from setveil.hierarchy.tree import Hierarchy

LINES = "lines"  # the name of what the search for a line in each branch found
ORDERS = FIRST, LAST = "first", "last"
LOSSES = VOLUME, PARTS = "volume", "parts"


@dataclass(frozen=True)
class Generalizing:
    """How facts are to be generalized.

    Attributes
    ----------
    order : {"first", "last"}, int or None
        Which attributes are dropped: before codes become broader, after them, or at a depth of the codes'
        tree; None: all are tried.
    loss : {"volume", "parts"}
        What a box loses: by the facts that it stands for, or by its parts, each by itself.
    weights : mapping of str to Fraction
        Of parts, in the loss by parts; 1 where not given.
    lines : bool
        Whether another depth is tried in each branch of the codes' tree, too, while there is time.
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
                hint="Add --fact-loss parts, or leave --weight out.",
            )

    def space(self, data: Facts, codes: Hierarchy) -> Space:
        """Put together the trees of all parts."""
        unknown = [name for name in self.weights if name not in data.part_names]
        if unknown:
            raise RequestError(
                f"--weight {unknown[0]}: facts have no part of this name; they have "
                f"{listed(data.part_names)}.",
                hint=did_you_mean(unknown[0], data.part_names),
            )
        leaves = data.parts.copy()
        leaves[:, 0] = codes.locate(Vocabulary(data.codes))[data.parts[:, 0]]
        trees = (codes, *(one.tree for one in data.attributes))
        weights = {name: self.weights.get(name, Fraction(1)) for name in data.part_names}
        return Space(trees, data.part_names, leaves, data.sign, weights if self.loss == PARTS else None)

    def depths(self, data: Facts, codes: Hierarchy) -> list[int]:
        """List the depths of the codes' tree at which attributes are dropped."""
        if not data.attributes:
            return [0]
        if self.order in (None, ""):
            return list(range(codes.height + 1))
        if self.order in ORDERS:
            return [0 if self.order == LAST else codes.height]
        number = int(self.order) if isinstance(self.order, int) or str(self.order).isdigit() else -1
        if not 0 <= number <= codes.height:
            raise RequestError(
                f"--fact-order must be first, last, or a depth of the hierarchy of codes from 0 to "
                f"{codes.height}, got {self.order!r}.",
                hint="first: periods and bands are dropped before codes become broader; last: after them.",
            )
        return [number]


def order_name(depth: int, height: int) -> str:
    """Name a plain order: ``last``, ``first``, or the depth at which attributes are dropped."""
    return LAST if depth == 0 else FIRST if depth == height else str(depth)


USUAL = Generalizing()
