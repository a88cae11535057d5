"""Which rows an item reveals: alone, or next to one other item."""

from __future__ import annotations

from setveil.jit import compiled


@compiled
def revealed_rows(
    indptr, items, weights, starts, tidlists, supports, below, largest, first, last, count, out
):  # fmt: skip
    """Count, for some items, the rows that hold each in a minimal set of few rows.

    A set is minimal if it is in fewer than `below` rows and none of its proper subsets is. A single item that
    is so rare is minimal; of the others two are, together, in as few rows.

    Parameters
    ----------
    indptr, items, weights, starts, tidlists
        Distinct rows, how many rows each represents, and the rows of each item.
    supports : int64 (n_ids,)
        Rows that hold each item.
    below : int
    largest : int
        1 or 2: most items of a set.
    first, last : int
        The items to count for, without the last.
    count : int64 (n_ids,), zeros
        Workspace; zero afterwards.
    out : int64 (n_ids,), written
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
    """Count, for each item, the rows that hold it in such a set, where pairs are in a table.

    Parameters
    ----------
    indptr, items
        The rows.
    supports : int64 (n_items,)
        The rows that hold each item.
    below : int
    offsets, table
        Of the sets of two items (see `setveil.kernels.count`), or of the single ones: then no pairs count.
    out : int64 (n_items,), written
    """
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
