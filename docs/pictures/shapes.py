"""Draw the shapes of files, and how each is read: ``python docs/pictures/shapes.py`` draws all.

Each picture shows a file about the same two people, the people and items that setveil reads, and the options.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

_WIDTH, _LINE, _LETTER = 500, 24, 8.5
_INK, _GREY = "#1b1f24", "#57606a"
_COLOURS = {"person": ("#dceafc", "#0b4a8f"), "items": ("#dff3e4", "#1e5631"), "": ("#eef0f2", _GREY)}
PEOPLE = {"7": ("E11", "I10"), "9": ("I10",)}


class Shape(NamedTuple):
    """A file, what its cells are, and the options that read it."""

    name: str  # of the picture
    file: str
    title: str
    lines: tuple[tuple[str, ...], ...]  # cells; a line of one cell where the others have several is as wide
    roles: tuple[str, ...]  # of the columns: `person`, `items`, or "" for what is ignored
    options: str
    separator: str = ","
    rest: tuple[int, ...] = ()  # lines that are no data

    def text(self) -> str:
        """Write the file."""
        return "".join(f"{self.separator.join(line)}\n" for line in self.lines)


SHAPES = (
    Shape(
        "long", "visits.csv", "A line for each person and item",
        (
            ("pat", "date", "icd"),
            ("7", "2026-01-03", "E11"),
            ("7", "2026-01-03", "I10"),
            ("9", "2026-02-11", "I10"),
        ),
        ("person", "", "items"), "--id-column pat --item-column icd",
    ),
    Shape(
        "wide", "stays.csv", "Items in several columns",
        (("id", "age", "DX1", "DX2"), ("7", "61", "E11", "I10"), ("9", "47", "I10", "")),
        ("person", "", "items", "items"), "--id-column id --item-column DX1-DX2",
    ),
    Shape(
        "onehot", "marks.csv", "A column for each item",
        (("id", "E11", "I10"), ("7", "1", "1"), ("9", "0", "1")),
        ("person", "items", "items"), "--item-column E11,I10",
    ),
    Shape(
        "answers", "answers.csv", "Answers in columns: 1 is yes, 2 is no",
        (("id", "E11", "I10"), ("7", "1", "1"), ("9", "2", "1")),
        ("person", "items", "items"), "--item-column E11,I10 --yes 1",
    ),
    Shape(
        "cells", "joined.csv", "All items of a person in one cell",
        (("id", "codes"), ("7", "E11|I10"), ("9", "I10")),
        ("person", "items"), "--id-column id --item-column codes --delimiter '|'",
    ),
    Shape(
        "baskets", "baskets.txt", "A line for each person, with the items in it",
        (("E11", "I10"), ("I10",)), ("items", "items"), "--format basket",
    ),
    Shape(
        "around", "export.csv", "A title above, a total below",
        (("Report of January",), ("pat", "icd"), ("7", "E11"), ("7", "I10"), ("9", "I10"), ("Total", "3")),
        ("person", "items"), "--skip-lines 1 --skip-last 1 --id-column pat --item-column icd", rest=(0, 5),
    ),
    Shape(
        "groups", "pivot.csv", "An ID once for a group of lines",
        (("pat", "icd"), ("7", "E11"), ("", "I10"), ("9", "I10")),
        ("person", "items"), "--id-column pat --item-column icd --fill-id",
    ),
    Shape(
        "objects", "records.jsonl", "Objects inside objects",
        (('{"pat": 7, "dx": [{"code": "E11"}, {"code": "I10"}]}',), ('{"pat": 9, "dx": [{"code": "I10"}]}',)),
        ("items",), "--id-column pat --item-column dx.code",
    ),
)  # fmt: skip


def picture(shape: Shape) -> str:
    """Return the picture of a shape as SVG."""
    parts = [_text(8, 22, shape.file, _GREY)]
    top = 34
    below = top + _LINE * len(shape.lines)
    wide = _table(parts, shape, top)
    if wide > _WIDTH - 150:  # the people below the file
        at, y, below = 8, below + 30, below + 30 + _LINE * (len(PEOPLE) + 1)
    else:
        at, y = int(max(wide + 50, _WIDTH - 190)), top
        parts.append(_text(at - 34, y + 17 + _LINE, "→", _INK, 'font-size="20"'))
        below = max(below, top + _LINE * (len(PEOPLE) + 1))
    parts += [_text(at, y + 17, "person", _GREY), _text(at + 77, y + 17, "items", _GREY)]
    parts += [
        _text(at, y + 17 + _LINE * (1 + line), f"{person if shape.name != 'baskets' else line + 1}", _INK)
        for line, person in enumerate(PEOPLE)
    ]
    parts += [
        _text(at + 77, y + 17 + _LINE * (1 + line), ", ".join(items), _COLOURS["items"][1])
        for line, items in enumerate(PEOPLE.values())
    ]
    height = below + 36
    parts.append(_text(8, height - 12, shape.options, _INK, 'font-weight="600" font-size="13"'))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" font-family="ui-monospace, monospace" font-size="14" '
        'xml:space="preserve">\n'
        f"<title>{escape(shape.title)}: read with {escape(shape.options)}</title>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _table(parts: list[str], shape: Shape, top: int) -> float:
    """Draw the lines of the file, each column in the colour of its role; return where they end."""
    longest = [0] * len(shape.roles)
    for line in shape.lines:
        if len(line) == len(shape.roles) or shape.name == "baskets":
            longest = [*map(max, longest, map(len, [*line, *[""] * (len(longest) - len(line))]))]
    left = [8.0]
    for letters in longest:
        left.append(left[-1] + letters * _LETTER + 18)
    for number, line in enumerate(shape.lines):
        y = top + _LINE * number
        whole = len(line) == 1 and len(shape.roles) > 1 and shape.name != "baskets"
        for at, cell in enumerate(line):
            role = "" if number in shape.rest else shape.roles[at]
            fill, ink = _COLOURS[role]
            right = max(left[-1], left[0] + len(cell) * _LETTER + 18) if whole else left[at + 1]
            parts.append(
                f'<rect x="{left[at]:.0f}" y="{y}" width="{right - left[at] - 3:.0f}" height="{_LINE - 2}" '
                f'rx="3" fill="{fill}"/>'
            )
            parts.append(_text(left[at] + 7, y + 16, cell, ink))
    return left[-1]


def _text(x: float, y: float, text: str, ink: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{ink}"{" " * bool(more)}{more}>{escape(text)}</text>'


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix("")
    for one in SHAPES:
        (folder / f"{one.name}.svg").write_text(picture(one), "utf-8")
