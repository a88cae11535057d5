"""Inferences from known items about sensitive ones: rules counted by size, by no algorithm's kernel."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from setveil.base.jit import compiled
from setveil.base.progress import Progress
from setveil.judges.guarantees.verify._projection import (
    Companions,
    Ints,
    Places,
    Rows,
    add_level,
    companions_of,
    distinct_rows,
    first_level,
    holders_of,
    lacks_room,
    mark_items,
    project,
    room_for_places,
    with_room,
)  # fmt: skip
from setveil.rows.data.transactions import Transactions

PAUSE = 50_000_000  # steps between two reports of progress
OVERHEAD = 20  # steps that any set counts for, besides its rows


@dataclass(frozen=True)
class Learned:
    """An inference from a set of known items about a sensitive item."""

    item: str
    itemset: tuple[str, ...]  # what is known, in item order
    support: int  # rows that hold the itemset (all, if it is empty)
    sensitive_rows: int  # how many of these hold the sensitive item, too

    @property
    def confidence(self) -> Fraction:
        """Share of the rows with the sensitive item."""
        return Fraction(self.sensitive_rows, self.support)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types, the confidence rounded."""
        return {
            "item": self.item,
            "itemset": list(self.itemset),
            "support": self.support,
            "sensitive_rows": self.sensitive_rows,
            "confidence": float(self.confidence),
        }

    def as_violation(self) -> dict[str, Any]:
        """Return it as an entry of a list of violations."""
        return {
            "itemset": list(self.itemset),
            "support": self.support,
            "betrays": self.item,
            "sensitive_rows": self.sensitive_rows,
            "confidence": float(self.confidence),
        }


class KnownRows:
    """Published rows by their known parts, merged if equal, and the sensitive items with each.

    `secrets`, `supports`: int64 (n_secrets,), ids ascending; `rows`: boundaries, ids and weights of distinct
    known parts that are not empty; `told`: for each of these boundaries, positions in `secrets`, numbers of
    rows; `holders`: for each id boundaries, rows and places in the ids of `rows`. `longest` is the most items
    that can be known of a row in addition to a sensitive item of it.
    """

    def __init__(self, published: Transactions, sensitive: Collection[str], *, public_only: bool) -> None:
        labels = published.vocabulary.labels
        n, hidden = len(labels), set(sensitive)
        secret = np.fromiter((label in hidden for label in labels), bool, n)
        supports = np.bincount(published.items, minlength=n)
        self.labels, self.n_rows = labels, published.n_rows
        self.secrets = np.flatnonzero(secret & (supports > 0)).astype(np.int64)
        self.supports = supports[self.secrets].astype(np.int64)
        row_of = np.repeat(np.arange(published.n_rows), np.diff(published.indptr))
        is_secret = secret[published.items]
        self.known = published
        if public_only and self.secrets.size:
            ends = np.cumsum(np.bincount(row_of[~is_secret], minlength=published.n_rows))
            self.known = Transactions(
                np.concatenate(([0], ends)), published.items[~is_secret], published.vocabulary
            )

        numbers, self.rows = distinct_rows(self.known.indptr, self.known.items)
        lengths = np.diff(self.rows.indptr)
        self.holders = holders_of(self.rows, n)
        place = np.zeros(n, np.int64)
        place[self.secrets] = np.arange(self.secrets.size)
        self.companions = companions_of(
            numbers[row_of[is_secret]], place[published.items[is_secret]], lengths.size, self.secrets.size
        )
        besides = lengths[np.diff(self.companions.indptr) > 0] - (0 if public_only else 1)
        self.longest = int(besides.max(initial=0))

    def named(self, secret: int, ids: Collection[int], support: int, count: int) -> Learned:
        """Name what a set of known ids reveals about one of the `secrets`."""
        item = self.labels[self.secrets[secret]]
        return Learned(item, tuple(self.labels[x] for x in sorted(ids)), support, count)


