"""Groups of the values of a column, defined by pairs of values: slow, and obvious."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

Tree = Mapping[str, "str | None"]


def above(tree: Tree, value: str) -> list[str]:
    """List the groups that hold a value, the narrowest first."""
    found = []
    while (up := tree[value]) is not None:
        found.append(up)
        value = up
    return found


def share_a_prefix(one: str, other: str, length: int) -> bool:
    """Return whether two values begin with the same `length` characters; shorter values share no prefix."""
    return len(one) >= length and len(other) >= length and one[:length] == other[:length]


def share_a_range(one: str, other: str, width: Fraction) -> bool:
    """Return whether no multiple of a width lies between two numbers."""
    return Fraction(one) // width == Fraction(other) // width


def share_a_period(one: str, other: str, period: str) -> bool:
    """Return whether two days, written YYYY-MM-DD, are in one period."""
    (year, month, _), (other_year, other_month, _) = (text.split("-") for text in (one, other))
    if period == "decade":
        return year[:3] == other_year[:3]
    if period == "5-year":
        return year[:3] == other_year[:3] and (year[3] < "5") == (other_year[3] < "5")
    quarters = ["01 02 03", "04 05 06", "07 08 09", "10 11 12"]
    alike = {
        "day": one == other,
        "month": month == other_month,
        "quarter": any(month in quarter and other_month in quarter for quarter in quarters),
        "year": True,
    }
    return year == other_year and alike[period]


def groups_together(tree: Tree, one: str, other: str) -> int:
    """Count the groups that hold both of two values, that of all among them."""
    return len(set(above(tree, one)) & set(above(tree, other)))


def levels_kept(tree: Tree, values: Sequence[str]) -> list[int]:
    """Count the distinct values when each value is moved up to each number of steps below the root."""
    paths = [[value, *above(tree, value)] for value in values]
    height = max(map(len, paths))
    return [len({path[-min(steps, len(path))] for path in paths}) for steps in range(height, 0, -1)]
