"""Inferences from any number of known items about sensitive ones, by closed sets; these are enough.

Let H be the rows that contain a sensitive item s. Let X be a set of items that can be known and is in some
row of H. Let Y be all items, except s, that can be known and are in all rows of H with X. Then Y contains X;
the rows of H that contain Y are those that contain X; the other rows that contain Y also contain X. So Y
reveals at least as much about s as X does. The argument is the same for all definitions of items that can be
known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, faces
from setveil.base.jit import compiled
from setveil.base.progress import Progress
from setveil.base.sorting import sort_piece
from setveil.judges.guarantees.verify._inference import PAUSE, KnownRows
from setveil.judges.guarantees.verify._projection import (
    add_level,
    first_level,
    holding,
    lacks_room,
    mark_items,
    room_for_places,
    with_room,
)  # fmt: skip

MOST_LISTED = 1000  # rules of which the smallest sets are looked for
MOST_IDS = 10_000_000  # in all of these

Ints = NDArray[np.int64]


def too_many(phrase: str) -> RequestError:
    """Say that a guarantee cannot be checked by walking all closed sets."""
    return RequestError(
        f"{phrase} cannot be checked: the rows have too many rules to look at, and none that was breaks it.",
        hint="Bound how many items someone may know, to 2 or 3: "
        + faces("--model km-rho with --m.", "setveil.KmRho(k=1, m=2, ...)."),
    )


class ClosedRules:
    """Walk the closed sets of the rows of each sensitive item, each set once.

    `limit`: int64 (n_rows + 1,), how many of this many rows may contain a sensitive item. `violations` are
    closed sets that reveal one. `best` has the set of greatest confidence, then support, for each; no item of
    it can be suppressed. `first` has minimal sets of the first violations, by size, then order.
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
        bounds, secrets, counts = rows.companions
        order = np.argsort(secrets, kind="stable")
        holders = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))[order]
        ends = np.cumsum(np.bincount(secrets, minlength=rows.secrets.size))
        self._holders = list(
            zip(np.split(holders, ends[:-1]), np.split(counts[order], ends[:-1]), strict=True)
        )

    def walk(self, least: int, most_steps: int, most_after: int, show: int) -> None:
        """Walk closed sets of `least` rows or more, for `most_steps`, `most_after` after a violation."""
        found: set[tuple[tuple[int, ...], int, int, int]] = set()
        for s in range(self.rows.secrets.size):
            counts = self._counts_of(s)
            for closed in self._walk_one(s, counts, least, most_steps, most_after, show):
                fewer, support, count = self._least(s, counts, closed, lambda n, c: c > int(self.limit[n]))
                found.add((fewer, s, support, count))
        self.first = sorted(found, key=lambda one: (len(one[0]), one[:2]))[:show]

    def _counts_of(self, s: int) -> Ints:
        """Count, for each distinct known part, the rows that contain a sensitive item."""
        holders, of_holders = self._holders[s]
        counts = np.zeros(self.rows.rows[2].size, np.int64)
        counts[holders] = of_holders
        return counts

    def _walk_one(
        self, s: int, counts: Ints, least: int, most_steps: int, most_after: int, show: int
    ) -> list[tuple[int, ...]]:
        """Walk the closed sets of the rows of one sensitive item, and return those that reveal it."""
        rows, secret = self.rows, int(self.rows.secrets[s])
        indptr, _, weights = rows.rows
        root = self._common(s)
        support, count = self._count(s, counts, root)
        rooted = np.ones(weights.size, np.bool_)
        if root:
            rooted[:] = False
            rooted[self._holding(root)] = True
        n, width = rows.holders[0].size - 1, int(np.diff(indptr).max(initial=0)) + 1
        room = min(MOST_LISTED // rows.secrets.size + 1, MOST_IDS // width) if show else 0
        listed = np.zeros((room, width), np.int64)  # length, ids
        best, best_set = np.array([count, support], np.int64), np.zeros(width, np.int64)
        best_set[0], best_set[1 : len(root) + 1] = len(root), root
        state = np.zeros(N_STATE, np.int64)
        state[STEPS], state[LEAST] = self._steps, least
        state[MOST_STEPS], state[MOST_AFTER] = most_after if self.violations else most_steps, most_after
        out = [root] if count > self.limit[support] else []
        slot, item = np.zeros(n, np.int64), 0
        while item < n and not self.stopped:
            item = _walk_from(
                rows.rows, rows.holders, counts, secret, self.limit, item, np.array(root, np.int64), rooted,
                best, best_set, listed, slot, state,
            )  # fmt: skip
            self.stopped = bool(state[STOPPED])
            self.progress("verifying what known items tell", (s + item / n) / rows.secrets.size)
        self._steps = int(state[STEPS])
        self.violations += len(out) + int(state[FOUND])
        out += [tuple(entry[1 : entry[0] + 1]) for entry in listed[: state[LISTED]].tolist()]
        most_count, most_support = best.tolist()
        most = tuple(best_set[1 : best_set[0] + 1].tolist())
        self.best[s] = self._least(s, counts, most, lambda n, c: c * most_support >= most_count * n)
        return out[:room]

    def _common(self, s: int) -> tuple[int, ...]:
        """Return the items that can be known of all rows with a sensitive item."""
        indptr, ids, _ = self.rows.rows
        holders, counts = self._holders[s]
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
        there: Ints = holding(self.rows.rows, self.rows.holders, np.array(ids, np.int64))
        return there

    def _count(self, s: int, counts: Ints, ids: tuple[int, ...]) -> tuple[int, int]:
        """Count the rows that contain a set, and those that also contain a sensitive item."""
        if not ids:
            return self.rows.n_rows, int(self.rows.supports[s])
        there = self._holding(ids)
        return int(self.rows.rows[2][there].sum()), int(counts[there].sum())

    def _least(
        self, s: int, counts: Ints, ids: tuple[int, ...], enough: Callable[[int, int], bool]
    ) -> tuple[tuple[int, ...], int, int]:
        """Suppress items, in item order and then again, as long as support and count are still `enough`."""
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
    rows, holders, counts, secret, limit, item, root, rooted, best, best_set, listed, slot, state
):  # fmt: skip
    """Walk the closed sets beyond the root from `item` on; return where it paused.

    A closed set P whose last extension was by x is extended by each item e > x: Q is what the rows of H with
    P and e have in common. If Q has an item below e that P lacks, it is reached elsewhere (Uno, Kiyomi,
    Arimura, LCM ver. 2, FIMI 2004: prefix preserving closure extension). A level has the rows that contain
    its set, in H or not, and those items of theirs that some row of H has there.
    """
    n, width, least = holders.starts.size - 1, best_set.size, state[LEAST]
    pause = state[STEPS] + PAUSE
    levels = first_level(holders, item, width + 1)
    kept, telling = room_for_places(holders), room_for_places(holders)
    closed, common = np.zeros(width + 1, np.int64), np.zeros(width + 1, np.int64)
    sizes = np.zeros(width + 2, np.int64)
    closed[: root.size], sizes[0] = root, root.size
    slot[root], slot[secret] = -1, -1  # not to be added
    d = 0
    while True:
        here = levels.current[d]
        if here == levels.end[d]:
            if d == 0:
                break
            slot[closed[sizes[d - 1] : sizes[d]]] = 0
            d -= 1
            continue
        if state[STEPS] > (state[MOST_AFTER] if state[FOUND] else state[MOST_STEPS]):
            state[STOPPED] = 1
            break
        if d == 0 and state[STEPS] > pause:
            break
        levels.current[d] += 1
        e = levels.item[here]
        if slot[e] < 0:
            continue
        # Q: the closure of P and e. It is reached elsewhere if it has an item below e that P lacks.
        n_common, count = _find_common(rows, levels, here, counts, slot, common, state)
        if n_common == 0 or common[0] < e:
            continue
        if count <= limit[least] and count * best[1] <= best[0] * least:
            continue
        # The rows that hold Q, and whether Q is a violation, or tells more than all before.
        n_kept, support = _keep(rows, levels, here, common[:n_common], d > 0, rooted, kept, state)
        size = sizes[d] + n_common
        closed[sizes[d] : size] = common[:n_common]
        slot[common[:n_common]] = -1
        if count > limit[support]:
            state[FOUND] += 1
            if state[LISTED] < listed.shape[0]:
                _write(closed[:size], listed[state[LISTED]])
                state[LISTED] += 1
        one, other = count * best[1], best[0] * support
        if one > other or (one == other and support > best[1]):
            best[0], best[1] = count, support
            _write(closed[:size], best_set)

        # The next level: the rows that tell of the sensitive item say what may extend Q.
        n_telling, total = 0, np.int64(0)
        for at in range(n_kept):
            tail = rows.indptr[kept.row[at] + 1] - kept.place[at]
            state[STEPS] += tail
            total += tail - 1
            if counts[kept.row[at]] > 0:
                telling.row[n_telling], telling.place[n_telling] = kept.row[at], kept.place[at]
                n_telling += 1
        if lacks_room(levels, d, min(total, n), total):
            levels = with_room(levels, d, min(total, n), total)
        m = mark_items(rows.indptr, rows.items, telling, n_telling, levels, d, slot)
        add_level(rows.indptr, rows.items, kept, n_kept, levels, d, m, slot)
        d += 1
        sizes[d] = size
    slot[closed[: sizes[d]]] = 0
    slot[secret] = 0
    return levels.current[0]


