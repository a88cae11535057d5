"""Walk over the sets of a family of itemsets edge by edge; see `setveil.kernels.itemset_counts`."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.projection import copy_behind, count_items, index_places, keep_marked

BASE_BITS = 28
BASE = 1 << BASE_BITS
SMALL = 1 << 36  # binomial sums up to here, and so all results, fit into a single limb without a base
MOST_ROWS = 12  # a node of at most so many distinct rows may be counted by inclusion and exclusion

FINISHED, PAUSED, GROW = 0, 1, 2

# Rows of `level`, the state of the walk: one column for each depth.
CURRENT, STOP, ROW, ID, ITEM, N_ITEMS, PATH = range(7)
# Places in `state`.
DEPTH, NEED_ROWS, NEED_IDS, NEED_ITEMS, STARTED = range(5)


@compiled
def _carry(number):
    """Bring the limbs of a number that is not negative into [0, BASE)."""
    for i in range(number.size - 1):
        over = number[i] >> BASE_BITS
        number[i] -= over << BASE_BITS
        number[i + 1] += over


@compiled
def _few_rows(mask, w, threshold, column, fewer, sums, values):
    """Count the sets within a few rows of weights `w` by inclusion and exclusion over the rows with them.

    For a set of rows K, Cum(K) sets of items lie in all of them; c(K) is the Möbius inverse of "K weighs
    enough", so the family has the sum of c(K) Cum(K) sets. Writes for each set of rows k into values[k] how
    many sets contain a given item that is in exactly these rows; values[0] is the number of all sets.
    """
    t = w.size
    full = 1 << t
    limbs = sums.shape[2]
    held, coefficient = values[:, limbs], values[:, limbs + 1]
    for k in range(full):
        held[k] = 0
        weight = np.int64(0)
        for r in range(t):
            if k >> r & 1:
                weight += w[r]
        coefficient[k] = 1 if weight >= threshold else 0
    for z in mask:
        held[z] += 1
    for r in range(t):
        for k in range(full):
            if k >> r & 1:
                held[k ^ (1 << r)] += held[k]
                coefficient[k] -= coefficient[k ^ (1 << r)]
    for i in range(limbs):
        everything = np.int64(0)
        for k in range(1, full):
            everything += coefficient[k] * sums[held[k], column, i]
            values[k, i] = coefficient[k] * sums[held[k] - 1, fewer, i] if held[k] > 0 else 0
        values[0, i] = 0
        for r in range(t):
            for k in range(full):
                if k >> r & 1:
                    values[k, i] += values[k ^ (1 << r), i]
        values[0, i] = everything
    if limbs > 1:
        for k in range(full):
            _carry(values[k, :limbs])


@compiled
def _forbid(f_starts, f_last, f_ptr, f_rest, y, on_path, support):
    """Set the support of items to zero that must not join a path whose last item is `y`."""
    for b in range(f_starts[y], f_starts[y + 1]):
        if support[f_last[b]] > 0:
            met = True
            for q in range(f_ptr[b], f_ptr[b + 1]):
                if on_path[f_rest[q]] == 0:
                    met = False
                    break
            if met:
                support[f_last[b]] = 0


@compiled
def _free_from(f_starts, f_last, f_ptr, f_rest, nodes, on_path, position):
    """Find from which of a node's items on no forbidden set can be completed."""
    free = np.int64(0)
    for j in range(nodes.size - 1):
        y = nodes[j]
        for b in range(f_starts[y], f_starts[y + 1]):
            if position[f_last[b]] > 0:
                inside, lowest = True, np.int64(j)
                for q in range(f_ptr[b], f_ptr[b + 1]):
                    x = f_rest[q]
                    if position[x] > 0:
                        lowest = min(lowest, position[x] - 1)
                    elif on_path[x] == 0:
                        inside = False
                        break
                if inside:
                    free = max(free, lowest + 1)
    return free


@compiled
def _merge(r0, n_rows, row_ptr, row_w, item_at):
    """Merge equal rows in place; return how many are left."""
    size = 4
    while size < 2 * n_rows:
        size *= 2
    table = np.full(size, -1, np.int64)
    mask = np.int64(size - 1)
    kept, end = np.int64(0), row_ptr[r0]
    for row in range(r0, r0 + n_rows):
        lo, hi = row_ptr[row], row_ptr[row + 1]
        h = hi - lo
        for p in range(lo, hi):
            h = ((h ^ item_at[p]) * np.int64(0x9E3779B1)) & np.int64(0x3FFFFFFF)
            h ^= h >> 15
        slot = h & mask
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = r0 + kept
                weight = row_w[row]
                if end != lo:
                    for p in range(lo, hi):
                        item_at[end + p - lo] = item_at[p]
                row_ptr[r0 + kept] = end
                row_w[r0 + kept] = weight
                end += hi - lo
                kept += 1
                break
            other = row_ptr[g]
            ends = row_ptr[g + 1] if g + 1 < r0 + kept else end
            same = ends - other == hi - lo
            at = np.int64(0)
            while same and at < hi - lo:
                same = item_at[other + at] == item_at[lo + at]
                at += 1
            if same:
                row_w[g] += row_w[row]
                break
            slot = (slot + 1) & mask
    row_ptr[r0 + kept] = end
    return kept


