"""Tables of columns, from text, files or data frames: which of them make the rows, and what the rows hold.

There are three layouts: long (a line for each id and item), wide (several columns of items), one-hot (a
column for each item that says whether the line holds it). Which columns count is never guessed where ids
could be published by it: what was not said is asked for (`refusal`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.data import evidence
from setveil.data.columns import (
    Codes,
    Wanted,
    column_at,
    columns_at,
    is_id_name,
    is_item_name,
    is_person_name,
    joined,
    long_columns,
    rows_of,
)
from setveil.data.layout import Layout
from setveil.errors import DataError, TableError, shorten

SAMPLES = 3


class Column(NamedTuple):
    """One column.

    Attributes
    ----------
    codes : int64 (lines,)
        Position of each line's value in `labels`.
    labels : list of str
        Each value once; "" where there is none.
    place : callable
        Says where a line is, for messages.
    """

    codes: Codes
    labels: list[str]
    place: Callable[[int], str]


class Table(Protocol):
    """A table that is taken apart."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    @property
    def names(self) -> list[str]:
        """Names of its columns; their numbers where it has no header line."""

    @property
    def header(self) -> bool:
        """Whether the columns have names."""

    @property
    def separator(self) -> str:
        """What a text has between fields."""

    @property
    def head(self) -> Sequence[Sequence[str]]:
        """The first lines, without the header."""

    @property
    def trimmed(self) -> bool:
        """Whether lines may be short: then only a wide or one-hot table can be read."""

    @property
    def trouble(self) -> str:
        """What must be mended before columns can be read; empty: nothing."""

    def agreed(self, *, said: bool) -> tuple[int, int] | None:
        """Find id and item column where two columns are named unmistakably, and their values agree.

        Where it was `said` that the table is a long one, the names decide.
        """

    def columns(
        self, wanted: Sequence[int], *, id_at: int | None = None, marks: bool = False
    ) -> list[Column]:
        """Read some columns; `marks`: cells may be empty, or say whether an item is there."""


@dataclass(frozen=True)
class Part:
    """What one file holds.

    Attributes
    ----------
    indptr, codes, labels
        As `setveil.data.transactions.Transactions.from_codes` takes them.
    layout : Layout
        How rows are written like this.
    row : str
        What one row is, to be continued after "one row per".
    id_column, item_columns, ignored_columns
        Columns of a table.
    ids : list of str or None
        The id of each row; None: rows have none.
    """

    indptr: NDArray[np.int64]
    codes: NDArray[Any]
    labels: Sequence[str]
    layout: Layout
    row: str = "line"
    id_column: str | None = None
    item_columns: tuple[str, ...] = ()
    ignored_columns: tuple[str, ...] = ()
    ids: list[str] | None = field(default=None, repr=False)


def read_table(table: Table, form: str | None, wanted: Wanted) -> Part:
    """Take the rows out of a table.

    Parameters
    ----------
    table : Table
        Any.
    form : {"long", "wide", "onehot"}, optional
        By default: what the columns named say, and for item columns their values.
    wanted : Wanted
        Which columns count.

    Raises
    ------
    TableError
        If that was not said.
    DataError
        If a column does not exist, or holds something else than expected.
    """
    if not table.names:
        raise DataError(f"{table.name}: a table needs columns; it has none.")
    if form == "long" or (form is None and wanted.item_columns is None):
        return _read_long(table, wanted, said=form == "long")
    id_at = None if wanted.id_column is None else column_at(table.names, wanted.id_column, table.name)
    if wanted.item_columns is not None:
        items_at = columns_at(table.names, wanted.item_columns, id_at, table.name)
    elif form == "onehot":
        items_at = [at for at in range(len(table.names)) if at != id_at]
    else:
        raise refusal(table, "")
    wanted_at = [*([] if id_at is None else [id_at]), *items_at]
    columns = table.columns(wanted_at, id_at=id_at, marks=True)
    ids = None if id_at is None else columns.pop(0)
    values = {label for column in columns for label in column.labels}
    if form is None:
        form = _form_of(table, columns, values)
    names = [table.names[at] for at in items_at]
    if form == "onehot":
        cells, labels = _marked(table, names, columns)
    else:
        cells, labels = _filled(columns)
    return _by_line(table, form, (cells, labels), items_at, id_at, ids)