@compiled
def _find_common(rows, levels, here, counts, slot, common, state):
    """Find the items, beyond the set, that all rows of H with an item contain, and count these rows."""
    indptr, items = rows.indptr, rows.items
    n, count = 0, np.int64(0)
    for at in range(levels.begin[here], levels.begin[here + 1]):
        g = levels.row[at]
        count += counts[g]
        if counts[g] == 0 or n == 1:  # nothing but the item itself
            continue
        state[STEPS] += indptr[g + 1] - indptr[g]
        if n == 0:
            for p in range(indptr[g], indptr[g + 1]):
                if slot[items[p]] >= 0:
                    common[n] = items[p]
                    n += 1
            continue
        p, same = indptr[g], 0
        for i in range(n):
            while p < indptr[g + 1] and items[p] < common[i]:
                p += 1
            if p < indptr[g + 1] and items[p] == common[i]:
                common[same] = common[i]
                same += 1
        n = same
    state[STEPS] += levels.begin[here + 1] - levels.begin[here]
    return n, count


@compiled
def _keep(rows, levels, here, common, every, rooted, kept, state):
    """Write the places of the first item of `common` in rows with all of `common`; add them up."""
    n, support = 0, np.int64(0)
    for at in range(levels.begin[here], levels.begin[here + 1]):
        g = levels.row[at]
        i, p = 1, levels.place[at] + 1
        while i < common.size and p < rows.indptr[g + 1] and rows.items[p] <= common[i]:
            if rows.items[p] == common[i]:
                i += 1
            p += 1
        state[STEPS] += p - levels.place[at]
        if i == common.size and (every or rooted[g]):
            kept.row[n], kept.place[n] = g, levels.place[at]
            n += 1
            support += rows.weights[g]
    return n, support


@compiled
def _write(closed, entry):
    """Write a set's size and its items in order."""
    entry[0] = closed.size
    entry[1 : closed.size + 1] = closed
    sort_piece(entry, 1, closed.size + 1)
