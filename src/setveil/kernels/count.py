"""Count all sets of some size at once: a table with one cell for each set of this many of n numbers.

A set of numbers c1 < c2 < ... < cs has the cell C(c1, 1) + C(c2, 2) + ... + C(cs, s), its place in the
combinatorial number system: cells are dense, and the sets with the same greatest number stand together. Rows
may be counted in any order and in any pieces, and disjoint ranges of greatest numbers at the same time.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.node_paths import is_apart
from setveil.kernels.rows import Ints, frozen

MOST_CELLS = 1 << 27  # of a table: half a gigabyte of supports of 4 bytes each
MOST_ROWS = (1 << 31) - 1  # rows that such a support can count


def fits(n: int, size: int) -> bool:
    """Whether a table of all sets of `size` of n numbers has at most MOST_CELLS cells."""
    return comb(n, size) <= MOST_CELLS


def number_of_sets(lengths: Ints, size: int) -> int:
    """Count the sets of `size` of all rows; ``lengths[i]`` rows have length i."""
    return sum(rows * comb(length, size) for length, rows in enumerate(lengths.tolist()))


def cell_offsets(n: int, size: int) -> Ints:
    """Make what each number adds to the cell of a set: int64 (size, n), by its place among the set's."""
    out = np.zeros((size, n), np.int64)
    out[0] = np.arange(n)
    for j in range(1, size):  # C(c, j + 1) is the sum of C(i, j) for all i < c
        np.cumsum(out[j - 1, :-1], out=out[j, 1:])
    return frozen(out, np.int64)


def members_of_cells(cells: Ints, n: int, size: int) -> Ints:
    """Find the numbers of the sets of some cells: int64 (cells, size), ascending.

    >>> members_of_cells(np.array([0, 1, 5]), 4, 2).tolist()
    [[0, 1], [0, 2], [2, 3]]
    """
    out = np.zeros((cells.size, size), np.int64)
    offsets, rest = cell_offsets(n, size), cells
    for j in range(size - 1, -1, -1):
        out[:, j] = np.searchsorted(offsets[j], rest, "right") - 1
        rest = rest - offsets[j, out[:, j]]
    return out


def empty_table(n: int, size: int) -> NDArray[np.int32]:
    """Make the table of all sets of `size` of n numbers, all of support 0."""
    return np.zeros(comb(n, size), np.int32)


@compiled
def number_rows(indptr, items, starts, numbers, n, out_ptr, out):
    """Replace each item of rows by its numbers, ascending, without repeats; return how many were written.

    Item v has the numbers (all below n) ``numbers[starts[v]:starts[v + 1]]``. out_ptr: int64 (n_rows + 1,),
    zeros; out: int32, with room for the numbers of all occurrences; both written.
    """
    stamp = np.full(n, -1, np.int64)
    end = 0
    for row in range(indptr.size - 1):
        start = end
        for p in range(indptr[row], indptr[row + 1]):
            v = items[p]
            for at in range(starts[v], starts[v + 1]):
                number = numbers[at]
                if stamp[number] != row:
                    stamp[number] = row
                    out[end] = number
                    end += 1
        sort_piece(out, start, end)
        out_ptr[row + 1] = end
    return end


@compiled
def add_supports(indptr, items, weights, starts, numbers, stamp, supports):
    """Add for each number the rows that contain an item with it; stamp: -1 everywhere; both are written.

    weights: how many rows each represents, or (0,) for one each.
    """
    for row in range(indptr.size - 1):
        weight = weights[row] if weights.size else np.int64(1)
        for p in range(indptr[row], indptr[row + 1]):
            v = items[p]
            for at in range(starts[v], starts[v + 1]):
                number = numbers[at]
                if stamp[number] != row:
                    stamp[number] = row
                    supports[number] += weight


@compiled
def work_by_greatest(indptr, numbers, offsets, work):
    """Add to work (int64 (n,)) for each number of how many sets of the ascending rows it is greatest."""
    others = offsets.shape[0] - 1
    for row in range(indptr.size - 1):
        start = indptr[row]
        for p in range(start + others, indptr[row + 1]):
            # C(p - start, others): in how many ways the others come before it.
            ways = np.int64(1)
            for j in range(others):
                ways = ways * (p - start - j) // (j + 1)
            work[numbers[p]] += ways


@compiled
def first_places(at, start, end, least):
    """Choose the first places, from `start`, of all numbers of a set but its least; whether there are any."""
    last = at.size - 1
    for j in range(at.size):
        at[j] = start + 1 + j
    if last >= 0:
        at[last] = max(at[last], least)
        return at[last] < end
    return start < end


