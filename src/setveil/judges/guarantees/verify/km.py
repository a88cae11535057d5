"""Check k^m-anonymity using only the published rows, in the verifiers' own loops (also `_projection.py`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.jit import compiled
from setveil.base.progress import Progress, silent
from setveil.base.sorting import sort_piece
from setveil.base.values.per_column import PerColumn
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._projection import (
    Holders,
    Rows,
    add_level,
    add_supports,
    distinct_rows,
    first_level,
    holders_of,
    lacks_room,
    mark_items,
    project,
    room_for_places,
    with_room,
)  # fmt: skip
from setveil.judges.guarantees.verify._tables import (
    count_items,
    count_sets,
    is_worth_it,
    places_of,
    rare_sets,
)
from setveil.rows.data.transactions import Transactions

READINGS = LABEL, COVER = "label", "cover"
MOST_SHOWN = 1_000_000  # violations that are listed, whatever is asked for
COUNT_STEPS = 300_000_000  # once a violation is known: how long to go on counting the others
BRIEF_STEPS = 50_000_000  # the same where not all are wanted
NEVER = 1 << 62
RAREST = 20  # items beside which a greater m is seen to break
SEARCH_STEPS = 300_000_000  # beyond the m that was asked for: how long to look for the m that breaks


@dataclass(frozen=True, repr=False)
class KmVerdict(Verdict):
    """The verdict on k^m-anonymity."""

    guarantee: KmAnonymity
    holds: bool
    violations: int  # itemsets of at most m items with support in (0, k)
    # (itemset, support): smaller itemsets first, then item order
    first: tuple[tuple[tuple[str, ...], int], ...]
    # for this m (1: for no k of at least 2); None if no row has an item: every k holds
    greatest_k: int | None
    greatest_m: int | float  # for this k (0: not even 1), `math.inf` if for every m
    complete: bool
    # an item is a published label, or a leaf that each label above it covers (`verify.cover`)
    reading: str = LABEL
    # the first pairs of published facts that share a fact, violations, too
    overlaps: tuple[tuple[str, str], ...] = ()

    @property
    def phrase(self) -> str:
        """Name of what was asked, with its parameters."""
        phrase = self.guarantee.phrase
        return phrase if self.reading == LABEL else f"{phrase} in the {self.reading} reading"

    def found(self) -> dict[str, Any]:
        """Return the greatest k and m, and whether counting was complete, as JSON types."""
        return {
            "greatest_k": self.greatest_k,
            "greatest_m": "inf" if self.greatest_m == math.inf else self.greatest_m,
            "complete": self.complete,
            **({} if self.reading == LABEL else {"reading": self.reading}),
            **({"overlap": True} if self.overlaps else {}),
        }

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        overlaps = [{"overlap": list(pair)} for pair in self.overlaps]
        return [
            *overlaps,
            *({"itemset": list(itemset), "support": support} for itemset, support in self.first),
        ]


def verify_km(
    published: Transactions,
    guarantee: KmAnonymity,
    *,
    show: int = 10,
    brief: bool = False,
    progress: Progress = silent,
) -> KmVerdict:
    """Check k^m-anonymity of published labels; `brief`: for a shorter time, with a `greatest_m` of at most m.

    Sizes 1, 2, ... are checked one after the other. If all pairs, or all sets of three items, fit in a table,
    they are counted there. Otherwise the rows with an item are projected onto the items after it, and so on;
    if one distinct row is left, a binomial coefficient counts its subsets. For m at least the longest row,
    the supports of whole rows decide: every itemset is in a row. If each column has its m, only sets with at
    most this many labels of each column count, and no greater m is searched.
    """
    m, show = guarantee.m, min(show, MOST_SHOWN)
    own = _own(published.vocabulary.labels, m) if isinstance(m, PerColumn) else None
    k = min(guarantee.k, published.n_rows + 1)  # no support is greater, and the loops count in 64 bits
    longest = int(published.row_lengths().max(initial=0))
    if longest == 0:
        return KmVerdict(guarantee, True, 0, (), None, math.inf, True)
    survey = Survey(published.indptr, published.items, published.n_items, k, show, progress, own)
    labels = published.vocabulary.labels
    whole = m >= longest and own is None  # whole rows decide
    rarest, rarest_support = survey.rarest_row() if whole else ((), 0)
    if whole and rarest_support >= k:
        return KmVerdict(guarantee, True, 0, (), rarest_support, math.inf, True)

    size, steps = 0, BRIEF_STEPS if brief else COUNT_STEPS
    while size < min(m, longest) and not survey.stopped:
        size += 1
        survey.count(size, steps if whole else NEVER, steps)
    if survey.violations or whole:
        if not survey.violations:  # the rarest row is a violation too large to be reached one size at a time
            survey.violations, survey.first = 1, [(rarest, rarest_support)]
        smallest = rarest_support if whole else survey.smallest
        return KmVerdict(
            guarantee,
            False,
            survey.violations,
            tuple((tuple(labels[i] for i in ids), support) for ids, support in survey.first),
            smallest,
            survey.safe_size,
            not survey.stopped,
        )

    smallest = survey.smallest
    greatest_m: int | float = math.inf
    if own is not None:  # what a greater m would be, there is no saying
        return KmVerdict(guarantee, True, 0, (), smallest, int(m), True)
    if brief:
        return KmVerdict(guarantee, True, 0, (), smallest, survey.safe_size, False)
    if survey.breaks_near_rare_items(size + 1):
        return KmVerdict(guarantee, True, 0, (), smallest, size, True)
    _, rarest_support = survey.rarest_row()
    if rarest_support < k:  # some greater m breaks: which is the first?
        survey.steps = 0
        while not survey.violations and not survey.stopped:
            size += 1
            survey.count(size, SEARCH_STEPS, 0)
        greatest_m = survey.safe_size
    complete = bool(survey.violations) or rarest_support >= k
    return KmVerdict(guarantee, True, 0, (), smallest, greatest_m, complete)


def _own(labels: Sequence[str], m: PerColumn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the column of each label, by its prefix, and how many labels of each column may be known."""
    names = [label.partition("=")[0] for label in labels]
    m.require_columns(dict.fromkeys([*m.each, *names]))
    place = {name: at for at, name in enumerate(m.each)}
    return np.array([place[name] for name in names], np.int64), np.array([*m.each.values()], np.int64)


