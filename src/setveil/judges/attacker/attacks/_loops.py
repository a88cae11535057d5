"""The loops of the attacks: rows that fit some knowledge, their items, and the rarest set of a row.

Rows are distinct, with `weights`; `starts`, `tidlists` are the rows of each label. Pairs of boundaries, int64
(n + 1,), and content, int32, have lists; functions answer queries ``first:last``. A *need* is something that
a row has if it shows any of some labels: `need_ptr`, `needs` are the labels of each, `query_ptr`,
`query_needs` the needs of each query (without any, all rows fit).
"""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled


@compiled
def _fitting(starts, tidlists, indptr, items, need_ptr, needs, known, of_row, of_label, stamps, out):
    """List the rows that have all `known` needs (1 or more): how many there are, written to `out`."""
    first, fewest = 0, np.int64(1) << 62
    for j in range(known.size):
        rows = np.int64(0)
        for a in range(need_ptr[known[j]], need_ptr[known[j] + 1]):
            rows += starts[needs[a] + 1] - starts[needs[a]]
        if rows < fewest:
            first, fewest = j, rows
    stamps[0] += 1
    number = 0
    for a in range(need_ptr[known[first]], need_ptr[known[first] + 1]):
        for at in range(starts[needs[a]], starts[needs[a] + 1]):
            row = np.int64(tidlists[at])
            if of_row[row] == stamps[0]:
                continue
            of_row[row] = stamps[0]
            everything = True
            if known.size > 1:
                stamps[1] += 1
                for p in range(indptr[row], indptr[row + 1]):
                    of_label[items[p]] = stamps[1]
                for j in range(known.size):
                    if j == first:
                        continue
                    there = False
                    for b in range(need_ptr[known[j]], need_ptr[known[j] + 1]):
                        if of_label[needs[b]] == stamps[1]:
                            there = True
                            break
                    if not there:
                        everything = False
                        break
            if everything:
                out[number] = row
                number += 1
    return number


@compiled
def count_fitting(
    starts, tidlists, indptr, items, weights, need_ptr, needs, query_ptr, query_needs, first, last, total,
    one,
):  # fmt: skip
    """Count the rows with all needs of each query: `total`, and the first such row in `one` (-1: none)."""
    of_row, of_label = np.full(weights.size, -1, np.int64), np.full(starts.size - 1, -1, np.int64)
    stamps, out = np.zeros(2, np.int64), np.empty(weights.size, np.int64)
    for query in range(first, last):
        known = query_needs[query_ptr[query] : query_ptr[query + 1]]
        total[query], one[query] = 0, -1
        if known.size == 0:
            total[query] = weights.sum()
            continue
        number = _fitting(
            starts, tidlists, indptr, items, need_ptr, needs, known, of_row, of_label, stamps, out
        )
        for i in range(number):
            total[query] += weights[out[i]]
        if number:
            one[query] = out[0]


@compiled
def best_guesses(
    starts, tidlists, indptr, items, weights, need_ptr, needs, query_ptr, query_needs, member_ptr, members,
    shares, more, may_guess, first, last, best,
):  # fmt: skip
    """Find the items that most rows that fit a query (if none, all rows) are thought to contain, best first.

    `members` are the items of each label, ascending; for each, `shares` is the share of the label's rows that
    contain it, and `more` the share of those known to contain another item of the label. `best`, int32
    (queries, some), has items of descending estimate, then item order; -1: no other item is possible.
    """
    n_labels = starts.size - 1
    of_row, of_label = np.full(weights.size, -1, np.int64), np.full(n_labels, -1, np.int64)
    stamps, out = np.zeros(2, np.int64), np.empty(weights.size, np.int64)
    shown, estimate = np.zeros(n_labels, np.int64), np.zeros(may_guess.size)
    needed = np.zeros(n_labels, np.bool_)
    for query in range(first, last):
        known = query_needs[query_ptr[query] : query_ptr[query + 1]]
        number = 0
        if known.size:
            number = _fitting(
                starts, tidlists, indptr, items, need_ptr, needs, known, of_row, of_label, stamps, out
            )
        shown[:] = 0
        estimate[:] = 0.0
        fits = number > 0
        for i in range(number if fits else weights.size):
            row = out[i] if fits else i
            for p in range(indptr[row], indptr[row + 1]):
                shown[items[p]] += weights[row]
        needed[:] = False
        if fits:
            for need in known:
                for a in range(need_ptr[need], need_ptr[need + 1]):
                    needed[needs[a]] = True
        for label in range(n_labels):
            if shown[label]:
                for p in range(member_ptr[label], member_ptr[label + 1]):
                    estimate[members[p]] += shown[label] * (more[p] if needed[label] else shares[p])
        number = 0
        most = best.shape[1]
        for item in range(may_guess.size):
            if not may_guess[item] or estimate[item] <= 0.0:
                continue
            at = number
            while at > 0 and estimate[item] > estimate[best[query, at - 1]]:
                at -= 1
            if at == most:
                continue
            for j in range(min(number, most - 1), at, -1):
                best[query, j] = best[query, j - 1]
            best[query, at] = item
            number = min(number + 1, most)
        best[query, number:] = -1


