"""Losses as fractions, straight from their definitions.

`image` maps every item of I to its label, or to None if it is suppressed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import log2
from statistics import median

from naive.km import Rows

Image = Mapping[str, str | None]


def members(image: Image, label: str) -> int:
    return sum(to == label for to in image.values())


def recode(rows: Rows, image: Image) -> list[frozenset[str]]:
    return [frozenset(to for item in row if (to := image[item]) is not None) for row in rows]


def support(rows: Rows, label: str) -> int:
    return sum(label in row for row in rows)


def ncp(rows: Rows, image: Image) -> Fraction:
    def loss(item: str) -> Fraction:
        to = image[item]
        if to is None:
            return Fraction(1)
        count = members(image, to)
        return Fraction(count, len(image)) if count > 1 else Fraction(0)

    return _average(rows, image, loss)


def lm(rows: Rows, image: Image) -> Fraction:
    def loss(item: str) -> Fraction:
        to = image[item]
        if to is None:
            return Fraction(1)
        count = members(image, to)
        return Fraction(count - 1, len(image) - 1) if count > 1 else Fraction(0)

    return _average(rows, image, loss)


def _average(rows: Rows, image: Image, loss: Callable[[str], Fraction]) -> Fraction:
    losses = {item: loss(item) for item in image}
    occurrences = [item for row in rows for item in row]
    if not occurrences:
        return Fraction(0)
    return Fraction(sum(losses[item] for item in occurrences)) / len(occurrences)


def counts(rows: Rows, published: Rows, image: Image) -> dict[str, int | Fraction]:
    occurring = {item for row in rows for item in row}
    kinds = {
        "unchanged": {item for item in occurring if image[item] == item},
        "generalized": {item for item in occurring if image[item] not in {item, None}},
        "suppressed": {item for item in occurring if image[item] is None},
    }
    out: dict[str, int | Fraction] = {"published_labels": len({label for row in published for label in row})}
    for kind, items in kinds.items():
        out[f"{kind}_items"] = len(items)
        out[f"{kind}_occurrences"] = sum(len(row & items) for row in rows)
    for when, table in (("before", rows), ("after", published)):
        out[f"mean_row_length_{when}"] = Fraction(sum(map(len, table)), max(len(table), 1))
    return out


def label_supports(rows: Rows, published: Rows, image: Image) -> dict[str, tuple[int, int, int]]:
    """Items, support in the release and original support of each label that occurs before or after."""
    expected = recode(rows, image)
    labels = {label for row in [*expected, *published] for label in row}
    return {
        label: (members(image, label), support(published, label), support(expected, label))
        for label in labels
    }


def support_errors(rows: Rows, published: Rows, image: Image) -> dict[str, dict[str, Fraction]]:
    of_labels = [
        abs(Fraction(after - before, before)) if before else Fraction(1)
        for _, after, before in label_supports(rows, published, image).values()
    ]
    of_items = []
    for item in {item for row in rows for item in row}:
        to = image[item]
        guess = Fraction(0) if to is None else Fraction(support(published, to), members(image, to))
        of_items.append(abs(guess - support(rows, item)) / support(rows, item))
    nothing = [Fraction(0)]
    return {
        "label_support_error": {
            "mean": Fraction(sum(of_labels), max(len(of_labels), 1)),
            "max": max(of_labels or nothing),
        },
        "item_support_error": {
            "mean": Fraction(sum(of_items), max(len(of_items), 1)),
            "median": median(of_items or nothing),
        },
    }


def entropy(rows: Rows, image: Image) -> tuple[float, float]:
    """Bits per occurrence in doubt, given label and supports; and as a share of those without labels."""
    occurrences = [item for row in rows for item in row]
    supports = Counter(occurrences)

    def bits(item: str) -> float:
        to = image[item]
        members = [other for other in supports if to is None or image[other] == to]
        return log2(sum(supports[other] for other in members) / supports[item])

    lost = sum(bits(item) for item in occurrences)
    most = sum(log2(len(occurrences) / supports[item]) for item in occurrences)
    return lost / max(len(occurrences), 1), lost / most if most else 0.0
