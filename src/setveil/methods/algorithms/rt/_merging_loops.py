"""Compiled loops over the items that clusters share.

Those of cluster c, ascending, are ``item[start[c]:start[c] + length[c]]``, each in `times` of its rows.
"""

from setveil.base.jit import compiled


@compiled
def shared(c, others, sizes, start, length, item, times, of_c, common):
    """Add up what cluster c and each other have in common.

    `common` (others,): over all items the sum of the lesser of (c's rows with the item) * (rows of the other)
    and (the other's rows with the item) * (rows of c). `of_c` (items,) is 0 before and after.
    """
    for e in range(start[c], start[c] + length[c]):
        of_c[item[e]] = times[e]
    for i in range(others.size):
        d = others[i]
        found = 0
        for e in range(start[d], start[d] + length[d]):
            found += min(of_c[item[e]] * sizes[d], times[e] * sizes[c])
        common[i] = found
    for e in range(start[c], start[c] + length[c]):
        of_c[item[e]] = 0


@compiled
def pack(start, length, item, times, to_item, to_times):
    """Write the items of all clusters one after another; returns where they end."""
    end = 0
    for c in range(start.size):
        begin = end
        for e in range(start[c], start[c] + length[c]):
            to_item[end] = item[e]
            to_times[end] = times[e]
            end += 1
        start[c] = begin
    return end


@compiled
def unite(c, d, start, length, item, times, end):
    """Write the items of two clusters together after all others, as those of c; d has none then."""
    e, f, at = start[c], start[d], end
    last_e, last_f = e + length[c], f + length[d]
    while e < last_e or f < last_f:
        if f == last_f or (e < last_e and item[e] < item[f]):
            item[at], times[at] = item[e], times[e]
            e += 1
        elif e == last_e or item[f] < item[e]:
            item[at], times[at] = item[f], times[f]
            f += 1
        else:
            item[at], times[at] = item[e], times[e] + times[f]
            e += 1
            f += 1
        at += 1
    start[c], length[c], length[d] = end, at - end, 0
    return at


@compiled
def expansions(numerators, denominators, out):
    """Write the first 62 binary digits of each fraction below 1, rounded down, as an integer.

    Two fractions with denominators of at most 2^31 differ by at least 2^-62, and so do their integers.
    """
    for i in range(out.size):
        rest, denominator = numerators[i], denominators[i]
        if rest == 0:
            out[i] = 0
            continue
        step = 31 if denominator <= 1 << 31 else 1
        found = 0
        for _ in range(62 // step):
            rest <<= step
            found = (found << step) | (rest // denominator)
            rest %= denominator
        out[i] = found
