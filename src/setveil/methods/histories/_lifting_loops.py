"""Compiled loops that turn what fits too few people into the most general reason why."""

from __future__ import annotations

from setveil.base.jit import compiled
from setveil.methods.histories._joined_loops import fitting


@compiled
def unit_of(indptr, units, unit_ends, class_of, row, c):
    """Find the first unit of a row that is shown as a class."""
    for p in range(indptr[row], indptr[row + 1]):
        for q in range(unit_ends[units[p]], unit_ends[units[p] + 1]):
            if class_of[q] == c:
                return units[p]
    return -1


@compiled
def lift(
    failing, owners, classes, needs, is_free, tokens, indptr, units, unit_ends, class_of, parent, k, starts,
    holders, masks, weights, patterns, people, some, nodes, leaves, keep, raised, out_nodes, out_leaves, ends,
):  # fmt: skip
    """State for each failing set of known items nodes and leaves that cause it, in most general forms.

    Each node in turn stays while others are omitted, then all are raised, as long as too few people fit.
    Returns how many forms were written: `out_nodes` and `out_leaves` between `ends`.
    """
    forms, filled = 0, 0
    for i in range(owners.size):
        n_fixed, n, mask = 0, 0, 0
        for j in range(failing.shape[1]):
            c = failing[i, j]
            if c < 0:
                break
            mask |= needs[c]
            u = unit_of(indptr, units, unit_ends, class_of, owners[i], c)
            for t in range(classes.shape[1]):
                if classes[c, t] < 0:
                    continue
                if is_free[t] == 0:
                    some[n_fixed] = classes[c, t]
                    n_fixed += 1
                else:
                    nodes[n], leaves[n] = classes[c, t], tokens[u, t]
                    n += 1
        if n == 0:  # nothing can be done
            ends[forms + 1] = filled
            forms += 1
            continue
        for first in range(n):
            for j in range(n):
                keep[j], raised[j] = 1, nodes[j]
            for j in range(1, n):
                drop = (first + j) % n
                keep[drop] = 0
                used = n_fixed
                for x in range(n):
                    if keep[x] == 1:
                        some[used] = raised[x]
                        used += 1
                if fitting(some, used, mask, starts, holders, masks, weights, patterns, people, k) >= k:
                    keep[drop] = 1
            # The first may not be needed either.
            keep[first] = 0
            used = n_fixed
            for x in range(n):
                if keep[x] == 1:
                    some[used] = raised[x]
                    used += 1
            is_known = used > 0 or mask != 0  # else nothing is known
            if (
                not is_known
                or fitting(some, used, mask, starts, holders, masks, weights, patterns, people, k) >= k
            ):
                keep[first] = 1
            for j in range(n):
                x = (first + j) % n
                if keep[x] == 0:
                    continue
                while parent[raised[x]] >= 0:
                    before = raised[x]
                    raised[x] = parent[before]
                    used = n_fixed
                    for y in range(n):
                        if keep[y] == 1:
                            some[used] = raised[y]
                            used += 1
                    if fitting(some, used, mask, starts, holders, masks, weights, patterns, people, k) >= k:
                        raised[x] = before
                        break
            for x in range(n):
                if keep[x] == 1:
                    out_nodes[filled], out_leaves[filled] = raised[x], leaves[x]
                    filled += 1
            ends[forms + 1] = filled
            forms += 1
    return forms
