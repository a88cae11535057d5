"""The itemsets that a release lets expect in most rows, and rules made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.utility._pair_counts import count_beside, few_pairs
from setveil.judges.utility.estimates import Estimator, ItemsetEstimate
from setveil.kernels.count import members_of_cells
from setveil.rows.data.sums import is_in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.rows.engine.pairs import is_worth_it, pair_table

if TYPE_CHECKING:
    from setveil.rows.engine.tabled import TabledRows

_BLOCK = 4096  # candidates that are estimated together
_CELLS = 1 << 20  # of a table that are looked at together

Itemset = tuple[int, ...]
Kind = tuple[object, ...]


@dataclass(frozen=True)
class Rule:
    """Estimated rules: rows with some items also have another one."""

    antecedent: tuple[str, ...]  # the items that a row holds
    then: str  # the item that it may hold as well
    support: float  # rows that are expected to hold all of them
    confidence: float  # their share of the rows that are expected to hold the given ones
    lift: float  # the confidence, divided by the share of all rows that are expected to hold the other item

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "given": list(self.antecedent),
            "then": self.then,
            "support": self.support,
            "confidence": self.confidence,
            "lift": self.lift,
        }


def greatest_itemsets(
    estimator: Estimator, number: int, longest: int | None = None, progress: Progress = silent
) -> list[ItemsetEstimate]:
    """Find the `number` itemsets of 2 to `longest` items with the greatest estimates, fewer if few occur.

    Estimates do not grow when items are added, so an itemset can be among the greatest only if all its parts
    are estimated to be in as many rows as the least of them. (In local recodings an estimate may grow a
    little in rare cases; such an itemset can be missed.) Of equal ones shorter ones come first, then those in
    item order.
    """
    search = _RankSearch(estimator, number)
    level = search.best_of(search.pairs(), progress)
    length = 2
    while level and length != longest:
        length += 1
        level = search.best_of(search.extended(level), progress)
    return search.answers()


class _RankSearch:
    """Itemsets of ranks: items by their estimates, the greatest first."""

    def __init__(self, estimator: Estimator, number: int) -> None:
        items = item_order(estimator.items)
        estimates = estimator.of_items(items)
        order = np.argsort(-estimates, kind="stable")
        self.estimator, self.number = estimator, number
        self.items = [items[i] for i in order.tolist()]
        self.place = order.tolist()  # in item order
        self.singles = estimates[order].tolist()
        self.kinds = estimator.kinds(self.items)
        self.only_place = estimator.places.only(self.items)
        self.found: list[tuple[float, int, tuple[int, ...], Itemset]] = []
        self.least = 0.0  # estimates of others are at least that; 0: any above it

    def possible(self, estimate: float) -> bool:
        return estimate > 0 and estimate >= self.least

    def pairs(self) -> Iterator[Itemset]:
        """List pairs, except those that enough others of the same kinds of items come before.

        Of each kind the items come by descending estimates. A pair of the p-th and the q-th of two kinds,
        from 1, has p q - 1 pairs of no less estimate next to it: if as many are searched, no set with it is
        among the greatest. So labels of many items need not have all their pairs looked at.
        """
        met: dict[Kind, list[int]] = {}
        beside = self.estimator.kinds_beside()
        for last, estimate in enumerate(self.singles):
            if not self.possible(estimate):
                return
            own = met.setdefault(self.kinds[last], [])
            before = len(own)
            if before > self.number:
                continue
            for ranks in met.values() if beside is None else _met(met, beside, self.kinds[last]):
                if ranks is not own:
                    for first in ranks[: self.number // (before + 1)]:
                        yield first, last
            for q, first in enumerate(own):
                if (q + 1) * before - q * (q + 1) // 2 <= self.number:
                    yield first, last
            own.append(last)

    def extended(self, level: Sequence[Itemset]) -> Iterator[Itemset]:
        """Join itemsets that differ in their last item only, if all parts of the union are there."""
        present = set(level)
        by_start: dict[Itemset, list[int]] = {}
        for itemset in sorted(level):
            by_start.setdefault(itemset[:-1], []).append(itemset[-1])
        for start, ends in by_start.items():
            for pair in combinations(ends, 2):
                union = start + pair
                if all(union[:j] + union[j + 1 :] in present for j in range(len(union) - 2)):
                    yield union

    def best_of(self, candidates: Iterator[Itemset], progress: Progress) -> list[Itemset]:
        """Estimate candidates, keep the best of all so far, and return those that may be extended."""
        kept: list[tuple[float, Itemset]] = []
        while block := list(islice(candidates, _BLOCK)):
            progress("finding itemsets")
            estimates = self.estimates(block)
            good = np.flatnonzero((estimates > 0) & (estimates >= self.least)).tolist()
            found = [(float(estimates[at]), block[at]) for at in good]
            kept += found
            self.found += [(-e, len(ranks), self.in_order(ranks), ranks) for e, ranks in found]
            self.found = sorted(self.found)[: self.number]
            if len(self.found) == self.number:
                self.least = -self.found[-1][0]
        return [ranks for estimate, ranks in kept if self.possible(estimate)]

    def estimates(self, block: Sequence[Itemset]) -> NDArray[np.float64]:
        """Estimate itemsets of equal length."""
        ranks = np.array(block, np.int64)
        places = np.sort(self.only_place[ranks], axis=1)
        if places[:, 0].min() >= 0:
            ends = np.arange(0, places.size + 1, places.shape[1])
            return self.estimator.answers_at(ends, places.ravel()).estimate
        return self.estimator.answers([[self.items[rank] for rank in itemset] for itemset in block]).estimate

    def in_order(self, itemset: Itemset) -> tuple[int, ...]:
        return tuple(sorted(self.place[rank] for rank in itemset))

    def answers(self) -> list[ItemsetEstimate]:
        ordered = [sorted(ranks, key=self.place.__getitem__) for *_, ranks in self.found]
        return self.estimator.answer_all([[self.items[rank] for rank in ranks] for ranks in ordered])


def _met(
    met: Mapping[Kind, list[int]], beside: Mapping[Kind, Sequence[Kind]], kind: Kind
) -> Iterable[list[int]]:
    """List what was met of kinds that some row shows together with one, or that may be anywhere."""
    if kind not in beside:
        return met.values()
    return (met[one] for one in beside[kind] if one in met)


def rules_of(estimator: Estimator, itemsets: Sequence[Sequence[str]]) -> list[Rule]:
    """Make all rules from itemsets to one of their items, those of greatest confidence first."""
    found: list[Rule] = []
    for itemset in itemsets:
        together = estimator.estimate(itemset)
        for then in itemset:
            antecedent = tuple(item for item in itemset if item != then)
            held, share = (
                estimator.estimate(antecedent),
                estimator.estimate([then]) / max(estimator.n_rows, 1),
            )
            if held and share:
                confidence = together / held
                found.append(Rule(antecedent, then, together, confidence, confidence / share))
    return sorted(found, key=lambda rule: -rule.confidence)


def found_again(
    original: Transactions | TabledRows, estimator: Estimator, number: int, progress: Progress = silent
) -> dict[str, Any]:
    """Compare the `number` most frequent pairs of the original, or all if fewer, with the greatest estimates.

    `found`: pairs that are among as many greatest estimates; `error`: the mean relative error of their
    estimates; `confidence`: the mean absolute error of the confidences of each pair's two rules. Errors are
    None without pairs.
    """
    counted = most_frequent_pairs(original, number, progress)
    pairs = [pair for pair, _ in counted]
    guesses = greatest_itemsets(estimator, len(pairs), 2, progress) if pairs else []
    guessed = {frozenset(answer.itemset) for answer in guesses}
    together = estimator.answers(pairs).estimate.tolist()
    items = sorted({item for pair in pairs for item in pair})
    alone = dict(zip(items, estimator.of_items(items).tolist(), strict=True))
    ids, supports = original.vocabulary.ids, original.supports()
    off, unsure = [], []
    for (pair, rows), estimate in zip(counted, together, strict=True):
        off.append(abs(estimate / rows - 1))
        for item in pair:
            confidence = estimate / alone[item] if alone[item] else 0.0
            unsure.append(abs(confidence - rows / int(supports[ids[item]])))
    return {
        "number": len(pairs),
        "found": sum(frozenset(pair) in guessed for pair in pairs),
        "error": float(np.mean(off)) if off else None,
        "confidence": float(np.mean(unsure)) if unsure else None,
    }


def most_frequent_pairs(
    data: Transactions | TabledRows, number: int, progress: Progress = silent
) -> list[tuple[tuple[str, str], int]]:
    """List the pairs of items that most rows contain, with the number of these rows.

    These are the `greatest_itemsets` of two items that the rows themselves suggest.

    >>> data = Transactions.from_rows([["a", "b"], ["b", "a", "c"], ["b", "c"]])
    >>> most_frequent_pairs(data, 2)
    [(('a', 'b'), 2), (('b', 'c'), 2)]
    """
    in_order = item_order(data.vocabulary.labels)
    places = np.argsort([data.vocabulary.ids[item] for item in in_order])
    if not is_in_memory(data):
        return _most_frequent_in_table(data.table(2), places, in_order, number)
    if is_worth_it(data):
        return _most_frequent_in_table(pair_table(data), places, in_order, number)
    indptr, items, weights = data.distinct
    place = places.tolist()
    if (pairs := few_pairs(indptr, items, weights, data.n_items)) is not None:
        one, other = (np.array([place[item] for item in ids.tolist()], np.int64) for ids in pairs[:2])
        low, high, rows = np.minimum(one, other), np.maximum(one, other), pairs[2]
        best = np.lexsort((high, low, -rows))[:number]
        counted = zip(low[best].tolist(), high[best].tolist(), rows[best].tolist(), strict=True)
        return [((in_order[first], in_order[second]), n) for first, second, n in counted]
    starts, holders = data.holders
    supports = data.supports()
    before = np.zeros(data.n_items, bool)
    found: list[tuple[int, int, int]] = []  # less the rows, and the places of both items
    least = 1  # rows of a pair that may be among those looked for
    for item in np.argsort(-supports, kind="stable").tolist():
        if supports[item] < least:
            break
        progress("finding itemsets")
        counts = np.zeros(data.n_items, np.int64)
        count_beside(indptr, items, weights, holders[starts[item] : starts[item + 1]], counts)
        own = place[item]
        found += [
            (-int(counts[other]), min(own, place[other]), max(own, place[other]))
            for other in np.flatnonzero(before & (counts >= least)).tolist()
        ]
        before[item] = True
        found = sorted(found)[:number]
        if len(found) == number:
            least = -found[-1][0]
    return [((in_order[first], in_order[second]), -rows) for rows, first, second in found]


def _most_frequent_in_table(
    table: NDArray[np.int32], places: NDArray[np.int64], labels: Sequence[str], number: int
) -> list[tuple[tuple[str, str], int]]:
    """List the same from the table of all pairs; `places`, `labels`: of the items, in item order."""
    least = 1
    found = np.zeros((0, 3), np.int64)  # less the rows, and the places of both items
    for start in range(0, table.size, _CELLS):
        cells = start + np.flatnonzero(table[start : start + _CELLS] >= least)
        pairs = np.sort(places[members_of_cells(cells, places.size, 2)], axis=1)
        found = np.concatenate([found, np.column_stack([-table[cells].astype(np.int64), pairs])])
        found = found[np.lexsort(found.T[::-1])[:number]]
        if len(found) == number:
            least = -int(found[-1, 0])
    return [((labels[first], labels[second]), -rows) for rows, first, second in found.tolist()]
