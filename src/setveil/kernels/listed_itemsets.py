"""Itemsets from a list: their supports while items merge or vanish, and which one to protect next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.item_groups import TICK, WORK, Groups, is_threatened, support_of
from setveil.kernels.rows import Ids, Ints, frozen, invert, merge_rows, recode_rows, take_rows

NONE, PAUSED = -1, -2


class Listed(NamedTuple):
    """Itemsets, in order."""

    # indptr, items: int64 (itemsets + 1,), int32, read-only: the items of each itemset that occur in the rows
    indptr: Ints
    items: Ids
    # starts, lists: int64 (n + 1,), int32, read-only: the itemsets that hold each item
    starts: Ints
    lists: Ids
    # bool (itemsets,), read-only: whether an itemset also holds an item that occurs nowhere: then no row ever
    # supports it
    absent: NDArray[np.bool_]
    number: Ints  # int64 (itemsets,), read-only: the place of each in the list that was given
    # int64 (itemsets,): rows that support the image of each, counted up to k; k where nothing is left to
    # protect
    support: Ints
    # bool (itemsets,): whether an itemset in no row is known to have no threatened subset either
    fine: NDArray[np.bool_]
    # int64 (2, n): before two groups merge: the rows that each group shares with the second, but without the
    # first, and the other way round
    gain: Ints
    gaining: Ints  # int64 (2, rows): those rows
    # seen, clock: int64 (itemsets,), int64 (3,): workspace: the clock of `seen`, and the numbers of gaining
    # rows
    seen: Ints
    clock: Ints


def list_itemsets(s: Groups, ids: Mapping[str, int], itemsets: Iterable[Iterable[str]]) -> Listed:
    """Make a list of itemsets, in order, none counted yet; an item that `ids` lacks occurs nowhere."""
    occurs = (s.support > 0).tolist()
    indptr, items, absent = [0], [], []
    for itemset in itemsets:
        numbers = [ids.get(item, -1) for item in itemset]
        found = [i for i in numbers if i >= 0 and occurs[i]]
        absent.append(len(found) < len(numbers))
        items += found
        indptr.append(len(items))
    ptr, flat = frozen(np.array(indptr, np.int64), np.int64), frozen(np.array(items, np.int32), np.int32)
    starts, lists, _ = invert(ptr, flat, s.group.size)
    n = len(absent)
    return Listed(
        indptr=ptr,
        items=flat,
        starts=starts,
        lists=lists,
        absent=frozen(np.array(absent, np.bool_), np.bool_),
        number=frozen(np.arange(n), np.int64),
        support=np.zeros(n, np.int64),
        fine=np.zeros(n, np.bool_),
        gain=np.zeros((2, s.group.size), np.int64),
        gaining=np.zeros((2, s.weights.size), np.int64),
        seen=np.zeros(n, np.int64),
        clock=np.zeros(3, np.int64),
    )


def compacted(s: Groups, listed: Listed, k: int) -> Listed:
    """Put groups in the place of items; keep what is not protected, and the first of equal images."""
    indptr, items = recode_rows(listed.indptr, listed.items, frozen(s.group, np.int32))
    kept = []
    for absent in (False, True):
        some = np.flatnonzero((listed.support < k) & (listed.absent == absent))
        kept.append(some[merge_rows(*take_rows(indptr, items, some))[1]])
    rows = np.sort(np.concatenate(kept))
    indptr, items = take_rows(indptr, items, rows)
    starts, lists, _ = invert(indptr, items, s.group.size)
    return Listed(
        indptr=indptr,
        items=items,
        starts=starts,
        lists=lists,
        absent=frozen(listed.absent[rows], np.bool_),
        number=frozen(listed.number[rows], np.int64),
        support=listed.support[rows],
        fine=listed.fine[rows],
        gain=listed.gain,
        gaining=listed.gaining,
        seen=listed.seen[rows],
        clock=listed.clock,
    )


@compiled
def image_of(s, items):
    """List the distinct groups of items, those that are suppressed omitted."""
    image = np.empty(items.size, np.int32)
    n = 0
    for item in items:
        g = s.group[item]
        if g >= 0 and s.fill[g] == 0:
            s.fill[g] = 1
            image[n] = g
            n += 1
    for i in range(n):
        s.fill[image[i]] = 0
    return image[:n]


@compiled
def _refresh(s, listed, p, k):
    image = image_of(s, listed.items[listed.indptr[p] : listed.indptr[p + 1]])
    listed.fine[p] = False
    if image.size == 0:
        listed.support[p] = k
    elif not listed.absent[p]:
        listed.support[p] = support_of(s, image, k)


@compiled
def count_supports(s, listed, p, k, budget):
    """Count the supports of the itemsets from p on; return where it stopped because the budget is used up."""
    end = s.clock[WORK] + budget
    while p < listed.support.size and s.clock[WORK] < end:
        _refresh(s, listed, p, k)
        s.clock[WORK] += 20
        p += 1
    return p


@compiled
def count_gains(s, listed, c, d):
    """List in `gaining` the rows of d without c, and of c without d, and count in `gain` what they hold."""
    tick = s.clock[TICK] + 1
    s.clock[TICK] += 4
    listed.gain[:] = 0
    listed.clock[1:] = 0
    x = np.int64(c)
    while x >= 0:
        for p in range(s.starts[x], s.starts[x + 1]):
            s.mark[s.tidlists[p]] = tick
        x = np.int64(s.following[x])
    for side in range(2):
        x = np.int64(d if side == 0 else c)
        while x >= 0:
            for p in range(s.starts[x], s.starts[x + 1]):
                row = s.tidlists[p]
                if side == 0 and s.mark[row] == tick:
                    s.mark[row] = tick + 1  # in both
                elif (side == 0 and s.mark[row] < tick) or (side == 1 and s.mark[row] == tick):
                    s.mark[row] = tick + 2
                    listed.gaining[side, listed.clock[1 + side]] = row
                    listed.clock[1 + side] += 1
                    s.clock[WORK] += s.length[row]
                    for q in range(s.indptr[row], s.indptr[row] + s.length[row]):
                        listed.gain[side, s.items[q]] += s.weights[row]
            x = np.int64(s.following[x])


@compiled
def _add_gained(s, listed, p, c, side, k):
    """Add to the support of an itemset that held one of two groups that are now c."""
    listed.fine[p] = False
    for at in range(listed.indptr[p], listed.indptr[p + 1]):
        g = s.group[listed.items[at]]
        if g >= 0 and g != c and listed.gain[side, g] == 0:
            return
    if listed.absent[p]:
        return
    image = image_of(s, listed.items[listed.indptr[p] : listed.indptr[p + 1]])
    for g in image:
        s.fill[g] = 1
    for row in listed.gaining[side, : listed.clock[1 + side]]:
        have = 0
        for q in range(s.indptr[row], s.indptr[row] + s.length[row]):
            have += s.fill[s.items[q]]
        if have == image.size:
            listed.support[p] += s.weights[row]
            if listed.support[p] >= k:
                listed.support[p] = k
                break
    for g in image:
        s.fill[g] = 0


@compiled
def recount_merged(s, listed, c, d, k):
    """Count again the itemsets with a member of c, into which d has been merged (after `count_gains`).

    Supports only grow: an itemset whose image k rows support stays protected.
    """
    listed.clock[0] += 2
    now = listed.clock[0]
    x = np.int64(c)
    while x != d:
        for at in range(listed.starts[x], listed.starts[x + 1]):
            listed.seen[listed.lists[at]] = now - 1
        x = np.int64(s.following[x])
    while x >= 0:
        for at in range(listed.starts[x], listed.starts[x + 1]):
            p = listed.lists[at]
            if listed.support[p] < k and listed.seen[p] < now:
                if listed.seen[p] == now - 1:
                    _refresh(s, listed, p, k)
                else:
                    _add_gained(s, listed, p, c, 1, k)
                listed.seen[p] = now
        x = np.int64(s.following[x])
    x = np.int64(c)
    while x != d:
        for at in range(listed.starts[x], listed.starts[x + 1]):
            p = listed.lists[at]
            if listed.support[p] < k and listed.seen[p] < now:
                _add_gained(s, listed, p, c, 0, k)
                listed.seen[p] = now
        x = np.int64(s.following[x])


@compiled
def recount_suppressed(s, listed, group, k):
    """Count again the itemsets that held a group which is gone."""
    x = np.int64(group)
    while x >= 0:
        for at in range(listed.starts[x], listed.starts[x + 1]):
            p = listed.lists[at]
            if listed.support[p] < k:
                _refresh(s, listed, p, k)
        x = np.int64(s.following[x])


@compiled
def next_unsatisfied(s, listed, k, budget):
    """Find the unsatisfied itemset whose image has most support, the first of equals; NONE or PAUSED."""
    best, most = np.int64(NONE), np.int64(0)
    for p in range(listed.support.size):
        if most < listed.support[p] < k:
            best, most = np.int64(p), listed.support[p]
    if best >= 0:
        return best
    end = s.clock[WORK] + budget
    for p in range(listed.support.size):
        if listed.support[p] == 0 and not listed.fine[p]:
            if s.clock[WORK] >= end:
                return np.int64(PAUSED)
            image = image_of(s, listed.items[listed.indptr[p] : listed.indptr[p + 1]])
            if is_threatened(s, image, k):
                return np.int64(p)
            listed.fine[p] = True
            s.clock[WORK] += 20
    return np.int64(NONE)
