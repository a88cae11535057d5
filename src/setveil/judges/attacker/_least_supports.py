"""The least support of a few items of each row, and all supports counted.

A search goes depth first over the itemsets of m items, rarest item first. The rows that contain the path are
cut down to the items behind it. The support of a set never rises with a further item, so the least support
of a row's sets of at most m items is that of a set of m items, or of the whole row if it is shorter.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.kernels.projection import list_places, room
from setveil.kernels.rows import Ints, Ranked, frozen

# Columns of `levels`: where a level's rows, items, places and candidates begin; the next candidate, the end.
ENTRY, ID, PLACE, CANDIDATE, NOW, END = range(6)
# Entries of `state`.
DEPTH, TICK, STEPS = range(3)
_ENOUGH = 1 << 62


@compiled
def project(levels, d, from_, to, need, stamp, tick, fill, buffers):
    """Make level d + 1 from the places ``from_:to`` of level d: the rows there, cut down to what follows.

    Rows with fewer than `need` items left are dropped, as are items with a `stamp`, int64 (n_ids,), below
    `tick`; `fill`, int64 (n_ids,), is zero before and after. `levels`: int64 (m + 1, 6), columns named above.
    The buffers have the levels one behind the other: entry e is row ``owner[e]`` cut down to
    ``ids[ptr[e]:ptr[e + 1]]``; candidate c continues the path by ``item[c]`` at the places ``begin[c]:begin[c
    + 1]``, each an `entry` and the `place` of the item in `ids`. Returns the buffers, which may have grown.
    """
    ids, owner, ptr, entry, place, begin, item = buffers
    e, i, b, c = levels[d + 1, ENTRY], levels[d + 1, ID], levels[d + 1, PLACE], levels[d + 1, CANDIDATE]
    first_entry, first = e, i
    ptr = room(ptr, e + to - from_ + 1)
    owner = room(owner, e + to - from_)
    ptr[e] = i
    for a in range(from_, to):
        row = entry[a]
        lo, hi = place[a] + 1, ptr[row + 1]
        if hi - lo < need:
            continue
        ids = room(ids, i + hi - lo)
        start = i
        for q in range(lo, hi):
            if stamp[ids[q]] >= tick:
                ids[i] = ids[q]
                i += 1
        if i - start < need:
            i = start
            continue
        owner[e] = owner[row]
        e += 1
        ptr[e] = i

    # The candidates: by rank where nearly all ranks are among them, else as they appear.
    kinds = 0
    for q in range(first, i):
        y = np.int64(ids[q])
        if fill[y] == 0:
            item = room(item, c + kinds + 1)
            item[c + kinds] = y
            kinds += 1
        fill[y] += 1
    if i - first >= fill.size:
        kinds = 0
        for x in range(fill.size):
            if fill[x] > 0:
                item[c + kinds] = x
                kinds += 1
    begin = room(begin, c + kinds + 1)
    for t in range(c, c + kinds):
        y = np.int64(item[t])
        begin[t] = b
        b += fill[y]
        fill[y] = begin[t]
    begin[c + kinds] = b
    entry, place = room(entry, b), room(place, b)
    list_places(first_entry, e, ptr, ids, fill, entry, place)
    for t in range(c, c + kinds):
        fill[item[t]] = 0
    levels[d + 1, NOW], levels[d + 1, END] = c, c + kinds
    if d + 2 < levels.shape[0]:
        levels[d + 2, ENTRY], levels[d + 2, ID] = e + 1, i
        levels[d + 2, PLACE], levels[d + 2, CANDIDATE] = b, c + kinds + 1
    return ids, owner, ptr, entry, place, begin, item


def first_level(rows: Ranked, m: int) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Make the buffers, levels and state of a search (see `project`) whose only path is the empty one."""
    n = rows.weights.size
    buffers = (
        rows.items.copy(), np.arange(n, dtype=np.int32), rows.indptr.copy(), np.arange(n, dtype=np.int32),
        rows.indptr[:-1] - 1, np.array([0, n], np.int64), np.zeros(1, np.int32),
    )  # fmt: skip
    levels = np.zeros((m + 1, 6), np.int64)
    levels[0, END] = 1
    levels[1, [ENTRY, ID, PLACE, CANDIDATE]] = n + 1, rows.items.size, n, 2
    return buffers, levels, np.zeros(3, np.int64)


