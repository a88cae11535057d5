"""Which items occur together: the most similar partners of each item, and groups of similar items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.rows import Ids, Ints, invert, item_supports


@compiled
def _partners(indptr, items, weights, supports, starts, tidlists, together, seen, partner, value):
    most = partner.shape[1]
    for x in range(starts.size - 1):
        n_seen = 0
        for p in range(starts[x], starts[x + 1]):
            row = tidlists[p]
            for q in range(indptr[row], indptr[row + 1]):
                y = np.int64(items[q])
                if together[y] == 0:
                    seen[n_seen] = y
                    n_seen += 1
                together[y] += weights[row]
        kept = 0
        for i in range(n_seen):
            y = np.int64(seen[i])
            both = np.float64(together[y])
            together[y] = 0
            if y == x:
                continue
            alike = both * both / (np.float64(supports[x]) * np.float64(supports[y]))
            # Insertion into a short list, best first; equally similar ones by id.
            at = kept
            while at > 0 and (
                value[x, at - 1] < alike or (value[x, at - 1] == alike and partner[x, at - 1] > y)
            ):
                at -= 1
            if at == most:
                continue
            kept = min(kept + 1, most)
            for j in range(kept - 1, at, -1):
                value[x, j] = value[x, j - 1]
                partner[x, j] = partner[x, j - 1]
            value[x, at] = alike
            partner[x, at] = y


def similar_items(
    indptr: Ints, items: Ids, weights: Ints, n_ids: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the `most` items most similar to each item, by the rows that they share, for their supports.

    The similarity is the squared cosine, sup(xy)² / (sup(x) sup(y)): the same order, and no root to round. It
    takes time proportional to the sum of the squared row lengths. `indptr`, `items`: int64 (n + 1,), int32
    (occurrences,). `weights`: int64 (n,), how many equal rows each represents, at least 1. Returns partners,
    most similar first, ties in item order, int32 (n_ids, most), -1 if there are no more; and squared cosines
    in (0, 1], float64 (n_ids, most), 0 if there is no partner.
    """
    starts, tidlists, _ = invert(indptr, items, n_ids)
    supports = item_supports(indptr, items, weights, n_ids)
    partner, value = np.full((n_ids, most), -1, np.int32), np.zeros((n_ids, most))
    together, seen = np.zeros(n_ids, np.int64), np.empty(n_ids, np.int64)
    _partners(indptr, items, weights, supports, starts, tidlists, together, seen, partner, value)
    return partner, value


@compiled
def _merge_pairs(left, right, limit, size, first, following, last):
    for i in range(left.size):
        a, b = first[left[i]], first[right[i]]
        if a != b and size[a] + size[b] <= limit:
            if b < a:
                a, b = b, a
            # Append list b to list a; a group is named by its smallest member.
            following[last[a]] = b
            last[a] = last[b]
            size[a] += size[b]
            member = b
            while member >= 0:
                first[member] = a
                member = following[member]


def group_similar(partner: Ids, value: NDArray[np.float64], limit: int) -> Ints:
    """Merge the most similar items first into groups of at most `limit`; return each smallest member."""
    n, most = partner.shape
    found = partner.ravel() >= 0
    x = np.repeat(np.arange(n, dtype=np.int64), most)[found]
    y = partner.ravel()[found].astype(np.int64)
    alike = value.ravel()[found]
    pairs, at = np.unique(np.minimum(x, y) * n + np.maximum(x, y), return_index=True)
    pairs = pairs[np.argsort(-alike[at], kind="stable")]
    first, last = np.arange(n, dtype=np.int64), np.arange(n, dtype=np.int64)
    _merge_pairs(pairs // n, pairs % n, limit, np.ones(n, np.int64), first, np.full(n, -1, np.int64), last)
    return first