@compiled
def _count_behind(lo, hi, row_of, place_of, row_arena, item_at, support, found):
    """Add up the support of what stands behind the places ``lo:hi``; return how many items were found."""
    row_ptr, row_w = row_arena[0], row_arena[1]
    n_found = 0
    for at in range(lo, hi):
        row = row_of[at]
        for z in item_at[place_of[at] + 1 : row_ptr[row + 1]]:
            if support[z] == 0:
                found[n_found] = z
                n_found += 1
            support[z] += row_w[row]
    return n_found


@compiled
def _whole_from(nodes, first, stop, row_ptr, row_w, item_at, threshold, cover):
    """Find the first of a node's items from which on enough rows contain all items, and any set of them.

    Writes to ``cover[j]`` how many rows contain all items from j on, but not the one before it.
    """
    cover[:] = 0
    for row in range(first, stop):
        j, p = nodes.size, row_ptr[row + 1]
        while j > 0 and p > row_ptr[row] and item_at[p - 1] == nodes[j - 1]:
            j -= 1
            p -= 1
        cover[j] += row_w[row]
    j, weight = np.int64(0), cover[0]
    while weight < threshold:
        j += 1
        weight += cover[j]
    return j


@compiled
def _mark_rows(first, stop, row_ptr, item_at, position, mask):
    """Write to `mask` for each of a node's items in which rows it stands, one bit each."""
    mask[:] = 0
    for row in range(first, stop):
        for z in item_at[row_ptr[row] : row_ptr[row + 1]]:
            mask[position[z] - 1] |= 1 << (row - first)


