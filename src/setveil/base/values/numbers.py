"""Numbers as they are written: in options, in study files and in Python."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from setveil.base.errors import RequestError


def parse_number(name: str, text: str) -> int | float:
    """Read the value of an option that is a number of items: an integer, or ``inf``."""
    if text.strip().lower() in {"inf", "infinity", "∞"}:
        return math.inf
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--{name} must be an integer of at least 1, or inf, got {text!r}.") from None


def parse_integer(name: str, text: str) -> int:
    """Read the value of an option that is an integer."""
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--{name} must be an integer, got {text!r}.") from None


def fraction(value: Any) -> Fraction | None:
    """Read a number as it is written: the float 0.3 is 3/10, and so is "30%"; None if it is no number."""
    if isinstance(value, bool) or not isinstance(value, str | Real):
        return None
    number, percent, rest = str(value).strip().partition("%")
    try:
        found = Fraction(value) if isinstance(value, Rational) else Fraction(number.strip())
    except (ValueError, ZeroDivisionError):  # also of infinity
        return None
    return None if rest else found / 100 if percent else found


def exact_share(text: str) -> Fraction:
    """Read a share as it is written: ``5%``, ``0.05`` or ``1/3``."""
    share = fraction(text)
    if share is None or not 0 <= share <= 1:
        raise RequestError(f"A share must be 0% to 100%, such as 5% or 0.05, got {text!r}.")
    return share


def number_of(value: Any) -> Any:
    """Take a number that may be written as text; what is no text that says a number stays as it is.

    >>> number_of("5%"), number_of("1/3"), number_of("2"), number_of(0.5), number_of("many")
    (0.05, Fraction(1, 3), 2.0, 0.5, 'many')
    """
    found = fraction(value) if isinstance(value, str) else None
    return value if found is None else _decimal(found)


def _decimal(number: Fraction) -> float | Fraction:
    decimal = float(number)
    return decimal if Fraction(repr(decimal)) == number else number


def as_written(value: Any, name: str = "h") -> Fraction:
    """Read the probability that is named so as it is written."""
    found = fraction(value)
    if found is None or not 0 < found <= 1:
        raise RequestError(f"{name} must be a number above 0 and at most 1, got {value!r}.")
    return found


def as_json(number: Fraction) -> float | str:
    """Return a number as a float if that is exact, else as a fraction."""
    decimal = float(number)
    return decimal if Fraction(repr(decimal)) == number else str(number)


def written(share: Fraction) -> str:
    """Write a share as a decimal number if it is a short one, else as a fraction."""
    text = f"{float(share):.10g}"
    return text if Fraction(text) == share else str(share)


def log2(value: Fraction) -> float | None:
    """Take the base 2 logarithm of a fraction of any size; None for 0.

    >>> log2(Fraction(3, 2**5000))
    -4998.415037499279
    """
    if not value:
        return None
    # 64 or 65 leading bits of the quotient, then its place.
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 64
    top = (value.numerator << shift if shift > 0 else value.numerator >> -shift) // value.denominator
    return math.log2(top) - shift
