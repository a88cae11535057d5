"""Compiled loops over what values lose that are published together.

A loss is a row of digits, the lowest first, each of `bits` bits and all but the last from 0 to 2^bits - 1: so
it is exact at any size. Where a single digit holds everything, as it does for most tables, it is a plain
integer.

The geometry of the columns, arguments of all loops: nodes of column a are ``starts[a]:starts[a + 1]``, its
values first; ``kind[a]`` is 0 for a hierarchy, 1 for ranges, 2 for ranges with a missing value (value 0);
`parent`, `low` and `high` as in `QuasiIdentifier`, without offset; `loss` (nodes, digits) is what publishing
a node loses, or the position of a value of ranges; `full` (columns, digits) is the most that a column can
lose.
"""

from setveil.jit import compiled


@compiled
def carry(digits, bits):
    """Bring all digits but the last into their range."""
    for j in range(digits.size - 1):
        over = digits[j] >> bits
        digits[j] -= over << bits
        digits[j + 1] += over


@compiled
def is_less(one, other):
    """Whether one loss is less than another."""
    for j in range(one.size - 1, -1, -1):
        if one[j] != other[j]:
            return one[j] < other[j]
    return False


@compiled
def add_loss(starts, parent, low, high, loss, full, kind, a, least, greatest, out):
    """Add what publishing an interval of values of column a together loses; digits are not carried."""
    start = starts[a]
    if kind[a] == 0:
        v = least
        while high[start + v] <= greatest:
            v = parent[start + v]
        for j in range(out.size):
            out[j] += loss[start + v, j]
    elif kind[a] == 2 and least == 0 and greatest > 0:
        for j in range(out.size):
            out[j] += full[a, j]
    else:
        for j in range(out.size):
            out[j] += loss[start + greatest, j] - loss[start + least, j]


@compiled
def interval_losses(starts, parent, low, high, loss, full, kind, bits, least, greatest, out):
    """Compute what one row of each part loses, from the intervals (columns, parts) of its values.

    `out` (parts, digits) is zero before.
    """
    for d in range(least.shape[1]):
        for a in range(least.shape[0]):
            add_loss(starts, parent, low, high, loss, full, kind, a, least[a, d], greatest[a, d], out[d])
        carry(out[d], bits)


@compiled
def joined_scores(
    starts, parent, low, high, loss, full, kind, bits, least, greatest, sizes, own, c, others, out
):
    """Compute what part c and each other part lose together, less what the other loses now.

    `own` (parts, digits) is what one row of each part loses; `out` (others, digits) is zero before.
    """
    for i in range(others.size):
        d = others[i]
        score = out[i]
        for a in range(least.shape[0]):
            first = min(least[a, c], least[a, d])
            last = max(greatest[a, c], greatest[a, d])
            add_loss(starts, parent, low, high, loss, full, kind, a, first, last, score)
        carry(score, bits)
        for j in range(score.size):
            score[j] = score[j] * (sizes[c] + sizes[d]) - own[d, j] * sizes[d]
        carry(score, bits)
