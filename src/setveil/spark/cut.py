"""A cut over rows that Spark holds."""

from __future__ import annotations

import numpy as np

from setveil.algorithms._cut import Cut
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engine.spark import SparkRows, brought, recoded
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids, Ints, frozen


class SparkCut(Cut):
    """A cut whose rows are counted where they lie; `rows` brings them to the driver, merged under the cut.

    Parameters
    ----------
    tree : Hierarchy
        The hierarchy.
    held : SparkRows
        The rows of leaves.
    of_leaf : int64 (n_leaves,)
        Occurrences of each leaf.
    """

    def __init__(self, tree: Hierarchy, held: SparkRows, of_leaf: Ints) -> None:
        self._given = held, of_leaf
        nothing = frozen(np.zeros(1), np.int64), frozen(np.zeros(0), np.int32)
        super().__init__(Transactions(*nothing, Vocabulary(())), tree)

    def _hold(self) -> None:
        self.held, self.of_leaf = self._given  # type: ignore[assignment]  # Rows that are not in memory

    def rows(self) -> tuple[Ints, Ids, Ints]:
        """Bring the distinct rows under the cut to the driver, with the number of rows each stands for."""
        held = self._given[0]
        return brought(recoded(held.rows, self.image), "under the cut as it is")
