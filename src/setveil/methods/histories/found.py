"""What a search for labels found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FoundLabels:
    """Labels of one release, and how good they are.

    An item that nobody has in this release has the label that it would have, or -1 if the hierarchy lacks it.
    Figures are about the occurrences of those who are not withheld.
    """

    labels: NDArray[np.int32]  # int32 (items of the series,): a node, -1 if suppressed
    cut: list[int]  # the nodes that are published, ascending
    lm: float  # between 0 and 1
    bound: float  # proven: no labels lose less; 0 if nothing was proven
    proven: bool
    seconds: float
    # numbers of people who have to be withheld whatever the labels are, ascending
    held: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    left_out: int = 0  # occurrences of suppressed items

    @property
    def gap(self) -> float:
        """Share of the loss that may not be needed."""
        return _gap(self.lm, self.bound)


@dataclass(frozen=True)
class Plan:
    """Labels of several releases chosen together; what is proven is about all, so each one's bound is 0."""

    releases: tuple[FoundLabels, ...]
    lm: float
    bound: float
    proven: bool
    seconds: float

    @property
    def gap(self) -> float:
        """Share of the loss that may not be needed."""
        return _gap(self.lm, self.bound)


def _gap(loss: float, bound: float) -> float:
    return (loss - bound) / loss if loss > 0 else 0.0
