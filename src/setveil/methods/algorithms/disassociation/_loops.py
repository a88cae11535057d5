"""The loops of disassociation: rows are split into clusters, and the items of a cluster put into chunks.

Sets of rows are bits, `BITS` of them in a number, so that none is ever negative.
"""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.base.sorting import sort_piece

BITS = 32
TERM, OPEN = -1, -2  # instead of a chunk: the term chunk; nothing yet


@compiled
def split_rows(indptr, items, n_items, least, limit, order, ends):
    """Split rows on the most frequent item that leaves `least` rows on both sides; count the parts.

    No row is empty. An item that was split on is in all rows of the part with it and in none of the other, so
    that it is never chosen again. order: int64 (n,), written: all rows, part by part, those with an item
    before those without; ends: int64 (n,), written: where each part ends.
    """
    counts, touched = np.zeros(n_items, np.int64), np.empty(n_items, np.int64)
    aside, waiting = np.empty(order.size, np.int64), np.empty(order.size + 1, np.int64)
    waiting[0], depth = order.size, 1
    start, parts = 0, 0
    while depth > 0:
        end = waiting[depth - 1]
        size = end - start
        best = -1
        if size > limit:
            found = 0
            for at in range(start, end):
                for p in range(indptr[order[at]], indptr[order[at] + 1]):
                    item = np.int64(items[p])
                    if counts[item] == 0:
                        touched[found] = item
                        found += 1
                    counts[item] += 1
            for t in range(found):
                item = touched[t]
                n = counts[item]
                if n < least or size - n < least:
                    continue
                if best < 0 or n > counts[best] or (n == counts[best] and item < best):
                    best = item
            for t in range(found):
                counts[touched[t]] = 0
        if best < 0:
            ends[parts] = end
            parts += 1
            start = end
            depth -= 1
            continue
        inside, outside = start, 0
        for at in range(start, end):
            row = order[at]
            holds = False
            for p in range(indptr[row], indptr[row + 1]):
                if items[p] == best:
                    holds = True
                    break
            if holds:
                order[inside] = row
                inside += 1
            else:
                aside[outside] = row
                outside += 1
        for at in range(outside):
            order[inside + at] = aside[at]
        waiting[depth] = inside
        depth += 1
    return parts


@compiled
def _count(bits):
    total = np.int64(0)
    for w in range(bits.size):
        x = bits[w]
        x = x - ((x >> 1) & 0x55555555)
        x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
        x = (x + (x >> 4)) & 0x0F0F0F0F
        total += ((x * 0x01010101) & 0xFFFFFFFF) >> 24
    return total


@compiled
def _both(some, others, out):
    for w in range(some.size):
        out[w] = some[w] & others[w]
    return _count(out)


@compiled
def _only(some, others, out):
    for w in range(some.size):
        out[w] = some[w] & ~others[w]
    return _count(out)


@compiled
def _few_known(bits, inside, size, item, k, most):
    """Whether the item and up to `most` of a chunk's items are together in some rows, but fewer than k."""
    held, count = np.empty((most + 1, bits.shape[1]), np.int64), np.empty(most + 1, np.int64)
    at = np.zeros(most + 1, np.int64)
    held[0] = bits[item]
    count[0] = _count(bits[item])
    depth = 0
    while depth >= 0:
        if at[depth] == size:
            depth -= 1
            continue
        other = inside[at[depth]]
        at[depth] += 1
        n = _both(held[depth], bits[other], held[depth + 1])
        if n == 0:
            continue
        if n < k:
            return True
        # An item that is in all of these rows changes no support.
        if depth + 1 < most and n < count[depth]:
            depth += 1
            at[depth], count[depth] = at[depth - 1], n
    return False


@compiled
def _all_known(bits, inside, size, item, k):
    """Whether what some row has of the item and all of a chunk's items is in fewer than k rows."""
    width = bits.shape[1]
    members, holders = np.empty((size + 1, width), np.int64), np.empty((size + 1, width), np.int64)
    state = np.zeros(size + 1, np.int64)
    members[0], holders[0] = bits[item], bits[item]
    depth = 0
    while depth >= 0:
        if depth == size or state[depth] == 2:
            depth -= 1
            continue
        other = inside[depth]
        state[depth] += 1
        if state[depth] == 1:
            if _both(members[depth], bits[other], members[depth + 1]) == 0:
                continue
            if _both(holders[depth], bits[other], holders[depth + 1]) < k:
                return True
        else:
            if _only(members[depth], bits[other], members[depth + 1]) == 0:
                continue
            holders[depth + 1] = holders[depth]
        depth += 1
        state[depth] = 0
    return False


@compiled
def _fits(bits, inside, size, item, k, m):
    """Whether a k^m-anonymous chunk stays so with an item that is in k rows or more."""
    if m == 1 or size == 0:
        return True
    if size < m:
        return not _all_known(bits, inside, size, item, k)
    return not _few_known(bits, inside, size, item, k, m - 1)


