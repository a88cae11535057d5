"""Loops of the search for cuts."""

from __future__ import annotations

from setveil.base.jit import compiled


@compiled
def cut_gains(indptr, items, starts, rows, candidates, supports, weighed, together, gains):
    """Find how much of what is open of other items each cut settles.

    The rows are of items that are counted; starts, rows: those of each item. weighed: int64 (n + 1,), x log x
    for each number x of rows; together: int64 (items,), zeros before and after. gains: int64 (candidates,),
    written: the sum over the other items of their entropy in all rows less that in both halves.
    """
    n = indptr.size - 1
    for j in range(candidates.size):
        item = candidates[j]
        holding = starts[item + 1] - starts[item]
        lacking = n - holding
        for p in range(starts[item], starts[item + 1]):
            for q in range(indptr[rows[p]], indptr[rows[p] + 1]):
                together[items[q]] += 1
        whole = weighed[n] - weighed[holding] - weighed[lacking]
        gain = weighed[0]
        for i in range(supports.size):
            both = together[i]
            together[i] = 0
            other = supports[i] - both
            if i == item:
                continue
            gain += (
                whole
                + weighed[both] + weighed[holding - both] - weighed[supports[i]]
                + weighed[other] + weighed[lacking - other] - weighed[n - supports[i]]
            )  # fmt: skip
        gains[j] = gain
