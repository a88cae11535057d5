"""The minimal rare itemsets of rows of hierarchy nodes: rare themselves, every proper subset frequent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.limits import has_room, no_limits
from setveil.kernels.projection import list_places, room
from setveil.kernels.rows import Ids, Ints, Ranked

# Columns of `levels`: where a level's rows, ids and places begin, and which slice of the trie it works on.
ROW, ID, BEGIN, CURRENT, LOW, NODE = range(6)
# Entries of `state`.
DEPTH, IN_TRIE, SETS, NODES, STEPS = range(5)


@compiled
def _find(items, lo, n, x):
    """Find x in the ascending ``items[lo:lo + n]``: its position, or -1."""
    hi = lo + n
    end = hi
    while lo < hi:
        mid = (lo + hi) // 2
        if items[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo if lo < end and items[lo] == x else -1


@compiled
def _sort(array, n):
    """Sort the first n entries in place (Shell's method: NumPy's sort takes seconds to compile)."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            x = array[i]
            j = i
            while j >= gap and array[j - gap] > x:
                array[j] = array[j - gap]
                j -= gap
            array[j] = x
        gap = 1 if gap == 2 else gap * 5 // 11
    return array


@compiled
def _search(
    low, high, sort, most, k, m, state, levels, path, without, count, slot, trie, rows, found, budget
):
    """Go on with the search, for about `budget` steps; return the arrays, which may have grown.

    The sets are visited depth first, each behind its prefix, greater ranks first: so all subsets of a set
    come before it. Level d has the rows that contain ``path[:d]``, cut down to the nodes that are frequent
    with it; level 0 all rows. Sets of at most m (2 or more) nodes and support in (0, k) are rare.

    - low, high: int32 (n,), leaf interval of each rank, nested for an ancestor and its descendant; sort,
      most: see `setveil.kernels.limits`
    - state: int64 (5,): level, entries of the trie, sets found, their nodes, steps taken
    - levels: int64 (m, 6), its columns are named above; NODE is the trie's entry of the path, -1 for the
      empty one
    - without: int64 (m, m), ``without[d, j]`` is the trie's entry of ``path[:d]`` without ``path[j]``
    - count, slot: int64 (n,), zeros, workspace
    - trie: items, begins, numbers of all frequent sets of at most m - 1 nodes: entry e continues its parent's
      set by ``items[e]``; the sets that continue it are ``begins[e] : begins[e] + numbers[e]``, ascending
    - rows: ids, row_of, place_of, ptr, weights, begins of the levels: the rows, and where each node is in
      them
    - found: sizes int16, nodes int32 of the rare sets
    """
    t_items, t_begin, t_n = trie
    ids, row_of, place_of, ptr, ws, begin = rows
    sizes, nodes = found
    n = low.size
    d = state[DEPTH]
    used, n_sets, n_nodes = state[IN_TRIE], state[SETS], state[NODES]
    steps = np.int64(0)
    touched = np.empty(n, np.int64)
    while d >= 0 and steps < budget:
        levels[d, CURRENT] -= 1
        at = levels[d, CURRENT]
        if at < levels[d, LOW]:
            d -= 1
            continue
        x = np.int64(t_items[at])
        path[d] = x
        steps += 20
        t_begin[at], t_n[at] = used, 0
        for j in range(d):
            e = without[d, j]
            lo, size = (t_begin[e], np.int64(t_n[e])) if e >= 0 else (np.int64(0), np.int64(n))
            without[d + 1, j] = _find(t_items, lo, size, x)
        without[d + 1, d] = levels[d, NODE]

        # Count what stands behind the path.
        b = levels[d, BEGIN] + at - levels[d, LOW]
        from_, to = begin[b], begin[b + 1]
        kept = 0
        for a in range(from_, to):
            row, p = row_of[a], place_of[a]
            for q in range(p + 1, ptr[row + 1]):
                y = np.int64(ids[q])
                if count[y] == 0:
                    touched[kept] = y
                    kept += 1
                count[y] += ws[row]
            steps += ptr[row + 1] - p
        frequent = 0
        for t in range(kept):
            y = touched[t]
            support = count[y]
            count[y] = 0
            if (low[x] <= low[y] and high[y] <= high[x]) or (low[y] <= low[x] and high[x] <= high[y]):
                continue
            if not has_room(path[: d + 1], y, sort, most):
                continue
            if support >= k:
                touched[frequent] = y
                frequent += 1
                continue
            minimal = True
            for j in range(d):  # without path[d] or y the set is frequent, or we were not here
                e = without[d + 1, j]
                steps += 4
                if _find(t_items, t_begin[e], np.int64(t_n[e]), y) < 0:
                    minimal = False
                    break
            if minimal:
                sizes, nodes = room(sizes, n_sets + 1), room(nodes, n_nodes + d + 2)
                sizes[n_sets] = d + 2
                for j in range(d + 1):
                    nodes[n_nodes + j] = path[j]
                nodes[n_nodes + d + 1] = y
                n_sets += 1
                n_nodes += d + 2
        if d + 2 >= m or frequent == 0:
            continue

        # Note the frequent continuations; they may have frequent continuations themselves.
        chosen = _sort(touched, frequent)
        t_items, t_begin, t_n = (
            room(t_items, used + frequent),
            room(t_begin, used + frequent),
            room(t_n, used + frequent),
        )
        t_n[at] = frequent
        for t in range(frequent):
            t_items[used + t] = chosen[t]
            t_begin[used + t], t_n[used + t] = used, 0
        used += frequent
        if frequent == 1:
            continue

        # Project the rows.
        for t in range(frequent):
            slot[chosen[t]] = t + 1
        levels[d + 1, LOW], levels[d + 1, CURRENT], levels[d + 1, NODE] = used - frequent, used, at
        r, i, b = levels[d + 1, ROW], levels[d + 1, ID], levels[d + 1, BEGIN]
        begin = room(begin, b + frequent + 1)
        for t in range(b, b + frequent + 1):
            begin[t] = 0
        ptr = room(ptr, r + to - from_ + 1)
        ws = room(ws, r + to - from_ + 1)
        first = i
        ptr[r] = i
        for a in range(from_, to):
            row, p = row_of[a], place_of[a]
            ids = room(ids, i + ptr[row + 1] - p)
            start = i
            for q in range(p + 1, ptr[row + 1]):
                if slot[ids[q]] > 0:
                    ids[i] = ids[q]
                    i += 1
            if i - start < 2:
                i = start
                continue
            for q in range(start, i):
                begin[b + slot[ids[q]]] += 1
            ws[r] = ws[row]
            r += 1
            ptr[r] = i
        begin[b] = first
        for t in range(frequent):
            slot[chosen[t]] = begin[b + t]
            begin[b + t + 1] += begin[b + t]
        row_of, place_of = room(row_of, i), room(place_of, i)
        list_places(levels[d + 1, ROW], r, ptr, ids, slot, row_of, place_of)
        for t in range(frequent):
            slot[chosen[t]] = 0
        d += 1
        if d + 1 < levels.shape[0]:
            levels[d + 1, ROW], levels[d + 1, ID], levels[d + 1, BEGIN] = r + 1, i, b + frequent + 1

    state[DEPTH], state[IN_TRIE], state[SETS], state[NODES] = d, used, n_sets, n_nodes
    state[STEPS] += steps
    return (t_items, t_begin, t_n), (ids, row_of, place_of, ptr, ws, begin), (sizes, nodes)


