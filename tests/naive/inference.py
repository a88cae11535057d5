"""(k, rho)^m-anonymity and rho-uncertainty by looking at every subset of every row (from the definitions)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from naive.km import Rows

Itemset = tuple[str, ...]


class Rule(NamedTuple):
    """An itemset with the sensitive item that it predicts, or with None if it is in too few rows."""

    itemset: Itemset
    support: int
    item: str | None = None
    sensitive_rows: int = 0

    @property
    def confidence(self) -> Fraction:
        return Fraction(self.sensitive_rows, self.support)


def known_sets(rows: Rows, sensitive: Collection[str], m: float, knows: str) -> list[frozenset[str]]:
    """All sets of at most m items that can be known and that some row holds, the empty one included."""
    found: set[frozenset[str]] = set()
    for row in rows:
        known = sorted(row - set(sensitive)) if knows == "public" else sorted(row)
        for size in range(int(min(m, len(known))) + 1):
            found.update(map(frozenset, combinations(known, size)))
    return list(found)


def support(rows: Rows, items: Collection[str]) -> int:
    return sum(set(items) <= row for row in rows)


def published_sensitive(rows: Rows, sensitive: Collection[str], order: Sequence[str]) -> list[str]:
    return [item for item in order if item in set(sensitive) and any(item in row for row in rows)]


def sorted_rules(found: Collection[Rule], order: Sequence[str]) -> list[Rule]:
    """Smaller sets first, then item order, then too few rows first, then the sensitive item."""
    rank: dict[str | None, int] = {None: -1} | {label: i for i, label in enumerate(order)}
    return sorted(found, key=lambda r: (len(r.itemset), [rank[x] for x in r.itemset], rank[r.item]))


def rules(rows: Rows, sensitive: Collection[str], m: float, knows: str, order: Sequence[str]) -> list[Rule]:
    """All rules with a confidence above 0."""
    out = []
    for items in known_sets(rows, sensitive, m, knows):
        have = Counter(item for row in rows if items <= row for item in row)
        itemset = tuple(x for x in order if x in items)
        out += [
            Rule(itemset, support(rows, items), s, have[s])
            for s in published_sensitive(rows, sensitive, order)
            if s not in items and have[s] > 0
        ]
    return sorted_rules(out, order)


def violations(
    rows: Rows, sensitive: Collection[str], k: int, m: float, rho: Fraction, knows: str, order: Sequence[str]
) -> list[Rule]:
    """List the violations of (k, rho)^m-anonymity."""
    few = [
        Rule(tuple(x for x in order if x in items), support(rows, items))
        for items in known_sets(rows, sensitive, m, knows)
        if items and support(rows, items) < k
    ]
    breaking = [rule for rule in rules(rows, sensitive, m, knows, order) if rule.confidence > rho]
    return sorted_rules(few + breaking, order)


def confidences(
    rows: Rows, sensitive: Collection[str], m: float, knows: str, order: Sequence[str]
) -> list[Rule]:
    """For each sensitive item the greatest confidence: smallest set, greatest support, item order."""
    best: dict[str | None, Rule] = {}
    for rule in rules(rows, sensitive, m, knows, order):  # smaller sets first, then item order
        held = best.get(rule.item)
        if held is None or rule.confidence > held.confidence:
            best[rule.item] = rule
        elif (rule.confidence, len(rule.itemset)) == (held.confidence, len(held.itemset)):
            best[rule.item] = max(held, rule, key=lambda one: one.support)
    return [best[s] for s in published_sensitive(rows, sensitive, order)]


def greatest_k(rows: Rows, sensitive: Collection[str], m: float, knows: str) -> int | None:
    found = known_sets(rows, sensitive, m, knows)
    return min((support(rows, items) for items in found if items), default=None)


def greatest_m(rows: Rows, sensitive: Collection[str], k: int, rho: Fraction, knows: str) -> float:
    """Greatest m for which it holds; 0: for none; inf: for all."""
    order = sorted({x for row in rows for x in row})
    sizes = [len(r.itemset) for r in violations(rows, sensitive, k, math.inf, rho, knows, order)]
    return max(min(sizes) - 1, 0) if sizes else math.inf


def is_km_rho(
    rows: Rows, sensitive: Collection[str], k: int, m: float, rho: Fraction, knows: str = "public"
) -> bool:
    """Return whether (k, rho)^m-anonymity is satisfied."""
    order = sorted({x for row in rows for x in row})
    return not violations(rows, sensitive, k, m, rho, knows, order)


def is_rho_uncertain(rows: Rows, sensitive: Collection[str], rho: Fraction) -> bool:
    """Return whether no rule at all has a confidence above rho."""
    order = sorted({x for row in rows for x in row})
    return all(rule.confidence <= rho for rule in rules(rows, sensitive, math.inf, "any", order))


def closed_rules(rows: Rows, sensitive: Collection[str], order: Sequence[str]) -> list[Rule]:
    """For each sensitive item s, the sets that some rows with s have in common, without s."""
    out = []
    for s in published_sensitive(rows, sensitive, order):
        holders = {row - {s} for row in rows if s in row}
        closed = set(holders)
        while more := {a & b for a in closed for b in holders} - closed:
            closed |= more
        out += [rule_of(rows, items, s, order) for items in closed]
    return sorted_rules(out, order)


def rule_of(rows: Rows, items: Collection[str], s: str, order: Sequence[str]) -> Rule:
    have = [row for row in rows if set(items) <= row]
    return Rule(tuple(x for x in order if x in items), len(have), s, sum(s in row for row in have))


def least_rule(rows: Rows, rule: Rule, rho: Fraction, order: Sequence[str]) -> Rule:
    """Remove items in item order, again and again, while the confidence stays above rho."""
    assert rule.item is not None
    while True:
        before = rule
        for x in before.itemset:
            fewer = rule_of(rows, set(rule.itemset) - {x}, rule.item, order)
            if fewer.confidence > rho:
                rule = fewer
        if rule == before:
            return rule
