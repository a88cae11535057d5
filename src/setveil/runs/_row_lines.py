"""Lines of two numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.rows import frozen

_LONGEST = 2 * 19 + 2  # bytes of a line: two numbers of 64 bits, comma and line end


@compiled
def _put(number, end, out, at):
    digits = 1
    rest = number // 10
    while rest:
        digits += 1
        rest //= 10
    for place in range(at + digits - 1, at - 1, -1):
        out[place] = 48 + number % 10
        number //= 10
    out[at + digits] = end
    return at + digits + 1


@compiled
def _lines(first, values, out):
    at = 0
    for i in range(values.size):
        at = _put(first + i, 44, out, at)
        if values[i] >= 0:
            at = _put(values[i], 10, out, at)
        else:
            out[at] = 10
            at += 1
    return at


def numbered_lines(first: int, values: NDArray[np.int64]) -> bytes:
    """Write a line for each value: its place, counted from `first`, a comma, the value if it is one."""
    out = np.empty(_LONGEST * values.size, np.uint8)
    return out[: _lines(np.int64(first), frozen(values, np.int64), out)].tobytes()
