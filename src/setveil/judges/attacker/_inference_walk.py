"""The probabilities with which a few public items of a row reveal a private item."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.judges.attacker._least_supports import DEPTH, END, NOW, STEPS, SupportWalk, project
from setveil.judges.attacker.knowledge import Secrets
from setveil.kernels.rows import Ints, Ranked

NEVER = 1 << 30
SIZE, SUPPORT = range(2)  # columns of `record`


class Greatest(NamedTuple):
    """The greatest probability of each private item, and its first set by size, support, item order."""

    probability: NDArray[np.float64]  # float64 (n_private,)
    record: Ints  # int64 (n_private, 2): size and support of the set
    itemset: Ints  # int64 (n_private, most): the items of the set, ascending


@compiled
def _may_be_better(probability, size, support, private, greatest):
    """Return whether a set of such a size and support may be the first one of the greatest probability."""
    held = greatest[0][private]
    if probability != held:
        return probability > held
    held_size = greatest[1][private, SIZE]
    return size < held_size or (size == held_size and support >= greatest[1][private, SUPPORT])


@compiled
def _note(probability, support, private, candidate, greatest):
    """Keep a set (ascending items) that may be better, unless one like it comes before it in item order."""
    size = candidate.size
    record, itemset = greatest[1][private], greatest[2][private]
    if probability == greatest[0][private] and record[SIZE] == size and record[SUPPORT] == support:
        i = 0
        while i < size and candidate[i] == itemset[i]:
            i += 1
        if i == size or candidate[i] > itemset[i]:
            return
    greatest[0][private] = probability
    record[SIZE], record[SUPPORT] = size, support
    for i in range(size):
        itemset[i] = candidate[i]


@compiled
def _insert(candidate, n, x):
    """Insert x into the ascending ``candidate[:n]``; if it is full, the greatest is lost."""
    at = n
    if n == candidate.size:
        if x >= candidate[n - 1]:
            return
        at -= 1
    while at > 0 and candidate[at - 1] > x:
        candidate[at] = candidate[at - 1]
        at -= 1
    candidate[at] = x


@compiled
def _is_promising(from_, to, need, weights, indptr, item, chance, m, greatest, buffers):
    """Say whether sets of m items with a path may be the first to reveal most; and count the steps."""
    _, owner, ptr, entry, place, _, _ = buffers
    most, steps = np.int64(0), 0
    for a in range(from_, to):
        if ptr[entry[a] + 1] - place[a] > need:
            most += weights[owner[entry[a]]]
    for a in range(from_, to):
        if ptr[entry[a] + 1] - place[a] > need:
            row = owner[entry[a]]
            for p in range(indptr[row], indptr[row + 1]):
                steps += 1
                if _may_be_better(chance[p], m, most, item[p], greatest):
                    return True, steps
    return False, steps


@compiled
def _search(
    weights, order, indptr, item, shares, whole, chance, peak, marks, above, m, greatest, state, levels,
    stamp, fill, path, sums, met, buffers, budget,
):  # fmt: skip
    """Go on with a search over the sets of m >= 1 items until about `budget` steps were made in all.

    Rows are those of `Ranked` and `Secrets`. `chance`: float64, the probability of each entry of `item` in
    its row, an upper bound for sets of items; `peak`: float64 (n,), the greatest in each row; `marks`:
    float64 (h,), probabilities of interest. `above`, int64 (n, h), gets the size of the smallest set of the
    row's items with a probability above each mark; `greatest` is updated. `state`, `levels`, `buffers`: see
    `first_level`; `path`, int64 (m,), stays from call to call. Workspace: `stamp`, `fill`: int64 (n_ids,),
    and `sums`, zeros; `met`. Returns `buffers`.
    """
    d, steps = state[DEPTH], state[STEPS]
    ids, owner, ptr, entry, place, begin, ranks = buffers
    while d >= 0 and steps < budget:
        if levels[d, NOW] == levels[d, END]:
            d -= 1
            continue
        c = levels[d, NOW]
        levels[d, NOW] += 1
        from_, to = begin[c], begin[c + 1]
        steps += to - from_
        if d > 0:
            path[d - 1] = order[ranks[c]]
        need = m - d  # items that the path lacks

        bound, open_mark = 0.0, False
        for a in range(from_, to):
            if ptr[entry[a] + 1] - place[a] > need:
                bound = max(bound, peak[owner[entry[a]]])
        if bound == 0:
            continue
        for a in range(from_, to):
            if not open_mark and ptr[entry[a] + 1] - place[a] > need:
                for h in range(marks.size):
                    open_mark = open_mark or (bound > marks[h] and above[owner[entry[a]], h] > m)
        if not open_mark:
            promising, looked_at = _is_promising(
                from_, to, need, weights, indptr, item, chance, m, greatest, buffers
            )
            steps += looked_at
            if not promising:
                continue
        if need > 0 and to - from_ > 1:
            for a in range(from_, to):
                steps += 2 * (ptr[entry[a] + 1] - place[a])
            buffers = project(levels, d, from_, to, need, stamp, 0, fill, buffers)
            ids, owner, ptr, entry, place, begin, ranks = buffers
            d += 1
            continue

        # All sets of m items that begin with the path are in the same rows.
        total, kinds = np.int64(0), 0
        for a in range(from_, to):
            row = owner[entry[a]]
            total += weights[row]
            steps += indptr[row + 1] - indptr[row]
            for p in range(indptr[row], indptr[row + 1]):
                s = np.int64(item[p])
                if sums[s] == 0:
                    met[kinds] = s
                    kinds += 1
                sums[s] += shares[p]
        most, better = np.int64(0), False
        for t in range(kinds):
            s = met[t]
            most = max(most, sums[s])
            better = better or _may_be_better(sums[s] / (whole * total), m, total, s, greatest)
        probability = most / (whole * total)
        for h in range(marks.size):
            if probability > marks[h]:
                for a in range(from_, to):
                    row = owner[entry[a]]
                    above[row, h] = min(above[row, h], m)
        if better:
            candidate = np.empty(m, np.int64)
            for i in range(d):
                _insert(candidate, i, path[i])
            if need > 0:  # one row alone: its first items behind the path
                behind = np.empty(need, np.int64)
                found = 0
                for q in range(place[from_] + 1, ptr[entry[from_] + 1]):
                    _insert(behind, found, order[ids[q]])
                    found = min(found + 1, need)
                for i in range(need):
                    _insert(candidate, d + i, behind[i])
        for t in range(kinds):
            s = met[t]
            if better and _may_be_better(sums[s] / (whole * total), m, total, s, greatest):
                _note(sums[s] / (whole * total), total, s, candidate, greatest)
            sums[s] = 0
    state[DEPTH], state[STEPS] = d, steps
    return buffers


class InferenceSearch(SupportWalk):
    """Search the inferences from sets of m public items to private ones, a piece at a time.

    Smaller sets need not have been searched, but their inferences count: `above` and `greatest` go on (see
    `_search`). It gives up after `effort` steps; a step is an item of a row that is looked at.
    """

    def __init__(
        self, rows: Ranked, secrets: Secrets, m: int, marks: NDArray[np.float64], above: Ints,
        greatest: Greatest, effort: int,
    ) -> None:  # fmt: skip
        super().__init__(rows, m, effort)
        n, private = rows.order.size, greatest.probability.size
        self.secrets, self.marks, self.above, self.greatest = secrets, marks, above, greatest
        self.chances, self.peaks = secrets.probabilities(rows.weights), secrets.peaks(rows.weights)
        self._work = (
            np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int64), np.zeros(private, np.int64),
            np.zeros(private, np.int64),
        )  # fmt: skip

    def _go_on(self, until: int) -> Any:
        secrets = self.secrets
        return _search(
            self.rows.weights, self.rows.order, secrets.indptr, secrets.item, secrets.shares, secrets.whole,
            self.chances, self.peaks, self.marks, self.above, self.m, tuple(self.greatest), self._state,
            self._levels, *self._work, self._buffers, until,
        )  # fmt: skip
