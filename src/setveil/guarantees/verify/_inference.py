"""What known items tell of sensitive ones: rules counted size by size; no kernel of an algorithm is used."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.jit import compiled
from setveil.progress import Progress
from setveil.sorting import sort_piece

PAUSE = 50_000_000  # steps between two reports of progress
OVERHEAD = 20  # steps that any set counts for, besides its rows

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Learned:
    """What a set of known items tells of a sensitive one.

    Attributes
    ----------
    item : str
        The sensitive item.
    itemset : tuple of str
        What is known, in item order.
    support : int
        Rows that hold the itemset (all, if it is empty).
    sensitive_rows : int
        How many of these hold the sensitive item, too.
    """

    item: str
    itemset: tuple[str, ...]
    support: int
    sensitive_rows: int

    @property
    def confidence(self) -> Fraction:
        """Share of the rows that hold the sensitive item."""
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
    """Published rows by what someone may know of them: distinct known parts, and what is sensitive with each.

    Parameters
    ----------
    published : Transactions
        The published rows.
    sensitive : collection of str
        Labels; those that no row holds are left out.
    public_only : bool
        Whether sensitive items cannot be known.

    Attributes
    ----------
    known : Transactions
        The rows without what cannot be known, of the same vocabulary.
    secrets, supports : int64 (n_secrets,)
        Ids of the sensitive items, ascending, and how many rows hold each.
    rows : tuple of arrays
        Distinct known parts that are not empty: boundaries, ids, and for how many rows each stands.
    told : tuple of arrays
        For each of these the sensitive items with it: boundaries, positions in `secrets`, in how many rows.
    holders : tuple of arrays
        For each id where it stands: boundaries, rows, places in the ids of `rows`.
    longest : int
        Most items that can be known of a row besides a sensitive item of it.
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

        content = np.ascontiguousarray(self.known.items, np.int32).tobytes()
        seen: dict[bytes, int] = {b"": 0}
        group = np.fromiter(
            (seen.setdefault(content[a:b], len(seen)) for a, b in pairwise((4 * self.known.indptr).tolist())),
            np.int64,
            published.n_rows,
        )
        lengths = np.fromiter((len(key) // 4 for key in seen), np.int64, len(seen))[1:]
        ids = np.frombuffer(b"".join(seen), np.int32).astype(np.int64)
        weights = np.bincount(group, minlength=len(seen)).astype(np.int64)[1:]
        self.rows = _starts(lengths), ids, weights

        place = np.zeros(n, np.int64)
        place[self.secrets] = np.arange(self.secrets.size)
        q = max(self.secrets.size, 1)
        pairs, counts = np.unique(
            group[row_of[is_secret]] * q + place[published.items[is_secret]], return_counts=True
        )
        later = pairs >= q  # with something known
        bounds = np.searchsorted(pairs[later], np.arange(1, len(seen) + 1) * q).astype(np.int64)
        self.told = bounds, pairs[later] % q, counts[later].astype(np.int64)

        places = np.argsort(ids, kind="stable")
        self.holders = (
            _starts(np.bincount(ids, minlength=n)),
            np.repeat(np.arange(lengths.size), lengths)[places],
            places,
        )
        besides = lengths[np.diff(bounds) > 0] - (0 if public_only else 1)
        self.longest = int(besides.max(initial=0))

    def named(self, secret: int, ids: Collection[int], support: int, count: int) -> Learned:
        """Name what a set of known ids tells of one of the `secrets`."""
        item = self.labels[self.secrets[secret]]
        return Learned(item, tuple(self.labels[x] for x in sorted(ids)), support, count)


def _starts(lengths: NDArray[np.integer]) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def allowed(rho: Fraction, n_rows: int) -> Ints:
    """Tell how many of 0, 1, ..., n_rows rows may hold a sensitive item."""
    return np.array([rows * rho.numerator // rho.denominator for rows in range(n_rows + 1)], np.int64)


def greatest(confidences: Collection[Learned]) -> Learned | None:
    """Choose the greatest confidence: of equal ones the smallest itemset, greatest support, first item."""
    return max(confidences, key=lambda one: (one.confidence, -len(one.itemset), one.support), default=None)


class Rules:
    """Counts what sets of known items tell, one size after the other, and remembers what it saw.

    Made, it has looked at the empty set.

    Parameters
    ----------
    rows : KnownRows
        Some row of which holds a sensitive item.
    limit : int64 (n_rows + 1,)
        How many of so many rows may hold a sensitive item.
    show : int
        How many violations to list.
    progress : Progress
        Hears how far it is.

    Attributes
    ----------
    violations : int
        Pairs of a known set and a sensitive item that it gives away.
    first : list of (itemset, secret, support, count)
        The first of them: smaller itemsets first, then item order, then the sensitive item's.
    best : list of (itemset, support, count)
        For each sensitive item what tells most of it: the smallest set, then that of greatest support, then
        the first in item order.
    size : int
        All sets of up to so many items were looked at.
    safe_size : int
        No set of up to this size gives a sensitive item away (0, too, if the empty one does).
    steps : int
        Items of rows that were looked at.
    stopped : bool
        Whether counting stopped early.
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
        """Look at the sets of one item more.

        Parameters
        ----------
        least : int
            No known set of this size that some row holds is in fewer rows.
        most_steps, most_after : int
            After how many steps to stop, and after how many with a violation.
        learn : bool
            Whether to look for what tells most. If not, only for violations.
        """
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
        while item < n and not state[STOPPED]:
            item = _count_from(
                *rows.rows, *rows.told, *rows.holders, rows.secrets, self.limit, item, best, sets, listed,
                path, tails, of_items, of_secrets, state,
            )  # fmt: skip
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


@compiled
def _count_from(
    indptr, items, weights, p_indptr, p_items, p_counts, starts, rows, places, secrets, limit, item, best,
    sets, listed, path, tails, of_items, of_secrets, state,
):  # fmt: skip
    """Look at the sets of ``path.size`` items whose first is `item` or a later one; return where it paused.

    Level d holds the rows projected behind path[:d]: their items after that path, in rows that have enough of
    them, as far as they stand there with a sensitive item that may still matter. Its items stand in `item_of`
    in order, with the places where they occur. Levels lie one behind the other in arrays that grow.
    """
    n, size = starts.size - 1, path.size
    pause = state[STEPS] + PAUSE
    level, held, slot = of_secrets[LEVEL], of_secrets[HELD], of_items[SLOT]
    ids, row_of, place_of, ptr = items.copy(), rows.copy(), places.copy(), indptr.copy()
    owner = np.arange(weights.size + 1)
    if size == 1:
        alive = np.arange(secrets.size)
        before = indptr[:-1] - 1
        _judge(
            weights, p_indptr, p_items, p_counts, secrets, limit, 0, 0, weights.size, owner, before, ptr, ids,
            owner, alive, best, sets, listed, path, of_items, of_secrets, state,
        )  # fmt: skip
        return n
    item_of, begin = np.arange(n + 1), starts.copy()
    first_row, first_id = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    first_item, items_of = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    current = np.zeros(size + 1, np.int64)
    alive_of, n_alive = np.zeros((size + 1, secrets.size), np.int64), np.zeros(size + 1, np.int64)
    first_row[1], first_id[1], first_item[1] = ptr.size, ids.size, begin.size
    items_of[0] = n
    current[0] = item
    least = state[LEAST]
    d = 0
    while True:
        if current[d] == items_of[d]:
            if d == 0:
                return n
            for s in alive_of[d, : n_alive[d]]:
                level[s] = d - 1
            d -= 1
            continue
        if d == 0 and state[STEPS] > pause:
            return current[0]
        here = first_item[d] + current[d]
        current[d] += 1
        y = item_of[here]
        path[d] = y
        lo, hi = begin[here], begin[here + 1]
        choose = size - d - 1

        # The sensitive items that sets with this path may yet tell something new of.
        alive, met = alive_of[d + 1], 0
        state[STEPS] += hi - lo + OVERHEAD
        n_rows, total = 0, np.int64(0)
        for at in range(lo, hi):
            tail = ptr[row_of[at] + 1] - place_of[at] - 1
            if tail >= choose:
                n_rows += 1
                total += tail
                only = at
                g = owner[row_of[at]]
                state[STEPS] += p_indptr[g + 1] - p_indptr[g]
                for q in range(p_indptr[g], p_indptr[g + 1]):
                    s = p_items[q]
                    if level[s] == d and secrets[s] != y:
                        if held[s] == 0:
                            alive[met] = s
                            met += 1
                        held[s] += p_counts[q]
        if state[STEPS] > (state[MOST_AFTER] if state[KNOWN] else state[MOST_STEPS]):
            state[STOPPED] = 1
        kept = 0
        for i in range(met):
            s = alive[i]
            if held[s] > limit[least] or (state[LEARN] and held[s] * best[s, 1] > best[s, 0] * least):
                alive[kept] = s
                kept += 1
            held[s] = 0
        n_alive[d + 1] = kept
        if kept == 0 or state[STOPPED]:
            if state[STOPPED]:
                for e in range(1, d + 1):
                    level[alive_of[e, : n_alive[e]]] = 0
                return current[0]
            continue
        if n_rows == 1 and _judge_one(
            weights, p_indptr, p_items, p_counts, secrets, limit, d + 1, choose, only, row_of, place_of, ptr,
            ids, owner, best, sets, listed, path, tails, of_secrets, state,
        ):  # fmt: skip
            continue
        for s in alive[:kept]:
            level[s] = d + 1
        if choose == 1:
            _judge(
                weights, p_indptr, p_items, p_counts, secrets, limit, d + 1, lo, hi, row_of, place_of, ptr,
                ids, owner, alive[:kept], best, sets, listed, path, of_items, of_secrets, state,
            )  # fmt: skip
            for s in alive[:kept]:
                level[s] = d
            continue

        # Project: what stands behind the path, of the items that are there with one of these.
        m0 = first_item[d + 1]
        m = m0
        for at in range(lo, hi):
            r = row_of[at]
            if ptr[r + 1] - place_of[at] - 1 < choose:
                continue
            tells = False
            for q in range(p_indptr[owner[r]], p_indptr[owner[r] + 1]):
                if level[p_items[q]] == d + 1:
                    tells = True
                    break
            if tells:
                while m + ptr[r + 1] - place_of[at] > item_of.size:
                    item_of = np.append(item_of, np.empty_like(item_of))
                    begin = np.append(begin, np.empty_like(begin))
                for p in range(place_of[at] + 1, ptr[r + 1]):
                    if slot[ids[p]] == 0:
                        slot[ids[p]] = 1
                        item_of[m] = ids[p]
                        m += 1
        state[STEPS] += 2 * total
        sort_piece(item_of, m0, m)
        if m + 1 > item_of.size:
            item_of = np.append(item_of, np.empty_like(item_of))
            begin = np.append(begin, np.empty_like(begin))
        r0, i0 = first_row[d + 1], first_id[d + 1]
        while r0 + n_rows + 1 > ptr.size:
            ptr = np.append(ptr, np.empty_like(ptr))
        while r0 + n_rows + 1 > owner.size:
            owner = np.append(owner, np.empty_like(owner))
        while i0 + total > ids.size:
            ids = np.append(ids, np.empty_like(ids))
        while i0 + total > row_of.size:
            row_of = np.append(row_of, np.empty_like(row_of))
            place_of = np.append(place_of, np.empty_like(place_of))
        new, i = r0, i0
        ptr[new] = i
        for at in range(lo, hi):
            r = row_of[at]
            if ptr[r + 1] - place_of[at] - 1 < choose:
                continue
            for p in range(place_of[at] + 1, ptr[r + 1]):
                if slot[ids[p]] > 0:
                    ids[i] = ids[p]
                    i += 1
            if i - ptr[new] >= choose:
                owner[new] = owner[r]
                new += 1
                ptr[new] = i
            else:
                i = ptr[new]
        total = i - i0

        # Where each item stands; then one item further.
        for t in range(m0, m):
            slot[item_of[t]] = t - m0 + 1
        begin[m0 : m + 1] = 0
        for p in range(i0, i):
            begin[m0 + slot[ids[p]]] += 1
        begin[m0] = i0
        for t in range(m0, m):
            slot[item_of[t]] = begin[t]
            begin[t + 1] += begin[t]
        for r in range(r0, new):
            for p in range(ptr[r], ptr[r + 1]):
                x = ids[p]
                row_of[slot[x]], place_of[slot[x]] = r, p
                slot[x] += 1
        for t in range(m0, m):
            slot[item_of[t]] = 0
        d += 1
        current[d], items_of[d] = 0, m - m0
        first_row[d + 1], first_id[d + 1], first_item[d + 1] = new + 1, i0 + total, m + 1


@compiled
def _judge_one(
    weights, p_indptr, p_items, p_counts, secrets, limit, depth, choose, at, row_of, place_of, ptr, ids,
    owner, best, sets, listed, path, tails, of_secrets, state,
):  # fmt: skip
    """Look at all sets of path[:depth] and `choose` items behind it, which are all in the same one row.

    Returns False, and does nothing, if some of them are to be listed one by one.
    """
    level = of_secrets[LEVEL]
    r = row_of[at]
    g, start, end = owner[r], place_of[at] + 1, ptr[r + 1]
    support = weights[g]
    if state[LISTED] < listed.shape[0]:
        for q in range(p_indptr[g], p_indptr[g + 1]):
            if level[p_items[q]] == depth - 1 and p_counts[q] > limit[support]:
                return False
    for q in range(p_indptr[g], p_indptr[g + 1]):
        s, count = p_items[q], p_counts[q]
        if level[s] != depth - 1 or secrets[s] == path[depth - 1]:
            continue
        length = end - start
        for p in range(start, end):
            if ids[p] == secrets[s]:
                length -= 1
        if length < choose:
            continue
        if count > limit[support]:
            tails[length, choose] += 1
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
def _judge(
    weights, p_indptr, p_items, p_counts, secrets, limit, depth, lo, hi, row_of, place_of, ptr, ids, owner,
    alive, best, sets, listed, path, of_items, of_secrets, state,
):  # fmt: skip
    """Look at what path[:depth] and one item behind it tell of the sensitive items that are `alive`."""
    sums, got = of_items[SUMS], of_items[GOT]
    level, pairs, first = of_secrets[LEVEL], of_secrets[PAIRS], of_secrets[BEGIN]
    n_pairs, tail = 0, 0
    for at in range(lo, hi):
        r = row_of[at]
        g = owner[r]
        tail = max(tail, ptr[r + 1] - place_of[at] - 1)
        for p in range(place_of[at] + 1, ptr[r + 1]):
            sums[ids[p]] += weights[g]
        if ptr[r + 1] - place_of[at] > 1:
            for q in range(p_indptr[g], p_indptr[g + 1]):
                if level[p_items[q]] == depth:
                    pairs[p_items[q]] += 1
                    n_pairs += 1
            state[STEPS] += ptr[r + 1] - place_of[at]

    # The rows of each sensitive item.
    pair_at, pair_count = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
    n_pairs = 0
    for s in alive:
        first[s] = n_pairs
        n_pairs += pairs[s]
    for at in range(lo, hi):
        r = row_of[at]
        if ptr[r + 1] - place_of[at] > 1:
            for q in range(p_indptr[owner[r]], p_indptr[owner[r] + 1]):
                s = p_items[q]
                if level[s] == depth:
                    pair_at[first[s]], pair_count[first[s]] = at, p_counts[q]
                    first[s] += 1

    state[PREFIX] += 1
    room = listed.shape[0] - state[LISTED]
    found = 0
    touched = np.empty(tail, np.int64)
    entries = np.empty((8 if room > 0 else 0, 4), np.int64)
    for s in alive:
        n_touched = 0
        for e in range(first[s] - pairs[s], first[s]):
            at = pair_at[e]
            state[STEPS] += ptr[row_of[at] + 1] - place_of[at]
            while n_touched + ptr[row_of[at] + 1] - place_of[at] > touched.size:
                touched = np.append(touched, np.empty(touched.size + 8, np.int64))
            for p in range(place_of[at] + 1, ptr[row_of[at] + 1]):
                z = ids[p]
                if got[z] == 0:
                    touched[n_touched] = z
                    n_touched += 1
                got[z] += pair_count[e]
        pairs[s], first[s] = 0, 0
        for z in touched[:n_touched]:
            count, support = got[z], sums[z]
            got[z] = 0
            if z == secrets[s]:
                continue
            if count > limit[support]:
                state[KNOWN] = 1
                if room > 0:
                    if found == entries.shape[0]:
                        entries = np.concatenate((entries, np.empty_like(entries)))
                    entries[found, 0], entries[found, 1] = z * secrets.size + s, s
                    entries[found, 2], entries[found, 3] = support, count
                found += 1
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
        for _ in range(min(room, found)):
            e = -1
            for i in range(found):
                if entries[i, 0] >= 0 and (e < 0 or entries[i, 0] < entries[e, 0]):
                    e = i
            listed[state[LISTED], :depth] = path[:depth]
            listed[state[LISTED], depth] = entries[e, 0] // secrets.size
            listed[state[LISTED], depth + 1 :] = entries[e, 1:]
            entries[e, 0] = -1  # listed
            state[LISTED] += 1
    for at in range(lo, hi):
        for p in range(place_of[at] + 1, ptr[row_of[at] + 1]):
            sums[ids[p]] = 0
