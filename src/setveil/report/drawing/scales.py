"""Axes of the figures of a study: few ticks, at round numbers or at the study's own values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol

Kind = Literal["linear", "log", "spread", "root", "exponent"]

_FAR_APART = 20  # values whose ratio is greater do not share a linear axis well
_RATIO = 8  # the same for a parameter's values
_STEPS = (1, 2, 2.5, 5, 10)
_LEAST_ROOM = 0.01  # beside exponents: smaller differences of logarithms mean nothing


class Scale(Protocol):
    """Positions of values on an axis, and its labels."""

    ticks: list[float]

    def share(self, value: float) -> float:
        """Return the position of a value, from 0 to 1."""

    def text(self, tick: float) -> str:
        """Write a tick."""


class Numbers:
    """A scale of values, from 0 up but for exponents.

    Values are at least 0, above 0 for "log", any for "exponent". "spread" is logarithmic with a zero if
    values are far apart, else linear; "root" gives small values more room; "exponent" is for logarithms, of
    any sign, and has no zero. `percent`: they are shares.
    """

    def __init__(self, values: Sequence[float], kind: Kind, percent: bool) -> None:
        self._percent = percent
        self._bent: Callable[[float], float] = float
        top = max(values, default=0.0)
        least = min((value for value in values if value > 0), default=0.0)
        if kind == "log" and least:
            self._logarithmic(least, top, 0 if percent and top <= 1 else 300)
        elif kind == "spread" and least and top / least > _FAR_APART:
            self._spread(max(least, top * 1e-5), top)
        elif kind == "root" and least:
            self._root(top)
        elif kind == "exponent" and values:
            low = min(values)
            room = max(0.06 * (top - low), 1e-3 * abs(top), _LEAST_ROOM)
            self._linear(low - room, top + room)
        else:
            self._linear(0.0, top or 1.0)

    def _linear(self, low: float, high: float) -> None:
        """Begin and end at round numbers."""
        size = (high - low) / 4
        power = 10.0 ** math.floor(math.log10(size))
        step = next((part * power for part in _STEPS if part * power >= size * (1 - 1e-9)), 10 * power)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        self.ticks = [place * step for place in range(first, last + 1)]
        self.domain = min(low, first * step), max(high, last * step)

    def _logarithmic(self, least: float, top: float, highest: int) -> None:
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(top))
        high = min(max(high, low + 1), highest)
        low = min(low, high - 1)
        step = 1 + (high - low) // 5
        parts = (1, 2, 5) if high - low == 1 else (1,)
        ticks = [part * 10.0**power for power in range(low, high + 1, step) for part in parts]
        self._bent = math.log10
        self.domain = 10.0**low, 10.0**high
        self.ticks = [tick for tick in ticks if tick <= self.domain[1]]

    def _spread(self, least: float, top: float) -> None:
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(top))
        step = 1 + (high - low) // 4
        constant = 10.0**low
        self._bent = lambda value: math.log1p(value / constant)
        self.domain = 0.0, 10.0**high
        # The next power of ten would be too close to 0.
        self.ticks = [0.0, *sorted(10.0**power for power in range(high, low, -step))]

    def _root(self, top: float) -> None:
        self._bent = math.sqrt
        self.domain = 0.0, top * 1.06
        power = 10.0 ** math.ceil(math.log10(top))
        nice = [part * power for part in (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)]
        self.ticks = [tick for tick in nice if tick <= self.domain[1]]

    def share(self, value: float) -> float:
        """Return the position of a value, from 0 to 1."""
        low, high = map(self._bent, self.domain)
        return (self._bent(value) - low) / (high - low)

    def text(self, tick: float) -> str:
        """Write a tick."""
        return f"{_plain(100 * tick)}%" if self._percent else _plain(tick)


class Spaced:
    """A horizontal scale whose ticks are a parameter's values, in order, evenly spaced if `ordinal`."""

    def __init__(self, values: Sequence[Any], ordinal: bool) -> None:
        texts = [text_of(value) for value in values]
        self._places: Mapping[str, float] = (
            {text: float(i) for i, text in enumerate(texts)} if ordinal else {}
        )
        self.ticks = [self.place(value) for value in values]
        self._texts = dict(zip(self.ticks, texts, strict=True))
        low, high = min(self.ticks), max(self.ticks)
        bent = math.log if not ordinal and low > 0 and high / low >= _RATIO else float
        self._bent: Callable[[float], float] = bent
        room = 0.06 * (bent(high) - bent(low)) or 0.5
        self._ends = bent(low) - room, bent(high) + room

    def place(self, value: Any) -> float:
        """Write a value as a number on the scale."""
        return self._places[text_of(value)] if self._places else number(value) or 0.0

    def share(self, value: float) -> float:
        """Return the position of a number, from 0 to 1."""
        low, high = self._ends
        return (self._bent(value) - low) / (high - low)

    def text(self, tick: float) -> str:
        """Write a tick."""
        return self._texts[tick]


def _plain(value: float) -> str:
    """Write a tick without the noise of its last digits, and without an exponent where that is not long."""
    value = float(f"{value:.12g}")
    if abs(value) >= 1e9 or 0 < abs(value) < 1e-6:
        return f"{value:.12g}"
    return f"{value:,.12f}".rstrip("0").rstrip(".")


def number(value: Any) -> float | None:
    """Read a parameter as a number ("inf" too, and fractions such as 1/3); None where it is none.

    >>> number(5), number("inf"), number("0.4"), number("secret.txt"), number(True)
    (5.0, inf, 0.4, None, None)
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if str(value).strip().lower() in {"inf", "∞"}:
        return math.inf
    try:
        return float(Fraction(str(value)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def text_of(value: Any) -> str:
    """Write a parameter's value.

    >>> text_of(5), text_of(0.4), text_of("inf"), text_of(False)
    ('5', '0.4', '∞', 'false')
    """
    if isinstance(value, bool):
        return str(value).lower()
    read = number(value)
    if read is None or not isinstance(value, int | float):
        return "∞" if read == math.inf else str(value)
    return f"{read:.6g}" if math.isfinite(read) else "∞"
