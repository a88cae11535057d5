"""Lines and columns of a table that sum up others: they are nobody's, and no item."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import TableError, listed, shorten
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Codes, as_field, as_fields
from setveil.rows.data.lacking import Lacking, places_of_words
from setveil.rows.data.named_columns import Column

_SUBTOTAL = known_words.TOTALS | {"ergebnis", "result", "résultat", "resultado", "risultato"}
_LONG = 30  # numbers of lines that are hard to read
_MOST = 20  # lines of totals, of a file that is several


def is_subtotal(text: str, ids: Container[str]) -> bool:
    """Return whether a text is an ID with a word for a sum behind it, as pivot tables write it.

    >>> is_subtotal("K1 Total", {"K1", "K2"}), is_subtotal("Beach Total", {"K1"})
    (True, False)
    """
    before, _, word = text.strip().rpartition(" ")
    return bool(before) and before in ids and word.casefold() in _SUBTOTAL


Options = dict[str, str]


def refuse_total_lines(table: Any, name: str, ids: Column, kept: Codes | None, lacking: Lacking) -> None:
    """Raise if lines seem to be totals, by their IDs, and nothing says that they are lines like others."""
    at = [] if lacking.published else total_lines(table, ids, grouped=lacking.fill_id)
    if not at:
        return
    one = len(at) == 1
    skipping = _skipping(table, ids, at, kept)
    if len(skipping.get("skip_lines", "")) > _LONG and not (lacking.said or lacking.of_columns):
        skipping = _as_missing(name, ids, at) or skipping
    raise TableError(
        _lines_said(name, ids, at),
        [],
        [
            (skipping, "skip it" if one else "skip them"),
            ({"skip_last": "0"}, "it is a line like the others" if one else "they are lines like the others"),
        ],
    )


def refuse_total_items(
    where: str, name: str, codes: NDArray[Any], labels: Sequence[str], lacking: Lacking
) -> None:
    """Raise if items seem to be totals, and nothing says that they are items like others."""
    places = [code for code, label in enumerate(labels) if known_words.is_total(label)]
    places = [] if lacking.published else [code for code in places if (codes == code).any()]
    found = sorted({labels[code] for code in places} - lacking.values)
    if found:
        of = f"column {shorten(name)} contains" if name else "the items contain"
        are, seem = ("is", "seems") if len(found) == 1 else ("are", "seem")
        shown = listed(found, 3)
        values = sorted({*found, *lacking.values})
        raise TableError(
            f"{where}: {of} {shown}, which {seem} to be a total and not an item",
            [],
            [
                ({"missing": _spec(found)}, f"{shown} {are} not an item"),
                ({"not_missing": _spec(values)}, f"{shown} {are} an item like others"),
            ],
        )


def _spec(words: Iterable[str]) -> str:
    return ",".join(map(as_field, words))


def _lines_said(name: str, ids: Column, at: Sequence[int]) -> str:
    more = f" and {len(at) - 1} more lines" if len(at) > 1 else ""
    shown = shorten(ids.labels[ids.codes[at[0]]])
    return (
        f"{ids.place(at[0])}{more}: column {shorten(name)} contains {shown}, which "
        "seems to be no ID, but a total or a remark"
    )


def _skipping(table: Any, ids: Column, at: Sequence[int], kept: Codes | None) -> Options:
    """Say by which option lines are skipped; {}: by none."""
    rows = list(at) if kept is None else kept[list(at)].tolist()
    last = list(at) == [ids.codes.size - 1]
    return next(iter(table.skip(rows, last=last)), {})


def _as_missing(name: str, ids: Column, at: Sequence[int]) -> Options:
    """Name lines by the words that their IDs end with, or consist of; {}: other lines have these, too."""
    codes = np.unique(ids.codes[list(at)]).tolist()
    known = {*ids.labels}
    texts = [ids.labels[code] for code in codes]
    words = [f"* {one.rpartition(' ')[2]}" if is_subtotal(one, known) else one for one in texts]
    same = places_of_words(ids.labels, frozenset(words)) == codes
    spec = _spec(dict.fromkeys(words))
    return {"missing": f"{name}={spec}", "missing_id": "skip"} if same and "=" not in name else {}


def total_lines(table: Any, ids: Column, *, grouped: bool = False) -> list[int]:
    """List the lines that seem to be totals; `grouped`: an ID is written once for a group of lines."""
    if getattr(table, "settled", True) or ids.codes.size < evidence.FEW:
        return []
    words = [code for code, label in enumerate(ids.labels) if known_words.is_total(label)]
    at = np.flatnonzero(np.isin(ids.codes, words)).tolist() if words else []
    spaced = [(code, label) for code, label in enumerate(ids.labels) if " " in label]
    known = {*ids.labels} if spaced else set()  # of most files, no ID has a blank
    parts = [code for code, label in spaced if is_subtotal(label, known)]
    if parts and 2 * len(parts) > len(ids.labels) - len(parts) - len(words) - 1:  # of most IDs
        return sorted([*at, *np.flatnonzero(np.isin(ids.codes, parts)).tolist()])
    last = ids.labels[ids.codes[-1]]
    if not at and known_words.kind(last) == "word" and ids.codes.size >= evidence.MANY:
        integer = np.array([known_words.kind(label) == "integer" for label in ids.labels], bool)[
            ids.codes[:-1]
        ]
        at = [ids.codes.size - 1] if integer.all() else []
    return at if grouped or len(at) <= min(_MOST, evidence.LISTS * ids.codes.size) else []


def refuse_totals(
    table: Any, items_at: Sequence[int], columns: Sequence[Column], ids: tuple[str, Column] | None
) -> None:
    """Raise if an unnamed column of a one-hot table is the sum of the others; ask about total lines, too."""
    if table.lacking.published or len(columns) < 3:
        return
    numbers = [_numbers(column) for column in columns]
    sums = sums_among(numbers)
    if not sums:
        return
    others = as_fields([place for at, place in enumerate(items_at) if at not in sums], table.names)
    every = as_fields(items_at, table.names)
    without: Options = {"item_columns": others}
    as_data: Options = {"item_columns": every}
    names = listed([table.names[items_at[at]] for at in sums], 5)
    message = f"{table.name}: column {names} is the sum of the other columns, and no item"
    if len(sums) > 1 or not _is_sum(numbers, sums[0]):
        said = f"column {names} is the sum" if len(sums) == 1 else f"columns {names} are sums"
        message = f"{table.name}: {said} of others, and no item"
    lines = [] if ids is None else total_lines(table, ids[1])
    if ids is not None and lines:
        message += f"; {_lines_said(*ids, lines)}"
        without |= _skipping(table, ids[1], lines, None)
        as_data |= {"skip_last": "0"}
    raise TableError(
        message, [], [(without, "without such sums"), (as_data, "they are data like the others")]
    )


def sums_among(numbers: Sequence[NDArray[np.float64] | None]) -> list[int]:
    """List the columns that are sums: the first or last of all others, or one of some before it.

    >>> milk, bread, tea = np.array([[1, 0, 2, 1, 1], [2, 1, 1, 0, 1], [0, 1, 1, 1, 3]], float)
    >>> sums_among([milk, bread, milk + bread, tea, milk + bread + tea])
    [2, 4]
    """
    whole = [at for at in (len(numbers) - 1, 0) if _is_sum(numbers, at)][:1]
    parts = [at for at in range(2, len(numbers)) if at not in whole and _adds_up(numbers, at)]
    if parts and not whole:  # the total adds up what is no subtotal
        rest = [at for at in range(len(numbers)) if at not in parts]
        plain = [numbers[at] for at in rest]
        whole = [rest[at] for at in (len(rest) - 1, 0) if _is_sum(plain, at)][:1]
    return sorted({*whole, *parts})


def ends_with_sums(numbers: Sequence[NDArray[np.float64] | None]) -> bool:
    """Return whether the last line has the sum of the lines above it, in each of several columns."""
    columns = [column for column in numbers if column is not None and column.any()]
    right = sum(bool(column[-1] == column[:-1].sum()) for column in columns if column.size > evidence.FEW)
    return right > 2 and right >= evidence.SURE * len(columns)


def _adds_up(numbers: Sequence[NDArray[np.float64] | None], at: int) -> bool:
    """Return whether a column is the sum of some columns right before it, on lines where it is not 0."""
    total, sum_of = numbers[at], numbers[at - 1]
    for before in range(at - 2, -1, -1):
        column = numbers[before]
        if total is None or sum_of is None or column is None:
            return False
        both = int(((column > 0) & (sum_of > 0)).sum())
        sum_of = sum_of + column
        there = (total != 0) | (sum_of != 0)
        if both and there.sum() >= evidence.FEW and (total == sum_of)[there].mean() >= evidence.SURE:
            return True
    return False


def _is_sum(numbers: Sequence[NDArray[np.float64] | None], at: int) -> bool:
    """Return whether one of several columns holds, line by line, the sum of the others."""
    values = [found for found in numbers if found is not None]
    if len(values) < max(len(numbers), 3):
        return False
    total = values[at]
    others = np.sum([one for place, one in enumerate(values) if place != at], axis=0)
    filled = np.array([one for place, one in enumerate(values) if place != at]) > 0
    several = int(filled.sum(axis=0).max(initial=0))
    return several > 1 and total.size >= evidence.FEW and bool((total == others).mean() >= evidence.SURE)


def amounts_of(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Read amounts; None if there is anything else."""
    try:
        return np.array([float(label) if label else 0.0 for label in labels], np.float64)
    except ValueError:
        return None


def _numbers(column: Column) -> NDArray[np.float64] | None:
    found = amounts_of(column.labels)
    return None if found is None else found[column.codes]