@compiled
def count_sets(
    root, forbidden, threshold, largest, sums, estimates, state, level, sub, counts,
    row_arena, id_arena, item_arena, scratch, values, budget,
):  # fmt: skip
    """Go on counting the sets of at most `largest` items that are in the family.

    - root, forbidden: (ptr, ids, w) and (f_starts, f_last, f_ptr, f_rest) from `root_rows`
    - sums: int64 (longest + 1, sizes, limbs), ``sums[n, r]`` sets of at most r out of n items, with one
      column of any size; estimates: float64, the same, roughly
    - state, level, sub: where the walk is, zeros at the start; ``sub[d]`` counts below the path of d items,
      at the end ``sub[0]`` all sets, the empty one included
    - counts: int64 (m, limbs), written: the sets that contain each item are added
    - row_arena, id_arena, item_arena: int64 (2, 3 or 2, any), room; if it does not suffice, GROW is returned,
      and `state` contains the room needed
    - scratch: int64 (4, m + 1), zeros at the start; values: int64 (2 ** MOST_ROWS, limbs + 2), room
    - budget: steps (about) after which the walk pauses
    """
    ptr, ids, w = root
    f_starts, f_last, f_ptr, f_rest = forbidden
    m = counts.shape[0]
    limbs = sums.shape[2]
    support, position, on_path, found = scratch[0], scratch[1], scratch[2], scratch[3]
    row_ptr, row_w = row_arena[0], row_arena[1]
    item_at, row_of, place_of = id_arena[0], id_arena[1], id_arena[2]
    item_of, begin = item_arena[0], item_arena[1]
    steps = np.int64(0)
    d = state[DEPTH]
    while True:
        y = np.int64(-1)
        if state[STARTED] == 0:
            state[NEED_ROWS], state[NEED_IDS], state[NEED_ITEMS] = ptr.size, ids.size, m + 2
            if ptr.size > row_ptr.size or ids.size > item_at.size or m + 2 > item_of.size:
                return GROW
            state[STARTED] = 1
            row_ptr[: ptr.size] = ptr
            row_w[: w.size] = w
            item_at[: ids.size] = ids
            level[ROW, 1], level[ID, 1], level[ITEM, 0] = ptr.size, ids.size, 0
        elif level[CURRENT, d] == level[STOP, d]:
            # Everything behind this path is counted.
            if d == 0:
                return FINISHED
            y = level[PATH, d]
            on_path[y] = 0
            counts[y] += sub[d]
            sub[d - 1] += sub[d]
            if limbs > 1:
                _carry(sub[d - 1])
            d -= 1
            state[DEPTH] = d
            if steps > budget:
                return PAUSED
            continue
        else:
            # One more item joins the path.
            here = level[ITEM, d] + level[CURRENT, d]
            y = item_of[here]
            lo, hi = begin[here], begin[here + 1]
            n_rows, n_ids = hi - lo, np.int64(0)
            for at in range(lo, hi):
                n_ids += row_ptr[row_of[at] + 1] - place_of[at] - 1
            steps += n_ids + n_rows
            if largest - d == 2:
                # Only single items can join behind it.
                n_found = _count_behind(lo, hi, row_of, place_of, row_arena, item_at, support, found)
                on_path[y] = 1
                _forbid(f_starts, f_last, f_ptr, f_rest, y, on_path, support)
                on_path[y] = 0
                total = np.int64(1)
                for z in found[:n_found]:
                    if support[z] >= threshold:
                        total += 1
                        counts[z, 0] += 1
                    support[z] = 0
                counts[y, 0] += total
                sub[d, 0] += total
                if limbs > 1:
                    _carry(sub[d])
                level[CURRENT, d] += 1
                if steps > budget:
                    return PAUSED
                continue
            r0, i0 = level[ROW, d + 1], level[ID, d + 1]
            m0 = level[ITEM, d] + level[N_ITEMS, d] + 1
            state[NEED_ROWS], state[NEED_IDS] = r0 + n_rows + 1, i0 + n_ids
            state[NEED_ITEMS] = m0 + min(n_ids, m) + 2
            if (
                r0 + n_rows + 1 > row_ptr.size
                or i0 + n_ids > item_at.size
                or state[NEED_ITEMS] > item_of.size
            ):
                return GROW
            r = copy_behind(lo, hi, row_of, place_of, row_arena, item_at, r0, i0)
            level[CURRENT, d] += 1
            d += 1
            state[DEPTH] = d
            level[PATH, d], level[ITEM, d] = y, m0
            level[ROW, d + 1], level[ID, d + 1] = r + 1, row_ptr[r]
            on_path[y] = 1
        left = largest - d

        # A new node: which items can join?
        r0, m0 = level[ROW, d], level[ITEM, d]
        rows = level[ROW, d + 1] - r0 - 1
        level[CURRENT, d], level[STOP, d], level[N_ITEMS, d] = 0, 0, 0
        sub[d, :] = 0
        n_found = count_items(r0, r0 + rows, row_arena, item_at, support, found)
        if y >= 0:
            _forbid(f_starts, f_last, f_ptr, f_rest, y, on_path, support)
        n_items = 0
        for z in found[:n_found]:
            if support[z] >= threshold:
                item_of[m0 + n_items] = z
                n_items += 1
            support[z] = 0
        if left == 1 or n_items == 0:
            for z in item_of[m0 : m0 + n_items]:
                counts[z, 0] += 1
            sub[d, 0] = 1 + n_items
            continue
        nodes = item_of[m0 : m0 + n_items]
        sort_piece(nodes, 0, n_items)
        level[N_ITEMS, d] = n_items
        for j in range(n_items):
            position[nodes[j]] = j + 1

        # Leave only these in the rows, and merge equal rows.
        rows = keep_marked(r0, r0 + rows, row_arena, item_at, position) - r0
        if rows > 1:
            rows = _merge(r0, rows, row_ptr, row_w, item_at)
        level[ROW, d + 1], level[ID, d + 1] = r0 + rows + 1, row_ptr[r0 + rows]

        # From which item on is the whole edge up to the last item in the family?
        free = np.int64(0)
        if f_last.size > 0:
            free = _free_from(f_starts, f_last, f_ptr, f_rest, nodes, on_path, position)
        cover = begin[m0 : m0 + n_items + 1]
        stop = max(free, _whole_from(nodes, r0, r0 + rows, row_ptr, row_w, item_at, threshold, cover))
        column = min(left, sums.shape[1] - 1)
        fewer = min(left - 1, sums.shape[1] - 1)

        if stop > 0 and free == 0 and rows <= MOST_ROWS:
            work = np.float64(rows << rows)
            for row in range(r0, r0 + rows):
                work -= estimates[row_ptr[row + 1] - row_ptr[row], column]
            if rows == 2 or work < 0:
                mask = begin[m0 : m0 + n_items]
                _mark_rows(r0, r0 + rows, row_ptr, item_at, position, mask)
                _few_rows(mask, row_w[r0 : r0 + rows], threshold, column, fewer, sums, values)
                for j in range(n_items):
                    counts[nodes[j]] += values[mask[j], :limbs]
                sub[d] = values[0, :limbs]
                steps += rows << rows
                position[nodes] = 0
                continue

        sub[d] = sums[n_items - stop, column]
        for z in nodes[stop:]:
            counts[z] += sums[n_items - stop - 1, fewer]
        level[STOP, d] = stop

        # Where the items stand that join next.
        if stop == 0:
            position[nodes] = 0
            continue
        index_places(nodes, r0, r0 + rows, row_ptr, item_at, position, cover, row_of, place_of)
