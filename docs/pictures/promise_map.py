"""Draw the questions of which_promise.md: ``python docs/pictures/promise_map.py`` writes the picture."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

# Question; then the ends it leads to: what else is asked, the promise, the command.
QUESTIONS = [
    (
        ["Are other columns that someone may", "know next to the items?"],
        [
            ("labels may differ between classes", "(k,k^m)-anonymity", "--model kkm"),
            ("labels mean the same in every row", "mixed k^m-anonymity", "--model mixed-km"),
        ],
    ),
    (
        ["Are there items that nobody", "may learn about a person?"],
        [
            ("up to m others are known", "(k,rho)^m-anonymity", "--k 5 --m 2 --rho 0.2 --sensitive LIST"),
            ("any items are known", "rho-uncertainty", "--rho 0.2 --sensitive LIST"),
            (
                "up to p are known, supports matter",
                "coherence",
                "--model coherence --h 0.4 --k 5 --p 2 --private LIST",
            ),
            ("rows may be found", "privacy degree", "--model privacy-degree --p 5 --sensitive LIST"),
        ],
    ),
    (
        ["Do you know which combinations", "of items someone may know?"],
        [("", "constraints", "--model constraints --k 5 --privacy LIST")],
    ),
    (
        ["Could someone know a whole row?"],
        [("", "k-anonymity of rows", "--model k-anonymity --k 5")],
    ),
    (
        ["Otherwise"],
        [("m from setveil risk", "k^m-anonymity", "--k 5 --m 2")],
    ),
]
_END, _GAP = 58, 12  # height of an end, and what is between two
_LEFT, _ASKED, _RIGHT, _WIDTH = 16, 320, 396, 880


def picture() -> str:
    """Return the picture as SVG."""
    parts: list[str] = []
    y = 20
    for number, (question, ends) in enumerate(QUESTIONS):
        height = max(len(ends) * (_END + _GAP) - _GAP, 58)
        middle = y + 29
        parts.append(f'<rect class="question" x="{_LEFT}" y="{y}" width="{_ASKED}" height="58" rx="8"/>')
        first = middle + 5 - 9 * (len(question) - 1)
        parts += [
            _text(_LEFT + _ASKED // 2, first + 18 * i, line, "middle bold") for i, line in enumerate(question)
        ]
        for i, (asked, promise, command) in enumerate(ends):
            top = y + i * (_END + _GAP)
            line = f"M{_LEFT + _ASKED},{middle} H{_RIGHT - 25} V{top + 29} H{_RIGHT}"
            parts.append(f'<path class="line" d="{line}"/>')
            place = f'x="{_RIGHT}" y="{top}" width="{_WIDTH - _RIGHT - 16}" height="{_END}"'
            parts.append(f'<rect class="end" {place} rx="8"/>')
            shown = f"{asked}: " if asked else ""
            parts.append(
                f'<text x="{_RIGHT + 14}" y="{top + 24}">{escape(shown)}<tspan class="bold">{escape(promise)}'
                "</tspan></text>"
            )
            parts.append(_text(_RIGHT + 14, top + 45, command, "command"))
        if number < len(QUESTIONS) - 1:
            if question != ["Otherwise"]:
                parts.append(_text(_LEFT + _ASKED + 6, middle - 6, "yes", "small"))
            below = y + height + 28
            parts.append(f'<path class="line" d="M{_LEFT + _ASKED // 2},{y + 58} V{below}"/>')
            parts.append(_text(_LEFT + _ASKED // 2 + 8, y + 76, "no", "small"))
            y = below
        else:
            y += height + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" '
        'role="img" font-family="system-ui, sans-serif" font-size="14">\n'
        "<title>Which promise? Questions that lead to one</title>\n"
        "<style>text{fill:#1b1f24}.question{fill:#e8eef7;stroke:#3b5b8c}.end{fill:#fff;stroke:#5a6573}"
        ".line{fill:none;stroke:#5a6573}.bold{font-weight:600}.middle{text-anchor:middle}"
        ".command{font-family:ui-monospace,monospace;font-size:12px}.small{font-size:12px;fill:#414b57}</style>\n"
        f'<rect width="{_WIDTH}" height="{y}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")
