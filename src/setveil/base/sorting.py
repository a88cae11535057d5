"""The one place where compiled code sorts.

numba makes its own sorts again for each kernel that calls them. Their names say what is sorted and how many
functions the process had compiled before, but not whether the values are wanted or their places. So kernels
that different processes compiled and kept may hold different sorts under one name, and in one process all of
them would call the first. What stands here has a name of its own.
"""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled

SHORT = 32  # pieces up to this length are sorted by insertion, which needs no memory of its own


@compiled
def sort_piece(values, start, end):
    """Sort ``values[start:end]`` ascending and in place: runs by insertion, then merged two by two."""
    for first in range(start, end, SHORT):
        for p in range(first + 1, min(first + SHORT, end)):
            value = values[p]
            q = p
            while q > first and values[q - 1] > value:
                values[q] = values[q - 1]
                q -= 1
            values[q] = value
    if end - start <= SHORT:
        return
    left = np.empty(end - start, values.dtype)
    width = SHORT
    while width < end - start:
        for first in range(start, end - width, 2 * width):
            middle, last = first + width, min(first + 2 * width, end)
            if values[middle - 1] <= values[middle]:
                continue
            for p in range(width):
                left[p] = values[first + p]
            p, q, to = 0, middle, first
            while p < width and q < last:
                if left[p] <= values[q]:
                    values[to] = left[p]
                    p += 1
                else:
                    values[to] = values[q]
                    q += 1
                to += 1
            while p < width:
                values[to] = left[p]
                p += 1
                to += 1
        width *= 2
