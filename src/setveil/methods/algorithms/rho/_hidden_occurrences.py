"""Partial suppression: single occurrences that are suppressed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.wording import count
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, invert, merge_rows, take_rows
from setveil.methods.algorithms._suppressed_items import greatest_counts
from setveil.methods.algorithms.rho._multicover_loops import drop_in_rows, list_holders
from setveil.methods.algorithms.rho._rules import MOST_IDS, STEPS_AT_ONCE, RuleSearch
from setveil.rows.data.transactions import Transactions

Hidden = NDArray[np.bool_]  # which occurrences are left out

FEWER = "Let someone know fewer items: m of 1 to 3."


def hide_for_public(
    data: Transactions, is_secret: NDArray[np.bool_], rho: Fraction, m: float, progress: Progress = silent
) -> Hidden:
    """Choose occurrences of sensitive items to hide from who knows at most m public items.

    The public items of a row stay what they are, and so do the rows that hold any set of them: of the rows
    that hold such a set and a sensitive item a settled number needs to lose it. The item is dropped in the
    row that lies in the most unmet needs; equal ones: where these lack most in sum; then the first row. In
    the end it comes back, row by row, where every need stays met.
    """
    limit = greatest_counts(rho, data.n_rows)
    group, first, weights = merge_rows(data.indptr, data.items)
    rows = take_rows(data.indptr, data.items, first)
    search = RuleSearch(*rows, frozen(weights, np.int64), is_secret, limit, public=True, hint=FEWER)
    sizes = range(int(min(m, search.longest)) + 1)
    needs = _Needs(rows, is_secret.size)
    for size in sizes:
        needs.add(search.of_size(size, progress), progress)

    by_group = np.argsort(group, kind="stable")
    group_starts = np.concatenate(([0], np.cumsum(weights)))
    row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
    hidden = np.zeros(data.n_occurrences, bool)
    for done, s in enumerate(needs.secrets):
        progress("hiding occurrences", done / len(needs.secrets))
        holders, starts, lacking = needs.of(s)
        groups, local = np.unique(holders, return_inverse=True)
        of_need = np.repeat(np.arange(lacking.size), np.diff(starts)).astype(np.int32)
        by_place = np.argsort(local, kind="stable")
        need_starts = np.concatenate(([0], np.cumsum(np.bincount(local, minlength=groups.size))))
        copies, members = take_rows(
            frozen(group_starts, np.int64), frozen(by_group, np.int32), groups.astype(np.int64)
        )
        dropped = np.zeros(data.n_rows, bool)
        drop_in_rows(
            lacking,
            (frozen(starts, np.int64), frozen(local, np.int64)),
            (frozen(need_starts, np.int64), frozen(of_need[by_place], np.int32)),
            (copies, frozen(members, np.int64)),
            dropped,
        )
        hidden |= (data.items == s) & dropped[row_of]
    return hidden


class _Needs:
    """What has to be lost: for each rule that breaches the rows that fulfil it, and how many are too many."""

    def __init__(self, rows: tuple[Ints, Ids], n_ids: int) -> None:
        self._rows = rows
        self._lists = invert(*rows, n_ids)[:2]
        self._found: dict[int, list[tuple[Ids, Ints, Ints]]] = {}
        self._size = 0

    @property
    def secrets(self) -> list[int]:
        """The sensitive items that rules tell, in item order."""
        return sorted(self._found)

    def add(self, rules: Ids, progress: Progress) -> None:
        """Take in rules of one size (see `RuleSearch.of_size`)."""
        secret = rules[:, -2]
        for s in np.unique(secret).tolist():
            some = np.ascontiguousarray(rules[secret == s])
            ends, holders = np.zeros(len(some) + 1, np.int64), np.empty(0, np.int32)
            first = 0
            while first < len(some):
                first, holders = list_holders(
                    frozen(some[:, :-1], np.int32),
                    self._rows,
                    self._lists,
                    first,
                    ends,
                    holders,
                    STEPS_AT_ONCE,
                )
                progress("finding the rows of rules", first / len(some))
                if self._size + int(ends[first]) > MOST_IDS:
                    raise RequestError(
                        f"The sets of known items that tell too much lie in too many rows: "
                        f"{count(MOST_IDS)} pairs of a set and a row, and more follow.",
                        hint=FEWER,
                    )
            self._size += int(ends[-1])
            self._found.setdefault(s, []).append((holders[: ends[-1]], ends, some[:, -1].astype(np.int64)))

    def of(self, s: int) -> tuple[Ids, Ints, Ints]:
        """Rows of the needs of an item, one behind the other; where those of each begin; what each lacks."""
        holders, ends, lacking = zip(*self._found[s], strict=True)
        lengths = np.concatenate([np.diff(each) for each in ends])
        return np.concatenate(holders), np.concatenate(([0], np.cumsum(lengths))), np.concatenate(lacking)


def hide_for_any(
    data: Transactions, is_secret: NDArray[np.bool_], rho: Fraction, progress: Progress = silent
) -> tuple[Hidden, int]:
    """Choose occurrences to hide from who may know any items, sensitive ones too; count the rules made safe.

    As long as a rule breaches: the surest one; of equals the smallest, then the first by what it knows, then
    by what it tells. What it tells is dropped as often as makes it safe, in the longest rows that fulfil the
    rule, the first ones of equals.

    Dropping an item that the rule knows instead is never better: a of b rows tell too much, and a - rho b of
    them, rounded up, have to lose what they tell. Without what they know they leave the b rows, too, and (a -
    rho b) / (1 - rho) have to lose that. Sensitive items alone are dropped, therefore.
    """
    limit = greatest_counts(rho, data.n_rows)
    row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
    hidden = np.zeros(data.n_occurrences, bool)
    steps = 0
    while True:
        left = ~hidden
        lengths = np.bincount(row_of[left], minlength=data.n_rows)
        indptr = frozen(np.concatenate(([0], np.cumsum(lengths))), np.int64)
        items = frozen(data.items[left], np.int32)
        rows = distinct_rows(indptr, items)
        rule = RuleSearch(*rows, is_secret, limit).surest(progress)
        if rule is None:
            return hidden, steps
        steps += 1
        progress(f"hiding occurrences, {count(steps, 'rule')} made safe")
        fulfil = np.ones(data.n_rows, bool)
        for x in (*rule.known, rule.secret):
            fulfil &= np.bincount(row_of[(data.items == x) & left], minlength=data.n_rows) > 0
        times = rule.published - rule.support * rho.numerator // rho.denominator
        holding = np.flatnonzero(fulfil)
        longest = holding[np.argsort(-lengths[holding], kind="stable")][:times]
        chosen = np.zeros(data.n_rows, bool)
        chosen[longest] = True
        hidden |= (data.items == rule.secret) & chosen[row_of]
