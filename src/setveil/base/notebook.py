"""How objects look in a notebook: a title, a small table, a note. All of it escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

ROWS, ITEMS, WIDTH = 5, 10, 60  # how much of people's data is shown


def card(title: str, lines: Iterable[tuple[object, object]] = (), note: str = "") -> str:
    """Make the HTML of an object: its title, lines of two cells each, and what is to be said below.

    >>> card("2 rows", [(0, "tea < milk")])
    '<div><strong>2 rows</strong><table><tr><th>0</th><td>tea &lt; milk</td></tr></table></div>'
    """
    cells = "".join(
        f"<tr><th>{html.escape(str(head))}</th><td>{html.escape(str(text))}</td></tr>" for head, text in lines
    )
    table = f"<table>{cells}</table>" if cells else ""
    below = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<div><strong>{html.escape(title)}</strong>{table}{below}</div>"


def grids(tables: Iterable[tuple[str, Sequence[Sequence[str]]]]) -> str:
    """Make the HTML of tables, each with a title and, in its first line, headings.

    >>> grids([("Rows", [["known"], ["1 item"]])])
    '<div><p>Rows</p><table><tr><th>known</th></tr><tr><td>1 item</td></tr></table></div>'
    """

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell.strip())}</{tag}>' for cell in cells)}</tr>"

    parts = (
        f"<p>{html.escape(title)}</p><table>{line(head, 'th')}{''.join(line(cells, 'td') for cells in lines)}"
        "</table>"
        for title, (head, *lines) in tables
    )
    return f"<div>{''.join(parts)}</div>"


def some(labels: Sequence[str], most: int = ITEMS) -> str:
    """Write the first few of many labels, each cut to a width, and how many more there are.

    >>> some(["tea", "milk", "coffee"], most=2)
    'tea, milk and 1 more'
    """
    shown = ", ".join(label if len(label) <= WIDTH else label[: WIDTH - 1] + "…" for label in labels[:most])
    return shown + (f" and {len(labels) - most:,} more" if len(labels) > most else "")
