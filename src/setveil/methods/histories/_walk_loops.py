"""Compiled walk over what attackers may know: sets of classes of known items that too few people fit."""

from __future__ import annotations

from setveil.base.jit import compiled
from setveil.methods.histories._joined_loops import fitting


@compiled
def _later(shown, start, stop, c):
    """Find where in an ascending part of a list what is greater than c begins."""
    while start < stop:
        middle = (start + stop) // 2
        if shown[middle] <= c:
            start = middle + 1
        else:
            stop = middle
    return start


@compiled
def _known_before(
    chosen, n, classes, needs, is_old, old, k, some, starts, holders, masks, weights, patterns, people
):  # fmt: skip
    """Whether too few people fitted in the earlier releases (bits of `old`) already."""
    n_tokens, mask = 0, 0
    for i in range(n):
        c = chosen[i]
        mask |= needs[c] & old
        for t in range(classes.shape[1]):
            if is_old[t] == 1 and classes[c, t] >= 0:
                some[n_tokens] = classes[c, t]
                n_tokens += 1
    if n_tokens == 0 and mask == 0:
        return False
    return fitting(some, n_tokens, mask, starts, holders, masks, weights, patterns, people, k) < k


@compiled
def walk(
    first, size, k, limit, values, class_ends, class_rows, owned_there, support, shown_ends, shown, owned,
    classes, needs, is_old, old, starts, holders, masks, weights, patterns, people, rows, has, count, owner,
    touched, some, chosen, spent, place, out, owners, marks, most_steps,
):  # fmt: skip
    """List sets of classes of up to `size` that someone has, but fewer than k people show.

    From class `first` on: classes are numbered from rare to frequent. Sets whose values add up to the limit
    or more are not looked at, nor those whose part without the last class is rare already. out: int64 (most,
    size), written, filled up by -1, and owners, someone who has each. If marks: uint8 (rows,) is not empty,
    all who have one of the sets are marked, and nothing is listed. After `most_steps` the walk pauses at the
    next class.

    Workspace: rows int32 and has uint8 (size, rows); count, owner, touched: int64 (size, classes) of 0, of
    -1, of anything; some (size times releases), chosen (size,), spent float64 (size,), place (3, size).
    Returns how many sets were found, and the class to go on with: the number of classes if the walk is over.
    """
    n_classes = values.size
    found, steps = 0, 0
    listed, n_touched, at = place[0], place[1], place[2]
    for c0 in range(first, n_classes):
        if steps > most_steps or (marks.size == 0 and found == owners.size):
            return found, c0
        if values[c0] >= limit:
            continue
        chosen[0], spent[0] = c0, values[c0]
        start, stop = class_ends[c0], class_ends[c0 + 1]
        if support[c0] < k:
            if old != 0 and _known_before(
                chosen, 1, classes, needs, is_old, old, k, some, starts, holders, masks, weights, patterns,
                people,
            ):  # fmt: skip
                continue
            for p in range(start, stop):
                if owned_there[p] == 1:
                    if marks.size > 0:
                        marks[class_rows[p]] = 1
                        continue
                    out[found, :] = -1
                    out[found, 0], owners[found] = c0, class_rows[p]
                    found += 1
                    break
            continue
        if size < 2:
            continue
        listed[0] = stop - start
        for p in range(start, stop):
            rows[0, p - start], has[0, p - start] = class_rows[p], owned_there[p]
        level, fresh = 0, True
        while level >= 0:
            if fresh:
                # Count who shows what, of the rows of the set, and name somebody who has it all.
                fresh = False
                n = 0
                for i in range(listed[level]):
                    row = rows[level, i]
                    begin = _later(shown, shown_ends[row], shown_ends[row + 1], chosen[level])
                    steps += shown_ends[row + 1] - begin + 1
                    for p in range(begin, shown_ends[row + 1]):
                        c = shown[p]
                        if count[level, c] == 0:
                            touched[level, n] = c
                            n += 1
                        count[level, c] += weights[row]
                        if owned[p] == 1 and has[level, i] == 1 and owner[level, c] < 0:
                            owner[level, c] = row
                n_touched[level], at[level] = n, 0
            if at[level] == n_touched[level]:
                for i in range(n_touched[level]):
                    count[level, touched[level, i]] = 0
                    owner[level, touched[level, i]] = -1
                level -= 1
                continue
            c = touched[level, at[level]]
            at[level] += 1
            if owner[level, c] < 0 or spent[level] + values[c] >= limit:
                continue
            if count[level, c] < k:
                chosen[level + 1] = c
                if old != 0 and _known_before(
                    chosen, level + 2, classes, needs, is_old, old, k, some, starts, holders, masks, weights,
                    patterns, people,
                ):  # fmt: skip
                    continue
                if marks.size > 0:
                    for i in range(listed[level]):
                        if has[level, i] == 1:
                            row = rows[level, i]
                            p = _later(shown, shown_ends[row], shown_ends[row + 1], c) - 1
                            if p >= shown_ends[row] and shown[p] == c and owned[p] == 1:
                                marks[row] = 1
                elif found < owners.size:
                    out[found, :] = -1
                    for i in range(level + 2):
                        out[found, i] = chosen[i]
                    owners[found] = owner[level, c]
                    found += 1
                continue
            if level + 2 >= size:
                continue
            n = 0
            for i in range(listed[level]):
                row = rows[level, i]
                p = _later(shown, shown_ends[row], shown_ends[row + 1], c) - 1
                if p >= shown_ends[row] and shown[p] == c:
                    rows[level + 1, n] = row
                    has[level + 1, n] = 1 if has[level, i] == 1 and owned[p] == 1 else 0
                    n += 1
            listed[level + 1] = n
            chosen[level + 1], spent[level + 1] = c, spent[level] + values[c]
            level += 1
            fresh = True
    return found, n_classes
