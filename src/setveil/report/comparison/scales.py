"""Axes of the figures of a study: few ticks, at round numbers or at the study's own values."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal

from setveil.report.comparison.table import number, text_of

CHARACTER = 6.4  # mean width of a character of 12 pixels

Kind = Literal["linear", "log", "spread", "root", "exponent"]

_LABEL = 40  # pixels kept for the labels of a vertical axis, so that plots below each other are in line
_FAR_APART = 20  # values whose ratio is greater do not share a linear axis well
_RATIO = 8  # the same for a parameter's values


class Numbers:
    """A scale of values, from 0 up but for exponents.

    Parameters
    ----------
    values : sequence of float
        What must fit; at least 0, above 0 for "log", any for "exponent".
    kind : {"linear", "log", "spread", "root", "exponent"}
        "spread" is logarithmic with a zero where values are far apart, and linear where they are not; "root"
        gives small values more room; "exponent" is for logarithms, of any sign, and has no zero.
    percent : bool
        Whether they are shares.
    """

    def __init__(self, values: Sequence[float], kind: Kind, percent: bool) -> None:
        self.kind: Any = "linear"  # as Vega names it
        top = max(values, default=0.0)
        least = min((value for value in values if value > 0), default=0.0)
        self._domain: list[float] = [0, top * 1.03 or 1]
        self._ticks: list[float] = []
        self._extra: dict[str, Any] = {"nice": True}
        if kind == "log" and least:
            self._logarithmic(least, top, 0 if percent and top <= 1 else 300)
        elif kind == "spread" and least and top / least > _FAR_APART:
            self._spread(max(least, top * 1e-5), top)
        elif kind == "root" and least:
            self._root(top)
        elif kind == "exponent" and values:
            self._exponents(min(values), top)
        self._written = (
            "format(100 * datum.value, ',.6~g') + ' %'" if percent else "format(datum.value, ',.6~g')"
        )

    def _logarithmic(self, least: float, top: float, highest: int) -> None:
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(top))
        high = min(max(high, low + 1), highest)
        low = min(low, high - 1)
        step = 1 + (high - low) // 5
        parts = (1, 2, 5) if high - low == 1 else (1,)
        ticks = [part * 10.0**power for power in range(low, high + 1, step) for part in parts]
        self.kind, self._extra = "log", {"nice": False}
        self._domain = [10.0**low, 10.0**high]
        self._ticks = [tick for tick in ticks if tick <= self._domain[1]]

    def _spread(self, least: float, top: float) -> None:
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(top))
        step = 1 + (high - low) // 4
        self.kind, self._extra = "symlog", {"nice": False, "constant": 10.0**low}
        self._domain = [0, 10.0**high]
        self._ticks = [
            0,
            *(10.0**power for power in range(high, low, -step)),
        ]  # the next would be too close to 0

    def _root(self, top: float) -> None:
        self.kind, self._extra = "sqrt", {"nice": False}
        self._domain = [0, top * 1.06]
        power = 10.0 ** math.ceil(math.log10(top))
        nice = [part * power for part in (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)]
        self._ticks = [tick for tick in nice if tick <= self._domain[1]]

    def _exponents(self, least: float, top: float) -> None:
        room = 0.06 * (top - least) or 1.0
        self._domain = [least - room, top + room]
        self._extra = {"nice": True, "zero": False}

    def _channels(self) -> tuple[Any, dict[str, Any]]:
        import altair as alt

        ticks: dict[str, Any] = {"values": self._ticks} if self._ticks else {"tickCount": 4}
        scale = alt.Scale(type=self.kind, domain=self._domain, **self._extra)
        return scale, {"labelExpr": self._written, "labelOverlap": False, **ticks}

    def y(self, field: str, title: str) -> Any:
        """Make a vertical axis."""
        import altair as alt

        scale, axis = self._channels()
        return alt.Y(f"{field}:Q", scale=scale, axis=alt.Axis(title=title, minExtent=_LABEL, **axis))

    def x(self, field: str, title: str) -> Any:
        """Make a horizontal axis."""
        import altair as alt

        scale, axis = self._channels()
        return alt.X(f"{field}:Q", scale=scale, axis=alt.Axis(title=title, **axis))


class Spaced:
    """A horizontal scale of a parameter's values, which are the ticks as far as there is room.

    Parameters
    ----------
    values : sequence
        The values, in order, at least one.
    width : float
        Pixels.
    ordinal : bool
        Space them evenly, as an infinite value demands.
    """

    def __init__(self, values: Sequence[Any], width: float, ordinal: bool) -> None:
        self._ordinal = ordinal
        self._texts = [text_of(value) for value in values]
        numbers = [float(i) for i in range(len(values))] if ordinal else [number(v) or 0.0 for v in values]
        low, high = min(numbers), max(numbers)
        self._log = not ordinal and low > 0 and high / low >= _RATIO
        places = [math.log(value) if self._log else value for value in numbers]
        room = 0.06 * (places[-1] - places[0]) or 0.5
        ends = places[0] - room, places[-1] + room
        self._domain = [math.exp(end) if self._log else end for end in ends]
        self._ticks: list[float] = []
        right = -math.inf
        for value, place, text in zip(numbers, places, self._texts, strict=True):
            middle = (place - ends[0]) / (ends[1] - ends[0]) * width
            half = len(text) * CHARACTER / 2
            if middle - half >= right + 5:
                self._ticks.append(value)
                right = middle + half

    def place(self, value: Any) -> float:
        """Where a value stands on the scale."""
        return float(self._texts.index(text_of(value))) if self._ordinal else number(value) or 0.0

    def x(self, field: str, title: str | None) -> Any:
        """Make the axis."""
        import altair as alt

        kind: dict[str, Any] = {"type": "log"} if self._log else {"type": "linear", "zero": False}
        written = (
            f"{json.dumps(self._texts)}[datum.value]" if self._ordinal else "format(datum.value, ',.6~g')"
        )
        return alt.X(
            f"{field}:Q",
            scale=alt.Scale(domain=self._domain, nice=False, **kind),
            axis=alt.Axis(
                title=title, titleAnchor="start", values=self._ticks, labelExpr=written, grid=False,
                labelOverlap=False, labelFlush=False,
            ),
        )  # fmt: skip
