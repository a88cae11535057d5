"""Is it (h, k, p)-coherent? Answered from the published rows alone.

The verifier shares no code with any algorithm: it has its own loops (below), which the tests check against a
few lines of plain Python that look at every subset of every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.guarantees.coherence import Coherence
from setveil.jit import compiled
from setveil.progress import Progress, silent

COUNT_STEPS = 3_000_000_000  # once a violation is known: how long to go on counting the others
MOST_SETS = 50_000_000  # and how many sets of one size to keep for it
MOST_ITEMS = 12  # of a violation all of whose subsets are looked at
PAUSE = 50_000_000  # steps between two reports of progress

Ints = NDArray[np.int64]
Violation = tuple[tuple[str, ...], int, str | None, Fraction]


@dataclass(frozen=True)
class CoherenceVerdict:
    """What the verifier found.

    Attributes
    ----------
    guarantee : Coherence
        What was asked.
    holds : bool
        Whether it holds. Always certain.
    violations : int
        Minimal violations: sets of at most p public items in fewer than k rows, or that give a private item
        away, such that no smaller set among their items does (the empty set: all rows).
    first : tuple of (itemset, support, betrayed, probability)
        The first violations: smaller itemsets first, then item order. `betrayed` is the private item that is
        most likely in these rows, and how likely it is, where they are at least k; else None and 0.
    complete : bool
        False if counting stopped early: then there may be more violations. `holds` is certain nevertheless.
    """

    guarantee: Coherence
    holds: bool
    violations: int
    first: tuple[Violation, ...]
    complete: bool

    def found(self) -> dict[str, Any]:
        """Return whether all violations were counted."""
        return {"complete": self.complete}

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON types; probabilities are rounded, `private_rows` gives them exactly."""
        return {
            **self.guarantee.as_dict(),
            "holds": self.holds,
            "violations": self.violations,
            "first": [
                {"itemset": list(itemset), "support": support}
                if betrayed is None
                else {
                    "itemset": list(itemset),
                    "support": support,
                    "betrays": betrayed,
                    "probability": float(share),
                    "private_rows": int(share * support),
                }
                for itemset, support, betrayed, share in self.first
            ],
            **self.found(),
        }


def verify_coherence(
    published: Transactions, guarantee: Coherence, *, show: int = 10, progress: Progress = silent
) -> CoherenceVerdict:
    """Check (h, k, p)-coherence from published rows.

    Parameters
    ----------
    published : Transactions
        Rows of published labels; those among the guarantee's private items are private, all others public.
    guarantee : Coherence
        h, k, p and the private items (one that no row holds is given away by nothing).
    show : int
        How many violations to list.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    CoherenceVerdict
        With counterexamples.

    Notes
    -----
    First any violation is looked for: sets of public items are followed depth first through the rows that
    hold them, but no further where even all items that could join leave k rows or more, of which no private
    item could be in too many. Only if there is a violation, all minimal ones are counted, size by size: a set
    is looked at if it occurs and everything without one of its items is safe.
    """
    check = _Check(published, guarantee, progress)
    empty = check.empty_set()
    if empty is not None:
        return CoherenceVerdict(guarantee, False, 1, (empty,)[:show], True)
    witness = check.any_violation()
    if witness is None:
        return CoherenceVerdict(guarantee, True, 0, (), True)
    count, first, complete = check.count(show)
    if count == 0:  # counting stopped before it reached one
        count, first = 1, [check.shrink(witness)][:show]
    return CoherenceVerdict(guarantee, False, count, tuple(map(check.describe, first)), complete)