def share_done(levels: Ints) -> float:
    """Tell the share of the single items whose sets have all been visited."""
    now, end, first = levels[1, [NOW, END, CANDIDATE]].tolist()
    return float(max((now - first) / max(end - first, 1), 0.0))


@compiled
def _search(
    weights, floor, best, m, last, limits, ways, lengths, below, inverse, state, levels, stamp, count,
    touched, buffers, budget,
):  # fmt: skip
    """Go on with a search over sets of m items, the first before `last`, until about `budget` steps in all.

    `floor`: int64 (n,), lower bounds of least supports; `best`: int64 (n,), least supports so far; a row
    whose floor is reached is done. `limits`: int64 (t,), ascending; without any, only `best` is searched.
    `ways` are binomial coefficients, (longest + 1, m + 1). By length of rows, `below`, int64 (t, longest +
    1), gets the number of (row, set of m of its items) under each limit, and `inverse`, float64, the sum of 1
    / support over all. Workspace: `stamp`, `count` (zeros at first), `touched`: int64 (n_ids,). Returns the
    buffers (see `first_level`).
    """
    tally = limits.size > 0
    d, tick, steps = state[DEPTH], state[TICK], state[STEPS]
    ids, owner, ptr, entry, place, begin, item = buffers
    while d >= 0 and steps < budget:
        if levels[d, NOW] == levels[d, END]:
            d -= 1
            continue
        c = levels[d, NOW]
        levels[d, NOW] += 1
        if d == 1 and item[c] >= last:
            continue
        from_, to = begin[c], begin[c + 1]
        rest = m - d  # items that the path lacks
        steps += to - from_

        # Only rows that are not finished are of interest.
        wanted = False
        for a in range(from_, to):
            e = entry[a]
            row = owner[e]
            if ptr[e + 1] - place[a] > rest and (tally or best[row] > floor[row]):
                wanted = True
                break
        if not wanted:
            continue
        if to - from_ == 1 and (d > 0 or last == stamp.size):  # all sets have the support of the row
            e = entry[from_]
            row = owner[e]
            have = weights[row]
            best[row] = min(best[row], have)
            if tally:
                number = ways[ptr[e + 1] - place[from_] - 1, rest]
                for t in range(limits.size):
                    if have < limits[t]:
                        below[t, lengths[row]] += number * have
                inverse[lengths[row]] += number
            continue
        if rest > 1:
            tick += 0 if tally else 1
            for a in range(from_, to):
                e = entry[a]
                row = owner[e]
                steps += ptr[e + 1] - place[a]
                if not tally and ptr[e + 1] - place[a] > rest and best[row] > floor[row]:
                    for q in range(place[a] + 1, ptr[e + 1]):
                        stamp[ids[q]] = tick
            buffers = project(levels, d, from_, to, rest, stamp, tick, count, buffers)
            ids, owner, ptr, entry, place, begin, item = buffers
            d += 1
            continue

        # The last item.
        kinds = 0
        for a in range(from_, to):
            e = entry[a]
            have = weights[owner[e]]
            steps += ptr[e + 1] - place[a]
            for q in range(place[a] + 1, ptr[e + 1]):
                y = np.int64(ids[q])
                if count[y] == 0:
                    touched[kinds] = y
                    kinds += 1
                count[y] += have
        for a in range(from_, to):
            e = entry[a]
            row = owner[e]
            if not tally and best[row] <= floor[row]:
                continue
            least = best[row]
            for q in range(place[a] + 1, ptr[e + 1]):
                least = min(least, count[ids[q]])
            best[row] = least
            if tally:
                total = 0.0
                for q in range(place[a] + 1, ptr[e + 1]):
                    support = count[ids[q]]
                    total += 1.0 / support
                    for t in range(limits.size - 1, -1, -1):
                        if support >= limits[t]:
                            break
                        below[t, lengths[row]] += weights[row]
                inverse[lengths[row]] += total * weights[row]
        for t in range(kinds):
            count[touched[t]] = 0
    state[DEPTH], state[TICK], state[STEPS] = d, tick, steps
    return buffers


