"""Lines of a text or a sheet that are no data: which are skipped, and which seem to be."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.base.wording import are, count
from setveil.rows.data import evidence, headers, known_words
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.skipped import Lines
from setveil.rows.data.vocabulary import is_integer

_RULE = re.compile(r":?[-=]{2,}:?")
_SHOWN = 12  # runs of lines that are named
_FEW = 0.2  # of the lines that may be no data


def cut(text: Text, lines: Lines) -> Text:
    """Skip the lines of a text that were said to be no data."""
    last_said = lines.skip_last is not None
    marked = replace(text, settled=lines.settled, last_said=last_said, header_lines=lines.header_lines)
    if not lines.is_set:
        return marked
    starts = line_starts(text.content)
    last = int(np.flatnonzero(_filled(text.content, starts))[-1]) + 1 if text.content.strip() else 0
    numbers = lines.numbers(text.original(last) if last else 0)  # blank lines at the end are no last ones
    notes = [skipped_words(numbers)] if numbers else []
    said = [] if lines.comment is None else _begin_with(without_lines(marked, numbers), lines.comment)
    if said:
        notes.append(
            f"{count(len(said), 'line')} that {'begins' if len(said) == 1 else 'begin'} with "
            f"{lines.comment} {'was' if len(said) == 1 else 'were'} skipped."
        )
    found = without_lines(marked, sorted({*numbers, *said}))
    return replace(found, notes=(*text.notes, *notes))


def _begin_with(text: Text, mark: str) -> list[int]:
    sign = mark.encode()
    if sign not in text.content:
        return []
    lines = re.split(rb"\r\n|\r|\n", text.content)
    return [text.original(at) for at, line in enumerate(lines, 1) if line.lstrip(b" \t").startswith(sign)]


def line_starts(content: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
    r"""List where lines begin, which end with ``\n``, ``\r\n`` or ``\r``; the last one may be empty."""
    signs = np.frombuffer(content, np.uint8)
    ends = signs == 10
    returns = np.flatnonzero(signs == 13)
    bare = returns[(returns + 1 >= signs.size) | (signs[np.minimum(returns + 1, signs.size - 1)] != 10)]
    ends[bare] = True
    return np.concatenate([[0], np.flatnonzero(ends) + 1]).astype(np.int64)


def _filled(
    content: bytes, starts: np.ndarray[Any, np.dtype[np.int64]]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    signs = np.frombuffer(content, np.uint8)
    there = np.flatnonzero(~np.isin(signs, np.frombuffer(b" \t\r\n", np.uint8)))
    filled = np.zeros(starts.size, bool)
    filled[np.searchsorted(starts, there, side="right") - 1] = True
    return filled


def without_lines(text: Text, numbers: Sequence[int]) -> Text:
    """Skip lines of a text, by their numbers in the file; the others keep theirs in messages."""
    mine = sorted(set(numbers) - set(text.left))
    if not mine:
        return text
    starts = line_starts(text.content)
    now = np.array(mine, np.int64) - np.searchsorted(np.array(text.left, np.int64), mine) - 1
    now = now[now < starts.size]
    keep = np.ones(starts.size, bool)
    keep[now] = False
    ends = np.append(starts[1:], len(text.content))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    pieces = [
        text.content[starts[a] : ends[b - 1]]
        for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
    return replace(text, content=b"".join(pieces), left=tuple(sorted({*text.left, *mine})))


def as_spec(numbers: Sequence[int]) -> str:
    """Write numbers of lines as `--skip-lines` takes them.

    >>> as_spec([1, 2, 3]), as_spec([1, 2, 3, 359]), as_spec([359])
    ('3', '1-3,359', '359-359')
    """
    runs = _runs(numbers)
    if len(runs) == 1 and runs[0][0] == 1:
        return str(runs[0][1])
    if len(runs) == 1:
        return f"{runs[0][0]}-{runs[0][1]}"
    return ",".join(f"{a}-{b}" if b > a else str(a) for a, b in runs)


def in_words(numbers: Sequence[int]) -> str:
    """Name lines: ``line 3``, ``lines 1-3 and 359``."""
    runs = [f"{a:,}-{b:,}" if b > a else f"{a:,}" for a, b in _runs(numbers)]
    more = [f"{len(runs) - _SHOWN:,} more places"] if len(runs) > _SHOWN else []
    *most, last = [*runs[:_SHOWN], *more]
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(most)}{' and ' if most else ''}{last}"


def skipped_words(numbers: Sequence[int]) -> str:
    """Say which lines were skipped."""
    said = in_words(numbers)
    return f"{said[0].upper()}{said[1:]} {'was' if len(numbers) == 1 else 'were'} skipped."


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] + 1 == number:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


# --- lines that seem to be no data


def records(text: Text, separator: str) -> list[tuple[int, int, list[str]]]:
    """Split all lines that are not blank into fields: the first and last line of each, as in the file."""
    reader = csv.reader(
        io.StringIO(text.content.decode("utf-8", "replace"), newline=""),
        delimiter=separator,
        skipinitialspace=True,
    )
    found: list[tuple[int, int, list[str]]] = []
    start = 1
    try:
        for row in reader:
            fields = [field.strip(" \t") for field in row]
            if any(fields) or len(fields) > 1:
                found.append((text.original(start), text.original(reader.line_num), fields))
            start = reader.line_num + 1
    except csv.Error:
        return []
    return found


def stray_lines(text: Text, separator: str, width: int) -> list[int]:
    """List the lines of a table that do not have its number of fields, with blank lines among them."""
    rows = records(text, separator)
    inside = [at for at, (_, _, fields) in enumerate(rows) if len(fields) == width and not _is_rule(fields)]
    if len(inside) < 2 or len(rows) - len(inside) > max(_FEW * len(rows), _SHOWN):
        return []
    strays = {*range(len(rows))} - {*inside}
    if min(strays, default=-1) == 0 < inside[0] == 1 < len(rows[0][2]) and not headers.has_header(
        [rows[at][2] for at in inside]
    ):
        return []  # it is the header, with too few fields or too many
    numbers = {line for at in strays for line in range(rows[at][0], rows[at][1] + 1)}
    first = rows[inside[0]][0]
    if any(at < inside[0] for at in strays):
        numbers.update(range(1, first))
    last = rows[inside[-1]]
    if numbers and any(map(known_words.is_total, last[2][:2])):
        numbers.update(range(last[0], last[1] + 1))
    return sorted(numbers)


def table_in(text: Text, separators: str) -> tuple[list[int], str]:
    """Find the lines around and between those of a table of one width, and its separator; none: ([], "")."""
    split = [(separator, records(text, separator)) for separator in separators]
    for separator, rows in split:
        titles, remarks = headers.title_lines([fields for _, _, fields in rows])
        if titles:
            below = [
                line for first, last, _ in rows[len(rows) - remarks :] for line in range(first, last + 1)
            ]
            return [*range(1, rows[titles][0]), *below], separator
    ruled = any(_is_rule(fields) for _, rows in split for _, _, fields in rows[:_SHOWN])
    if not ruled and any(len({len(fields) for _, _, fields in rows}) == 1 for _, rows in split):
        return [], ""  # all lines are of one table
    for separator, rows in split:
        widths = [0 if _is_rule(fields) else len(fields) for _, _, fields in rows]
        wide = [width for width in widths if width > 1]
        if len(wide) < evidence.FEW:
            continue
        width = max(set(wide), key=lambda one: (wide.count(one), one))
        inside = [at for at, one in enumerate(widths) if one == width]
        body = widths[inside[0] : inside[-1] + 1]
        if len(inside) < max(evidence.ALIKE * len(body), evidence.FEW, len(rows) / 2) or len(inside) == len(
            rows
        ):
            continue
        if any(one > 1 and one != width for one in body):
            continue  # some lines have more or fewer fields, which to mend is for others to say
        held = {field for at in inside for field in rows[at][2]}
        if any(len(fields) == 1 and fields[0] in held for _, _, fields in rows):
            continue  # rows of items, some of which have one
        return stray_lines(text, separator, width), separator
    return [], ""


def _is_rule(fields: Sequence[str]) -> bool:
    """Return whether a line is a rule between a header and lines: ``|---|:--:|``."""
    filled = [field for field in fields if field]
    return len(filled) > 1 and all(_RULE.fullmatch(field) for field in filled)


def numbers_in(text: Text) -> list[int]:
    """List the lines above and below lines of integers between blanks; none if integers stand elsewhere."""
    lines = re.split(r"\r\n|\r|\n", text.content.decode("utf-8", "replace"))
    plain = [bool(line.split()) and all(map(is_integer, line.split())) for line in lines]
    there = [at for at, one in enumerate(plain) if one]
    if len(there) < evidence.FEW:
        return []
    first, last = there[0], there[-1]
    if any(line.strip() and not one for line, one in zip(lines[first:last], plain[first:last], strict=True)):
        return []
    above = list(range(1, first + 1)) if any(line.strip() for line in lines[:first]) else []
    end = max((at for at, line in enumerate(lines) if line.strip()), default=-1)
    below = list(range(last + 2, end + 2)) if end > last else []
    return [text.original(at) for at in (*above, *below)]


def has_comments_only(text: Text, numbers: Sequence[int]) -> bool:
    """Return whether some lines are blank or begin with a mark of comments of SPMF."""
    lines = re.split(r"\r\n|\r|\n", text.content.decode("utf-8", "replace"))
    skipped = (line.strip() for at, line in enumerate(lines, 1) if text.original(at) in {*numbers})
    return all(not line or line[0] in "#%@" for line in skipped)


def comments_above(text: Text, separator: str) -> list[int]:
    """List the first lines of a text that begin with #, unless they are of the width of the others."""
    rows = records(Text(text.name, text.content[: 1 << 20], left=text.left), separator)
    width, _ = evidence.common_width([fields for _, _, fields in rows])
    found: list[int] = []
    for start, end, fields in rows:
        if not fields[0].startswith("#") or len(fields) == width:
            break
        found += range(start, end + 1)
    return found if width > 1 else []


def without_headers(text: Text, names: Sequence[str], separator: str) -> tuple[Text, int]:
    """Skip the lines of a table that equal its header, and say how many there are."""
    longest = max(names, key=len).encode()
    if not longest or text.content.count(longest) < 2:
        return text, 0
    sign = re.escape(separator.encode())
    fields = []
    for name in names:
        bare, quoted = name.encode(), name.replace('"', '""').encode()
        fields.append(rb'[ \t]*(?:"' + re.escape(quoted) + rb'"|' + re.escape(bare) + rb")[ \t]*")
    line = re.compile(rb"(?:(?<=[\r\n])|\A)" + sign.join(fields) + rb"(?=[\r\n]|\Z)")
    found = [match.start() for match in line.finditer(text.content)][1:]
    if not found:
        return text, 0
    numbers = np.searchsorted(line_starts(text.content), found, side="right").tolist()
    return without_lines(text, [text.original(number) for number in numbers]), len(found)


def strays_said(numbers: Sequence[int], width: int) -> str:
    """Say which lines are not those of a table."""
    return f"{in_words(numbers)} {are(len(numbers))} not of {width} fields like the others"
