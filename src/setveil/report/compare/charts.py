"""The figures of a study's report, drawn: lines in small plots, loss against risk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setveil.report.compare.figures import LineFigure, Panel, is_infinite
from setveil.report.compare.fronts import non_dominated
from setveil.report.compare.releases import Fronts
from setveil.report.compare.table import order
from setveil.report.drawing import blocks
from setveil.report.drawing.plots import (
    LINE,
    PlotSeries,
    Point,
    Small,
    element,
    in_lines,
    plot,
    room,
    sample,
    text_at,
)
from setveil.report.drawing.scales import Numbers, Spaced, number
from setveil.report.words import and_list, clip

WIDTH = 840  # CSS pixels: the text of a page, and A4 in small type
_SMALL = 268  # width of a plot, so that three stand side by side
_LARGE = 404
_GAP = 16
_LEAST_TIME = 0.001  # a logarithmic axis has no zero


@dataclass(frozen=True)
class Drawing:
    """A figure: small plots in bands under titles, and what their marks mean."""

    title: str  # what is drawn, in a few words
    methods: list[tuple[str, int]]  # each with its look
    bands: list[tuple[str, list[Small]]]  # plots that belong together, under a title or none

    def as_html(self) -> str:
        """Lay out names and plots so that they fit any width."""
        names = "\n".join(
            f'<li><svg viewBox="0 0 34 12" style="width:34px" aria-hidden="true">{sample(look)}</svg>'
            f"{blocks.data(name)}</li>"
            for name, look in self.methods
        )
        parts = [f'<ul class="legend">\n{names}\n</ul>']
        for title, plots in self.bands:
            parts += [f'<div style="font-weight:600">{blocks.data(title)}</div>'] if title else []
            shown = "\n".join(
                f'<div style="flex:1 1 {small.width * 0.93:.0f}px;max-width:{small.width * 1.25:.0f}px">'
                + (f"<div>{blocks.data(small.title)}</div>" if small.title else "")
                + small.svg.replace("<svg ", '<svg style="width:100%;height:auto" ', 1)
                + "</div>"
                for small in plots
            )
            parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:4px {_GAP}px">\n{shown}\n</div>')
        return "\n".join(parts)

    def as_svg(self) -> str:
        """Lay out names and plots on one sheet, at most 840 pixels wide."""
        parts: list[str] = []
        left, top, widest = 0.0, 0.0, 0.0
        for method, look in self.methods:
            name = in_lines(method, WIDTH - 40)
            wide = max(map(room, name)) + 40
            if left and left + wide > WIDTH:
                left, top = 0.0, top + 20
            parts.append(f'<g transform="translate({left:g},{top + 2:g})">{sample(look)}</g>')
            parts += [text_at(left + 40, top + 12 + LINE * i, line) for i, line in enumerate(name)]
            top += LINE * (len(name) - 1)
            left += wide + 20
            widest = max(widest, left)
        top += 28
        for title, plots in self.bands:
            if title:
                parts.append(text_at(0, top + 12, clip(title, 100), bold=True))
                top += LINE + 4
            across = max(1, int((WIDTH + _GAP) // (plots[0].width + _GAP)))
            for start in range(0, len(plots), across):
                line = plots[start : start + across]
                heads = LINE + 4 if any(small.title for small in line) else 0
                for i, small in enumerate(line):
                    x = i * (small.width + _GAP)
                    fits = int(small.width / room("0"))
                    parts += [text_at(x, top + 12, clip(small.title, fits))] if small.title else []
                    parts.append(small.svg.replace("<svg ", f'<svg x="{x:g}" y="{top + heads:g}" ', 1))
                    widest = max(widest, x + small.width)
                top += heads + max(small.height for small in line) + _GAP
        return element(min(WIDTH, widest), top, parts, self.title)


def draw_lines(figure: LineFigure) -> Drawing:
    """Draw a measure against a parameter: lines by method, a small plot for each setting."""
    bands = [(data, _panels(figure, data, panels)) for data, panels in figure.bands]
    if figure.alone:  # plots of several data sets side by side
        bands = [("", [small for _, plots in bands for small in plots])]
    looks = [(method, figure.places[method]) for method in figure.methods]
    return Drawing(figure.title, looks, bands)


def _panels(figure: LineFigure, data: str, panels: Sequence[Panel]) -> list[Small]:
    """Draw the plots of a data set, which share their scales."""
    floor = _floor(figure.measure.scale)
    values = [end for panel in panels for dot in panel.dots for end in (dot.y.low, dot.y.high)]
    values += [panel.reference for panel in panels if panel.reference is not None]
    up = Numbers([max(value, floor) for value in values], figure.measure.scale, figure.measure.percent)
    across = _horizontal(figure)
    out = []
    for panel in panels:
        series = []
        for method in figure.methods:
            points = [
                Point(
                    across.place(dot.x),
                    _short(max(dot.y.value, floor)),
                    ys=_ends([max(dot.y.low, floor), max(dot.y.high, floor)]),
                    band=_ends([max(end, floor) for end in dot.y.ends]),
                )
                for dot in panel.dots
                if dot.method == method
            ]
            series.append(PlotSeries(figure.places[method], points, size=_size(figure.methods, method)))
        title = data if figure.alone else panel.title
        out.append(
            plot(
                across,
                up,
                (figure.x_title, figure.measure.axis),
                series,
                title=title,
                reference=None if panel.reference is None else _short(panel.reference),
                width=_SMALL,
                label=f"{figure.title}, {title}",
            )
        )
    return out


def draw_fronts(fronts: Fronts) -> Drawing:
    """Draw loss against risk: points by method, those that none of the method's dominates joined by steps."""
    names = _coinciding(fronts)
    looks = [(name, fronts.places[methods[0]]) for name, methods in names.items()]
    return Drawing(fronts.title, looks, [("", [_front(fronts, names, data) for data in fronts.releases])])


