"""The difference of two releases: which items one of them tells more exactly than the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

Recoding = Mapping[str, str | None]


@dataclass(frozen=True)
class Coarser:
    """Items with a broader label in one release than in the other."""

    name: str | None  # what the release that says less calls them; None: it leaves them out
    items: int
    inside: tuple[tuple[str, int], ...]  # what the other one calls them, and for how many of the items


@dataclass(frozen=True)
class Difference:
    """The labels of the items in two releases."""

    same: int  # items of which both say the same
    # first, second: where the first release says more, where the second does; most items first
    first: tuple[Coarser, ...]
    second: tuple[Coarser, ...]
    other: int  # items under names of the same width that are not the same


def difference(first: Recoding, second: Recoding) -> Difference:
    """Compare what two releases call the items.

    A name says the more the fewer items it represents; an item that is suppressed says nothing.

    >>> one = {"tea": "drinks", "milk": "drinks", "jam": "jam"}
    >>> difference(one, {"tea": "tea", "milk": "milk", "jam": None})
    Difference(same=0, first=(Coarser(name=None, items=1, inside=(('jam', 1),)),), \
second=(Coarser(name='drinks', items=2, inside=(('milk', 1), ('tea', 1))),), other=0)
    """
    widths = [Counter(label for label in one.values() if label is not None) for one in (first, second)]
    same = other = 0
    parts: tuple[dict[str | None, Counter[str]], ...] = ({}, {})
    for item in sorted({*first, *second}):
        names = first.get(item), second.get(item)
        wide = [
            float("inf") if name is None else found[name] for name, found in zip(names, widths, strict=True)
        ]
        if names[0] == names[1] and wide[0] == wide[1]:
            same += 1
        elif wide[0] == wide[1]:
            other += 1
        else:
            more = 0 if wide[0] < wide[1] else 1
            exact = names[more]
            if exact is not None:
                parts[more].setdefault(names[1 - more], Counter())[exact] += 1
    return Difference(same, _sorted(parts[0]), _sorted(parts[1]), other)


def _sorted(parts: Mapping[str | None, Counter[str]]) -> tuple[Coarser, ...]:
    found = [
        Coarser(name, inside.total(), tuple(sorted(inside.items(), key=lambda one: (-one[1], one[0]))))
        for name, inside in parts.items()
    ]
    return tuple(sorted(found, key=lambda part: (-part.items, part.name or "")))
