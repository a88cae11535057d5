"""The minimal moles: sets of items in too few rows or that betray a private item, without a smaller one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.projection import copy_behind, count_items, index_places, keep_marked
from setveil.kernels.rows import Ids, Ints

A = TypeVar("A", bound=np.generic)

FINISHED, PAUSED, GROW = 0, 1, 2
STEPS_AT_ONCE = 50_000_000  # steps between two signs of life, a fraction of a second

# Rows of `level`, the state of the walk: one column for each depth.
CURRENT, ROW, ID, ITEM, N_ITEMS, NODE = range(6)
# Places in `state`: how deep, how many were found, and how much room is needed for rows, ids, items, moles,
# their items, and frequent sets.
DEPTH, STARTED, MOLES, MOLE_IDS, NODES, NEED = range(6)
# Rows of `moles`.
END, SUPPORT, BETRAYED, COUNT, NEXT = range(5)


@compiled
def _slot(keys, key):
    """Find where a key is in a hash table or has to be put."""
    mask = np.int64(keys.size - 1)
    h = key & np.int64(0x7FFFFFFF)
    h = ((h ^ (key >> 31)) & np.int64(0x7FFFFFFF)) * np.int64(0x45D9F3B)
    slot = (h ^ (h >> 20)) & mask
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def rehash(old, new):
    """Fill a larger hash table; rows are keys and values."""
    new[0, :] = -1
    for i in range(old.shape[1]):
        if old[0, i] >= 0:
            slot = _slot(new[0], old[0, i])
            new[0, slot] = old[0, i]
            new[1, slot] = old[1, i]


@compiled
def _is_safe(table, n, path, length, node_of, without, y):
    """Whether ``path[:length]`` and `y`, without one item of the path, are known to be safe."""
    if without == 0:
        node, at = path[1], 2
    else:
        node, at = node_of[without], without + 1
    while at <= length:
        x = path[at] if at < length else y
        slot = _slot(table[0], node * n + x)
        if table[0, slot] < 0:
            return False
        node = table[1, slot]
        at += 1
    return True


@compiled
def _are_safe(table, n, path, length, node_of, y):
    """Whether ``path[:length]`` and `y` are known to be safe without any item of the path but its last."""
    safe, without = True, 0
    while safe and without < length - 1:
        safe = _is_safe(table, n, path, length, node_of, without, y)
        without += 1
    return safe


@compiled
def _put_mole(state, moles, mole_ids, heads, path, length, y, support, whom, times):
    """Note the mole ``path[:length]`` and `y`, and that it betrays `whom` in `times` rows (-1: nothing)."""
    b, end = state[MOLES] + 1, state[MOLE_IDS]
    for q in range(length):
        mole_ids[end + q] = path[q]
    mole_ids[end + length] = y
    end += length + 1
    moles[END, b], moles[SUPPORT, b], moles[BETRAYED, b], moles[COUNT, b] = end, support, whom, times
    if whom >= 0:
        x = path[length - 1]
        moles[NEXT, b] = heads[x]
        heads[x] = b
    state[MOLES], state[MOLE_IDS] = b, end


@compiled
def _pass_over_known(b, moles, mole_ids, on_path, support, most):
    """Set `most` to -1 for the items that make a betraying set found before with a path.

    `b` is the last such set whose last but one item is the last one of the path; the others follow.
    """
    while b > 0:
        end, start = moles[END, b], moles[END, b - 1]
        inside = True
        for q in range(start, end - 2):
            if on_path[mole_ids[q]] == 0:
                inside = False
                break
        if inside and support[mole_ids[end - 1]] > 0:
            most[mole_ids[end - 1]] = -1
        b = moles[NEXT, b]


@compiled
def _list_betrayable(first, stop, row_base, private, least, p_support, p_found):
    """List the private items in more than `least` of the rows ``first:stop``, which a set in them may betray.

    Returns how many, the most rows with one of them, and the number of steps. `p_support` stays zero.
    """
    p_indptr, p_items, p_counts = private
    n_p, steps = 0, np.int64(0)
    for row in range(first, stop):
        steps += p_indptr[row_base[row] + 1] - p_indptr[row_base[row]]
        for q in range(p_indptr[row_base[row]], p_indptr[row_base[row] + 1]):
            s = p_items[q]
            if p_support[s] == 0:
                p_found[n_p] = s
                n_p += 1
            p_support[s] += p_counts[q]
    n_live, peak = 0, np.int64(0)
    for j in range(n_p):
        s = p_found[j]
        if p_support[s] > least:
            p_found[n_live] = s
            peak = max(peak, p_support[s])
            n_live += 1
        p_support[s] = 0
    return n_live, peak, steps


@compiled
def _count_betrayed(
    first, stop, row_ptr, row_base, item_at, private, live, p_support, touched, count, most, of_whom
):  # fmt: skip
    """Find for each item in the rows ``first:stop`` the private one of `live` that it shares most rows with.

    Its number goes into `of_whom`, of equals the first, and that of these rows into `most`, unless that is
    negative. `p_support` and `count` stay zero. Returns the number of steps.
    """
    p_indptr, p_items, p_counts = private
    sort_piece(live, 0, live.size)
    for j in range(live.size):
        p_support[live[j]] = j + 1
    p_begin = np.zeros(live.size + 2, np.int64)
    for row in range(first, stop):
        for s in p_items[p_indptr[row_base[row]] : p_indptr[row_base[row] + 1]]:
            if p_support[s] > 0:
                p_begin[p_support[s] + 1] += 1
    for j in range(live.size):
        p_begin[j + 2] += p_begin[j + 1]
    p_row, p_times = np.empty(p_begin[live.size + 1], np.int64), np.empty(p_begin[live.size + 1], np.int64)
    for row in range(first, stop):
        for q in range(p_indptr[row_base[row]], p_indptr[row_base[row] + 1]):
            j = p_support[p_items[q]]
            if j > 0:
                p_row[p_begin[j]], p_times[p_begin[j]] = row, p_counts[q]
                p_begin[j] += 1
    steps = np.int64(0)
    for j in range(live.size):
        s = live[j]
        p_support[s] = 0
        n_touched = 0
        for at in range(p_begin[j], p_begin[j + 1]):
            row = p_row[at]
            for y in item_at[row_ptr[row] : row_ptr[row + 1]]:
                if count[y] == 0:
                    touched[n_touched] = y
                    n_touched += 1
                count[y] += p_times[at]
            steps += row_ptr[row + 1] - row_ptr[row]
        for y in touched[:n_touched]:
            if most[y] >= 0 and count[y] > most[y]:
                most[y], of_whom[y] = count[y], s
            count[y] = 0
    return steps


@compiled
def minimal_moles(
    base, private, k, limit, largest, betraying_only,
    state, level, path, row_arena, id_arena, item_arena, moles, mole_ids, heads, table, scratch, p_scratch,
    budget,
):  # fmt: skip
    """Go on searching the minimal moles of two or more items, for about `budget` steps.

    The walk is depth first, the greatest item first, so that every subset of a set comes before the set.

    - base: (indptr, items, weights), distinct rows of items that are no moles alone
    - private: (p_indptr, p_items, p_counts), their private items, and in how many of the rows represented
    - limit: int64 (rows + 1,), a private item is betrayed if it is in more than ``limit[t]`` of t rows
    - largest: most items of a set, at least 2; betraying_only: omit sets with a support below k
    - state, level, path: where the walk is, zeros at the start
    - row_arena, id_arena, item_arena: int64 (3, any), (3, any), (2, any), the levels; moles, mole_ids: int64
      (5, any), int32, what was found; if room does not suffice, GROW is returned
    - heads: int64 (n,), -1 at the start: the last betraying set whose last but one item this is
    - table: int64 (2, any), safe sets, keys -1 at the start
    - scratch, p_scratch: int64 (6, n + 1), (2, private items + 1), zeros at the start
    """
    n = heads.size
    indptr, items, weights = base
    row_ptr, row_w, row_base = row_arena[0], row_arena[1], row_arena[2]
    item_at, row_of, place_of = id_arena[0], id_arena[1], id_arena[2]
    item_of, begin = item_arena[0], item_arena[1]
    support, found, most, of_whom, count, on_path = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5],
    )  # fmt: skip
    p_support, p_found = p_scratch[0], p_scratch[1]
    steps = np.int64(0)
    while True:
        d = state[DEPTH]
        if state[STARTED] == 0:
            n_rows, n_ids, r0, i0, m0 = indptr.size - 1, np.int64(items.size), np.int64(0), np.int64(0), 0
        elif level[CURRENT, d] == 0:
            if d == 0:
                return FINISHED
            on_path[path[d - 1]] = 0
            state[DEPTH] = d - 1
            if steps > budget:
                return PAUSED
            continue
        else:
            here = level[ITEM, d] + level[CURRENT, d] - 1
            x = item_of[here]
            lo, hi = begin[here], begin[here + 1]
            n_rows, n_ids = hi - lo, np.int64(0)
            for at in range(lo, hi):
                n_ids += row_ptr[row_of[at] + 1] - place_of[at] - 1
            r0, i0 = level[ROW, d + 1], level[ID, d + 1]
            m0 = level[ITEM, d] + level[N_ITEMS, d] + 1
        others = min(n_ids, n)
        state[NEED], state[NEED + 1], state[NEED + 2] = r0 + n_rows + 1, i0 + n_ids, m0 + others + 2
        state[NEED + 3] = state[MOLES] + others + 1
        state[NEED + 4] = state[MOLE_IDS] + others * (d + 2)
        state[NEED + 5] = 2 * (state[NODES] + others)
        if (
            state[NEED] > row_ptr.size
            or state[NEED + 1] > item_at.size
            or state[NEED + 2] > item_of.size
            or state[NEED + 3] > moles.shape[1]
            or state[NEED + 4] > mole_ids.size
            or (state[NEED + 5] > table.shape[1] and not betraying_only)
        ):
            return GROW
        if state[STARTED] == 0:
            state[STARTED] = 1
            r = n_rows
            row_ptr[: r + 1], row_w[:r], row_base[:r] = indptr, weights, np.arange(r)
            item_at[: items.size] = items
        else:
            r = copy_behind(lo, hi, row_of, place_of, row_arena, item_at, r0, i0)
            level[CURRENT, d] -= 1
            if d == 0:
                level[NODE, 1] = x
            elif not betraying_only and d + 1 < largest:
                level[NODE, d + 1] = table[1, _slot(table[0], level[NODE, d] * n + x)]
            path[d] = x
            on_path[x] = 1
            d += 1
            state[DEPTH] = d
        steps += n_ids + n_rows
        level[ROW, d + 1], level[ID, d + 1], level[ITEM, d] = r + 1, row_ptr[r], m0
        level[CURRENT, d], level[N_ITEMS, d] = 0, 0

        # What stands behind the path.
        n_found = count_items(r0, r, row_arena, item_at, support, found)
        sort_piece(found, 0, n_found)

        if d > 0:
            _pass_over_known(heads[x], moles, mole_ids, on_path, support, most)
            n_live, peak, looked = _list_betrayable(r0, r, row_base, private, limit[k], p_support, p_found)
            steps += looked
            if n_live > 0 and betraying_only:
                # No set up to all that stands behind the path betrays, if that all keeps so many rows.
                whole = np.int64(0)
                for row in range(r0, r):
                    if row_ptr[row + 1] - row_ptr[row] == n_found:
                        whole += row_w[row]
                if peak <= limit[whole]:
                    n_live = 0
            if n_live > 0:
                steps += _count_betrayed(
                    r0, r, row_ptr, row_base, item_at, private, p_found[:n_live], p_support,
                    begin[m0 : m0 + n_found + 1], count, most, of_whom,
                )  # fmt: skip

        # Which of these make a mole with the path, and which can be followed?
        n_items = 0
        for y in found[:n_found]:
            times, known = support[y], most[y] < 0
            betrays = most[y] > limit[times]
            hopeful = d == 0 or most[y] > limit[k]
            whom, private_times = of_whom[y], most[y]
            support[y], most[y] = 0, 0
            if known:
                continue
            is_mole = betrays and times >= k
            if times < k:
                if betraying_only:
                    continue
                is_mole = _are_safe(table, n, path, d, level[NODE], y)
                whom, private_times = -1, 0
                steps += d
            if is_mole:
                _put_mole(state, moles, mole_ids, heads, path, d, y, times, whom, private_times)
            if is_mole or times < k or (betraying_only and not hopeful):
                continue
            if d + 1 < largest and d > 0 and not betraying_only:
                slot = _slot(table[0], level[NODE, d] * n + y)
                table[0, slot], table[1, slot] = level[NODE, d] * n + y, n + state[NODES]
                state[NODES] += 1
            item_of[m0 + n_items] = y
            n_items += 1
        if d + 1 >= largest or n_items < 2:
            continue

        # Leave only these in the rows, and note where they stand.
        nodes = item_of[m0 : m0 + n_items]
        for j in range(n_items):
            count[nodes[j]] = j + 1
        r = keep_marked(r0, r, row_arena, item_at, count)
        level[ROW, d + 1], level[ID, d + 1] = r + 1, row_ptr[r]
        places = begin[m0 : m0 + n_items + 1]
        index_places(nodes, r0, r, row_ptr, item_at, count, places, row_of, place_of)
        level[CURRENT, d], level[N_ITEMS, d] = n_items, n_items


@dataclass(frozen=True)
class Moles:
    """Minimal moles one behind the other."""

    # indptr, items: int64 (moles + 1,), int32: items of each mole, ascending
    indptr: Ints
    items: Ids
    support: Ints  # int64 (moles,)
    # int64 (moles,): the private item that it betrays, of several the most likely, then the first; -1: none,
    # its support is too small
    betrayed: Ints
    count: Ints  # int64 (moles,): rows that hold the mole and the private item

    def __len__(self) -> int:
        return self.support.size


def find_minimal_moles(
    base: tuple[Ints, Ids, Ints],
    private: tuple[Ints, Ids, Ints],
    n: int,
    k: int,
    limit: Ints,
    largest: int | float,
    betraying_only: bool = False,
    tick: Callable[[float], None] = lambda done: None,
) -> Moles:
    """Find the minimal moles of two or more items that are none alone; `tick` hears the share done."""
    indptr, _, _ = base
    longest = int(np.diff(indptr).max(initial=0))
    size = int(min(largest, longest))
    state = np.zeros(11, np.int64)
    arenas = [np.zeros((3, 1024), np.int64), np.zeros((3, 4096), np.int64), np.zeros((2, 1024), np.int64)]
    moles, mole_ids = np.zeros((5, 1024), np.int64), np.zeros(4096, np.int32)
    table = np.full((2, 4096), -1, np.int64)
    level, path = np.zeros((6, longest + 3), np.int64), np.zeros(longest + 2, np.int64)
    heads = np.full(n, -1, np.int64)
    scratch = np.zeros((6, n + 1), np.int64)
    p_scratch = np.zeros((2, int(private[1].max(initial=0)) + 2), np.int64)
    while size >= 2:
        status = minimal_moles(
            base, private, k, limit, size, betraying_only, state, level, path, *arenas, moles, mole_ids,
            heads, table, scratch, p_scratch, STEPS_AT_ONCE,
        )  # fmt: skip
        if status == FINISHED:
            break
        if status == PAUSED:
            tick(1 - float(level[CURRENT, 0]) / max(float(level[N_ITEMS, 0]), 1.0))
        needed = state[NEED : NEED + 6].tolist()
        for i in range(3):
            arenas[i] = _longer(arenas[i], needed[i])
        moles = _longer(moles, needed[3])
        mole_ids = _longer(mole_ids, needed[4])
        if needed[5] > table.shape[1] and not betraying_only:
            larger = np.full((2, 1 << int(2 * needed[5]).bit_length()), -1, np.int64)
            rehash(table, larger)
            table = larger
    found = int(state[MOLES])
    return Moles(
        moles[END, : found + 1].copy(),
        mole_ids[: state[MOLE_IDS]].copy(),
        *(moles[row, 1 : found + 1].copy() for row in (SUPPORT, BETRAYED, COUNT)),
    )


def _longer(array: NDArray[A], needed: int) -> NDArray[A]:
    """Make the last axis at least `needed` long, by half as much again if it has to grow."""
    if needed <= array.shape[-1]:
        return array
    out = np.zeros((*array.shape[:-1], max(needed, array.shape[-1] * 3 // 2)), array.dtype)
    out[..., : array.shape[-1]] = array
    return out
