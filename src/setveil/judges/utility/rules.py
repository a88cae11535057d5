"""Association rules of the original that are found again where a reader of the release looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.utility import GROUPS, ITEMS, Measure
from setveil.judges.utility._set_supports import supports_of_sets
from setveil.judges.utility.pooled import spread
from setveil.judges.utility.queries import frequent_sets
from setveil.kernels.rows import distinct_rows, frozen
from setveil.rows.data.transactions import Transactions

LONGEST = 3  # items of a rule where nothing else is said
MOST = 1_000_000  # frequent itemsets that are looked at

Itemset = tuple[str, ...]  # its items sorted as texts
Rule = tuple[Itemset, Itemset]  # what it goes from, and what it goes to


def rules_found(
    original: Transactions,
    readings: Iterable[Transactions],
    threshold: int,
    confidence: Fraction,
    *,
    longest: int = LONGEST,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare the association rules of rows that a reader has, draws or published rows, with the original's.

    A rule goes from one set of items to another, disjoint one, of at most `longest` items together. Labels
    that are no items of the original are in no rule. `mean` and `sd` are over the readings (of a single one
    `sd` is None): `found`, of the original's `rules`; `exact`, with the very support and confidence; `false`,
    rules among original items that only the reader has; `confidence_error`, mean absolute error over the
    original's rules (confidence 0 if items are missing). Agrawal, Imielinski, Swami, "Mining association
    rules between sets of items in large databases", SIGMOD 1993, doi:10.1145/170035.170072
    """
    theirs = _supports(original, threshold, longest, progress)
    rules = rules_of(theirs, confidence)
    items = set(original.vocabulary.labels)
    found, exact, false, errors = [], [], [], []
    for rows in readings:
        own = _supports(rows, threshold, longest, progress)
        again = rules_of(own, confidence)
        known = _supports_of(rows, theirs)
        found.append(sum(rule in again for rule in rules))
        exact.append(sum(again.get(rule) == about for rule, about in rules.items()))
        false.append(sum(rule not in rules and items.issuperset(rule[0] + rule[1]) for rule in again))
        errors.append(
            float(np.mean([abs(_confidence(known, rule) - about[1]) for rule, about in rules.items()]))
            if rules
            else 0.0
        )
    return {
        "threshold": threshold,
        "confidence": float(confidence),
        "longest": longest,
        "rules": len(rules),
        "readings": len(found),
        "found": spread(found),
        "exact": spread(exact),
        "false": spread(false),
        "confidence_error": spread(errors) if rules else None,
    }


def rules_of(supports: Mapping[Itemset, int], confidence: Fraction) -> dict[Rule, tuple[int, Fraction]]:
    """Make the rules of frequent itemsets, all subsets included, with their supports and confidences.

    >>> rules_of({("a",): 4, ("b",): 2, ("a", "b"): 2}, Fraction(3, 4))
    {(('b',), ('a',)): (2, Fraction(1, 1))}
    """
    rules = {}
    for itemset, rows in supports.items():
        for size in range(1, len(itemset)):
            for left in combinations(itemset, size):
                if rows * confidence.denominator >= supports[left] * confidence.numerator:
                    right = tuple(item for item in itemset if item not in left)
                    rules[left, right] = rows, Fraction(rows, supports[left])
    return rules


def _confidence(supports: Mapping[Itemset, int], rule: Rule) -> Fraction:
    left, right = rule
    whole = supports[left]
    return Fraction(supports[tuple(sorted(left + right))], whole) if whole else Fraction(0)


def _supports(data: Transactions, threshold: int, longest: int, progress: Progress) -> dict[Itemset, int]:
    """Find the supports of all itemsets of at most this many items in at least this many rows."""
    progress("counting itemsets")
    from setveil.kernels.itemset_counts import ItemsetFamily

    family = ItemsetFamily(*distinct_rows(data.indptr, data.items), data.n_items, threshold, longest)
    number = family.counts()[0]
    if number > MOST:
        raise RequestError(
            f"{number:,} itemsets of at most {longest} items are in at least {threshold:,} rows, too many to "
            f"look for rules among them; allowed are {MOST:,}.",
            hint="Raise the least support: --rules. Or look at fewer items: --rule-length.",
        )
    found: dict[Itemset, int] = {}
    labels = data.vocabulary.labels
    for size in range(1, longest + 1):
        sets = frequent_sets(data, size, threshold, progress)
        if not len(sets):
            break
        ends = frozen(np.arange(0, sets.size + 1, size), np.int64)
        supports = supports_of_sets(data, ends, frozen(sets.ravel(), np.int32)).tolist()
        names = (tuple(sorted(labels[item] for item in itemset)) for itemset in sets.tolist())
        found.update(zip(names, supports, strict=True))
    return found


def _supports_of(data: Transactions, itemsets: Iterable[Itemset]) -> dict[Itemset, int]:
    """Count the rows with each of some itemsets."""
    wanted = list(itemsets)
    ids = data.vocabulary.ids
    places = [sorted(ids.get(label, data.n_items) for label in itemset) for itemset in wanted]
    ends = frozen(np.cumsum([0, *map(len, places)]), np.int64)
    flat = frozen(np.array([at for some in places for at in some], np.int64), np.int32)
    return dict(zip(wanted, supports_of_sets(data, ends, flat).tolist(), strict=True))


MEASURES = (
    Measure(
        name="rules",
        title="rules found",
        meaning="share of the original's association rules that a reader finds",
        compute=None,  # who asks says how frequent, and with which confidence
        place=41,
        kinds=(*ITEMS, *GROUPS),
        needs="rules",
        better="more",
        number=lambda found: found["found"]["mean"] / found["rules"] if found["rules"] else None,
        reported=False,
        columns=(),
        compared=(),
    ),
)
