"""The figures of a study for a paper: one small plot each, as wide as a column, as PDF and SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from setveil.base.errors import RequestError
from setveil.base.version import install
from setveil.report.compare.figures import LineFigure, Panel, is_infinite
from setveil.report.compare.fronts import non_dominated
from setveil.report.compare.releases import Fronts, MedianRelease
from setveil.report.compare.table import order
from setveil.report.drawing.plots import PALETTE
from setveil.report.drawing.scales import Kind, number, text_of

WIDTH, HEIGHT = 84 / 25.4, 58 / 25.4  # inches: a column of most journals, and a figure that leaves it text
_STEP = 2.5 / 72  # inches between methods at one value
_FAR_APART = 20  # values whose ratio is greater are drawn on a logarithmic axis, where the measure allows it
_RATIO = 8  # the same for a parameter's values
_MARKERS = ("o", "s", "^", "D", "X", "v", ">")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 2, 2)), (0, (9, 3)))
_STYLE = {
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # fonts are embedded, as publishers ask
    "svg.hashsalt": "setveil",  # the same figure, the same bytes
}


def require_matplotlib() -> Any:
    """Import what draws the figures."""
    try:
        import matplotlib
    except ImportError:
        raise RequestError(
            "Figures for a paper need the library matplotlib.", hint=install("paper")
        ) from None
    return matplotlib


@dataclass(frozen=True)
class Drawn:
    """A figure in both formats."""

    pdf: bytes
    svg: bytes


def draw_panel(figure: LineFigure, panel: Panel) -> Drawn:
    """Draw one small plot of a measure against a parameter."""
    values = sorted({dot.x for dot in panel.dots}, key=order)
    ordinal = any(is_infinite(x) or number(x) is None for x in values)
    places = {text_of(x): float(i) if ordinal else float(number(x) or 0) for i, x in enumerate(values)}
    percent = 100 if figure.measure.percent else 1

    def draw(axes: Any) -> None:
        methods = [method for method in figure.methods if any(dot.method == method for dot in panel.dots)]
        for place, method in enumerate(methods):
            dots = [dot for dot in panel.dots if dot.method == method]
            y = [percent * dot.y.value for dot in dots]
            below = [percent * (dot.y.value - dot.y.ends[0]) for dot in dots]
            above = [percent * (dot.y.ends[1] - dot.y.value) for dot in dots]
            axes.errorbar(
                [places[text_of(dot.x)] for dot in dots], y, yerr=[below, above], label=method,
                elinewidth=0.7, capsize=1.5, **_look(figure.places[method]),
                transform=_beside(axes, place - (len(methods) - 1) / 2),
            )  # fmt: skip
        _scale(axes, figure.measure.scale, [percent * end for dot in panel.dots for end in dot.y.ends])
        numbers = list(places.values())
        far = not ordinal and min(numbers) > 0 and max(numbers) >= _RATIO * min(numbers)
        if far:
            axes.set_xscale("log")
        axes.set_xlim(*_room(numbers, logarithmic=far))
        axes.set_xticks(numbers, list(places), minor=False)
        axes.minorticks_off()

    return _drawn(draw, figure.x_title, _axis(figure.measure.axis, figure.measure.percent))


def draw_front(fronts: Fronts, data: str) -> Drawn:
    """Draw loss against risk on one data set."""
    loss, risk = (100 if one.percent else 1 for one in (fronts.loss, fronts.risk))

    def draw(axes: Any) -> None:
        for method in fronts.methods:
            made = [release for release in fronts.releases[data] if release.method == method]
            if not made:
                continue
            best = [made[place] for place in non_dominated([release.point for release in made])]
            look = _look(fronts.places[method])
            ink = {key: value for key, value in look.items() if key in {"color", "marker", "markersize"}}
            _points(axes, made, risk, loss, {**ink, "linestyle": "none", "alpha": 0.4})
            axes.step([risk * r.risk for r in best], [loss * r.loss for r in best], where="post",
                      label=method, **look)  # fmt: skip
        _scale(axes, fronts.loss.scale, [loss * r.loss for r in fronts.releases[data]])
        risks = [risk * r.risk for r in fronts.releases[data]]
        if min(risks) > 0 and max(risks) > _FAR_APART * min(risks):
            _logarithmic(axes.xaxis)

    return _drawn(draw, _axis(fronts.risk.axis, fronts.risk.percent), _axis(fronts.loss.axis, loss == 100))


def _points(axes: Any, made: Sequence[MedianRelease], risk: int, loss: int, look: dict[str, Any]) -> None:
    axes.plot([risk * release.risk for release in made], [loss * release.loss for release in made], **look)


def _axis(name: str, percent: bool) -> str:
    return f"{name} (%)" if percent and "%" not in name else name


def _look(place: int) -> dict[str, Any]:
    """Settle colour, shape and dashes of a method, as in the report."""
    return {
        "color": PALETTE[place % len(PALETTE)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "linewidth": 1.1,
        "markersize": 3.6,
    }


def _scale(axes: Any, kind: Kind, values: Sequence[float]) -> None:
    """Choose the vertical axis: from zero, but for exponents and what is logarithmic."""
    least, most = min(values), max(values)
    if kind in {"log", "spread"} and least > 0 and most > _FAR_APART * least:
        _logarithmic(axes.yaxis)
        axes.set_ylim(*_room(values, logarithmic=True))
    elif kind == "exponent":
        axes.set_ylim(*_room(values, logarithmic=False))
    else:
        axes.set_ylim(0, 1.06 * most or 1)


def _room(values: Sequence[float], *, logarithmic: bool) -> tuple[float, float]:
    """Find the ends of an axis, with some room next to the values."""
    low, high = (math.log(end) if logarithmic else end for end in (min(values), max(values)))
    room = 0.06 * (high - low) or 0.5
    ends = low - room, high + room
    return (math.exp(ends[0]), math.exp(ends[1])) if logarithmic else ends


def _logarithmic(axis: Any) -> None:
    """Make an axis logarithmic, with a few plain numbers next to it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:.12g}"))
    axis.set_minor_locator(NullLocator())


def _beside(axes: Any, steps: float) -> Any:
    """Move marks to the side by this many steps, for bars that would hide each other."""
    from matplotlib.transforms import ScaledTranslation

    return axes.transData + ScaledTranslation(_STEP * steps, 0, axes.figure.dpi_scale_trans)


def _drawn(draw: Any, x_title: str, y_title: str) -> Drawn:
    """Draw on a sheet as wide as a column, with the names of methods above the plot."""
    with require_matplotlib().rc_context(_STYLE):
        from matplotlib.figure import Figure

        sheet = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = sheet.add_subplot()
        draw(axes)
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        axes.grid(visible=True, axis="y", linewidth=0.4, color="#e4e4e4")
        axes.set_axisbelow(True)
        handles, names = axes.get_legend_handles_labels()
        wide = max(map(len, names), default=0)
        beside = max(1, min(len(names), 48 // (wide + 6)))  # names that fit side by side
        sheet.legend(handles, names, loc="outside upper left", ncols=beside)
        pdf, svg = BytesIO(), BytesIO()
        sheet.savefig(pdf, format="pdf", metadata={"CreationDate": None})
        sheet.savefig(svg, format="svg", metadata={"Date": None})
    return Drawn(pdf.getvalue(), svg.getvalue())