@compiled
def next_places(at, start, end):
    """Choose the next places; whether there are any."""
    j = 0
    while j < at.size and at[j] + 1 == (at[j + 1] if j + 1 < at.size else end):
        at[j] = start + 1 + j
        j += 1
    if j == at.size:
        return False
    at[j] += 1
    return True


@compiled
def first_cell(numbers, at, offsets):
    """Add up what a set's greatest numbers, at these places, add to its cell."""
    cell = np.int64(0)
    least = offsets.shape[0] - at.size
    for j in range(at.size):
        cell += offsets[least + j, numbers[at[j]]]
    return cell


@compiled
def count_into(indptr, numbers, weights, offsets, low, high, table):
    """Add the sets of rows whose greatest number is in ``low:high`` to a table.

    The rows are numbers, ascending. weights: int64 (n_rows,), how many rows each represents, or (0,) for one
    each; offsets: int64 (size, n), see `cell_offsets`; table: int32 (cells,), written.
    """
    size = offsets.shape[0]
    at = np.zeros(max(size - 2, 0), np.int64)  # all but the two least numbers, which have loops of their own
    for row in range(indptr.size - 1):
        start, end = indptr[row], indptr[row + 1]
        while end > start and numbers[end - 1] >= high:
            end -= 1
        least = end
        while least > start and numbers[least - 1] >= low:
            least -= 1
        weight = np.int32(weights[row]) if weights.size else np.int32(1)
        if size == 1:
            for p in range(least, end):
                table[numbers[p]] += weight
            continue
        more = first_places(at, start + 1, end, least)
        while more:
            base = first_cell(numbers, at, offsets)
            for q in range(start + 1 if size > 2 else least, at[0] if size > 2 else end):
                cell = base + offsets[1, numbers[q]]
                for p in range(start, q):
                    table[cell + numbers[p]] += weight
            more = next_places(at, start + 1, end)


@compiled
def keep_rare(indptr, numbers, offsets, table, k, out_ptr, out, rows):
    """Cut rows down to the numbers that are in a set of support below k with others; return the rows left.

    Only rows that are not empty are written to out_ptr: int64 (n_rows + 1,), zeros, out: int32 (occurrences,)
    and rows: int64 (n_rows,), their places. The table contains the supports; see `count_into` for the other
    arguments.
    """
    size = offsets.shape[0]
    at = np.zeros(max(size - 2, 0), np.int64)
    kept = np.zeros(numbers.size, np.bool_)
    n, end_out = 0, 0
    for row in range(indptr.size - 1):
        start, end = indptr[row], indptr[row + 1]
        if size == 1:
            for p in range(start, end):
                kept[p] = table[numbers[p]] < k
        more = size > 1 and first_places(at, start + 1, end, start)
        while more:
            base = first_cell(numbers, at, offsets)
            for q in range(start + 1, at[0] if size > 2 else end):
                cell = base + offsets[1, numbers[q]]
                found = False
                for p in range(start, q):
                    if table[cell + numbers[p]] < k:
                        kept[p] = True
                        found = True
                if found:
                    kept[q] = True
                    for j in range(at.size):
                        kept[at[j]] = True
            more = next_places(at, start + 1, end)
        for p in range(start, end):
            if kept[p]:
                out[end_out] = numbers[p]
                end_out += 1
        if end_out > out_ptr[n]:
            rows[n] = row
            n += 1
            out_ptr[n] = end_out
    return n


@compiled
def mark_witnesses(indptr, numbers, weights, offsets, table, k, have, kept):
    """Mark numbers of rows until each set of support below k has all its rows, and each other one k of them.

    have: int32 (cells,), the rows in which all numbers of a set are marked; kept: bool (occurrences,), the
    marks; both written. The other arguments are as for `count_into`; the table contains the supports.
    """
    size = offsets.shape[0]
    at = np.zeros(size - 1, np.int64)
    before = np.zeros(numbers.size, np.bool_)
    for row in range(indptr.size - 1):
        start, end = indptr[row], indptr[row + 1]
        for p in range(start, end):
            before[p] = kept[p]
        new = False
        more = first_places(at, start, end, start)
        while more:
            base = first_cell(numbers, at, offsets)
            needed = False
            for p in range(start, at[0] if size > 1 else end):
                cell = base + numbers[p]
                if table[cell] < k or have[cell] < k:
                    kept[p] = True
                    needed = True
            if needed:
                new = True
                for j in range(size - 1):
                    kept[at[j]] = True
            more = next_places(at, start, end)
        if not new:
            continue
        more = first_places(at, start, end, start)
        while more:
            base = first_cell(numbers, at, offsets)
            now, then = True, True
            for j in range(size - 1):
                now, then = now and kept[at[j]], then and before[at[j]]
            if now:
                for p in range(start, at[0] if size > 1 else end):
                    if kept[p] and not (then and before[p]):
                        have[base + numbers[p]] += weights[row]
            more = next_places(at, start, end)


