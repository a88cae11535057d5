"""Answers to COUNT queries from the published files: estimates of maximum entropy, and proven bounds.

A row that shows a label contains a non-empty set of its items. Of all distributions over such sets that give
each item its published support, the one of greatest entropy takes the items independently of each other,
given that the set is not empty (formulas, proofs and an example in docs/query.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.judges.utility._estimate_loops import answer_queries
from setveil.judges.utility._label_shares import places_in
from setveil.judges.utility._pair_counts import few_pairs
from setveil.judges.utility._set_supports import supports_of_sets
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, take_rows
from setveil.releases.published.shared import SharedSums
from setveil.rows.data.spelling import beginnings, codes_below
from setveil.rows.data.sums import is_in_memory
from setveil.rows.data.transactions import Transactions

MAXIMUM_ENTROPY, UNIFORM = "maximum entropy", "uniform"

_REMEMBERED = 100_000  # supports of sets of labels
_FEW = 256  # ways to choose places for which it is not worth while to look which of them rows show


@dataclass(frozen=True)
class ItemsetEstimate:
    """Estimated number of rows with given items, and bounds that no original of this release exceeds."""

    itemset: tuple[str, ...]
    estimate: float
    least: int
    greatest: int
    # items under a label that does not list all its items, suppressed, or in no row
    unlisted: tuple[str, ...] = ()
    # the listed codes of each group in the itemset, such as E11.0 of E11; one is enough
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        number = f"exactly {self.least:,}"
        if self.least < self.greatest:
            number = f"about {self.estimate:,.4g}, at least {self.least:,}, at most {self.greatest:,}"
        note = f" (not listed: {', '.join(self.unlisted)})" if self.unlisted else ""
        return f"{', '.join(self.itemset)}: {number}{note}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "itemset": list(self.itemset),
            "estimate": self.estimate,
            "least": self.least,
            "greatest": self.greatest,
            **({"unlisted": list(self.unlisted)} if self.unlisted else {}),
            **({"groups": {name: list(items) for name, items in self.groups.items()}} if self.groups else {}),
        }


class Answers(NamedTuple):
    """Answers to many queries, in their order."""

    estimate: NDArray[np.float64]  # float64 (queries,)
    # least, greatest: int64 (queries,)
    least: Ints
    greatest: Ints


class Estimator:
    """Answer queries from the shared parts of a release, and from nothing else.

    With counts next to the rows the estimates are those of maximum entropy, and exact for single listed
    items. Without them all non-empty sets of the items of a label are taken as equally likely, as in
    `setveil.judges.utility.are.query_errors`. No estimate grows when items are added to its query.

    In a local recoding an item may have several labels: answers are sums over all ways to choose a label for
    each item. They are right if no row shows two labels of one item, as in all releases made here; else such
    rows count twice.

    An item without a count is thought to have at least `unlisted` rows; those under one label always share
    what the listed items leave of its rows.

    >>> import setveil as sv
    >>> from setveil.rows.data.layout import Layout
    >>> from setveil.releases.published.shared import shared_by
    >>> rows = [["tea", "milk"], ["tea", "milk"], ["tea"], ["coffee", "milk"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), hierarchy=drinks, algorithm="aa").release
    >>> estimator = Estimator(shared_by(release, {}, Layout("basket")))
    >>> estimator.estimate(["tea"]), estimator.estimate(["tea", "milk"]), estimator.bounds(["tea", "milk"])
    (3.0, 2.25, (2, 3))
    """

    others: bool = False
    unit: ClassVar[str] = "item"
    names: ClassVar[str] = "neither an item nor a label"  # what a name is that cannot be asked for
    lacking: ClassVar[str] = "Queries about suppressed items that are in no count cannot be answered."
    in_classes: ClassVar[bool] = False  # whether rows are in classes, which may be asked one by one
    by_label: ClassVar[bool] = True  # whether items are together only where some row shows both labels
    answers_groups: ClassVar[bool] = True  # whether E11 is answered as the group of E11.0 to E11.9

    def __init__(self, shared: SharedSums, *, unlisted: int = 0) -> None:
        if unlisted < 0:
            raise RequestError(f"An item without a count is in 0 rows or more, got {unlisted}.")
        self.method = UNIFORM if shared.counts is None else MAXIMUM_ENTROPY
        self.n_rows = shared.rows.n_rows
        self.others = bool(shared.others)
        self._labels = {label: i for i, label in enumerate(shared.rows.vocabulary.labels)}
        for label in shared.members:
            self._labels.setdefault(label, len(self._labels))
        self._rows = shared.rows
        self._remembered: dict[bytes, int] = {}
        sizes = np.zeros(len(self._labels) + 1, np.int64)
        sizes[: shared.rows.n_items] = shared.rows.supports()
        sizes[-1] = self.n_rows
        self.places = places_in(shared, self._labels, frozen(sizes, np.int64), unlisted)

    def __contains__(self, name: object) -> bool:
        """Say whether the release names an item, under a label or among its counts, or has such a label."""
        return name in self.places.of or name in self.places.of_label

    def is_part(self, name: str) -> bool:
        """Return whether a name represents several items."""
        return name in self.labels

    def shows(self, name: str) -> bool:
        """Return whether rows show a name, as an item or a label."""
        return name in self._labels

    def may_hide(self, name: str) -> bool:
        """Say whether a name may be an item that the release does not list, below a label or suppressed."""
        return self.others and name not in self and not self.shows(name) and not self.begins(name)

    def begins(self, name: str) -> bool:
        """Return whether a name begins listed codes, as a group of them does, and is not listed itself."""
        if name in self:
            return False
        return name.strip().upper() in self._beginnings or bool(codes_below(name, self.listed))

    @cached_property
    def _beginnings(self) -> set[str]:
        return beginnings(self.listed)

    @property
    def listed(self) -> tuple[str, ...]:
        """The names of items and labels that the release lists."""
        return (*self.items, *self._labels)

    def group(self, name: str) -> tuple[str, ...]:
        """List the codes that a name begins, if it is neither an item nor a label of one meaning."""
        if not self.answers_groups or name in self:
            return ()
        return codes_below(name, self.places.of)

    @property
    def items(self) -> tuple[str, ...]:
        """All items that the release names."""
        return tuple(self.places.of)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that represent several items, if each item has one: queries may name them as well."""
        return tuple(self.places.of_label)

    def kinds(self, items: Iterable[str]) -> list[tuple[object, ...]]:
        """Return comparable kinds of items: of two of one kind, that of the greater estimate is nowhere less.

        Next to any other items, the one expected in more rows alone is expected in no fewer. Such are the
        items of one label, and items that are under the same labels in the same shares.
        """
        label, share = self.places.label, self.places.share
        found: list[tuple[object, ...]] = []
        for item in items:
            places = self.places.standing(item)
            if len(places) == 1:
                found.append((int(label[places[0]]),))
            else:
                found.append(tuple((int(label[place]), float(share[place])) for place in places))
        return found

    def kinds_beside(self) -> dict[tuple[object, ...], list[tuple[object, ...]]] | None:
        """List for the kind of each label the kinds that it may be expected with; None: look at all pairs.

        It is for rows that show few of all pairs of labels. Kinds that are not listed go with any.
        """
        places = self.places
        if not self.by_label or (places.only(self.items) < 0).any() or not is_in_memory(self._rows):
            return None
        pairs = few_pairs(*self._rows.distinct, len(self._labels))
        if pairs is None:
            return None
        suppressed = (len(self._labels),)
        beside: dict[tuple[object, ...], list[tuple[object, ...]]] = {
            (label,): [(label,), suppressed] for label in range(len(self._labels))
        }
        for one, other in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
            beside[one,].append((other,))
            beside[other,].append((one,))
        return beside

    def estimate(self, items: Iterable[str]) -> float:
        """Estimate how many rows contain all of some items, or labels: a row contains a label if it shows it.

        A name that the release does not have is taken for an item that was suppressed and not counted.
        """
        return self.answer(items).estimate

    def bounds(self, items: Iterable[str]) -> tuple[int, int]:
        """Find the fewest and the most rows that can contain all of some items, given the release.

        That data reach the bounds is proven for single listed items and pairs of them.
        """
        found = self.answer(items)
        return found.least, found.greatest

    def of_items(self, items: Sequence[str]) -> NDArray[np.float64]:
        """Estimate the rows of each of some items: float64 (items,)."""
        places = self.places.only(items)
        if (places < 0).any():
            return self.answers([(item,) for item in items]).estimate
        return self.answers_at(np.arange(places.size + 1), places).estimate

    def answer(self, items: Iterable[str]) -> ItemsetEstimate:
        """Estimate the rows that contain all of some items, and bound them."""
        return self.answer_all([tuple(items)])[0]

    def answer_all(self, queries: Sequence[Iterable[str]]) -> list[ItemsetEstimate]:
        """Answer many queries at once, each by an `ItemsetEstimate` (see `answers`)."""
        itemsets = [tuple(query) for query in queries]
        numbers = zip(*(part.tolist() for part in self.answers(itemsets)), strict=True)
        return [
            ItemsetEstimate(itemset, estimate, least, greatest, tuple(filter(self.may_hide, itemset)))
            for itemset, (estimate, least, greatest) in zip(itemsets, numbers, strict=True)
        ]

    def answer_named(self, queries: Sequence[Iterable[str]]) -> list[ItemsetEstimate]:
        """Answer queries as people write them: a name that is no item may be a group of codes."""
        itemsets = [tuple(query) for query in queries]
        groups = {name: codes for itemset in itemsets for name in itemset if (codes := self.group(name))}
        plain = iter(self.answer_all([one for one in itemsets if groups.keys().isdisjoint(one)]))
        return [
            next(plain) if groups.keys().isdisjoint(itemset) else self._answer_with(groups, itemset)
            for itemset in itemsets
        ]

    def _answer_with(
        self, groups: Mapping[str, tuple[str, ...]], itemset: tuple[str, ...]
    ) -> ItemsetEstimate:
        from setveil.judges.utility._group_estimates import answer_groups

        named = {name: groups[name] for name in itemset if name in groups}
        parts = [
            [place for item in named.get(name, (name,)) for place in self.places.standing(item)]
            for name in dict.fromkeys(itemset)
        ]
        hidden = tuple(name for name in itemset if name not in named and self.may_hide(name))
        rows = cast(Transactions, self._rows)
        return ItemsetEstimate(itemset, *answer_groups(self.places, rows, parts), hidden, named)

    def answers(self, queries: Sequence[Iterable[str]]) -> Answers:
        """Answer many queries at once, as `estimate` does; an item repeated in a query counts once."""
        chosen: list[int] = []
        starts, query_of = [0], []
        caps = np.full(len(queries), self.n_rows, np.int64)
        for number, query in enumerate(queries):
            places = self._standing(query)
            if all(len(found) == 1 for found in places):
                chosen += sorted(found[0] for found in places)
                starts.append(len(chosen))
                query_of.append(number)
                continue
            high = self.places.high
            caps[number] = min(self.n_rows, *(int(high[list(found)].sum()) for found in places))
            for choice in self._choices(places):
                chosen += sorted(choice)
                starts.append(len(chosen))
                query_of.append(number)
        found = self.answers_at(np.array(starts, np.int64), np.array(chosen, np.int64))
        if len(query_of) == len(queries) == len(set(query_of)):
            return found
        estimate, least, greatest = np.zeros(len(queries)), *np.zeros((2, len(queries)), np.int64)
        owners = np.array(query_of, np.int64)
        np.add.at(estimate, owners, found.estimate)
        np.add.at(least, owners, found.least)
        np.add.at(greatest, owners, found.greatest)
        greatest = np.minimum(greatest, caps)
        return Answers(np.clip(estimate, least, greatest), least, greatest)

    def _standing(self, query: Iterable[str]) -> list[tuple[int, ...]]:
        """List the places of each item of a query."""
        found = [self.places.standing(item) for item in dict.fromkeys(query)]
        if not found:
            raise RequestError("A query has no item, expected at least one.")
        return found

    def _choices(self, places: list[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Choose places for items; of many ways only those in which some row shows all the labels."""
        if prod(map(len, places)) <= _FEW:
            yield from product(*places)
            return
        none = len(self._labels)
        stack: list[tuple[tuple[int, ...], frozenset[int]]] = [((), frozenset())]
        while stack:
            choice, labels = stack.pop()
            if len(choice) == len(places):
                yield choice
                continue
            options = places[len(choice)]
            under = [
                labels if label == none else labels | {label}
                for label in self.places.label[list(options)].tolist()
            ]
            for place, joined, shown in zip(options, under, self._shown(under).tolist(), strict=True):
                if joined == labels or shown:
                    stack.append(((*choice, place), joined))

    def _shown(self, sets: Sequence[Iterable[int]]) -> Ints:
        """Count the rows that show all labels of each set."""
        listed = [sorted(labels) for labels in sets]
        ends = np.cumsum([0, *map(len, listed)])
        ids = np.array([label for labels in listed for label in labels], np.int32)
        return self._supports(frozen(ends, np.int64), frozen(ids, np.int32))

    def _supports(self, indptr: Ints, labels: Ids) -> Ints:
        """Count the rows that show all labels of each set; those of few sets of labels are remembered."""
        group, first, _ = merge_rows(indptr, labels)
        indptr, labels = take_rows(indptr, labels, first)
        bounds = indptr.tolist()
        keys = [labels[start:end].tobytes() for start, end in pairwise(bounds)]
        known = self._remembered
        supports = np.array([known.get(key, -1) for key in keys], np.int64)
        new = np.flatnonzero(supports < 0)
        if new.size:
            found = supports_of_sets(self._rows, *take_rows(indptr, labels, new))
            supports[new] = found
            if len(known) + new.size > _REMEMBERED:
                known.clear()
            known.update(zip((keys[j] for j in new.tolist()), found.tolist(), strict=True))
        return supports[group]

    def answers_at(self, indptr: Ints, places: Ints) -> Answers:
        """Answer many queries by the places of their items (see `Places`): of each one place, ascending."""
        at = self.places
        under = at.label[places]
        row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        again = np.zeros(places.size, bool)
        again[1:] = (row[1:] == row[:-1]) & (under[1:] == under[:-1])
        shown = ~again & (under < len(self._labels))
        ends = np.concatenate(([0], np.cumsum(np.bincount(row[shown], minlength=indptr.size - 1))))
        supports = self._supports(frozen(ends, np.int64), frozen(under[shown], np.int32))
        found = Answers(np.empty(supports.size), np.empty_like(supports), np.empty_like(supports))
        answer_queries(
            frozen(indptr, np.int64), frozen(places, np.int64), at.label, at.share, at.low, at.high,
            at.is_item, at.sizes, at.chances, at.room, frozen(supports, np.int64), *found,
        )  # fmt: skip
        return found
