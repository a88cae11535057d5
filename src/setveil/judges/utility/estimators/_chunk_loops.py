"""Estimate, and bound, the rows in chunks that contain some items."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled

TERM = -1  # instead of a chunk


@compiled
def answer_chunks(
    ends, flat, starts, cluster, chunk, share, held, parts, sizes, chunk_rows, first_cluster, first_shared,
    most, secret, estimate, least, greatest,
):  # fmt: skip
    """Answer queries (see `chunks.ChunkEstimator`, which has these arrays)."""
    longest = 1
    for q in range(ends.size - 1):
        longest = max(longest, ends[q + 1] - ends[q])
    at, done = np.empty(longest, np.int64), np.empty(longest, np.bool_)
    widest = 1
    for e in range(held.shape[0]):
        widest = max(widest, held[e, 1] - held[e, 0])
    left = np.empty(widest, np.int64)
    for q in range(ends.size - 1):
        begin, size = ends[q], ends[q + 1] - ends[q]
        for i in range(size):
            at[i] = starts[flat[begin + i]]
        for e in range(at[0], starts[flat[begin] + 1]):
            c = cluster[e]
            at[0] = e
            common = True
            for i in range(1, size):
                stop = starts[flat[begin + i] + 1]
                while at[i] < stop and cluster[at[i]] < c:
                    at[i] += 1
                common = common and at[i] < stop and cluster[at[i]] == c
            if not common:
                continue
            n = sizes[c]
            chance, used, terms, shown, bound, shared = 1.0, 0, 0, 0, n, -1
            for i in range(size):
                done[i] = False
            for i in range(size):
                if done[i]:
                    continue
                used += 1
                j = chunk[at[i]]
                if j == TERM:
                    terms += 1
                    chance *= share[at[i]]
                    continue
                start, rows = held[at[i], 0], held[at[i], 1] - held[at[i], 0]
                sensitive = secret[flat[begin + i]]
                together = False
                for h in range(i + 1, size):  # other items of the chunk: the parts that hold them, too
                    if chunk[at[h]] != j:
                        continue
                    if not together:
                        for p in range(rows):
                            left[p] = parts[start + p]
                    together = done[h] = True
                    sensitive = sensitive or secret[flat[begin + h]]
                    rows = _both(left, rows, parts, held[at[h], 0], held[at[h], 1])
                chance *= rows / chunk_rows[j] if together else share[at[i]]
                shown += rows
                if not (sensitive and rows >= most[c]):
                    bound = min(bound, rows)
                if j >= first_shared:
                    shared = j
            estimate[q] += n * chance
            if shared >= 0 and used == 1:  # counted once for all clusters of the chunk
                if first_cluster[shared] == c:
                    least[q] += shown
                    greatest[q] += shown
                continue
            greatest[q] += bound
            if shared < 0:
                least[q] += max(0, shown + terms - (used - 1) * n)


@compiled
def _both(left, size, parts, start, stop):
    """Keep of the first numbers of `left` those that are in a piece of `parts`; both ascend."""
    kept = 0
    for p in range(size):
        while start < stop and parts[start] < left[p]:
            start += 1
        if start < stop and parts[start] == left[p]:
            left[kept] = left[p]
            kept += 1
    return kept
