"""What each row becomes where rows are published in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.published.group_files import PublishedGroups


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of each published row, and how often each group holds each sensitive item.

    Attributes
    ----------
    items : Vocabulary
        The items of the data.
    sensitive : Vocabulary
        The sensitive items that occur, in item order.
    group : int64 (n_rows,), read-only
        Group of each published row: ascending, from 0, no number left out.
    indptr : int64 (groups + 1,), read-only
        Group g holds the sensitive items ``item[indptr[g]:indptr[g + 1]]``.
    item : int32, read-only
        Positions in `sensitive`, ascending within a group.
    count : int64, read-only
        How many rows of the group hold that item, at least 1.
    """

    items: Vocabulary
    sensitive: Vocabulary
    group: NDArray[np.int64]
    indptr: NDArray[np.int64]
    item: NDArray[np.int32]
    count: NDArray[np.int64]

    kind: ClassVar[str] = "grouped"

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.indptr.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each group: int64 (groups,)."""
        return np.bincount(self.group, minlength=self.n_groups).astype(np.int64)

    def published(self, rows: Transactions) -> PublishedGroups:
        """Put together what is published: these groups, and the quasi-identifiers of their rows."""
        return PublishedGroups(rows, self.group, self.sensitive, self.indptr, self.item, self.count)