class _Check:
    """The published rows: distinct public parts, and the private items that come with each."""

    def __init__(self, published: Transactions, guarantee: Coherence, progress: Progress) -> None:
        self.guarantee, self.progress, self.published = guarantee, progress, published
        self.labels = published.vocabulary.labels
        self.n = len(self.labels)
        private = guarantee.is_private(published)
        self.private = np.flatnonzero(private)
        self.supports = np.bincount(published.items, minlength=self.n)
        raw = np.ascontiguousarray(published.items, np.int32)
        row_of = np.repeat(np.arange(published.n_rows), np.diff(published.indptr))
        public = ~private[raw]
        ends = np.concatenate(([0], np.cumsum(np.bincount(row_of[public], minlength=published.n_rows))))
        content, bounds = raw[public].tobytes(), (4 * ends).tolist()
        seen: dict[bytes, int] = {}
        group = np.empty(published.n_rows, np.int64)
        for row, (start, end) in enumerate(pairwise(bounds)):
            group[row] = seen.setdefault(content[start:end], len(seen))
        lengths = np.fromiter((len(key) // 4 for key in seen), np.int64, len(seen))
        self.indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        self.items = np.frombuffer(b"".join(seen), np.int32).astype(np.int64)
        self.weights = np.bincount(group, minlength=len(seen)).astype(np.int64)
        pairs, counts = np.unique(group[row_of[~public]] * max(self.n, 1) + raw[~public], return_counts=True)
        starts = np.searchsorted(pairs, np.arange(len(seen) + 1) * max(self.n, 1))
        self.p_rows = starts.astype(np.int64), pairs % max(self.n, 1), counts.astype(np.int64)
        self.rows = self.indptr, self.items, self.weights
        places = np.argsort(self.items, kind="stable")
        holders = np.concatenate(
            (np.zeros(1, np.int64), np.cumsum(np.bincount(self.items, minlength=self.n)))
        )
        self.holders = holders, np.repeat(np.arange(len(seen)), lengths)[places], places
        h = guarantee.h
        self.limit = np.array(
            [times * h.numerator // h.denominator for times in range(published.n_rows + 1)], np.int64
        )
        self.longest = int(lengths.max(initial=0))
        self.largest = int(min(guarantee.p, self.longest))

    def empty_set(self) -> Violation | None:
        """Return the violation that all rows together are, if they are one."""
        n = self.published.n_rows
        if 0 < n < self.guarantee.k:
            return (), n, None, Fraction(0)
        if self.private.size and n:
            item = int(self.private[np.argmax(self.supports[self.private])])
            if self.supports[item] > self.limit[n]:
                return (), n, self.labels[item], Fraction(int(self.supports[item]), n)
        return None

    def any_violation(self) -> list[int] | None:
        """Find some set of public items that is a violation."""
        if self.largest == 0:
            return None
        public = np.setdiff1d(np.unique(self.items), self.private)
        rare = public[self.supports[public] < self.guarantee.k]
        if rare.size:
            return [int(rare[0])]
        path = np.zeros(self.longest + 2, np.int64)
        heads = np.full((self.largest + 1, self.n), -1, np.int64)
        counts = np.zeros((2, self.n), np.int64)
        state = np.zeros(2, np.int64)
        while state[0] < self.n:
            found = _search(
                *self.rows, *self.p_rows, *self.holders, self.guarantee.k, self.limit, self.largest, state,
                path, heads, counts,
            )  # fmt: skip
            if found:
                return [int(x) for x in path[:found]]
            self.progress("verifying", float(state[0]) / self.n)
        return None

    def count(self, show: int) -> tuple[int, list[tuple[int, ...]], bool]:
        """Count the minimal violations, size by size, and list the first."""
        k = self.guarantee.k
        public = np.setdiff1d(np.unique(self.items), self.private)
        bad = [x for x in public.tolist() if self.facts((x,))[2]]
        first: list[tuple[int, ...]] = [(x,) for x in bad[:show]]
        total = len(bad)
        safe = np.setdiff1d(public, np.array(bad, np.int64)).reshape(-1, 1)
        state = np.zeros(4, np.int64)
        while safe.shape[1] < self.largest and safe.shape[0] > 1:
            size = safe.shape[1] + 1
            out, moles = (
                np.empty((1024, size), np.int64),
                np.empty((max(show - len(first), 0), size), np.int64),
            )
            counts = np.zeros((3, self.n + 1), np.int64)
            state[0] = state[1] = state[2] = 0
            while state[0] < safe.shape[0]:
                _extend(
                    *self.rows, *self.p_rows, *self.holders, k, self.limit, safe, out, moles, counts, state
                )
                self.progress(f"counting violations of size {size}", float(state[0]) / safe.shape[0])
                if state[3] > COUNT_STEPS or state[1] > MOST_SETS:
                    first += [tuple(map(int, x)) for x in moles[: state[2]]]
                    return total + int(state[2]), first, False
                if state[1] + self.n > out.shape[0]:
                    out = np.concatenate((out, np.empty((max(self.n, out.shape[0]), size), np.int64)))
            total += int(state[2])
            first += [tuple(map(int, x)) for x in moles[: state[2]]]
            safe = out[: state[1]].copy()
        return total, first, True

    def facts(self, itemset: tuple[int, ...]) -> tuple[int, int, bool, int]:
        """Return support, greatest count of a private item, whether that is a violation, and the item."""
        rows = _holding(*self.rows, *self.holders, np.array(itemset, np.int64))
        support = int(self.weights[rows].sum())
        starts, items, counts = self.p_rows
        best, whom = 0, -1
        if self.private.size:
            lengths = starts[rows + 1] - starts[rows]
            at = np.arange(lengths.sum()) + np.repeat(starts[rows] - np.cumsum(lengths) + lengths, lengths)
            sums = np.bincount(items[at], counts[at], minlength=self.n)
            whom = int(np.argmax(sums))
            best = int(sums[whom])
        return support, best, support < self.guarantee.k or best > int(self.limit[support]), whom

    def shrink(self, itemset: list[int]) -> tuple[int, ...]:
        """Find the smallest violation inside one, where that does not take too long, else a smaller one."""
        for item in list(itemset):
            fewer = tuple(sorted(x for x in itemset if x != item))
            if fewer and self.facts(fewer)[2]:
                itemset = list(fewer)
        sizes = range(1, len(itemset)) if len(itemset) <= MOST_ITEMS else []
        smaller = (fewer for size in sizes for fewer in combinations(sorted(itemset), size))
        return next((fewer for fewer in smaller if self.facts(fewer)[2]), tuple(sorted(itemset)))

    def describe(self, itemset: tuple[int, ...]) -> Violation:
        """Describe a violation with labels."""
        support, best, _, whom = self.facts(itemset)
        named = tuple(self.labels[x] for x in itemset)
        if support < self.guarantee.k:
            return named, support, None, Fraction(0)
        return named, support, self.labels[whom], Fraction(best, support)


@compiled
def _search(  # type: ignore[no-untyped-def]
    indptr, items, weights, p_indptr, p_items, p_counts, starts, rows, places, k, limit, largest, state, path,
    heads, counts,
):  # fmt: skip
    """Look for a violation of two or more items, or one that betrays; 0: none up to item ``state[0]``.

    Returns the length of the violation in `path`. Level d holds the rows of path[:d], each with the place up
    to which it is read; rows wait in chains, one for each item, until that item's turn has come.
    """
    n = starts.size - 1
    sums, p_sums = counts[0], counts[1]
    row_of, place_of, chain = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    item_of = np.empty(1024, np.int64)
    first = np.zeros(largest + 2, np.int64)
    first_item, n_items, current = (
        np.zeros(largest + 2, np.int64), np.zeros(largest + 2, np.int64), np.zeros(largest + 2, np.int64),
    )  # fmt: skip
    calm = np.zeros(largest + 2, np.int64)
    steps = np.int64(0)
    d = 0
    while True:
        if d == 0:
            if state[0] >= n or steps > PAUSE:
                return 0
            y = state[0]
            state[0] += 1
            here = starts[y + 1] - starts[y]
            if here == 0:
                continue
            while here > row_of.size:
                row_of = np.append(row_of, np.empty_like(row_of))
                place_of, chain = np.append(place_of, np.empty_like(place_of)), np.append(chain, chain)
            for at in range(here):
                row_of[at], place_of[at] = rows[starts[y] + at], places[starts[y] + at] + 1
            first[1], first[2], first_item[1] = 0, here, 0
        else:
            if current[d] == n_items[d]:
                d -= 1
                continue
            y = item_of[first_item[d] + current[d]]
            current[d] += 1
            here, e = 0, heads[d, y]
            while e >= 0:
                here += 1
                e = chain[e]
            start = first[d + 1]
            while start + here > row_of.size:
                row_of = np.append(row_of, np.empty_like(row_of))
                place_of, chain = np.append(place_of, np.empty_like(place_of)), np.append(chain, chain)
            at, e = start, heads[d, y]
            heads[d, y] = -1
            while e >= 0:
                after = chain[e]
                place_of[e] += 1
                row_of[at], place_of[at] = row_of[e], place_of[e]
                at += 1
                if place_of[e] < indptr[row_of[e] + 1]:
                    z = items[place_of[e]]
                    chain[e] = heads[d, z]
                    heads[d, z] = e
                e = after
            first[d + 2] = start + here
            first_item[d + 1] = first_item[d] + n_items[d]
        path[d] = y
        d += 1
        support, found, peak = np.int64(0), 0, np.int64(0)
        lo, hi, i0 = first[d], first[d + 1], first_item[d]
        for at in range(lo, hi):
            support += weights[row_of[at]]
        if calm[d - 1] == 0 or d == 1:
            for at in range(lo, hi):
                row = row_of[at]
                for q in range(p_indptr[row], p_indptr[row + 1]):
                    p_sums[p_items[q]] += p_counts[q]
                    peak = max(peak, p_sums[p_items[q]])
            for at in range(lo, hi):
                for s in p_items[p_indptr[row_of[at]] : p_indptr[row_of[at] + 1]]:
                    p_sums[s] = 0
                    steps += 1
            if peak > limit[support]:
                return d
        calm[d] = 1 if peak <= limit[k] else 0
        current[d], n_items[d] = 0, 0
        if d == largest:
            continue
        for at in range(lo, hi):
            row = row_of[at]
            steps += indptr[row + 1] - place_of[at] + 1
            for p in range(place_of[at], indptr[row + 1]):
                z = items[p]
                if sums[z] == 0:
                    if i0 + found == item_of.size:
                        item_of = np.append(item_of, np.empty_like(item_of))
                    item_of[i0 + found] = z
                    found += 1
                sums[z] += weights[row]
        whole = np.int64(0)
        for at in range(lo, hi):
            if indptr[row_of[at] + 1] - place_of[at] == found:
                whole += weights[row_of[at]]
        broken = np.int64(-1)
        for z in item_of[i0 : i0 + found]:
            if sums[z] < k:
                broken = z
            sums[z] = 0
        if broken >= 0:
            path[d] = broken
            return d + 1
        if (whole >= k and peak <= limit[whole]) or (calm[d] == 1 and d + 1 == largest):
            continue
        item_of[i0 : i0 + found].sort()
        n_items[d] = found
        for at in range(lo, hi):
            if place_of[at] < indptr[row_of[at] + 1]:
                z = items[place_of[at]]
                chain[at] = heads[d, z]
                heads[d, z] = at


@compiled
def _holding(indptr, items, weights, starts, rows, places, itemset):  # type: ignore[no-untyped-def]
    """Find the distinct rows that hold all items of an ascending itemset."""
    rarest = itemset[0]
    for x in itemset:
        if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
            rarest = x
    out = np.empty(starts[rarest + 1] - starts[rarest], np.int64)
    found = 0
    for at in range(starts[rarest], starts[rarest + 1]):
        row = rows[at]
        j, p = 0, indptr[row]
        while j < itemset.size and p < indptr[row + 1]:
            if items[p] == itemset[j]:
                j += 1
            elif items[p] > itemset[j]:
                break
            p += 1
        if j == itemset.size:
            out[found] = row
            found += 1
    return out[:found]


@compiled
def _is_listed(safe, path, skip):  # type: ignore[no-untyped-def]
    """Whether a path without one of its items is among the sorted safe sets."""
    lo, hi = 0, safe.shape[0]
    while lo < hi:
        mid = (lo + hi) // 2
        order = 0
        for j in range(safe.shape[1]):
            x = path[j + 1] if j >= skip else path[j]
            if safe[mid, j] != x:
                order = -1 if safe[mid, j] < x else 1
                break
        if order == 0:
            return True
        if order < 0:
            lo = mid + 1
        else:
            hi = mid
    return False


@compiled
def _extend(  # type: ignore[no-untyped-def]
    indptr, items, weights, p_indptr, p_items, p_counts, starts, rows, places, k, limit, safe, out, moles,
    counts, state,
):  # fmt: skip
    """Join safe sets with one more item each, from set ``state[0]`` on; write safe sets and violations.

    ``state[1]`` and ``state[2]`` count them, ``state[3]`` the steps. Stops where `out` may not suffice, and
    after about PAUSE steps.
    """
    sums, most, p_sums = counts[0], counts[1], counts[2]
    size = safe.shape[1]
    path = np.empty(size + 1, np.int64)
    pause = state[3] + PAUSE
    while state[0] < safe.shape[0]:
        at = state[0]
        last = at + 1  # its siblings: they share all items but the last
        while last < safe.shape[0]:
            same = True
            for j in range(size - 1):
                if safe[last, j] != safe[at, j]:
                    same = False
                    break
            if not same:
                break
            last += 1
        if state[1] + last - at > out.shape[0] or state[3] > pause:
            return
        state[0] += 1
        if last == at + 1:
            continue
        path[:size] = safe[at]
        holding = _holding(indptr, items, weights, starts, rows, places, path[:size])
        for row in holding:
            for z in items[indptr[row] : indptr[row + 1]]:
                sums[z] += weights[row]
            for q in range(p_indptr[row], p_indptr[row + 1]):
                p_sums[p_items[q]] += p_counts[q]
            state[3] += indptr[row + 1] - indptr[row]
        rarest = path[0]
        for x in path[:size]:
            if starts[x + 1] - starts[x] < starts[rarest + 1] - starts[rarest]:
                rarest = x
        state[3] += starts[rarest + 1] - starts[rarest] + last - at

        # For each item the most frequent private item of the rows that hold it, too.
        n_pairs = 0
        for row in holding:
            for s in p_items[p_indptr[row] : p_indptr[row + 1]]:
                if p_sums[s] > limit[k]:
                    n_pairs += 1
        pair, who, place = (
            np.empty(n_pairs, np.int64),
            np.empty(n_pairs, np.int64),
            np.empty(n_pairs, np.int64),
        )
        n_pairs = 0
        for row in holding:
            for q in range(p_indptr[row], p_indptr[row + 1]):
                if p_sums[p_items[q]] > limit[k]:
                    pair[n_pairs], who[n_pairs], place[n_pairs] = row, p_items[q], q
                    n_pairs += 1
        for row in holding:
            for s in p_items[p_indptr[row] : p_indptr[row + 1]]:
                p_sums[s] = 0
        order = np.argsort(who)
        lo = 0
        while lo < n_pairs:
            hi = lo
            while hi < n_pairs and who[order[hi]] == who[order[lo]]:
                row = pair[order[hi]]
                for z in items[indptr[row] : indptr[row + 1]]:
                    p_sums[z] += p_counts[place[order[hi]]]
                state[3] += indptr[row + 1] - indptr[row]
                hi += 1
            for e in range(lo, hi):
                row = pair[order[e]]
                for z in items[indptr[row] : indptr[row + 1]]:
                    most[z] = max(most[z], p_sums[z])
                    p_sums[z] = 0
            lo = hi

        for sibling in range(at + 1, last):
            y = safe[sibling, size - 1]
            times = sums[y]
            if times == 0:
                continue
            path[size] = y
            listed = True
            for skip in range(size - 1):
                if not _is_listed(safe, path, skip):
                    listed = False
                    break
            if not listed:
                continue
            if times < k or most[y] > limit[times]:
                if state[2] < moles.shape[0]:
                    moles[state[2]] = path
                state[2] += 1
            else:
                out[state[1]] = path
                state[1] += 1
        for row in holding:
            for z in items[indptr[row] : indptr[row + 1]]:
                sums[z], most[z] = 0, 0
