"""The least loss of (k, rho)^m-anonymous and of coherent releases, by trying every release (SPEC2-MODELS §4).

A release publishes public items under a cut of the hierarchy without the sensitive ones, or suppresses them,
and hides sensitive items in some or all of their rows. Suppressing an inner node of a cut publishes the same
as cutting at its leaves and suppressing each leaf, so the search suppresses only leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, islice, product

from naive import coherence as by_moles
from naive.anonymize import Cut, Tree, all_cuts, children, leaves, up_from
from naive.exact import Number, exactly
from naive.km import Rows
from naive.measures import Image

Itemset = frozenset[str]

OCCURRENCES, ITEMS, NOTHING = "occurrences", "items", "nothing"


@dataclass(frozen=True)
class Promise:
    """(k, rho)^m-anonymity; rho-uncertainty if k = 1, m is infinite and any item may be known."""

    k: int
    m: float
    rho: Fraction
    sensitive: tuple[str, ...] = ()
    knows: str = "public"


@dataclass(frozen=True)
class Terms:
    """The objective of a search, and whether it hides sensitive occurrences, whole sensitive items, or
    nothing.
    """

    hide: str = OCCURRENCES
    objective: str = "lm"
    suppress: bool = True
    weights: Mapping[str, Number] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    max_suppressed: Number | None = None


@dataclass(frozen=True)
class Way:
    """A way to hide a sensitive item: the rows that lose it, and their number for each set of items."""

    item: str
    counts: Mapping[Itemset, int]
    rows: frozenset[int]


@dataclass(frozen=True)
class Found:
    """A release: the cut (None without a hierarchy), the label of each item, and the hidden items."""

    cut: Cut | None
    to: Image
    hidden: tuple[Way, ...] = ()

    def published(self, rows: Rows) -> list[Itemset]:
        out = []
        for at, row in enumerate(rows):
            gone = {way.item for way in self.hidden if at in way.rows}
            labels = (self.to.get(item, item) for item in row - gone)
            out.append(frozenset(label for label in labels if label is not None))
        return out

    @property
    def suppressed_items(self) -> Itemset:
        return frozenset(item for item, label in self.to.items() if label is None)

    def suppressed(self, rows: Rows) -> int:
        """Count the suppressed or hidden occurrences."""
        suppressed = sum(self.to.get(item, item) is None for row in rows for item in row)
        return suppressed + sum(len(way.rows) for way in self.hidden)


# --- guarantees


def holders(rows: Rows, unknown: Collection[str], most: float) -> dict[Itemset, list[int]]:
    """List the rows that contain each set of at most `most` items that can be known, the empty set first."""
    out: dict[Itemset, list[int]] = {frozenset(): list(range(len(rows)))}
    for at, row in enumerate(rows):
        known = row - frozenset(unknown)
        for size in range(1, int(min(most, len(known))) + 1):
            for some in combinations(known, size):
                out.setdefault(frozenset(some), []).append(at)
    return out


def tells(
    rows: Rows, at: Collection[int], s: str, rho: Fraction, gone: Collection[int] = frozenset()
) -> bool:
    """Return whether too many of the rows `at` contain a sensitive item that is hidden in the rows `gone`."""
    return sum(s in rows[i] and i not in gone for i in at) > rho * len(at)


def is_private(rows: Rows, promise: Promise) -> bool:
    """Return whether published rows are (k, rho)^m-anonymous."""
    unknown = promise.sensitive if promise.knows == "public" else ()
    return all(
        (not known or len(at) >= promise.k)
        and not any(tells(rows, at, s, promise.rho) for s in set(promise.sensitive) - known)
        for known, at in holders(rows, unknown, promise.m).items()
    )


# --- what can be published


def restricted(tree: Tree, sensitive: Collection[str]) -> Tree:
    """Remove the sensitive leaves, and then every inner node that has nothing left below it."""
    gone = set(sensitive) & set(leaves(tree))
    inner = set(tree) - set(leaves(tree))
    while more := {node for node in inner - gone if set(children(tree, node)) <= gone}:
        gone |= more
    return {node: up for node, up in tree.items() if node not in gone}


def recodings(
    rows: Rows, tree: Tree | None, sensitive: Collection[str]
) -> Iterator[tuple[Cut | None, dict[str, str | None]]]:
    """List every cut of the restricted hierarchy with the labels of the public items."""
    if tree is None:
        yield None, {item: item for item in set(chain.from_iterable(rows)) - set(sensitive)}
        return
    public = restricted(tree, sensitive)
    paths = {leaf: up_from(public, leaf) for leaf in leaves(public)}
    for cut in all_cuts(public) if public else [frozenset[str]()]:
        yield cut, {leaf: next(filter(cut.__contains__, path)) for leaf, path in paths.items()}


def candidates(rows: Rows, tree: Tree | None, sensitive: Collection[str], terms: Terms) -> Iterator[Found]:
    """List every cut with every set of its public leaves that may be suppressed; nothing is hidden yet.

    Items that never occur stay as they are: suppressing them changes nothing.
    """
    occurring = set(chain.from_iterable(rows)) - set(sensitive)
    for cut, to in recodings(rows, tree, sensitive):
        if any(to[item] != item for item in terms.keep if item in to):
            continue
        free = sorted(item for item in occurring - set(terms.keep) if to[item] == item)
        for size in range(len(free) + 1 if terms.suppress else 1):
            for some in combinations(free, size):
                yield Found(cut, to | dict.fromkeys(some))


def groups_of(rows: Rows, s: str, sensitive: Collection[str]) -> dict[Itemset, list[int]]:
    """List the rows with a sensitive item by their public items."""
    groups: dict[Itemset, list[int]] = {}
    for at, row in enumerate(rows):
        if s in row:
            groups.setdefault(row - frozenset(sensitive), []).append(at)
    return groups


def ways(rows: Rows, s: str, sensitive: Collection[str], terms: Terms) -> list[Way]:
    """List every way to hide a sensitive item that the terms allow, fewest occurrences first.

    The first rows of those with the same public items lose it: no set of public items distinguishes them.
    """
    groups = groups_of(rows, s, sensitive)
    every = tuple(map(len, groups.values()))
    none = (0,) * len(groups)
    if terms.hide == NOTHING or s in terms.keep:
        numbers = [none]
    elif terms.hide == ITEMS:
        numbers = [none, every]
    else:
        numbers = sorted(product(*(range(n + 1) for n in every)), key=sum)
    return [
        Way(
            s,
            dict(zip(groups, chosen, strict=True)),
            frozenset(i for at, n in zip(groups.values(), chosen, strict=True) for i in at[:n]),
        )
        for chosen in dict.fromkeys(numbers)
    ]


def hidings(
    rows: Rows, found: Found, promise: Promise, hiding: Sequence[Sequence[Way]], *, fewest: bool = False
) -> Iterator[tuple[Way, ...]]:
    """List the choices of ways to hide sensitive items with which a candidate satisfies a guarantee.

    If only public items are known, inferences about a sensitive item do not depend on the others, and hiding
    does not change the number of rows with a set of public items. Then, to hide only the `fewest`, the first
    safe way of each item is enough.
    """
    if promise.knows == "any":
        for some in product(*hiding):
            if is_private(replace(found, hidden=some).published(rows), promise):
                yield some
        return
    shown = found.published(rows)
    known = holders(shown, promise.sensitive, promise.m)
    if any(len(at) < promise.k for items, at in known.items() if items):
        return
    groups = {tuple(at) for at in known.values()}
    safe = []
    for of_item in hiding:
        s = of_item[0].item
        breaches = [at for at in groups if tells(shown, at, s, promise.rho)]
        keeping = (
            way for way in of_item if not any(tells(shown, at, s, promise.rho, way.rows) for at in breaches)
        )
        safe.append(list(islice(keeping, 1 if fewest else None)))
    yield from product(*safe)


# --- losses


@dataclass(frozen=True)
class Losses:
    """The loss of occurrences, in units of 1/W: W is |I_P| - 1 for LM, |I_P| for NCP (at least 1)."""

    occurrences: Mapping[str, int]
    weight: Mapping[str, Fraction]  # of one occurrence
    units: Mapping[str | None, int]  # by the label, None if suppressed or hidden: W

    @classmethod
    def of(cls, rows: Rows, tree: Tree | None, sensitive: Collection[str], terms: Terms) -> Losses:
        occurrences = Counter(chain.from_iterable(rows))
        one = dict.fromkeys(set(occurrences) - set(sensitive))
        public: Tree = one if tree is None else restricted(tree, sensitive)
        items = leaves(public)
        members = Counter(node for leaf in items for node in up_from(public, leaf))
        if terms.objective == "ncp":
            units: dict[str | None, int] = {node: n if n > 1 else 0 for node, n in members.items()}
        else:
            units = {node: n - 1 for node, n in members.items()}
        units[None] = max(len(items) - (terms.objective != "ncp"), 1)
        weight = {
            item: exactly(terms.weights.get(item, 1)) / (times if terms.objective == "items" else 1)
            for item, times in occurrences.items()
        }
        return cls(occurrences, weight, units)

    def whole(self) -> Fraction:
        """Units of all occurrences, public and sensitive."""
        return sum((self.weight[x] * n * self.units[None] for x, n in self.occurrences.items()), Fraction(0))

    def of_found(self, found: Found) -> Fraction:
        """Units that a release loses."""
        public = (self.of_labels[at] for at in found.to.items() if at in self.of_labels)
        hidden = (
            self.weight[way.item] * len(way.rows) * self.units[None] for way in found.hidden if way.rows
        )
        return sum(chain(public, hidden), Fraction(0))

    @cached_property
    def of_labels(self) -> dict[tuple[str, str | None], Fraction]:
        """Units that all occurrences of an item lose under a label, if any."""
        each = product(self.occurrences.items(), self.units.items())
        return {(x, to): self.weight[x] * times * units for (x, times), (to, units) in each if units}

    def share(self, units: Fraction) -> Fraction:
        return units / (self.whole() or 1)


def is_allowed(rows: Rows, found: Found, terms: Terms) -> bool:
    if terms.max_suppressed is None:
        return True
    occurrences = sum(map(len, rows))
    return found.suppressed(rows) <= exactly(terms.max_suppressed) * occurrences


# --- all of it


def hiding_of(rows: Rows, promise: Promise, terms: Terms) -> list[list[Way]]:
    return [ways(rows, s, promise.sensitive, terms) for s in dict.fromkeys(promise.sensitive)]


def least_loss(
    rows: Rows, tree: Tree | None, promise: Promise, terms: Terms
) -> tuple[Fraction | None, Found | None]:
    """Find the least loss of all releases that satisfy a guarantee, and such a release, or None."""
    losses, hiding = Losses.of(rows, tree, promise.sensitive, terms), hiding_of(rows, promise, terms)
    least: Fraction | None = None
    best: Found | None = None
    for units, candidate in cheapest_first(rows, tree, promise.sensitive, terms, losses):
        if least is not None and units >= least:
            break
        for hidden in hidings(rows, candidate, promise, hiding, fewest=True):
            found = replace(candidate, hidden=hidden)
            lost = losses.of_found(found)
            if (least is None or lost < least) and is_allowed(rows, found, terms):
                least, best = lost, found
    return None if least is None else losses.share(least), best


def coherence(
    rows: Rows, tree: Tree | None, h: Fraction, k: int, p: float, private: tuple[str, ...], terms: Terms
) -> tuple[Fraction | None, Found | None]:
    """Find the least loss of all coherent releases, and one of them; private items are never hidden."""
    losses = Losses.of(rows, tree, private, terms)
    for units, candidate in cheapest_first(rows, tree, private, terms, losses):
        published = candidate.published(rows)
        if is_allowed(rows, candidate, terms) and by_moles.is_coherent(published, private, h, k, p):
            return losses.share(units), candidate
    return None, None


def cheapest_first(
    rows: Rows, tree: Tree | None, sensitive: Collection[str], terms: Terms, losses: Losses
) -> list[tuple[Fraction, Found]]:
    """List what public items can be published as, with the units that loses, that of the least loss first."""
    found = [(losses.of_found(one), one) for one in candidates(rows, tree, sensitive, terms)]
    return sorted(found, key=lambda entry: entry[0])


def every_valid_release(rows: Rows, tree: Tree | None, promise: Promise, terms: Terms) -> Iterator[Found]:
    """Every release that satisfies a guarantee and the terms: cut, suppressed items, hidden occurrences.

    Coherence is the guarantee that knows public items only, with nothing to hide, and at least k rows.
    """
    hiding = hiding_of(rows, promise, terms)
    for candidate in candidates(rows, tree, promise.sensitive, terms):
        for hidden in hidings(rows, candidate, promise, hiding):
            found = replace(candidate, hidden=hidden)
            if is_allowed(rows, found, terms):
                yield found
