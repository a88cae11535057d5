"""Exchange rows of groups for rows that are left over, where estimates come closer to the truth."""

from __future__ import annotations

import math

import numpy as np

from setveil.base.jit import compiled

_LEAST = 1e-12  # gains below it may be rounding


@compiled
def loss(held, holders, number, scale):
    """Find the KL divergence of a query: exact share held / holders, estimated one number / scale."""
    a, e = held / holders, number / scale
    out = 0.0
    if held > 0:
        out += a * math.log(a / e)
    if held < holders:
        out += (1.0 - a) * math.log((1.0 - a) / (1.0 - e))
    return out


@compiled
def slope(held, holders, number, scale):
    """Find the derivative of `loss` by `number`, times p and the number of rows left over."""
    a, e = held / holders, number / scale
    out = 0.0
    if held > 0:
        out -= a / e
    if held < holders:
        out += (1.0 - a) / (1.0 - e)
    return out / holders


@compiled
def all_slopes(held, holders, number, scale, out):
    """Fill in the `slope` of every pair of a sensitive item and another item."""
    for s in range(holders.size):
        for i in range(held.shape[1]):
            out[s, i] = slope(held[s, i], holders[s], number[s, i], scale[s])


@compiled
def _linear(indptr, items, row, sensitive, weight, slopes):
    out = 0.0
    for s in sensitive:
        for q in range(indptr[row], indptr[row + 1]):
            out += weight[s] * slopes[s, items[q]]
    return out


@compiled
def _change(indptr, items, row, other, sensitive, weight, held, holders, number, scale, sign):
    """Change of the loss by the items of `row` that `other` lacks, if `row` joins (sign 1) or leaves (-1)."""
    out = 0.0
    for q in range(indptr[row], indptr[row + 1]):
        i = items[q]
        both = False
        for r in range(indptr[other], indptr[other + 1]):
            both = both or items[r] == i
        if both:
            continue
        for s in sensitive:
            new = number[s, i] + sign * weight[s]
            out += loss(held[s, i], holders[s], new, scale[s])
            out -= loss(held[s, i], holders[s], number[s, i], scale[s])
    return out


@compiled
def exchange(
    indptr, items, seats, seat_group, kind, top, below, g_indptr, g_item, g_weight, last_weight,
    held, holders, number, scale, slopes, first, reach, most,
):  # fmt: skip
    """Exchange each seated row for the best of the left-over rows nearby if that lowers the loss; count them.

    - seats, seat_group: int64 (seats,), rows without sensitive items in groups, changed, and their groups
    - kind: int64 (n,), the number of each distinct row, in band order
    - top, below: int64 (kinds,), (n,), changed: stacks of each kind's left-over rows, with -1 for none
    - g_indptr, g_item, g_weight: int64, the sensitive items of each group, and what one row more of a QID
      item in the group adds to its `number`; last_weight: int64 (sensitive,), the same for the left-over rows
    - held, holders: int64 (sensitive, items), (sensitive,), rows with both, rows with the sensitive item
    - number, scale: int64 (sensitive, items), changed, and (sensitive,); their quotient is the estimated
      share of rows with an item among those with a sensitive item
    - slopes: float64 (sensitive, items), changed: `slope` of each pair
    - first, reach, most: the first seat, how many kinds before and after its own, how many seats to look at
    """
    done = 0
    queue = np.empty(holders.size, np.int64)
    weight = -last_weight
    of_last = np.nonzero(last_weight)[0]
    queue[: of_last.size] = of_last
    for k in range(first, min(first + most, seats.size)):
        # The sensitive items of the two groups, and by how much a row counts more in one than the other.
        x, g = seats[k], seat_group[k]
        n_queue = of_last.size
        for o in range(g_indptr[g], g_indptr[g + 1]):
            s = g_item[o]
            weight[s] += g_weight[o]
            if last_weight[s] == 0:
                queue[n_queue] = s
                n_queue += 1
        sensitive = queue[:n_queue]

        # Of the left-over rows nearby, the one that the slopes favour most over x.
        best = _linear(indptr, items, x, sensitive, weight, slopes)
        place = np.int64(-1)
        for d in range(1, reach + 1):
            for at in (kind[x] - d, kind[x] + d):
                if 0 <= at < top.size and top[at] >= 0:
                    value = _linear(indptr, items, top[at], sensitive, weight, slopes)
                    if value < best:
                        best, place = value, at
        if place >= 0:
            y = top[place]
            # The slopes only estimate: exchange the two if the loss itself falls.
            gain = _change(indptr, items, x, y, sensitive, weight, held, holders, number, scale, -1)
            gain += _change(indptr, items, y, x, sensitive, weight, held, holders, number, scale, 1)
            if gain < -_LEAST:
                done += 1
                seats[k] = y
                top[place] = below[y]
                below[x] = top[kind[x]]
                top[kind[x]] = x
                # Numbers of the items that one of the two holds, and their slopes.
                for row, sign in ((x, -1), (y, 1)):
                    for q in range(indptr[row], indptr[row + 1]):
                        i = items[q]
                        for s in sensitive:
                            number[s, i] += sign * weight[s]
                for row in (x, y):
                    for q in range(indptr[row], indptr[row + 1]):
                        i = items[q]
                        for s in sensitive:
                            slopes[s, i] = slope(held[s, i], holders[s], number[s, i], scale[s])
        for o in range(g_indptr[g], g_indptr[g + 1]):
            weight[g_item[o]] -= g_weight[o]
    return done
