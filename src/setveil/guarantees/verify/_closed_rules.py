"""What any number of known items tells of sensitive ones; no kernel of an algorithm is used.

Closed sets are enough. Let H be the rows that hold a sensitive item s, X a set of items that can be known
and that some row of H holds, and Y all items that can be known, but s, of all rows of H that hold X. Y holds
X; the rows of H that hold Y are those that hold X; the other rows that hold Y are among those that hold X.
So Y tells at least as much of s as X does. It does not matter which items can be known: the argument speaks
of no others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.errors import RequestError
from setveil.guarantees.verify._inference import PAUSE, KnownRows
from setveil.jit import compiled
from setveil.progress import Progress
from setveil.sorting import sort_piece

MOST_LISTED = 1000  # rules of which the smallest sets are looked for
MOST_IDS = 10_000_000  # in all of these

Ints = NDArray[np.int64]


def too_many(phrase: str) -> RequestError:
    """Say that a guarantee cannot be checked by walking all closed sets."""
    return RequestError(
        f"{phrase} cannot be checked: the rows have too many rules to look at, and none that was breaks it.",
        hint="Bound how many items someone may know, to 2 or 3: --model km-rho with --m (in Python "
        "setveil.KmRho(k=1, m=2, ...)).",
    )


class ClosedRules:
    """Walks the closed sets of the rows of each sensitive item, each set once.

    Parameters
    ----------
    rows : KnownRows
    limit : int64 (n_rows + 1,)
        How many of so many rows may hold a sensitive item.
    progress : Progress
        Hears how far it is.

    Attributes
    ----------
    violations : int
        Closed sets that give a sensitive item away.
    best : list of (itemset, support, count)
        For each sensitive item what tells most of it, and of equal confidences what most rows hold; no item
        can be left out.
    first : list of (itemset, secret, support, count)
        Sets that give a sensitive item away, and do no more without any one of their items: each left of the
        first closed ones, in order of their size, then item order, then the sensitive item's.
    stopped : bool
        Whether the walk stopped early.
    """

    def __init__(self, rows: KnownRows, limit: Ints, progress: Progress) -> None:
        self.rows, self.limit, self.progress = rows, limit, progress
        self.violations = 0
        self.best: list[tuple[tuple[int, ...], int, int]] = [
            ((), rows.n_rows, count) for count in rows.supports.tolist()
        ]
        self.first: list[tuple[tuple[int, ...], int, int, int]] = []
        self.stopped = False
        self._steps = 0
        # The rows of each sensitive item.
        bounds, secrets, counts = rows.told
        order = np.argsort(secrets, kind="stable")
        holders = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))[order]
        ends = np.cumsum(np.bincount(secrets, minlength=rows.secrets.size))
        self._told = list(zip(np.split(holders, ends[:-1]), np.split(counts[order], ends[:-1]), strict=True))

    def walk(self, least: int, most_steps: int, most_after: int, show: int) -> None:
        """Walk all closed sets.

        Parameters
        ----------
        least : int
            No known set that some row holds is in fewer rows.
        most_steps, most_after : int
            After how many steps to stop, and after how many with a violation; a step is an item of a row that
            is looked at.
        show : int
            How many violations to list.
        """
        found: set[tuple[tuple[int, ...], int, int, int]] = set()
        for s in range(self.rows.secrets.size):
            counts = self._counts_of(s)
            for closed in self._walk_one(s, counts, least, most_steps, most_after, show):
                fewer, support, count = self._least(s, counts, closed, lambda n, c: c > int(self.limit[n]))
                found.add((fewer, s, support, count))
        self.first = sorted(found, key=lambda one: (len(one[0]), one[:2]))[:show]

    def _counts_of(self, s: int) -> Ints:
        """Count, for each distinct known part, the rows that hold a sensitive item."""
        holders, of_holders = self._told[s]
        counts = np.zeros(self.rows.rows[2].size, np.int64)
        counts[holders] = of_holders
        return counts

    def _walk_one(
        self, s: int, counts: Ints, least: int, most_steps: int, most_after: int, show: int
    ) -> list[tuple[int, ...]]:
        """Walk the closed sets of the rows of one sensitive item, and return those that give it away."""
        rows, secret = self.rows, int(self.rows.secrets[s])
        indptr, ids, weights = rows.rows
        root = self._common(s)
        support, count = self._count(s, counts, root)
        rooted = np.ones(weights.size, np.bool_)
        if root:
            rooted[:] = False
            rooted[self._holding(root)] = True
        n, width = rows.holders[0].size - 1, int(np.diff(indptr).max(initial=0)) + 1
        room = min(MOST_LISTED // rows.secrets.size + 1, MOST_IDS // width) if show else 0
        listed = np.zeros((room, width), np.int64)  # length, ids
        best, chosen = np.array([count, support], np.int64), np.zeros(width, np.int64)
        chosen[0], chosen[1 : len(root) + 1] = len(root), root
        state = np.zeros(N_STATE, np.int64)
        state[STEPS], state[LEAST] = self._steps, least
        state[MOST_STEPS], state[MOST_AFTER] = most_after if self.violations else most_steps, most_after
        out = [root] if count > self.limit[support] else []
        workspace, item = np.zeros((2, n), np.int64), 0
        while item < n and not self.stopped:
            item = _walk_from(
                indptr, ids, weights, counts, *rows.holders, secret, self.limit, item,
                np.array(root, np.int64), rooted, best, chosen, listed, workspace, state,
            )  # fmt: skip
            self.stopped = bool(state[STOPPED])
            self.progress("verifying what known items tell", (s + item / n) / rows.secrets.size)
        self._steps = int(state[STEPS])
        self.violations += len(out) + int(state[FOUND])
        out += [tuple(entry[1 : entry[0] + 1]) for entry in listed[: state[LISTED]].tolist()]
        most_count, most_support = best.tolist()
        most = tuple(chosen[1 : chosen[0] + 1].tolist())
        self.best[s] = self._least(s, counts, most, lambda n, c: c * most_support >= most_count * n)
        return out[:room]

    def _common(self, s: int) -> tuple[int, ...]:
        """Return the items that can be known of all rows that hold a sensitive item."""
        indptr, ids, _ = self.rows.rows
        holders, counts = self._told[s]
        if counts.sum() < self.rows.supports[s]:  # nothing can be known of some
            return ()
        common = ids[indptr[holders[0]] : indptr[holders[0] + 1]]
        for g in holders[1:].tolist():
            if not common.size:
                break
            common = common[np.isin(common, ids[indptr[g] : indptr[g + 1]])]
        return tuple(x for x in common.tolist() if x != self.rows.secrets[s])

    def _holding(self, ids: tuple[int, ...]) -> Ints:
        """Find the distinct known parts with all of some ids."""
        there: Ints = _holding(*self.rows.rows[:2], *self.rows.holders[:2], np.array(ids, np.int64))
        return there

    def _count(self, s: int, counts: Ints, ids: tuple[int, ...]) -> tuple[int, int]:
        """Count the rows that hold a set, and those of them that hold a sensitive item."""
        if not ids:
            return self.rows.n_rows, int(self.rows.supports[s])
        there = self._holding(ids)
        return int(self.rows.rows[2][there].sum()), int(counts[there].sum())

    def _least(
        self, s: int, counts: Ints, ids: tuple[int, ...], enough: Callable[[int, int], bool]
    ) -> tuple[tuple[int, ...], int, int]:
        """Leave items out, in item order and then again, as long as support and count are still `enough`."""
        support, count = self._count(s, counts, ids)
        again = True
        while again:
            again = False
            for x in ids:
                fewer = tuple(y for y in ids if y != x)
                n, c = self._count(s, counts, fewer)
                if enough(n, c):
                    ids, support, count, again = fewer, n, c, True
        return ids, support, count


# Places in `state`, which the loops share.
STEPS, MOST_STEPS, MOST_AFTER, STOPPED, LEAST, FOUND, LISTED, N_STATE = range(8)


@compiled
def _walk_from(
    indptr, items, weights, counts, starts, rows, places, secret, limit, item, root, rooted, best,
    chosen_best, listed, workspace, state,
):  # fmt: skip
    """Walk the closed sets beyond the root from `item` on; return where it paused.

    A closed set P whose last extension was by the item x is extended by each item e > x: Q holds what the
    rows of H with P and e have in common. If Q has an item below e that P lacks, it is reached elsewhere
    (Uno, Kiyomi, Arimura, LCM ver. 2, FIMI 2004: prefix preserving closure extension). Level d holds the
    rows of its set, by the items behind x: `item_of` with the rows in which they occur, and where. Levels lie
    one behind the other in arrays that grow.
    """
    n, width = starts.size - 1, chosen_best.size
    member, slot = workspace[0], workspace[1]
    pause = state[STEPS] + PAUSE
    entry, place = rows.copy(), places.copy()
    item_of, begin = np.arange(n + 1), starts.copy()
    first_entry, first_item = np.zeros(width + 2, np.int64), np.zeros(width + 2, np.int64)
    items_of, current, n_chosen = (
        np.zeros(width + 2, np.int64), np.zeros(width + 2, np.int64), np.zeros(width + 2, np.int64),
    )  # fmt: skip
    chosen, common = np.zeros(width + 1, np.int64), np.zeros(width + 1, np.int64)
    most = 0
    for x in range(n):
        most = max(most, starts[x + 1] - starts[x])
    kept = np.empty(most, np.int64)
    first_entry[1], first_item[1] = entry.size, begin.size
    items_of[0], current[0], n_chosen[0] = n, item, root.size
    chosen[: root.size] = root
    member[root] = 1
    least = state[LEAST]
    d = 0
    while True:
        if current[d] == items_of[d]:
            if d == 0:
                break
            member[chosen[n_chosen[d - 1] : n_chosen[d]]] = 0
            d -= 1
            continue
        if state[STEPS] > (state[MOST_AFTER] if state[FOUND] else state[MOST_STEPS]):
            state[STOPPED] = 1
            break
        if d == 0 and state[STEPS] > pause:
            break
        here = first_item[d] + current[d]
        current[d] += 1
        e = item_of[here]
        if member[e] or e == secret:
            continue

        # What the rows of H have in common.
        lo, hi = begin[here], begin[here + 1]
        n_common, count = 0, np.int64(0)
        for at in range(lo, hi):
            g = entry[at]
            count += counts[g]
            if counts[g] == 0 or n_common == 1:
                continue
            state[STEPS] += indptr[g + 1] - indptr[g]
            if n_common == 0:
                for p in range(indptr[g], indptr[g + 1]):
                    if member[items[p]] == 0 and items[p] != secret:
                        common[n_common] = items[p]
                        n_common += 1
                continue
            p, same = indptr[g], 0
            for i in range(n_common):
                while p < indptr[g + 1] and items[p] < common[i]:
                    p += 1
                if p < indptr[g + 1] and items[p] == common[i]:
                    common[same] = common[i]
                    same += 1
            n_common = same
        state[STEPS] += hi - lo
        if n_common == 0 or common[0] < e:
            continue
        if count <= limit[least] and count * best[1] <= best[0] * least:
            continue

        # The rows that hold it: those of H, and others.
        n_kept, support = 0, np.int64(0)
        for at in range(lo, hi):
            g = entry[at]
            i, p = 1, place[at] + 1
            while i < n_common and p < indptr[g + 1] and items[p] <= common[i]:
                if items[p] == common[i]:
                    i += 1
                p += 1
            state[STEPS] += p - place[at]
            if i == n_common and (d > 0 or rooted[g]):
                kept[n_kept] = at
                n_kept += 1
                support += weights[g]
        chosen[n_chosen[d] : n_chosen[d] + n_common] = common[:n_common]
        member[common[:n_common]] = 1
        size = n_chosen[d] + n_common
        if count > limit[support]:
            if state[LISTED] < listed.shape[0]:
                listed[state[LISTED], 0] = size
                listed[state[LISTED], 1 : size + 1] = chosen[:size]
                sort_piece(listed[state[LISTED]], 1, size + 1)
                state[LISTED] += 1
            state[FOUND] += 1
        one, other = count * best[1], best[0] * support
        if one > other or (one == other and support > best[1]):
            best[0], best[1] = count, support
            chosen_best[0] = size
            chosen_best[1 : size + 1] = chosen[:size]
            sort_piece(chosen_best, 1, size + 1)

        # The items behind e that stand there with the sensitive one, and where.
        m0 = first_item[d + 1]
        m, total = m0, np.int64(0)
        for at in kept[:n_kept]:
            g = entry[at]
            state[STEPS] += indptr[g + 1] - place[at]
            if counts[g] > 0:
                while m + indptr[g + 1] - place[at] + 1 > item_of.size:
                    item_of = np.append(item_of, np.empty_like(item_of))
                    begin = np.append(begin, np.empty_like(begin))
                for p in range(place[at] + 1, indptr[g + 1]):
                    z = items[p]
                    if slot[z] == 0 and member[z] == 0 and z != secret:
                        slot[z] = 1
                        item_of[m] = z
                        m += 1
        while m + 1 > item_of.size:
            item_of = np.append(item_of, np.empty_like(item_of))
            begin = np.append(begin, np.empty_like(begin))
        sort_piece(item_of, m0, m)
        for t in range(m0, m):
            slot[item_of[t]] = t - m0 + 1
        begin[m0 : m + 1] = 0
        for at in kept[:n_kept]:
            for p in range(place[at] + 1, indptr[entry[at] + 1]):
                if slot[items[p]] > 0:
                    begin[m0 + slot[items[p]]] += 1
                    total += 1
        begin[m0] = first_entry[d + 1]
        while begin[m0] + total > entry.size:
            entry, place = np.append(entry, np.empty_like(entry)), np.append(place, np.empty_like(place))
        for t in range(m0, m):
            slot[item_of[t]] = begin[t] + 1
            begin[t + 1] += begin[t]
        for at in kept[:n_kept]:
            for p in range(place[at] + 1, indptr[entry[at] + 1]):
                z = items[p]
                if slot[z] > 0:
                    entry[slot[z] - 1], place[slot[z] - 1] = entry[at], p
                    slot[z] += 1
        for t in range(m0, m):
            slot[item_of[t]] = 0
        d += 1
        n_chosen[d] = size
        current[d], items_of[d] = 0, m - m0
        first_entry[d + 1], first_item[d + 1] = begin[m], m + 1
    member[chosen[: n_chosen[d]]] = 0
    return current[0]


@compiled
def _holding(indptr, items, starts, rows, itemset):
    """Find the distinct rows that hold all items of an ascending itemset, which is not empty."""
    rarest = itemset[0]
    for x in itemset:
        if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
            rarest = x
    out = np.empty(starts[rarest + 1] - starts[rarest], np.int64)
    found = 0
    for at in range(starts[rarest], starts[rarest + 1]):
        row = rows[at]
        i, p = 0, indptr[row]
        while i < itemset.size and p < indptr[row + 1] and items[p] <= itemset[i]:
            if items[p] == itemset[i]:
                i += 1
            p += 1
        if i == itemset.size:
            out[found] = row
            found += 1
    return out[:found]
