"""Association rules by brute force: sets of items, and fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Itemset = frozenset[str]
Rule = tuple[Itemset, Itemset]
About = tuple[int, Fraction]


def support(rows: Iterable[Itemset], itemset: Itemset) -> int:
    return sum(itemset <= row for row in rows)


def rules(rows: Sequence[Itemset], least: int, confidence: Fraction, longest: int) -> dict[Rule, About]:
    """List all rules in at least `least` rows, with support and confidence."""
    items = sorted(frozenset().union(*rows))
    found = {}
    for size in range(2, longest + 1):
        for whole in map(frozenset, combinations(items, size)):
            together = support(rows, whole)
            if together < least:
                continue
            for left in (frozenset(part) for n in range(1, size) for part in combinations(sorted(whole), n)):
                share = Fraction(together, support(rows, left))
                if share >= confidence:
                    found[left, whole - left] = together, share
    return found


def compare(
    original: Sequence[Itemset], read: Sequence[Itemset], least: int, confidence: Fraction, longest: int
) -> tuple[int, int, int, int, Fraction | None]:
    """Rules of the original; those found, those found as they were, false ones; mean error of confidence."""
    theirs, own = (rules(rows, least, confidence, longest) for rows in (original, read))
    items: Itemset = frozenset().union(*original)
    errors = []
    for (left, right), (_, share) in theirs.items():
        held = support(read, left)
        errors.append(abs((Fraction(support(read, left | right), held) if held else Fraction(0)) - share))
    return (
        len(theirs),
        len(theirs.keys() & own.keys()),
        sum(own.get(rule) == about for rule, about in theirs.items()),
        sum(left | right <= items for left, right in own.keys() - theirs.keys()),
        sum(errors, Fraction(0)) / len(errors) if errors else None,
    )
