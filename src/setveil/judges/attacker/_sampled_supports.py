"""Look-ups for drawn rows: the rows around one, and the supports of sets drawn from rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.threads import each
from setveil.kernels.rows import Ints, Ranked, frozen, invert, merge_rows, take_rows
from setveil.kernels.walk import support

MANY = 8  # sets of one rarest item that are counted by reading all rows that hold it
AT_ONCE = 8  # rarest items of sets that a thread counts in one go


@compiled
def _meet(indptr, items, starts, tidlists, target, number, met, out_ptr):
    """Cut the rows that share an item with `target` down to its places; return their number and items."""
    found = 0
    lo, hi = indptr[target], indptr[target + 1]
    for p in range(lo, hi):
        for a in range(starts[items[p]], starts[items[p] + 1]):
            row = tidlists[a]
            if number[row] == 0:
                met[found] = row
                found += 1
                number[row] = found
            out_ptr[number[row]] += 1
    for t in range(found):
        out_ptr[t + 1] += out_ptr[t]
    out = np.empty(out_ptr[found], np.int32)
    for p in range(hi - 1, lo - 1, -1):  # each row is filled from its end
        for a in range(starts[items[p]], starts[items[p] + 1]):
            t = number[tidlists[a]]
            out_ptr[t] -= 1
            out[out_ptr[t]] = p - lo
    for t in range(found):
        number[met[t]] = 0
        out_ptr[t] = out_ptr[t + 1]
    out_ptr[found] = out.size
    return found, out


def around_steps(rows: Ranked, target: int) -> int:
    """Tell how many steps `around` takes, compared with those of a search."""
    of_target = rows.items[rows.indptr[target] : rows.indptr[target + 1]]
    return 4 * int((rows.starts[of_target + 1] - rows.starts[of_target]).sum())


def around(rows: Ranked, target: int, number: Ints) -> tuple[Ranked, int, Ints, Ints]:
    """Cut all rows down to the items of one row, in order, and merge equal ones; `number`: zeros, workspace.

    Returns the rows that share an item with the target, the target's place there (whose weight is the number
    of rows that contain it), and the rows found with their local rows.
    """
    of_target = rows.items[rows.indptr[target] : rows.indptr[target + 1]]
    places = int((rows.starts[of_target + 1] - rows.starts[of_target]).sum())
    met, out_ptr = np.empty(places, np.int64), np.zeros(places + 1, np.int64)
    found, items = _meet(*rows[:2], rows.starts, rows.tidlists, target, number, met, out_ptr)
    indptr, items = frozen(out_ptr[: found + 1], np.int64), frozen(items, np.int32)
    group, first, _ = merge_rows(indptr, items)
    weights = np.zeros(first.size, np.int64)
    np.add.at(weights, group, rows.weights[met[:found]])
    merged = take_rows(indptr, items, first)
    order = frozen(rows.order[of_target], np.int64)
    starts, holders, positions = invert(*merged, of_target.size)
    local = Ranked(*merged, frozen(weights, np.int64), starts, holders, positions, order)
    place = int(group[np.argmax(met[:found] == target)])
    return local, place, met[:found], group


@compiled
def draw_sets(indptr, items, targets, seeds, out):
    """Draw m items of each target row into `out`, int32 (draws, m), all sets equally likely and in no order.

    A shorter row is drawn as a whole, and leaves the rest of its line as it is. `seeds`: uint64, source of
    random bits (SplitMix64), multiplied modulo 2^64: call it with NumPy's overflow warnings off.
    """
    for i in range(targets.size):
        lo = indptr[targets[i]]
        length = indptr[targets[i] + 1] - lo
        shuffled = np.empty(length, np.int64)
        for j in range(length):
            shuffled[j] = items[lo + j]
        bits = seeds[i]
        for j in range(min(length, out.shape[1])):  # the first places of a shuffle
            bits += np.uint64(0x9E3779B97F4A7C15)
            word = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
            other = j + np.int64(word % np.uint64(length - j))
            shuffled[j], shuffled[other] = shuffled[other], shuffled[j]
            out[i, j] = shuffled[j]


@compiled
def add_supports_of_sets(indptr, items, weights, starts, tidlists, positions, sets, out):
    """Add to `out` the weight of the rows that contain each of some sorted sets of ranks, int32 (n, m)."""
    ranks = starts.size - 1
    holding = np.zeros((ranks, sets.shape[1] - 1), np.uint64)
    nowhere = np.empty(0, np.int64)
    first = np.int64(0)
    while first < sets.shape[0]:
        last = first + 1
        while last < sets.shape[0] and last - first < 64 and sets[last, 0] == sets[first, 0]:
            last += 1
        some, found = sets[first:last], out[first:last]
        if some.shape[0] >= MANY:
            _read_rows_of(indptr, items, weights, starts, tidlists, positions, some, holding, found)
        else:
            for i in range(some.shape[0]):
                size = some.shape[1]
                while some[i, size - 1] == ranks:
                    size -= 1
                held = some[i, :size]
                found[i] += support(starts, tidlists, weights, held, np.int64(1) << 62, nowhere)[0]
        first = last


@compiled
def _read_rows_of(indptr, items, weights, starts, tidlists, positions, sets, holding, out):
    """Add the same for at most 64 sets (a bit each) with the same rarest item, in one pass over its rows."""
    places, rarest = holding.shape[1], sets[0, 0]
    ended = np.zeros(places, np.uint64)  # those that have nothing there
    for i in range(sets.shape[0]):
        for j in range(places):
            if sets[i, j + 1] < holding.shape[0]:
                holding[sets[i, j + 1], j] |= np.uint64(1) << np.uint64(i)
            else:
                ended[j] |= np.uint64(1) << np.uint64(i)
    met = np.zeros(places, np.uint64)
    for a in range(starts[rarest], starts[rarest + 1]):
        row = tidlists[a]
        met[:] = ended
        for p in range(positions[a] + 1, indptr[row + 1]):
            for j in range(places):
                met[j] |= holding[items[p], j]
        inside = ~np.uint64(0) >> np.uint64(64 - sets.shape[0])
        for j in range(places):
            inside &= met[j]
        i = 0
        while inside != np.uint64(0):
            if inside & np.uint64(1):
                out[i] += weights[row]
            inside >>= np.uint64(1)
            i += 1
    for i in range(sets.shape[0]):
        for j in range(places):
            if sets[i, j + 1] < holding.shape[0]:
                holding[sets[i, j + 1], j] = 0


def sampled_supports(rows: Ranked, targets: Ints, seeds: NDArray[np.uint64], m: int) -> Ints:
    """Draw a set of at most m items from each target row (`draw_sets`), and count the rows with it."""
    n_ranks = rows.order.size
    size = max(min(m, int(rows.lengths.max(initial=0))), 1)
    drawn = np.full((targets.size, size), n_ranks, np.int32)
    with np.errstate(over="ignore"):
        draw_sets(*rows[:2], frozen(targets, np.int64), frozen(seeds, np.uint64), drawn)
    drawn.sort(axis=1)
    sets, number = np.unique(drawn, axis=0, return_inverse=True)
    out = np.zeros(len(sets), np.int64)
    ends = np.flatnonzero(np.diff(sets[:, 0], append=n_ranks)) + 1  # of those with the same rarest item

    def count(piece: tuple[int, int]) -> None:
        some = slice(*piece)
        add_supports_of_sets(*rows[:6], frozen(sets[some], np.int32), out[some])

    each(count, pairwise([0, *ends[AT_ONCE - 1 : -1 : AT_ONCE].tolist(), len(sets)]))
    return out[number.ravel()]
