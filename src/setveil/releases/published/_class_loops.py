"""Loops of the estimates for rows in classes."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled


@compiled
def _rows_of_all(starts, rows, cells, number):
    """Count the rows that are in the lists of all of some cells, which ascend: the shortest leads."""
    if number == 1:
        return starts[cells[0] + 1] - starts[cells[0]]
    lead = 0
    for i in range(1, number):
        length = starts[cells[i] + 1] - starts[cells[i]]
        if length < starts[cells[lead] + 1] - starts[cells[lead]]:
            lead = i
    at = np.empty(number, np.int64)
    for i in range(number):
        at[i] = starts[cells[i]]
    found = np.int64(0)
    for place in range(starts[cells[lead]], starts[cells[lead] + 1]):
        row = rows[place]
        both = True
        for i in range(number):
            if i == lead:
                continue
            end = starts[cells[i] + 1]
            while at[i] < end and rows[at[i]] < row:
                at[i] += 1
            if at[i] == end:
                return found
            if rows[at[i]] != row:
                both = False
                break
        if both:
            found += 1
    return found


@compiled
def answer_in_classes(
    indptr, places, first, last, cell, share, low, high, is_item, sizes, rows_of_class, chances, room,
    starts, rows, cell_starts, table, estimate, least, greatest,
):  # fmt: skip
    """Sum up over classes `first` to `last` the rows of each that are expected to contain a query.

    Queries are `indptr`, `places`: int64, positions in the last axis of `cell`, `share`, `low`, `high`, all
    (classes, items): the cell (class and label; -1: none), the expected share of the rows of the cell, or
    class, with the item, the fewest and the most. Cells, by class from `cell_starts`, have `sizes`, rows;
    `chances`, q; `room`, occurrences beyond one in each row; and `rows` from `starts`, ascending. `table`:
    int64 of any length, remembers the rows that two cells share. Results must be zeros at first.
    """
    own = np.empty(cell.shape[1] if cell.shape[1] > 0 else 1, np.int64)
    times = np.empty(own.size, np.int64)
    for c in range(first, last):
        begin = cell_starts[c]
        width = cell_starts[c + 1] - begin
        remembers = width * width <= table.size
        if remembers:
            table[: width * width] = -1
        for j in range(estimate.size):
            number = 0
            expected = 1.0
            missing = np.int64(0)
            most = rows_of_class[c]
            for p in range(indptr[j], indptr[j + 1]):
                item = places[p]
                at = cell[c, item]
                expected *= share[c, item]
                most = min(most, high[c, item])
                if at < 0:
                    missing += rows_of_class[c] - low[c, item]
                    continue
                missing += sizes[at] - low[c, item]
                k = 0
                while k < number and own[k] < at:
                    k += 1
                if k == number or own[k] != at:
                    for shift in range(number, k, -1):
                        own[shift] = own[shift - 1]
                        times[shift] = times[shift - 1]
                    own[k], times[k] = at, 0
                    number += 1
                if is_item[item]:
                    if times[k] > 0:
                        expected *= chances[at]
                    times[k] += 1
            if most <= 0 and expected <= 0.0:
                continue
            if number == 0:
                support = rows_of_class[c]
            elif number == 2 and remembers:
                both = (own[0] - begin) * width + own[1] - begin
                if table[both] < 0:
                    table[both] = _rows_of_all(starts, rows, own, number)
                support = table[both]
            else:
                support = _rows_of_all(starts, rows, own, number)
            estimate[j] += support * expected
            most = min(most, support)
            for k in range(number):
                if times[k] > 1:
                    most = min(most, room[own[k]] // (times[k] - 1))
            least[j] += max(np.int64(0), support - missing)
            greatest[j] += max(np.int64(0), most)
