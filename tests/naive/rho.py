"""Rules that reveal sensitive items, and the items suppressed for them, by listing all sets (SPEC2 §1)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from naive.anonymize import Cut, Tree, children, leaves, ranks, recode, root, up_from
from naive.hghs import merged
from naive.km import Rows, item_order

Row = frozenset[str]
Rule = tuple[Row, str]  # known items, and their inferences


def support(rows: Rows, items: Collection[str]) -> int:
    return sum(set(items) <= row for row in rows)


def known_sets(rows: Rows, m: float) -> set[Row]:
    """List all sets of at most m items that some row holds, the empty one included."""
    return {
        frozenset(x)
        for row in rows
        for size in range(int(min(m, len(row))) + 1)
        for x in combinations(row, size)
    }


def rules(
    rows: Rows, sensitive: Collection[str], m: float = math.inf, knows: str = "any"
) -> dict[Rule, Fraction]:
    """Find the confidence of every rule that some row fulfils."""
    known = [row - set(sensitive) for row in rows] if knows == "public" else rows
    return {
        (x, s): Fraction(support(rows, x | {s}), support(rows, x))
        for x in known_sets(known, m)
        for s in set(sensitive) - x
        if support(rows, x | {s})
    }


def breaches(
    rows: Rows, sensitive: Collection[str], rho: Fraction, m: float = math.inf, knows: str = "any"
) -> dict[Rule, Fraction]:
    return {rule: conf for rule, conf in rules(rows, sensitive, m, knows).items() if conf > rho}


def is_uncertain(rows: Rows, sensitive: Collection[str], rho: Fraction) -> bool:
    return not breaches(rows, sensitive, rho)


def is_km_rho(rows: Rows, sensitive: Collection[str], k: int, m: float, rho: Fraction, knows: str) -> bool:
    """SPEC2 §4.1, word by word."""
    known = [row - set(sensitive) for row in rows] if knows == "public" else rows
    found = all(support(rows, x) >= k for x in known_sets(known, m) if x)
    return found and not breaches(rows, sensitive, rho, m, knows)


def order_of(rows: Rows) -> dict[str, int]:
    return {item: i for i, item in enumerate(item_order({item for row in rows for item in row}))}


# --- SuppressControl


def suppress(
    rows: Rows, sensitive: Collection[str], rho: Fraction, loss: Mapping[str, int], rank: Mapping[str, int]
) -> list[str]:
    """List the suppressed items, in order; `loss` gives the cost of suppressing an item."""
    gone: list[str] = []
    size = 0
    while any(len(row) > size for row in rows):
        live = [rule for rule in breaches(rows, sensitive, rho, size) if len(rule[0]) == size]
        while live:
            kills = {x: sum(x in known or x == s for known, s in live) for x in rank}

            def worth(x: str, kills: Mapping[str, int] = kills) -> tuple[int, Fraction, int]:
                free = loss[x] == 0
                return (free, Fraction(kills[x]) if free else Fraction(kills[x], loss[x]), -rank[x])

            best = max((x for x in rank if kills[x]), key=worth)
            gone.append(best)
            live = [(known, s) for known, s in live if best not in known and best != s]
        rows = [row - set(gone) for row in rows]
        size += 1
    return gone


def suppress_control(
    rows: Rows, sensitive: Collection[str], rho: Fraction, *, refine: bool = False
) -> list[str]:
    rank = order_of(rows)
    loss = {item: support(rows, {item}) for item in rank}
    gone = suppress(rows, sensitive, rho, loss, rank)
    if refine:
        for x in sorted(gone, key=lambda x: (-loss[x], rank[x])):
            others = {y for y in gone if y != x}
            if is_uncertain([row - others for row in rows], sensitive, rho):
                gone.remove(x)
    return gone


# --- TDControl


def public_tree(tree: Tree, sensitive: Collection[str]) -> dict[str, str | None]:
    """Take out sensitive leaves, then inner nodes without a leaf; merge only children."""
    kept = {node for leaf in leaves(tree) if leaf not in sensitive for node in up_from(tree, leaf)}
    return merged({node: up for node, up in tree.items() if node in kept})


class TopDown:
    """One run of TDControl; the cost is in units of 1/|I_P| (lm: 1/(|I_P| - 1)) of an occurrence."""

    def __init__(
        self, rows: Rows, tree: Tree, sensitive: Collection[str], rho: Fraction, objective: str
    ) -> None:
        self.rows, self.sensitive, self.rho = rows, set(sensitive), rho
        self.tree, self.rank = public_tree(tree, sensitive), ranks(tree)
        items = leaves(self.tree)
        under = {v: sum(v in up_from(self.tree, leaf) for leaf in items) for v in self.tree}
        if objective == "ncp":
            self.worst = len(items)
            self.each = {v: n if n > 1 else 0 for v, n in under.items()}
        else:
            self.worst = max(len(items) - 1, 1)
            self.each = {v: n - 1 for v, n in under.items()}
        self.each |= dict.fromkeys(sensitive, 0)
        self.tried: dict[Cut, tuple[list[str], int]] = {}
        self.cut: Cut = frozenset({root(self.tree)})
        self.gone, self.cost = self.scenario(self.cut)
        while finer := self.finer(self.cut):
            best = min(finer, key=lambda v: (self.scenario(finer[v])[1], self.rank[v]))
            gone, cost = self.scenario(finer[best])
            if cost >= self.cost:
                break
            self.cut, self.gone, self.cost = finer[best], gone, cost

    def finer(self, cut: Cut) -> dict[str, Cut]:
        inner = [v for v in cut if children(self.tree, v)]
        return {v: cut - {v} | frozenset(children(self.tree, v)) for v in inner}

    def occurrences(self, v: str) -> int:
        below = {v} if v in self.sensitive else {x for x in leaves(self.tree) if v in up_from(self.tree, x)}
        return sum(len(row & below) for row in self.rows)

    def published(self, cut: Cut) -> list[Row]:
        public = recode([row - self.sensitive for row in self.rows], self.tree, cut)
        return [new | (row & self.sensitive) for new, row in zip(public, self.rows, strict=True)]

    def scenario(self, cut: Cut) -> tuple[list[str], int]:
        if cut not in self.tried:
            candidates = [*cut, *self.sensitive]
            loss = {v: self.occurrences(v) * (self.worst - self.each[v]) for v in candidates}
            rank = {v: self.rank[v] for v in candidates}
            gone = suppress(self.published(cut), self.sensitive, self.rho, loss, rank)
            cost = sum(self.occurrences(v) * (self.worst if v in gone else self.each[v]) for v in candidates)
            self.tried[cut] = gone, cost
        return self.tried[cut]


# --- partial suppression


def needs_of(rows: Rows, sensitive: Collection[str], s: str, rho: Fraction, m: float) -> dict[Row, int]:
    """Find for each public set how many of the rows that hold it and s must lose s."""
    public = [row - set(sensitive) for row in rows if s in row]
    lacking = {x: support(rows, x | {s}) - math.floor(rho * support(rows, x)) for x in known_sets(public, m)}
    return {x: n for x, n in lacking.items() if n > 0}


def partial_public(rows: Rows, sensitive: Collection[str], rho: Fraction, m: float) -> list[Row]:
    out = [set(row) for row in rows]
    for s in sensitive:
        need = needs_of(rows, sensitive, s, rho, m)
        lost: list[int] = []

        def lack(x: Row, lost: list[int]) -> int:
            return need[x] - sum(x <= rows[i] for i in lost)  # noqa: B023

        while any(lack(x, lost) > 0 for x in need):
            unmet = {x: lack(x, lost) for x in need if lack(x, lost) > 0}

            def worth(i: int, unmet: Mapping[Row, int] = unmet) -> tuple[int, int, int]:
                inside = [n for x, n in unmet.items() if x <= rows[i]]
                return len(inside), sum(inside), -i

            lost.append(max((i for i in range(len(rows)) if s in rows[i] and i not in lost), key=worth))
        for i in sorted(lost):
            others = [j for j in lost if j != i]
            if all(lack(x, others) <= 0 for x in need):
                lost = others
        for i in lost:
            out[i].remove(s)
    return [frozenset(row) for row in out]


def partial_any(rows: Rows, sensitive: Collection[str], rho: Fraction) -> list[Row]:
    rank = order_of(rows)
    out = list(rows)
    while found := breaches(out, sensitive, rho):
        known, s = min(found, key=lambda r: (-found[r], len(r[0]), sorted(rank[x] for x in r[0]), rank[r[1]]))
        both, cohort = support(out, known | {s}), support(out, known)
        deletions = {s: both - math.floor(rho * cohort)}
        for x in sorted(known, key=rank.__getitem__):
            deletions[x] = math.ceil((both - rho * cohort) / (1 - rho))
        item = min(deletions, key=deletions.__getitem__)  # the first of the least
        hold = sorted((i for i, row in enumerate(out) if known | {s} <= row), key=lambda i: (-len(out[i]), i))
        for i in hold[: deletions[item]]:
            out[i] -= {item}
    return out


# --- the cap of parts


def capped(
    rows: Rows, parts: Sequence[Sequence[int]], sensitive: Collection[str], rho: Fraction
) -> list[Row]:
    """Leave at most a share rho of the rows of each part, the first ones, every sensitive item."""
    out = [set(row) for row in rows]
    for part in parts:
        for s in sensitive:
            hold = [i for i in sorted(part) if s in rows[i]]
            for i in hold[math.floor(rho * len(part)) :]:
                out[i].remove(s)
    return [frozenset(row) for row in out]