def _read_long(table: Table, wanted: Wanted, *, said: bool) -> Part:
    found = long_columns(table.names, wanted, table.name)
    if found is None:
        found = None if wanted.named else table.agreed(said=said)
        if found is None:
            raise refusal(table, "")
    id_at, item_at = found
    ids, items = table.columns(found, id_at=id_at)
    _refuse_missing(table, {id_at: ids, item_at: items})
    row, first = rows_of(_merged(ids))
    indptr, codes = joined(row, items.codes, first.size)
    id_name, item_name = ((table.names[at] if table.header else "") for at in found)
    return Part(
        indptr,
        codes,
        items.labels,
        Layout("long", table.separator, id_column=id_name or "id", item_column=item_name or "item"),
        f"value of {called(table, id_at)}",
        called(table, id_at),
        (called(table, item_at),),
        _ignored(table, found),
        [ids.labels[code] for code in ids.codes[first].tolist()],
    )


def _by_line(
    table: Table,
    form: str,
    cells: tuple[Codes, list[str]],
    items_at: Sequence[int],
    id_at: int | None,
    ids: Column | None,
) -> Part:
    """Make a row of each line, or of the lines of each id."""
    codes, labels = cells
    lines, width = codes.shape
    names = [table.names[at] for at in items_at]
    if not table.header or len(set(names)) < len(names) or not all(names):
        written = tuple(f"item{number}" for number in range(1, width + 1))
    else:
        written = tuple(names)
    layout = Layout(form, table.separator, item_columns=written if form == "wide" else ())
    part = Part(
        np.arange(lines + 1, dtype=np.int64) * width,
        codes.ravel(),
        labels,
        layout,
        item_columns=tuple(called(table, at) for at in items_at),
        ignored_columns=_ignored(table, [*items_at, *([] if id_at is None else [id_at])]),
    )
    if ids is None or id_at is None:
        return part
    _refuse_missing(table, {id_at: ids})
    row, first = rows_of(_merged(ids))
    indptr, flat = joined(np.repeat(row, width), codes.ravel(), first.size)
    most = int(np.diff(indptr).max(initial=0))
    if form == "wide" and most > width:  # lines of one id are joined: rows outgrow the columns
        layout = Layout(form, table.separator, item_columns=tuple(f"item{i}" for i in range(1, most + 1)))
    return Part(
        indptr,
        flat,
        labels,
        layout,
        f"value of {called(table, id_at)}",
        called(table, id_at),
        part.item_columns,
        part.ignored_columns,
        [ids.labels[code] for code in ids.codes[first].tolist()],
    )


def called(table: Table, at: int) -> str:
    """Name a column: by its number where it has no name."""
    return table.names[at] if table.names[at] and table.header else f"column {at + 1}"


def _ignored(table: Table, used: Sequence[int]) -> tuple[str, ...]:
    return tuple(called(table, at) for at in range(len(table.names)) if at not in used)


def _merged(column: Column) -> Codes:
    """Return codes that are equal where the values are: a quoted field may equal a bare one."""
    numbers: dict[str, int] = {}
    image = [numbers.setdefault(label, len(numbers)) for label in column.labels]
    return column.codes if len(numbers) == len(image) else np.array(image, np.int64)[column.codes]


def _refuse_missing(table: Table, columns: Mapping[int, Column]) -> None:
    lacking = {
        at: np.array([not label for label in column.labels], bool)[column.codes]
        for at, column in columns.items()
        if "" in column.labels
    }
    lines = np.logical_or.reduce(list(lacking.values())) if lacking else np.zeros(0, bool)
    if not lines.any():
        return
    at = min(lacking, key=lambda one: int(np.argmax(lacking[one])) if lacking[one].any() else lines.size)
    number = int(lines.sum())
    what = "an id or an item" if len(columns) > 1 else "an id"
    more = f"; {number:,} lines lack {what}" if number > 1 else ""
    raise DataError(
        f"{columns[at].place(int(np.argmax(lacking[at])))}: column {shorten(called(table, at))} is empty, "
        f"expected a value on every line{more}.",
        hint="Complete or remove such lines; a long table cannot show a row without items.",
    )


def _form_of(table: Table, columns: Sequence[Column], values: set[str]) -> str:
    """Tell by all values of the item columns whether they hold items or say which items there are."""
    if values <= evidence.YES | evidence.NO and len(columns) > 1 and values & evidence.YES:
        return "onehot"
    zeros = sum(
        int((column.codes == column.labels.index("0")).sum()) for column in columns if "0" in column.labels
    )
    cells = sum(column.codes.size for column in columns)
    if len(columns) > 1 and 2 * zeros > cells and all(value.isdigit() for value in values - evidence.MISSING):
        raise DataError(
            f"{table.name}: the item columns hold numbers, mostly 0: are these amounts, or the items?",
            hint="Add --format onehot (an item is there where its number is above 0) or --format wide "
            "(the numbers are the items).",
        )
    return "wide"


