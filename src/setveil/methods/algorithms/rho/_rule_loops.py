"""The walk over sets of known items, and what they reveal about sensitive items."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece
from setveil.kernels.projection import room

# Places in `state`, kept between calls: the level that the walk is at (0: it is over), rules found, the
# supports of the surest rule (with and without what it tells), steps taken in this call.
LEVEL, FOUND, LEARNED, KNOWN, STEPS = range(5)


@compiled
def walk_rules(rows, secrets, limit, size, surest, levels, path, tally, state, out, budget):
    """Go on listing the breaching rules of one size until the walk is over, or for about `budget` steps.

    - rows: int64 (n + 1,), int32 (occurrences,), int64 (occurrences,), int64 (n,): rows of what may be known;
      the row of each occurrence; how many rows each represents
    - secrets: int64 (n + 1,), int32, bool (n_ids,): the sensitive items of each row; which ids are sensitive
    - limit: int64 (rows + 1,), how many of this many rows may contain a sensitive item
    - surest: list only the surest rule of all sizes so far: where rules are equally sure the smallest one,
      the first by its known items, the first by what it tells
    - levels: int64 (size + 1, n_ids), (size + 1, n_ids + 1), (size + 1,), (size + 1,), (size + 1,
      occurrences): level d has the rows with the first d - 1 items of the path: the items that may come next,
      where the occurrences of each begin, how many there are, which is the next, the occurrences
    - path: int64 (size,); tally: int64 (n_ids,), bool (n_ids,), zeros before and after; state: int64 (5,)
    - out: int32, returned, perhaps longer: each rule's known items, what they tell, and to how many rows too
      much
    """
    _, _, row_of, _ = rows
    node_item, node_start, n_nodes, cursor, places = levels
    count, _ = tally
    touched = np.empty(count.size, np.int64)
    state[STEPS] = 0
    while state[LEVEL] > 0 and state[STEPS] < budget:
        d = state[LEVEL]
        if cursor[d] == n_nodes[d]:
            state[LEVEL] -= 1
            continue
        g = cursor[d]
        cursor[d] += 1
        path[d - 1] = node_item[d, g]
        begin, end = node_start[d, g], node_start[d, g + 1]
        if d < size:
            _descend(rows, secrets, size, d, begin, end, levels, path, tally, touched, state)
            continue
        support = np.int64(0)
        n = 0
        for at in range(begin, end):
            row = row_of[places[d, at]]
            support += rows[3][row]
            n = _count_secrets(secrets, row, rows[3][row], count, touched, n)
        state[STEPS] += end - begin + n
        out = judge(count, touched[:n], support, limit, path, surest, state, out)
        if surest and state[LEARNED] == state[KNOWN] > 0:
            state[LEVEL] = 0
    return out


@compiled
def _count_secrets(secrets, row, weight, count, touched, n):
    """Add a row to the counts of its sensitive items; return how many have a count."""
    ptr, items, _ = secrets
    for p in range(ptr[row], ptr[row + 1]):
        s = items[p]
        if count[s] == 0:
            touched[n] = s
            n += 1
        count[s] += weight
    return n


@compiled
def judge(count, touched, support, limit, path, surest, state, out):
    """List the breaching rules with the known items of a path, and clear the counts."""
    size = path.size
    best = np.int64(-1)
    for s in touched:
        known = False
        for i in range(size):
            known = known or path[i] == s
        if known or count[s] <= limit[support]:
            continue
        if surest:
            if best < 0 or count[s] > count[best] or (count[s] == count[best] and s < best):
                best = s
            continue
        at = state[FOUND] * (size + 2)
        out = room(out, at + size + 2)
        for i in range(size):
            out[at + i] = path[i]
        out[at + size], out[at + size + 1] = s, count[s] - limit[support]
        state[FOUND] += 1
    if best >= 0 and (state[FOUND] == 0 or count[best] * state[KNOWN] > state[LEARNED] * support):
        out = room(out, size + 2)
        for i in range(size):
            out[i] = path[i]
        out[size], out[size + 1] = best, count[best] - limit[support]
        state[FOUND], state[LEARNED], state[KNOWN] = 1, count[best], support
    for s in touched:
        count[s] = 0
    return out


@compiled
def _descend(rows, secrets, size, d, begin, end, levels, path, tally, touched, state):
    """Make the next level: the items behind some occurrences, those of rows with a secret left."""
    indptr, items, row_of, _ = rows
    secret_ptr, _, is_secret = secrets
    node_item, node_start, n_nodes, cursor, places = levels
    count, hot = tally
    known = np.int64(0)  # sensitive items of the path
    for i in range(d):
        known += is_secret[path[i]]
    n = 0
    for at in range(begin, end):
        p = places[d, at]
        row = row_of[p]
        left = secret_ptr[row + 1] - secret_ptr[row] - known
        for q in range(p + 1, indptr[row + 1] - (size - d - 1)):
            y = items[q]
            if count[y] == 0:
                touched[n] = y
                n += 1
            count[y] += 1
            hot[y] = hot[y] or left > is_secret[y]
        state[STEPS] += max(indptr[row + 1] - p, 1)
    sort_piece(touched, 0, n)
    total, kept = np.int64(0), 0
    for i in range(n):
        y = touched[i]
        if hot[y]:
            node_item[d + 1, kept] = y
            node_start[d + 1, kept] = total
            total += count[y]
            count[y] = node_start[d + 1, kept] + 1  # from now on where its next occurrence goes, and 1
            kept += 1
        else:
            count[y] = 0
    node_start[d + 1, kept] = total
    n_nodes[d + 1], cursor[d + 1] = kept, 0
    for at in range(begin, end):
        p = places[d, at]
        for q in range(p + 1, indptr[row_of[p] + 1] - (size - d - 1)):
            y = items[q]
            if count[y] > 0:
                places[d + 1, count[y] - 1] = q
                count[y] += 1
    for i in range(n):
        count[touched[i]], hot[touched[i]] = 0, False
    state[LEVEL] = d + 1
