"""Compiled loops over the joined table: its tokens, who shows them, and who has which known items."""

from __future__ import annotations

from setveil.base.jit import compiled


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
def _rarest(tokens, n, starts):
    """Find which of n tokens the fewest rows show."""
    first = 0
    for i in range(1, n):
        if starts[tokens[i] + 1] - starts[tokens[i]] < starts[tokens[first] + 1] - starts[tokens[first]]:
            first = i
    return first


@compiled
def _shows_others(tokens, n, first, row, starts, holders):
    """Whether a row shows all of n tokens but one, of which that is known."""
    for i in range(n):
        if i == first:
            continue
        start, end = starts[tokens[i]], starts[tokens[i] + 1]
        stop = end
        while start < stop:
            middle = (start + stop) // 2
            if holders[middle] < row:
                start = middle + 1
            else:
                stop = middle
        if start == end or holders[start] != row:
            return False
    return True


@compiled
def fitting(tokens, n, mask, starts, holders, masks, weights, patterns, people, enough):
    """Count who shows the first n tokens and is in all releases of a mask, at least until there are enough.

    starts, holders: int64 (tokens + 1,), int32, the rows that show each token; masks, weights: int64 (rows,),
    the releases, a bit each, and the people of each row; patterns, people: the different masks, and the
    people of each.
    """
    found = 0
    if n == 0:
        for i in range(patterns.size):
            if patterns[i] & mask == mask:
                found += people[i]
        return found
    first = _rarest(tokens, n, starts)
    for p in range(starts[tokens[first]], starts[tokens[first] + 1]):
        row = holders[p]
        if masks[row] & mask == mask and _shows_others(tokens, n, first, row, starts, holders):
            found += weights[row]
            if found >= enough:
                return found
    return found


@compiled
def rows_of_classes(classes, needs, starts, holders, masks, some, ends, rows):
    """List the rows that show all tokens of each class and are in all its releases."""
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
            first = _rarest(some, n, starts)
            for p in range(starts[some[first]], starts[some[first] + 1]):
                row = holders[p]
                if masks[row] & mask == mask and _shows_others(some, n, first, row, starts, holders):
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
