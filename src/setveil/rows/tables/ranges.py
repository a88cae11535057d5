"""Hierarchies of ranges over numbers: cells of one width, of twice that width, and so on up to all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import floor
from typing import Any

from setveil.base.errors import DataError, RequestError, described, faces, listed
from setveil.rows.tables.quasi_identifiers import ANY, MISSING, NUMBER, shortest_texts

CELLS = 16  # the narrowest ranges are so wide that about so many hold all values


PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)  # 007 may be a code


def are_numbers(texts: Iterable[str]) -> bool:
    """Tell whether all values are decimal numbers without needless zeros, which would speak for codes."""
    present = [text for text in texts if text != MISSING]
    return bool(present) and all(map(PLAIN_NUMBER.fullmatch, present))


def usual_width(numbers: Iterable[Fraction]) -> Fraction:
    """Choose the width of the narrowest ranges: span / 16, rounded up to 1, 2 or 5 times a power of ten."""
    values = list(numbers)
    least = (max(values) - min(values)) / CELLS
    if not least:
        return Fraction(1)
    power = Fraction(1)
    while power > least:
        power /= 10
    while power * 10 < least:
        power *= 10
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def width_for(rows: Mapping[Fraction, int], least: int, bounds: Sequence[Fraction] | None = None) -> Fraction:
    """Choose the width of ranges by the numbers that `least` of the `rows` reach, or else by bounds."""
    inside = reached(rows, least) or list(bounds or ())
    return usual_width(inside) if inside else Fraction(1)


def reached(rows: Mapping[Fraction, int], least: int) -> list[Fraction]:
    """List the numbers that at least `least` rows do not exceed and as many reach, ascending.

    `rows`: how many have each number.

    >>> [int(number) for number in reached({Fraction(30): 2, Fraction(40): 5, Fraction(98): 1}, 2)]
    [30, 40]
    """
    ascending = sorted(rows)
    up = list(accumulate(rows[number] for number in ascending))
    total = up[-1] if up else 0
    return [
        number
        for number, below in zip(ascending, up, strict=True)
        if below >= least and total - below + rows[number] >= least
    ]


def ranges(texts: Iterable[str], width: Fraction | Sequence[Fraction] | None = None) -> dict[str, str | None]:
    """Build a hierarchy of half-open ranges ``[lo,hi)`` over decimal numbers: the parent of each node.

    "" is a missing value, below the root. `width`: of the narrowest ranges, above 0, by default
    `usual_width`; those above are 2, 4, ... times as wide. Or all widths, each a multiple of the one before.
    All ranges begin at a multiple of their width. The root, ``*``, replaces the first range that contains all
    values.

    >>> ranges(["34", "45"], Fraction(10))["34"], ranges(["34", "45"], Fraction(10))["[30,40)"]
    ('[30,40)', '[20,40)')
    """
    texts = set(texts)
    shortest = shortest_texts({text: Fraction(text) for text in texts if text != MISSING})
    numbers = {text: number for number, text in shortest.items()}
    parents: dict[str, str | None] = {ANY: None}
    if MISSING in texts:
        parents[MISSING] = ANY
    if not numbers:
        return parents
    below = {text: text for text in numbers}  # the node that stands for each value so far
    for step in _steps(usual_width(numbers.values()) if width is None else width):
        cells = {text: floor(number / step) for text, number in numbers.items()}
        # Negative numbers and others never share a range: zero is a border of all of them.
        last = len(set(cells.values())) == 1
        for text, cell in cells.items():
            above = ANY if last else f"[{written(cell * step)},{written((cell + 1) * step)})"
            parents[below[text]] = above
            below[text] = above
        if last:
            return parents
        if set(cells.values()) == {-1, 0}:
            break
    return parents | dict.fromkeys(below.values(), ANY)


def _steps(width: Fraction | Sequence[Fraction]) -> Iterator[Fraction]:
    """List the widths of ranges, the narrowest first: those given, or twice as wide each time."""
    widths = require_widths(width if isinstance(width, Sequence) else [width])
    yield from widths
    while len(widths) == 1:
        widths = [2 * widths[0]]
        yield widths[0]


def require_numbers(texts: Iterable[str]) -> list[str]:
    """Refuse values that are no decimal numbers."""
    values = list(texts)
    wrong = [text for text in values if text != MISSING and not NUMBER.fullmatch(text)]
    if wrong:
        raise DataError(f"{listed(wrong)}: expected decimal numbers such as 7 or -1.5.")
    return values


def fraction(what: str, value: Any) -> Fraction:
    """Take an exact number: an integer, a fraction, a decimal number, or one of these as text."""
    try:
        if isinstance(value, bool):
            raise ValueError
        return Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise RequestError(f"{what} must be a number such as 10 or 0.5, got {described(value)}.") from None


def require_widths(widths: Sequence[Fraction]) -> list[Fraction]:
    """Put widths of ranges in order, and refuse such as do not fit into each other."""
    found = sorted(widths)
    if not found or found[0] <= 0:
        raise RequestError(f"The widths of ranges must be above 0, got {', '.join(map(str, found))}.")
    if any(wide % narrow or wide == narrow for narrow, wide in pairwise(found)):
        raise RequestError(
            "Each width of ranges must be a multiple of the narrower one, got "
            f"{', '.join(map(written, found))}.",
            hint=faces(
                "Such as --ranges age=5,10,20. The first characters of codes: --hierarchy zip=prefix:3,2.",
                'Such as ranges={"age": [5, 10, 20]}. The first characters of codes: '
                'hierarchies={"zip": "prefix:3,2"}.',
            ),
        )
    return found


def written(number: Fraction) -> str:
    """Write a decimal number without an exponent; one that is no decimal as a fraction."""
    denominator, places = number.denominator, 0
    while denominator % 10 == 0 or (denominator > 1 and 10**places % denominator):
        places += 1
        if 10**places % denominator == 0:
            break
        if places > 40:
            return str(number)
    digits = str(abs(number.numerator) * 10**places // denominator).rjust(places + 1, "0")
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if number < 0 else text
