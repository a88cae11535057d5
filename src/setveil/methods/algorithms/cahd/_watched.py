"""What CAHD looks at for each row with sensitive items, found again without its loops: for traces only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from setveil.base.tracing import MOST, Trace, most
from setveil.kernels.rows import Ids, Ints

Rows = tuple[Ints, Ids]


class Watched:
    """Writes the steps of CAHD; rows are named by their numbers in the input (`rows`), from 1."""

    def __init__(self, trace: Trace, rows: Ints, labels: Sequence[str]) -> None:
        self.trace, self.rows, self.labels = trace, rows, labels

    def tried(
        self, quasi: Rows, sensitive: Rows, order: Ints, row: int, before: Ints, after: Ints, reach: int
    ) -> None:
        """Write a step: a row with sensitive items, its candidates by common items, and the group formed."""
        if before[row] >= 0:
            return

        def held(rows: Rows, of: int) -> set[int]:
            return {*rows[1][rows[0][of] : rows[0][of + 1]].tolist()}

        def near(places: Iterable[int]) -> list[int]:
            open_ = (at for at in places if before[at] < 0 and not held(sensitive, at) & mine)
            return [at for at, _ in zip(open_, range(reach), strict=False)]

        mine, own = held(sensitive, row), held(quasi, row)
        candidates = near(range(row - 1, 0, -1)) + near(range(row + 1, before.size - 1))
        common = {at: len(held(quasi, at) & own) for at in candidates}
        candidates.sort(key=lambda at: (-common[at], abs(at - row), at > row))
        members = [] if after[row] < 0 else np.flatnonzero(after == after[row]).tolist()

        def number(at: int) -> int:
            return int(self.rows[order[at - 1]]) + 1

        self.trace.step(
            row=number(row),
            items=[self.labels[item] for item in sorted(own)],
            **most({"row": number(at), "common": common[at]} for at in candidates),
            chosen=sorted(map(number, members)) or None,
        )

    def exchanged(self, before: Ints, after: Ints) -> None:
        """Write a step that lists the rows which changed their group, if there are any."""
        moved = np.flatnonzero(before != after)
        if moved.size:
            self.trace.step(
                phase="exchanges",
                moved=moved.size,
                candidates=[],
                chosen=[
                    {
                        "row": int(self.rows[at]) + 1,
                        "from_group": int(before[at]) + 1,
                        "to_group": int(after[at]) + 1,
                    }
                    for at in moved[:MOST].tolist()
                ],
            )
