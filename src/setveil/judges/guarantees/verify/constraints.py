"""Check privacy constraints using only the published rows, in the verifier's own loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.jit import compiled
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify.km import verify_km
from setveil.rows.data.transactions import Transactions

STEPS = 50_000_000  # between two signs of life, a fraction of a second
TRIES = 100_000  # subsets of an unsatisfied constraint to look at for one that is as small as possible

Violation = tuple[tuple[str, ...] | None, tuple[str, ...], int]


@dataclass(frozen=True, repr=False)
class ConstraintsVerdict(Verdict):
    """The verdict on privacy constraints; `first` has (constraint or None, labels of its image, support).

    `violations` are constraints that are not satisfied or, if all m-itemsets are protected, sets of at most m
    labels with support in (0, k).
    """

    guarantee: PrivacyConstraints
    holds: bool
    violations: int
    first: tuple[Violation, ...]
    # constraints whose whole image occurs in some row; None if all m-itemsets are protected
    supported: int | None

    def found(self) -> dict[str, Any]:
        """Return the number of constraints whose image occurs."""
        return {} if self.supported is None else {"supported": self.supported}

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [
            {
                **({} if constraint is None else {"constraint": list(constraint)}),
                "itemset": list(itemset),
                "support": support,
            }
            for constraint, itemset, support in self.first
        ]


def verify_constraints(
    published: Transactions,
    guarantee: PrivacyConstraints,
    *,
    image: Mapping[str, str | None] | None = None,
    show: int = 10,
    progress: Progress = silent,
) -> ConstraintsVerdict:
    """Check privacy constraints; each published label is taken as one item, whatever it represents.

    `image` has the label of each item, None if suppressed; an item that it does not know occurs nowhere, and
    no row may contain a label that it does not know. A constraint is satisfied iff no subset of its image has
    support in (0, k). If k rows contain the whole image, all subsets are fine; if fewer do, but at least one,
    it is violated. Otherwise every subset that occurs is in some row's part of the image, and no rarer than
    that part: so these parts are counted.
    """
    if guarantee.itemsets is None:
        km = verify_km(published, KmAnonymity(guarantee.k, guarantee.m or 1), show=show, progress=progress)
        first = tuple((None, itemset, support) for itemset, support in km.first)
        return ConstraintsVerdict(guarantee, km.holds, km.violations, first, None)
    if image is None:
        raise RequestError(
            "To verify privacy constraints it must be known what each item is published as.",
            hint="Name the recoding: --recoding DIR/internal/recoding.csv.",
        )

    # Constraints with the same image are checked once.
    ids = published.vocabulary.ids
    occurs = np.bincount(published.items, minlength=len(ids)) > 0
    _require_possible([x for x, there in zip(ids, occurs.tolist(), strict=True) if there], image)
    images: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
    for number, itemset in enumerate(guarantee.itemsets):
        labels = {label for item in itemset if (label := image.get(item, "")) is not None}
        present = tuple(sorted(ids[label] for label in labels if label in ids and occurs[ids[label]]))
        images.setdefault((len(present) == len(labels), present), []).append(number)
    index = _Index(published)
    k = min(guarantee.k, published.n_rows + 1)  # no support is greater, and the loops count in 64 bits
    whole = np.array([key[0] for key in images], np.bool_)
    ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(key[1]) for key in images], dtype=np.int64)))
    flat = np.array([label for key in images for label in key[1]], np.int32)
    support, broken = np.zeros(len(images), np.int64), np.zeros(len(images), np.bool_)
    at = 0
    while at < len(images):
        at = int(_check(index.rows, index.holders, (ptr, flat, whole), k, at, STEPS, support, broken))
        progress("verifying constraints", at / len(images))

    unsatisfied = [entry for entry, bad in zip(images.items(), broken.tolist(), strict=True) if bad]
    found: list[tuple[tuple[int, ...], int, int]] = []
    for (_, present), numbers in unsatisfied:
        witness, count = index.smallest_rare(present, k)
        found += [(witness, number, count) for number in numbers]
    found.sort(key=lambda entry: (len(entry[0]), entry))
    names = published.vocabulary.labels
    return ConstraintsVerdict(
        guarantee,
        not found,
        len(found),
        tuple(
            (tuple(guarantee.itemsets[number]), tuple(names[label] for label in witness), count)
            for witness, number, count in found[:show]
        ),
        sum(len(numbers) for numbers, s in zip(images.values(), support.tolist(), strict=True) if s),
    )


def _require_possible(labels: Iterable[str], image: Mapping[str, str | None]) -> None:
    """Refuse published labels that no item can have become: what they hide would not be looked for."""
    possible = set(image.values())
    wrong = [label for label in labels if label not in possible]
    themselves = [label for label in wrong if label in image]
    if themselves:
        to = image[themselves[0]]
        some = "1 item stands" if len(themselves) == 1 else f"{len(themselves):,} items stand"
        raise DataError(
            f"In the rows, {some} as published that must not, by the recoding: {listed(themselves)}; "
            f"{themselves[0]!r} {'is suppressed' if to is None else f'becomes {to!r}'}.",
            hint="Do the rows and the recoding come from the same release?",
        )
    if wrong:
        some = "1 label is" if len(wrong) == 1 else f"{len(wrong):,} labels are"
        raise DataError(
            f"In the rows, {some} none that the recoding gives to any item: {listed(wrong)}.",
            hint="Do the rows and the recoding come from the same release?",
        )


class _Index:
    """The published rows, and which of them hold each label."""

    def __init__(self, published: Transactions) -> None:
        indptr, items = published.indptr, published.items
        n = len(published.vocabulary)
        by_label = np.argsort(items, kind="stable")
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(items, minlength=n))))
        holders: NDArray[np.int64] = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))[by_label]
        self.rows = (indptr, items)
        self.holders = (starts.astype(np.int64), holders)

    def smallest_rare(self, labels: tuple[int, ...], k: int) -> tuple[tuple[int, ...], int]:
        """Find a subset with support in (0, k): the smallest and first, or at least one that is minimal."""
        starts, holders = self.holders
        rows = {label: set(holders[starts[label] : starts[label + 1]].tolist()) for label in labels}
        tries = 0
        for size in range(1, len(labels) + 1):
            for subset in combinations(labels, size):
                tries += 1
                if tries > TRIES:
                    return self._minimal_rare(labels, rows, k)
                count = len(set.intersection(*(rows[label] for label in subset)))
                if 0 < count < k:
                    return subset, count
        raise AssertionError("an unsatisfied constraint has a subset of support in (0, k)")

    @staticmethod
    def _minimal_rare(
        labels: tuple[int, ...], rows: Mapping[int, set[int]], k: int
    ) -> tuple[tuple[int, ...], int]:
        for row in sorted(set.union(*rows.values())):
            part = [label for label in labels if row in rows[label]]
            if len(set.intersection(*(rows[label] for label in part))) < k:
                for label in tuple(part):
                    less = [other for other in part if other != label]
                    if less and len(set.intersection(*(rows[other] for other in less))) < k:
                        part = less
                return tuple(part), len(set.intersection(*(rows[label] for label in part)))
        raise AssertionError("an unsatisfied constraint has a subset of support in (0, k)")


@compiled
def _count(rows, holders, wanted, size, rare, enough):
    """Count the rows of label `rare` that hold `size` of the wanted labels, up to `enough`."""
    indptr, items = rows
    found = np.int64(0)
    for at in range(holders[0][rare], holders[0][rare + 1]):
        row = holders[1][at]
        have = 0
        for p in range(indptr[row], indptr[row + 1]):
            if wanted[items[p]]:
                have += 1
        if have == size:
            found += 1
            if found == enough:
                break
    return found


@compiled
def _check(rows, holders, images, k, at, budget, support, broken):
    """Check the images from `at` on; return where it stopped because the budget was used up.

    `support` gets the support of each image, at most k (0 if a label of it does not occur), and `broken`
    whether a subset of it has support in (0, k).
    """
    indptr, items = rows
    starts, holding = holders
    ptr, flat, whole = images
    n = starts.size - 1
    wanted, part = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    visited = np.zeros(indptr.size - 1, np.int64)
    steps = np.int64(0)
    while at < ptr.size - 1 and steps < budget:
        image = flat[ptr[at] : ptr[at + 1]]
        # The label of fewest rows: those that hold the image are among them.
        rare = np.int64(-1)
        for label in image:
            wanted[label] = True
            if rare < 0 or starts[label + 1] - starts[label] < starts[rare + 1] - starts[rare]:
                rare = np.int64(label)
        if rare >= 0:
            steps += 4 * (starts[rare + 1] - starts[rare])
        if rare >= 0 and whole[at]:
            support[at] = _count(rows, holders, wanted, image.size, rare, k)
        # If the image occurs, each subset does, at least as often. Else each subset that occurs lies in the
        # part of the image that some row holds, which occurs no more often.
        if support[at] > 0:
            broken[at] = support[at] < k
        else:
            for label in image:
                if broken[at]:
                    break
                for place in range(starts[label], starts[label + 1]):
                    row = holding[place]
                    if visited[row] == at + 1:
                        continue
                    visited[row] = at + 1
                    size, least = 0, np.int64(-1)
                    for p in range(indptr[row], indptr[row + 1]):
                        y = np.int64(items[p])
                        if wanted[y]:
                            part[y] = True
                            size += 1
                            if least < 0 or starts[y + 1] - starts[y] < starts[least + 1] - starts[least]:
                                least = y
                    rarer = _count(rows, holders, part, size, least, k) < k
                    for p in range(indptr[row], indptr[row + 1]):
                        part[items[p]] = False
                    steps += 20
                    if rarer:
                        broken[at] = True
                        break
        for label in image:
            wanted[label] = False
        at += 1
    return at
