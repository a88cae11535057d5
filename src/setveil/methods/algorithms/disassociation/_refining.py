"""Items that are rare in each of several clusters, but not in all together: REFINE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.kernels.rows import Ints, frozen
from setveil.methods.algorithms.disassociation._clusters import Clusters, Filled
from setveil.methods.algorithms.disassociation._loops import TERM, fill_shared

Shared = tuple[tuple[int, ...], tuple[int, ...]]  # clusters, items
_ALL = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class _JointClusters:
    """Clusters with shared chunks in common."""

    number: int  # which group it is
    clusters: tuple[int, ...]  # ascending
    held: dict[int, tuple[tuple[int, ...], Ints]]  # items of term chunks: clusters, and rows, that hold them
    placed: set[int]  # items in a record chunk of some cluster, or in a shared chunk
    key: tuple[int, ...]  # the items of `held`, ascending


def shared_chunks(
    clusters: Clusters, filled: Filled, k: int, m: int, secret: NDArray[np.bool_], progress: Progress
) -> list[Shared]:
    """Join neighbours in the order of their term chunks, and give them shared chunks, until nothing changes.

    `secret` items are never shared. Two groups not joined are not tried again: the result would be the same.
    """
    made: list[Shared] = []
    groups, spare = _alone(clusters, filled, secret)
    tried: set[tuple[int, int]] = set()
    last, joined = len(groups), True
    while joined:
        joined = False
        groups.sort(key=lambda group: (group.key, group.clusters[0]))
        after: list[_JointClusters] = []
        i = 0
        while i < len(groups):
            if i % 64 == 0:
                progress("joining clusters")
            both = groups[i : i + 2]
            pair = (both[0].number, both[-1].number)
            found = [] if len(both) < 2 or pair in tried else _shared(both[0], both[1], k, m, spare)
            if not found:
                tried.add(pair)
                after.append(both[0])
                i += 1
                continue
            scope = tuple(sorted(both[0].clusters + both[1].clusters))
            made += [(scope, items) for items in found]
            last += 1
            after.append(_together(last, both[0], both[1], scope, {x for items in found for x in items}))
            joined = True
            i += 2
        groups = after
    return made


def _alone(
    clusters: Clusters, filled: Filled, secret: NDArray[np.bool_]
) -> tuple[list[_JointClusters], Ints]:
    """Make a group of each cluster; say how many items each term chunk may lose at most."""
    groups = []
    spare = np.full(clusters.number, _ALL, np.int64)
    for c in range(clusters.number):
        held: dict[int, tuple[tuple[int, ...], Ints]] = {}
        placed, terms = set(), 0
        for p in range(clusters.first_pair[c], clusters.first_pair[c + 1]):
            item = int(clusters.item[p])
            if filled.place[p] != TERM:
                placed.add(item)
                continue
            terms += 1
            if not secret[item]:
                held[item] = ((c,), clusters.holders[clusters.starts[p] : clusters.starts[p + 1]])
        # Secret items stay in their term chunk, so that it is never empty.
        if filled.few[c] and terms == len(held):
            spare[c] = terms - 1
        groups.append(_JointClusters(c, (c,), held, placed, _key(clusters, filled, c)))
    return groups, spare


def _key(clusters: Clusters, filled: Filled, c: int) -> tuple[int, ...]:
    span = slice(clusters.first_pair[c], clusters.first_pair[c + 1])
    return tuple(clusters.item[span][filled.place[span] == TERM].tolist())


def _shared(one: _JointClusters, other: _JointClusters, k: int, m: int, spare: Ints) -> list[tuple[int, ...]]:
    """Find the items of each shared chunk of two groups."""
    common = one.held.keys() & other.held.keys()
    rows_of = {}
    for item in common:
        if item not in one.placed and item not in other.placed:
            both = (one.held[item][1], other.held[item][1])
            if both[0].size + both[1].size >= k:
                rows_of[item] = np.concatenate(both)
    if not rows_of:
        return []
    order = sorted(rows_of, key=lambda item: (-rows_of[item].size, item))
    rows = np.unique(np.concatenate([rows_of[item] for item in order]), return_inverse=True)[1]
    holders = np.cumsum([0, *(rows_of[item].size for item in order)])
    scopes = [one.held[item][0] + other.held[item][0] for item in order]
    cluster_ptr = np.cumsum([0, *map(len, scopes)])
    of_items = np.array([c for scope in scopes for c in scope], np.int64)
    chunk_of = np.empty(len(order), np.int64)
    found = fill_shared(
        frozen(holders, np.int64), frozen(rows, np.int64), spare, frozen(cluster_ptr, np.int64),
        frozen(of_items, np.int64), k, m, chunk_of,
    )  # fmt: skip
    return [tuple(order[r] for r in np.flatnonzero(chunk_of == chunk).tolist()) for chunk in range(found)]


def _together(
    number: int, one: _JointClusters, other: _JointClusters, scope: tuple[int, ...], shared: set[int]
) -> _JointClusters:
    """Join two groups after some of their items have moved to shared chunks."""
    held = {item: found for item, found in one.held.items() if item not in shared}
    for item, (where, rows) in other.held.items():
        if item in shared:
            continue
        mine = held.get(item)
        held[item] = (where, rows) if mine is None else (mine[0] + where, np.concatenate((mine[1], rows)))
    key = tuple(sorted({*one.key, *other.key} - shared))
    return _JointClusters(number, scope, held, one.placed | other.placed | shared, key)
