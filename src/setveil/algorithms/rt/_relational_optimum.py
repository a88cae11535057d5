"""The least relational loss of a k-anonymous table in which a label means the same in every row."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.rt._forest_search import ForestSearch
from setveil.algorithms.rt._forest_table import PATIENCE, trees_of, values_of
from setveil.algorithms.rt._forest_threats import ForestKnowledge
from setveil.algorithms.rt._forest_trees import ItemForest
from setveil.algorithms.rt._ranged import with_ranges
from setveil.guarantees.kkm import require_rows
from setveil.progress import Progress
from setveil.tables.table import Table


def relational_optimum(
    table: Table, k: int, progress: Progress, time_limit: float = PATIENCE
) -> tuple[NDArray[np.int32], ...]:
    """Find the cut of each column that makes every class of rows at least k and loses least, proven.

    Unless time is up before; then the best that was found: for each column of ``with_ranges(table)`` the node
    of each value, as numeric columns without a hierarchy are published as ranges.
    """
    require_rows(f"k-anonymity (k={k})", table, k)
    ranged = with_ranges(table)
    nothing = np.zeros(table.n_rows + 1, np.int64), np.zeros(0, np.int32)
    forest = ItemForest(trees_of(ranged, Fraction(1), {}), values_of(ranged), [], nothing)
    search = ForestSearch(forest, ForestKnowledge(k, 0, mixed=False), False, progress, time_limit)
    search.run()
    return tuple(np.array(nodes, np.int32) for nodes in forest.images(search.best))
