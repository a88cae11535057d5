"""How many items of each column someone may know, where items of several columns lie in one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from setveil.base.errors import RequestError, did_you_mean, listed, shorten

OF = "="  # between the name of its column and the item, in the label of an item where there are several
ABOVE = OF  # the label of the node above the trees of several columns, which is never published


def labelled(column: str, item: str) -> str:
    """Write the label of an item of one of several columns: ``drug=C07AB02``."""
    return f"{column}{OF}{item}"


def column_of(label: str) -> str:
    """Name the column of an item of one of several columns."""
    return label.partition(OF)[0]


def item_of(label: str) -> str:
    """Return an item of one of several columns without the name of its column."""
    return label.partition(OF)[2]


class PerColumn(int):
    """A number of items of each column: an integer, their sum, that knows its parts.

    Code that ignores `each` reads the sum for all columns, which guarantees more: a set with at most m_c
    items of each column has at most as many items as all m_c together. `each` is in the order in which it was
    given.

    >>> m = PerColumn({"code": 2, "drug": 1})
    >>> m + 0, str(m), m.at_most(1).each
    (3, '2 of code, 1 of drug', {'code': 1, 'drug': 1})
    """

    each: dict[str, int]

    def __new__(cls, each: Mapping[str, int]) -> Self:
        """Take this many of each column, each at least 1."""
        if not each:
            raise RequestError(
                "m must be said of at least one column.", hint='Such as {"code": 2, "drug": 1}.'
            )
        for name, number in each.items():
            if not isinstance(name, str) or not name or OF in name:
                raise RequestError(
                    f"m is said of columns, each named by a text without {OF!r}, got {name!r}."
                )
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                hint = "To publish a column that nobody knows anything of, keep it: --keep-columns."
                raise RequestError(
                    f"m of column {shorten(name)} must be an integer of at least 1, got {number!r}.",
                    hint=hint if number == 0 else "",
                )
        made = super().__new__(cls, sum(each.values()))
        made.each = {name: int(number) for name, number in each.items()}
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.each,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerColumn) and self.each == other.each

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.each.items())))

    def __str__(self) -> str:
        return ", ".join(f"{number} of {name}" for name, number in self.each.items())

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.each})"

    def at_most(self, most: int) -> PerColumn:
        """Return the same with at most this many of any one column."""
        return PerColumn({name: min(number, most) for name, number in self.each.items()})

    def require_columns(self, names: Iterable[str]) -> None:
        """Refuse columns that are none of those given, and some of those given without a number."""
        known = list(names)
        unknown = [name for name in self.each if name not in known]
        if unknown:
            raise RequestError(
                f"m is said of {shorten(unknown[0])}, which is no column of codes; there "
                f"{'are ' + listed(known) if known else 'is none'}.",
                hint=did_you_mean(unknown[0], known),
            )
        missing = [name for name in known if name not in self.each]
        if missing:
            raise RequestError(
                f"m is not said of column {shorten(missing[0])}, but of {listed(list(self.each))}.",
                hint="Say it of each column, or one m for all.",
            )
