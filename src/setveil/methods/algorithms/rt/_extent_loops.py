"""Compiled loops over what values lose that are published together.

A loss is a row of digits, the lowest first, each of `bits` bits and all but the last from 0 to 2^bits - 1:
exact at any size. Where a single digit holds everything, as for most tables, it is a plain integer.

The geometry of the columns, arguments of all loops: nodes of column a are ``starts[a]:starts[a + 1]``, its
values first; ``kind[a]`` is 0 for a hierarchy, 1 for ranges, 2 for ranges with a missing value (value 0);
`parent`, `low` and `high` as in `QuasiIdentifier`, without offset; `loss` (nodes, digits) is what publishing
a node loses, or where each value of ranges ends, and after all of these where each begins; `full` (columns,
digits) is the most that a column can lose.
"""

from setveil.base.jit import compiled


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
        begins = (start + starts[a + 1]) // 2
        for j in range(out.size):
            out[j] += loss[start + greatest, j] - loss[begins + least, j]


@compiled
def interval_losses(starts, parent, low, high, loss, full, kind, bits, least, greatest, out):
    """Compute what one row of each part loses, from the intervals of its values; out is zero before."""
    for d in range(least.shape[1]):
        for a in range(least.shape[0]):
            add_loss(starts, parent, low, high, loss, full, kind, a, least[a, d], greatest[a, d], out[d])
        carry(out[d], bits)


@compiled
def _add_short(starts, parent, low, high, loss, full, kind, a, least, greatest, c, others, joined, out):
    """Add what part c and each other part lose together in column a, where all losses have one digit."""
    start, lo, hi = starts[a], least[a, c], greatest[a, c]
    if kind[a] == 0:
        # The nodes above c lie on one path, so of those above c and either end of the other the upper counts.
        v = lo
        while high[start + v] <= hi:
            v = parent[start + v]
        first = last = low[start + v]
        while v >= 0:
            for x in range(low[start + v], first):
                joined[x] = loss[start + v, 0]
            for x in range(last, high[start + v]):
                joined[x] = loss[start + v, 0]
            first, last = low[start + v], high[start + v]
            v = parent[start + v]
        for i in range(others.size):
            out[i, 0] += max(joined[least[a, others[i]]], joined[greatest[a, others[i]]])
    else:
        begins = (start + starts[a + 1]) // 2
        for i in range(others.size):
            first, last = min(lo, least[a, others[i]]), max(hi, greatest[a, others[i]])
            mixed = kind[a] == 2 and first == 0 and last > 0
            out[i, 0] += full[a, 0] if mixed else loss[start + last, 0] - loss[begins + first, 0]


@compiled
def joined_scores(
    starts, parent, low, high, loss, full, kind, bits, least, greatest, sizes, own, c, others, joined, out
):
    """Compute in `out` what part c and each other part lose together, less what the other loses now (own)."""
    short = out.shape[1] == 1
    for a in range(least.shape[0]):
        if short:
            _add_short(
                starts, parent, low, high, loss, full, kind, a, least, greatest, c, others, joined, out
            )
            continue
        for i in range(others.size):
            first, last = min(least[a, c], least[a, others[i]]), max(greatest[a, c], greatest[a, others[i]])
            add_loss(starts, parent, low, high, loss, full, kind, a, first, last, out[i])
    for i in range(others.size):
        d, score = others[i], out[i]
        carry(score, bits)
        for j in range(score.size):
            score[j] = score[j] * (sizes[c] + sizes[d]) - own[d, j] * sizes[d]
        carry(score, bits)
