"""Exchange rows of groups for rows that are left over, so that group-by queries are answered better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.kernels.cell_weights import cell_weights
from setveil.kernels.rows import Ids, Ints, invert, merge_rows, take_rows
from setveil.methods.algorithms.cahd._exchange_loops import all_slopes, exchange

_NEAR = 10  # times p: how many distinct rows on either side a row may be exchanged for
_SEATS = 20_000  # rows that may be exchanged between two signs of life
_MOST_PAIRS = 20_000_000  # of sensitive items and others, for which shares are kept in memory
_QUERIES, _GROUP_BY = 400, 4  # that a round of exchanges is judged by

Rows = tuple[Ints, Ids]


def exchange_rows(
    rows: Rows,
    sensitive: Rows,
    order: Ints,
    group: NDArray[np.int64],
    p: int,
    rounds: int,
    progress: Progress = silent,
) -> tuple[NDArray[np.int64], int]:
    """Exchange rows of groups for rows of the last group, as long as that lowers the reconstruction error.

    Rounds of exchanges (see `exchange_rounds`) improve queries over one item in addition to the sensitive
    one. Where there are few items that occur together in many ways, queries over several can suffer. So a
    round counts only if it lowers the mean KL of 400 random queries over 4 items; otherwise it is taken back,
    and no other follows. Returns the new group of each row, and the number of exchanges.
    """
    exchanges = 0
    loss = sampled_loss(rows, sensitive, group) if rounds else 0.0
    for tried, n in exchange_rounds(rows, sensitive, order, group, p, rounds, progress):
        new = sampled_loss(rows, sensitive, tried)
        if new >= loss:
            break
        group, loss, exchanges = tried, new, n
    return group, exchanges


def sampled_loss(rows: Rows, sensitive: Rows, group: NDArray[np.int64]) -> float:
    """Average the KL of group-by queries over each sensitive item in turn and items drawn at random."""
    supports = np.bincount(rows[1])
    occurring = np.flatnonzero(supports)
    n_sensitive = int(sensitive[1].max(initial=-1)) + 1
    r = min(_GROUP_BY, occurring.size)
    if not n_sensitive:
        return 0.0
    draws = np.random.PCG64(0)
    distinct, first, _ = merge_rows(*rows)
    starts, holders, _ = invert(*take_rows(*rows, first), supports.size)
    cell = np.zeros(first.size, np.int64)
    holding = np.repeat(np.arange(group.size), np.diff(sensitive[0]))
    sizes = np.bincount(group)
    total = 0.0
    for s in range(n_sensitive):
        mine = holding[sensitive[1] == s]
        share = np.bincount(group[mine], minlength=sizes.size) / sizes
        actual_weights = np.bincount(distinct[mine], minlength=first.size) / mine.size
        estimated_weights = np.bincount(distinct, share[group], first.size) / mine.size
        for _ in range(s, _QUERIES, n_sensitive):
            chosen: set[int] = set()
            while len(chosen) < r:
                chosen.add(int(occurring[int(draws.random_raw()) % occurring.size]))
            query = np.array(sorted(chosen), np.int64)
            actual = cell_weights(starts, holders, actual_weights, query, cell)
            estimate = cell_weights(starts, holders, estimated_weights, query, cell)
            there = actual > 0
            total += float((actual[there] * np.log(actual[there] / estimate[there])).sum())
    return total / _QUERIES


def exchange_rounds(
    rows: Rows,
    sensitive: Rows,
    order: Ints,
    group: NDArray[np.int64],
    p: int,
    rounds: int,
    progress: Progress = silent,
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Go over all rows in groups, `rounds` times or until none is exchanged.

    Each row without sensitive items may be exchanged for a left-over row without sensitive items that is near
    in band order: of one of the 10 p distinct rows before or after it. The one that guarantees most by the
    derivatives of the loss is taken, if the loss falls: the sum of KL(s, i) over all sensitive items s and
    all others i, KL being that of a group-by query over s and the one item i. So this sum never grows, and
    the sizes and sensitive counts of all groups stay. All groups but the last have p rows.

    This is not in the paper: there the rows of a group are like its sensitive row, but what they have in
    excess adds up over the groups. It is omitted where there would be more than 20 million pairs of s and i.
    Yields the group of each row after one more round, and the number of exchanges so far.
    """
    n_items = int(rows[1].max(initial=-1)) + 1
    n_sensitive = int(sensitive[1].max(initial=-1)) + 1
    last = int(group.max(initial=0))
    free = np.diff(sensitive[0])[order] == 0
    seated = group[order] < last
    seats, pool = order[free & seated], order[free & ~seated]
    if not seats.size or not pool.size or n_items * n_sensitive > _MOST_PAIRS:
        return

    shares = _shares(rows, sensitive, group, p, n_items, n_sensitive)
    kind, top, below = _stacks(rows, order, pool)
    seat_group = group[seats]
    exchanges = 0
    for turn in range(rounds):
        before = exchanges
        for begin in range(0, seats.size, _SEATS):
            progress("exchanging rows", (turn + begin / seats.size) / rounds)
            exchanges += exchange(
                *rows, seats, seat_group, kind, top, below, *shares, begin, min(_NEAR * p, top.size), _SEATS
            )
        if exchanges == before:
            return
        result = group.copy()
        result[order[free & seated]] = last
        result[seats] = seat_group
        yield result, exchanges