def _coinciding(fronts: Fronts) -> dict[str, list[str]]:
    """Put methods together all of whose releases are equal in loss and risk."""
    same: dict[Any, list[str]] = {}
    for method in fronts.methods:
        points = tuple(
            (data, tuple(sorted(r.point for r in releases if r.method == method)))
            for data, releases in fronts.releases.items()
        )
        same.setdefault(points, []).append(method)
    return {and_list(methods): methods for methods in same.values()}


def _front(fronts: Fronts, names: Mapping[str, list[str]], data: str) -> Small:
    """Draw loss against risk on a data set."""
    series = []
    for name, (method, *_) in names.items():
        made = [release for release in fronts.releases[data] if release.method == method]
        best = non_dominated([release.point for release in made])
        places = [*best, *(place for place in range(len(made)) if place not in set(best))]
        points = [
            Point(
                _short(made[place].risk), _short(made[place].loss), _ends(made[place].risks),
                _ends(made[place].losses), pale=position >= len(best),
            )
            for position, place in enumerate(places)
        ]  # fmt: skip
        series.append(PlotSeries(fronts.places[method], points, "steps", _size(list(names), name)))
    every = [point for one in series for point in one.points]
    x_values = [end for point in every for end in point.xs or ()]
    y_values = [end for point in every for end in point.ys or ()]
    loss_scale: Any = "root" if fronts.loss.scale == "linear" else fronts.loss.scale
    return plot(
        Numbers(x_values, fronts.risk.scale, fronts.risk.percent),
        Numbers(y_values, loss_scale, fronts.loss.percent),
        (fronts.risk.axis, fronts.loss.axis), series, title=data, width=_LARGE, height=240,
        label=f"{fronts.title}, {data}",
    )  # fmt: skip


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return _short(min(values)), _short(max(values))


def _size(methods: Sequence[str], method: str) -> float:
    """Draw later methods smaller, for values that are equal to show both."""
    return 5.2 - 2.2 * methods.index(method) / max(1, len(methods) - 1)


def _floor(scale: str) -> float:
    """Give the least value that a scale can show."""
    return {"log": _LEAST_TIME, "exponent": -math.inf}.get(scale, 0.0)


def _horizontal(figure: LineFigure) -> Spaced:
    """Make the horizontal scale that all panels of a figure share."""
    every = sorted({dot.x for _, panels in figure.bands for p in panels for dot in p.dots}, key=order)
    return Spaced(every, ordinal=any(is_infinite(x) or number(x) is None for x in every))


def _short(value: float) -> float:
    """Keep four digits: more cannot be seen, and a file for others should not hold them."""
    return float(f"{value:.4g}")
