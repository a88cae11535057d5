"""The rows that an item reveals: alone, or next to one other item."""

from __future__ import annotations

from setveil.base.jit import compiled


@compiled
def revealed_rows(
    indptr, items, weights, starts, tidlists, supports, below, largest, first, last, count, out
):  # fmt: skip
    """Count, for the items ``first:last``, the rows that contain each in a minimal set of few rows.

    A set is minimal if it is in fewer than `below` rows and none of its proper subsets is: one rare item or,
    if `largest` is 2, two others. `supports`: int64 (n_ids,), rows with each item; `count`: workspace, zeros.
    """
    for x in range(first, last):
        if supports[x] < below:
            out[x] = supports[x]
        elif largest > 1:
            for a in range(starts[x], starts[x + 1]):
                row = tidlists[a]
                for p in range(indptr[row], indptr[row + 1]):
                    count[items[p]] += weights[row]
            for a in range(starts[x], starts[x + 1]):
                row = tidlists[a]
                for p in range(indptr[row], indptr[row + 1]):
                    y = items[p]
                    if y != x and count[y] < below and supports[y] >= below:
                        out[x] += weights[row]
                        break
            for a in range(starts[x], starts[x + 1]):
                for p in range(indptr[tidlists[a]], indptr[tidlists[a] + 1]):
                    count[items[p]] = 0


@compiled
def revealed_by_table(indptr, items, supports, below, offsets, table, out):
    """Count, for each item, the rows that contain it in a set of a `table` (see `setveil.kernels.count`)."""
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            x = items[p]
            if supports[x] < below:
                out[x] += 1
                continue
            for q in range(indptr[row], indptr[row + 1] if offsets.shape[0] > 1 else indptr[row]):
                y = items[q]
                if x == y or supports[y] < below:
                    continue
                if table[min(x, y) + offsets[1, max(x, y)]] < below:
                    out[x] += 1
                    break
