"""Altair charts as SVG that stands in a page by itself: nothing is loaded, nothing runs."""

from __future__ import annotations

import html
import re
from typing import Any

# Okabe and Ito's colours, in an order in which neighbours differ in brightness too.
PALETTE = ("#0072b2", "#e69f00", "#444444", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#b8a800")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "stroke")

# What XML cannot hold, and what draws the charts ends the whole process at: it stands in no label then.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_CONFIG = {
    "background": "transparent",
    "aria": False,  # the page says in words what a chart shows; repeated for each mark it doubles the size
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelColor": "#333333",
        "titleColor": "#333333", "gridColor": "#e4e4e4", "domainColor": "#888888", "tickColor": "#888888",
        "labelLimit": 220,
    },
    "legend": {
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 260,
        "symbolSize": 90,
    },
    "header": {"labelFontSize": 13, "labelFontWeight": "bold", "titleFontSize": 12},
    "title": {"fontSize": 14, "anchor": "start"},
    "range": {"category": list(PALETTE), "symbol": list(SHAPES)},
}  # fmt: skip


def svg(chart: Any) -> str:
    """Draw an Altair chart as an SVG element.

    The same chart gives the same bytes where the same fonts are installed. Text stays text, so that it can
    be searched and copied. Characters that XML cannot hold become a replacement character.

    Parameters
    ----------
    chart : altair chart
        With its data inside.

    Returns
    -------
    str
        ``<svg ...>...</svg>``, with its size in CSS pixels.
    """
    import vl_convert

    content = chart.to_dict()
    content["config"] = {**content.get("config", {}), **_CONFIG}
    return str(vl_convert.vegalite_to_svg(_drawable(content)))


def inline(drawing: str, name: str, alternative: str) -> str:
    """Prepare an SVG element for an HTML page that holds others.

    Parameters
    ----------
    drawing : str
        What `svg` returned.
    name : str
        A word that no other drawing of the page has. Ids begin with it: a page has one space of ids, so two
        drawings that both clip at "clip1" would be cut where the first one ends.
    alternative : str
        What the drawing shows, for readers who do not see it.
    """

    def unique(tag: re.Match[str]) -> str:
        return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", tag[0])

    drawing = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawing, count=2)
    drawing = re.sub(r"<[^>]*>", unique, drawing)
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{html.escape(alternative)}" ', 1)


def _drawable(content: Any) -> Any:
    if isinstance(content, str):
        return _NO_XML.sub("\ufffd", content)
    if isinstance(content, dict):
        return {_drawable(key): _drawable(value) for key, value in content.items()}
    return [_drawable(entry) for entry in content] if isinstance(content, list) else content
