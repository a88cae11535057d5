"""Answers from releases that tell items under their own names, so that no label represents several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.judges.utility.estimates import Estimator


class OwnNames(Estimator):
    """The common part of estimators of such releases."""

    names: ClassVar[str] = "not an item"
    by_label: ClassVar[bool] = False
    answers_groups: ClassVar[bool] = False

    @property
    def listed(self) -> tuple[str, ...]:
        """The names of items that the release lists."""
        return self.items

    @property
    def labels(self) -> tuple[str, ...]:
        """None: every item is published under its own name."""
        return ()

    def kinds(self, items: Iterable[str]) -> list[tuple[object, ...]]:
        """Tell which items compare: none does."""
        return [(item,) for item in items]

    def of_items(self, items: Sequence[str]) -> NDArray[np.float64]:
        """Estimate the rows of each of some items: float64 (items,)."""
        return self.answers([(item,) for item in items]).estimate
