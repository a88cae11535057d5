"""The figures of a study's report, drawn: lines in small plots, loss against risk."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.report import charts
from setveil.report.comparison.figures import LineFigure, Panel, is_infinite
from setveil.report.comparison.fronts import non_dominated
from setveil.report.comparison.releases import Fronts
from setveil.report.comparison.scales import CHARACTER, Numbers, Spaced
from setveil.report.comparison.table import number, order
from setveil.report.words import clip

WIDTH = 840  # CSS pixels: the text of a page, and A4 in small type
_LEFT = 62  # labels and title of a vertical axis
_GAP = 16
_HEIGHT = 150
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [14, 4])
_LEAST_TIME = 0.001  # a logarithmic axis has no zero


def draw_lines(figure: LineFigure) -> str:
    """Draw a measure against a parameter: lines by method, a small plot for each setting.

    Parameters
    ----------
    figure : LineFigure
        From `setveil.report.comparison.figures.line_figures`.

    Returns
    -------
    str
        SVG, at most 840 pixels wide.
    """
    with _unchecked():
        return _lines(figure)


def _lines(figure: LineFigure) -> str:
    import altair as alt

    sheet = _Sheet(figure.methods, figure.places)
    across = min(3, len(figure.bands)) if figure.alone else max(len(panels) for _, panels in figure.bands)
    if figure.alone:
        width = min(330, (WIDTH - across * (_LEFT + _GAP)) // across)
        plots = [sheet.panels(figure, band, width, named=True) for band in figure.bands]
        lines = [alt.hconcat(*plots[i : i + across], spacing=_GAP) for i in range(0, len(plots), across)]
        whole = across * (width + _LEFT + _GAP)
    else:
        width = min(250, (WIDTH - _LEFT - across * _GAP) // across)
        last = figure.bands[-1]
        lines = [sheet.panels(figure, band, width, named=band is last) for band in figure.bands]
        whole = _LEFT + across * (width + _GAP)
    return sheet.draw(lines, min(WIDTH, max(whole, 300)) - _LEFT, figure.title)


def draw_fronts(fronts: Fronts) -> str:
    """Draw loss against risk: points by method, those that none of the method's dominates joined by steps.

    Parameters
    ----------
    fronts : Fronts
        From `setveil.report.comparison.releases.fronts_of`.

    Returns
    -------
    str
        SVG, at most 840 pixels wide.
    """
    with _unchecked():
        return _fronts(fronts)


def _fronts(fronts: Fronts) -> str:
    import altair as alt

    sheet = _Sheet(fronts.methods, fronts.places)
    across = min(2, len(fronts.releases))
    width = min(430, (WIDTH - across * (_LEFT + _GAP)) // across)
    plots = [sheet.front_plot(fronts, data, width) for data in fronts.releases]
    lines = [alt.hconcat(*plots[i : i + across], spacing=_GAP) for i in range(0, len(plots), across)]
    return sheet.draw(lines, across * (width + _LEFT + _GAP) - _LEFT, fronts.title)


def _unchecked() -> Any:
    """Keep Altair from checking every part of a plot against the schema, which takes most of the time."""
    from altair.utils.schemapi import debug_mode

    return debug_mode(False)


def _vertical(figure: LineFigure, panels: Sequence[Panel]) -> Numbers:
    """Make the vertical scale that the panels of a line share."""
    values = [end for panel in panels for dot in panel.dots for end in (dot.y.low, dot.y.high)]
    values += [panel.reference for panel in panels if panel.reference is not None]
    kind, floor = figure.measure.scale, _floor(figure.measure.scale)
    return Numbers([max(value, floor) for value in values], kind, figure.measure.percent)


def _floor(scale: str) -> float:
    """Give the least value that a scale can show."""
    return {"log": _LEAST_TIME, "exponent": -math.inf}.get(scale, 0.0)


class _Sheet:
    """A figure in the making: the looks of its methods, all different, and the data of its plots."""

    def __init__(self, methods: Sequence[str], places: Mapping[str, int]) -> None:
        import altair as alt

        shapes = charts.SHAPES[:-1]  # the last has no area to fill
        every = [places[method] for method in methods]
        self.methods = list(methods)
        self._places = places
        self._data: dict[str, list[dict[str, Any]]] = {}

        def scale(values: Sequence[Any]) -> Any:
            return alt.Scale(domain=every, range=[values[place % len(values)] for place in every])

        self.color = alt.Color("method:N", scale=scale(charts.PALETTE), legend=None)
        self.fill = alt.Fill("method:N", scale=scale(charts.PALETTE), legend=None)
        self.shape = alt.Shape("method:N", scale=scale(shapes), legend=None)
        self.dash = alt.StrokeDash("method:N", scale=scale(_DASHES), legend=None)
        self.size = alt.Size("size:Q", scale=None)

    def look(self, method: str) -> dict[str, Any]:
        """Fields of a mark: later methods are smaller, for equal values to show both."""
        later = self.methods.index(method) / max(1, len(self.methods) - 1)
        return {"method": self._places[method], "size": round(110 - 76 * later)}

    def chart(self, values: list[dict[str, Any]]) -> Any:
        """Start a plot of some values. They are kept apart from it: Altair copies plots again and again."""
        import altair as alt

        name = f"d{len(self._data)}"
        self._data[name] = values
        return alt.Chart(alt.NamedData(name=name))

    def draw(self, lines: Sequence[Any], width: float, title: str) -> str:
        """Draw lines of plots under the names of the methods."""
        import altair as alt

        whole = alt.vconcat(self.legend(width), *lines, spacing=14).configure(aria=False)
        whole.datasets = self._data
        drawn = _lean(charts.svg(whole))
        return drawn.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title)}" ', 1)

    def legend(self, width: float) -> Any:
        """Write all methods with their looks, names whole, line after line; Vega's own legend cuts them."""
        import altair as alt

        entries = []
        left, line = 0.0, 0
        for method in self.methods:
            name = clip(method, int((width - 40) / CHARACTER))
            wide = len(name) * CHARACTER + 62
            if left and left + wide - 25 > width:
                left, line = 0.0, line + 1
            entry = {"x": left, "to": left + 30, "middle": left + 15, "text": left + 37, "y": -line}
            entries.append({**self.look(method), **entry, "size": 70, "name": name})
            left += wide
        base = self.chart(entries)
        y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.5 - line, 0.5], nice=False), axis=None)

        def x_of(field: str) -> Any:
            return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)

        text = base.mark_text(align="left", baseline="middle", fontSize=12, color="#333333")
        return alt.layer(
            base.mark_rule(strokeWidth=2).encode(x_of("x"), y, self.color, self.dash, x2="to:Q"),
            base.mark_point(filled=True, opacity=1).encode(
                x_of("middle"), y, self.color, self.shape, self.size
            ),
            text.encode(x_of("text"), y, text="name:N"),
        ).properties(width=width, height=20 * (line + 1))

    def panels(self, figure: LineFigure, band: tuple[str, list[Panel]], width: float, *, named: bool) -> Any:
        """Draw the panels of one data set side by side; `named`: with the parameter's name below."""
        import altair as alt

        data, panels = band
        across, up = _horizontal(figure, width), _vertical(figure, panels)
        floor = _floor(figure.measure.scale)
        values = [
            {
                "panel": panel.title,
                "x": across.place(dot.x),
                "y": _short(max(dot.y.value, floor)),
                "low": _short(max(dot.y.low, floor)),
                "high": _short(max(dot.y.high, floor)),
                **self.look(dot.method),
            }
            for panel in panels
            for dot in sorted(panel.dots, key=lambda dot: self.methods.index(dot.method))
        ]
        lines = [
            {"panel": panel.title, "y": _short(panel.reference)}
            for panel in panels
            if panel.reference is not None
        ]
        fits = len(figure.x_title) * CHARACTER < width
        below = figure.x_title if fits else figure.parameter
        x, y = across.x("x", below if named else None), up.y("y", figure.measure.axis)
        base = self.chart([*values, *lines])
        dots = base.transform_filter("isValid(datum.method)")
        layers = []
        if any(dot.y.low < dot.y.high for panel in panels for dot in panel.dots):
            band_y = up.y("low", figure.measure.axis)
            layers.append(dots.mark_area(opacity=0.16).encode(x, band_y, self.fill, y2="high:Q"))
        if lines:
            rule = base.transform_filter("!isValid(datum.method)")
            layers.append(rule.mark_rule(color="#777777", strokeDash=[3, 3], strokeWidth=1.4).encode(y=y))
        layers.append(dots.mark_line(strokeWidth=2).encode(x, y, self.color, self.dash))
        points = dots.mark_point(filled=True, opacity=1)
        layers.append(points.encode(x, y, self.color, self.shape, self.size))
        plot = alt.layer(*layers).properties(width=width, height=_HEIGHT)
        if figure.alone:
            return plot.properties(title=_title(data, width))
        header = alt.Header(
            title=None, labelAnchor="start", labelFontSize=12, labelPadding=4, labelLimit=width
        )
        column = alt.Column("panel:N", sort=[panel.title for panel in panels], header=header)
        return plot.facet(column=column, spacing=_GAP, bounds="flush", title=_title(data, WIDTH - _LEFT))

    def front_plot(self, fronts: Fronts, data: str, width: float) -> Any:
        """Draw loss against risk on a data set."""
        import altair as alt

        dots, steps = [], []
        for method in fronts.methods:
            made = [release for release in fronts.releases[data] if release.method == method]
            best = set(non_dominated([release.point for release in made]))
            for place, release in enumerate(made):
                point = {"x": _short(release.risk), "y": _short(release.loss), **self.look(method)}
                dots.append({**point, "opacity": 1 if place in best else 0.45})
                steps += [point] if place in best else []
        x_scale = Numbers([dot["x"] for dot in dots], fronts.risk.scale, fronts.risk.percent)
        loss_scale = "root" if fronts.loss.scale == "linear" else fronts.loss.scale
        y_scale = Numbers([dot["y"] for dot in dots], loss_scale, fronts.loss.percent)
        x, y = x_scale.x("x", fronts.risk.axis), y_scale.y("y", fronts.loss.axis)
        line = self.chart(steps).mark_line(interpolate="step-after", strokeWidth=1.6)
        points = self.chart(dots).mark_point(filled=True)
        opacity = alt.Opacity("opacity:Q", scale=None)
        return alt.layer(
            line.encode(x, y, self.color, self.dash, order="x:Q"),
            points.encode(x, y, self.color, self.shape, self.size, opacity),
        ).properties(width=width, height=250, title=_title(data, width))


