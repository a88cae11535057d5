"""Check (h, k, p)-coherence using only the published rows, in the verifier's own loops (`_coherence.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify import _coherence as loops
from setveil.judges.guarantees.verify._projection import companions_of, distinct_rows, holders_of, holding
from setveil.rows.data.transactions import Transactions

COUNT_STEPS = 3_000_000_000  # once a violation is known: how long to go on counting the others
MOST_SETS = 50_000_000  # and how many sets of one size to keep for it
MOST_SHOWN = 1_000_000  # violations that are listed, whatever is asked for
MOST_ITEMS = 12  # of a violation all of whose subsets are looked at

Violation = tuple[tuple[str, ...], int, str | None, Fraction]


@dataclass(frozen=True, repr=False)
class CoherenceVerdict(Verdict):
    """The verdict on coherence.

    A violation is minimal: at most p public items in fewer than k rows, or that reveal a private item, while
    no smaller set among them does (the empty set: all rows). `first`, by size and item order, has (itemset,
    support, betrayed, probability), with the likeliest private item if at least k rows fit, else None and 0.
    """

    guarantee: Coherence
    holds: bool
    violations: int
    first: tuple[Violation, ...]
    complete: bool

    def found(self) -> dict[str, Any]:
        """Return whether all violations were counted."""
        return {"complete": self.complete}

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types; `private_rows` gives rounded probabilities exactly."""
        return [
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
        ]


def verify_coherence(
    published: Transactions, guarantee: Coherence, *, show: int = 10, progress: Progress = silent
) -> CoherenceVerdict:
    """Check (h, k, p)-coherence; labels among the guarantee's private items are private, all others public.

    First, any violation is searched: sets of public items are followed depth first through their rows. A
    branch ends if even all items that could join leave k rows or more, and no private item could be in too
    many of these. Only after a violation are all minimal ones counted, size by size: a set is looked at if it
    occurs and everything without one of its items is safe.
    """
    show = min(show, MOST_SHOWN)
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
        numbers, self.rows = distinct_rows(ends, raw[public])
        self.indptr, self.items, self.weights = self.rows
        self.holders = holders_of(self.rows, self.n)
        self.p_rows = companions_of(numbers[row_of[~public]], raw[~public], self.weights.size, self.n)
        h = guarantee.h
        self.limit = np.array(
            [times * h.numerator // h.denominator for times in range(published.n_rows + 1)], np.int64
        )
        self.longest = int(np.diff(self.indptr).max(initial=0))
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
            found = loops.search(
                self.rows, self.p_rows, self.holders, self.guarantee.k, self.limit, self.largest, state,
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
                loops.extend(
                    self.rows, self.p_rows, self.holders, k, self.limit, safe, out, moles, counts, state
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
        rows = holding(self.rows, self.holders, np.array(itemset, np.int64))
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