def _filled(columns: Sequence[Column]) -> tuple[Codes, list[str]]:
    """Return the items of each line and column, -1 where there is none."""
    labels: list[str] = []
    cells = np.empty((columns[0].codes.size, len(columns)), np.int64)
    for at, column in enumerate(columns):
        missing = np.array([label in evidence.MISSING for label in column.labels], bool)
        cells[:, at] = np.where(missing[column.codes], -1, column.codes + len(labels))
        labels += column.labels
    return cells, labels


def _marked(table: Table, names: list[str], columns: Sequence[Column]) -> tuple[Codes, list[str]]:
    """Return the columns that each line marks, -1 for the others."""
    if not all(names) or len(set(names)) < len(names) or not table.header:
        raise DataError(
            f"{table.name}: in a one-hot table each column must be named like its item, once.",
            hint="Check the header line.",
        )
    cells = np.empty((columns[0].codes.size, len(columns)), np.int64)
    for at, column in enumerate(columns):
        marks = np.zeros(len(column.labels), bool)
        for code, label in enumerate(column.labels):
            amount = label.removesuffix(".0")
            number = amount.isascii() and amount.isdigit()
            marks[code] = label in evidence.YES or (number and amount.strip("0") != "")
            if not (marks[code] or number or label in evidence.NO | evidence.MISSING):
                line = int(np.argmax(column.codes == code))
                raise DataError(
                    f"{column.place(line)}: column {shorten(names[at])} holds {shorten(label)}, expected 0 "
                    "or 1, or true or false (one-hot).",
                    hint="Name the columns that are items: --item-columns.",
                )
        cells[:, at] = np.where(marks[column.codes], at, -1)
    return cells, names


# --- what is asked where nothing was said


def refusal(
    table: Table, why: str, *, more: Mapping[str, str] = MappingProxyType({}), rows: str = ""
) -> TableError:
    """Make the error that asks which columns count.

    Parameters
    ----------
    table : Table
        What was found.
    why : str
        What speaks for a table, where that is in question.
    more : mapping
        Options that all readings of the table need.
    rows : str
        The format by which each line may be a row of items as well; empty: it cannot be.
    """
    shown = []
    for at in range(len(table.names)):
        values = list(dict.fromkeys(row[at] for row in table.head if len(row) > at and row[at]))
        shown.append((called(table, at), tuple(values[:SAMPLES])))
    readings = (
        [] if table.trouble else [(_with(more, options), text) for options, text in likely_readings(table)]
    )
    if rows:
        kept = {key: value for key, value in more.items() if rows == "basket" and key == "separator"}
        readings.append(
            ({**kept, "format": rows}, "one row per line, every field an item: ids would be, too")
        )
    reason = f" ({why})" if why else ""
    return TableError(
        f"{table.name} may be a table{reason}, and nothing says which columns count",
        shown,
        readings,
        table.trouble,
    )


