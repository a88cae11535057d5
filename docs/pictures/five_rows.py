"""Draw five rows of the demo before and after: ``python docs/pictures/five_rows.py`` computes and draws.

The five are the first customers with three or four purchases whom two known purchases single out.
"""

from __future__ import annotations

import sys
from collections import Counter
from html import escape
from itertools import combinations
from pathlib import Path

_WIDTH, _LINE = 500, 30
_RED, _INK, _GREY = "#a3262a", "#1b1f24", "#57606a"


def rows() -> tuple[list[tuple[list[str], set[str], list[str]]], list[int]]:
    """Return five customers (purchases, those that single them out, labels), and how many are singled out."""
    import setveil as sv
    from setveil.rows.data.sample import grocery_sample

    baskets, paths = grocery_sample(5000, 0)
    release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=sv.Hierarchy.from_paths(paths))
    label = {item: name for name, items in release.recoding.members().items() for item in items}
    found = []
    single = _singled_out(baskets.rows())
    for row, telling in zip(baskets.rows(), single, strict=True):
        if telling and len(row) in (3, 4):
            labels = dict.fromkeys(label[item] for item in sorted(row) if item in label)
            found.append((sorted(row), telling, list(labels)))
    return found[:5], [sum(map(bool, single)), sum(map(bool, _singled_out(release.published.rows())))]


def _singled_out(rows: list[list[str]]) -> list[set[str]]:
    """Return, for each row, the first one or two of its items that no other row contains together."""
    known = [[*combinations(sorted(row), 1), *combinations(sorted(row), 2)] for row in rows]
    support = Counter(items for sets in known for items in sets)
    return [set(next((items for items in sets if support[items] == 1), ())) for sets in known]


def picture(found: list[tuple[list[str], set[str], list[str]]], alone: list[int]) -> str:
    """Return the picture as SVG."""
    parts: list[str] = []
    y = _table(parts, 0, "Before: what five customers bought", [(items, two) for items, two, _ in found])
    parts.append(_text(20, y, "Two known purchases (red) single each of them out.", _GREY))
    y = _table(parts, y + 14, "After: what is published", [(labels, set()) for *_, labels in found])
    parts.append(_text(20, y, "Any two known labels match at least 5 customers, or none.", _GREY))
    y += 48
    parts.append(_text(20, y, f"{alone[0]} → {alone[1]}", _RED, 'font-size="34" font-weight="700"'))
    parts.append(_text(185, y - 14, "customers of 5,000 are singled out by", _INK))
    parts.append(_text(185, y + 6, "two known purchases, before and after", _INK))
    height = y + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="15">\n'
        "<title>Five rows of purchases before and after anonymization</title>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _table(parts: list[str], y: int, title: str, lines: list[tuple[list[str], set[str]]]) -> int:
    """Draw a table below `y`; return where the text below it begins."""
    parts.append(_text(8, y + 26, title, _INK, 'font-weight="600"'))
    y += 38
    place = f'x="8" y="{y}" width="{_WIDTH - 16}" height="{_LINE * len(lines)}" rx="6"'
    parts.append(f'<rect {place} fill="#f6f8fa" stroke="#d0d7de"/>')
    for i, (words, marked) in enumerate(lines):
        if i:
            across = f'x1="8" x2="{_WIDTH - 8}" y1="{y + _LINE * i}" y2="{y + _LINE * i}"'
            parts.append(f'<line {across} stroke="#d0d7de"/>')
        spans = (
            f'<tspan fill="{_RED}" font-weight="600">{escape(word)}</tspan>'
            if word in marked
            else escape(word)
            for word in words
        )
        parts.append(f'<text x="20" y="{y + _LINE * i + 21}" fill="{_INK}">{", ".join(spans)}</text>')
    return y + _LINE * len(lines) + 24


def _text(x: float, y: float, text: str, ink: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{ink}"{" " * bool(more)}{more}>{escape(text)}</text>'


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".svg")
    place.write_text(picture(*rows()), "utf-8")
