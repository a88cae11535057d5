"""Candidates where sensitive items must not be learned: how those that are not valid are repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms.exact._breaches import Breaches, SecretBreach
from setveil.methods.algorithms.exact._candidates import Candidates
from setveil.methods.algorithms.exact._clauses import Separator
from setveil.methods.algorithms.exact._hidings import NOTHING, OCCURRENCES
from setveil.methods.algorithms.exact._losses import Losses


class RhoCandidates(Candidates):
    """Makes candidates; behind its nodes, a candidate tells the value of each variable of `Sensitive`.

    Valid ones are made by suppression alone, which never makes anything worse: first of what too few rows
    hold, then of sensitive items that are revealed, or of what reveals them where they must stay: `shown` are
    those that must not be suppressed, by their places. With `low_root` the root must not be published, so
    that generalizing need not lead to anything valid.
    """

    def __init__(
        self,
        cut: Cut,
        separator: Separator,
        losses: Losses,
        kept: list[int],
        suppress: bool,
        progress: Any,
        *,
        breaches: Breaches,
        shown: list[int],
        low_root: bool,
    ) -> None:
        guarantee = KmAnonymity(max(separator.k, 2), separator.m)
        super().__init__(cut, separator, guarantee, losses, kept, [], suppress, progress)
        self.breaches, self.sensitive, self.shown = breaches, breaches.sensitive, shown
        self.low_root = low_root

    def threats(self, candidate: Ids) -> Iterator[list[int]]:
        """List the threats of smallest size between published nodes; nothing where there are none."""
        if self._separator.k > 1:
            yield from super().threats(candidate)

    def is_valid(self, candidate: Ids) -> bool:
        """Whether a candidate satisfies the guarantee: checked in full."""
        root = self.tree.root
        return (
            not (self.low_root and root >= self.tree.n_leaves and bool((candidate == root)[:root].any()))
            and next(self.threats(candidate), None) is None
            and not self.breaches.of_candidate(candidate)
            and not self._of_everybody(candidate)
        )

    def finest(self) -> Ids:
        """Make the candidate that publishes everything as itself."""
        return np.append(np.arange(self.tree.n_nodes, dtype=np.int32), self._nothing_hidden())

    def plain(self) -> Iterator[Ids]:
        """Make the valid ones of two candidates: that which publishes least, and one label for all."""
        least = self.least_shown()
        if least is not None and self.is_valid(least):
            yield least
        if not self.kept:
            root, tree = self.finest(), self.tree
            top = set(tree.children(tree.root)) - set(self.sensitive.leaf.tolist())
            above = top.pop() if self.sensitive.is_known else tree.root
            root[tree.under(above)] = above
            if self.sensitive.is_known:
                root[self.sensitive.leaf] = -1
            safe = self._without_breaches(root)
            if safe is not None and self.is_valid(safe):
                yield safe

    def least_shown(self) -> Ids | None:
        """Make the candidate that publishes least: what is to be kept; None if other items must be, too."""
        if not self.suppress:
            return None
        candidate = self.finest()
        candidate[: self.tree.n_leaves] = -1
        candidate[self.kept] = self.kept
        if self.sensitive.hide == NOTHING:
            return candidate
        if not self.sensitive.is_known:
            able = ~np.isin(self.sensitive.owner, self.shown)
            candidate[self.tree.n_nodes :][able] = self.sensitive.most[able]
        return candidate

    def _nothing_hidden(self) -> Ids:
        return np.zeros(self.sensitive.n_variables, np.int32)

    def _of_everybody(self, candidate: Ids) -> list[SecretBreach]:
        """List what a candidate tells who knows nothing."""
        left = []
        for breach in self.breaches.of_everybody():
            if self.sensitive.is_known:
                shown = candidate[self.sensitive.leaf[breach.item]] >= 0
                enough = not shown
            elif not self.sensitive.n_variables:
                enough = False
            elif self.sensitive.hide == OCCURRENCES:
                tail = candidate[self.tree.n_nodes :]
                enough = int(tail[self.breaches.entries_of[breach.item]].sum()) >= breach.excess
            else:
                enough = bool(candidate[self.tree.n_nodes + breach.item])
            if not enough:
                left.append(breach)
        return left

    # --- valid ones

    def repaired(self, candidate: Ids) -> Iterator[Ids]:
        """Make valid candidates near one that need not be."""
        starts = []
        if self.suppress:
            starts.append(self.brought_back(self.suppressed_further(candidate)))
        if not self.kept and not self.low_root and self._separator.k > 1:
            starts.append(self.generalized_further(candidate))
        elif not self.suppress:
            starts.append(candidate)
        for start in starts:
            safe = self._without_breaches(start)
            if safe is not None and self.is_valid(safe):
                yield safe

    def generalized_further(self, candidate: Ids) -> Ids:
        """Generalize further until no threat is left."""
        image = super().generalized_further(candidate[: self.tree.n_nodes])
        return np.append(image, candidate[self.tree.n_nodes :])

    def brought_back(self, candidate: Ids) -> Ids:
        """Publish suppressed public leaves again where no threat arises, those that cost most first."""
        back = candidate.copy()
        if self._separator.k > 1:
            back = super().brought_back(back)
        else:
            leaves = self.suppressed_leaves(back)
            back[leaves] = leaves
        if self.sensitive.is_known:
            back[self.sensitive.leaf] = candidate[self.sensitive.leaf]
        return back

    def _without_breaches(self, candidate: Ids) -> Ids | None:
        """Suppress sensitive items, or what reveals them, until nothing does; None if that cannot be."""
        candidate = candidate.copy()
        candidate[self.tree.n_nodes :] = 0
        if not self.sensitive.is_known and self.sensitive.hide == NOTHING:
            return self._without_known(candidate)
        # One breach is enough to leave a whole item out; single occurrences must do for all breaches.
        every = not self.sensitive.is_known and self.sensitive.hide == OCCURRENCES
        known: list[SecretBreach] = []  # one search lists only so many
        while found := self.breaches.of_candidate(candidate, every=every) + self._of_everybody(candidate):
            if any(breach.item in self.shown for breach in found):
                return None
            if self.sensitive.is_known:
                candidate[self.sensitive.leaf[[breach.item for breach in found]]] = -1
            elif self.sensitive.hide == OCCURRENCES:
                known += found
                self._hide_some(candidate, known)
            else:
                candidate[self.tree.n_nodes + np.array([breach.item for breach in found])] = 1
        return candidate

    def _without_known(self, candidate: Ids) -> Ids | None:
        """Suppress public nodes that reveal something, those in most breaches for their cost first."""
        if not self.suppress:
            return candidate
        while found := self.breaches.of_candidate(candidate):
            sets = [breach.nodes for breach in found]
            if not all(set(nodes).difference(self.kept) for nodes in sets):
                return None
            for v in self.hitting(sets):
                candidate[self.tree.under(v)] = -1
        return self._back_where_safe(candidate)

    def _back_where_safe(self, candidate: Ids) -> Ids:
        """Publish suppressed leaves again where neither threat nor breach arises."""
        leaves = self.suppressed_leaves(candidate)
        if len(leaves) > BACK:
            return candidate
        for leaf in sorted(leaves, key=lambda leaf: (-self.losses.hidden[leaf], leaf)):
            candidate[leaf] = leaf
            if not self.is_valid(candidate):
                candidate[leaf] = -1
        return candidate

    def _hide_some(self, candidate: Ids, found: Iterable[SecretBreach]) -> None:
        """Suppress sensitive items in enough rows with each breach, in rows of most breaches first."""
        tail = candidate[self.tree.n_nodes :]
        of_item: dict[int, list[SecretBreach]] = {}
        for breach in found:
            of_item.setdefault(breach.item, []).append(breach)
        for s, breaches in of_item.items():
            own = self.breaches.entries_of[s]
            sets = [np.searchsorted(own, self.breaches.entries(breach)) for breach in breaches]
            need = np.array([breach.excess for breach in breaches])
            room = self.sensitive.count[own].copy()
            taken = np.zeros(own.size, np.int64)
            inside: list[list[int]] = [[] for _ in range(own.size)]
            for number, places in enumerate(sets):
                for place in places.tolist():
                    inside[place].append(number)
            score = np.array([len(numbers) for numbers in inside])
            while (need > 0).any():
                place = int(np.argmax(np.where(taken < room, score, -1)))
                taken[place] += 1
                for number in inside[place]:
                    need[number] -= 1
                    if need[number] == 0:
                        score[sets[number]] -= 1
            for place in np.flatnonzero(taken).tolist():
                spare = min((-int(need[number]) for number in inside[place]), default=int(taken[place]))
                back = min(spare, int(taken[place]))
                taken[place] -= back
                need[inside[place]] += back
            tail[own] = taken


BACK = 200  # suppressed leaves, at most, that are tried again one by one
