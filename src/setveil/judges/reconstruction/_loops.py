"""Deal the items of one label, numbered among its items, to the rows that show it, numbered likewise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.rows import Ids, Ints

State = NDArray[np.uint64]

_COMMON = 4  # an item of more than 1 / _COMMON of the rows has a place for each of them
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_RANGE = np.uint64(1 << 32)


class Deal(NamedTuple):
    """The items of a label that each row contains; occurrences are numbered item by item."""

    supports: Ints  # int64 (items,): in how many rows each item is in the end
    dealt: Ints  # int64 (items,): in how many rows it is so far
    item: Ids  # int32 (occurrences,): the item of each occurrence
    first: Ints  # int64 (items,): the first occurrence of each item
    # int32: the row of each occurrence, item by item; of a common item all rows, those that hold it first
    rows: Ids
    starts: Ints  # int64 (items,): where in `rows` those of an item begin
    places: Ids  # int32: of each common item the place of every row in its part of `rows`
    # int64 (items,): where in `places` those of an item begin; -1 for an item that is not common
    common: Ints
    # int64 (a power of two,): hash table of item * n_rows + row for the items that are not common; -1: free
    held: Ints
    filled: Ints  # int64 (n_rows,): how many items each row holds


def new_deal(supports: Ints, n_rows: int) -> Deal:
    """Make a deal in which no row holds anything yet."""
    common = supports * _COMMON > n_rows
    widths = np.where(common, n_rows, supports)
    ends = np.cumsum(widths)
    everywhere = np.arange(n_rows, dtype=np.int32)
    rows = np.zeros(int(widths.sum()), np.int32)
    for start in (ends - widths)[common].tolist():
        rows[start : start + n_rows] = everywhere
    places = np.tile(everywhere, int(np.count_nonzero(common)))
    rare = int(supports[~common].sum())
    return Deal(
        supports,
        np.zeros(supports.size, np.int64),
        np.repeat(np.arange(supports.size, dtype=np.int32), supports),
        np.cumsum(supports) - supports,
        rows,
        ends - widths,
        places,
        np.where(common, (np.cumsum(common) - 1) * n_rows, -1),
        np.full(1 << (2 * rare).bit_length(), -1, np.int64),
        np.zeros(n_rows, np.int64),
    )


@compiled
def below(state, n):
    """Draw one of 0..n-1, n at most 2^32, all equally likely: a step of splitmix64, then Lemire's method.

    Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; Lemire, "Fast random
    integer generation in an interval", ACM TOMACS 29, 2019, doi:10.1145/3230636
    """
    number = np.uint64(n)
    while True:
        state[0] += _GOLDEN
        z = state[0]
        z = (z ^ (z >> _30)) * _MIX_1
        z = (z ^ (z >> _27)) * _MIX_2
        product = ((z ^ (z >> _31)) >> _32) * number
        low = product & _LOW
        if low >= number or low >= _RANGE % number:
            return np.int64(product >> _32)


@compiled
def deal_lacking(state, supports, unlisted, most, lacking):
    """Give missing occurrences to `unlisted` items with room (used up), at random, at most `most` each."""
    left = unlisted.size
    for _ in range(lacking):
        j = below(state, left)
        i = unlisted[j]
        supports[i] += 1
        if supports[i] == most:
            left -= 1
            unlisted[j] = unlisted[left]


@compiled
def _slot(held, key):
    """Find where a key is in the hash table, or the free place where it would."""
    mask = np.int64(held.size - 1)
    slot = np.int64((np.uint64(key) * _GOLDEN) >> _32) & mask
    while held[slot] >= 0 and held[slot] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def _free(held, key):
    """Take a key out of the hash table, and move those behind it up that stood there only because of it."""
    mask = np.int64(held.size - 1)
    hole = _slot(held, key)
    slot = (hole + 1) & mask
    while held[slot] >= 0:
        home = np.int64((np.uint64(held[slot]) * _GOLDEN) >> _32) & mask
        if (slot - home) & mask >= (slot - hole) & mask:
            held[hole] = held[slot]
            hole = slot
        slot = (slot + 1) & mask
    held[hole] = -1


@compiled
def _holds(deal, i, row):
    if deal.common[i] >= 0:
        return deal.places[deal.common[i] + row] < deal.dealt[i]
    key = i * deal.filled.size + row
    return deal.held[_slot(deal.held, key)] == key


@compiled
def _exchange(deal, i, place, other):
    """Exchange two rows in the part of a common item."""
    a, b = deal.rows[deal.starts[i] + place], deal.rows[deal.starts[i] + other]
    deal.rows[deal.starts[i] + place], deal.rows[deal.starts[i] + other] = b, a
    deal.places[deal.common[i] + a], deal.places[deal.common[i] + b] = other, place


@compiled
def _lacking_row(state, deal, i):
    """Draw one of the rows that lack an item."""
    n = deal.filled.size
    if deal.common[i] >= 0:
        return np.int64(deal.rows[deal.starts[i] + deal.dealt[i] + below(state, n - deal.dealt[i])])
    while True:
        row = below(state, n)
        if not _holds(deal, i, row):
            return row


@compiled
def _add(deal, i, row):
    """Give a row that lacks an item its next occurrence."""
    place = deal.dealt[i]
    if deal.common[i] >= 0:
        _exchange(deal, i, place, np.int64(deal.places[deal.common[i] + row]))
    else:
        deal.rows[deal.starts[i] + place] = row
        key = i * deal.filled.size + row
        deal.held[_slot(deal.held, key)] = key
    deal.dealt[i] += 1
    deal.filled[row] += 1


@compiled
def _move(deal, i, place, row):
    """Move an occurrence of an item to a row that lacks it."""
    start = deal.starts[i]
    before = np.int64(deal.rows[start + place])
    if deal.common[i] >= 0:
        _exchange(deal, i, place, np.int64(deal.places[deal.common[i] + row]))
    else:
        key = i * deal.filled.size
        _free(deal.held, key + before)
        deal.held[_slot(deal.held, key + row)] = key + row
        deal.rows[start + place] = row
    deal.filled[before] -= 1
    deal.filled[row] += 1


@compiled
def deal_all(state, deal, shuffled):
    """Deal every occurrence: one to each row, the rest of an item to rows that lack it.

    `shuffled` contains `deal.item`, and is used up.
    """
    for row in range(deal.filled.size):
        j = row + below(state, shuffled.size - row)
        item = np.int64(shuffled[j])
        shuffled[j] = shuffled[row]
        _add(deal, item, row)
    for i in range(deal.supports.size):
        while deal.dealt[i] < deal.supports[i]:
            _add(deal, i, _lacking_row(state, deal, i))


@compiled
def mix(state, deal, steps):
    """Change the deal by steps; if every deal was as likely before, so it is after each step.

    Half of the steps move a random occurrence to a random row that lacks its item, unless its row would
    become empty; half let two random occurrences change rows, unless a row would contain an item twice.
    """
    n = deal.item.size
    for _ in range(steps):
        alone = below(state, 2) == 0
        o = below(state, n)
        i = np.int64(deal.item[o])
        place = o - deal.first[i]
        row = np.int64(deal.rows[deal.starts[i] + place])
        if alone:
            if deal.filled[row] > 1 and deal.supports[i] < deal.filled.size:
                _move(deal, i, place, _lacking_row(state, deal, i))
            continue
        o = below(state, n)
        j = np.int64(deal.item[o])
        other = o - deal.first[j]
        to = np.int64(deal.rows[deal.starts[j] + other])
        if not _holds(deal, i, to) and not _holds(deal, j, row):
            _move(deal, i, place, to)
            _move(deal, j, other, row)


@compiled
def draw_rows(state, order, number):
    """Put `number` random rows, every set of them as likely, at the front of `order` (int32, all rows)."""
    for place in range(number):
        j = place + below(state, order.size - place)
        order[place], order[j] = order[j], order[place]
