"""Coarse figures: how shared pages compare a release with its original.

The number of occurrences of the original is internal: with the published rows it would give how often items
were suppressed. So figures are computed for all numbers in the same hundred alike (`Coarse`): no two pages,
and no two figures of a page, narrow the number down further. docs/report.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STEPS = (0.01, 0.05, 0.1, 0.25)  # shares are rounded to the least of these that ...
FINE_STEPS = (0.001, 0.002, 0.005, *STEPS)  # ... or of these, to compare methods ...
BLUR = 100  # ... so many occurrences of the original or more fall into
MANY, COMMON = 20, 10  # itemsets, and rows of each, from which on the share that is kept is told
OF_ITEMSETS = 0.05  # the step of that share


@dataclass(frozen=True)
class Range:
    """A number with the range that it is shown for."""

    true: float
    low: float
    high: float


@dataclass(frozen=True)
class Coarse:
    """Numbers of occurrences of the original that are shown alike, `least` to `most`, and the step."""

    whole: int
    least: int
    most: int
    step: float

    def share(self, part: float) -> Range:
        """Compare occurrences that do not depend on the original's number with all of the original."""
        return Range(part / self.whole, part / self.most, min(part / self.least, 1.0))

    def loss(self, value: float) -> Range:
        """Range of an average over all occurrences, in which suppressed occurrences lose all."""
        kept = (1 - value) * self.whole
        return Range(value, max(1 - kept / self.least, 0.0), 1 - kept / self.most)

    def shares(self, parts: Sequence[int]) -> list[Range]:
        """Ranges of parts of all occurrences; the last part is what is left."""
        *known, left = parts
        return [*map(self.share, known), self.loss(left / self.whole)] if parts else []


def coarse(occurrences: int, steps: Sequence[float] = STEPS) -> Coarse | None:
    """Choose the range and the step of an original; None if it is too small for any figure."""
    least = occurrences // BLUR * BLUR
    step = next((step for step in steps if step * least >= BLUR), None)
    return None if step is None else Coarse(occurrences, least, least + BLUR - 1, step)


def exactly(value: float) -> Range:
    """Take a number that does not depend on the original's number of occurrences."""
    return Range(value, value, value)


def near(found: Range, step: float) -> float:
    """Round to a step; less than a step to its half, and 0 and 1 only if that is exact."""
    if found.true in (0, 1):
        return found.true
    if found.high < step:
        return step / 2
    if found.low > 1 - step:
        return 1 - step / 2
    return min(max(round((found.low + found.high) / 2 / step) * step, step), 1 - step)


def one_digit(value: float) -> float:
    """Round to one digit."""
    return float(f"{value:.1g}")
