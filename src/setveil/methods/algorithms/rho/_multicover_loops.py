"""Which rows hold what a rule knows and tells, and in which of them to suppress what it tells."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.kernels.projection import room
from setveil.kernels.rows import holds


@compiled
def list_holders(rules, rows, lists, first, ends, holders, budget):
    """List the rows with all items of each rule, from `first` on; return the next rule and the array."""
    indptr, items = rows
    starts, tidlists = lists
    steps = 0
    while first < rules.shape[0] and steps < budget:
        rarest = rules[first, 0]
        for x in rules[first]:
            if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
                rarest = x
        end = ends[first]
        holders = room(holders, end + starts[rarest + 1] - starts[rarest])
        for at in range(starts[rarest], starts[rarest + 1]):
            row = tidlists[at]
            steps += 1
            if _holds_all(items, indptr[row], indptr[row + 1], rules[first]):
                holders[end] = row
                end += 1
        first += 1
        ends[first] = end
    return first, holders


@compiled
def _holds_all(items, begin, end, wanted):
    """Decide whether a row contains all of some items."""
    for x in wanted:  # noqa: SIM110  (compiled)
        if not holds(items, begin, end, x):
            return False
    return True


@compiled
def drop_in_rows(needs, groups_of, needs_of, copies, dropped):
    """Suppress an item in rows until each need is met, then give it back where it may stay.

    needs: int64, written: how many of the rows of each have yet to lose the item, at the end not above 0;
    groups_of: the groups of equal rows of each need; needs_of: the needs of each group; copies: the rows of
    each group, ascending; dropped: bool (n,), all false, written: the rows that lose the item.
    """
    starts, groups = groups_of
    need_starts, needs_in = needs_of
    copy_starts, rows = copies
    n = need_starts.size - 1
    number, total = np.zeros(n, np.int64), np.zeros(n, np.int64)  # unmet needs of a group, what they lack
    unmet = 0
    for j in range(needs.size):
        unmet += 1
        for at in range(starts[j], starts[j + 1]):
            number[groups[at]] += 1
            total[groups[at]] += needs[j]
    lost = copy_starts[:-1].copy()  # the next row of each group
    while unmet > 0:
        best = -1
        for g in range(n):
            if lost[g] == copy_starts[g + 1]:
                continue
            if best >= 0:
                if number[g] < number[best] or (number[g] == number[best] and total[g] < total[best]):
                    continue
                equal = number[g] == number[best] and total[g] == total[best]
                if equal and rows[lost[g]] > rows[lost[best]]:
                    continue
            best = g
        dropped[rows[lost[best]]] = True
        lost[best] += 1
        for i in range(need_starts[best], need_starts[best + 1]):
            j = needs_in[i]
            needs[j] -= 1
            if needs[j] < 0:
                continue
            met = needs[j] == 0
            unmet -= met
            for at in range(starts[j], starts[j + 1]):
                total[groups[at]] -= 1
                number[groups[at]] -= met

    group_of = np.full(dropped.size, -1, np.int64)
    for g in range(n):
        for at in range(copy_starts[g], lost[g]):
            group_of[rows[at]] = g
    for row in range(dropped.size):
        if not dropped[row]:
            continue
        g = group_of[row]
        spare = True
        for i in range(need_starts[g], need_starts[g + 1]):
            spare = spare and needs[needs_in[i]] < 0
        if spare:
            dropped[row] = False
            for i in range(need_starts[g], need_starts[g + 1]):
                needs[needs_in[i]] += 1
