"""Rows whose items merge into groups or vanish, one step at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, invert, item_supports

MASKED = 12  # itemsets of up to so many groups are counted by one table of all their subsets


class Groups(NamedTuple):
    """Rows under a partition of the items; a group is named by its smallest member."""

    # indptr, weights: int64 (rows + 1,), int64 (rows,), read-only: where each row begins in `items`, and how
    # many equal rows it stands for
    indptr: Ints
    weights: Ints
    # starts, tidlists: int64 (n + 1,), int32, read-only: the rows that held each item in the beginning;
    # together, those of its members are a group's rows
    starts: Ints
    tidlists: Ids
    items: Ids  # int32: the groups of each row, ascending: the first `length` from where the row begins
    length: Ints  # int64 (rows,): number of groups that each row has
    # int32 (n,): The group of each item, -1 if it is suppressed. Items that occur nowhere stay alone.
    group: Ids
    # following, last: int32 (n,): the members of a group as a list that begins with its name: the next one,
    # or -1; and where it ends
    following: Ids
    last: Ids
    # size, support: int64 (n,): number of members of a group, and of rows that hold it
    size: Ints
    support: Ints
    # int64 (n,): when a group came to be; -1: there is no group of that name, or it occurs nowhere
    stamp: Ints
    smallest: Ids  # int32 (n, width): the smallest members of a group, ascending, then -1
    constraint: Ids  # int32 (n,), read-only: only items of the same constraint may be merged
    node: Ids  # int32 (n,): lowest common ancestor of a group's members
    # parent, low, high: int32 (nodes,), read-only: the tree: parent (-1 for the root), and the interval of
    # leaves under each node
    parent: Ids
    low: Ids
    high: Ids
    worth: Ints  # int64 (nodes,), read-only: the weight of labels under each node, never less than below it
    # mark, tally, fill, touched: int64 (rows,), int64 (n,), int64 (n,), int32 (n,): workspace: `mark` holds
    # old ticks of the clock, `tally` and `fill` zeros
    mark: Ints
    tally: Ints
    fill: Ints
    touched: Ids
    clock: Ints  # int64 (3,): last tick for `mark`, last stamp, work done so far


TICK, STAMP, WORK = range(3)  # places in `clock`


@compiled
def support_of(s, image, k):
    """Count the rows that hold every group of `image` (distinct, at least one), but not beyond k."""
    rare = np.int64(image[0])
    for g in image:
        if s.support[g] < s.support[rare]:
            rare = np.int64(g)
    if image.size == 1 or s.support[rare] == 0:
        return min(s.support[rare], k)
    for g in image:
        s.fill[g] = 1
    s.clock[TICK] += 1
    tick = s.clock[TICK]
    found = np.int64(0)
    x = rare
    while x >= 0 and found < k:
        for p in range(s.starts[x], s.starts[x + 1]):
            row = s.tidlists[p]
            if s.mark[row] == tick:
                continue
            s.mark[row] = tick
            have = 0
            begin = s.indptr[row]
            for q in range(begin, begin + s.length[row]):
                have += s.fill[s.items[q]]
            s.clock[WORK] += s.length[row]
            if have == image.size:
                found += s.weights[row]
                if found >= k:
                    break
        x = np.int64(s.following[x])
    for g in image:
        s.fill[g] = 0
    return min(found, k)


@compiled
def is_threatened(s, image, k):
    """Whether some non-empty subset of the groups of `image` (distinct) has support in (0, k)."""
    if image.size == 0:
        return False
    whole = support_of(s, image, k)
    if whole > 0:
        return whole < k
    for g in image:
        if 0 < s.support[g] < k:
            return True
    if image.size <= 2:
        return False

    # Every subset that occurs lies in what some row has of the image, which occurs less often or as often.
    total = np.int64(0)
    for g in image:
        x = np.int64(g)
        while x >= 0:
            total += s.starts[x + 1] - s.starts[x]
            x = np.int64(s.following[x])
    hit = np.empty(total, np.int64)
    hits = 0
    s.clock[TICK] += 1
    for g in image:
        x = np.int64(g)
        while x >= 0:
            for p in range(s.starts[x], s.starts[x + 1]):
                row = s.tidlists[p]
                if s.mark[row] != s.clock[TICK]:
                    s.mark[row] = s.clock[TICK]
                    hit[hits] = row
                    hits += 1
            x = np.int64(s.following[x])
    s.clock[WORK] += total

    # Few groups: count the rows by what they have of the image, then add supersets to subsets.
    threatened = False
    if image.size <= MASKED:
        table = np.zeros(1 << image.size, np.int64)
        for i in range(image.size):
            s.fill[image[i]] = np.int64(1) << i
        for row in hit[:hits]:
            part = np.int64(0)
            for q in range(s.indptr[row], s.indptr[row] + s.length[row]):
                part |= s.fill[s.items[q]]
            table[part] += s.weights[row]
        for i in range(image.size):
            s.fill[image[i]] = 0
            for mask in range(table.size):
                if not mask >> i & 1:
                    table[mask] += table[mask | 1 << i]
        for mask in range(1, table.size):
            threatened = threatened or 0 < table[mask] < k
        return threatened
    # Many groups: count each part that a row has.
    wanted = np.zeros(s.group.size, np.bool_)
    for g in image:
        wanted[g] = True
    held = np.empty(image.size, np.int32)
    for row in hit[:hits]:
        n = 0
        for q in range(s.indptr[row], s.indptr[row] + s.length[row]):
            if wanted[s.items[q]]:
                held[n] = s.items[q]
                n += 1
        if n > 1 and support_of(s, held[:n], k) < k:
            return True
    return False


@compiled
def compare_losses(a, c, b, d):
    """Sign of (2^a - 1) c - (2^b - 1) d, exactly, for c and d from 1 to below 2^62."""
    if a == b:
        return np.int64(c > d) - np.int64(c < d)
    if a < b:
        a, b, c, d, sign = b, a, d, c, -1
    else:
        sign = 1
    t = a - b
    if t >= 62 or c > d >> t:
        return sign
    rest = d - (c << t)  # at least 0, and the difference is (2^t - 1) c - (2^b - 1) rest
    left = (c << t) - c
    if rest == 0:
        return sign
    if b >= 62:
        return -sign
    right = (np.int64(1) << b) - 1
    if left // right < rest:
        return -sign
    return sign if left > right * rest else 0


@compiled
def count_together(s, g):
    """Count in `tally`, for each group, the rows that it shares with g."""
    s.clock[TICK] += 1
    tick = s.clock[TICK]
    x = np.int64(g)
    while x >= 0:
        for p in range(s.starts[x], s.starts[x + 1]):
            row = s.tidlists[p]
            if s.mark[row] != tick:
                s.mark[row] = tick
                for q in range(s.indptr[row], s.indptr[row] + s.length[row]):
                    s.tally[s.items[q]] += s.weights[row]
        x = np.int64(s.following[x])
    s.clock[WORK] += s.tally[g] + s.group.size


@compiled
def best_partner(s, g):
    """Find the group to merge with g at least utility loss, the first of equals, -1 if there is none.

    Also returns the members of both together, and the weight of the lowest common ancestor times the support:
    the loss is (2^members - 1) times these, times what is the same for all.
    """
    count_together(s, g)
    best, best_size, best_cost = np.int64(-1), np.int64(0), np.int64(0)
    for h in range(s.group.size):
        if s.stamp[h] < 0 or h == g or s.constraint[h] != s.constraint[g]:
            continue
        node = np.int64(s.node[g])
        while s.low[s.node[h]] < s.low[node] or s.high[node] < s.high[s.node[h]]:
            node = np.int64(s.parent[node])
        size = s.size[g] + s.size[h]
        cost = s.worth[node] * (s.support[g] + s.support[h] - s.tally[h])
        if best < 0 or compare_losses(size, cost, best_size, best_cost) < 0:
            best, best_size, best_cost = np.int64(h), size, cost
    s.tally[:] = 0
    return best, best_size, best_cost


@compiled
def merge_groups(s, a, b):
    """Make one group of two."""
    c, d = min(a, b), max(a, b)
    s.clock[TICK] += 1
    s.clock[STAMP] += 1
    tick = s.clock[TICK]
    # In the rows of d: where c stands as well, d goes; elsewhere c takes its place, in order.
    x = np.int64(d)
    while x >= 0:
        for p in range(s.starts[x], s.starts[x + 1]):
            row = s.tidlists[p]
            if s.mark[row] == tick:
                continue
            s.mark[row] = tick
            begin = s.indptr[row]
            at = begin
            while s.items[at] < c:
                at += 1
            if s.items[at] == c:
                at += 1
                while s.items[at] != d:
                    at += 1
                s.length[row] -= 1
                for q in range(at, begin + s.length[row]):
                    s.items[q] = s.items[q + 1]
            else:  # c stands where it belongs, and all between one further
                moved = s.items[at]
                s.items[at] = c
                while moved != d:
                    at += 1
                    s.items[at], moved = moved, s.items[at]
                s.support[c] += s.weights[row]
            s.clock[WORK] += s.length[row]
        s.group[x] = c
        x = np.int64(s.following[x])
    # c takes over the members, and its node is the lowest above both.
    s.following[s.last[c]] = d
    s.last[c] = s.last[d]
    s.size[c] += s.size[d]
    s.support[d] = 0
    s.stamp[c], s.stamp[d] = s.clock[STAMP], -1
    node = np.int64(s.node[c])
    while s.low[s.node[d]] < s.low[node] or s.high[node] < s.high[s.node[d]]:
        node = np.int64(s.parent[node])
    s.node[c] = node
    width = s.smallest.shape[1]
    for i in range(width):  # insert the other's smallest members, as far as they fit
        member = s.smallest[d, i]
        if member < 0:
            break
        at = width
        while at > 0 and (s.smallest[c, at - 1] < 0 or s.smallest[c, at - 1] > member):
            at -= 1
        for j in range(width - 1, at, -1):
            s.smallest[c, j] = s.smallest[c, j - 1]
        if at < width:
            s.smallest[c, at] = member
    return c


@compiled
def suppress_group(s, g):
    """Take a group out of all rows."""
    s.clock[TICK] += 1
    tick = s.clock[TICK]
    x = np.int64(g)
    while x >= 0:
        for p in range(s.starts[x], s.starts[x + 1]):
            row = s.tidlists[p]
            if s.mark[row] == tick:
                continue
            s.mark[row] = tick
            at = s.indptr[row]
            while s.items[at] != g:
                at += 1
            s.length[row] -= 1
            for q in range(at, s.indptr[row] + s.length[row]):
                s.items[q] = s.items[q + 1]
        s.group[x] = -1
        x = np.int64(s.following[x])
    s.support[g], s.stamp[g] = 0, -1


def single_groups(
    rows: tuple[Ints, Ids, Ints],
    index: tuple[Ints, Ids],
    constraint: Ids,
    tree: tuple[Ids, Ids, Ids],
    worth: Ints,
    node: Ids,
    width: int,
) -> Groups:
    """Put every item into a separate group; all arrays are read-only, but for node (see `Groups`)."""
    indptr, items, weights = rows
    n = constraint.size
    support = item_supports(indptr, items, weights, n)
    each = np.arange(n, dtype=np.int32)
    # The rarest item is the newest: the search for itemsets begins each with its newest group.
    stamp: NDArray[np.int64] = np.empty(n, np.int64)
    stamp[np.argsort(-support, kind="stable")] = np.arange(n)
    stamp[support == 0] = -1
    smallest = np.full((n, width), -1, np.int32)
    smallest[:, 0] = each
    return Groups(
        indptr=indptr,
        weights=weights,
        starts=index[0],
        tidlists=index[1],
        items=items.copy(),
        length=np.diff(indptr),
        group=each.copy(),
        following=np.full(n, -1, np.int32),
        last=each.copy(),
        size=np.ones(n, np.int64),
        support=support,
        stamp=stamp,
        smallest=smallest,
        constraint=constraint,
        node=node.copy(),
        parent=tree[0],
        low=tree[1],
        high=tree[2],
        worth=worth,
        mark=np.zeros(weights.size, np.int64),
        tally=np.zeros(n, np.int64),
        fill=np.zeros(n, np.int64),
        touched=np.empty(n, np.int32),
        clock=np.array([0, n, 0], np.int64),
    )


def compacted(s: Groups) -> Groups:
    """Merge the rows that have become equal; everything else stays as it is."""
    row = np.repeat(np.arange(s.length.size), np.diff(s.indptr))
    kept = np.arange(s.items.size) - s.indptr[row] < s.length[row]
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(s.length)))
    rows = distinct_rows(frozen(indptr, np.int64), frozen(s.items[kept], np.int32), s.weights)
    starts, tidlists, _ = invert(rows[0], rows[1], s.group.size)
    return s._replace(
        indptr=rows[0],
        items=rows[1].copy(),
        weights=rows[2],
        length=np.diff(rows[0]),
        starts=starts,  # all rows of a group are listed with its name, none with the other members
        tidlists=tidlists,
        mark=np.zeros(rows[2].size, np.int64),
    )
