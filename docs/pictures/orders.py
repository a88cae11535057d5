"""Draw the losses of docs/measured/orders.csv: ``python docs/pictures/orders.py`` writes the picture."""

from __future__ import annotations

import csv
from pathlib import Path

_MEASURED = Path(__file__).parents[1] / "measured" / "orders.csv"
_WIDTH, _LINE, _LEFT, _RIGHT, _MOST = 640, 30, 150, 24, 0.12
_RED, _BLUE, _INK, _GREY, _LIGHT = "#a3262a", "#0b5cad", "#1b1f24", "#57606a", "#d0d7de"
_NAMES = {"aa": "AA", "mhghs": "mHgHs", "lg": "LG"}


def losses() -> dict[str, dict[str, dict[str, float]]]:
    """Return the loss (NCP) by data set, algorithm and order."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    with _MEASURED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["algorithm"] in _NAMES and not (row["algorithm"] == "aa" and row["m"] != "3"):
                data, _, order = row["data"].partition(", ")
                found.setdefault(data, {}).setdefault(row["algorithm"], {})[order] = float(row["ncp"])
    return found


def picture(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the picture as SVG."""
    parts: list[str] = []
    y = 44
    parts += [
        _dot(16, 20, _RED) + _text(28, 25, "by number"),
        _square(126, 20) + _text(138, 25, "by support"),
        _range(238, 278, 256, 20) + _text(288, 25, "five random orders: range, median"),
    ]
    top = y
    lines: list[str] = []
    for data, by in found.items():
        lines.append(_text(8, y + 20, data, 'font-weight="600"'))
        y += _LINE
        for algorithm, name in _NAMES.items():
            of = by[algorithm]
            drawn = sorted(loss for order, loss in of.items() if order.startswith("random"))
            lines.append(_text(24, y + 20, name))
            lines.append(_range(_x(drawn[0]), _x(drawn[-1]), _x(drawn[len(drawn) // 2]), y + 15))
            lines.append(_square(_x(of["support"]), y + 15) + _dot(_x(of["number"]), y + 15, _RED))
            y += _LINE
        y += 8
    for at in range(7):
        x = _x(at * 0.02)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{y}" stroke="{_LIGHT}"/>')
        parts.append(_text(x, y + 18, f"{at * 0.02:.2f}" if at else "0", 'text-anchor="middle"'))
    parts += lines
    parts.append(_text(_x(_MOST / 2), y + 40, "loss (NCP) at k = 5, m = 3", 'text-anchor="middle"'))
    height = y + 54
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="14">\n'
        "<title>Losses of three algorithms with the items in different orders</title>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _x(loss: float) -> float:
    return _LEFT + loss / _MOST * (_WIDTH - _LEFT - _RIGHT)


def _dot(x: float, y: float, ink: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{ink}"/>'


def _square(x: float, y: float) -> str:
    place = f'x="{x - 5:.1f}" y="{y - 5}" width="10" height="10"'
    return f'<rect {place} fill="#fff" stroke="{_BLUE}" stroke-width="2"/>'


def _range(first: float, last: float, median: float, y: float) -> str:
    across = f'<line x1="{first:.1f}" x2="{last:.1f}" y1="{y}" y2="{y}" stroke="{_GREY}" stroke-width="3"/>'
    return across + f'<line x1="{median:.1f}" x2="{median:.1f}" y1="{y - 6}" y2="{y + 6}" stroke="{_INK}"/>'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{_INK}"{" " * bool(more)}{more}>{text}</text>'


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(losses()), "utf-8")
