"""Bands of numbers, and the tree above them: pairs of neighbours, up to any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise

from setveil.base.errors import RequestError, listed
from setveil.rows.facts.facts import ANY, MISSING
from setveil.rows.hierarchy.tree import Hierarchy

_DIGITS = 15  # of a number: more are no amounts, and sums of fewer fit 64 bits
_STEPS = (1, 2, 5)
_BAND = re.compile(r"\[([-0-9.]+),([-0-9.]+)\)|<([-0-9.]+)|>=([-0-9.]+)")
Ends = tuple[Decimal | None, Decimal | None]


class Bands:
    """Bands of numbers between rising bounds, and perhaps below the first and above the last."""

    def __init__(self, bounds: Sequence[Decimal], *, below: bool = True, above: bool = True) -> None:
        for lower, upper in pairwise(bounds):
            if upper <= lower:
                said = "repeat" if upper == lower else "fall"
                raise RequestError(
                    f"The bounds of bands {said}: {listed(list(map(plain, bounds)), 20)}.",
                    hint="Each bound must be greater than the one before it: --amount price:0,5,20.",
                )
        ends: list[Decimal | None] = [*([None] if below else []), *bounds, *([None] if above else [])]
        self.bounds = tuple(bounds)
        self.ends = [(ends[at], ends[at + 1]) for at in range(len(ends) - 1)]
        self.labels = [band_label(*one) for one in self.ends]

    def tree(self, used: Iterable[str]) -> Hierarchy:
        """Make the tree above the labels that are used, by the bounds alone; `MISSING` is below the root."""
        present = set(used)
        paths: list[list[str]] = [[label] for label in self.labels]
        groups = [([at], self.ends[at]) for at in range(len(self.labels))]
        while len(groups) > 1:
            pairs = [groups[at : at + 2] for at in range(0, len(groups), 2)]
            groups = [
                ([place for inside, _ in pair for place in inside], (pair[0][1][0], pair[-1][1][1]))
                for pair in pairs
            ]
            for inside, ends in groups:
                for at in inside:
                    paths[at].append(ANY if len(groups) == 1 else band_label(*ends))
        found = [path for path in paths if path[0] in present]
        return attribute_tree([*found, *([[MISSING]] if MISSING in present else [])])


def attribute_tree(paths: Iterable[Sequence[str]]) -> Hierarchy:
    """Make an attribute's tree from a path for each value, without nodes of a single child."""
    whole = [
        [node for at, node in enumerate(path) if node not in path[:at] and node != ANY] for path in paths
    ]
    below: dict[str, set[str]] = {}
    for path in whole:
        for lower, upper in pairwise(path):
            below.setdefault(upper, set()).add(lower)
    alone = {node for node, children in below.items() if len(children) == 1}
    return Hierarchy.from_paths([[*(node for node in path if node not in alone), ANY] for path in whole])


def band_label(low: Decimal | None, high: Decimal | None) -> str:
    """Name a band: ``[0,5)``, ``<0``, ``>=100``."""
    if low is None or high is None:
        return f"<{plain(high)}" if high is not None else ANY if low is None else f">={plain(low)}"
    return f"[{plain(low)},{plain(high)})"


def ends_of(label: str) -> Ends | None:
    """Read the ends of a band by its name; None: it is no band.

    >>> ends_of("[0,5)"), ends_of("<0"), ends_of("I50")
    ((Decimal('0'), Decimal('5')), (None, Decimal('0')), None)
    """
    found = _BAND.fullmatch(label)
    if found is None:
        return None
    low, high = (number_in(text) if text else None for text in (found[1] or found[4], found[2] or found[3]))
    known = (low is not None, high is not None)
    said = (bool(found[1] or found[4]), bool(found[2] or found[3]))
    return (low, high) if known == said else None


def within(inner: Ends, outer: Ends) -> bool:
    """Whether a band lies in another one."""
    low = outer[0] is None or (inner[0] is not None and inner[0] >= outer[0])
    return low and (outer[1] is None or (inner[1] is not None and inner[1] <= outer[1]))


def meet(one: Ends, other: Ends) -> bool:
    """Whether some number lies in both of two bands."""
    return all(
        low is None or high is None or low < high for low, high in ((one[0], other[1]), (other[0], one[1]))
    )


def plain(number: Decimal) -> str:
    """Write a number in full, without needless zeros."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def number_in(text: str) -> Decimal | None:
    """Read a decimal number; None: it is none, or too long."""
    bare = text[1:] if text[:1] in {"+", "-"} else text
    whole, _, rest = bare.partition(".")
    digits = whole + rest
    if not digits.isascii() or not digits.isdigit() or len(digits) > _DIGITS or bare.endswith("."):
        return None
    return Decimal(text)


def usual_bounds(greatest: Decimal, number: int) -> list[Decimal]:
    """Choose bounds 1, 2, 5, 10, ... of about this many bands, by the order of magnitude alone."""
    order = max(greatest.adjusted(), 0) if greatest else 0
    found: list[Decimal] = []
    while len(found) < number - 2:
        for step in reversed(_STEPS):
            bound = Decimal(step).scaleb(order)
            if len(found) < number - 2:
                found.append(bound)
        order -= 1
    return [Decimal(0), *reversed(found)]