@compiled
def rarest_sets(
    indptr, items, weights, starts, tidlists, supports, wanted, m, effort, first, last, sets, sizes
):
    """Find a set of at most m labels of each wanted, non-empty row that fewest rows contain.

    Of such sets it is the smallest, then the first, if labels are ordered by rows, then by number. After
    looking at `effort` labels for one row, its best set so far counts. `sets`, int32 (any, m), are ascending.
    """
    n_labels = starts.size - 1
    place = np.full(n_labels, -1, np.int64)
    lists, ends = np.empty((max(m - 1, 1), weights.size), np.int64), np.zeros(max(m - 1, 1), np.int64)
    chosen, best = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for number in range(first, last):
        row = wanted[number]
        length = indptr[row + 1] - indptr[row]
        labels = items[indptr[row] : indptr[row + 1]].astype(np.int64)
        for i in range(1, length):  # by support: an insertion, as rows are short
            label, j = labels[i], i
            while j > 0 and (supports[labels[j - 1]], labels[j - 1]) > (supports[label], label):
                labels[j] = labels[j - 1]
                j -= 1
            labels[j] = label
        for i in range(length):
            place[labels[i]] = i
        floor = np.int64(0)  # rows that hold all of it
        for at in range(starts[labels[0]], starts[labels[0] + 1]):
            other, held = tidlists[at], 0
            for p in range(indptr[other], indptr[other + 1]):
                held += place[items[p]] >= 0
            if held == length:
                floor += weights[other]
        fewest, size = supports[labels[0]], 1
        best[0] = 0
        steps = np.int64(0)
        beside = np.zeros(length, np.int64)
        for wide in range(2, min(m, length) + 1):
            if fewest == floor or steps > effort:
                break
            # The first wide - 1 labels are chosen one after the other; the last is counted for all at once.
            depth = 0
            chosen[0] = -1
            while depth >= 0 and fewest > floor and steps <= effort:
                chosen[depth] += 1
                if chosen[depth] > length - (wide - depth):
                    depth -= 1
                    continue
                label = labels[chosen[depth]]
                kept = 0
                if depth == 0:
                    for at in range(starts[label], starts[label + 1]):
                        lists[0, kept] = tidlists[at]
                        kept += 1
                else:
                    for i in range(ends[depth - 1]):
                        other = lists[depth - 1, i]
                        for p in range(indptr[other], indptr[other + 1]):
                            if items[p] == label:
                                lists[depth, kept] = other
                                kept += 1
                                break
                        steps += indptr[other + 1] - indptr[other]
                ends[depth] = kept
                if depth < wide - 2:
                    depth += 1
                    chosen[depth] = chosen[depth - 1]
                    continue
                beside[:] = 0
                for i in range(kept):
                    other = lists[depth, i]
                    for p in range(indptr[other], indptr[other + 1]):
                        if place[items[p]] > chosen[depth]:
                            beside[place[items[p]]] += weights[other]
                    steps += indptr[other + 1] - indptr[other]
                for i in range(chosen[depth] + 1, length):
                    if beside[i] < fewest:
                        fewest, size = beside[i], wide
                        best[: wide - 1] = chosen[: wide - 1]
                        best[wide - 1] = i
        sizes[number] = size
        for i in range(size):
            sets[number, i] = labels[best[i]]
        for i in range(1, size):  # ascending
            label, j = sets[number, i], i
            while j > 0 and sets[number, j - 1] > label:
                sets[number, j] = sets[number, j - 1]
                j -= 1
            sets[number, j] = label
        for i in range(length):
            place[labels[i]] = -1


@compiled
def deal(indptr, items, people, m, spare, halves, words, known_ptr, known, apart_ptr, apart):
    """Draw known items of people, up to m of each or of each half of their items, by a random word.

    At least `spare` of a person's items are not known, if one is. The first half, not the smaller one, is
    written to `known`, the second to `apart`, which has nothing without `halves`.
    """
    known_ptr[0], apart_ptr[0] = 0, 0
    for i in range(people.size):
        held = items[indptr[people[i]] : indptr[people[i] + 1]].copy()
        bits = words[i]
        for j in range(held.size - 1):
            bits += np.uint64(0x9E3779B97F4A7C15)
            word = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
            other = j + np.int64(word % np.uint64(held.size - j))
            held[j], held[other] = held[other], held[j]
        half = (held.size + 1) // 2 if halves else held.size
        n = min(m, max(half - spare, 1))
        known[known_ptr[i] : known_ptr[i] + n] = held[:n]
        known_ptr[i + 1] = known_ptr[i] + n
        n = min(m, held.size - half)
        apart[apart_ptr[i] : apart_ptr[i] + n] = held[half : half + n]
        apart_ptr[i + 1] = apart_ptr[i] + n
