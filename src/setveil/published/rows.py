"""What an algorithm hands over: published rows, how they were made, and which row is whose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.kernels.rows import frozen, merge_rows, recode_rows, take_rows
from setveil.published.recoding import AnyRecoding, recode


@dataclass(frozen=True, eq=False)
class Release:
    """Published rows with the recoding that made them.

    Attributes
    ----------
    published : Transactions
        The rows to hand out, in an order that tells nothing of the input's; only labels that occur.
    recoding : Recoding, LocalRecoding or Grouping
        What each item, or each occurrence of an item, became, or the group of each row. Stays inside.
    row_map : int64 (n_rows,), read-only
        The published row of each input row. Stays inside.
    details : dict
        What the algorithm has to say of its run (JSON types), e.g. the number of generalization steps.
    """

    published: Transactions
    recoding: Any  # one of three classes, as the algorithm has it
    row_map: NDArray[np.int64]
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def make(
        cls, data: Transactions, recoding: AnyRecoding, seed: int, details: dict[str, Any] | None = None
    ) -> Release:
        """Recode the data and put the rows in an order that reveals nothing.

        The rows are sorted by content and then shuffled. Shuffling alone would not do: the seed is public,
        so the shuffle can be undone, and what comes to light then is the sorted order, not that of the input.
        """
        recoded = recode(data, recoding)
        used = np.bincount(recoded.items, minlength=recoded.n_items) > 0
        image = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        labels = Vocabulary(label for label, u in zip(recoded.vocabulary.labels, used, strict=True) if u)
        indptr, items = recode_rows(recoded.indptr, recoded.items, image)

        group, first, _ = merge_rows(indptr, items)
        keys = items.astype(">i4").tobytes()
        bounds = (4 * indptr).tolist()
        by_content = sorted(range(first.size), key=lambda g: keys[bounds[first[g]] : bounds[first[g] + 1]])
        place = np.empty(first.size, np.int64)
        place[by_content] = np.arange(first.size)
        in_order = np.argsort(place[group], kind="stable")
        # Shuffled by random keys: numpy promises the same raw stream for ever, but not the permutations.
        order = in_order[np.argsort(np.random.PCG64(seed).random_raw(data.n_rows), kind="stable")]
        row_map = np.empty(data.n_rows, np.int64)
        row_map[order] = np.arange(data.n_rows)
        published = Transactions(*take_rows(indptr, items, order), labels)
        return cls(published, recoding, frozen(row_map, np.int64), details or {})