class Survey:
    """Count the itemsets of one size after the other, of rows of ids below `n_ids`, ascending and unique.

    At least one row is not empty. Support below k (at most the rows + 1) is a violation. `own` is the column
    of each id, int64 (n_ids,), and how many ids of each column a set may contain; by default any.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        items: NDArray[np.integer],
        n_ids: int,
        k: int,
        show: int,
        progress: Progress,
        own: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> None:
        self.n_ids = n_ids
        self.is_whole = own is None  # whether all sets of a size count
        self.own = (np.zeros(n_ids, np.int64), np.array([NEVER])) if own is None else own
        self.k, self.show, self.progress = k, show, progress
        self.indptr, self.items = indptr, np.ascontiguousarray(items, np.int32)
        self.lengths = np.bincount(np.diff(indptr))  # how many rows there are of each length
        self.longest = self.lengths.size - 1
        self.violations = 0
        self.first: list[tuple[tuple[int, ...], int]] = []
        self.smallest = indptr.size - 1
        self.safe_size = 0  # no itemset of up to this size is a violation
        self.steps = 0
        self.known = False  # whether there is a violation elsewhere
        self.stopped = False

    @cached_property
    def rows(self) -> Rows:
        """Distinct rows, and how many rows each represents."""
        return distinct_rows(self.indptr, self.items)[1]

    @cached_property
    def holders(self) -> Holders:
        """The distinct rows that hold each item, and where in the row it stands."""
        return holders_of(self.rows, self.n_ids)

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """The rows that hold each item: int64 (n_ids,)."""
        return count_items(self.indptr, self.items, self.n_ids)

    def rarest_row(self) -> tuple[tuple[int, ...], int]:
        """Find a row whose items occur together least often, and how often they do."""
        indptr, items, _ = self.rows
        row, support = _rarest_row(*self.rows, *self.holders)
        return tuple(items[indptr[row] : indptr[row + 1]].tolist()), int(support)

    def breaks_near_rare_items(self, size: int) -> bool:
        """Return whether sets of `size` items with one of the rarest items show that some are violations."""
        if not 1 < size <= self.longest:
            return False
        occurring = np.flatnonzero(self.supports)
        rarest = occurring[np.argsort(self.supports[occurring], kind="stable")][:RAREST]
        places = places_of(self.indptr, self.items, np.isin(np.arange(self.n_ids), rarest))
        found, rows = self.items[places], np.searchsorted(self.indptr, places, "right") - 1
        for item in rarest.tolist():
            holding = rows[found == item].tolist()
            beside = [self.items[self.indptr[row] : self.indptr[row + 1]] for row in holding]
            beside = [row[row != item] for row in beside]
            lengths = np.array([0, *map(len, beside)], np.int64)
            if lengths.max() < size - 1:
                continue
            near = Survey(np.cumsum(lengths), np.concatenate(beside), self.n_ids, self.k, 0, silent)
            near.count(size - 1, BRIEF_STEPS, 0)
            if near.violations:
                return True
        return False

    def count_singles(self) -> None:
        """Count the single items."""
        supports = self.supports
        rare = np.flatnonzero((supports > 0) & (supports < self.k))
        self.violations = rare.size
        self.first = [((int(item),), int(supports[item])) for item in rare[: self.show]]
        self.smallest = int(supports[supports > 0].min())
        self.safe_size = 0 if rare.size else 1

    def count_in_table(self, size: int) -> None:
        """Count the itemsets of two or three items, all of them at once."""
        self.progress(f"verifying itemsets of size {size}")
        table = count_sets(self.indptr, self.items, self.n_ids, size)
        show = max(self.show - len(self.first), 0)
        found, smallest, first = rare_sets(table, self.n_ids, size, self.k, show)
        self.first += first
        self.smallest = min(self.smallest, smallest)
        self.violations += found
        if not self.violations:
            self.safe_size = size

    def count(self, size: int, most_steps: int, most_after: int) -> None:
        """Count the itemsets of one size; stop after `most_steps`, or `most_after` with a violation known."""
        if size == 1:
            self.count_singles()
            return
        if self.is_whole and is_worth_it(self.lengths, self.n_ids, size):
            self.count_in_table(size)
            return
        known = int(self.known or self.violations > 0)
        state = np.array([self.smallest, 0, known, self.steps, most_steps, most_after, 0, 0], np.int64)
        tails = np.zeros((self.longest + 1, size + 1), np.int64)
        listed = np.zeros((max(self.show - len(self.first), 0), size + 1), np.int64)
        path = np.zeros(size, np.int64)
        n = self.n_ids
        supports, item = np.zeros(n, np.int64), 0
        while item < n and not state[STOPPED]:
            item = _count_from(
                self.rows, self.holders, item, size, self.k, *self.own, path, supports, state, tails, listed
            )
            self.progress(f"verifying itemsets of size {size}", item / n)
        found = int(state[FOUND])
        for length, chosen in zip(*np.nonzero(tails), strict=True):
            found += int(tails[length, chosen]) * math.comb(int(length), int(chosen))
        for entry in listed[: state[LISTED]].tolist():
            self.first.append((tuple(entry[:-1]), entry[-1]))
        self.smallest, self.steps = int(state[SMALLEST]), int(state[STEPS])
        self.stopped = bool(state[STOPPED])
        self.violations += found
        if not self.violations and not self.stopped:
            self.safe_size = size


# Places in `state`, which the loops share.
SMALLEST, FOUND, KNOWN, STEPS, MOST_STEPS, MOST_AFTER, STOPPED, LISTED = range(8)


@compiled
def _count_from(rows, holders, item, size, k, column, most, path, supports, state, tails, listed):
    """Count the itemsets of `size` >= 2 items whose first is `item` or a later one; return where it paused.

    Only sets of at most ``most[c]`` items of each column c count. A level has all behind its path in rows
    that have enough of it.
    """
    many = most.size > 1
    taken = np.zeros(most.size, np.int64)
    pause = state[STEPS] + 50_000_000
    n = holders.starts.size - 1
    kept = room_for_places(holders)
    levels = first_level(holders, item, size)
    d = 0
    while True:
        here = levels.current[d]
        if here == levels.end[d]:
            if d == 0:
                return n
            d -= 1
            continue
        if d == 0 and state[STEPS] > pause:
            return here
        levels.current[d] += 1
        path[d] = levels.item[here]
        choose = size - d - 1
        n_kept, total = project(rows.indptr, levels, here, choose, kept)
        state[STEPS] += levels.begin[here + 1] - levels.begin[here] + total
        if state[STEPS] > (state[MOST_AFTER] if state[KNOWN] else state[MOST_STEPS]):
            state[STOPPED] = 1
            return levels.current[0]
        if n_kept == 0:
            continue
        if n_kept == 1 and not many and (rows.weights[kept.row[0]] >= k or state[LISTED] == listed.shape[0]):
            # A single row: every choice of its items has the support of that row.
            support = rows.weights[kept.row[0]]
            state[SMALLEST] = min(state[SMALLEST], support)
            if support < k:
                tails[total, choose] += 1
                state[KNOWN] = 1
            continue
        if lacks_room(levels, d, min(total, n), total):
            levels = with_room(levels, d, min(total, n), total)
        if many:
            taken[:] = 0
            for i in range(d + 1):
                taken[column[path[i]]] += 1
        if choose == 1:
            m0 = levels.end[d] + 1
            m = add_supports(rows, kept, 0, n_kept, levels.item, m0, supports)
            if many:
                m = _drop_full(levels.item, m0, m, column, most, taken, supports)
            sort_piece(levels.item, m0, m)
            _judge(levels.item[m0:m], supports, d + 1, k, path, state, listed)
        else:
            m = mark_items(rows.indptr, rows.items, kept, n_kept, levels, d, supports)
            if many:
                m = _drop_full(levels.item, levels.end[d] + 1, m, column, most, taken, supports)
            add_level(rows.indptr, rows.items, kept, n_kept, levels, d, m, supports)
            d += 1


@compiled
def _drop_full(item, m0, m, column, most, taken, slot):
    """Drop items of full columns from ``item[m0:m]``, and set their slot to 0."""
    end = m0
    for i in range(m0, m):
        x = item[i]
        if taken[column[x]] < most[column[x]]:
            item[end] = x
            end += 1
        else:
            slot[x] = 0
    return end


@compiled
def _judge(last, supports, depth, k, path, state, listed):
    """Look at the supports of path[:depth] and one of the items `last` behind it, and set them to 0."""
    for x in last:
        support = supports[x]
        supports[x] = 0
        state[SMALLEST] = min(state[SMALLEST], support)
        if support < k:
            state[FOUND] += 1
            state[KNOWN] = 1
            if state[LISTED] < listed.shape[0]:
                listed[state[LISTED], :depth] = path[:depth]
                listed[state[LISTED], depth], listed[state[LISTED], depth + 1] = x, support
                state[LISTED] += 1


@compiled
def _rarest_row(indptr, items, weights, starts, rows, places):
    """Find the row whose items occur together in the fewest rows, and that number."""
    best, best_row = np.int64(1) << 62, np.int64(0)
    for row in range(indptr.size - 1):
        lo, hi = indptr[row], indptr[row + 1]
        rare = items[lo]
        for p in range(lo, hi):
            if starts[items[p] + 1] - starts[items[p]] < starts[rare + 1] - starts[rare]:
                rare = items[p]
        support = np.int64(0)
        for at in range(starts[rare], starts[rare + 1]):
            other = rows[at]
            q, end = indptr[other], indptr[other + 1]
            if end - q < hi - lo:
                continue
            p = lo
            while p < hi and q < end:
                if items[q] == items[p]:
                    p += 1
                elif items[q] > items[p]:
                    break
                q += 1
            if p == hi:
                support += weights[other]
                if support >= best:
                    break
        if support < best:
            best, best_row = support, np.int64(row)
            if best == 1:
                break
    return best_row, best
