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

    Attributes
    ----------
    labels : int32 (items of the series,)
        The node of the hierarchy that each item is published as, -1 if it is suppressed. An item that nobody
        has in this release has the label that it would have, or -1 if the hierarchy lacks it.
    cut : list of int
        The nodes that are published, ascending.
    lm : float
        Loss (LM), between 0 and 1, of the occurrences of those who are not withheld.
    bound : float
        Proven: no labels of the hierarchy lose less. 0 where nothing was proven.
    proven : bool
        Whether nothing loses less.
    seconds : float
        How long the search took.
    held : int64
        People, by their numbers in the series, who have to be withheld whatever the labels are, ascending.
    left_out : int
        Occurrences of items that are suppressed, of those who are not withheld.
    """

    labels: NDArray[np.int32]
    cut: list[int]
    lm: float
    bound: float
    proven: bool
    seconds: float
    held: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    left_out: int = 0

    @property
    def gap(self) -> float:
        """Share of the loss that may not be needed."""
        return _gap(self.lm, self.bound)


@dataclass(frozen=True)
class Plan:
    """Labels of several releases that were chosen together.

    Attributes
    ----------
    releases : tuple of FoundLabels
        One for each release. Their bounds are 0: what is proven is about all of them.
    lm, bound, proven, seconds
        As in `FoundLabels`, over the (weighted) occurrences of all releases.
    """

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