def _title(text: str, width: float) -> Any:
    import altair as alt

    shown = clip(text, max(8, int(width / CHARACTER)))
    return alt.TitleParams(shown, fontSize=13, anchor="start", frame="group", offset=6)


def _horizontal(figure: LineFigure, width: float) -> Spaced:
    """Make the horizontal scale that all panels of a figure share."""
    every = sorted({dot.x for _, panels in figure.bands for p in panels for dot in p.dots}, key=order)
    return Spaced(every, width, ordinal=any(is_infinite(x) or number(x) is None for x in every))


def _lean(svg: str) -> str:
    """Drop what nobody sees: a figure's single label is enough, a hundredth of a pixel is fine enough."""

    def tag(found: re.Match[str]) -> str:
        text = re.sub(r' (?:role|class|aria-[a-z]+|pointer-events)="[^"]*"', "", found[0])
        return re.sub(r'( (?:d|transform)=")([^"]*)', _round, text)

    return re.sub(r"<[a-z][^<>]*>", tag, svg)


def _round(found: re.Match[str]) -> str:
    return found[1] + re.sub(r"(\.\d\d)\d+(?!\d*e)", r"\1", found[2])


def _short(value: float) -> float:
    """Keep four digits: more cannot be seen, and a file for others should not hold them."""
    return float(f"{value:.4g}")