def allowed(rho: Fraction, n_rows: int) -> Ints:
    """Compute how many of 0, 1, ..., n_rows rows may contain a sensitive item."""
    return np.array([rows * rho.numerator // rho.denominator for rows in range(n_rows + 1)], np.int64)


def greatest(confidences: Collection[Learned]) -> Learned | None:
    """Choose the greatest confidence: of equal ones the smallest itemset, greatest support, first item."""
    return max(confidences, key=lambda one: (one.confidence, -len(one.itemset), one.support), default=None)


class Rules:
    """Count the sensitive items that known sets reveal, one size after the other from the empty set on.

    `limit`: int64 (n_rows + 1,), how many of this many rows may contain a sensitive item. `first` is in the
    order of size, items, sensitive item; `best` has the most revealing set of each sensitive item: the
    smallest, then that of greatest support, then the first. All sets of up to `size` items were seen, and
    none of up to `safe_size` reveals anything (0 even if the empty set does). `steps` are items of rows.
    """

    def __init__(self, rows: KnownRows, limit: Ints, show: int, progress: Progress) -> None:
        self.rows, self.limit, self.show, self.progress = rows, limit, show, progress
        n, supports = rows.n_rows, rows.supports.tolist()
        betrayed = [s for s, count in enumerate(supports) if count > limit[n]]
        self.violations = len(betrayed)
        self.first: list[tuple[tuple[int, ...], int, int, int]] = [
            ((), s, n, supports[s]) for s in betrayed[:show]
        ]
        self.best: list[tuple[tuple[int, ...], int, int]] = [((), n, count) for count in supports]
        self.size = self.safe_size = 0
        self.stopped = False
        self.steps = 0

    def count(self, least: int, most_steps: int, most_after: int, *, learn: bool = True) -> None:
        """Look at the sets of one item more, in `least` rows or more, for violations alone unless `learn`."""
        rows, size, q = self.rows, self.size + 1, self.rows.secrets.size
        n = rows.holders[0].size - 1
        state = np.zeros(N_STATE, np.int64)
        state[STEPS], state[LEAST], state[LEARN] = self.steps, least, learn
        state[MOST_STEPS], state[MOST_AFTER], state[KNOWN] = most_steps, most_after, self.violations > 0
        best = np.array([(count, support, len(ids), 0) for ids, support, count in self.best], np.int64)
        sets, path = np.zeros((q, size), np.int64), np.zeros(size, np.int64)
        listed = np.zeros((max(self.show - len(self.first), 0), size + 3), np.int64)
        tails = np.zeros((int(np.diff(rows.rows[0]).max()) + 1, size + 1), np.int64)
        of_items, of_secrets = np.zeros((3, n), np.int64), np.zeros((4, q), np.int64)
        item = 0
        facts = Facts(rows.rows, rows.companions, rows.secrets, self.limit)
        notes = Notes(best, sets, listed, tails, path, of_items, of_secrets, state)
        while item < n and not state[STOPPED]:
            item = _count_from(facts, rows.holders, item, notes)
            self.progress(f"verifying what {size} known item{'s' if size > 1 else ''} tell", item / n)
        for entry in listed[: state[LISTED]].tolist():
            self.first.append((tuple(entry[:-3]), *entry[-3:]))
        for s, (count, support, of_size, _) in enumerate(best.tolist()):
            if of_size == size:
                self.best[s] = tuple(sets[s].tolist()), support, count
        self.violations += int(state[FOUND])
        for length, chosen in zip(*np.nonzero(tails), strict=True):
            self.violations += int(tails[length, chosen]) * math.comb(int(length), int(chosen))
        self.stopped, self.steps = bool(state[STOPPED]), int(state[STEPS])
        if not self.stopped:
            self.size = size
            if not self.violations:
                self.safe_size = size


# Places in `state`, which the loops share.
STEPS, MOST_STEPS, MOST_AFTER, STOPPED, LEAST, LEARN, FOUND, KNOWN, LISTED, PREFIX, N_STATE = range(11)
# Rows of `of_items` and `of_secrets`, all of which are 0 between two uses.
SUMS, GOT, SLOT = range(3)
LEVEL, HELD, PAIRS, BEGIN = range(4)


class Facts(NamedTuple):
    """The input: known parts of rows, sensitive items with them, and limits of rows with one."""

    rows: Rows
    companions: Companions
    secrets: Ints
    limit: Ints


class Notes(NamedTuple):
    """The findings, and the memory of the loops."""

    best: Ints  # count, support, size and prefix for each sensitive item
    sets: Ints
    listed: Ints
    tails: Ints
    path: Ints
    of_items: Ints
    of_secrets: Ints
    state: Ints


class CutRows(NamedTuple):
    """The rows of all levels: what they were cut off from is row ``owner[r]`` of all rows."""

    indptr: Ints
    items: Ints
    owner: Ints


@compiled
def _count_from(facts, holders, item, notes):
    """Look at the sets of ``path.size`` items whose first is `item` or a later one; return where it paused.

    A level has rows of its own: the items behind its path in rows with enough of these, if a sensitive item
    that may still matter is there, too.
    """
    rows, path, state = facts.rows, notes.path, notes.state
    starts, secret_at, _ = facts.companions
    level, held, slot = notes.of_secrets[LEVEL], notes.of_secrets[HELD], notes.of_items[SLOT]
    n, size, n_rows = holders.starts.size - 1, path.size, rows.weights.size
    pause = state[STEPS] + PAUSE
    cut = CutRows(rows.indptr.copy(), rows.items.copy(), np.arange(n_rows + 1))
    if size == 1:
        kept = Places(np.arange(n_rows), rows.indptr[:-1] - 1)
        _judge(facts, cut, kept, n_rows, 0, np.arange(facts.secrets.size), notes)
        return n
    # Level d has the rows that hold path[:d], cut off; what stands there may be path[d].
    kept, telling = room_for_places(holders), room_for_places(holders)
    levels = first_level(holders, item, size)
    alive_of, n_alive = np.zeros((size + 1, facts.secrets.size), np.int64), np.zeros(size + 1, np.int64)
    end = np.zeros(size + 1, np.int64)  # of the rows of each level
    end[0] = n_rows
    d = 0
    while True:
        here = levels.current[d]
        if here == levels.end[d]:
            if d == 0:
                return n
            for s in alive_of[d, : n_alive[d]]:
                level[s] = d - 1
            d -= 1
            continue
        if d == 0 and state[STEPS] > pause:
            return here
        levels.current[d] += 1
        path[d] = levels.item[here]
        # The rows with path[: d + 1] that can still make a set, and the sensitive items it may tell of.
        choose = size - d - 1
        n_kept, total = project(cut.indptr, levels, here, choose, kept)
        state[STEPS] += levels.begin[here + 1] - levels.begin[here] + OVERHEAD
        n_alive[d + 1] = _find_alive(
            facts.companions, facts.secrets, facts.limit, cut.owner, kept.row, n_kept, d, path[d], alive_of,
            level, held, notes.best, state,
        )  # fmt: skip
        if state[STEPS] > (state[MOST_AFTER] if state[KNOWN] else state[MOST_STEPS]):
            state[STOPPED] = 1
            return levels.current[0]
        alive = alive_of[d + 1, : n_alive[d + 1]]
        if alive.size == 0:
            continue
        # In a single row, all sets with the path tell the same. Sets of one item more are judged at once.
        if n_kept == 1 and _judge_one(facts, cut, kept.row[0], kept.place[0] + 1, d + 1, choose, notes):
            continue
        for s in alive:
            level[s] = d + 1
        if choose == 1:
            _judge(facts, cut, kept, n_kept, d + 1, alive, notes)
            for s in alive:
                level[s] = d
            continue
        # The next level: the rows with an item that is alive say what may continue the path.
        state[STEPS] += 2 * total
        n_telling = 0
        for at in range(n_kept):
            g = cut.owner[kept.row[at]]
            for q in range(starts[g], starts[g + 1]):
                if level[secret_at[q]] == d + 1:
                    telling.row[n_telling], telling.place[n_telling] = kept.row[at], kept.place[at]
                    n_telling += 1
                    break
        if lacks_room(levels, d, min(total, n), total):
            levels = with_room(levels, d, min(total, n), total)
        m = mark_items(cut.indptr, cut.items, telling, n_telling, levels, d, slot)
        if end[d] + n_kept >= cut.indptr.size or cut.indptr[end[d]] + total > cut.items.size:
            cut = _with_room(cut, end[d] + n_kept, cut.indptr[end[d]] + total)
        n_kept = _cut_rows(cut, kept, n_kept, end[d], choose, slot)
        add_level(cut.indptr, cut.items, kept, n_kept, levels, d, m, slot)
        d += 1
        end[d] = end[d - 1] + n_kept


@compiled
def _find_alive(
    companions, secrets, limit, owner, kept, n, d, last, alive_of, level, held, best, state
):  # fmt: skip
    """Write the sensitive items that sets with path[: d + 1] may tell something new of; return how many."""
    indptr, companions, counts = companions
    alive, least = alive_of[d + 1], state[LEAST]
    met = 0
    for at in range(n):
        g = owner[kept[at]]
        state[STEPS] += indptr[g + 1] - indptr[g]
        for q in range(indptr[g], indptr[g + 1]):
            s = companions[q]
            if level[s] == d and secrets[s] != last:
                if held[s] == 0:
                    alive[met] = s
                    met += 1
                held[s] += counts[q]
    found = 0
    for i in range(met):
        s = alive[i]
        if held[s] > limit[least] or (state[LEARN] and held[s] * best[s, 1] > best[s, 0] * least):
            alive[found] = s
            found += 1
        held[s] = 0
    return found


@compiled
def _with_room(cut, n_rows, n_items):
    """Return the rows with room for this many in all, and for this many items."""
    indptr, items, owner = cut
    while n_rows + 1 > indptr.size:
        indptr, owner = (
            np.concatenate((indptr, np.empty_like(indptr))),
            np.concatenate((owner, np.empty_like(owner))),
        )
    while n_items > items.size:
        items = np.concatenate((items, np.empty_like(items)))
    return CutRows(indptr, items, owner)


@compiled
def _cut_rows(cut, kept, n, end, least, slot):
    """Add the items of positive `slot` behind the places `kept` as rows from number `end` on, if `least`.

    `kept` becomes the places just before the new rows. There must be room. Returns the number of these items.
    """
    indptr, items, owner = cut
    new, to = end, indptr[end]
    for at in range(n):
        row = kept.row[at]
        for p in range(kept.place[at] + 1, indptr[row + 1]):
            if slot[items[p]] > 0:
                items[to] = items[p]
                to += 1
        if to - indptr[new] >= least:
            owner[new] = owner[row]
            kept.row[new - end], kept.place[new - end] = new, indptr[new] - 1
            new += 1
            indptr[new] = to
        else:
            to = indptr[new]
    return new - end


@compiled
def _judge_one(facts, cut, row, start, depth, choose, notes):
    """Look at all sets of path[:depth] and `choose` items behind it, if all are in the same one row.

    Returns False, and does nothing, if some of them must be listed one by one.
    """
    companions, secrets, limit = facts.companions, facts.secrets, facts.limit
    best, sets, path, state = notes.best, notes.sets, notes.path, notes.state
    level, ids = notes.of_secrets[LEVEL], cut.items
    g, end = cut.owner[row], cut.indptr[row + 1]
    support = facts.rows.weights[g]
    if state[LISTED] < notes.listed.shape[0]:
        for q in range(companions.indptr[g], companions.indptr[g + 1]):
            if level[companions.secrets[q]] == depth - 1 and companions.counts[q] > limit[support]:
                return False
    for q in range(companions.indptr[g], companions.indptr[g + 1]):
        s, count = companions.secrets[q], companions.counts[q]
        if level[s] != depth - 1 or secrets[s] == path[depth - 1]:
            continue
        length = end - start
        for p in range(start, end):
            if ids[p] == secrets[s]:
                length -= 1
        if length < choose:
            continue
        if count > limit[support]:
            notes.tails[length, choose] += 1
            state[KNOWN] = 1
        one, other = count * best[s, 1], best[s, 0] * support
        better = one > other or (one == other and best[s, 2] == path.size and support > best[s, 1])
        if state[LEARN] and better:
            best[s, 0], best[s, 1], best[s, 2], best[s, 3] = count, support, path.size, 0
            sets[s, :depth] = path[:depth]
            n, p = depth, start
            while n < path.size:
                if ids[p] != secrets[s]:
                    sets[s, n] = ids[p]
                    n += 1
                p += 1
    return True


@compiled
def _judge(facts, cut, kept, n, depth, alive, notes):
    """Examine what path[:depth] and one item behind it reveal about the sensitive items that are `alive`."""
    secrets, limit, weights = facts.secrets, facts.limit, facts.rows.weights
    best, state, listed = notes.best, notes.state, notes.listed
    sums, got = notes.of_items[SUMS], notes.of_items[GOT]
    pairs, begin = notes.of_secrets[PAIRS], notes.of_secrets[BEGIN]
    ptr, ids, owner = cut
    row_of, place_of = kept
    sets, path = notes.sets, notes.path
    starts, secret_at, count_at = facts.companions
    level = notes.of_secrets[LEVEL]
    # How many rows hold each item behind the path, and how many of them each sensitive item comes with.
    tail, n_pairs = 0, 0
    for at in range(n):
        row = row_of[at]
        g = owner[row]
        state[STEPS] += ptr[row + 1] - place_of[at]
        tail = max(tail, ptr[row + 1] - place_of[at] - 1)
        for p in range(place_of[at] + 1, ptr[row + 1]):
            sums[ids[p]] += weights[g]
        for q in range(starts[g], starts[g + 1]):
            if level[secret_at[q]] == depth:
                pairs[secret_at[q]] += 1
                n_pairs += 1

    # The rows of each sensitive item.
    pair_at, pair_count = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
    n_pairs = 0
    for s in alive:
        begin[s] = n_pairs
        n_pairs += pairs[s]
    for at in range(n):
        g = owner[row_of[at]]
        for q in range(starts[g], starts[g + 1]):
            s = secret_at[q]
            if level[s] == depth:
                pair_at[begin[s]], pair_count[begin[s]] = at, count_at[q]
                begin[s] += 1

    # For each sensitive item, how many of its rows hold each item behind the path.
    state[PREFIX] += 1
    room = listed.shape[0] - state[LISTED]
    found = 0
    touched = np.empty(tail, np.int64)
    entries = np.empty((8 if room > 0 else 0, 4), np.int64)
    for s in alive:
        n_touched = 0
        for e in range(begin[s] - pairs[s], begin[s]):
            row, place = row_of[pair_at[e]], place_of[pair_at[e]]
            state[STEPS] += ptr[row + 1] - place
            while n_touched + ptr[row + 1] - place > touched.size:
                touched = np.concatenate((touched, np.empty(touched.size + 8, np.int64)))
            for p in range(place + 1, ptr[row + 1]):
                z = ids[p]
                if got[z] == 0:
                    touched[n_touched] = z
                    n_touched += 1
                got[z] += pair_count[e]
        pairs[s], begin[s] = 0, 0
        for z in touched[:n_touched]:
            count, support = got[z], sums[z]
            got[z] = 0
            if z == secrets[s]:
                continue
            # A violation: too many of the rows with the path and z have s.
            if count > limit[support]:
                state[KNOWN] = 1
                if room > 0:
                    if found == entries.shape[0]:
                        entries = np.concatenate((entries, np.empty_like(entries)))
                    entries[found, 0], entries[found, 1] = z * secrets.size + s, s
                    entries[found, 2], entries[found, 3] = support, count
                found += 1
            # What tells most of s: the greatest share, of equals a smaller set, greater support, the first.
            if state[LEARN]:
                one, other = count * best[s, 1], best[s, 0] * support
                better = one > other
                if one == other and best[s, 2] == depth + 1:
                    better = support > best[s, 1] or (
                        support == best[s, 1] and best[s, 3] == state[PREFIX] and z < sets[s, depth]
                    )
                if better:
                    best[s, 0], best[s, 1], best[s, 2], best[s, 3] = count, support, depth + 1, state[PREFIX]
                    sets[s, :depth] = path[:depth]
                    sets[s, depth] = z
    state[FOUND] += found
    if room > 0 and found > 0:
        _list_first(entries[:found], room, secrets.size, depth, notes)
    for at in range(n):
        for p in range(place_of[at] + 1, ptr[row_of[at] + 1]):
            sums[ids[p]] = 0


@compiled
def _list_first(entries, room, q, depth, notes):
    """List as many entries as there is room for, in order of their items, then of the sensitive ones."""
    listed, state = notes.listed, notes.state
    for _ in range(min(room, entries.shape[0])):
        e = -1
        for i in range(entries.shape[0]):
            if entries[i, 0] >= 0 and (e < 0 or entries[i, 0] < entries[e, 0]):
                e = i
        listed[state[LISTED], :depth] = notes.path[:depth]
        listed[state[LISTED], depth] = entries[e, 0] // q
        listed[state[LISTED], depth + 1 :] = entries[e, 1:]
        entries[e, 0] = -1  # listed
        state[LISTED] += 1
