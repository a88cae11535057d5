"""Compiled loops over the items that clusters share.

An entry is an item of a cluster: its cluster, its item, and in how many of the cluster's rows it is (0: the
entry is gone). Each entry is in two linked lists: that of its cluster and that of its item.
"""

from setveil.jit import compiled


@compiled
def link(cluster_of, item_of, first_of_cluster, next_of_cluster, first_of_item, next_of_item):
    """Link the entries; the first of all lists are -1 before."""
    for e in range(cluster_of.size - 1, -1, -1):
        next_of_cluster[e] = first_of_cluster[cluster_of[e]]
        first_of_cluster[cluster_of[e]] = e
        next_of_item[e] = first_of_item[item_of[e]]
        first_of_item[item_of[e]] = e


@compiled
def shared(
    c,
    sizes,
    cluster_of,
    item_of,
    times,
    first_of_cluster,
    next_of_cluster,
    first_of_item,
    next_of_item,
    common,
):
    """Add up, for each cluster, what it and cluster c have in common.

    `common` (clusters,), zero before: over all items the sum of the lesser of (c's rows with the item) *
    (rows of the other) and (the other's rows with the item) * (rows of c). Entries that are gone leave their
    item's list.
    """
    e = first_of_cluster[c]
    while e >= 0:
        before = -1
        f = first_of_item[item_of[e]]
        while f >= 0:
            after = next_of_item[f]
            if times[f] == 0:
                if before < 0:
                    first_of_item[item_of[e]] = after
                else:
                    next_of_item[before] = after
            else:
                d = cluster_of[f]
                common[d] += min(times[e] * sizes[d], times[f] * sizes[c])
                before = f
            f = after
        e = next_of_cluster[e]


@compiled
def unite(c, d, cluster_of, item_of, times, first_of_cluster, next_of_cluster, entry):
    """Make the items of cluster d those of c; `entry` (items,) is -1 before and after."""
    e = first_of_cluster[c]
    last = -1
    while e >= 0:
        entry[item_of[e]] = e
        last = e
        e = next_of_cluster[e]
    e = first_of_cluster[d]
    while e >= 0:
        after = next_of_cluster[e]
        same = entry[item_of[e]]
        if same >= 0:
            times[same] += times[e]
            times[e] = 0
        else:
            cluster_of[e] = c
            next_of_cluster[e] = -1
            if last < 0:
                first_of_cluster[c] = e
            else:
                next_of_cluster[last] = e
            last = e
        e = after
    first_of_cluster[d] = -1
    e = first_of_cluster[c]
    while e >= 0:
        entry[item_of[e]] = -1
        e = next_of_cluster[e]


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