def _with(more: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """Add what all readings of a table need; the format is that of the columns named."""
    merged = {**more, **options}
    if merged.get("format") == "long" and "item_columns" in merged:
        merged["format"] = "wide"
    return merged


Reading = tuple[dict[str, str], str]


def likely_readings(table: Table) -> list[Reading]:
    """List how a table is likely to be read: options of `setveil.read`, and what they mean; best first."""
    width = len(table.names)
    values = [[row[at] for row in table.head if len(row) > at] for at in range(width)]
    word = [
        table.names[at]
        if table.header and table.names[at] and table.names.count(table.names[at]) == 1
        else str(at + 1)
        for at in range(width)
    ]
    readings: list[Reading] = []
    marks = [at for at in range(width) if _is_mark(values[at])]
    if len(marks) > 1 and 2 * len(marks) >= width:
        if table.header:
            readings.append(
                ({"item_columns": _ranges(marks, word)}, "one row per line, an item for each column")
            )
        return readings
    several = _of_one_kind(table, values) if width > 2 else []
    if several and _are_amounts([values[at] for at in several]):
        options = {"format": "onehot", "item_columns": _ranges(several, word)}
        return [(options, "one row per line, an item where its number is above 0")] if table.header else []
    if several:
        readings.append(
            ({"item_columns": _ranges(several, word)}, "one row per line, items from these columns")
        )
    if table.trimmed:
        return readings
    if width == 1:
        alike = not evidence.why_ids([[value] for value in values[0]])
        return [({"item_columns": word[0]}, "one row per line, which holds one item")] if alike else []
    filled = [at for at in range(width) if any(values[at]) and at not in several]
    ids = sorted(filled, key=lambda at: (-_id_score(table, at, values[at]), at))
    for id_at in ids[:1]:
        rest = [at for at in filled if at != id_at and not _may_be_ids(values[at])]
        if width == 2 and rest and table.header and is_person_name(table.names[rest[0]]):
            again = len(set(values[id_at])) < len(values[id_at])
            rest = rest if again and evidence.is_id_and_item(values[id_at], values[rest[0]]) else []
        if rest:
            item_at = min(rest, key=lambda at: (-_item_score(table, at, values[at]), at))
            meaning = f"one row per value of {called(table, id_at)}, items from {called(table, item_at)}"
            readings.append(({"id_column": word[id_at], "item_column": word[item_at]}, meaning))
    return readings


def _may_be_ids(values: Sequence[str]) -> bool:
    return len(values) >= evidence.MANY and evidence.are_different(values)


def _are_amounts(columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether columns hold numbers, most of them 0."""
    cells = [value for column in columns for value in column]
    return all(value.isdigit() for value in cells if value) and 2 * cells.count("0") > len(cells)


def _is_mark(values: Sequence[str]) -> bool:
    found = set(values)
    return found <= evidence.YES | evidence.NO and bool(found & evidence.YES and found & evidence.NO)


def _of_one_kind(table: Table, values: Sequence[Sequence[str]]) -> list[int]:
    """Find columns that are numbered alike (DX1, DX2, ...), else those side by side that share values."""
    if table.header:
        stems: dict[str, list[int]] = {}
        for at, name in enumerate(table.names):
            numbered = re.fullmatch(r"(.*?[^0-9])?[0-9]+", name)
            if numbered and numbered[1]:
                stems.setdefault(numbered[1], []).append(at)
        longest = max(stems.values(), key=len, default=[])
        if len(longest) > 1:
            return longest
    sets = [
        set() if table.header and is_id_name(table.names[at]) else set(column) - evidence.MISSING
        for at, column in enumerate(values)
    ]
    best: list[int] = []
    run: list[int] = []
    for at in range(len(sets)):
        plain = sets[at] and not _is_mark(values[at])
        if run and plain and 5 * len(sets[run[-1]] & sets[at]) >= min(len(sets[run[-1]]), len(sets[at])):
            run.append(at)
        else:
            run = [at] if plain else []
        best = max(best, run, key=len)
    return best if len(best) > 1 else []


def _id_score(table: Table, at: int, values: Sequence[str]) -> int:
    kinds = {evidence.kind(value) for value in values if value}
    again = len(set(values)) < len(values)
    score = (
        3 * evidence.is_grouped(values)
        + 2 * (evidence.is_grouped(values) and again)
        + 2 * (not kinds & {"date", "number"})
        + (kinds != {"word"})
    )
    if table.header and is_id_name(table.names[at]) and not is_item_name(table.names[at]):
        score += 4
    return score - 9 * _is_mark(values) - 2 * (len(set(values)) < min(len(values), 8) / 2)


def _item_score(table: Table, at: int, values: Sequence[str]) -> int:
    kinds = {evidence.kind(value) for value in values if value}
    score = 2 * (not evidence.are_different(values)) + 3 * (not kinds & {"date"}) + ("code" in kinds)
    score += (len(set(values)) > 4) - 2 * (kinds == {"integer"})
    if table.header and is_item_name(table.names[at]):
        score += 4
    return score - 9 * _is_mark(values)


def _ranges(columns: Sequence[int], word: Sequence[str]) -> str:
    """Write columns as names and ranges of names between commas."""
    parts: list[str] = []
    start = 0
    for end in range(1, len(columns) + 1):
        if end == len(columns) or columns[end] != columns[end - 1] + 1:
            first, last = word[columns[start]], word[columns[end - 1]]
            run = end - start
            if run > 2 and "-" not in first + last:
                parts.append(_field(f"{first}-{last}"))
            else:
                parts += [_field(word[at]) for at in columns[start:end]]
            start = end
    return ",".join(parts)


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"') else text
