"""Information loss of rows in chunks: the measures of the paper on disassociation, and published shares.

Estimates are a reader's; measures of rows use one reconstruction. Terrovitis, Liagouris, Mamoulis,
Skiadopoulos, "Privacy preservation by disassociation", PVLDB 5(10), 2012, section 7,
doi:10.14778/2336664.2336668
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from setveil.judges.utility import CHUNKS, NOISY, Case, Measure
from setveil.judges.utility._set_supports import supports_of_sets
from setveil.judges.utility.are import by_name
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.greatest import greatest_itemsets
from setveil.releases.published.shared import Shared
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.releases.published.chunk_files import PublishedChunks

FIRST, LAST = 200, 220  # ranks, by support, of the items whose pairs `re` looks at
LONGEST = 3  # items of an itemset that `tkd` looks at


def relative_error(case: Case) -> float | None:
    """Average |so - sp| / ((so + sp) / 2) of the pairs of middling items; so, sp: before, and estimated.

    The items are those ranked 200 to 219 by support, ties in item order; of fewer than 220 items the 20, or
    fewer, around the middle. A pair that is in no row, and is estimated so, has no error.
    """
    data: Transactions = case.original
    order = np.argsort(-data.supports(), kind="stable")
    if order.size < LAST:
        first = max((order.size - (LAST - FIRST)) // 2, 0)
        order = order[first : first + LAST - FIRST]
    else:
        order = order[FIRST:LAST]
    pairs = [tuple(sorted(pair)) for pair in combinations(order.tolist(), 2)]
    if not pairs:
        return None
    ends, flat = np.arange(0, 2 * len(pairs) + 1, 2), np.array(pairs, np.int32).ravel()
    before = supports_of_sets(data, ends, flat)
    labels = data.vocabulary.labels
    after = case.once(by_name).answers([[labels[x] for x in pair] for pair in pairs]).estimate
    both = before + after
    return float(np.mean(np.where(both > 0, 2 * np.abs(before - after) / np.where(both > 0, both, 1), 0)))


def lost_terms(case: Case) -> float | None:
    """Find the share of the items in at least k rows that are shown in no record or shared chunk."""
    data, chunks = case.original, case.chunks
    labels, supports = data.vocabulary.labels, data.supports()
    frequent = [x for x, n in zip(labels, supports.tolist(), strict=True) if n >= max(chunks.k, 1)]
    shown = {x for x, one in zip(chunks.vocabulary.labels, chunks.in_record.tolist(), strict=True) if one}
    return sum(x not in shown for x in frequent) / len(frequent) if frequent else None


def top_itemsets(rows: Transactions, number: int) -> list[tuple[str, ...]]:
    """List the itemsets of at most three items in most rows; of equal ones smaller, then in item order."""
    layout = Layout("basket")
    place = {x: i for i, x in enumerate(item_order(rows.vocabulary.labels))}
    found: list[tuple[int, int, tuple[int, ...], tuple[str, ...]]]
    found = [(-n, 1, (place[x],), (x,)) for x, n in _supports(rows) if n]
    for one in greatest_itemsets(Estimator(Shared(rows, {}, None, {}, layout)), number, LONGEST):
        ids = tuple(place[x] for x in one.itemset)
        found.append((-round(one.estimate), len(ids), ids, one.itemset))
    return [itemset for *_, itemset in sorted(found)[:number]]


def _supports(rows: Transactions) -> list[tuple[str, int]]:
    return list(zip(rows.vocabulary.labels, rows.supports().tolist(), strict=True))


def top_difference(case: Case) -> float | None:
    """Find the share of the top itemsets of the original that are not among those of a reconstruction."""
    return _difference(case, case.original, case.once(_drawn))


def top_difference_levels(case: Case) -> float | None:
    """Find the same of rows with all ancestors of their items but the root next to them."""
    tree: Hierarchy = case.hierarchy
    return _difference(case, extended(case.original, tree), extended(case.once(_drawn), tree), tree)


def _drawn(case: Case) -> Transactions:
    if case.blocks is not None:
        rows: Transactions = case.published
        return rows
    from setveil.judges.reconstruction.chunks import deal_parts

    chunks: PublishedChunks = case.chunks
    return deal_parts(chunks, case.seed)


def _difference(
    case: Case, before: Transactions, after: Transactions, tree: Hierarchy | None = None
) -> float | None:
    wanted, found = (_top_apart(rows, case.top, tree) for rows in (before, after))
    return 1 - len(set(wanted) & set(found)) / len(wanted) if wanted else None


def _top_apart(rows: Transactions, number: int, tree: Hierarchy | None) -> list[frozenset[str]]:
    """List the top itemsets, but for those of an item and one that is above it."""
    above = {} if tree is None else _above(tree, rows.vocabulary.labels)
    wanted = number
    while True:
        listed = top_itemsets(rows, wanted)
        apart = [frozenset(one) for one in listed if not any(above.get(x, frozenset()) & {*one} for x in one)]
        if len(apart) >= number or len(listed) < wanted:
            return apart[:number]
        wanted *= 2


def _above(tree: Hierarchy, labels: Iterable[str]) -> dict[str, frozenset[str]]:
    """List the ancestors of some labels, without the root."""
    ids = {label: i for i, label in enumerate(tree.labels)}
    return {x: frozenset(tree.labels[v] for v in tree.ancestors(ids[x]) if v != tree.root) for x in labels}


def extended(rows: Transactions, tree: Hierarchy) -> Transactions:
    """Add to each row all ancestors of its items but the root."""
    tree.locate(rows.vocabulary)  # refuses items that it lacks
    above = _above(tree, rows.vocabulary.labels)
    return Transactions.from_rows([{y for x in row for y in (x, *above[x])} for row in rows.rows()])


def _left(case: Case) -> int:
    return int(case.original.n_occurrences - case.chunks.n_occurrences)


MEASURES = (
    Measure(
        name="shown_occurrences",
        compute=lambda case: int(case.chunks.n_occurrences),
        place=9,
        kinds=CHUNKS,
        unit="occurrences",
        high=None,
        better="more",
    ),
    Measure(
        name="term_occurrences",
        compute=_left,
        place=10,
        kinds=CHUNKS,
        unit="occurrences",
        high=None,
        better="less",
    ),
    Measure(
        name="re",
        title="re",
        meaning="mean relative error of pairs of middling items, as a reader estimates them",
        compute=relative_error,
        place=1,
        kinds=CHUNKS,
        high=2,
        reading="Of each pair of the items ranked 200 to 219 by support (of few items: the 20 in the middle) "
        "the "
        "difference between true and estimated rows, divided by their mean: 0 is exact, 2 as far off "
        "as can be.",
    ),
    Measure(
        name="tlost",
        title="tlost",
        meaning="share of the items in k rows or more that no chunk shows",
        compute=lost_terms,
        place=2,
        kinds=CHUNKS,
        reading="Such an item is in term chunks only: these say that a cluster has it, but not in how many "
        "rows.",
    ),
    Measure(
        name="tkd",
        title="tKd",
        meaning="share of the itemsets in most rows that are not among those of a reconstruction",
        compute=top_difference,
        place=3,
        kinds=(*CHUNKS, *NOISY),
        needs="top",
    ),
    Measure(
        name="tkd_ml2",
        title="tKd-ML2",
        meaning="the same with the groups of the hierarchy as items",
        compute=lambda case: None if case.hierarchy is None else top_difference_levels(case),
        place=4,
        kinds=(*CHUNKS, *NOISY),
        needs="top",
    ),
)
