"""Draw the questions of which_promise.md: ``python docs/pictures/promise_map.py`` writes the picture."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

# Question; then the ends it leads to: what else is asked, the promise, the command.
QUESTIONS = [
    (
        ["Are other columns that someone", "may know next to the items?"],
        [
            ("labels may differ between classes", "(k,k^m)-anonymity", ["--model kkm"]),
            ("labels mean the same in every row", "mixed k^m-anonymity", ["--model mixed-km"]),
        ],
    ),
    (
        ["Are there items that nobody", "may learn about a person?"],
        [
            (
                "up to m others are known",
                "(k,rho)^m-anonymity",
                ["--k 5 --m 2 --rho 0.2", "--sensitive LIST"],
            ),
            ("any items are known", "rho-uncertainty", ["--rho 0.2 --sensitive LIST"]),
            (
                "up to p are known, supports matter",
                "coherence",
                ["--model coherence --h 0.4 --k 5", "--p 2 --private LIST"],
            ),
            ("rows may be found", "privacy degree", ["--model privacy-degree --p 5", "--sensitive LIST"]),
        ],
    ),
    (
        ["What may someone know of a row?"],
        [
            ("some items, m from setveil risk", "k^m-anonymity", ["--k 5 --m 2"]),
            (
                "combinations that you can list",
                "constraints",
                ["--model constraints --k 5", "--privacy LIST"],
            ),
            ("the whole row", "k-anonymity of rows", ["--model k-anonymity --k 5"]),
        ],
    ),
]
_WIDTH, _LEFT, _RIGHT, _LINE = 360, 8, 40, 19


def picture() -> str:
    """Return the picture as SVG, narrow enough for a telephone."""
    parts: list[str] = []
    y = 8
    for number, (question, ends) in enumerate(QUESTIONS, 1):
        height = 16 + _LINE * len(question)
        place = f'x="{_LEFT}" y="{y}" width="{_WIDTH - 2 * _LEFT}" height="{height}"'
        parts.append(f'<rect class="question" {place} rx="8"/>')
        for i, line in enumerate(question):
            parts.append(_text(_LEFT + 12, y + 22 + _LINE * i, line if i else f"{number}. {line}", "bold"))
        top, y = y + height, y + height + 10
        for asked, promise, command in ends:
            y = _end(parts, y, asked, promise, command)
            parts.append(f'<path class="line" d="M{_LEFT + 14},{top} V{y - 36} H{_RIGHT}"/>')
        if number < len(QUESTIONS):
            parts.append(_text(_LEFT + 12, y + 14, "no \u2193", "small"))
            y += 26
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" '
        'role="img" font-family="system-ui, sans-serif" font-size="14">\n'
        "<title>Which promise? Three questions that lead to one</title>\n"
        "<style>text{fill:#1b1f24}.question{fill:#e8eef7;stroke:#3b5b8c}.end{fill:#fff;stroke:#5a6573}"
        ".line{fill:none;stroke:#5a6573}.bold{font-weight:600}"
        ".command{font-family:ui-monospace,monospace;font-size:13px}.small{fill:#414b57}</style>\n"
        f'<rect width="{_WIDTH}" height="{y}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _end(parts: list[str], y: int, asked: str, promise: str, command: list[str]) -> int:
    """Draw an end below `y`; return where the text below it begins."""
    height = 16 + _LINE * (2 + len(command))
    place = f'x="{_RIGHT}" y="{y}" width="{_WIDTH - _RIGHT - _LEFT}" height="{height}"'
    parts.append(f'<rect class="end" {place} rx="8"/>')
    lines = [(f"{asked}:", ""), (promise, "bold"), *((line, "command") for line in command)]
    parts += [_text(_RIGHT + 12, y + 22 + _LINE * i, text, kind) for i, (text, kind) in enumerate(lines)]
    return y + height + 8


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")
