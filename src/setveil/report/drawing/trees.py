"""Drawings of a hierarchy with a cut, and of the lattice of cuts that a search looked at."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence

from setveil.report.drawing.blocks import GENERALIZED, SUPPRESSED, UNCHANGED

MOST_LEAVES = 40  # of a hierarchy that is drawn
MOST_CUTS = 60  # of a lattice that is drawn
_WIDTH, _LEVEL = 840, 62
_SHORT = 14  # characters of a label in a drawing


def tree(
    parents: Mapping[str, str | None],
    cut: Collection[str],
    violated: Collection[str] = (),
    chosen: Collection[str] = (),
    suppressed: Collection[str] = (),
) -> str:
    """Draw a hierarchy of at most 40 leaves as SVG: nodes of the cut are filled, those below it pale."""
    children: dict[str | None, list[str]] = {}
    for node, above in parents.items():
        children.setdefault(above, []).append(node)
    leaves = [node for node in parents if node not in children]
    if not parents or len(leaves) > MOST_LEAVES:
        return ""
    places: dict[str, tuple[float, int]] = {}
    step = _WIDTH / len(leaves)

    def place(node: str, depth: int, first: int) -> int:
        """Put a node above its children; returns the number of leaves so far."""
        last = first
        for child in children.get(node, ()):
            last = place(child, depth + 1, last)
        if last == first:
            last = first + 1
        places[node] = (step * (first + last) / 2, depth)
        return last

    place(children[None][0], 0, 0)
    height = 50 + _LEVEL * max(depth for _, depth in places.values())
    under = {node for node in parents if _is_below(node, parents, cut)}
    parts = [
        _line(places[node], places[above], node in under)
        for node, above in parents.items()
        if above is not None
    ]
    for node, at in places.items():
        fill = "#ffffff" if node not in cut else SUPPRESSED if node in suppressed else UNCHANGED
        ring = GENERALIZED if node in chosen else "#b03a00" if node in violated else "#888888"
        parts.append(_node(node, at, fill, ring, node in under, wide=node in chosen or node in violated))
    return _svg(parts, height, "The hierarchy with the cut of this step")


def lattice(
    cuts: Sequence[Sequence[str]], above: Sequence[Sequence[Sequence[str]]], valid: Sequence[bool], best: int
) -> str:
    """Draw the cuts that a search looked at, finer ones below, as SVG; nothing for more than 60."""
    known = {tuple(cut): at for at, cut in enumerate(cuts)}
    if not cuts or len(cuts) > MOST_CUTS:
        return ""
    level = [0] * len(cuts)
    edges = []
    for at, ups in enumerate(above):
        for up in ups:
            other = known.get(tuple(up))
            if other is not None:
                edges.append((at, other))
    for _ in cuts:
        for lower, upper in edges:
            level[upper] = max(level[upper], level[lower] + 1)
    rows = {n: [at for at, one in enumerate(level) if one == n] for n in sorted(set(level))}
    top = max(level)
    places = {
        at: (_WIDTH * (2 * number + 1) / (2 * len(row)), top - n)
        for n, row in rows.items()
        for number, at in enumerate(row)
    }
    parts = [_line(places[a], places[b], False) for a, b in edges]
    for at, place in places.items():
        fill = UNCHANGED if valid[at] else "#ffffff"
        ring = GENERALIZED if at == best else "#888888"
        parts.append(
            _node("{" + ", ".join(cuts[at]) + "}", place, fill, ring, False, wide=at == best, most=44)
        )
    return _svg(parts, 50 + _LEVEL * top, "The cuts that were examined")


def _is_below(node: str, parents: Mapping[str, str | None], cut: Collection[str]) -> bool:
    above = parents[node]
    while above is not None and above not in cut:
        above = parents[above]
    return above is not None


def _line(a: tuple[float, int], b: tuple[float, int], pale: bool) -> str:
    color = "#dddddd" if pale else "#999999"
    ends = f'x1="{a[0]:.1f}" y1="{_y(a)}" x2="{b[0]:.1f}" y2="{_y(b)}"'
    return f'<line {ends} stroke="{color}"/>'


def _node(
    label: str, at: tuple[float, int], fill: str, ring: str, pale: bool, *, wide: bool, most: int = _SHORT
) -> str:
    x, y = f"{at[0]:.1f}", _y(at)
    text = label if len(label) <= most else label[: most - 1] + "…"
    return (
        f'<g><title>{html.escape(label)}</title><circle cx="{x}" cy="{y}" r="7" fill="{fill}" '
        f'stroke="{ring}" stroke-width="{4 if wide else 1.5}"/>'
        f'<text x="{x}" y="{y + 23}" text-anchor="middle" fill="{"#777777" if pale else "#1a1a1a"}">'
        f"{html.escape(text)}</text></g>"
    )


def _y(at: tuple[float, int]) -> int:
    return 16 + _LEVEL * at[1]


def _svg(parts: Sequence[str], height: int, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{title}" font-size="13" font-family="system-ui, sans-serif">{"".join(parts)}</svg>'
    )
