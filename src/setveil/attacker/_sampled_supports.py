"""What is looked up for drawn rows: the rows around one, and the supports of sets drawn from rows."""

from __future__ import annotations

import numpy as np

from setveil.jit import compiled
from setveil.kernels.rows import Ints, Ranked, frozen, invert, merge_rows, take_rows
from setveil.kernels.walk import support


@compiled
def _meet(indptr, items, starts, tidlists, target, number, met, out_ptr):
    """Cut the rows that share an item with `target` down to its items, numbered by their places in it.

    Parameters
    ----------
    indptr, items, starts, tidlists
        As in `Ranked`.
    target : int
        A row.
    number : int64 (n,), zeros
        Workspace; zero afterwards.
    met : int64 (places,), written
        The rows found; `places` is the number of places of all items of the target.
    out_ptr : int64 (places + 1,), written

    Returns
    -------
    found : int
        Number of rows found.
    out : int32 (places,)
    """
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
    """Cut all rows down to the items of one row, which keep their order, and merge equal ones.

    Parameters
    ----------
    number : int64 (n,), zeros
        Workspace; zero afterwards.

    Returns
    -------
    local : Ranked
        The rows that share an item with the target.
    place : int
        Where the target is among them; its weight is the number of rows that hold all of it.
    met, group : int64 (found,)
        The rows found, and which local row each became.
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
def sampled_supports(indptr, items, weights, starts, tidlists, targets, seeds, m, out):
    """Draw a set of items from each of the given rows and count the rows that hold it.

    Called with NumPy's overflow warnings off: random bits are made by multiplication modulo 2^64.

    Parameters
    ----------
    indptr, items, weights, starts, tidlists
        As in `Ranked`.
    targets : int64 (draws,)
        The rows.
    seeds : uint64 (draws,)
        Random bits, of which all others are made (SplitMix64).
    m : int
        Items of a set, all sets equally likely; or the whole row where it is shorter.
    out : int64 (draws,), written
        The supports.
    """
    nowhere = np.empty(0, np.int64)
    for i in range(targets.size):
        lo = indptr[targets[i]]
        length = indptr[targets[i] + 1] - lo
        shuffled = np.empty(length, np.int64)
        for j in range(length):
            shuffled[j] = items[lo + j]
        size = min(length, m)
        bits = seeds[i]
        for j in range(size):  # the first places of a shuffle
            bits += np.uint64(0x9E3779B97F4A7C15)
            word = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
            other = j + np.int64(word % np.uint64(length - j))
            shuffled[j], shuffled[other] = shuffled[other], shuffled[j]
        out[i] = support(starts, tidlists, weights, shuffled[:size], np.int64(1) << 62, nowhere)[0]
