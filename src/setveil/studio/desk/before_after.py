"""Questions about what was published: rows and columns before and after."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from setveil.releases.published import kind_at
from setveil.report.run.kinds import kind_of
from setveil.rows.data.io.rows import read
from setveil.studio.desk.data import data_of, rows, same_rows
from setveil.studio.desk.distributions import distribution
from setveil.studio.desk.place import Desk
from setveil.work.past.run import past_run
from setveil.work.past.tables import find_table, records_people, require_table

_MOST_LABELS = 8  # of a column that are listed
_IN_PICTURE, _SEARCHED, _MOST_ITEMS = 5, 200, 6  # rows of the picture, from how many, and items of each


class ShownRun:
    """The release of a run as recipients see it, and the place of each row of the input."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = past_run(folder)
        self.report = self.run.report
        inside, published = folder / "internal" / "rows.csv", folder / "published"
        self.released: Any = kind_at(str(published)).read(str(published), read)
        self.places: list[int] | None = None
        if inside.is_file():
            with inside.open(encoding="utf-8", newline="") as lines:
                # A row without items is in no cluster.
                self.places = [int(place or -1) for _, place in list(csv.reader(lines))[1:]]


def _shown(desk: Desk, run: str) -> ShownRun:
    """Find what a run published, read once as long as it is the one that is asked about."""
    found: ShownRun | None = desk.kept.get("shown")
    if found is None or found.folder.name != run:
        found = desk.kept["shown"] = ShownRun(desk.folder / "runs" / run)
    return found


def before_after(desk: Desk, run: str, first: int = 0, count: int = 10) -> dict[str, Any]:
    """Return rows before and after publication, and the number of all rows.

    columns: names of those next to the items. rows: number, before and after, each with the values of these
    columns and the items. After is null if what was published does not reveal it. heads: of further cells of
    this kind of release, which each row has. instead: words in place of the items of a published row.
    """
    shown, data = _shown(desk, run), data_of(desk)
    same_rows(shown.report, data)
    found = rows(desk, first, count)
    table: Any = data if data.is_table and records_people(shown.run) else None
    columns = [] if table is None else [*table.column_names, *(column.name for column in table.kept)]
    places, released = shown.places, shown.released
    # of rows that are nobody's there may happen to be as many
    mapped = places is not None and not released.nobodys and len(places) == released.n_rows
    if not mapped or released.n_rows != found["total"]:
        places = None
    return {
        "all": found["total"],
        "columns": columns,
        "items": table.set_name if table is not None else "",
        "heads": kind_of(shown.report).row_heads,
        "rows": [
            {
                "number": found["first"] + i + 1,
                "before": row,
                **_words(
                    shown,
                    _published(shown, places[found["first"] + i], columns)
                    if places is not None
                    else _by_label(shown, row["items"]),
                ),
            }
            for i, row in enumerate(found["rows"])
        ],
    }


def five_rows(desk: Desk, run: str) -> dict[str, Any]:
    """Choose five rows for a picture, short and changed ones first, from the first rows of the input."""
    found = before_after(desk, run, 0, _SEARCHED)
    chosen = sorted(found["rows"], key=_unlike_a_picture)[:_IN_PICTURE]
    return {**found, "rows": sorted(chosen, key=lambda row: row["number"])}


def _unlike_a_picture(row: dict[str, Any]) -> tuple[bool, bool]:
    before, after = row["before"]["items"], row["after"]
    changed = after is None or set(after["items"]) != set(before)
    return not 2 <= len(before) <= _MOST_ITEMS, not changed


def _words(shown: ShownRun, after: dict[str, Any] | None) -> dict[str, Any]:
    """Return what is published of a row, with the words of its kind of release."""
    kind = kind_of(shown.report)
    cells = kind.row_cells(after) if after is not None else [""] * len(kind.row_heads)
    return {"after": after, "instead": kind.instead_of_items(after), "cells": cells}


def _published(shown: ShownRun, place: int, columns: list[str]) -> dict[str, Any]:
    """Return what is published of the row or cluster that a row became."""
    found = shown.released.became(place)
    texts = found.pop("texts", {})
    return {"values": [texts.get(name, "") for name in columns], **found}


def _by_label(shown: ShownRun, items: list[str]) -> dict[str, Any] | None:
    """Find what was published of a row of items where each item has one label; else None."""
    if not shown.run.uniform:
        return None
    image = shown.run.image
    return {"values": [], "items": sorted({label for item in items if (label := image.get(item))})}


def columns(desk: Desk, run: str) -> dict[str, Any]:
    """Return what became of the columns of a table: loss, and distribution before and after.

    None for rows of items. columns: name, loss (NCP) as measured, numbers of values and labels, whether it is
    numeric. bins: values, rows before, and rows that readers expect. most: the greatest of these numbers.
    labels: the most frequent ones with their rows.
    """
    shown = _shown(desk, run)
    if not records_people(shown.run):
        return {"columns": []}
    table = desk.kept.get("table of the run")
    if table is None or table[0] != run:
        data = data_of(desk)
        same_rows(shown.report, data)
        table = desk.kept["table of the run"] = (run, find_table(shown.run, desk.folder))
    require_table(shown.run, table[1])
    losses, recorded = shown.report["utility"]["column_losses"], shown.report["table"]["columns"]
    found = []
    for column, published, about in zip(table[1].columns, shown.released.columns, recorded, strict=True):
        bins = distribution(column, published)
        number = np.bincount(published.codes, minlength=len(published.labels))
        order = np.lexsort([np.arange(number.size), -number])
        found.append(
            {
                "name": column.name,
                "loss": losses[column.name],
                "numeric": column.numeric,
                "values": about["values"],
                "labels": about["labels"],
                "bins": [[one.values, one.before, one.after] for one in bins],
                "most": max((max(one.before, one.after) for one in bins), default=0),
                "shown": [[published.labels[at], int(number[at])] for at in order[:_MOST_LABELS].tolist()],
            }
        )
    return {"columns": found}


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "release_rows": before_after,
    "release_columns": columns,
    "release_picture": five_rows,
}
