"""Rows of a sheet that are no data: titles above the table, remarks below, more headers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from setveil.base.errors import TableError
from setveil.base.wording import are, count
from setveil.rows.data import evidence, headers, known_words
from setveil.rows.data.io.lines import as_spec, in_words, skipped_words
from setveil.rows.data.skipped import Lines

Cells = list[str | None]
_MOST = 30  # rows above a table


def data_rows(cells: Sequence[Cells], lines: Lines, name: str) -> tuple[list[Cells], list[str]]:
    """Take the header and the data of a sheet (all rows in `cells`), and say which rows were skipped."""
    skipped = lines.numbers(len(cells))
    notes = [skipped_words(skipped)] if skipped else []
    rows = [(number, row) for number, row in enumerate(cells, 1) if number not in {*skipped}]
    if lines.comment is not None:
        kept = [
            (number, row) for number, row in rows if not (row and (row[0] or "").startswith(lines.comment))
        ]
        if len(kept) < len(rows):
            notes.append(f"{count(len(rows) - len(kept), 'row')} skipped that begin with {lines.comment}.")
        rows = kept
    while rows and not rows[0][1]:
        rows.pop(0)
    if not lines.settled and (strays := _strays(rows)):
        raise TableError(
            f"{name}: {in_words(strays).replace('line', 'row')} {are(len(strays))} not like the rows of a "
            "table",
            [],
            [({"skip_lines": as_spec(strays)}, "skip them" if len(strays) > 1 else "skip it")],
        )
    above = lines.header_lines or 1
    header, body = _joined([row for _, row in rows[:above]]), [row for _, row in rows[above:]]
    texts = [[cell or "" for cell in row] + [""] * (len(header) - len(row)) for row in (header, *body[:1000])]
    number = headers.header_lines(texts) if lines.header_lines is None and texts[1:] and header else 1
    if number > 1:
        raise TableError(
            f"{name}: the first {number} rows of the table seem to be headers: nearly all rows below "
            "have numbers where these have words",
            [],
            [
                ({"header_lines": str(number)}, f"the data begin below {number} header rows"),
                ({"header_lines": "1"}, "the first row alone is the header"),
            ],
        )
    again = [row for row in body if row != header]
    if len(again) < len(body):
        more = len(body) - len(again)
        notes.append(f"{count(more, 'more row')} {'equals' if more == 1 else 'equal'} the header; skipped.")
    return [header, *again] if header else [], notes


def _joined(rows: Sequence[Cells]) -> Cells:
    width = max(map(len, rows), default=0)
    return [next((row[at] for row in rows if at < len(row) and row[at]), None) for at in range(width)]


def _strays(rows: Sequence[tuple[int, Cells]]) -> list[int]:
    """List the rows above the first that is as long as most, and those below a blank row at the end."""
    filled = [sum(cell is not None for cell in row) for _, row in rows]
    sizes = Counter(size for size in filled if size > 1)
    if len(rows) < evidence.FEW or not sizes or 2 * sizes.total() < len(rows):
        return []
    usual = sizes.most_common(1)[0][0]
    first = next(at for at, size in enumerate(filled) if size >= max(2, usual - (usual > 2)))
    above = list(range(1, rows[first][0])) if 0 < first <= _MOST else []
    blank = max((at for at, size in enumerate(filled) if not size), default=0)
    tail = filled[blank + 1 :]
    below = []
    if first < blank and tail and len(tail) <= _MOST and all(size < usual for size in tail):
        below = [number for number, row in rows[blank + 1 :] if row]
    end = blank - 1 if below else len(rows) - 1
    while end > 0 and not rows[end][1]:
        end -= 1
    if (above or below) and any(known_words.is_total(cell or "") for cell in rows[end][1][:2]):
        below = [rows[end][0], *below]
    return [*above, *below]