class MinimalRareItemsets:
    """A search for the minimal rare itemsets of at least two nodes, a piece at a time.

    Each rank alone is frequent. Sets of at most m (2 or more) nodes, none above another, are rare with
    support in (0, k). `found` rare sets and `frequent` ones of at most m - 1 nodes so far; `bytes` of memory.
    """

    def __init__(
        self, rows: Ranked, low: Ids, high: Ids, k: int, m: int, limits: tuple[Ints, Ints] | None = None
    ) -> None:
        n = low.size
        self._limits = no_limits(n) if limits is None else limits
        self.k, self.m, self.low, self.high = k, m, low, high
        self._rows: Any = (
            rows.items.copy(), rows.tidlists.copy(), rows.positions.copy(), rows.indptr.copy(),
            np.append(rows.weights, 0), rows.starts.copy(),
        )  # fmt: skip
        self._trie: Any = (np.arange(n, dtype=np.int32), np.zeros(n, np.int64), np.zeros(n, np.int32))
        self._sets: Any = (np.zeros(1024, np.int16), np.zeros(4096, np.int32))
        self._state = np.array([0, n, 0, 0, 0], np.int64)
        self._levels = np.zeros((m, 6), np.int64)
        self._levels[0, [CURRENT, NODE]] = n, -1
        self._levels[1, [ROW, ID, BEGIN]] = rows.indptr.size, rows.items.size, n + 1
        self._path = np.zeros(m, np.int64)
        self._without = np.zeros((m + 1, m), np.int64)
        self._count, self._slot = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def search(self, budget: int) -> bool:
        """Go on for about `budget` steps; whether there is more to do."""
        self._trie, self._rows, self._sets = _search(
            self.low, self.high, *self._limits, self.k, self.m, self._state, self._levels, self._path,
            self._without, self._count, self._slot, self._trie, self._rows, self._sets, budget,
        )  # fmt: skip
        return bool(self._state[DEPTH] >= 0)

    @property
    def found(self) -> int:
        return int(self._state[SETS])

    @property
    def frequent(self) -> int:
        return int(self._state[IN_TRIE])

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in (*self._trie, *self._rows, *self._sets))

    @property
    def nodes(self) -> int:
        """Number of nodes of the sets found."""
        return int(self._state[NODES])

    def done(self) -> float:
        """Tell the share of the single nodes whose sets have all been visited."""
        n = self.low.size
        return 1 - int(self._levels[0, CURRENT]) / n if n else 1.0

    def sets(self) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
        """Return the sets found: their sizes, and their ranks one behind the other (ascending in a set)."""
        sizes, nodes = self._sets
        return sizes[: self.found], nodes[: self.nodes]
