"""Draw how many rows of the demo known items single out: ``python docs/pictures/before_after.py``.

The numbers are those of ``setveil risk`` for the baskets and the release of ``setveil demo``.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

KNOWN = (1, 2, 3)
BELOW = (2, 5, 10)
GROUPS = (
    ("alone", "#a3262a", "#fff"),
    ("among 2 to 4", "#d9773f", "#1b1f24"),
    ("among 5 to 9", "#efc66f", "#1b1f24"),
    ("among 10 or more", "#d7e0ea", "#1b1f24"),
)
_LEFT, _BAR, _WIDTH = 68, 404, 480


def counts() -> dict[str, list[list[int]]]:
    """Count, before and after, for each number of known items, the rows of each of the `GROUPS`."""
    import setveil as sv
    from setveil.rows.data.sample import grocery_sample

    baskets, paths = grocery_sample(5000, 0)
    release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=sv.Hierarchy.from_paths(paths))
    found = {}
    for name, rows in (("before", baskets), ("after", release.published)):
        worst = [one for one in sv.risk(rows, m=KNOWN, thresholds=BELOW)["risk"] if one["choice"] == "best"]
        found[name] = [
            grouped([int(one["rows_below"][str(below)]) for below in BELOW], 5000) for one in worst
        ]
    return found


def grouped(below: list[int], rows: int) -> list[int]:
    """Return the rows between one bound and the next."""
    bounds = [0, *below, rows]
    return [after - before for before, after in pairwise(bounds)]


def picture(found: dict[str, list[list[int]]]) -> str:
    """Return the picture as SVG."""
    parts = [_text(8, 24, "5,000 customers: how many others look the same", "bold")]
    y = 44
    for i, known in enumerate(KNOWN):
        items = "one item" if known == 1 else f"{('two', 'three')[known - 2]} items"
        parts.append(_text(8, y + 18, f"to someone who knows {items} of theirs", ""))
        y += 28
        for name in ("before", "after"):
            parts.append(_text(_LEFT - 8, y + 19, name, "end"))
            x = float(_LEFT)
            for rows, (_, colour, ink) in zip(found[name][i], GROUPS, strict=True):
                width = _BAR * rows / sum(found[name][i])
                place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="26"'
                parts += [f'<rect {place} fill="{colour}"/>'] if rows else []
                if width > 40:
                    where = f'x="{x + width / 2:.1f}" y="{y + 19}" class="middle" style="fill:{ink}"'
                    parts.append(f"<text {where}>{rows:,}</text>")
                x += width
            y += 30
        y += 10
    for i, (name, colour, _) in enumerate(GROUPS):
        x, top = _LEFT + 190 * (i % 2), y + 26 * (i // 2)
        parts.append(f'<rect x="{x}" y="{top}" width="16" height="16" fill="{colour}"/>')
        parts.append(_text(x + 24, top + 14, name, ""))
    height = y + 56
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="16">\n'
        "<title>Customers that known items single out, before and after</title>\n"
        "<style>text{fill:#1b1f24}.bold{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}"
        "</style>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{text}</text>'


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(counts()), encoding="utf-8")
