"""Steps that preorder walks over itemsets of hierarchy nodes share: candidates behind a path, with places.

The rows stay unchanged. Level d contains the candidates that continue ``path[:d]``, with the places where
each follows that path. The levels are one behind the other: candidate c is node ``candidate[c]``, in rows of
weight ``weight[c]``, at the places ``begin[c]:begin[c + 1]`` of `place_row` and `place` in that row.
"""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled


@compiled
def no_levels(n):
    """Make room for levels of some of n nodes."""
    return (
        np.empty(max(n, 1), np.int64),
        np.empty(max(n, 1), np.int64),
        np.zeros(max(n, 1) + 1, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
    )


@compiled
def count_behind(from_, to, place_row, place, indptr, ranks, weights, wanted, count, fill, touched):
    """Count the wanted nodes behind the places ``from_:to``; return how many nodes were found, and the steps.

    place_row, place: the row of each place, and where in `ranks`; indptr, ranks, weights: the rows, and how
    many each represents. count, fill: int64 (n,), zeros, written: weight and number of places of each node
    found; touched: int64 (n,), written: these nodes.
    """
    found, steps = 0, np.int64(0)
    for at in range(from_, to):
        row, p = np.int64(place_row[at]), place[at]
        for q in range(p + 1, indptr[row + 1]):
            y = np.int64(ranks[q])
            if wanted[y]:
                if count[y] == 0:
                    touched[found] = y
                    found += 1
                count[y] += weights[row]
                fill[y] += 1
        steps += indptr[row + 1] - p
    return found, steps


@compiled
def is_apart(path, y, low, high):
    """Whether node y is neither on a path nor above or below a node of it, by the nodes' leaf intervals."""
    for x in path:
        if (low[x] <= low[y] and high[y] <= high[x]) or (low[y] <= low[x] and high[x] <= high[y]):
            return False
    return True


@compiled
def add_level(chosen, c, least, count, fill, levels):
    """Write candidates after the others, from number c on, and make room for their places; return the levels.

    chosen: int64, the nodes, ascending; those of a weight below least get no places, as they are not
    continued. count and fill come from `count_behind`, and are zero afterwards, but for the fill of nodes
    with places: where the next place goes, plus one. levels, which may grow: candidate, weight, begin,
    place_row, place.
    """
    candidate, weight, begin, place_row, place = levels
    while c + chosen.size + 1 > candidate.size:
        candidate = np.concatenate((candidate, np.empty(candidate.size, np.int64)))
        weight = np.concatenate((weight, np.empty(weight.size, np.int64)))
        begin = np.concatenate((begin, np.empty(begin.size, np.int64)))
    top = begin[c]
    for y in chosen:
        candidate[c], weight[c], begin[c] = y, count[y], top
        if count[y] >= least:
            top += fill[y]
            fill[y] = begin[c] + 1
        else:
            fill[y] = 0
        count[y] = 0
        c += 1
    begin[c] = top
    while top > place.size:
        place_row = np.concatenate((place_row, np.empty(place_row.size, np.int64)))
        place = np.concatenate((place, np.empty(place.size, np.int64)))
    return candidate, weight, begin, place_row, place


@compiled
def add_places(from_, to, place_row, place, indptr, ranks, chosen, fill, levels):
    """Write the places of a level that `add_level` has made, found behind those from which it was counted."""
    for at in range(from_, to):
        row, p = np.int64(place_row[at]), place[at]
        for q in range(p + 1, indptr[row + 1]):
            y = np.int64(ranks[q])
            if fill[y] > 0:
                levels[3][fill[y] - 1] = row
                levels[4][fill[y] - 1] = q
                fill[y] += 1
    for y in chosen:
        fill[y] = 0
