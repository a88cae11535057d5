"""Compiled loops of k-member clustering; losses as in `_extent_loops`."""

import numpy as np

from setveil.base.jit import compiled
from setveil.methods.algorithms.rt._extent_loops import carry, is_less


@compiled
def join_values(starts, parent, low, high, loss, full, kind, n_values, least, greatest, joined):
    """Compute for each value of each column what it loses together with an interval, into `joined`."""
    digits = joined.shape[1]
    for a in range(least.size):
        start, lo, hi = starts[a], least[a], greatest[a]
        if kind[a] == 0:
            v = lo
            while high[start + v] <= hi:
                v = parent[start + v]
            first, last = low[start + v], low[start + v]  # done so far
            while True:
                for x in range(low[start + v], first):
                    for j in range(digits):
                        joined[start + x, j] = loss[start + v, j]
                for x in range(last, high[start + v]):
                    for j in range(digits):
                        joined[start + x, j] = loss[start + v, j]
                first, last = low[start + v], high[start + v]
                v = parent[start + v]
                if v < 0:
                    break
        else:
            begins = (start + starts[a + 1]) // 2
            for x in range(n_values[a]):
                first, last = min(x, lo), max(x, hi)
                mixed = kind[a] == 2 and first == 0 and last > 0
                for j in range(digits):
                    joined[start + x, j] = (
                        full[a, j] if mixed else loss[start + last, j] - loss[begins + first, j]
                    )


@compiled
def _lost(starts, values, t, joined, bits, out):
    for j in range(out.size):
        out[j] = 0
    for a in range(values.shape[1]):
        v = starts[a] + values[t, a]
        for j in range(out.size):
            out[j] += joined[v, j]
    carry(out, bits)


@compiled
def _first_of_most(starts, values, live, n_live, joined, bits):
    """Find the first tuple that loses most."""
    digits = joined.shape[1]
    best, found, loss = -1, np.zeros(digits, np.int64), np.zeros(digits, np.int64)
    if digits == 1:
        most = -1
        for p in range(n_live):
            t = live[p]
            lost = 0
            for a in range(values.shape[1]):
                lost += joined[starts[a] + values[t, a], 0]
            if lost > most:
                best, most = t, lost
        return best
    for p in range(n_live):
        _lost(starts, values, live[p], joined, bits, loss)
        if best < 0 or is_less(found, loss):
            best = live[p]
            found[:] = loss
    return best


@compiled
def _take(t, wanted, left, following, part, cluster):
    """Put up to `wanted` rows of tuple t into a cluster."""
    taken = min(left[t], wanted)
    for row in range(following[t], following[t] + taken):
        part[row] = cluster
    following[t] += taken
    left[t] -= taken
    return taken


@compiled
def _absorb(starts, values, live, n_live, joined, bits, now, wanted, left, following, part, cluster):
    """Take what leaves the cluster as it is; return how many rows it wants, and the tuple that adds least."""
    digits = joined.shape[1]
    best, found, loss = -1, now.copy(), now.copy()
    least = 0
    for p in range(n_live):
        t = live[p]
        if left[t] == 0:
            continue
        if digits == 1:
            lost = 0
            for a in range(values.shape[1]):
                lost += joined[starts[a] + values[t, a], 0]
            free = lost == now[0]
            better = best < 0 or lost < least
        else:
            lost = 0
            _lost(starts, values, t, joined, bits, loss)
            free = not is_less(now, loss)
            better = best < 0 or is_less(loss, found)
        if free:
            wanted -= _take(t, wanted, left, following, part, cluster)
            if wanted == 0:
                return 0, -1
        elif better:
            best, least = t, lost
            found[:] = loss
    return wanted, best


@compiled
def make_clusters(
    starts, parent, low, high, loss, full, kind, bits, n_values, values, left, following, live, state, k,
    more, part,
):  # fmt: skip
    """Make up to `more` clusters of k rows.

    - values: int32 (tuples, columns), distinct, in canonical order
    - left, following: int64 (tuples,), rows of each tuple that are in no cluster, and the first of them: a
      place in canonical order
    - live: int64 (tuples,), tuples with rows left, in canonical order; the first ``state[0]`` count
    - state: int64 (4,), entries of `live`; tuple of the previous seed, or -1; clusters made; rows left
    - part: int64 (rows,), written: cluster of each row, by its place in canonical order
    """
    q = values.shape[1]
    joined = loss.copy()
    least, greatest = np.zeros(q, np.int64), np.zeros(q, np.int64)
    now = np.zeros(loss.shape[1], np.int64)
    while more > 0 and state[3] >= k:
        more -= 1
        # The seed: what is farthest from the seed before; at first the first tuple there is.
        t = live[0]
        if state[1] >= 0:
            for a in range(q):
                least[a] = greatest[a] = values[state[1], a]
            join_values(starts, parent, low, high, loss, full, kind, n_values, least, greatest, joined)
            t = _first_of_most(starts, values, live, state[0], joined, bits)
        state[1] = t
        cluster = state[2]
        wanted = k - _take(t, 1, left, following, part, cluster)
        for a in range(q):
            least[a] = greatest[a] = values[t, a]
        # Grow the cluster to k rows, each time by a tuple that adds least to its loss `now`.
        while wanted > 0:
            join_values(starts, parent, low, high, loss, full, kind, n_values, least, greatest, joined)
            for j in range(now.size):
                now[j] = 0
            for a in range(q):
                for j in range(now.size):
                    now[j] += joined[starts[a] + least[a], j]
            carry(now, bits)
            wanted, t = _absorb(
                starts, values, live, state[0], joined, bits, now, wanted, left, following, part, cluster
            )
            if wanted > 0:
                wanted -= _take(t, 1, left, following, part, cluster)
                for a in range(q):
                    least[a] = min(least[a], values[t, a])
                    greatest[a] = max(greatest[a], values[t, a])
        # Forget the tuples of which all rows are in clusters.
        state[2] += 1
        state[3] -= k
        kept = 0
        for p in range(state[0]):
            if left[live[p]] > 0:
                live[kept] = live[p]
                kept += 1
        state[0] = kept
