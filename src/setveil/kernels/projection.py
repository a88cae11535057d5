"""Steps that depth-first walks over itemsets share: rows cut down to what is behind a path.

A walk keeps its levels one behind the other in flat arrays. Row r of a level is a row of the data that holds
the path, cut down to the items ``item_at[row_ptr[r]:row_ptr[r + 1]]``; a place is such a row and where in
`item_at` an item of it is. Other attributes of a row, such as its weight, are carried along.
"""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled


@compiled
def room(array, size):
    """Make an array long enough for `size` entries, by half as much again if it has to grow."""
    if size <= array.size:
        return array
    out = np.empty(max(size, array.size + array.size // 2), array.dtype)
    for i in range(array.size):  # a slice takes seconds to compile
        out[i] = array[i]
    return out


@compiled
def copy_behind(first, stop, row_of, place_of, rows, item_at, r, i):
    """Copy what is behind the places ``first:stop`` to the end of the arrays, as one row for each place.

    Returns the number of the row behind the last one. rows: int64 (2 or 3, any), written, is `row_ptr` and
    what is carried along. The first new row has number r, and its items begin at i of item_at (written).
    """
    row_ptr = rows[0]
    row_ptr[r] = i
    for at in range(first, stop):
        row = row_of[at]
        for p in range(place_of[at] + 1, row_ptr[row + 1]):
            item_at[i] = item_at[p]
            i += 1
        rows[1, r] = rows[1, row]
        if rows.shape[0] > 2:  # a loop over columns takes longer than the rest
            rows[2, r] = rows[2, row]
        r += 1
        row_ptr[r] = i
    return r


@compiled
def count_items(first, stop, rows, item_at, support, found):
    """Count the weight of the rows ``first:stop`` that contain each item, and list and count these items.

    rows: int64 (2 or 3, any), `row_ptr`, then weights; support (zeros), found: int64 (n,), are written.
    """
    row_ptr, weights = rows[0], rows[1]
    n_found = 0
    for row in range(first, stop):
        for p in range(row_ptr[row], row_ptr[row + 1]):
            y = item_at[p]
            if support[y] == 0:
                found[n_found] = y
                n_found += 1
            support[y] += weights[row]
    return n_found


@compiled
def keep_marked(first, stop, rows, item_at, mark):
    """Leave only items marked above 0 in the last rows ``first:stop``, and no empty row; return their end."""
    row_ptr = rows[0]
    kept, i = first, row_ptr[first]
    begin = i
    for row in range(first, stop):
        end = row_ptr[row + 1]
        start = i
        for p in range(begin, end):
            if mark[item_at[p]] > 0:
                item_at[i] = item_at[p]
                i += 1
        begin = end
        if i > start:
            row_ptr[kept] = start
            rows[1, kept] = rows[1, row]
            if rows.shape[0] > 2:
                rows[2, kept] = rows[2, row]
            kept += 1
    row_ptr[kept] = i
    return kept


@compiled
def list_places(first, stop, row_ptr, item_at, goes_to, row_of, place_of):
    """Write the places of the rows ``first:stop``, each where the next one of its item goes.

    goes_to: int64 (n,), moved on; row_of, place_of are written: the rows, and where in `item_at`.
    """
    for row in range(first, stop):
        for p in range(row_ptr[row], row_ptr[row + 1]):
            y = np.int64(item_at[p])
            row_of[goes_to[y]], place_of[goes_to[y]] = row, p
            goes_to[y] += 1


@compiled
def index_places(items, first, stop, row_ptr, item_at, number, begin, row_of, place_of):
    """List the places of each item in the rows ``first:stop``, which are where their items are.

    items: int64 (k,), all items of these rows; ``items[j]`` has number j + 1 (int64 (n,)), zero afterwards.
    begin: int64 (k + 1,), row_of and place_of (where in `item_at`) are written.
    """
    begin[:] = 0
    for p in range(row_ptr[first], row_ptr[stop]):
        begin[number[item_at[p]]] += 1
    begin[0] = row_ptr[first]
    for j in range(items.size):
        begin[j + 1] += begin[j]
        number[items[j]] = begin[j]
    list_places(first, stop, row_ptr, item_at, number, row_of, place_of)
    for j in range(items.size):
        number[items[j]] = 0
