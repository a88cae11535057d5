"""Draw rows from what is published in groups: each row has its own items, and sensitive ones are dealt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, GuaranteeError, shorten
from setveil.base.wording import count
from setveil.judges.reconstruction._loops import draw_rows
from setveil.kernels.rows import frozen
from setveil.releases.published.group_files import GROUPS_FILE, PublishedGroups
from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True, eq=False)
class GroupPuzzle:
    """All that groups say of the rows behind them."""

    groups: PublishedGroups

    @classmethod
    def of(cls, groups: PublishedGroups) -> GroupPuzzle:
        """Take groups from which rows can be drawn, and refuse others."""
        require_possible(groups)
        return cls(groups)

    @property
    def items(self) -> tuple[str, ...]:
        """Every item that may be in a draw."""
        return (*self.groups.qid.vocabulary.labels, *self.groups.sensitive.labels)

    @property
    def listed(self) -> str:
        """Say what lists the rows of items."""
        return f"{count(self.groups.item.size, 'count')} of {GROUPS_FILE}"

    def draw(self, seed: int, _mix: int, progress: Callable[[float], None]) -> Transactions:
        """Draw rows, and check them against the groups."""
        progress(0)
        rows = deal_sensitive(self.groups, seed)
        require_dealt(self.groups, rows)
        return rows


def require_possible(groups: PublishedGroups) -> None:
    """Refuse counts that are more than a group has rows."""
    of_line = np.repeat(np.arange(groups.n_groups), np.diff(groups.indptr))
    wrong = np.flatnonzero(groups.count > groups.sizes[of_line])
    if wrong.size:
        line = int(wrong[0])
        item = shorten(groups.sensitive.labels[groups.item[line]])
        raise DataError(
            f"{GROUPS_FILE}: group {of_line[line]} has {groups.sizes[of_line[line]]:,} rows, and "
            f"{groups.count[line]:,} of them contain {item}.",
            hint="The two files must come from the same release.",
        )


def deal_sensitive(groups: PublishedGroups, seed: int) -> Transactions:
    """Give each group's sensitive items to random rows of it, every choice as likely, in row order."""
    state = np.random.PCG64(seed).random_raw(1)
    starts = np.concatenate(([0], np.cumsum(groups.sizes)))
    rows, items = [], []
    with np.errstate(over="ignore"):
        for g in range(groups.n_groups):
            for line in range(groups.indptr[g], groups.indptr[g + 1]):
                order = np.arange(starts[g], starts[g + 1], dtype=np.int32)
                draw_rows(state, order, int(groups.count[line]))
                rows.append(order[: groups.count[line]].astype(np.int64))
                items.append(np.full(groups.count[line], groups.item[line], np.int64))
    qid = groups.qid
    labels = (*qid.vocabulary.labels, *groups.sensitive.labels)
    row = np.concatenate([_row_numbers(qid), *rows])
    item = np.concatenate([qid.items.astype(np.int64), *(part + qid.n_items for part in items)])
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=qid.n_rows))))
    return Transactions.from_codes(indptr, frozen(item[order], np.int32), labels)


def require_dealt(groups: PublishedGroups, drawn: Transactions) -> None:
    """Check rows against the groups, by other means than those they were drawn by."""
    sensitive = set(groups.sensitive.labels)
    counts: dict[tuple[int, str], int] = {}
    same = drawn.n_rows == groups.qid.n_rows
    for group, own, row in zip(groups.group.tolist(), groups.qid, drawn, strict=False):
        same = same and {x for x in row if x not in sensitive} == set(own)
        for item in row:
            if item in sensitive:
                counts[group, item] = counts.get((group, item), 0) + 1
    expected = {
        (g, groups.sensitive.labels[groups.item[line]]): int(groups.count[line])
        for g in range(groups.n_groups)
        for line in range(groups.indptr[g], groups.indptr[g + 1])
    }
    if not same or counts != expected:
        raise GuaranteeError(
            "The rows that were drawn contradict the release. Nothing was written.",
            hint="This is a defect of setveil; please report it.",
        )


def _row_numbers(rows: Transactions) -> NDArray[np.int64]:
    """Row of each occurrence."""
    return np.repeat(np.arange(rows.n_rows), rows.row_lengths())
