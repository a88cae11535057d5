"""Numbers as they are written in options and in study files."""

from __future__ import annotations

import math
from fractions import Fraction

from setveil.errors import RequestError


def parse_number(name: str, text: str) -> int | float:
    """Read the value of an option that is a number of items: an integer, or ``inf``.

    Raises
    ------
    RequestError
        If it is neither.
    """
    if text.strip().lower() in {"inf", "infinity", "∞"}:
        return math.inf
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--{name} must be an integer of at least 1, or inf, got {text!r}.") from None


def parse_integer(name: str, text: str) -> int:
    """Read the value of an option that is an integer.

    Raises
    ------
    RequestError
        If it is none.
    """
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--{name} must be an integer, got {text!r}.") from None


def parse_share(text: str | None) -> float | Fraction | None:
    """Read a share as it is written: ``5%``, ``0.05``, or ``1/3``, which is no decimal number.

    Raises
    ------
    RequestError
        If it is neither.
    """
    if text is None:
        return None
    number, percent, rest = text.strip().partition("%")
    try:
        share = Fraction(number.strip()) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if rest or not 0 <= share <= 1:
        raise RequestError(f"A share must be 0% to 100%, such as 5% or 0.05, got {text!r}.")
    decimal = float(share)
    return decimal if Fraction(repr(decimal)) == share else share
