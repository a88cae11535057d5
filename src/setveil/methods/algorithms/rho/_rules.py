"""Rules: known items of a person, and the sensitive item that they reveal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, faces
from setveil.base.progress import Progress, silent
from setveil.base.wording import count
from setveil.kernels.rows import Ids, Ints, distinct_rows, frozen, invert, recode_rows
from setveil.methods.algorithms.rho._rule_loops import FOUND, KNOWN, LEARNED, LEVEL, STEPS, judge, walk_rules

STEPS_AT_ONCE = 5_000_000  # steps between two reports of progress
MOST_STEPS = 3_000_000_000  # of a search for rules of one size
MOST_IDS = 50_000_000  # in the rules of one size
TOO_MANY = "Long rows have too many subsets. Bound what someone may know, to m of 1 to 3 items: " + faces(
    "--model km-rho.", "setveil.KmRho."
)


class SensitiveRule(NamedTuple):
    """A rule: of `support` rows with the known items, `published` contain the sensitive item."""

    known: tuple[int, ...]
    secret: int
    published: int
    support: int


class RuleSearch:
    """Finds the rules that reveal a sensitive item more surely than is allowed.

    The rows are ascending; limit: for each number of rows, how many of them may contain a sensitive item (see
    `greatest_counts`). `public`: only items that are not sensitive may be known; `hint`: what to do about too
    many rules; `longest`: the most items that someone may know of a row with another, sensitive item.
    """

    def __init__(
        self,
        indptr: Ints,
        items: Ids,
        weights: Ints,
        is_secret: NDArray[np.bool_],
        limit: Ints,
        *,
        public: bool = False,
        hint: str = TOO_MANY,
    ) -> None:
        self._limit, self._hint = limit, hint
        self._is_secret = frozen(is_secret, np.bool_)
        n = is_secret.size
        every = np.arange(n, dtype=np.int32)
        # Of rows that nothing can be learned of only what others hold is of interest.
        hot = np.zeros(weights.size, bool)
        row_of = np.repeat(np.arange(weights.size), np.diff(indptr))
        hot[row_of[is_secret[items]]] = True
        met = np.zeros(n, bool)
        met[items[hot[row_of]]] = True
        rows = *recode_rows(indptr, items, np.where(met, every, np.int32(-1))), weights
        indptr, items, weights = distinct_rows(*rows)
        self._secrets = *recode_rows(indptr, items, np.where(is_secret, every, np.int32(-1))), self._is_secret
        if public:
            indptr, items = recode_rows(indptr, items, np.where(is_secret, np.int32(-1), every))
        lengths = np.diff(indptr)
        row_of = np.repeat(np.arange(weights.size), lengths)
        self._rows = indptr, items, frozen(row_of, np.int64), weights
        _, _, self._by_item = invert(indptr, items, n)
        self._behind = np.repeat(indptr[1:], lengths) - np.arange(items.size)  # items from here to the end
        self._left = np.diff(self._secrets[0])
        most = int(lengths[self._left > 0].max(initial=0))
        self.longest = most if public else max(most - 1, 0)
        self._tally = np.zeros(n, np.int64), np.zeros(n, np.bool_)

    def of_size(self, size: int, progress: Progress = silent) -> Ids:
        """List breaching rules, int32 (rules, size + 2): known items, sensitive item, rows too many."""
        state = np.zeros(5, np.int64)
        out = self._search(size, state, np.empty(0, np.int32), progress, surest=False)
        rules: Ids = np.reshape(out[: int(state[FOUND]) * (size + 2)], (-1, size + 2))
        return rules

    def any_breach(self) -> bool:
        """Tell whether any rule breaches."""
        return any(self.of_size(size).size for size in range(self.longest + 1))

    def surest(self, progress: Progress = silent) -> SensitiveRule | None:
        """Find the breaching rule of greatest confidence: the smallest, the first in item order."""
        state = np.zeros(5, np.int64)
        out = np.empty(0, np.int32)
        best = None
        for size in range(self.longest + 1):
            before = state[LEARNED], state[KNOWN]
            out = self._search(size, state, out, progress, surest=True)
            if (state[LEARNED], state[KNOWN]) != before:
                *known, secret = out[: size + 1].tolist()
                best = SensitiveRule(tuple(known), secret, int(state[LEARNED]), int(state[KNOWN]))
            if best is not None and best.published == best.support:
                break
        return best

    def _search(self, size: int, state: Ints, out: Ids, progress: Progress, *, surest: bool) -> Ids:
        """Walk over the sets of one size, and write rules and `state`."""
        indptr, items, row_of, weights = self._rows
        path = np.zeros(size, np.int64)
        if size == 0:
            tally, _ = self._tally
            np.add.at(tally, self._secrets[1], np.repeat(weights, np.diff(self._secrets[0])))
            candidates = np.flatnonzero(tally)
            out = judge(tally, candidates, int(weights.sum()), self._limit, path, surest, state, out)
        if size == 0 or size > self.longest:
            return out
        levels = self._first_level(size)
        state[LEVEL] = 1
        steps = 0
        while state[LEVEL] > 0:
            out = walk_rules(
                (indptr, items, row_of, weights), self._secrets, self._limit, size, surest, levels, path,
                self._tally, state, out, STEPS_AT_ONCE,
            )  # fmt: skip
            steps += int(state[STEPS])
            found = int(state[FOUND])
            if state[LEVEL] > 0 and (steps > MOST_STEPS or found * (size + 2) > MOST_IDS):
                self._tally[0][:], self._tally[1][:] = 0, False
                so_far = "" if surest or not found else f" {count(found, 'rule')} among them tell too much."
                raise RequestError(
                    f"There are too many sets of {count(size, 'item')} in rows with sensitive items.{so_far}",
                    hint=self._hint,
                )
            first, last = int(levels[3][1]), int(levels[2][1])
            progress(f"finding rules of {size} known items", first / max(last, 1))
        return out

    def _first_level(self, size: int) -> tuple[Ids, Ints, Ints, Ints, Ints]:
        """Group the occurrences that a set of `size` items of their row may begin with by items."""
        _, items, row_of, _ = self._rows
        n = self._is_secret.size
        depth = size + 1
        node_item = np.empty((depth, n), np.int32)
        node_start = np.empty((depth, n + 1), np.int64)
        n_nodes, cursor = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
        places = np.empty((depth, items.size), np.int64)
        at = self._by_item[self._behind[self._by_item] >= size]
        left = self._left[row_of[at]] > self._is_secret[items[at]]
        hot = np.zeros(n, bool)
        hot[items[at[left]]] = True
        at = at[hot[items[at]]]
        several = np.bincount(items[at], minlength=n)
        first = np.flatnonzero(several)
        starts = np.concatenate(([0], np.cumsum(several[first])))
        node_item[1, : first.size] = first
        node_start[1, : first.size + 1] = starts
        places[1, : at.size] = at
        n_nodes[1] = first.size
        return node_item, node_start, n_nodes, cursor, places


def distinct_without(rows: tuple[Ints, Ids, Ints], gone: list[int], n_ids: int) -> tuple[Ints, Ids, Ints]:
    """Omit ids from weighted rows, and merge the rows that are equal then."""
    image = np.arange(n_ids, dtype=np.int32)
    image[gone] = -1
    return distinct_rows(*recode_rows(rows[0], rows[1], image), rows[2])
