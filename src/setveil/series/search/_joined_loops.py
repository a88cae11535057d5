"""Compiled loops over the joined table: its tokens, who shows them, and which classes of known items are whose."""

from __future__ import annotations

from setveil.jit import compiled


@compiled
def count_tokens(indptr, units, tokens, parent, stamp, counts):
    """Count the rows that show each token, a node by all that is at or below it."""
    nodes = parent.size
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            for t in range(tokens.shape[1]):
                token = tokens[units[p], t]
                if token < 0:
                    continue
                while token >= 0 and stamp[token] != row:
                    stamp[token] = row
                    counts[token] += 1
                    token = parent[token] if token < nodes else -1


@compiled
def list_tokens(indptr, units, tokens, parent, stamp, at, holders):
    """List the rows that show each token, ascending."""
    nodes = parent.size
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            for t in range(tokens.shape[1]):
                token = tokens[units[p], t]
                if token < 0:
                    continue
                while token >= 0 and stamp[token] != row:
                    stamp[token] = row
                    holders[at[token]] = row
                    at[token] += 1
                    token = parent[token] if token < nodes else -1


@compiled
def is_holder(holders, start, stop, row):
    """Whether a row is in an ascending part of a list."""
    end = stop
    while start < stop:
        middle = (start + stop) // 2
        if holders[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start < end and holders[start] == row


@compiled
def fitting(tokens, n, mask, starts, holders, masks, weights, patterns, people, enough):
    """Count people who show all of n tokens and are in all releases of a mask, at least until there are enough.

    Parameters
    ----------
    tokens : int64
        The first n count.
    starts, holders : int64 (tokens + 1,), int32
        The rows that show each token.
    masks, weights : int64 (rows,)
        The releases, a bit each, that each row is in, and its number of people.
    patterns, people : int64
        The different masks, and the number of people of each.
    """
    found = 0
    if n == 0:
        for i in range(patterns.size):
            if patterns[i] & mask == mask:
                found += people[i]
        return found
    first = 0
    for i in range(1, n):
        if starts[tokens[i] + 1] - starts[tokens[i]] < starts[tokens[first] + 1] - starts[tokens[first]]:
            first = i
    for p in range(starts[tokens[first]], starts[tokens[first] + 1]):
        row = holders[p]
        if masks[row] & mask != mask:
            continue
        fits = True
        for i in range(n):
            if i != first and not is_holder(holders, starts[tokens[i]], starts[tokens[i] + 1], row):
                fits = False
                break
        if fits:
            found += weights[row]
            if found >= enough:
                return found
    return found


@compiled
def rows_of_classes(classes, needs, starts, holders, masks, ends, rows):
    """List the rows that show all tokens of each class and are in all its releases."""
    some = classes[0].copy()
    filled = 0
    for c in range(classes.shape[0]):
        n = 0
        for t in range(classes.shape[1]):
            if classes[c, t] >= 0:
                some[n] = classes[c, t]
                n += 1
        mask = needs[c]
        if n == 0:
            for row in range(masks.size):
                if masks[row] & mask == mask:
                    rows[filled] = row
                    filled += 1
        else:
            first = 0
            for i in range(1, n):
                if starts[some[i] + 1] - starts[some[i]] < starts[some[first] + 1] - starts[some[first]]:
                    first = i
            for p in range(starts[some[first]], starts[some[first] + 1]):
                row = holders[p]
                if masks[row] & mask != mask:
                    continue
                fits = True
                for i in range(n):
                    if i != first and not is_holder(holders, starts[some[i]], starts[some[i] + 1], row):
                        fits = False
                        break
                if fits:
                    rows[filled] = row
                    filled += 1
        ends[c + 1] = filled
    return filled


@compiled
def mark_owned(indptr, units, class_ends, class_of, shown_ends, shown, places, stamp, owned, owned_there):
    """Tell which of the classes that a row shows it also has, in the order of rows and in that of classes."""
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            for q in range(class_ends[units[p]], class_ends[units[p] + 1]):
                stamp[class_of[q]] = row
        for p in range(shown_ends[row], shown_ends[row + 1]):
            if stamp[shown[p]] == row:
                owned[p] = 1
                owned_there[places[p]] = 1