class SupportWalk:
    """A walk over the sets of at most m >= 1 items of rows, for `effort` steps of one item in a row."""

    def __init__(self, rows: Ranked, m: int, effort: int) -> None:
        self.rows, self.m, self.effort = rows, m, effort
        self._buffers, self._levels, self._state = first_level(rows, m)

    def _go_on(self, until: int) -> Any:
        """Walk on up to this many steps, and return the buffers, which may have grown."""
        raise NotImplementedError

    def search(self, steps: int) -> bool:
        """Go on for about this many steps; whether there is more to do."""
        self._buffers = self._go_on(min(self.steps + steps, self.effort))
        return not self.finished and self.steps < self.effort

    @property
    def steps(self) -> int:
        """Steps made so far."""
        return int(self._state[STEPS])

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to look at."""
        return bool(self._state[DEPTH] < 0)

    def done(self) -> float:
        """Tell the share of the single items whose sets have all been visited."""
        return share_done(self._levels)


def least_steps(rows: Ranked, m: int) -> int:
    """Count steps that a search of all sets of m items needs at least: all behind items of several rows."""
    if m < 2:
        return 0
    return int(_first_steps(*rows[:2], np.zeros(rows.order.size, np.int64), m))


@compiled
def _first_steps(indptr, items, holders, m):
    for row in range(indptr.size - 1):
        if indptr[row + 1] - indptr[row] >= m:
            for p in range(indptr[row], indptr[row + 1]):
                holders[items[p]] += 1
    steps = np.int64(0)
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1] - m + 1):
            if holders[items[p]] > 1:
                steps += indptr[row + 1] - p
    return steps


class LeastSupportSearch(SupportWalk):
    """A search for the least supports over itemsets of m items, a piece at a time (arrays: see `_search`).

    At the end `best` is exact for rows of at least m items. With `limits`, every set is looked at, for
    `below` and `inverse`. `lengths`, int64 (n,), at least those of the rows and at most `longest`, may
    replace them. `last` (for m >= 2): only sets with an item before it.
    """

    def __init__(
        self,
        rows: Ranked,
        m: int,
        floor: Ints,
        best: Ints,
        effort: int,
        limits: Ints | None = None,
        *,
        longest: int | None = None,
        lengths: Ints | None = None,
        last: int | None = None,
    ) -> None:
        super().__init__(rows, m, effort)
        lengths = rows.lengths if lengths is None else lengths
        self.last = rows.order.size if last is None else last
        longest = int(lengths.max(initial=0)) if longest is None else longest
        self.limits = frozen(np.zeros(0, np.int64) if limits is None else limits, np.int64)
        some = longest if limits is not None else 0
        table = [[min(comb(n, j), _ENOUGH) for j in range(m + 1)] for n in range(some + 1)]
        self.ways = frozen(np.array(table, np.int64), np.int64)
        self.below = np.zeros((self.limits.size, some + 1), np.int64)
        self.inverse = np.zeros(some + 1, np.float64)
        self.floor, self.best = floor, best
        self.lengths = frozen(lengths, np.int64)
        n = rows.order.size
        self._work = np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(n, np.int64)

    def _go_on(self, until: int) -> Any:
        return _search(
            self.rows.weights, self.floor, self.best, self.m, self.last, self.limits, self.ways,
            self.lengths, self.below, self.inverse, self._state, self._levels, *self._work, self._buffers,
            until,
        )  # fmt: skip
