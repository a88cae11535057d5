"""The best valid recoding that a search has found so far."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np

from setveil.kernels.rows import Ids
from setveil.methods.algorithms.exact._losses import Losses


class Incumbent:
    """The best valid candidate so far with at most `most` occurrences suppressed; a `gap` is accepted."""

    def __init__(self, losses: Losses, most: int, gap: Fraction) -> None:
        self.losses, self.most, self.gap = losses, most, gap
        self.candidate: Ids = np.zeros(0, np.int32)
        self.cost: int | None = None

    def allows(self, candidate: Ids) -> bool:
        """Whether a candidate suppresses no more than it may."""
        return self.losses.suppressed(candidate) <= self.most

    def offer(self, candidate: Ids) -> None:
        """Remember a valid candidate if it is the best so far and within the limit."""
        cost = self.losses.cost(candidate)
        if self.allows(candidate) and (self.cost is None or cost < self.cost):
            self.candidate, self.cost = candidate, cost

    def put(self, candidate: Ids) -> None:
        """Take a candidate that is made of the best one and loses no more."""
        self.candidate, self.cost = candidate, self.losses.cost(candidate)

    def is_close(self, lower: float) -> bool:
        """Whether a proven lower bound is close enough to the best candidate."""
        if self.cost is None:
            return lower == inf
        return bool(self.cost - min(lower, self.cost) <= self.gap * self.cost)
