"""In how many rows the keys of a row are: sets of m of its items."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled
from setveil.kernels.count import next_places
from setveil.kernels.walk import support


@compiled
def look_at_keys(
    indptr, items, starts, tidlists, weights, first, last, m, most, ways, words, enough, bounds, one, two,
    three, least, inverse, below,
):  # fmt: skip
    """Count the keys of the distinct rows ``first:last`` of ranks among other rows (`starts` and so on).

    Keys have `m` items. At most `most` of a row are looked at, chosen by its word; `ways` is the number of
    keys by length of row. Counting ends at `enough`. Results: see
    `setveil.judges.attacker.population.RowKeys`.
    """
    nowhere = np.empty(0, np.int64)
    for row in range(first, last):
        held = items[indptr[row] : indptr[row + 1]].astype(np.int64)
        size = min(m, held.size)
        whole = held.size <= m or ways[held.size] <= most
        at = np.arange(size)
        bits = words[row]
        fewest, number, more = np.int64(1) << 62, 0, True
        while more:
            if not whole:
                for j in range(size):  # the first places of a shuffle
                    bits += np.uint64(0x9E3779B97F4A7C15)
                    word = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    word ^= word >> np.uint64(31)
                    other = j + np.int64(word % np.uint64(held.size - j))
                    held[j], held[other] = held[other], held[j]
            rows = support(starts, tidlists, weights, held[at], enough, nowhere)[0]
            one[row] += rows == 1
            two[row] += rows == 2
            three[row] += rows == 3
            inverse[row] += 1.0 / max(rows, 1)
            for j in range(bounds.size):
                below[j, row] += rows < bounds[j]
            fewest = min(fewest, rows)
            number += 1
            more = next_places(at, -1, held.size) if whole else number < most
        one[row] /= number
        two[row] /= number
        three[row] /= number
        inverse[row] /= number
        below[:, row] /= number
        least[row] = fewest
