"""How surely a few public items of a row give a private item away."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.attacker._least_supports import DEPTH, END, NOW, STEPS, Search, project
from setveil.jit import compiled
from setveil.kernels.rows import Ids, Ints, Ranked, frozen

NEVER = 1 << 30
# Entries of `record`.
SIZE, SUPPORT, PRIVATE = range(3)


class Secrets(NamedTuple):
    """The private items of distinct rows, as shares with a common denominator.

    Attributes
    ----------
    indptr, item : int64 (n + 1,), int32
        Row r may hold the private items ``item[indptr[r]:indptr[r + 1]]``.
    shares : int64
        For each of these the sum, over the rows that r stands for, of the probability that it is there,
        times `whole`.
    whole : int
        The common denominator; times the number of all rows at most 2^53, so that quotients are rounded once.
    """

    indptr: Ints
    item: Ids
    shares: Ints
    whole: int

    def peaks(self, weights: Ints) -> NDArray[np.float64]:
        """Find the greatest probability of a private item in each row: float64 (n,)."""
        out = np.zeros(weights.size)
        row = np.repeat(np.arange(weights.size), np.diff(self.indptr))
        np.maximum.at(out, row, self.shares / (weights[row] * self.whole))
        return frozen(out, np.float64)


class Greatest(NamedTuple):
    """The greatest probability of a private item so far, and the first itemset that gives it.

    First are the smallest, of these the ones of greatest support, of these the first in item order.

    Attributes
    ----------
    probability : float64 (1,)
    record : int64 (3,)
        Size and support of the set, and the private item.
    itemset : int64 (most,)
        The items of the set, ascending.
    """

    probability: NDArray[np.float64]
    record: Ints
    itemset: Ints


@compiled
def _note(probability, support, private, candidate, greatest):
    """Keep a set (ascending items) if it is the first one of the greatest probability."""
    size = candidate.size
    held = greatest[0][0], greatest[1][SIZE], greatest[1][SUPPORT]
    if probability < held[0]:
        return
    if probability == held[0]:
        if held[1] < size or (held[1] == size and support < held[2]):
            return
        if held[1] == size and support == held[2]:
            i = 0
            while i < size and candidate[i] == greatest[2][i]:
                i += 1
            if i == size or candidate[i] > greatest[2][i]:
                return
    greatest[0][0] = probability
    greatest[1][SIZE], greatest[1][SUPPORT], greatest[1][PRIVATE] = size, support, private
    for i in range(size):
        greatest[2][i] = candidate[i]


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
def _search(
    weights, order, indptr, item, shares, whole, peak, marks, above, m, greatest, state, levels, stamp, fill,
    path, sums, met, buffers, budget,
):  # fmt: skip
    """Go on with a search over the sets of m items until about `budget` steps were made in all.

    Parameters
    ----------
    weights, order
        As in `Ranked`.
    indptr, item, shares, whole
        As in `Secrets`.
    peak : float64 (n,)
        Greatest probability of a private item in each row; no set of items of some rows tells more than the
        greatest of these.
    marks : float64 (h,)
        Probabilities of interest.
    above : int64 (n, h), written
        Size of the smallest set of the row's items, as far as found, that gives a probability above each.
    m : int
        At least 1.
    greatest
        As in `Greatest`, written.
    state, levels, buffers
        See `first_level`.
    stamp, fill : int64 (n_ids,), zeros
        Workspace.
    path : int64 (m,)
        Items of the path, kept from call to call.
    sums, met : int64 (n_private,)
        Workspace, the first zero.
    budget : int

    Returns
    -------
    buffers
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

        bound, most, open_mark = 0.0, np.int64(0), False
        for a in range(from_, to):
            if ptr[entry[a] + 1] - place[a] > need:
                bound = max(bound, peak[owner[entry[a]]])
                most += weights[owner[entry[a]]]
        for a in range(from_, to):
            if not open_mark and ptr[entry[a] + 1] - place[a] > need:
                for h in range(marks.size):
                    open_mark = open_mark or (bound > marks[h] and above[owner[entry[a]], h] > m)
        better = bound > greatest[0][0] or (
            bound == greatest[0][0] and greatest[1][SIZE] == m and most >= greatest[1][SUPPORT]
        )
        if bound == 0 or not (open_mark or better):
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
        first, most = met[0], np.int64(0)
        for t in range(kinds):
            s = met[t]
            if sums[s] > most or (sums[s] == most and s < first):
                first, most = s, sums[s]
            sums[s] = 0
        probability = most / (whole * total)
        for h in range(marks.size):
            if probability > marks[h]:
                for a in range(from_, to):
                    row = owner[entry[a]]
                    above[row, h] = min(above[row, h], m)
        if probability >= greatest[0][0]:
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
            _note(probability, total, first, candidate, greatest)
    state[DEPTH], state[STEPS] = d, steps
    return buffers


class InferenceSearch(Search):
    """A search for what the sets of m public items tell of private ones, a piece at a time.

    The smaller sets need not have been searched, but what they told counts: `above` and `greatest` go on.

    Parameters
    ----------
    rows : Ranked
        The public items of the rows.
    secrets : Secrets
        Their private items.
    m : int
        Size of the sets, at least 1.
    marks : float64 (h,)
        Probabilities of interest.
    above : int64 (n, h), written
        Size of the smallest set found that gives a probability above each mark; `NEVER`: none.
    greatest : Greatest
        Written.
    effort : int
        Steps after which to give up; a step is an item of a row that is looked at.
    """

    def __init__(
        self, rows: Ranked, secrets: Secrets, m: int, marks: NDArray[np.float64], above: Ints,
        greatest: Greatest, effort: int,
    ) -> None:  # fmt: skip
        super().__init__(rows, m, effort)
        n, private = rows.order.size, int(secrets.item.max(initial=0)) + 1
        self.secrets, self.marks, self.above, self.greatest = secrets, marks, above, greatest
        self.peaks = secrets.peaks(rows.weights)
        self._work = (
            np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int64), np.zeros(private, np.int64),
            np.zeros(private, np.int64),
        )  # fmt: skip

    def _go_on(self, until: int) -> Any:
        secrets = self.secrets
        return _search(
            self.rows.weights, self.rows.order, secrets.indptr, secrets.item, secrets.shares, secrets.whole,
            self.peaks, self.marks, self.above, self.m, tuple(self.greatest), self._state, self._levels,
            *self._work, self._buffers, until,
        )  # fmt: skip
