"""Compiled loops that coarsen labels until sets of known items fit enough people."""

from __future__ import annotations

from setveil.base.jit import compiled
from setveil.methods.histories._joined_loops import fitting
from setveil.methods.histories._lifting_loops import unit_of


@compiled
def _gather(
    failing, owner, classes, needs, is_free, tokens, indptr, units, unit_ends, class_of, some, leaves
):  # fmt: skip
    """Collect the frozen tokens of a set of known items, its leaves, and its releases."""
    n_fixed, n, mask = 0, 0, 0
    for j in range(failing.size):
        c = failing[j]
        if c < 0:
            break
        mask |= needs[c]
        u = unit_of(indptr, units, unit_ends, class_of, owner, c)
        for t in range(classes.shape[1]):
            if is_free[t] == 1 and tokens[u, t] >= 0:
                leaves[n] = tokens[u, t]
                n += 1
            elif is_free[t] == 0 and tokens[u, t] >= 0:
                some[n_fixed] = tokens[u, t]
                n_fixed += 1
    return n_fixed, n, mask


@compiled
def _fit_now(
    some, n_fixed, leaves, n, image, node, instead, mask, k, starts, holders, masks, weights, patterns, people
):  # fmt: skip
    """Count who fits if what is shown as a node were shown as another one (-1: not at all)."""
    used = n_fixed
    for j in range(n):
        to = image[leaves[j]]
        if to >= 0 and to == node:
            to = instead
        if to >= 0:
            some[used] = to
            used += 1
    return fitting(some, used, mask, starts, holders, masks, weights, patterns, people, k)


@compiled
def coarsen(
    failing, owners, classes, needs, is_free, tokens, indptr, units, unit_ends, class_of, parent, low, high,
    order, each, worst, amounts, k, starts, holders, masks, weights, patterns, people, some, leaves, image,
):  # fmt: skip
    """Coarsen an image until each set of known items fits k people, at the least loss for a person gained.

    Either what is shown as a node is shown as one above it, with all that is below it, or it is suppressed.
    """
    for i in range(owners.size):
        n_fixed, n, mask = _gather(
            failing[i], owners[i], classes, needs, is_free, tokens, indptr, units, unit_ends, class_of, some,
            leaves,
        )  # fmt: skip
        while True:
            now = _fit_now(
                some, n_fixed, leaves, n, image, -1, -1, mask, k, starts, holders, masks, weights, patterns,
                people,
            )  # fmt: skip
            if now >= k:
                break
            best, best_to, best_cost, best_gain = -1, -1, 0, 0
            last, last_cost = -1, 0
            for j in range(n):
                v = image[leaves[j]]
                if v < 0:
                    continue
                cost = 0
                for p in range(low[v], high[v]):
                    if image[order[p]] == v:
                        cost += amounts[order[p]] * (worst - each[v])
                if last < 0 or cost < last_cost:
                    last, last_cost = v, cost
                to = -1
                while True:
                    then = _fit_now(
                        some, n_fixed, leaves, n, image, v, to, mask, k, starts, holders, masks, weights,
                        patterns, people,
                    )  # fmt: skip
                    gain = min(then, k) - now
                    if to >= 0:
                        cost = 0
                        for p in range(low[to], high[to]):
                            leaf = order[p]
                            lost = worst if image[leaf] < 0 else each[image[leaf]]
                            cost += amounts[leaf] * (each[to] - lost)
                        cost = max(cost, 0)
                    if gain > 0 and (best < 0 or cost * best_gain < best_cost * gain):
                        best, best_to, best_cost, best_gain = v, to, cost, gain
                    to = parent[v] if to < 0 else parent[to]
                    if to < 0:
                        break
            if best < 0:
                best, best_to = last, -1
            if best < 0:
                break  # nothing is shown any more
            span = best if best_to < 0 else best_to
            for p in range(low[span], high[span]):
                if best_to >= 0 or image[order[p]] == best:
                    image[order[p]] = best_to


@compiled
def take_back(
    failing, owners, classes, needs, is_free, tokens, indptr, units, unit_ends, class_of, low, high, order,
    each, worst, amounts, k, starts, holders, masks, weights, patterns, people, some, leaves, image, safe,
):  # fmt: skip
    """Take back changes of a safe image until each set of known items fits k people, the cheapest first."""
    for i in range(owners.size):
        n_fixed, n, mask = _gather(
            failing[i], owners[i], classes, needs, is_free, tokens, indptr, units, unit_ends, class_of, some,
            leaves,
        )  # fmt: skip
        while True:
            now = _fit_now(
                some, n_fixed, leaves, n, image, -1, -1, mask, k, starts, holders, masks, weights, patterns,
                people,
            )  # fmt: skip
            if now >= k:
                break
            best, best_cost = -1, 0
            for j in range(n):
                leaf = leaves[j]
                if image[leaf] == safe[leaf]:
                    continue
                v = safe[leaf]
                span = image[leaf] if v < 0 else v
                then = worst if v < 0 else each[v]
                cost = 0
                for p in range(low[span], high[span]):
                    to = image[order[p]]
                    cost += amounts[order[p]] * (then - (worst if to < 0 else each[to]))
                if best < 0 or cost < best_cost:
                    best, best_cost = leaf, cost
            if best < 0:
                break
            v = safe[best]
            span = image[best] if v < 0 else v
            for p in range(low[span], high[span]):
                image[order[p]] = v
