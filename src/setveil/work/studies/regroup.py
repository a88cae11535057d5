"""Search the regrouping of a hierarchy under which a release loses least, by proven optima."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.wording import count
from setveil.judges.guarantees.km import KmAnonymity
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.regroup import (
    MOST_ALIKE,
    Grouper,
    Nest,
    Regrouping,
    Way,
    groups_within,
    regrouped,
)
from setveil.rows.hierarchy.tree import Hierarchy

SIZES = (3, 5)
_ROUNDS = 3
_WAYS: tuple[Way, ...] = ("support", "company")
USUAL = KmAnonymity(5, 2)
_SECONDS = 600.0
_ALL = 64  # plans, which are all tried where there are no more
Plan = tuple[Regrouping | None, ...]  # for each group that stays; None: as it is given


@dataclass(frozen=True)
class TriedHierarchy:
    """What a hierarchy costs."""

    loss: float
    left_out: int  # items
    proven: bool


@dataclass(frozen=True)
class Regrouped:
    """A hierarchy with new groups, and what it is worth."""

    tree: Hierarchy
    before: TriedHierarchy
    after: TriedHierarchy
    chosen: Mapping[str, Regrouping | None]  # for each group that stays
    objective: str
    guarantee: KmAnonymity
    tried: int  # hierarchies whose optimum was found
    complete: bool  # whether no single change makes it better, or of few plans none is

    def as_dict(self) -> dict[str, Any]:
        """Return losses and new groups as JSON types."""
        return {
            "objective": self.objective,
            "k": self.guarantee.k,
            "m": self.guarantee.m,
            "before": asdict(self.before),
            "after": asdict(self.after),
            "groups": {label: None if how is None else asdict(how) for label, how in self.chosen.items()},
            "tried": self.tried,
            "complete": self.complete,
        }

    def in_words(self) -> list[str]:
        """Say what was gained, and what the hierarchy tells."""
        title = {"lm": "LM", "entropy": "Entropy"}[self.objective]
        proven = "" if self.before.proven and self.after.proven else ", not all proven"
        ways = [how.way for how in self.chosen.values() if how is not None]
        left = f"items suppressed: {self.before.left_out:,} before, {self.after.left_out:,} now"
        out = [
            f"{title} {self.before.loss:.4f} before, {self.after.loss:.4f} now (least loss for "
            f"k = {self.guarantee.k}, m = {self.guarantee.m}{proven}); {left}.",
            f"Of {count(len(self.chosen), 'group')} {ways.count('support'):,} regrouped by support, "
            f"{ways.count('company'):,} by company; {count(self.tried, 'hierarchy', 'hierarchies')} tried"
            f"{'' if self.complete else ', and ended before all were'}.",
        ]
        if ways:
            out.append(
                "Note: the new groups are learned from the rows. They reveal which items are about equally "
                "rare, or occur together. --from FILE learns from other rows, such as another year's."
            )
        return out


@dataclass
class _RegroupSearch:
    data: Transactions
    tree: Hierarchy
    nodes: Sequence[int]
    grouper: Grouper
    guarantee: KmAnonymity
    objective: Literal["lm", "entropy"]
    until: float
    names: Mapping[str, str]
    progress: Progress
    known: dict[Plan, TriedHierarchy] = field(default_factory=dict)
    nests: dict[tuple[int, Regrouping], list[Nest]] = field(default_factory=dict)
    expected: int = 1

    def made(self, plan: Plan) -> Hierarchy:
        """Make the hierarchy of a plan."""
        below: dict[int, Sequence[Nest]] = {}
        for node, how in zip(self.nodes, plan, strict=True):
            if how is not None:
                if (node, how) not in self.nests:
                    self.nests[node, how] = self.grouper.grouped(node, how)
                below[node] = self.nests[node, how]
        return regrouped(self.tree, below, self.grouper.supports, self.names) if below else self.tree

    def tried(self, plan: Plan) -> TriedHierarchy:
        """Find the least loss with the hierarchy of a plan."""
        from setveil.methods.algorithms.exact.exact import Parameters, anonymize

        if plan not in self.known:
            self.progress("trying groups", min(0.99, len(self.known) / self.expected))
            least = Parameters(self.objective, time_limit=max(1.0, self.until - time.monotonic()))
            _, details = anonymize(self.data, self.made(plan), self.guarantee, least)
            self.progress.stoppable = True  # which the search for an optimum takes back at its end
            found = details["optimality"]
            self.known[plan] = TriedHierarchy(
                found["loss"], len(details["suppressed"]), bool(found["proven"])
            )
        return self.known[plan]

    def is_over(self) -> bool:
        """Whether time is up, or someone asks for an end."""
        return time.monotonic() > self.until or self.progress.stop_requested()


def regroup(
    data: Transactions,
    hierarchy: Hierarchy,
    within: int,
    guarantee: KmAnonymity = USUAL,
    *,
    group: int | None = None,
    objective: Literal["lm", "entropy"] = "lm",
    names: Mapping[str, str] | None = None,
    time_limit: float = _SECONDS,
    progress: Progress = silent,
) -> Regrouped:
    """Make the groups below some groups of a hierarchy again, so that a release loses less.

    The groups at the level `within` (0: the root) and above stay: no new group has items of two of them.
    Below each, its own groups, groups of items of about equal support, and groups of items that occur
    together are tried, with `group` members (by default 3 and 5). Group by group, the candidate by which the
    release for `guarantee` loses least is used, until nothing changes, at most three times; few groups are
    tried in all combinations. Ties leave what is given. After `time_limit` seconds the best so far is
    returned, with loss and suppressed items before and after. `names`: of items, for the names of groups.

    >>> rows = [["a", "b"], ["a", "c"], ["a", "d"], ["b", "c"], ["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]
    >>> tree = Hierarchy.from_paths([[x, "x", "*"] for x in "abc"] + [[x, "y", "*"] for x in "def"])
    >>> found = regroup(Transactions.from_rows(rows), tree, 1, KmAnonymity(2, 1))
    >>> found.after.loss <= found.before.loss, found.tree.n_leaves
    (True, 6)
    """
    if group is not None and group < 2:
        raise RequestError(f"--group must be at least 2, got {group}.")
    if objective not in ("lm", "entropy"):
        raise RequestError(f"--objective must be lm or entropy, got {objective!r}.")
    guarantee.require_feasible(data)
    nodes = groups_within(hierarchy, within)
    grouper = Grouper(data, hierarchy)
    sizes = SIZES if group is None else (group,)
    hows = [Regrouping(way, size) for way in _WAYS for size in sizes]
    until = time.monotonic() + time_limit
    search = _RegroupSearch(
        data, hierarchy, nodes, grouper, guarantee, objective, until, names or {}, progress
    )
    progress.stoppable = True
    held = {node: int(grouper.supports[hierarchy.under(node)].sum()) for node in nodes}
    offers = [_offered(hierarchy, node, hows) for node in nodes]
    search.expected = 1 + len(hows) + 2 * sum(map(len, offers))
    order = sorted(range(len(nodes)), key=lambda i: -held[nodes[i]])
    few = prod(1 + len(offer) for offer in offers) <= _ALL
    try:
        plan, complete = _best_of_all(search, offers) if few else _descended(search, offers, order, hows)
    finally:
        progress.stoppable = False
    chosen = {hierarchy.labels[node]: how for node, how in zip(nodes, plan, strict=True)}
    before = search.tried((None,) * len(nodes))
    return Regrouped(
        search.made(plan), before, search.tried(plan), chosen, objective, guarantee, len(search.known),
        complete,
    )  # fmt: skip


def _offered(tree: Hierarchy, node: int, hows: Sequence[Regrouping]) -> list[Regrouping]:
    """List the ways to regroup a node that are worth trying."""
    n = int(tree.high[node] - tree.low[node])
    return [how for how in hows if n > 2 and (how.way == "support" or n <= MOST_ALIKE)]


def _best_of_all(search: _RegroupSearch, offers: Sequence[Sequence[Regrouping]]) -> tuple[Plan, bool]:
    """Try every plan; of equal ones the one that leaves most as it is given."""
    best: Plan = (None,) * len(offers)
    for plan in sorted(product(*[(None, *offer) for offer in offers]), key=lambda plan: -plan.count(None)):
        if search.is_over():
            return best, False
        if search.tried(plan).loss < search.tried(best).loss:
            best = plan
    return best, True


def _descended(
    search: _RegroupSearch,
    offers: Sequence[Sequence[Regrouping]],
    order: Sequence[int],
    hows: Sequence[Regrouping],
) -> tuple[Plan, bool]:
    """Begin with the best way for all alike, and change one at a time while that makes the loss less."""
    unchanged: Plan = (None,) * len(offers)
    starts = [unchanged, *(tuple(how if how in offer else None for offer in offers) for how in hows)]
    best = unchanged
    for start in starts:
        if search.is_over():
            return best, False
        if search.tried(start).loss < search.tried(best).loss:
            best = start
    for _ in range(_ROUNDS):
        before = best
        for at in order:
            for how in (None, *offers[at]):
                if search.is_over():
                    return best, False
                other = (*best[:at], how, *best[at + 1 :])
                gained = search.tried(best).loss - search.tried(other).loss
                if gained > 0 or (gained == 0 and how is None):
                    best = other
        if best == before:
            return best, True
    return best, False