@compiled
def mark_rare(table, offsets, k, marks):
    """Mark (bool (n,)) the numbers of all sets with a support in (0, k); table, offsets: see `count_into`."""
    size, n = offsets.shape
    chosen = np.arange(size)
    cell = 0
    marked = 0  # numbers before this one are all marked
    while n >= size:
        # The sets that differ in their least number stand one behind the other.
        after = chosen[1] if size > 1 else n
        new = 0
        for j in range(1, size):
            new += not marks[chosen[j]]
        for least in range(after):
            if new == 0 and marked >= after:
                break  # nothing is left to mark here
            if 0 < table[cell + least] < k:
                marks[least] = True
                for j in range(1, size):
                    marks[chosen[j]] = True
                new = 0
                while marked < n and marks[marked]:
                    marked += 1
        cell += after
        if not next_places(chosen[1:], 0, n):
            break


@compiled
def next_rare(table, offsets, k, live, low, high, path, begun):
    """Find the next set with a support in (0, k) whose numbers are all live and apart, if there is one.

    Sets come in the order of their greatest numbers, greater ones first, then of the next ones. Two numbers
    are not apart if their intervals, int32 (n,) from low to high, are nested. path: int64 (size,), written:
    the set found, greatest number first, behind which a search that has begun goes on.
    """
    size, n = offsets.shape
    base = np.zeros(size + 1, np.int64)
    d = 0
    if begun:
        while d < size - 1 and live[path[d]]:
            base[d + 1] = base[d] + offsets[size - 1 - d, path[d]]
            d += 1
    else:
        path[0] = n
    while True:
        path[d] -= 1
        if path[d] < size - 1 - d:
            if d == 0:
                return False
            d -= 1
            continue
        if not live[path[d]]:
            continue
        if d == size - 1:
            if not 0 < table[base[d] + path[d]] < k:
                continue
            if is_apart(path[:d], path[d], low, high):
                return True
        elif is_apart(path[:d], path[d], low, high):
            base[d + 1] = base[d] + offsets[size - 1 - d, path[d]]
            path[d + 1] = path[d]
            d += 1


@compiled
def saturate(table, offsets, nodes, k, number, parent, low, high, upper_offsets, upper):
    """Raise the supports of sets of nodes at or above sets with a support of at least k to k.

    table, offsets: supports of the sets of the numbers of nodes (int64 (n,)); upper, upper_offsets: those of
    the sets above, written, whose numbers are number: int64 (n_nodes,), -1 for none. parent, low, high: int64
    (n_nodes,), the hierarchy, with its intervals of leaves.
    """
    size, n = offsets.shape
    chosen = np.arange(size)
    some = np.zeros(size, np.int64)
    stack = np.zeros((1024, size), np.int64)
    cell = 0
    while n >= size:
        after = chosen[1] if size > 1 else n
        for least in range(after):
            if table[cell + least] < k:
                continue
            chosen[0] = least
            there = True
            for j in range(size):
                v = nodes[chosen[j]]
                while v >= 0 and number[v] < 0:
                    v = parent[v]
                there = there and v >= 0 and is_apart(some[:j], v, low, high)
                some[j] = v
            if not there:
                continue
            depth = 1
            stack[0] = some
            while depth > 0:
                depth -= 1
                some[:] = stack[depth]
                at = _cell_of(some, number, upper_offsets)
                if upper[at] >= k:
                    continue
                upper[at] = k
                if depth + size >= stack.shape[0]:
                    stack = np.concatenate((stack, np.zeros_like(stack)))
                for j in range(size):
                    up = parent[some[j]]
                    if up < 0 or number[up] < 0:
                        continue
                    if is_apart(some[:j], up, low, high) and is_apart(some[j + 1 :], up, low, high):
                        stack[depth] = some
                        stack[depth, j] = up
                        depth += 1
        chosen[0] = 0
        cell += after
        if not next_places(chosen[1:], 0, n):
            break


@compiled
def _cell_of(nodes, number, offsets):
    """Find the cell of a set of nodes, in any order."""
    cell = np.int64(0)
    for i in range(nodes.size):
        place = 0
        for j in range(nodes.size):
            if number[nodes[j]] < number[nodes[i]]:
                place += 1
        cell += offsets[place, number[nodes[i]]]
    return cell
