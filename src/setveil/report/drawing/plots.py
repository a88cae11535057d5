"""Small plots as SVG: lines and points on two axes, each plot whole by itself.

Text stays text. Which font shows it is not known, so all of it is given the room of a wide one, and what runs
on (names, titles) stands outside the plots, where a page can break it into lines.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from setveil.report.drawing.scales import Scale

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SIZE = 12  # of text, in pixels
LINE = 16  # from a line of text to the next
_WIDE = 0.64  # of the size: a digit in the widest of the common fonts
_DARK, _AXIS, _GRID, _REFERENCE = "#333333", "#888888", "#e4e4e4", "#777777"
_DASHES = ("", "7 3", "2 2", "9 3 2 3", "14 4")
# Okabe and Ito's colours, in an order in which neighbours differ in brightness too.
PALETTE = ("#0072b2", "#e69f00", "#444444", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#b8a800")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")

Place = Callable[[float], float]  # from a number to a pixel

# What XML cannot hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Point:
    """A mark, as numbers on the scales, with how far repetitions reach in each direction."""

    x: float
    y: float
    xs: tuple[float, float] | None = None
    ys: tuple[float, float] | None = None
    band: tuple[float, float] | None = None  # of the line through the marks; by default `ys`
    pale: bool = False


@dataclass(frozen=True)
class PlotSeries:
    """The releases of a method."""

    look: int  # settles colour, shape and dashes
    points: Sequence[Point]  # in the order in which they are joined; pale ones are not
    joined: Literal["lines", "steps"] = "lines"  # how
    size: float = 4.5  # of its marks, in pixels


@dataclass(frozen=True)
class Small:
    """A small plot: its title, for what stands above it, and the SVG element with its size."""

    title: str
    svg: str
    width: float
    height: float


def room(text: str, size: float = SIZE) -> float:
    """Give a width that holds a text in any common font.

    >>> room("100%") < 40, room("百") > room("a")
    (True, True)
    """
    wide = sum(1 if unicodedata.east_asian_width(letter) in "WF" else _WIDE for letter in text)
    return wide * size


def written(text: str) -> str:
    """Escape a text for SVG."""
    return html.escape(_NO_XML.sub("\ufffd", text), quote=False)


def text_at(x: float, y: float, text: str, anchor: str = "start", *, bold: bool = False) -> str:
    """Write a text whose base line is at y."""
    weight = ' font-weight="bold"' if bold else ""
    end = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{_n(x)}" y="{_n(y)}" fill="{_DARK}"{end}{weight}>{written(text)}</text>'


def element(width: float, height: float, parts: Sequence[str], label: str) -> str:
    """Make an SVG element, named for those who do not see it, that a page may scale."""
    named = html.escape(_NO_XML.sub("\ufffd", label))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" role="img" aria-label="{named}" '
        f'font-family="{FONT}" font-size="{SIZE}">{"".join(parts)}</svg>'
    )


def sample(look: int) -> str:
    """Draw a piece of line with a mark, 34 by 12 pixels, for a legend."""
    line = f'<path d="M0,6H34" stroke="{_ink(look)}" stroke-width="2"{_dashes(look)}/>'
    return line + _mark(look, 17, 6, 4)


def plot(
    x: Scale,
    y: Scale,
    titles: tuple[str, str],
    series: Sequence[PlotSeries],
    *,
    title: str = "",
    reference: float | None = None,
    width: float = 270,
    height: float = 150,
    label: str = "",
) -> Small:
    """Draw lines and points on two axes, the first of the `series` at the bottom.

    `titles`: below, and above the vertical axis, in lines if needed. `title`: for what is above the plot, not
    drawn. `reference`: a dashed line. `width` is that of the whole, `height` of the plot within the axes, in
    pixels. `label`: the text for those who do not see it.
    """
    below, above = (in_lines(name, width - 4) for name in titles)
    left = max(room(y.text(tick)) for tick in y.ticks) + 10
    right = room(x.text(x.ticks[-1])) / 2 + 4
    top = len(above) * LINE + 8
    inner = width - left - right
    bottom = top + height

    def across(value: float) -> float:
        return left + x.share(value) * inner

    def up(value: float) -> float:
        return bottom - y.share(value) * height

    parts = [text_at(2, LINE * (i + 1) - 4, line) for i, line in enumerate(above)]
    for tick in y.ticks:
        at = up(tick)
        parts.append(f'<path d="M{_n(left)},{_n(at)}H{_n(left + inner)}" stroke="{_GRID}"/>')
        parts.append(text_at(left - 6, at + 4, y.text(tick), "end"))
    parts.append(f'<path d="M{_n(left)},{_n(bottom)}H{_n(left + inner)}" stroke="{_AXIS}"/>')
    taken = 0.0
    for tick in x.ticks:
        at, half = across(tick), room(x.text(tick)) / 2
        parts.append(f'<path d="M{_n(at)},{_n(bottom)}v4" stroke="{_AXIS}"/>')
        if at - half >= taken:
            parts.append(text_at(at, bottom + 16, x.text(tick), "middle"))
            taken = at + half + 4
    if reference is not None:
        parts.append(
            f'<path d="M{_n(left)},{_n(up(reference))}H{_n(left + inner)}" stroke="{_REFERENCE}" '
            'stroke-width="1.4" stroke-dasharray="3 3"/>'
        )
    for one in series:
        parts += _drawn(one, across, up)
    start = max(2, min(left, width - 2 - max(map(room, below), default=0)))
    parts += [text_at(start, bottom + 20 + LINE * (i + 1) - 4, line) for i, line in enumerate(below)]
    whole = bottom + 20 + len(below) * LINE
    return Small(title, element(width, whole, parts, label), width, whole)


def _drawn(one: PlotSeries, across: Place, up: Place) -> list[str]:
    """Draw a method: the band of its repetitions, its line, how far each mark reaches, its marks."""
    ink = _ink(one.look)
    parts = []
    spread = [point for point in one.points if point.ys and point.ys[0] < point.ys[1]]
    if spread and one.joined == "lines" and len(one.points) > 1:
        ends = [(across(p.x), *map(up, p.band or p.ys or (p.y, p.y))) for p in one.points]
        there = [f"{_n(x)},{_n(low)}" for x, low, _ in ends]
        back = [f"{_n(x)},{_n(high)}" for x, _, high in reversed(ends)]
        parts.append(f'<path d="M{"L".join([*there, *back])}Z" fill="{ink}" opacity="0.16"/>')
    line = [(across(point.x), up(point.y)) for point in one.points if not point.pale]
    if len(line) > 1:
        (x, y), *others = line
        steps = "".join(
            f"H{_n(x)}V{_n(y)}" if one.joined == "steps" else f"L{_n(x)},{_n(y)}" for x, y in others
        )
        path = f'<path d="M{_n(x)},{_n(y)}{steps}" fill="none" stroke="{ink}" stroke-width="2"'
        parts.append(f"{path}{_dashes(one.look)}/>")
    for point in one.points:
        at, height = across(point.x), up(point.y)
        if point.ys and point.ys[0] < point.ys[1]:
            low, high = map(up, point.ys)
            parts.append(f'<path d="M{_n(at)},{_n(low)}V{_n(high)}" stroke="{ink}"/>')
        if point.xs and point.xs[0] < point.xs[1]:
            low, high = map(across, point.xs)
            parts.append(f'<path d="M{_n(low)},{_n(height)}H{_n(high)}" stroke="{ink}"/>')
        parts.append(_mark(one.look, at, height, one.size, pale=point.pale))
    return parts


def _mark(look: int, x: float, y: float, r: float, *, pale: bool = False) -> str:
    shape = _SHAPES[look % len(_SHAPES)]
    fill = f'fill="{_ink(look)}"' + (' opacity="0.45"' if pale else "")
    if shape == "circle":
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" {fill}/>'
    third = r * 0.42
    corners = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "diamond": [(0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)],
        "triangle-up": [(0, -1.1), (1.1, 0.9), (-1.1, 0.9)],
        "triangle-down": [(0, 1.1), (1.1, -0.9), (-1.1, -0.9)],
        "triangle-right": [(1.1, 0), (-0.9, 1.1), (-0.9, -1.1)],
    }.get(shape)
    if corners is None:  # a cross
        long, short = 1.15 * r, third
        d = (
            f"M{_n(x - long)},{_n(y - short)}h{_n(long - short)}v{_n(short - long)}h{_n(2 * short)}"
            f"v{_n(long - short)}h{_n(long - short)}v{_n(2 * short)}h{_n(short - long)}v{_n(long - short)}"
            f"h{_n(-2 * short)}v{_n(short - long)}h{_n(short - long)}Z"
        )
    else:
        d = "M" + "L".join(f"{_n(x + r * a)},{_n(y + r * b)}" for a, b in corners) + "Z"
    return f'<path d="{d}" {fill}/>'


def _ink(look: int) -> str:
    return PALETTE[look % len(PALETTE)]


def _dashes(look: int) -> str:
    dashes = _DASHES[look % len(_DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def in_lines(text: str, width: float) -> list[str]:
    """Break a text between words into lines that fit."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and room(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _n(value: float) -> str:
    """Write a length: a hundredth of a pixel is fine enough."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