class _Shares(NamedTuple):
    """Estimated shares of the rows with each sensitive item s that have each other item i.

    With p rows in each group but the last, the share is number / scale: number = sum over groups of weight *
    rows with i, scale = p * (rows of the last group) * holders.
    """

    g_indptr: Ints  # int64 (groups + 1,): where the sensitive items of each group begin in `g_item`
    g_item: Ints
    weights: Ints  # of each in `g_item`
    last_weight: Ints  # int64 (sensitive items,)
    held: Ints  # int64 (sensitive items, items): rows with both
    holders: Ints  # int64 (sensitive items,)
    number: Ints  # int64 (sensitive items, items)
    scale: Ints  # int64 (sensitive items,)
    slopes: NDArray[np.float64]  # float64 (sensitive items, items)


def _shares(
    rows: Rows, sensitive: Rows, group: NDArray[np.int64], p: int, n_items: int, n_sensitive: int
) -> _Shares:
    """Count rows with a sensitive item and another one, in the data and as groups show them."""
    last = int(group.max(initial=0))
    remaining = int((group == last).sum())
    kind_of = np.repeat(group, np.diff(sensitive[0])) * n_sensitive + sensitive[1]
    kinds, counts = np.unique(kind_of, return_counts=True)
    of_last = kinds >= last * n_sensitive
    weights = np.where(of_last, counts * p, counts * remaining)
    g_indptr = np.searchsorted(kinds, np.arange(last + 2) * n_sensitive)
    g_item = kinds - np.repeat(np.arange(last + 1), np.diff(g_indptr)) * n_sensitive
    last_weight = np.zeros(n_sensitive, np.int64)
    last_weight[g_item[of_last]] = weights[of_last]
    holders = np.bincount(sensitive[1], minlength=n_sensitive).astype(np.int64)
    held = np.zeros((n_sensitive, n_items), np.int64)
    number = np.zeros((n_sensitive, n_items), np.int64)
    starts, holding, _ = invert(*sensitive, n_sensitive)
    by_group = np.argsort(group, kind="stable")
    g_starts = np.searchsorted(group[by_group], np.arange(last + 2))
    for s in range(n_sensitive):
        mine = holding[starts[s] : starts[s + 1]].astype(np.int64)
        held[s] = np.bincount(take_rows(*rows, mine)[1], minlength=n_items)
        of_s = np.flatnonzero(g_item == s)
        for_group = np.searchsorted(g_indptr, of_s, side="right") - 1
        sizes = np.diff(g_starts)[for_group]
        places = np.arange(sizes.sum()) + np.repeat(g_starts[for_group] - (np.cumsum(sizes) - sizes), sizes)
        inside = by_group[places]
        each = np.repeat(np.repeat(weights[of_s], sizes), np.diff(rows[0])[inside])
        np.add.at(number[s], take_rows(*rows, inside)[1], each)
    scale = p * remaining * holders
    slopes = np.empty((n_sensitive, n_items))
    all_slopes(held, holders, number, scale, slopes)
    return _Shares(g_indptr, g_item, weights, last_weight, held, holders, number, scale, slopes)


def _stacks(rows: Rows, order: Ints, pool: Ints) -> tuple[Ints, Ints, Ints]:
    """Stack left-over rows with the same items: kinds of rows, the top of each stack, the row below each."""
    in_order, first_rows, _ = merge_rows(*take_rows(*rows, order))
    kind = np.empty(order.size, np.int64)
    kind[order] = in_order
    top, below = np.full(first_rows.size, -1, np.int64), np.full(order.size, -1, np.int64)
    stacked = pool[np.argsort(kind[pool], kind="stable")][::-1]  # the first in band order on top
    same = kind[stacked[1:]] == kind[stacked[:-1]]
    below[stacked[1:]] = np.where(same, stacked[:-1], -1)
    top[kind[stacked]] = stacked  # of repeated places the last write stays
    return kind, top, below