@compiled
def _parts(bits, chunk_of, chunk):
    """Count the rows that contain an item of a chunk."""
    any_of = np.zeros(bits.shape[1], np.int64)
    for r in range(chunk_of.size):
        if chunk_of[r] == chunk:
            for w in range(any_of.size):
                any_of[w] |= bits[r, w]
    return _count(any_of)


@compiled
def _are_few(parts, chunks, size, k, m):
    """Whether rows could stay empty while k of them contain the known items."""
    return chunks == 0 or parts < size + k * (min(m, chunks) - 1)


@compiled
def fill_chunks(starts, pairs, rows, apart, k, m, clusters, place, chunks, few):
    """Put the items of each cluster into record chunks and its term chunk.

    starts: two int64 (clusters + 1,), where the rows of each cluster begin, and its pairs of a cluster and an
    item, in item order; pairs: where the rows of each pair begin, which are those with the item; apart: bool
    (pairs,), items with a separate chunk; clusters: (first, behind the last), those to do. Written:

    - place: int64 (pairs,), the chunk of each item, counted in its cluster from 0, or `TERM`
    - chunks: int64 (clusters,), number of record chunks
    - few: bool (clusters,), whether there are too few parts to do without a term chunk
    """
    first_row, first_pair = starts
    for c in range(clusters[0], clusters[1]):
        size, begin = first_row[c + 1] - first_row[c], first_pair[c]
        n = first_pair[c + 1] - begin
        keys, many = np.empty(n, np.int64), 0
        for p in range(n):
            support = pairs[begin + p + 1] - pairs[begin + p]
            place[begin + p] = TERM
            if support >= k:
                keys[many] = (size - support) * n + p
                many += 1
        sort_piece(keys, 0, many)
        bits, chunk_of = np.zeros((many, (size + BITS - 1) // BITS), np.int64), np.full(many, OPEN, np.int64)
        found, left = 0, many
        for r in range(many):
            p = begin + keys[r] % n
            for at in range(pairs[p], pairs[p + 1]):
                row = rows[at] - first_row[c]
                bits[r, row // BITS] |= np.int64(1) << (row % BITS)
            if apart[p]:
                chunk_of[r] = found
                found += 1
                left -= 1
        inside = np.empty(many, np.int64)
        while left > 0:
            used = 0
            for r in range(many):
                if chunk_of[r] == OPEN and _fits(bits, inside, used, r, k, m):
                    inside[used] = r
                    used += 1
                    chunk_of[r] = found
                    left -= 1
            found += 1
        parts = np.int64(0)
        for chunk in range(found):
            parts += _parts(bits, chunk_of, chunk)
        if many == n and _are_few(parts, found, size, k, m):
            least = 0
            for r in range(1, many):
                if keys[r] // n > keys[least] // n:
                    least = r
            chunk = chunk_of[least]
            parts -= _parts(bits, chunk_of, chunk)
            chunk_of[least] = TERM
            rest = _parts(bits, chunk_of, chunk)
            parts += rest
            if rest == 0:
                found -= 1
                for r in range(many):
                    if chunk_of[r] > chunk:
                        chunk_of[r] -= 1
        for r in range(many):
            place[begin + keys[r] % n] = chunk_of[r]
        chunks[c] = found
        few[c] = _are_few(parts, found, size, k, m)


@compiled
def fill_shared(holders, rows, terms, cluster_ptr, clusters, k, m, chunk_of):
    """Put items of term chunks into shared chunks, as long as no cluster loses the last term that it needs.

    holders: int64 (items + 1,), where the rows of each item begin, frequent items first; rows are numbered
    from 0. terms: int64 (clusters,), written: how many items the term chunk of each may lose at most.
    cluster_ptr, clusters: the clusters that hold each item. chunk_of: int64 (items,), written: the shared
    chunk, from 0, or `OPEN`: it stays in the term chunks. Returns the number of shared chunks.
    """
    many, most = holders.size - 1, np.int64(0)
    for at in range(rows.size):
        most = max(most, rows[at] + 1)
    bits = np.zeros((many, (most + BITS - 1) // BITS), np.int64)
    for r in range(many):
        chunk_of[r] = OPEN
        for at in range(holders[r], holders[r + 1]):
            bits[r, rows[at] // BITS] |= np.int64(1) << (rows[at] % BITS)
    inside = np.empty(many, np.int64)
    found = 0
    while True:
        used = 0
        for r in range(many):
            if chunk_of[r] != OPEN:
                continue
            can = True
            for at in range(cluster_ptr[r], cluster_ptr[r + 1]):
                if terms[clusters[at]] == 0:
                    can = False
                    break
            if not can or not _fits(bits, inside, used, r, k, m):
                continue
            for at in range(cluster_ptr[r], cluster_ptr[r + 1]):
                terms[clusters[at]] -= 1
            inside[used] = r
            used += 1
            chunk_of[r] = found
        if used == 0:
            return found
        found += 1
